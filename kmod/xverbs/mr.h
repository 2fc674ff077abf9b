/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations shared by memory regions of user memory and of dma-bufs, and by UMEMs */
#ifndef XV_MR_H
#define XV_MR_H

#include "xv.h"

/* Start of the memory, length, and the address of the start in work requests */
struct xv_mr_range {
	u64 addr;
	u64 length;
	u64 iova;
};

int xv_mr_check_access(struct xv_call *call, u32 access);
int xv_mr_check_range(struct xv_call *call, struct xv_mr_range *range,
		      u32 access);
struct xv_mr_obj *xv_mr_new(struct xv_call *call, u32 pd, u32 access);
int xv_mr_destroy_dmabuf(struct xv_mr_obj *mr, struct xv_call *call);

struct dma_resv;
int xv_dmabuf_wait(struct dma_resv *resv);
struct ib_umem_dmabuf *xv_dmabuf_pin(struct xv_call *call, int fd, u64 offset,
				     u64 length, u32 access);

#endif
