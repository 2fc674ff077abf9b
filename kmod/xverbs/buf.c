// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that adapter and process share: rings and doorbell records.  It is
 * made of whole pages that belong to one file, charged to its cgroup.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "xv.h"

static int xv_buf_mmap(struct xv_mapping *map, struct vm_area_struct *vma)
{
	struct xv_buf *buf = container_of(map, struct xv_buf, map);

	/* Each page is inserted with a reference of its own: it stays until
	 * unmapped, whatever happens to the queue.
	 */
	return vm_map_pages_zero(vma, buf->pages, buf->npages);
}

static void xv_buf_release_pages(struct xv_buf *buf, u32 n)
{
	while (n--) {
		dma_unmap_page(buf->dma_dev, buf->dma[n], PAGE_SIZE,
			       DMA_BIDIRECTIONAL);
		put_page(buf->pages[n]);
	}
	kvfree(buf->dma);
	kvfree(buf->pages);
}

static int xv_buf_get_page(struct xv_buf *buf, u32 i)
{
	struct page *page;

	page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
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

int xv_buf_alloc(struct xv_file *file, struct xv_buf *buf, size_t bytes)
{
	u32 i;
	int err;

	buf->dma_dev = file->dev->mdev->device;
	buf->npages = DIV_ROUND_UP(bytes, PAGE_SIZE);
	buf->pages = kvcalloc(buf->npages, sizeof(*buf->pages),
			      GFP_KERNEL_ACCOUNT);
	buf->dma = kvcalloc(buf->npages, sizeof(*buf->dma),
			    GFP_KERNEL_ACCOUNT);
	if (!buf->pages || !buf->dma) {
		kvfree(buf->dma);
		kvfree(buf->pages);
		return -ENOMEM;
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

/* The adapter must not know the buffer any more. */
void xv_buf_free(struct xv_file *file, struct xv_buf *buf)
{
	xv_mapping_del(file, &buf->map);
	xv_buf_release_pages(buf, buf->npages);
}

/* Writes the page list of a firmware command: 4 KiB << log_page_size each. */
void xv_buf_fill_pas(const struct xv_buf *buf, __be64 *pas)
{
	u32 i;

	for (i = 0; i < buf->npages; i++)
		pas[i] = cpu_to_be64(buf->dma[i]);
}

/* ---- Doorbell records -------------------------------------------------------- */

#define XV_DBR_BYTES	64	/* a cache line, lest queues disturb each other */
#define XV_DBR_PER_PAGE	(PAGE_SIZE / XV_DBR_BYTES)

struct xv_dbr_page {
	struct list_head node;
	struct xv_buf buf;
	DECLARE_BITMAP(used, XV_DBR_PER_PAGE);
};

static struct xv_dbr_page *xv_dbr_page_get(struct xv_file *file)
{
	struct xv_dbr_page *page;
	int err;

	/* Pages with room stand in front. */
	page = list_first_entry_or_null(&file->dbr_pages, struct xv_dbr_page,
					node);
	if (page && !bitmap_full(page->used, XV_DBR_PER_PAGE))
		return page;

	page = kzalloc(sizeof(*page), GFP_KERNEL_ACCOUNT);
	if (!page)
		return ERR_PTR(-ENOMEM);
	err = xv_buf_alloc(file, &page->buf, PAGE_SIZE);
	if (err) {
		kfree(page);
		return ERR_PTR(err);
	}
	list_add(&page->node, &file->dbr_pages);
	return page;
}

int xv_dbr_alloc(struct xv_file *file, struct xv_dbr *dbr)
{
	struct xv_dbr_page *page;
	unsigned int slot;

	mutex_lock(&file->dbr_lock);
	page = xv_dbr_page_get(file);
	if (IS_ERR(page)) {
		mutex_unlock(&file->dbr_lock);
		return PTR_ERR(page);
	}
	slot = find_first_zero_bit(page->used, XV_DBR_PER_PAGE);
	__set_bit(slot, page->used);
	if (bitmap_full(page->used, XV_DBR_PER_PAGE))
		list_move_tail(&page->node, &file->dbr_pages);
	dbr->page = page;
	dbr->offset = slot * XV_DBR_BYTES;
	memset(page_address(page->buf.pages[0]) + dbr->offset, 0, XV_DBR_BYTES);
	mutex_unlock(&file->dbr_lock);
	return 0;
}

void xv_dbr_free(struct xv_file *file, struct xv_dbr *dbr)
{
	struct xv_dbr_page *page = dbr->page;

	mutex_lock(&file->dbr_lock);
	__clear_bit(dbr->offset / XV_DBR_BYTES, page->used);
	if (bitmap_empty(page->used, XV_DBR_PER_PAGE)) {
		list_del(&page->node);
		xv_buf_free(file, &page->buf);
		kfree(page);
	} else {
		list_move(&page->node, &file->dbr_pages);
	}
	mutex_unlock(&file->dbr_lock);
}

dma_addr_t xv_dbr_dma(const struct xv_dbr *dbr)
{
	return dbr->page->buf.dma[0] + dbr->offset;
}

struct xverbs_map xv_dbr_user(const struct xv_dbr *dbr)
{
	return xv_mapping_user(&dbr->page->buf.map);
}
