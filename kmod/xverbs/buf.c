// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers that process and adapter share: rings and pages of doorbell records.  Pages
 * of the kernel belong to one file and are charged to its cgroup; other buffers are in
 * a UMEM.  There is no DMA synchronisation: device.c refuses adapters that need it.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "buf.h"
#include "charge.h"
#include "mr.h"

static int xv_buf_mmap(struct xv_mapping *map, struct vm_area_struct *vma)
{
	struct xv_buf *buf = container_of(map, struct xv_buf, map);
	int err;

	/* Each page is inserted with a reference, so it stays until it is unmapped. */
	err = vm_map_pages_zero(vma, buf->pages, buf->npages);
	if (!err)
		xv_pin_vma(buf->pinned, vma);
	return err;
}

static void xv_buf_release_pages(struct xv_buf *buf, u32 n)
{
	while (n--) {
		dma_unmap_page(buf->dma_dev, buf->dma[n], PAGE_SIZE,
			       DMA_BIDIRECTIONAL);
		put_page(buf->pages[n]);
	}
	kvfree(buf->dma);
	xv_pin_put(buf->pinned);
}

/* Allocates the lists of DMA addresses and of pages in one block. */
static int xv_buf_alloc_lists(struct xv_buf *buf)
{
	buf->dma = kvcalloc(buf->npages, sizeof(*buf->dma) + sizeof(*buf->pages),
			    XV_GFP);
	if (!buf->dma)
		return -ENOMEM;
	buf->pages = (struct page **)(buf->dma + buf->npages);
	return 0;
}

static int xv_buf_get_page(struct xv_buf *buf, u32 i)
{
	struct page *page;

	page = alloc_page(XV_GFP | __GFP_ZERO);
	if (!page)
		return -ENOMEM;
	buf->dma[i] = dma_map_page(buf->dma_dev, page, 0, PAGE_SIZE,
				   DMA_BIDIRECTIONAL);
	if (dma_mapping_error(buf->dma_dev, buf->dma[i])) {
		__free_page(page);
		return -ENOMEM;
	}
	buf->pages[i] = page;
	return 0;
}

int xv_buf_alloc(struct xv_call *call, struct xv_buf *buf, size_t bytes)
{
	struct xv_file *file = call->file;
	u32 i;
	int err;

	buf->dma_dev = file->dev->mdev->device;
	buf->npages = DIV_ROUND_UP(bytes, PAGE_SIZE);
	buf->pinned = xv_pin_charge(call, buf->npages, current->mm,
				    "a ring or doorbell records");
	if (IS_ERR(buf->pinned))
		return PTR_ERR(buf->pinned);
	err = xv_buf_alloc_lists(buf);
	if (err) {
		xv_pin_put(buf->pinned);
		return err;
	}
	for (i = 0; i < buf->npages; i++) {
		err = xv_buf_get_page(buf, i);
		if (err)
			goto err_pages;
	}
	buf->map.npages = buf->npages;
	buf->map.mmap = xv_buf_mmap;
	err = xv_mapping_add(file, &buf->map);
	if (err)
		goto err_pages;
	return 0;

err_pages:
	xv_buf_release_pages(buf, i);
	return err;
}

/* The adapter must not use the buffer any more. */
void xv_buf_free(struct xv_file *file, struct xv_buf *buf)
{
	if (buf->pages) {
		xv_mapping_del(file, &buf->map);
		xv_buf_release_pages(buf, buf->npages);
	} else {
		kvfree(buf->dma);
	}
}

/* Replaces @buf by @new and frees the pages of @buf; atomic for mmap(). */
void xv_buf_replace(struct xv_file *file, struct xv_buf *buf,
		    const struct xv_buf *new)
{
	struct xv_buf old;

	mutex_lock(&file->map_lock);
	old = *buf;
	xa_erase(&file->maps, old.map.pgoff);
	*buf = *new;
	/* The entry exists, so xa_store() needs no memory. */
	xa_store(&file->maps, buf->map.pgoff, &buf->map, GFP_KERNEL);
	mutex_unlock(&file->map_lock);
	xv_buf_release_pages(&old, old.npages);
}

int xv_buf_from_umem(struct xv_call *call, struct xv_buf *buf,
		     const struct xv_umem_obj *umem, u64 offset, size_t bytes)
{
	int err;

	err = xv_umem_check(call, umem, "ring", offset, bytes, PAGE_SIZE);
	if (err)
		return err;
	buf->npages = DIV_ROUND_UP(bytes, PAGE_SIZE);
	buf->dma = kvcalloc(buf->npages, sizeof(*buf->dma), XV_GFP);
	if (!buf->dma)
		return -ENOMEM;
	err = xv_umem_pages(call, umem, offset, buf->dma, buf->npages);
	if (err)
		kvfree(buf->dma);
	return err;
}

/* Writes the page list of a firmware command; log_page_size is that of the kernel. */
void xv_buf_fill_pas(const struct xv_buf *buf, __be64 *pas)
{
	u32 i;

	for (i = 0; i < buf->npages; i++)
		pas[i] = cpu_to_be64(buf->dma[i]);
}
