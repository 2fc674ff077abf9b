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
#include "cmd.h"

#define MAX_PAGE_SHIFT	31

/* Pointer to the begin of page @i; the ring may cover only a part of the page. */
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
	if (log_page_size > MAX_PAGE_SHIFT || !size)
		return -EINVAL;
	b->shift = log_page_size;
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
	kvfree(b->page);
	b->page = NULL;
	b->npages = 0;
}

enum hca_synd hca_ring_init(struct hca *hca, const struct hca_cmd *c, struct hca_buf *b,
			    u32 pas_offset, u32 log_page, u32 page_offset, u64 size)
{
	u32 shift = log_page + HCA_PAGE_SHIFT;
	int err;

	if (shift > MAX_PAGE_SHIFT || c->inlen < pas_offset)
		return HCA_SYND_PAGE_LIST;
	err = hca_buf_init(hca, b, c->in + pas_offset, (c->inlen - pas_offset) / 8, shift,
			   page_offset << (shift - 6), size);
	if (err == -ENOMEM)
		return HCA_SYND_NO_MEMORY;
	return err ? HCA_SYND_PAGE_LIST : HCA_OK;
}

__be32 *hca_dbr(struct hca *hca, u64 addr, u32 bytes)
{
	return addr & 7 ? NULL : hca_dma(hca, addr, bytes);
}

enum hca_synd hca_number(struct hca_table *t, void *obj, u32 *number)
{
	int err = hca_table_add(t, obj, number);

	if (err == -ENOMEM)
		return HCA_SYND_NO_MEMORY;
	return err ? HCA_SYND_LIMIT : HCA_OK;
}
