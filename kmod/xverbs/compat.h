/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between the supported kernels.  No other file of xverbs.ko checks the
 * kernel version.
 */
#ifndef XV_COMPAT_H
#define XV_COMPAT_H

#include <linux/mm.h>
#include <linux/mlx5/driver.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#include <rdma/ib_umem.h>
#ifdef XV_HAVE_RDMA_ITER_H
#include <rdma/iter.h>
#endif

/* The EQ number of a completion vector */
static inline int xv_compat_vector2eqn(struct mlx5_core_dev *mdev, int vector,
				       int *eqn)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	return mlx5_comp_eqn_get(mdev, vector, eqn);
#else
	return mlx5_vector2eqn(mdev, vector, eqn);
#endif
}

static inline struct ib_umem *xv_compat_umem_get(struct ib_device *ib, u64 addr,
						 u64 length, int access)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 2, 0)
	return ib_umem_get_va(ib, addr, length, access);
#else
	return ib_umem_get(ib, addr, length, access);
#endif
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define XV_COMPAT_IMPORT_NS(ns)	MODULE_IMPORT_NS(#ns)
#else
#define XV_COMPAT_IMPORT_NS(ns)	MODULE_IMPORT_NS(ns)
#endif

/* ib_core exports these functions, but no public header declares them. */

struct rdma_restrack_entry;
void rdma_restrack_del(struct rdma_restrack_entry *res);

/* Without CONFIG_CGROUP_RDMA there are no charges. */
#ifdef CONFIG_CGROUP_RDMA
int ib_rdmacg_try_charge(struct ib_rdmacg_object *cg_obj,
			 struct ib_device *device,
			 enum rdmacg_resource_type resource_index);
void ib_rdmacg_uncharge(struct ib_rdmacg_object *cg_obj,
			struct ib_device *device,
			enum rdmacg_resource_type resource_index);
#else
static inline int ib_rdmacg_try_charge(struct ib_rdmacg_object *cg_obj,
				       struct ib_device *device,
				       enum rdmacg_resource_type resource_index)
{
	return 0;
}

static inline void ib_rdmacg_uncharge(struct ib_rdmacg_object *cg_obj,
				      struct ib_device *device,
				      enum rdmacg_resource_type resource_index)
{
}
#endif

/* Linux before 6.2 does not promise class.devnode() a device that stays the same. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#define XV_COMPAT_DEVNODE_CONST	const
#else
#define XV_COMPAT_DEVNODE_CONST
#endif

/* A work item of this queue runs on any CPU; a long one does not delay the others. */
static inline bool xv_compat_queue_work(struct work_struct *work)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
	return queue_work(system_dfl_wq, work);
#else
	return queue_work(system_unbound_wq, work);
#endif
}

static inline void xv_compat_vm_flags(struct vm_area_struct *vma,
				      unsigned long set, unsigned long clear)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

#endif
