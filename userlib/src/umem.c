// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * UMEM: user memory and dma-bufs that hold rings and doorbell records.
 */
#include "internal.h"

static struct xv_umem *umem_create(struct xv_context *ctx, struct xverbs_umem_reg *req, void *addr)
{
	struct xv_umem *umem = xv_object_create(ctx, XVERBS_UMEM_REG, "register UMEM", req,
						sizeof(*req), sizeof(*umem), NULL);

	if (!umem)
		return NULL;
	*umem = (struct xv_umem) {
		.context = ctx,
		.addr = addr,
		.length = req->length,
		.handle = req->out_handle,
	};
	xv_object_add(umem, req->out_handle);
	return umem;
}

XV_EXPORT struct xv_umem *xv_reg_umem(struct xv_context *ctx, void *addr, size_t length)
{
	struct xverbs_umem_reg req = { .addr = (uintptr_t)addr, .length = length };
	struct xv_umem *umem = umem_create(ctx, &req, addr);

	if (umem)
		xv_is_written(addr, length);
	return umem;
}

XV_EXPORT struct xv_umem *xv_reg_dmabuf_umem(struct xv_context *ctx, void *addr, uint64_t offset,
					     size_t length, int fd)
{
	struct xverbs_umem_reg req = {
		.hdr.flags = XVERBS_UMEM_DMABUF,
		.addr = offset,
		.length = length,
		.fd = fd,
	};

	return umem_create(ctx, &req, addr);
}

XV_EXPORT int xv_dereg_umem(struct xv_umem *umem)
{
	return xv_object_destroy(umem, "deregister UMEM");
}
