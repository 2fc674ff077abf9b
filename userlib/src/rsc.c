// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * User indices: 24-bit numbers in CQEs that identify a queue.  The polling thread
 * reads the table without a lock, so a leaf is published after it is cleared, and
 * it is freed only with the context.
 */
#include "internal.h"

static struct xv_rsc **leaf_of(struct context *ctx, uint32_t index)
{
	struct xv_rsc ***slot = &ctx->dir.leaf[index >> XV_RSC_DIR_SHIFT];

	if (!*slot)
		__atomic_store_n(slot, calloc(XV_RSC_DIR_SIZE, sizeof(**slot)), __ATOMIC_RELEASE);
	return *slot;
}

/*
 * The search begins after the last index, so that a freed index is reused as late
 * as possible.
 */
int xv_rsc_add(struct context *ctx, struct xv_rsc *rsc, const char *verb)
{
	uint32_t tries, index;
	struct xv_rsc **leaf;
	int err = -ENOSPC;

	pthread_mutex_lock(&ctx->lock);
	for (tries = 0; tries < XV_RSC_GONE; tries++) {
		index = ctx->next_index++ % XV_RSC_GONE;
		leaf = leaf_of(ctx, index);
		if (!leaf) {
			err = -ENOMEM;
			break;
		}
		if (!leaf[index & XV_RSC_DIR_MASK]) {
			rsc->user_index = index;
			leaf[index & XV_RSC_DIR_MASK] = rsc;
			err = 0;
			break;
		}
	}
	pthread_mutex_unlock(&ctx->lock);
	return err ? xv_set_error(err, "%s: no user index: %s", verb, xv_strerror(err)) : 0;
}

void xv_rsc_set(struct context *ctx, uint32_t index, struct xv_rsc *rsc)
{
	pthread_mutex_lock(&ctx->lock);
	ctx->dir.leaf[index >> XV_RSC_DIR_SHIFT][index & XV_RSC_DIR_MASK] = rsc;
	pthread_mutex_unlock(&ctx->lock);
}

void xv_rsc_free_all(struct context *ctx)
{
	size_t i;

	for (i = 0; i < XV_RSC_DIR_SIZE; i++)
		free(ctx->dir.leaf[i]);
}
