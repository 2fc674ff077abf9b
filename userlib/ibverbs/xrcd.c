// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * XRC domains.
 */
#include "ibv.h"

/* As ib_uverbs says that the file has no domain, or one already */
static int open_error(int err)
{
	return err == ENOENT ? EAGAIN : err == EEXIST ? EINVAL : err;
}

struct ibv_xrcd *iv_open_xrcd(struct ibv_context *ctx, struct ibv_xrcd_init_attr *attr)
{
	const uint32_t both = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	struct xrcd *xrcd;
	int err;

	if (attr->comp_mask != both)
		return iv_refuse(EINVAL, "open XRC domain: comp_mask: ");
	if (attr->fd < -1)
		return iv_refuse(EBADF, "open XRC domain: fd: ");
	xrcd = calloc(1, sizeof(*xrcd));
	if (!xrcd)
		return NULL;
	xrcd->pub.context = ctx;
	xrcd->pd = xv_alloc_pd(xv_of(ctx));
	xrcd->xv = xrcd->pd ? xv_open_xrcd(xv_of(ctx), attr->fd, attr->oflags) : NULL;
	if (xrcd->xv)
		return &xrcd->pub;
	err = open_error(errno);
	iv_null();
	if (xrcd->pd)
		xv_dealloc_pd(xrcd->pd);
	free(xrcd);
	errno = err;
	return NULL;
}

int iv_close_xrcd(struct ibv_xrcd *pub)
{
	struct xrcd *xrcd = TO(xrcd, pub);
	int err = xv_close_xrcd(xrcd->xv);

	if (err)
		return iv_result(err);
	xv_dealloc_pd(xrcd->pd);
	free(xrcd);
	return 0;
}
