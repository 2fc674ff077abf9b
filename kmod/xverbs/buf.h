/* SPDX-License-Identifier: GPL-2.0 */
/* Buffers, doorbell records, and the memory of a queue */
#ifndef XV_BUF_H
#define XV_BUF_H

#include "xv.h"

struct xv_pinned;
struct xv_umem_obj;

/**
 * struct xv_buf - pages that the adapter accesses by DMA
 * @map: for mmap()
 * @pinned: the charge for kernel pages
 * @pages: kernel pages; NULL if the pages are in a UMEM
 * @dma: DMA address of each page
 */
struct xv_buf {
	struct xv_mapping map;
	struct xv_pinned *pinned;
	struct device *dma_dev;
	struct page **pages;
	dma_addr_t *dma;
	u32 npages;
};

static inline u64 xv_buf_bytes(const struct xv_buf *buf)
{
	return (u64)buf->npages << PAGE_SHIFT;
}

/* buf.c */
int xv_buf_alloc(struct xv_call *call, struct xv_buf *buf, size_t bytes);
void xv_buf_free(struct xv_file *file, struct xv_buf *buf);
void xv_buf_replace(struct xv_file *file, struct xv_buf *buf,
		    const struct xv_buf *new);
int xv_buf_from_umem(struct xv_call *call, struct xv_buf *buf,
		     const struct xv_umem_obj *umem, u64 offset, size_t bytes);
void xv_buf_fill_pas(const struct xv_buf *buf, __be64 *pas);

/* A doorbell record: a cache line, in @page or in a UMEM */
struct xv_dbr {
	struct xv_dbr_page *page;
	u32 offset;
	dma_addr_t dma;
};

/* dbr.c */
int xv_dbr_alloc(struct xv_call *call, struct xv_dbr *dbr);
int xv_dbr_from_umem(struct xv_call *call, struct xv_dbr *dbr,
		     const struct xv_umem_obj *umem, u64 offset);
void xv_dbr_free(struct xv_file *file, struct xv_dbr *dbr);
struct xverbs_map xv_dbr_map(const struct xv_dbr *dbr);

/* Memory of a queue: ring and doorbell record, each in kernel memory or in a UMEM */
struct xv_qmem {
	struct xv_buf ring;
	struct xv_dbr dbr;
};

/* qmem.c */
int xv_qmem_alloc(struct xv_call *call, struct xv_obj *queue,
		  struct xv_qmem *mem, size_t bytes);
void xv_qmem_free(struct xv_file *file, struct xv_qmem *mem);
struct xverbs_map xv_qmem_ring_map(const struct xv_qmem *mem);
struct xverbs_map xv_qmem_dbr_map(const struct xv_qmem *mem);

#endif
