/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rings, doorbell records and other buffers in host memory.
 */
#ifndef _HCA_BUF_H
#define _HCA_BUF_H

#include <linux/types.h>
#include "base/command.h"

struct hca_umem;

struct hca_buf {
	void **page;			/* checked when the object was created */
	u32 npages;
	u32 offset;			/* of the first byte in the first page */
	u32 shift;			/* log2 of the page size in bytes */
	u32 page_mask;			/* the page size - 1 */
	struct hca_umem *umem;		/* which has the pages; NULL: a list of its own */
};

/*
 * @pas: DMA addresses of the pages.  Fails with -EINVAL if @size bytes do not fit, or if a
 * page is not memory.
 */
int hca_buf_init(struct hca *hca, struct hca_buf *b, const __be64 *pas, u32 max_pas,
		 u32 log_page_size, u32 offset, u64 size);
void hca_buf_free(struct hca_buf *b);

static inline void *hca_buf_at(const struct hca_buf *b, u64 off)
{
	off += b->offset;
	return b->page[off >> b->shift] + (off & b->page_mask);
}

/* Where a ring or a doorbell record is: at a DMA address, or in a UMEM */
struct hca_place {
	bool in_umem;
	u32 umem;
	u64 at;				/* in the UMEM, or the address of the record */
};

/* A ring in host memory, as a command describes it */
struct hca_ring {
	u32 pas;			/* offset of its page list in the command */
	u32 log_page;			/* as in the context: 0 is 4 KiB */
	u32 page_offset;		/* in 64ths of a page */
	struct hca_place place;		/* if it is in a UMEM */
	u32 entry;			/* bytes of its largest entry, which crosses no page */
	u64 size;
	bool written;			/* by the adapter */
};

enum hca_synd hca_ring_init(struct hca *hca, const struct hca_cmd *c, struct hca_buf *b,
			    const struct hca_ring *ring);
#define HCA_RECORD_BYTES	8
/* A doorbell record; sets *@umem if it is in one. */
enum hca_synd hca_record_find(struct hca *hca, const struct hca_cmd *c,
			      const struct hca_place *place, __be32 **record,
			      struct hca_umem **umem);

#endif
