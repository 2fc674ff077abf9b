// SPDX-License-Identifier: GPL-2.0
/*
 * Protection domains.  They are ib_core objects, so that ib_core can register memory
 * in them.  The queue pairs of xverbs also need the PD number.
 */
#include "fw.h"

/*
 * For kernel users, ib_core creates an mkey for all memory of the host in every PD.
 * xverbs must destroy it before a process can use the PD.  First it reads the PD number
 * from the mkey, because ib_core does not export the number.
 */
static int xv_pd_drop_key(struct xv_call *call, struct ib_pd *pd, u32 *pdn)
{
	u32 mkc[MLX5_ST_SZ_DW(mkc)];
	int err;

	if (!pd->__internal_mr)
		return xv_fail(call, -EOPNOTSUPP, "PD: cannot read the PD number");
	err = xv_fw_query_mkey(call->dev, call, pd->__internal_mr->lkey, mkc);
	if (err)
		return err;
	*pdn = MLX5_GET(mkc, mkc, pd);
	err = pd->device->ops.dereg_mr(pd->__internal_mr, NULL);
	if (err)
		return xv_fail(call, xv_fw_errno(err),
			       "PD: DESTROY_MKEY failed");
	pd->__internal_mr = NULL;
	pd->local_dma_lkey = 0;
	return 0;
}

int xv_pd_make(struct xv_call *call, struct ib_pd **pd, u32 *pdn)
{
	int err;

	*pd = ib_alloc_pd(call->dev->ib, 0);
	if (IS_ERR(*pd))
		return xv_fail(call, xv_fw_errno(PTR_ERR(*pd)),
			       "PD: ALLOC_PD failed");
	err = xv_pd_drop_key(call, *pd, pdn);
	if (err)
		ib_dealloc_pd_user(*pd, NULL);
	return err;
}

int xv_pd_alloc(struct xv_call *call)
{
	struct xverbs_pd_alloc *arg = &call->arg.pd_alloc;
	struct xv_pd_obj *pd;
	struct xv_obj *obj;
	int err;

	obj = xv_obj_alloc(call, XV_OBJ_PD, sizeof(*pd));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	pd = to_pd_obj(obj);
	err = xv_pd_make(call, &pd->ib, &pd->pdn);
	if (err) {
		xv_obj_abort(obj);
		return err;
	}
	obj->resource.number = pd->pdn;
	arg->out_handle = obj->handle;
	arg->out_pdn = pd->pdn;
	call->new_obj = obj;
	return 0;
}

int xv_pd_destroy(struct xv_obj *obj, struct xv_call *call)
{
	struct xv_pd_obj *pd = to_pd_obj(obj);
	int err;

	if (pd->uverbs) {
		xv_import_drop(pd);
		return 0;
	}
	/* Not ib_dealloc_pd(), which warns if the firmware refuses. */
	err = ib_dealloc_pd_user(pd->ib, NULL);
	return err ? xv_fail(call, xv_fw_errno(err), "PD: DEALLOC_PD failed") : 0;
}

/* ib_uverbs owns an imported PD; the firmware refuses to deallocate it while it is in use. */
void xv_pd_leak(struct xv_obj *obj)
{
	if (to_pd_obj(obj)->uverbs)
		xv_import_drop(to_pd_obj(obj));
}
