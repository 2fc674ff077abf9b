// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that adapter and process share: rings and doorbell records.  The
 * kernel's is made of whole pages that belong to one file, charged to its
 * cgroup; the user's is pinned as a UMEM.  Neither is ever synchronised:
 * device.c refuses adapters that need it.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "xv.h"

static int xv_buf_mmap(struct xv_mapping *map, struct vm_area_struct *vma)
{
	struct xv_buf *buf = container_of(map, struct xv_buf, map);
	int err;

	/* Each page is inserted with a reference of its own: it stays until
	 * unmapped, whatever happens to the queue.
	 */
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
	kvfree(buf->pages);
	xv_pin_put(buf->pinned);
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

int xv_buf_alloc(struct xv_call *call, struct xv_buf *buf, size_t bytes)
{
	struct xv_file *file = call->file;
	u32 i;
	int err;

	buf->dma_dev = file->dev->mdev->device;
	buf->npages = DIV_ROUND_UP(bytes, PAGE_SIZE);
	buf->pinned = xv_pin_charge(call, buf->npages);
	if (IS_ERR(buf->pinned))
		return PTR_ERR(buf->pinned);
	buf->pages = kvcalloc(buf->npages, sizeof(*buf->pages),
			      GFP_KERNEL_ACCOUNT);
	buf->dma = kvcalloc(buf->npages, sizeof(*buf->dma),
			    GFP_KERNEL_ACCOUNT);
	if (!buf->pages || !buf->dma) {
		kvfree(buf->dma);
		kvfree(buf->pages);
		xv_pin_put(buf->pinned);
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
	if (buf->pages) {
		xv_mapping_del(file, &buf->map);
		xv_buf_release_pages(buf, buf->npages);
	} else {
		kvfree(buf->dma);
	}
}

/* Puts @new in the place of @buf, whose pages go; an mmap() sees one or other. */
void xv_buf_replace(struct xv_file *file, struct xv_buf *buf,
		    const struct xv_buf *new)
{
	struct xv_buf old;

	mutex_lock(&file->map_lock);
	old = *buf;
	xa_erase(&file->maps, old.map.pgoff);
	*buf = *new;
	/* Replaces the pointer to @new: needs no memory. */
	xa_store(&file->maps, buf->map.pgoff, &buf->map, GFP_KERNEL);
	mutex_unlock(&file->map_lock);
	xv_buf_release_pages(&old, old.npages);
}

/* Where the adapter finds the page at @offset of a UMEM */
static void xv_umem_pages(const struct xv_umem_obj *umem, u64 offset,
			  dma_addr_t *dma, u32 n)
{
	u64 first = offset >> PAGE_SHIFT, i = 0;
	struct ib_block_iter it;

	rdma_umem_for_each_dma_block(umem->ib, &it, PAGE_SIZE) {
		if (i >= first + n)
			break;
		if (i >= first)
			dma[i - first] = rdma_block_iter_dma_address(&it);
		if (!(++i % 1024))
			cond_resched();
	}
}

static int xv_umem_check(struct xv_call *call, const struct xv_umem_obj *umem,
			 const char *what, u64 offset, u64 bytes, u32 align)
{
	u64 end;

	if (offset % align)
		return xv_fail(call, -EINVAL,
			       "%s: offset 0x%llx is not a multiple of %u",
			       what, offset, align);
	if (check_add_overflow(offset, bytes, &end) || end > umem->length)
		return xv_fail(call, -EINVAL,
			       "%s: %llu bytes at 0x%llx, the UMEM has %llu",
			       what, bytes, offset, umem->length);
	return 0;
}

static int xv_buf_from_umem(struct xv_call *call, struct xv_buf *buf,
			    const struct xv_umem_obj *umem, u64 offset,
			    size_t bytes)
{
	int err;

	err = xv_umem_check(call, umem, "ring", offset, bytes, PAGE_SIZE);
	if (err)
		return err;
	buf->npages = DIV_ROUND_UP(bytes, PAGE_SIZE);
	buf->dma = kvcalloc(buf->npages, sizeof(*buf->dma),
			    GFP_KERNEL_ACCOUNT);
	if (!buf->dma)
		return -ENOMEM;
	xv_umem_pages(umem, offset, buf->dma, buf->npages);
	return 0;
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

static struct xv_dbr_page *xv_dbr_page_get(struct xv_call *call)
{
	struct xv_file *file = call->file;
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
	err = xv_buf_alloc(call, &page->buf, PAGE_SIZE);
	if (err) {
		kfree(page);
		return ERR_PTR(err);
	}
	list_add(&page->node, &file->dbr_pages);
	return page;
}

static int xv_dbr_alloc(struct xv_call *call, struct xv_dbr *dbr)
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

static int xv_dbr_from_umem(struct xv_call *call, struct xv_dbr *dbr,
			    const struct xv_umem_obj *umem, u64 offset)
{
	int err;

	err = xv_umem_check(call, umem, "doorbell record", offset,
			    XV_DBR_BYTES, XV_DBR_BYTES);
	if (err)
		return err;
	xv_umem_pages(umem, offset, &dbr->dma, 1);
	dbr->dma += offset & ~PAGE_MASK;
	return 0;
}

static void xv_dbr_free(struct xv_file *file, struct xv_dbr *dbr)
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

/* ---- Memory of a queue --------------------------------------------------------- */

static int xv_qmem_ring(struct xv_call *call, struct xv_obj *queue,
			struct xv_qmem *mem, size_t bytes)
{
	const struct xverbs_external *external = &call->external;
	struct xv_obj *umem;

	if (!external->ring_umem) {
		/* No ring, no mapping: each mapping has an offset of its own. */
		return bytes ? xv_buf_alloc(call, &mem->ring, bytes) : 0;
	}
	umem = xv_obj_use(call, queue, XV_OBJ_UMEM, external->ring_umem);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	return xv_buf_from_umem(call, &mem->ring, to_umem_obj(umem),
				external->ring_offset, bytes);
}

static int xv_qmem_dbr(struct xv_call *call, struct xv_obj *queue,
		       struct xv_qmem *mem)
{
	const struct xverbs_external *external = &call->external;
	struct xv_obj *umem;

	if (!external->dbr_umem)
		return xv_dbr_alloc(call, &mem->dbr);
	umem = xv_obj_use(call, queue, XV_OBJ_UMEM, external->dbr_umem);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	return xv_dbr_from_umem(call, &mem->dbr, to_umem_obj(umem),
				external->dbr_offset);
}

int xv_qmem_alloc(struct xv_call *call, struct xv_obj *queue,
		  struct xv_qmem *mem, size_t bytes)
{
	int err;

	err = xv_qmem_ring(call, queue, mem, bytes);
	if (err)
		return err;
	err = xv_qmem_dbr(call, queue, mem);
	if (err)
		xv_buf_free(call->file, &mem->ring);
	return err;
}

void xv_qmem_free(struct xv_file *file, struct xv_qmem *mem)
{
	xv_dbr_free(file, &mem->dbr);
	xv_buf_free(file, &mem->ring);
}

struct xverbs_map xv_qmem_ring_map(const struct xv_qmem *mem)
{
	if (!mem->ring.pages)
		return (struct xverbs_map) {};
	return xv_mapping_user(&mem->ring.map);
}

struct xverbs_map xv_qmem_dbr_map(const struct xv_qmem *mem)
{
	if (!mem->dbr.page)
		return (struct xverbs_map) {};
	return xv_mapping_user(&mem->dbr.page->buf.map);
}
