// SPDX-License-Identifier: GPL-2.0
/* Memory regions: what those of user memory and those of dma-bufs share */
#include <linux/overflow.h>

#include "mr.h"

#define XV_MR_ACCESS (XVERBS_ACCESS_LOCAL_WRITE | XVERBS_ACCESS_REMOTE_WRITE | \
		      XVERBS_ACCESS_REMOTE_READ | XVERBS_ACCESS_REMOTE_ATOMIC | \
		      XVERBS_ACCESS_MW_BIND | XVERBS_ACCESS_ZERO_BASED |	\
		      XVERBS_ACCESS_ON_DEMAND | IB_ACCESS_OPTIONAL)

static_assert((int)IB_ACCESS_RELAXED_ORDERING ==
	      XVERBS_ACCESS_RELAXED_ORDERING);
static_assert((int)IB_ACCESS_ON_DEMAND == XVERBS_ACCESS_ON_DEMAND);

/*
 * After a page fault mlx5_ib resumes only its own queues.  A queue of xverbs would
 * stay suspended.
 */
const char xv_mr_odp_why_not[] =
	"mlx5_ib does not handle page faults of the queues of xverbs";

int xv_check_access_known(struct xv_call *call, const char *what, u32 access)
{
	if (access & ~XV_MR_ACCESS)
		return xv_fail(call, -EOPNOTSUPP, "%s: unknown access 0x%x",
			       what, access & ~XV_MR_ACCESS);
	return 0;
}

int xv_mr_check_access(struct xv_call *call, u32 access)
{
	int err = xv_check_access_known(call, "MR", access);

	if (err)
		return err;
	if (access & XVERBS_ACCESS_ON_DEMAND)
		return xv_fail(call, -EOPNOTSUPP,
			       "MR: on-demand paging: %s", xv_mr_odp_why_not);
	if (access & (XVERBS_ACCESS_REMOTE_WRITE |
		      XVERBS_ACCESS_REMOTE_ATOMIC) &&
	    !(access & XVERBS_ACCESS_LOCAL_WRITE))
		return xv_fail(call, -EINVAL,
			       "MR: remote write or atomic access needs local write");
	return 0;
}

/*
 * addr and iova must have the same offset within a page.  mlx5_ib warns if the range of iova is
 * not below 2^64.
 */
int xv_mr_check_range(struct xv_call *call, struct xv_mr_range *range,
		      u32 access)
{
	u64 end;

	if (!range->length)
		return xv_fail(call, -EINVAL, "MR: length is zero");
	/* ib_core cuts the numbers to those of the kernel, which may have 32 bits. */
	if (check_add_overflow(range->addr, range->length, &end) ||
	    end > ULONG_MAX)
		return xv_fail(call, -EINVAL, "MR: addr + length overflows");
	if (access & XVERBS_ACCESS_ZERO_BASED) {
		if (range->iova)
			return xv_fail(call, -EINVAL,
				       "MR: iova of a zero-based region is not zero");
		range->iova = range->addr & ~PAGE_MASK;
	}
	if (check_add_overflow(range->iova, range->length - 1, &end))
		return xv_fail(call, -EINVAL, "MR: iova + length overflows");
	if ((range->iova ^ range->addr) & ~PAGE_MASK)
		return xv_fail(call, -EINVAL,
			       "MR: addr and iova differ in their offset within a page");
	return 0;
}

/* Allocates a region without memory; deps[0] is its PD. */
struct xv_mr_obj *xv_mr_new(struct xv_call *call, u32 pd, u32 access)
{
	struct xv_obj *obj, *dep;

	obj = xv_obj_alloc(call, XV_OBJ_MR, sizeof(struct xv_mr_obj));
	if (IS_ERR(obj))
		return ERR_CAST(obj);
	dep = xv_obj_use(call, obj, XV_OBJ_PD, pd);
	if (IS_ERR(dep)) {
		xv_obj_abort(obj);
		return ERR_CAST(dep);
	}
	mutex_init(&to_mr_obj(obj)->lock);
	to_mr_obj(obj)->access = access;
	return to_mr_obj(obj);
}
