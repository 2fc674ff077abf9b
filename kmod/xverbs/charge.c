// SPDX-License-Identifier: GPL-2.0
/*
 * Charges besides the memory cgroup: rings, doorbell records and long lists of indirect
 * keys count as locked memory, bound files and objects are charged to the rdma cgroup.
 */
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "xv.h"

/* ---- Locked memory ---------------------------------------------------------- */

/* Uses the same counter and the same limit as ib_umem_get(). */
struct xv_pinned *xv_pin_charge(struct xv_call *call, unsigned long npages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK);
	struct mm_struct *mm = current->mm;
	struct xv_pinned *pinned;
	s64 total;

	pinned = kmalloc(sizeof(*pinned), XV_GFP);
	if (!pinned)
		return ERR_PTR(-ENOMEM);
	total = atomic64_add_return(npages, &mm->pinned_vm);
	if (total > limit >> PAGE_SHIFT && !capable(CAP_IPC_LOCK)) {
		atomic64_sub(npages, &mm->pinned_vm);
		kfree(pinned);
		return ERR_PTR(xv_fail(call, -ENOMEM,
				       "cannot lock %lu bytes for a ring, doorbell records or a list of keys: RLIMIT_MEMLOCK is %lu, %llu are locked",
				       npages << PAGE_SHIFT, limit,
				       (u64)(total - npages) << PAGE_SHIFT));
	}
	refcount_set(&pinned->ref, 1);
	mmgrab(mm);
	pinned->mm = mm;
	pinned->npages = npages;
	return pinned;
}

/* Uncharges the process that was charged, also if another process drops the last reference. */
void xv_pin_put(struct xv_pinned *pinned)
{
	if (!refcount_dec_and_test(&pinned->ref))
		return;
	atomic64_sub(pinned->npages, &pinned->mm->pinned_vm);
	mmdrop(pinned->mm);
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

	if (err != -EAGAIN)
		return err;
	return xv_fail(call, -ENOSPC,
		       "limit %s of %s in the rdma cgroup of the process (rdma.max) reached",
		       what == RDMACG_RESOURCE_HCA_HANDLE ? "hca_handle" :
							    "hca_object",
		       dev_name(&dev->ib->dev));
}

void xv_cgroup_uncharge(struct xv_dev *dev, struct ib_rdmacg_object *charged,
			enum rdmacg_resource_type what)
{
	ib_rdmacg_uncharge(charged, dev->ib, what);
}
