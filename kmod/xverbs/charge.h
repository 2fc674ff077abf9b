/* SPDX-License-Identifier: GPL-2.0 */
/* Charges: locked memory and the rdma cgroup */
#ifndef XV_CHARGE_H
#define XV_CHARGE_H

#include "xv.h"

/**
 * struct xv_pinned - pages charged as locked memory
 * @ref: held by the buffer and by each mapping of it
 * @cred: its user is charged against RLIMIT_MEMLOCK; NULL if the process had CAP_IPC_LOCK
 * @mm: the process in which the pages count as pinned, or NULL
 */
struct xv_pinned {
	refcount_t ref;
	const struct cred *cred;
	struct mm_struct *mm;
	unsigned long npages;
};

struct xv_pinned *xv_pin_charge(struct xv_call *call, unsigned long npages,
				struct mm_struct *mm, const char *what);
struct xv_pinned *xv_pin_charge_range(struct xv_call *call, u64 addr, u64 length,
				      const char *what);
void xv_pin_put(struct xv_pinned *pinned);
void xv_pin_vma(struct xv_pinned *pinned, struct vm_area_struct *vma);
int xv_cgroup_charge(struct xv_call *call, struct xv_dev *dev,
		     struct ib_rdmacg_object *charged,
		     enum rdmacg_resource_type what);
void xv_cgroup_uncharge(struct xv_dev *dev, struct ib_rdmacg_object *charged,
			enum rdmacg_resource_type what);

#endif
