// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Objects of this library for objects of libxverbs that belong to the program.
 */
#include "ibv.h"

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

	if (!iv_is_ours(ctx) || xv->context != xv_of(ctx))
		return iv_refuse(EINVAL, "bridge: pd: ");
	pd = iv_pd_new(ctx, xv);
	if (pd)
		TO(pd, pd)->borrowed = true;
	return pd;
}
