// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Conversion of objects of this library to objects of libxverbs, and back.
 */
#include "ibv.h"

/* A program can also have loaded libibverbs itself. */
static bool ours(const struct ibv_context *ctx)
{
	return ctx->ops.poll_cq == iv_poll_cq;
}

#define GET(object)	(ours((object)->context) ? TO(object, object)->xv : \
						   iv_refuse(EINVAL, "bridge: " #object ": "))

EXPORT struct xv_context *xv_bridge_get_ctx(struct ibv_context *ctx)
{
	return ours(ctx) ? xv_of(ctx) : iv_refuse(EINVAL, "bridge: context: ");
}

EXPORT struct xv_pd *xv_bridge_get_pd(struct ibv_pd *pd)
{
	return GET(pd);
}

EXPORT struct xv_cq *xv_bridge_get_cq(struct ibv_cq *cq)
{
	return GET(cq);
}

EXPORT struct xv_qp *xv_bridge_get_qp(struct ibv_qp *qp)
{
	return GET(qp);
}

EXPORT struct xv_srq *xv_bridge_get_srq(struct ibv_srq *srq)
{
	return GET(srq);
}

EXPORT struct xv_ah *xv_bridge_get_ah(struct ibv_ah *ah)
{
	return GET(ah);
}

EXPORT struct xv_mr *xv_bridge_get_mr(struct ibv_mr *mr)
{
	struct xv_mr *xv = GET(mr);

	return !xv && ours(mr->context) ? iv_refuse(EINVAL, "bridge: an indirect key: ") : xv;
}

EXPORT struct xv_mw *xv_bridge_get_mw(struct ibv_mw *mw)
{
	return ours(mw->context) ? iv_mw(mw) : iv_refuse(EINVAL, "bridge: mw: ");
}

EXPORT struct ibv_context *xv_bridge_wrap_ctx(struct xv_context *xv)
{
	struct ibv_device *device = iv_device_of(xv);
	struct ibv_context *ctx;

	if (!device)
		return NULL;
	ctx = iv_context_new(device, xv);
	if (ctx)
		to_context(ctx)->borrowed = true;
	iv_device_put(device);
	return ctx;
}

EXPORT struct ibv_pd *xv_bridge_wrap_pd(struct ibv_context *ctx, struct xv_pd *xv)
{
	struct ibv_pd *pd;

	if (!ours(ctx) || xv->context != xv_of(ctx))
		return iv_refuse(EINVAL, "bridge: pd: ");
	pd = iv_pd_new(ctx, xv);
	if (pd)
		TO(pd, pd)->borrowed = true;
	return pd;
}
