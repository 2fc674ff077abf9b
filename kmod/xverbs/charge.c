// SPDX-License-Identifier: GPL-2.0
/*
 * Charges besides the memory cgroup: rings, doorbell records, long lists of indirect keys and
 * pinned memory count as locked memory, bound files and objects are charged to the rdma cgroup.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>

#include "charge.h"
#include "device.h"

/* ---- Locked memory ---------------------------------------------------------- */

/*
 * The pages count for the user of the caller, in the counter that io_uring and AF_XDP use.
 * The counter of a process (mm_struct.pinned_vm) would begin at zero after exec() and in a
 * child, which keep the file with its rings and regions.
 */
static bool xv_pin_try(struct user_struct *user, unsigned long npages,
		       unsigned long limit, unsigned long *locked)
{
	*locked = atomic_long_read(&user->locked_vm);
	do {
		if (*locked > limit || npages > limit - *locked)
			return false;
	} while (!atomic_long_try_cmpxchg(&user->locked_vm, (long *)locked,
					  *locked + npages));
	return true;
}

/*
 * Charges @npages of @what.  @mm: the pages also count as pinned pages of this process; NULL
 * if ib_umem_get() counts them there.
 */
struct xv_pinned *xv_pin_charge(struct xv_call *call, unsigned long npages,
				struct mm_struct *mm, const char *what)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK), locked;
	struct xv_pinned *pinned;

	pinned = kzalloc(sizeof(*pinned), XV_GFP);
	if (!pinned)
		return ERR_PTR(-ENOMEM);
	refcount_set(&pinned->ref, 1);
	pinned->npages = npages;
	if (!capable(CAP_IPC_LOCK)) {
		if (!xv_pin_try(current_user(), npages, limit >> PAGE_SHIFT,
				&locked)) {
			kfree(pinned);
			return ERR_PTR(xv_fail_limit(call, -ENOMEM, XVERBS_LIMIT_MEMLOCK,
						     "cannot lock %llu bytes for %s: RLIMIT_MEMLOCK is %lu, the processes of the user have locked %llu",
						     (u64)npages << PAGE_SHIFT, what, limit,
						     (u64)locked << PAGE_SHIFT));
		}
		pinned->cred = get_current_cred();
	}
	if (mm) {
		atomic64_add(npages, &mm->pinned_vm);
		mmgrab(mm);
		pinned->mm = mm;
	}
	return pinned;
}

/*
 * Charges memory that ib_umem_get() pins and counts in the process, too.  The length may be
 * up to 2^64 - 1.
 */
struct xv_pinned *xv_pin_charge_range(struct xv_call *call, u64 addr, u64 length,
				      const char *what)
{
	u64 npages = (length >> PAGE_SHIFT) +
		     DIV_ROUND_UP((addr & ~PAGE_MASK) + (length & ~PAGE_MASK),
				  PAGE_SIZE);

	return xv_pin_charge(call, npages, NULL, what);
}

/* Uncharges who was charged, also if another process drops the last reference. */
void xv_pin_put(struct xv_pinned *pinned)
{
	if (!refcount_dec_and_test(&pinned->ref))
		return;
	if (pinned->cred) {
		atomic_long_sub(pinned->npages, &pinned->cred->user->locked_vm);
		put_cred(pinned->cred);
	}
	if (pinned->mm) {
		atomic64_sub(pinned->npages, &pinned->mm->pinned_vm);
		mmdrop(pinned->mm);
	}
	kfree(pinned);
}

static void xv_pin_vma_open(struct vm_area_struct *vma)
{
	struct xv_pinned *pinned = vma->vm_private_data;

	refcount_inc(&pinned->ref);
}

static void xv_pin_vma_close(struct vm_area_struct *vma)
{
	xv_pin_put(vma->vm_private_data);
}

static const struct vm_operations_struct xv_pin_vm_ops = {
	.open = xv_pin_vma_open,
	.close = xv_pin_vma_close,
};

/* A mapping keeps the pages and the charge after the queue is destroyed. */
void xv_pin_vma(struct xv_pinned *pinned, struct vm_area_struct *vma)
{
	refcount_inc(&pinned->ref);
	vma->vm_private_data = pinned;
	vma->vm_ops = &xv_pin_vm_ops;
}

/* ---- The rdma cgroup --------------------------------------------------------- */

int xv_cgroup_charge(struct xv_call *call, struct xv_dev *dev,
		     struct ib_rdmacg_object *charged,
		     enum rdmacg_resource_type what)
{
	int err = ib_rdmacg_try_charge(charged, dev->ib, what);
	bool handle = what == RDMACG_RESOURCE_HCA_HANDLE;
	char name[XVERBS_NAME_MAX];

	if (err != -EAGAIN)
		return err;
	xv_dev_name(dev, name);
	return xv_fail_limit(call, -ENOSPC,
			     handle ? XVERBS_LIMIT_HCA_HANDLE : XVERBS_LIMIT_HCA_OBJECT,
			     "limit %s of %s in the rdma cgroup of the process (rdma.max) reached",
			     handle ? "hca_handle" : "hca_object", name);
}

void xv_cgroup_uncharge(struct xv_dev *dev, struct ib_rdmacg_object *charged,
			enum rdmacg_resource_type what)
{
	ib_rdmacg_uncharge(charged, dev->ib, what);
}
