// SPDX-License-Identifier: GPL-2.0
/*
 * Doorbell records.  The queues of a file share pages of records; a record can also be
 * in a UMEM.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "buf.h"
#include "mr.h"

#define XV_DBR_BYTES	64	/* one cache line for each queue */
#define XV_DBR_PER_PAGE	(PAGE_SIZE / XV_DBR_BYTES)

struct xv_dbr_page {
	struct list_head node;
	struct xv_buf buf;
	DECLARE_BITMAP(used, XV_DBR_PER_PAGE);
};

static struct xv_dbr_page *xv_dbr_page_get(struct xv_call *call)
{
	struct xv_file *file = call->file;
	struct xv_dbr_page *page;
	int err;

	/* Pages with free records are at the front of the list. */
	page = list_first_entry_or_null(&file->dbr_pages, struct xv_dbr_page,
					node);
	if (page && !bitmap_full(page->used, XV_DBR_PER_PAGE))
		return page;

	page = kzalloc(sizeof(*page), XV_GFP);
	if (!page)
		return ERR_PTR(-ENOMEM);
	err = xv_buf_alloc(call, &page->buf, PAGE_SIZE);
	if (err) {
		kfree(page);
		return ERR_PTR(err);
	}
	list_add(&page->node, &file->dbr_pages);
	return page;
}

int xv_dbr_alloc(struct xv_call *call, struct xv_dbr *dbr)
{
	struct xv_file *file = call->file;
	struct xv_dbr_page *page;
	unsigned int slot;

	mutex_lock(&file->dbr_lock);
	page = xv_dbr_page_get(call);
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
	dbr->dma = page->buf.dma[0] + dbr->offset;
	memset(page_address(page->buf.pages[0]) + dbr->offset, 0, XV_DBR_BYTES);
	mutex_unlock(&file->dbr_lock);
	return 0;
}

int xv_dbr_from_umem(struct xv_call *call, struct xv_dbr *dbr,
		     const struct xv_umem_obj *umem, u64 offset)
{
	int err;

	err = xv_umem_check(call, umem, "doorbell record", offset,
			    XV_DBR_BYTES, XV_DBR_BYTES);
	if (err)
		return err;
	err = xv_umem_pages(call, umem, offset, &dbr->dma, 1);
	if (err)
		return err;
	dbr->dma += offset & ~PAGE_MASK;
	return 0;
}

void xv_dbr_free(struct xv_file *file, struct xv_dbr *dbr)
{
	struct xv_dbr_page *page = dbr->page;

	if (!page)
		return;
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

struct xverbs_map xv_dbr_map(const struct xv_dbr *dbr)
{
	if (!dbr->page)
		return (struct xverbs_map) {};
	return xv_mapping_user(&dbr->page->buf.map);
}
