// SPDX-License-Identifier: GPL-2.0
/*
 * Protection domains.  They are ib_core objects, so that ib_core can register memory
 * in them.  The queue pairs of xverbs also need the PD number.
 */
#include <linux/kmemleak.h>

#include "fw.h"
#include "pd.h"

/*
 * A PD that is never freed, because objects in it could not be destroyed.  ib_core must not list
 * it: it would warn when the device is removed, and the name that it shows is in this module.
 */
void xv_pd_forget(struct ib_pd *pd)
{
	rdma_restrack_del(&pd->res);
	kmemleak_not_leak(pd);
}

static void xv_pd_keep(struct ib_pd *pd)
{
	dev_err_ratelimited(&pd->device->dev,
			    "xverbs: a protection domain could not be destroyed\n");
	xv_pd_forget(pd);
}

/*
 * Nobody calls again if this fails, so it tries twice.  ib_dealloc_pd() would warn of the failure;
 * ib_dealloc_pd_user() does not.
 */
int xv_pd_free(struct ib_pd *pd)
{
	int err = ib_dealloc_pd_user(pd, NULL);

	if (err)
		err = ib_dealloc_pd_user(pd, NULL);
	if (err)
		xv_pd_keep(pd);
	return err;
}

/*
 * For kernel users, ib_core creates an mkey for all memory of the host in every PD.  The PD
 * number is read from it, because ib_core does not export the number.
 */
static int xv_pd_number(struct xv_call *call, struct ib_pd *pd, u32 *pdn)
{
	u32 mkc[MLX5_ST_SZ_DW(mkc)];
	int err;

	if (!pd->__internal_mr)
		return xv_fail(call, -EOPNOTSUPP, "PD: cannot read the PD number");
	err = xv_fw_query_mkey(call->dev, call, pd->__internal_mr->lkey, mkc);
	if (!err)
		*pdn = MLX5_GET(mkc, mkc, pd);
	return err;
}

/* Before a process may use the PD, its mkey for all memory must be destroyed. */
static int xv_pd_drop_key(struct ib_pd *pd)
{
	struct ib_mr *key = pd->__internal_mr;
	int err = 0;

	if (key)
		err = pd->device->ops.dereg_mr(key, NULL);
	if (err)
		err = pd->device->ops.dereg_mr(key, NULL);
	if (err)
		return err;
	pd->__internal_mr = NULL;
	pd->local_dma_lkey = 0;
	return 0;
}

int xv_pd_make(struct xv_call *call, struct ib_pd **pd, u32 *pdn)
{
	int err, kept;

	*pd = ib_alloc_pd(call->dev->ib, 0);
	if (IS_ERR(*pd))
		return xv_fail(call, xv_fw_errno(PTR_ERR(*pd)),
			       "PD: ALLOC_PD failed");
	err = xv_pd_number(call, *pd, pdn);
	kept = xv_pd_drop_key(*pd);
	if (kept) {
		/* The next PD with this number would get the key. */
		xv_pd_keep(*pd);
		return err ?: xv_fail(call, xv_fw_errno(kept),
				      "PD: DESTROY_MKEY failed");
	}
	if (err)
		xv_pd_free(*pd);
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

/* ib_uverbs may deallocate an imported PD again. */
void xv_import_drop(struct xv_pd_obj *pd)
{
	atomic_dec(&pd->ib->usecnt);
	fput(pd->uverbs);
}

static int xv_import_end(struct xv_pd_obj *pd, struct xv_call *call)
{
	if (pd->srq && ib_destroy_srq_user(pd->srq, NULL))
		return xv_fail(call, -EREMOTEIO, "PD: DESTROY_RMP failed");
	xv_import_drop(pd);
	return 0;
}

int xv_pd_destroy(struct xv_obj *obj, struct xv_call *call)
{
	struct xv_pd_obj *pd = to_pd_obj(obj);
	int err;

	if (pd->uverbs)
		return xv_import_end(pd, call);
	/* Not ib_dealloc_pd(), which warns if the firmware refuses. */
	err = ib_dealloc_pd_user(pd->ib, NULL);
	return err ? xv_fail(call, xv_fw_errno(err), "PD: DEALLOC_PD failed") : 0;
}

/*
 * ib_uverbs owns an imported PD and would deallocate it although it has objects. When the device
 * is removed, the objects end with it; then ib_uverbs must find its PD unused.
 */
void xv_pd_leak(struct xv_obj *obj)
{
	struct xv_dev *dev = obj->file->dev;
	struct xv_pd_obj *pd = to_pd_obj(obj);

	if (!pd->uverbs) {
		xv_pd_forget(pd->ib);
		return;
	}
	mutex_lock(&dev->files_lock);
	list_add(&pd->kept, &dev->kept_imports);
	mutex_unlock(&dev->files_lock);
}
