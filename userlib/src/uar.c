// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Doorbell pages (UAR).
 */
#include <stdlib.h>
#include <sys/mman.h>
#include "internal.h"

static void uar_release(void *object)
{
	struct xv_uar *uar = object;

	if (uar->addr)
		munmap(uar->addr, uar->length);
}

/* @req: flags and answer of the kernel */
static struct xv_uar *uar_alloc(struct xv_context *ctx, struct xverbs_uar_alloc *req)
{
	struct xv_uar *uar;
	struct mapping m;
	int err;

	uar = xv_object_create(ctx, XVERBS_UAR_ALLOC, "allocate UAR", req, sizeof(*req),
			       sizeof(*uar), uar_release);
	if (!uar)
		return NULL;
	err = xv_map(to_ctx(ctx), &m, &req->out_map, "allocate UAR");
	if (err) {
		xv_destroy_handle(to_ctx(ctx), req->out_handle, "allocate UAR", NULL);
		xv_object_free(uar);
		errno = -err;
		return NULL;
	}
	*uar = (struct xv_uar) {
		.context = ctx,
		.handle = req->out_handle,
		.page_id = req->out_page_id,
		.addr = m.addr,
		.length = m.length,
		.qp_doorbell = req->out_bf_offset,
		.cq_doorbell = MLX5R_UAR_CQ,
	};
	xv_object_add(uar, req->out_handle);
	return uar;
}

XV_EXPORT struct xv_uar *xv_alloc_uar(struct xv_context *ctx, uint32_t flags)
{
	struct xverbs_uar_alloc req = { .hdr.flags = flags & XV_UAR_NC ? XVERBS_UAR_NC : 0 };

	if (flags & ~(uint32_t)XV_UAR_NC)
		return xv_set_error_null(EOPNOTSUPP, "allocate UAR: flags: unknown bit in 0x%x",
					 flags);
	return uar_alloc(ctx, &req);
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

/* ---- BlueFlame --------------------------------------------------------------------------- */

/*
 * The first queue pairs of a context get a register of their own, so that they can use BlueFlame: a
 * register that several threads write would need a lock.  A page has two registers.
 */
static uint32_t blueflame_max(void)
{
	const char *text = getenv("XV_BLUEFLAME"), *off = getenv("MLX5_SHUT_UP_BF");
	unsigned long n = text ? strtoul(text, NULL, 0) : BLUEFLAME_QPS;

	if (off && strcmp(off, "0"))	/* as for libmlx5 */
		return 0;
	return n < BLUEFLAME_QPS ? (uint32_t)n : BLUEFLAME_QPS;
}

/* The page of a register.  It stays until the context is closed.  NULL: there is none. */
static const struct blueflame_page *blueflame_page(struct context *ctx, uint32_t i)
{
	struct blueflame_page *page = &ctx->blueflame[i / 2];
	struct xverbs_uar_alloc req = { 0 };
	struct error_state before;

	if (page->uar)
		return page;
	xv_error_save(&before);
	page->uar = uar_alloc(&ctx->pub, &req);
	xv_error_restore(&before);
	page->bytes = req.out_bf_bytes >> (32 - __XV_BF_SHIFT) ? 0 : req.out_bf_bytes;
	page->stride = req.out_bf_stride;
	return page->uar ? page : NULL;
}

/* Finds a free register.  Without one, or if there is no BlueFlame, *bf stays as it is. */
void xv_blueflame_get(struct context *ctx, struct blueflame *bf)
{
	const struct blueflame_page *page = NULL;
	uint32_t i, max = blueflame_max();

	pthread_mutex_lock(&ctx->blueflame_lock);
	for (i = 0; i < max && ctx->blueflame_used & 1u << i; i++)
		;
	if (i < max)
		page = blueflame_page(ctx, i);
	if (page && page->bytes) {
		ctx->blueflame_used |= 1u << i;
		*bf = (struct blueflame) {
			.uar = page->uar, .index = i, .bytes = page->bytes,
			.offset = page->uar->qp_doorbell + i % 2 * page->stride,
		};
	}
	pthread_mutex_unlock(&ctx->blueflame_lock);
}

void xv_blueflame_put(struct context *ctx, const struct blueflame *bf)
{
	if (!bf->bytes)
		return;
	pthread_mutex_lock(&ctx->blueflame_lock);
	ctx->blueflame_used &= ~(1u << bf->index);
	pthread_mutex_unlock(&ctx->blueflame_lock);
}
