// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Protection domains.
 */
#include "internal.h"

XV_EXPORT struct xv_pd *xv_alloc_pd(struct xv_context *ctx)
{
	struct xverbs_pd_alloc req = { 0 };
	struct pd *pd = xv_object_create(ctx, XVERBS_PD_ALLOC, "allocate PD", &req, sizeof(req),
					 sizeof(*pd), NULL);

	if (!pd)
		return NULL;
	pd->pub = (struct xv_pd) {
		.context = ctx,
		.handle = req.out_handle,
		.pdn = req.out_pdn,
	};
	xv_object_add(pd, req.out_handle);
	return &pd->pub;
}

XV_EXPORT int xv_dealloc_pd(struct xv_pd *pub)
{
	uint32_t ahs = __atomic_load_n(&to_pd(pub)->ahs, __ATOMIC_RELAXED);

	if (ahs)
		return xv_set_error(EBUSY, "deallocate PD: %u address handle(s) use it", ahs);
	return xv_object_destroy(pub, "deallocate PD");
}
