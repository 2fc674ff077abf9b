// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Doorbell pages (UAR).
 */
#include <sys/mman.h>
#include "internal.h"

static void uar_release(void *object)
{
	struct xv_uar *uar = object;

	if (uar->addr)
		munmap(uar->addr, uar->length);
}

XV_EXPORT struct xv_uar *xv_alloc_uar(struct xv_context *ctx, uint32_t flags)
{
	struct xverbs_uar_alloc req = { .hdr.flags = flags & XV_UAR_NC ? XVERBS_UAR_NC : 0 };
	struct xv_uar *uar;
	struct mapping m;
	int err;

	if (flags & ~(uint32_t)XV_UAR_NC)
		return xv_set_error_null(EOPNOTSUPP, "allocate UAR: flags: unknown bit in 0x%x",
					 flags);
	uar = xv_object_create(ctx, XVERBS_UAR_ALLOC, "allocate UAR", &req, sizeof(req),
			       sizeof(*uar), uar_release);
	if (!uar)
		return NULL;
	err = xv_map(to_ctx(ctx), &m, &req.out_map, "allocate UAR");
	if (err) {
		xv_destroy_handle(to_ctx(ctx), req.out_handle, "allocate UAR", NULL);
		xv_object_free(uar);
		errno = -err;
		return NULL;
	}
	*uar = (struct xv_uar) {
		.context = ctx,
		.handle = req.out_handle,
		.page_id = req.out_page_id,
		.addr = m.addr,
		.length = m.length,
		.qp_doorbell = req.out_bf_offset,
		.cq_doorbell = MLX5R_UAR_CQ,
	};
	xv_object_add(uar, req.out_handle);
	return uar;
}

XV_EXPORT int xv_free_uar(struct xv_uar *uar)
{
	return xv_object_destroy(uar, "free UAR");
}

/*
 * All queues without their own UAR share one: the doorbell is one 8-byte store and
 * needs no lock.  If two threads allocate it at the same time, one of them frees its
 * own and uses the other.
 */
struct xv_uar *xv_uar_get(struct context *ctx, const struct xv_external *ext)
{
	struct xv_uar *uar, *none = NULL;

	if (ext->uar)
		return ext->uar;
	uar = __atomic_load_n(&ctx->uar, __ATOMIC_ACQUIRE);
	if (uar)
		return uar;
	uar = xv_alloc_uar(&ctx->pub, 0);
	if (uar && !__atomic_compare_exchange_n(&ctx->uar, &none, uar, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE)) {
		xv_free_uar(uar);
		uar = none;
	}
	return uar;
}
