// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Objects of this library for objects of libxverbs that belong to the program.
 */
#include <dlfcn.h>
#include "ibv.h"

/*
 * Does the program call the functions of this library?  If libibverbs comes before it in the order
 * of the dynamic linker, it calls those of libibverbs, which cannot read objects of this library.
 */
static bool is_called(void)
{
	Dl_info found, here;
	void *fn = dlsym(RTLD_DEFAULT, "ibv_dealloc_pd");

	return !fn || !dladdr(fn, &found) || !dladdr((void *)iv_device_of, &here) ||
	       found.dli_fbase == here.dli_fbase;
}

EXPORT struct ibv_context *xv_bridge_wrap_ctx(struct xv_context *xv)
{
	struct ibv_device *device;
	struct ibv_context *ctx;

	if (!is_called())
		return iv_refuse(EOPNOTSUPP, "bridge: libibverbs is linked before "
				 "libxverbs-ibverbs: ");
	device = iv_device_of(xv);
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
