// SPDX-License-Identifier: GPL-2.0
/* Memory regions: pinned, accounted and mapped by ib_core and mlx5_ib. */
#include <linux/overflow.h>
#include <linux/sched/signal.h>

#include "xv.h"

#define XV_MR_ACCESS (XVERBS_ACCESS_LOCAL_WRITE | XVERBS_ACCESS_REMOTE_WRITE | \
		      XVERBS_ACCESS_REMOTE_READ | XVERBS_ACCESS_REMOTE_ATOMIC | \
		      XVERBS_ACCESS_MW_BIND | XVERBS_ACCESS_ZERO_BASED |	\
		      XVERBS_ACCESS_ON_DEMAND | IB_ACCESS_OPTIONAL)

static_assert((int)IB_ACCESS_RELAXED_ORDERING ==
	      XVERBS_ACCESS_RELAXED_ORDERING);
static_assert((int)IB_ACCESS_ON_DEMAND == XVERBS_ACCESS_ON_DEMAND);

static int xv_mr_check_access(struct xv_call *call, u32 access)
{
	if (access & ~XV_MR_ACCESS)
		return xv_fail(call, -EOPNOTSUPP, "MR: unknown access 0x%x",
			       access & ~XV_MR_ACCESS);
	if (access & (XVERBS_ACCESS_REMOTE_WRITE |
		      XVERBS_ACCESS_REMOTE_ATOMIC) &&
	    !(access & XVERBS_ACCESS_LOCAL_WRITE))
		return xv_fail(call, -EINVAL,
			       "MR: remote write or atomic access needs local write");
	if (access & XVERBS_ACCESS_ON_DEMAND &&
	    !(call->dev->ib->attrs.kernel_cap_flags & IBK_ON_DEMAND_PAGING))
		return xv_fail(call, -EOPNOTSUPP,
			       "MR: the device has no on-demand paging");
	return 0;
}

/* Address and key space of a page have the same offsets within a page. */
static int xv_mr_check_range(struct xv_call *call, struct xverbs_mr_reg *arg,
			     u64 *iova)
{
	u64 end;

	if (!arg->length)
		return xv_fail(call, -EINVAL, "MR: length is zero");
	if (check_add_overflow(arg->addr, arg->length, &end))
		return xv_fail(call, -EINVAL, "MR: addr + length overflows");
	*iova = arg->iova;
	if (arg->access & XVERBS_ACCESS_ZERO_BASED) {
		if (arg->iova)
			return xv_fail(call, -EINVAL,
				       "MR: iova of a zero-based region is not zero");
		*iova = arg->addr & ~PAGE_MASK;
	}
	if ((*iova ^ arg->addr) & ~PAGE_MASK)
		return xv_fail(call, -EINVAL,
			       "MR: addr and iova differ in their offset within a page");
	return 0;
}

static int xv_mr_fail(struct xv_call *call, const struct xverbs_mr_reg *arg,
		      int err)
{
	switch (err) {
	case -ENOMEM:
		return xv_fail(call, err,
			       "MR: cannot pin %llu bytes: over RLIMIT_MEMLOCK (%lu bytes) or out of memory",
			       arg->length, rlimit(RLIMIT_MEMLOCK));
	case -EFAULT:
		return xv_fail(call, err,
			       "MR: 0x%llx and %llu bytes are not memory with the access asked for",
			       arg->addr, arg->length);
	default:
		return xv_fail(call, err, "MR: registration failed");
	}
}

int xv_mr_reg(struct xv_call *call)
{
	struct xverbs_mr_reg *arg = &call->arg.mr_reg;
	struct xv_obj *obj, *pd;
	struct xv_mr *mr;
	u64 iova;
	int err;

	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	err = xv_mr_check_access(call, arg->access);
	if (err)
		return err;
	err = xv_mr_check_range(call, arg, &iova);
	if (err)
		return err;

	obj = xv_obj_alloc(call, XV_OBJ_MR, sizeof(*mr));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	mr = xv_to(mr, obj);
	pd = xv_obj_use(call, obj, XV_OBJ_PD, arg->pd);
	if (IS_ERR(pd)) {
		err = PTR_ERR(pd);
		goto err_obj;
	}
	mr->ib = ib_reg_user_mr(xv_to(pd, pd)->ib, arg->addr, arg->length, iova,
				arg->access);
	if (IS_ERR(mr->ib)) {
		err = xv_mr_fail(call, arg, PTR_ERR(mr->ib));
		goto err_obj;
	}
	arg->out_handle = obj->handle;
	arg->out_lkey = mr->ib->lkey;
	arg->out_rkey = mr->ib->rkey;
	call->new_obj = obj;
	return 0;

err_obj:
	xv_obj_abort(obj);
	return err;
}

int xv_mr_destroy(struct xv_obj *obj, struct xv_call *call)
{
	int err = ib_dereg_mr(xv_to(mr, obj)->ib);

	return err ? xv_fail(call, err, "MR: deregistration failed") : 0;
}
