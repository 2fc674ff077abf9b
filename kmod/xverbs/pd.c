// SPDX-License-Identifier: GPL-2.0
/*
 * Protection domains.  ib_core owns them, so that memory can be registered
 * in them through ib_core; queue pairs of ours need their number too.
 */
#include "fw.h"

/*
 * ib_core does not tell the number of its domains.  But any memory key made
 * in one carries it, and firmware tells what a key carries.
 */
static int xv_pd_learn_number(struct xv_call *call, struct ib_pd *pd, u32 *pdn)
{
	struct ib_mr *probe;
	int err;

	probe = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 1);
	if (IS_ERR(probe))
		return xv_fail(call, PTR_ERR(probe), "PD: no memory key left");
	err = xv_fw_query_mkey_pd(call->dev, call, probe->lkey, pdn);
	/* Destroying a key takes memory too; a second try finds some. */
	if (ib_dereg_mr(probe))
		ib_dereg_mr(probe);
	return err;
}

int xv_pd_make(struct xv_call *call, struct ib_pd **pd, u32 *pdn)
{
	int err;

	*pd = ib_alloc_pd(call->dev->ib, 0);
	if (IS_ERR(*pd))
		return xv_fail(call, PTR_ERR(*pd), "PD: ALLOC_PD failed");
	err = xv_pd_learn_number(call, *pd, pdn);
	if (err)
		ib_dealloc_pd(*pd);
	return err;
}

int xv_pd_alloc(struct xv_call *call)
{
	struct xverbs_pd_alloc *arg = &call->arg.pd_alloc;
	struct xv_pd *pd;
	struct xv_obj *obj;
	int err;

	obj = xv_obj_alloc(call, XV_OBJ_PD, sizeof(*pd));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	pd = xv_to(pd, obj);
	err = xv_pd_make(call, &pd->ib, &pd->pdn);
	if (err) {
		xv_obj_abort(obj);
		return err;
	}
	arg->out_handle = obj->handle;
	arg->out_pdn = pd->pdn;
	call->new_obj = obj;
	return 0;
}

int xv_pd_destroy(struct xv_obj *obj, struct xv_call *call)
{
	ib_dealloc_pd(xv_to(pd, obj)->ib);
	return 0;
}
