// SPDX-License-Identifier: GPL-2.0
/*
 * mmap of /dev/xverbs: rings, doorbell records and doorbell pages.
 */
#include <linux/fs.h>
#include <linux/mm.h>

#include "file.h"

int xv_mapping_add(struct xv_file *file, struct xv_mapping *map)
{
	int err;

	mutex_lock(&file->map_lock);
	map->pgoff = file->next_pgoff;
	err = xa_err(xa_store(&file->maps, map->pgoff, map, XV_GFP));
	if (!err)
		file->next_pgoff += map->npages;
	mutex_unlock(&file->map_lock);
	return err;
}

/* Does not change existing mappings. */
void xv_mapping_del(struct xv_file *file, struct xv_mapping *map)
{
	mutex_lock(&file->map_lock);
	xa_erase(&file->maps, map->pgoff);
	mutex_unlock(&file->map_lock);
}

/*
 * Also unmaps the pages from existing mappings.  Because the entry is erased first,
 * every later fault gets the dummy page.
 */
void xv_mapping_del_zap(struct xv_file *file, struct xv_mapping *map)
{
	xv_mapping_del(file, map);
	unmap_mapping_range(file->inode->i_mapping,
			    (loff_t)map->pgoff << PAGE_SHIFT,
			    (loff_t)map->npages << PAGE_SHIFT, 1);
}

struct xverbs_map xv_mapping_user(const struct xv_mapping *map)
{
	return (struct xverbs_map) {
		.offset = (u64)map->pgoff << PAGE_SHIFT,
		.length = map->npages << PAGE_SHIFT,
	};
}

/* A page of ordinary memory that replaces a destroyed doorbell page */
static struct page *xv_dummy_page(struct xv_file *file)
{
	lockdep_assert_held(&file->map_lock);
	if (!file->dummy)
		file->dummy = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	return file->dummy;
}

/*
 * The protection of ordinary memory: as the kernel maps the page, so that its zeros are
 * seen (arm64) and that it is encrypted as it was written (x86 with SME).
 */
static vm_fault_t xv_dummy_insert(struct vm_fault *vmf, struct page *dummy)
{
	return vmf_insert_pfn_prot(vmf->vma, vmf->address, page_to_pfn(dummy),
				   vm_get_page_prot(vmf->vma->vm_flags));
}

/* The VMA holds the struct file, which holds xv_file and its dummy page. */
static vm_fault_t xv_pfn_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct xv_file *file = vma->vm_file->private_data;
	struct xv_mapping *map;
	struct page *dummy;
	vm_fault_t ret = VM_FAULT_OOM;

	mutex_lock(&file->map_lock);
	map = xa_load(&file->maps, vmf->pgoff);
	if (map) {
		ret = vmf_insert_pfn(vma, vmf->address, map->pfn);
	} else {
		dummy = xv_dummy_page(file);
		if (dummy)
			ret = xv_dummy_insert(vmf, dummy);
	}
	mutex_unlock(&file->map_lock);
	return ret;
}

const struct vm_operations_struct xv_pfn_vm_ops = {
	.fault = xv_pfn_fault,
};

int xv_fops_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct xv_file *file = filp->private_data;
	struct xv_mapping *map;
	int err = -EINVAL;

	if (!(vma->vm_flags & VM_SHARED) || (vma->vm_flags & VM_EXEC))
		return -EINVAL;
	mutex_lock(&file->map_lock);
	map = xa_load(&file->maps, vma->vm_pgoff);
	if (map && vma_pages(vma) == map->npages) {
		xv_compat_vm_flags(vma, VM_DONTEXPAND | VM_DONTDUMP,
				   VM_MAYEXEC);
		err = map->mmap(map, vma);
	}
	mutex_unlock(&file->map_lock);
	return err;
}
