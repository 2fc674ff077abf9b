// SPDX-License-Identifier: GPL-2.0
/* Memory regions.  ib_core and mlx5_ib pin, account and map the memory. */
#include <linux/sched/signal.h>

#include "charge.h"
#include "fw.h"
#include "mr.h"
#include "pd.h"

static int xv_mr_fail(struct xv_call *call, const struct xv_mr_range *range,
		      int err)
{
	switch (err) {
	case -ENOMEM:
		return xv_fail(call, err,
			       "MR: cannot pin %llu bytes: over RLIMIT_MEMLOCK (%lu bytes) or out of memory",
			       range->length, rlimit(RLIMIT_MEMLOCK));
	case -EFAULT:
		return xv_fail(call, err,
			       "MR: no memory with the requested access at 0x%llx, %llu bytes",
			       range->addr, range->length);
	default:
		return xv_fail(call, xv_fw_errno(err),
			       "MR: the driver refused: %pe", ERR_PTR(err));
	}
}

/* Registers memory and charges it to the user, too: ib_umem_get() charges the process. */
static struct ib_mr *xv_mr_pin(struct xv_call *call, const struct xv_obj *pd,
			       const struct xv_mr_range *range, u32 access,
			       struct xv_pinned **pinned)
{
	struct ib_mr *ib;

	*pinned = xv_pin_charge_range(call, range->addr, range->length,
				      "a memory region");
	if (IS_ERR(*pinned))
		return ERR_CAST(*pinned);
	ib = ib_reg_user_mr(to_pd_obj(pd)->ib, range->addr, range->length,
			    range->iova, access);
	if (IS_ERR(ib)) {
		xv_pin_put(*pinned);
		return ERR_PTR(xv_mr_fail(call, range, PTR_ERR(ib)));
	}
	return ib;
}

int xv_mr_reg(struct xv_call *call)
{
	struct xverbs_mr_reg *arg = &call->arg.mr_reg;
	struct xv_mr_range range = { arg->addr, arg->length, arg->iova };
	struct xv_mr_obj *mr;
	int err;

	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	err = xv_mr_check_access(call, arg->access);
	if (!err)
		err = xv_mr_check_range(call, &range, arg->access);
	if (err)
		return err;
	mr = xv_mr_new(call, arg->pd, arg->access);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	mr->ib = xv_mr_pin(call, mr->obj.deps[0], &range, arg->access,
			   &mr->pinned);
	if (IS_ERR(mr->ib)) {
		err = PTR_ERR(mr->ib);
		xv_obj_abort(&mr->obj);
		return err;
	}
	mr->writable = ib_access_writable(arg->access);
	mr->addr = arg->addr;
	mr->length = arg->length;
	mr->iova = arg->iova;
	mr->obj.resource.number = mr->ib->lkey;
	mr->obj.resource.bytes = arg->length;
	arg->out_handle = mr->obj.handle;
	arg->out_lkey = mr->ib->lkey;
	arg->out_rkey = mr->ib->rkey;
	call->new_obj = &mr->obj;
	return 0;
}

int xv_mr_destroy(struct xv_obj *obj, struct xv_call *call)
{
	struct xv_mr_obj *mr = to_mr_obj(obj);
	int err;

	if (mr->umem)
		return xv_mr_destroy_dmabuf(mr, call);
	err = ib_dereg_mr(mr->ib);
	if (err)
		return xv_fail(call, xv_fw_errno(err),
			       "MR: deregistration failed");
	xv_pin_put(mr->pinned);
	return 0;
}

/* ib_core would warn of it when the device is removed. */
void xv_mr_leak(struct xv_obj *obj)
{
	if (to_mr_obj(obj)->ib)
		rdma_restrack_del(&to_mr_obj(obj)->ib->res);
}

/* ---- Re-registration ------------------------------------------------------------- */

static_assert((int)IB_MR_REREG_PD == XVERBS_REREG_PD);
static_assert((int)IB_MR_REREG_ACCESS == XVERBS_REREG_ACCESS);

/* The driver may have revoked the key.  So the next call registers the memory anew. */
static int xv_mr_fail_change(struct xv_call *call, struct xv_mr_obj *mr)
{
	mr->revoked = true;
	return xv_fail(call, -EREMOTEIO,
		       "MR: the driver or the firmware failed to change the region");
}

/* New memory: the old region stays valid until the new one is registered. */
static int xv_mr_replace(struct xv_call *call, struct xv_mr_obj *mr,
			 const struct xv_obj *pd,
			 const struct xv_mr_range *range, u32 access)
{
	struct xv_pinned *pinned;
	struct ib_mr *ib;

	ib = xv_mr_pin(call, pd, range, access, &pinned);
	if (IS_ERR(ib))
		return PTR_ERR(ib);
	/* A failed command is tried again. */
	if (ib_dereg_mr(mr->ib) && ib_dereg_mr(mr->ib)) {
		if (!ib_dereg_mr(ib))
			xv_pin_put(pinned);
		return xv_mr_fail_change(call, mr);
	}
	mr->ib = ib;
	xv_pin_put(mr->pinned);
	mr->pinned = pinned;
	mr->revoked = false;
	mr->writable = ib_access_writable(access);
	return 0;
}

/*
 * Can mlx5_ib change the region?  Otherwise the memory is registered anew.
 *
 * ib_core tracks a region of an imported PD as a resource of a process, and any other region
 * as one of the kernel.  No region changes from one to the other.
 *
 * mlx5_ib changes access flags by a UMR if the adapter can do this.  If not, mlx5_ib (up to
 * 7.3) moves the memory to a new region.  The old region then has no memory, so mlx5_ib takes
 * it for one of the kernel, and unmaps and frees what this region does not own.  Therefore
 * mlx5_ib gets only those changes for which it uses a UMR on every adapter.
 */
static bool xv_mr_in_place(struct xv_call *call, const struct xv_mr_obj *mr,
			   const struct xv_obj *pd, u32 access)
{
	u32 umr = XVERBS_ACCESS_LOCAL_WRITE | XVERBS_ACCESS_REMOTE_WRITE |
		  XVERBS_ACCESS_REMOTE_READ;

	if (!MLX5_CAP_GEN(call->dev->mdev, umr_modify_atomic_disabled))
		umr |= XVERBS_ACCESS_REMOTE_ATOMIC;
	return XV_COMPAT_REREG && !((access ^ mr->access) & ~umr) && !to_pd_obj(pd)->uverbs &&
	       !to_pd_obj(mr->obj.deps[0])->uverbs;
}

/* New PD or access flags: the driver changes the mkey. */
static int xv_mr_alter(struct xv_call *call, struct xv_mr_obj *mr,
		       const struct xv_obj *pd, const struct xv_mr_range *range,
		       u32 access)
{
	struct ib_pd *ib_pd = to_pd_obj(pd)->ib, *old_pd = mr->ib->pd;
	struct ib_mr *ib;

	ib = xv_compat_rereg(mr->ib, call->arg.mr_rereg.change, range->addr, range->length,
			     range->iova, access, ib_pd);
	/* A new region, which xv_mr_in_place() rules out, is not tracked yet. */
	if (!IS_ERR_OR_NULL(ib))
		ib_pd->device->ops.dereg_mr(ib, NULL);
	if (ib)
		return xv_mr_fail_change(call, mr);
	/* Resource tracking does not read the PD of a region of the kernel. */
	if (ib_pd != old_pd) {
		mr->ib->pd = ib_pd;
		atomic_inc(&ib_pd->usecnt);
		atomic_dec(&old_pd->usecnt);
	}
	return 0;
}

static int xv_mr_rereg_locked(struct xv_call *call, struct xv_mr_obj *mr,
			      struct xv_obj *pd)
{
	struct xverbs_mr_rereg *arg = &call->arg.mr_rereg;
	struct xv_mr_range given = { mr->addr, mr->length, mr->iova }, range;
	bool moves = arg->change & XVERBS_REREG_TRANSLATION, pins;
	u32 access = arg->change & XVERBS_REREG_ACCESS ? arg->access :
							 mr->access;
	int err;

	lockdep_assert_held(&mr->lock);
	if (mr->umem)
		return xv_fail(call, -EOPNOTSUPP,
			       "MR: a dma-buf region cannot be re-registered");
	if (moves)
		given = (struct xv_mr_range) { arg->addr, arg->length,
					       arg->iova };
	range = given;
	/* Only pinning checks whether the process may write to the memory. */
	pins = moves || mr->revoked ||
	       (ib_access_writable(access) && !mr->writable) ||
	       !xv_mr_in_place(call, mr, pd, access);
	err = xv_mr_check_access(call, access);
	if (!err)
		err = xv_mr_check_range(call, &range, access);
	if (!err)
		err = pins ? xv_mr_replace(call, mr, pd, &range, access) :
			     xv_mr_alter(call, mr, pd, &range, access);
	if (err)
		return err;
	mr->addr = given.addr;
	mr->length = given.length;
	mr->iova = given.iova;
	mr->access = access;
	mr->obj.resource.number = mr->ib->lkey;
	mr->obj.resource.bytes = given.length;
	arg->out_lkey = mr->ib->lkey;
	arg->out_rkey = mr->ib->rkey;
	return 0;
}

/* On success the region uses the new PD and no longer the old one. */
static int xv_mr_rereg_pd(struct xv_call *call, struct xv_mr_obj *mr)
{
	struct xv_obj *old = mr->obj.deps[0], *pd;
	int err;

	pd = xv_obj_get(call, XV_OBJ_PD, call->arg.mr_rereg.pd);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	err = xv_mr_rereg_locked(call, mr, pd);
	if (err) {
		xv_obj_put(pd);
		return err;
	}
	mr->obj.deps[0] = pd;
	xv_obj_put(old);
	return 0;
}

int xv_mr_rereg(struct xv_call *call)
{
	const u32 known = XVERBS_REREG_TRANSLATION | XVERBS_REREG_PD |
			  XVERBS_REREG_ACCESS;
	struct xverbs_mr_rereg *arg = &call->arg.mr_rereg;
	struct xv_obj *obj;
	struct xv_mr_obj *mr;
	int err;

	if (arg->change & ~known)
		return xv_fail(call, -EOPNOTSUPP, "MR: unknown change 0x%x",
			       arg->change & ~known);
	if (!arg->change)
		return xv_fail(call, -EINVAL, "MR: change is empty");
	obj = xv_obj_get(call, XV_OBJ_MR, arg->mr);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	mr = to_mr_obj(obj);
	mutex_lock(&mr->lock);
	if (arg->change & XVERBS_REREG_PD)
		err = xv_mr_rereg_pd(call, mr);
	else
		err = xv_mr_rereg_locked(call, mr, obj->deps[0]);
	mutex_unlock(&mr->lock);
	xv_obj_put(obj);
	return err;
}
