/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between the supported kernels.  No other file of xverbs.ko checks the kernel
 * version, or XV_HAS_*, by which Kbuild tells what the headers of the kernel have.
 */
#ifndef XV_COMPAT_H
#define XV_COMPAT_H

#include <linux/dma-resv.h>
#include <linux/mm.h>
#include <linux/mlx5/cq.h>
#include <linux/mlx5/driver.h>
#include <linux/mlx5/qp.h>
#include <linux/swiotlb.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#include <rdma/ib_umem.h>
#include <rdma/restrack.h>
#ifdef XV_HAVE_RDMA_ITER_H
#include <rdma/iter.h>
#endif
#ifndef XV_HAS_is_swiotlb_force_bounce
#include <linux/dma-direct.h>
#include <linux/dma-map-ops.h>
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

/* ---- Firmware commands -------------------------------------------------------------- */

#ifndef XV_HAS_mlx5_cmd_do
#define XV_COMPAT_STAT_ABORTED	0xfe	/* mlx5_core: MLX5_DRIVER_STATUS_ABORTED */

/* Older functions of mlx5_core convert the status in @out to an error number. */
static inline int xv_compat_cmd_result(const struct mlx5_core_dev *mdev, int err, const void *out)
{
	u8 status = MLX5_GET(destroy_qp_out, out, status);

	if (!err)
		return 0;
	if (status == XV_COMPAT_STAT_ABORTED || mdev->state == MLX5_DEVICE_STATE_INTERNAL_ERROR)
		return -ENXIO;
	return status ? -EREMOTEIO : err;
}

static inline int mlx5_cmd_do(struct mlx5_core_dev *mdev, void *in, int inlen, void *out,
			      int outlen)
{
	memset(out, 0, outlen);
	return xv_compat_cmd_result(mdev, mlx5_cmd_exec(mdev, in, inlen, out, outlen), out);
}

/* In error state mlx5_cmd_exec() has returned success for destroy commands. */
static inline int mlx5_cmd_check(struct mlx5_core_dev *mdev, int err, void *in, void *out)
{
	return err;
}
#endif

#ifndef XV_HAS_mlx5_create_cq
static inline int mlx5_create_cq(struct mlx5_core_dev *mdev, struct mlx5_core_cq *mcq, u32 *in,
				 int inlen, u32 *out, int outlen)
{
	return xv_compat_cmd_result(mdev, mlx5_core_create_cq(mdev, mcq, in, inlen, out, outlen),
				    out);
}
#endif

/* Without a function of the caller, older kernels put this one, which they do not export. */
#ifndef XV_HAS_mlx5_add_cq_to_tasklet
#define mlx5_add_cq_to_tasklet	NULL
#endif

#ifndef XV_HAS_c_eqn_or_apu_element
#define c_eqn_or_apu_element	c_eqn
#endif

/* A mlx5_ib that does not know formats of time stamps leaves the field zero, too. */
static inline void xv_compat_set_ts_format(struct mlx5_core_dev *mdev, void *qpc)
{
#ifdef XV_HAS_mlx5_get_qp_default_ts
	MLX5_SET(qpc, qpc, ts_format, mlx5_get_qp_default_ts(mdev));
#endif
}

/* As mlx5_ib: peer memory is accessed with translated addresses (ATS). */
static inline void xv_compat_set_ats(struct mlx5_core_dev *mdev, void *mkc, bool relaxed)
{
#ifdef XV_HAS_ma_translation_mode
	MLX5_SET(mkc, mkc, ma_translation_mode, relaxed && MLX5_CAP_GEN(mdev, ats));
#endif
}

/* A page of capabilities, current values */
static inline const __be32 *xv_compat_caps(const struct mlx5_core_dev *mdev,
					   enum mlx5_cap_type type)
{
#ifdef XV_HAS_mlx5_hca_cap
	return (__force __be32 *)mdev->caps.hca[type]->cur;
#else
	return (__force __be32 *)mdev->caps.hca_cur[type];
#endif
}

/* ---- Bonds ---------------------------------------------------------------------------- */

#ifndef XV_HAS_MLX5_CAP_PORT_SELECTION
#define MLX5_CAP_PORT_SELECTION(mdev, cap)	0
#endif

#ifndef XV_HAS_mlx5_lag_mode_is_hash
static inline bool mlx5_lag_mode_is_hash(struct mlx5_core_dev *mdev)
{
	return false;
}
#endif

/* Older kernels have only bonds of two ports. */
#ifndef XV_HAS_mlx5_lag_get_num_ports
static inline u8 mlx5_lag_get_num_ports(struct mlx5_core_dev *mdev)
{
	return 2;
}
#endif

/* As in older kernels, where the function is private to mlx5_core */
#ifndef XV_HAS_mlx5_lag_is_lacp_owner
static inline bool mlx5_lag_is_lacp_owner(struct mlx5_core_dev *mdev)
{
	return MLX5_CAP_GEN(mdev, vport_group_manager) && MLX5_CAP_GEN(mdev, num_lag_ports) > 1 &&
	       MLX5_CAP_GEN(mdev, lag_master);
}
#endif

/* ---- Memory --------------------------------------------------------------------------- */

/*
 * Older kernels tell modules only by what they do: they map another page.  An IOMMU bounces
 * nothing for a PCI function that it trusts.
 */
#ifndef XV_HAS_is_swiotlb_force_bounce
static inline bool is_swiotlb_force_bounce(struct device *dev)
{
	struct page *page = ZERO_PAGE(0);
	bool bounced;
	dma_addr_t dma;

	if (get_dma_ops(dev))
		return false;
	dma = dma_map_page(dev, page, 0, PAGE_SIZE, DMA_TO_DEVICE);
	if (dma_mapping_error(dev, dma))
		return true;
	bounced = dma_to_phys(dev, dma) != page_to_phys(page);
	dma_unmap_page(dev, dma, PAGE_SIZE, DMA_TO_DEVICE);
	return bounced;
}
#endif

/* Why dma-bufs cannot be pinned, or NULL */
static inline const char *xv_compat_no_dmabuf(void)
{
#ifdef XV_HAS_ib_umem_dmabuf_get_pinned
	return NULL;
#else
	return "dma-bufs need Linux 5.16";
#endif
}

#ifndef XV_HAS_ib_umem_dmabuf_get_pinned
struct ib_umem_dmabuf {
	struct ib_umem umem;
};

static inline struct ib_umem_dmabuf *ib_umem_dmabuf_get_pinned(struct ib_device *ib,
							       unsigned long offset, size_t size,
							       int fd, int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}
#endif

/* Waits until the exporter of a dma-buf has moved the memory; a signal ends the wait. */
static inline long xv_compat_resv_wait(struct dma_resv *resv)
{
#if defined(XV_HAS_DMA_RESV_USAGE_KERNEL)
	return dma_resv_wait_timeout(resv, DMA_RESV_USAGE_KERNEL, true, MAX_SCHEDULE_TIMEOUT);
#elif defined(XV_HAS_dma_resv_wait_timeout)
	return dma_resv_wait_timeout(resv, false, true, MAX_SCHEDULE_TIMEOUT);
#else
	return dma_resv_wait_timeout_rcu(resv, false, true, MAX_SCHEDULE_TIMEOUT);
#endif
}

/*
 * Changes the PD or the access flags of a region, as mlx5_ib does for ib_uverbs.  Returns NULL,
 * a new region, or an error.  Before 5.11 mlx5_ib frees the memory before it can fail, so xverbs
 * registers the memory anew there.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0)
#define XV_COMPAT_REREG		true

static inline struct ib_mr *xv_compat_rereg(struct ib_mr *mr, int change, u64 addr, u64 length,
					    u64 iova, int access, struct ib_pd *pd)
{
	return pd->device->ops.rereg_user_mr(mr, change, addr, length, iova, access, pd, NULL);
}
#else
#define XV_COMPAT_REREG		false

static inline struct ib_mr *xv_compat_rereg(struct ib_mr *mr, int change, u64 addr, u64 length,
					    u64 iova, int access, struct ib_pd *pd)
{
	return ERR_PTR(-EOPNOTSUPP);
}
#endif

/* ib_core then no longer lists the SRQ.  Older kernels list none. */
static inline void xv_compat_untrack_srq(struct ib_srq *srq)
{
#ifdef XV_HAS_RDMA_RESTRACK_SRQ
	rdma_restrack_del(&srq->res);
#endif
}

#endif
