// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * XRC domains.
 */
#include <fcntl.h>
#include "internal.h"

XV_EXPORT struct xv_xrcd *xv_open_xrcd(struct xv_context *ctx, int fd, int oflags)
{
	struct xverbs_xrcd_open req = { .fd = fd };
	struct xv_xrcd *xrcd;

	if (fd >= 0)
		req.hdr.flags |= XVERBS_XRCD_SHARED;
	if (fd >= 0 && oflags & O_CREAT)
		req.hdr.flags |= XVERBS_XRCD_CREATE;
	if (fd >= 0 && oflags & O_EXCL)
		req.hdr.flags |= XVERBS_XRCD_EXCLUSIVE;
	xrcd = xv_object_create(ctx, XVERBS_XRCD_OPEN, "open XRC domain", &req, sizeof(req),
				sizeof(*xrcd), NULL);
	if (!xrcd)
		return NULL;
	*xrcd = (struct xv_xrcd) {
		.context = ctx,
		.handle = req.out_handle,
		.xrcdn = req.out_xrcdn,
	};
	xv_object_add(xrcd, req.out_handle);
	return xrcd;
}

XV_EXPORT int xv_close_xrcd(struct xv_xrcd *xrcd)
{
	return xv_object_destroy(xrcd, "close XRC domain");
}
