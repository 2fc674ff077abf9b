// SPDX-License-Identifier: GPL-2.0
/*
 * Doorbell pages (UARs).  A page is not shared between files, because a process that
 * can write to it can ring the doorbells of all its queues.
 */
#include <linux/io.h>
#include <linux/mlx5/device.h>
#include <linux/pci.h>
#include <rdma/mlx5_ring.h>

#include "fw.h"
#include "uar.h"

/*
 * The user context of the file.  It says that its doorbell pages and CQs belong to one process,
 * as mlx5_ib does with each context of libmlx5.  Without a context, as on older adapters or if
 * there are too many, the pages belong to the kernel, as with libmlx5.
 */
static int xv_uar_uid(struct xv_call *call, u16 *uid)
{
	struct xv_file *file = call->file;
	int err = 0;

	if (!MLX5_CAP_GEN(call->dev->mdev, log_max_uctx))
		return 0;
	mutex_lock(&file->uid_lock);
	if (!file->uid)
		err = xv_fw_create_uctx(call->dev, call, &file->uid);
	*uid = file->uid;
	mutex_unlock(&file->uid_lock);
	if (err != -ENOSPC)
		return err;
	xv_forget_failure(call);
	return 0;
}

/*
 * Called when all objects of the file are destroyed.  If the firmware fails to destroy the user
 * context, the context stays in the adapter.  It owns no object then, and no process knows it.
 */
void xv_uar_end(struct xv_file *file)
{
	if (file->uid && !file->kept && xv_fw_destroy_uctx(file->dev, NULL, file->uid))
		xv_fw_destroy_uctx(file->dev, NULL, file->uid);
	file->uid = 0;
}

static int xv_uar_mmap(struct xv_mapping *map, struct vm_area_struct *vma)
{
	struct xv_uar_obj *uar = container_of(map, struct xv_uar_obj, map);
	pgprot_t prot = vma->vm_page_prot;

	prot = uar->write_combining ? pgprot_writecombine(prot) :
				      pgprot_noncached(prot);
	vma->vm_page_prot = pgprot_decrypted(prot);	/* registers, not memory */
	xv_compat_vm_flags(vma, VM_IO | VM_PFNMAP, 0);
	vma->vm_ops = &xv_pfn_vm_ops;
	return 0;
}

/* With uar_4k the index counts 4 KiB pages, otherwise system pages (PRM). */
static phys_addr_t xv_uar_phys(struct mlx5_core_dev *mdev, u32 index)
{
	if (MLX5_CAP_GEN(mdev, uar_4k))
		index >>= PAGE_SHIFT - MLX5_ADAPTER_PAGE_SHIFT;
	return pci_resource_start(mdev->pdev, 0) +
	       ((phys_addr_t)index << PAGE_SHIFT);
}

static void xv_uar_report(const struct xv_dev *dev, const struct xv_uar_obj *uar,
			  struct xverbs_uar_alloc *arg)
{
	u32 stride = 1 << MLX5_CAP_GEN(dev->mdev, log_bf_reg_size);

	arg->out_handle = uar->obj.handle;
	arg->out_page_id = uar->index;
	arg->out_map = xv_mapping_user(&uar->map);
	arg->out_bf_offset = MLX5R_UAR_BF;
	arg->out_bf_regs = MLX5_NON_FP_BFREGS_PER_UAR;
	arg->out_bf_stride = stride;
	arg->out_bf_bytes = MLX5_CAP_GEN(dev->mdev, bf) && uar->write_combining ?
			    stride / 2 : 0;
}

int xv_uar_alloc(struct xv_call *call)
{
	struct xverbs_uar_alloc *arg = &call->arg.uar_alloc;
	struct xv_uar_obj *uar;
	struct xv_obj *obj;
	phys_addr_t phys;
	int err;

	obj = xv_obj_alloc(call, XV_OBJ_UAR, sizeof(*uar));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	uar = to_uar_obj(obj);
	uar->write_combining = !(arg->hdr.flags & XVERBS_UAR_NC);
	err = xv_uar_uid(call, &uar->uid);
	if (err)
		goto err_obj;
	err = xv_fw_alloc_uar(call->dev, call, uar->uid, &uar->index);
	if (err)
		goto err_obj;

	/* User mappings get the memory type of this mapping. */
	phys = xv_uar_phys(call->dev->mdev, uar->index);
	uar->iomem = uar->write_combining ? ioremap_wc(phys, PAGE_SIZE) :
				      ioremap(phys, PAGE_SIZE);
	if (!uar->iomem) {
		err = -ENOMEM;
		goto err_uar;
	}
	uar->map.npages = 1;
	uar->map.pfn = PHYS_PFN(phys);
	uar->map.mmap = xv_uar_mmap;
	err = xv_mapping_add(call->file, &uar->map);
	if (err)
		goto err_iomem;

	obj->resource.number = uar->index;
	xv_uar_report(call->dev, uar, arg);
	call->new_obj = obj;
	return 0;

err_iomem:
	iounmap(uar->iomem);
err_uar:
	xv_fw_dealloc_uar(call->dev, NULL, uar->uid, uar->index);
err_obj:
	xv_obj_abort(obj);
	return err;
}

/* No mapping may remain: the page can be allocated to another process. */
int xv_uar_destroy(struct xv_obj *obj, struct xv_call *call)
{
	struct xv_uar_obj *uar = to_uar_obj(obj);
	int err;

	xv_mapping_del_zap(obj->file, &uar->map);
	err = xv_fw_dealloc_uar(obj->file->dev, call, uar->uid, uar->index);
	if (err)
		return err;
	iounmap(uar->iomem);
	return 0;
}

void xv_uar_leak(struct xv_obj *obj)
{
	xv_mapping_del_zap(obj->file, &to_uar_obj(obj)->map);
}
