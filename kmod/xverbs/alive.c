// SPDX-License-Identifier: GPL-2.0
/*
 * A page that a process reads to learn whether its device is still there.  It begins with 1, and
 * all files map the same page.  When the device of a file is removed, a page of zeros replaces it
 * in the mappings of this file; the doorbell pages and the clock are replaced in the same way.
 */
#include <linux/gfp.h>
#include <linux/mm.h>

#include "file.h"

static struct page *xv_alive_page;

int xv_alive_init(void)
{
	xv_alive_page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!xv_alive_page)
		return -ENOMEM;
	*(u32 *)page_address(xv_alive_page) = 1;
	return 0;
}

/* Each mapping holds its file, and this holds the module. */
void xv_alive_exit(void)
{
	__free_page(xv_alive_page);
}

static int xv_alive_mmap(struct xv_mapping *map, struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	xv_compat_vm_flags(vma, VM_IO | VM_PFNMAP, VM_MAYWRITE);
	vma->vm_ops = &xv_pfn_vm_ops;
	return 0;
}

int xv_alive_map(struct xv_file *file)
{
	struct xv_mapping *map = &file->alive;

	map->pfn = page_to_pfn(xv_alive_page);
	map->mmap = xv_alive_mmap;
	map->npages = 1;
	return xv_mapping_add(file, map);
}

/* Called when the file closes or its device is removed; no call is in flight. */
void xv_alive_unmap(struct xv_file *file)
{
	xv_mapping_del_zap(file, &file->alive);
}
