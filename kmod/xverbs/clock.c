// SPDX-License-Identifier: GPL-2.0
/*
 * The clock of the adapter.  Its register is in the initialization segment, in a page of
 * its own that a process can map and read.
 */
#include <linux/io.h>
#include <linux/mlx5/device.h>
#include <linux/mm.h>

#include "file.h"

#define XV_CLOCK_REG	offsetof(struct mlx5_init_seg, internal_timer_h)

static int xv_clock_mmap(struct xv_mapping *map, struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	vma->vm_page_prot =
		pgprot_decrypted(pgprot_noncached(vma->vm_page_prot));
	xv_compat_vm_flags(vma, VM_IO | VM_PFNMAP, VM_MAYWRITE);
	vma->vm_ops = &xv_pfn_vm_ops;
	return 0;
}

static int xv_clock_check(struct xv_call *call)
{
	if (!call->dev->ib->attrs.hca_core_clock)
		return xv_fail(call, -EOPNOTSUPP, "the device has no clock");
	/* A larger page has other registers, too. */
	if (PAGE_SIZE > MLX5_ADAPTER_PAGE_SIZE)
		return xv_fail(call, -EOPNOTSUPP,
			       "clock: not supported with pages of %lu bytes",
			       PAGE_SIZE);
	return 0;
}

static int xv_clock_add(struct xv_file *file, struct xv_mapping *map)
{
	int err = 0;

	mutex_lock(&file->clock_lock);
	if (!map->npages) {
		map->pfn = PHYS_PFN(file->dev->mdev->bar_addr + XV_CLOCK_REG);
		map->mmap = xv_clock_mmap;
		map->npages = 1;
		err = xv_mapping_add(file, map);
		if (err)
			map->npages = 0;
	}
	mutex_unlock(&file->clock_lock);
	return err;
}

int xv_clock_map(struct xv_call *call)
{
	struct xverbs_clock_map *arg = &call->arg.clock_map;
	struct xv_mapping *map = &call->file->clock;
	int err;

	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	err = xv_clock_check(call);
	if (!err)
		err = xv_clock_add(call->file, map);
	if (err)
		return err;
	arg->out_map = xv_mapping_user(map);
	arg->out_offset = offset_in_page(XV_CLOCK_REG);
	return 0;
}

/* Called when the file closes or its device is removed; no call is in flight. */
void xv_clock_unmap(struct xv_file *file)
{
	if (file->clock.npages)
		xv_mapping_del_zap(file, &file->clock);
	file->clock.npages = 0;
}
