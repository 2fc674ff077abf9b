// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Contexts: the states, and what the libraries with contexts share.  See ctx.h.
 */
#include <string.h>
#include "pe.h"
#include "task.h"

EXPORT void xvd_ctx_init(struct doca_ctx *ctx, const struct xvd_ctx_ops *ops, struct doca_dev *dev)
{
	memset(ctx, 0, sizeof(*ctx));
	ctx->ops = ops;
	ctx->dev = dev;
	ctx->event_fd = -1;
	if (dev)
		xvd_dev_get(dev);
}

EXPORT doca_error_t xvd_ctx_destroy(struct doca_ctx *ctx)
{
	struct xvd_task_type *type;

	if (!xvd_ctx_is_idle(ctx))
		return DOCA_ERROR_IN_USE;
	for (type = ctx->types; type; type = type->next)
		xvd_task_type_free_pool(type);
	if (ctx->pe)
		ctx->pe->num_ctxs--;
	if (ctx->dev)
		xvd_dev_put(ctx->dev);
	return DOCA_SUCCESS;
}

/* The callback may destroy the context, so it comes last. */
static void change_state(struct doca_ctx *ctx, enum doca_ctx_states prev,
			 enum doca_ctx_states next)
{
	ctx->state = next;
	if (ctx->state_changed)
		ctx->state_changed(ctx->user_data, ctx, prev, next);
}

EXPORT void xvd_ctx_started(struct doca_ctx *ctx)
{
	if (ctx->state == DOCA_CTX_STATE_STARTING)
		change_state(ctx, DOCA_CTX_STATE_STARTING, DOCA_CTX_STATE_RUNNING);
}

bool xvd_ctx_finish(struct doca_ctx *ctx, enum doca_ctx_states prev)
{
	if (ctx->num_inflight)
		return false;
	/* stop() closes it.  From now on, doca_pe_request_notification() finds work. */
	xvd_pe_remove_fd(ctx);
	if (ctx->ops->stop(ctx) == DOCA_ERROR_IN_PROGRESS)
		return false;
	xvd_pe_deactivate(ctx);
	change_state(ctx, prev, DOCA_CTX_STATE_IDLE);
	return true;
}

EXPORT doca_error_t doca_ctx_start(struct doca_ctx *ctx)
{
	struct xvd_task_type *type;
	doca_error_t result;

	if (!ctx)
		return DOCA_ERROR_INVALID_VALUE;
	if (!xvd_ctx_is_idle(ctx) || !ctx->pe)
		return DOCA_ERROR_BAD_STATE;
	for (type = ctx->types; type; type = type->next) {
		result = xvd_task_type_alloc_pool(type);
		if (result != DOCA_SUCCESS)
			return result;
	}
	result = ctx->ops->start(ctx);
	if (result != DOCA_SUCCESS && result != DOCA_ERROR_IN_PROGRESS)
		return result;
	xvd_pe_activate(ctx);
	change_state(ctx, DOCA_CTX_STATE_IDLE, result == DOCA_SUCCESS ?
		     DOCA_CTX_STATE_RUNNING : DOCA_CTX_STATE_STARTING);
	return result;
}

EXPORT doca_error_t doca_ctx_stop(struct doca_ctx *ctx)
{
	enum doca_ctx_states prev;

	if (!ctx)
		return DOCA_ERROR_INVALID_VALUE;
	if (xvd_ctx_is_idle(ctx))
		return DOCA_SUCCESS;
	if (ctx->state == DOCA_CTX_STATE_STOPPING)
		return DOCA_ERROR_IN_PROGRESS;
	prev = ctx->state;
	ctx->state = DOCA_CTX_STATE_STOPPING;
	if (ctx->ops->cancel)
		ctx->ops->cancel(ctx);
	/* In a callback, the queues are being polled, so they cannot be destroyed. */
	if (!ctx->pe->in_progress && xvd_ctx_finish(ctx, prev))
		return DOCA_SUCCESS;
	change_state(ctx, prev, DOCA_CTX_STATE_STOPPING);
	return DOCA_ERROR_IN_PROGRESS;
}

EXPORT doca_error_t doca_ctx_get_state(const struct doca_ctx *ctx, enum doca_ctx_states *state)
{
	if (!ctx || !state)
		return DOCA_ERROR_INVALID_VALUE;
	*state = ctx->state;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_ctx_get_num_inflight_tasks(const struct doca_ctx *ctx,
						    size_t *num_inflight_tasks)
{
	if (!ctx || !num_inflight_tasks)
		return DOCA_ERROR_INVALID_VALUE;
	*num_inflight_tasks = ctx->num_inflight;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_ctx_set_user_data(struct doca_ctx *ctx, union doca_data user_data)
{
	if (!ctx)
		return DOCA_ERROR_INVALID_VALUE;
	ctx->user_data = user_data;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_ctx_get_user_data(const struct doca_ctx *ctx, union doca_data *user_data)
{
	if (!ctx || !user_data)
		return DOCA_ERROR_INVALID_VALUE;
	*user_data = ctx->user_data;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_ctx_set_state_changed_cb(struct doca_ctx *ctx,
						  doca_ctx_state_changed_callback_t cb)
{
	if (!ctx)
		return DOCA_ERROR_INVALID_VALUE;
	if (!xvd_ctx_is_idle(ctx))
		return DOCA_ERROR_BAD_STATE;
	ctx->state_changed = cb;
	return DOCA_SUCCESS;
}

EXPORT void doca_ctx_flush_tasks(struct doca_ctx *ctx)
{
	if (ctx && ctx->ops->flush && !xvd_ctx_is_idle(ctx))
		ctx->ops->flush(ctx);
}
