// SPDX-License-Identifier: GPL-2.0
/*
 * Rings and doorbell records in host memory.
 *
 * DMA addresses are checked and translated to pointers once, when the object is created.
 * Only the bytes that the ring covers must be memory.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/mm.h>
#include <asm/byteorder.h>
#include "base/alloc.h"
#include "base/fabric.h"
#include "base/umem.h"

/* Pointer to the start of page @i; the ring may cover only a part of the page. */
static void *hca_buf_map_page(struct hca *hca, const struct hca_buf *b, u32 i, u64 addr, u64 end)
{
	u64 start = (u64)i << b->shift;
	u64 lo = i ? 0 : b->offset;
	u64 hi = min(end - start, 1ull << b->shift);
	void *p;

	if (addr & (HCA_PAGE_SIZE - 1))
		return NULL;
	p = hca_dma(hca, addr + lo, hi - lo);
	return p ? p - lo : NULL;
}

int hca_buf_init(struct hca *hca, struct hca_buf *b, const __be64 *pas, u32 max_pas,
		 u32 log_page_size, u32 offset, u64 size)
{
	u64 end = offset + size;
	u32 i;

	memset(b, 0, sizeof(*b));
	if (log_page_size > HCA_MAX_PAGE_SHIFT || !size)
		return -EINVAL;
	b->shift = log_page_size;
	b->page_mask = (1u << log_page_size) - 1;
	b->offset = offset;
	if ((end - 1) >> b->shift >= max_pas)
		return -EINVAL;
	b->npages = ((end - 1) >> b->shift) + 1;
	b->page = kvcalloc(b->npages, sizeof(*b->page), HCA_GFP);
	if (!b->page)
		return -ENOMEM;

	for (i = 0; i < b->npages; i++) {
		b->page[i] = hca_buf_map_page(hca, b, i, be64_to_cpu(pas[i]), end);
		if (!b->page[i]) {
			hca_buf_free(b);
			return -EINVAL;
		}
	}
	return 0;
}

void hca_buf_free(struct hca_buf *b)
{
	if (b->umem)
		hca_umem_put(b->umem);
	else
		kvfree(b->page);
	b->umem = NULL;
	b->page = NULL;
	b->npages = 0;
}

enum hca_synd hca_ring_init(struct hca *hca, const struct hca_cmd *c, struct hca_buf *b,
			    const struct hca_ring *ring)
{
	u32 shift = ring->log_page + HCA_PAGE_SHIFT;
	u32 offset;
	int err;

	if (shift > HCA_MAX_PAGE_SHIFT)
		return HCA_SYND_PAGE_LIST;
	offset = ring->page_offset << (shift - 6);
	if (offset % ring->entry)
		return HCA_SYND_PAGE_LIST;
	if (ring->place.in_umem)
		return offset ? HCA_SYND_PAGE_LIST :
		       hca_umem_ring(hca, c, b, ring);
	if (c->inlen < ring->pas)
		return HCA_SYND_PAGE_LIST;
	err = hca_buf_init(hca, b, c->in + ring->pas, (c->inlen - ring->pas) / 8, shift, offset,
			   ring->size);
	if (err == -ENOMEM)
		return HCA_SYND_NO_MEMORY;
	return err ? HCA_SYND_PAGE_LIST : HCA_OK;
}

enum hca_synd hca_record_find(struct hca *hca, const struct hca_cmd *c,
			      const struct hca_place *place, __be32 **record,
			      struct hca_umem **umem)
{
	if (place->in_umem)
		return hca_umem_record(hca, c, place, HCA_RECORD_BYTES, record, umem);
	*record = place->at % HCA_RECORD_BYTES ? NULL : hca_dma(hca, place->at, HCA_RECORD_BYTES);
	return *record ? HCA_OK : HCA_SYND_DOORBELL;
}
