// SPDX-License-Identifier: GPL-2.0
/* Pinned dma-bufs, for memory regions and UMEMs */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "mr.h"

XV_COMPAT_IMPORT_NS(DMA_BUF);

/* Waits until the exporter has moved the memory; a signal ends the wait. */
int xv_dmabuf_wait(struct dma_resv *resv)
{
	long ret = xv_compat_resv_wait(resv);

	return ret < 0 ? ret : 0;
}

int xv_dmabuf_check(struct xv_call *call)
{
	const char *why_not = xv_compat_no_dmabuf();

	return why_not ? xv_fail(call, -EOPNOTSUPP, "%s", why_not) : 0;
}

/*
 * Pinning waits for the exporter, too, but no signal ends that wait.  A process that is
 * killed must not delay removal of the device, so the fences are waited for before.
 */
struct ib_umem_dmabuf *xv_dmabuf_pin(struct xv_call *call, int fd, u64 offset,
				     u64 length, u32 access)
{
	struct dma_buf *dmabuf = dma_buf_get(fd);
	int err;

	if (IS_ERR(dmabuf))
		return ERR_CAST(dmabuf);
	err = xv_dmabuf_wait(dmabuf->resv);
	dma_buf_put(dmabuf);
	if (err)
		return ERR_PTR(err);
	return ib_umem_dmabuf_get_pinned(call->dev->ib, offset, length, fd,
					 access);
}
