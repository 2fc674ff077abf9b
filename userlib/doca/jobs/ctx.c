// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Contexts: device, start and stop, work queue.
 */
#include <sys/epoll.h>
#include "jobs.h"

EXPORT doca_error_t doca_ctx_dev_add(struct doca_ctx *ctx, struct doca_dev *dev)
{
	struct xvj_engine *engine;
	doca_error_t result;

	if (!ctx || !dev)
		return DOCA_ERROR_INVALID_VALUE;
	if (ctx->started)
		return DOCA_ERROR_BAD_STATE;
	if (ctx->dev)
		return ctx->dev == dev ? DOCA_ERROR_ALREADY_EXIST : DOCA_ERROR_NOT_SUPPORTED;
	result = xvj_create(dev, &engine);
	if (result != DOCA_SUCCESS)
		return result;
	result = xvj_configure((struct doca_rdma *)ctx, engine);
	if (result != DOCA_SUCCESS) {
		xvj_destroy(engine);
		return result;
	}
	ctx->dev = dev;
	ctx->engine = engine;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_ctx_dev_rm(struct doca_ctx *ctx, struct doca_dev *dev)
{
	doca_error_t result;

	if (!ctx || !dev)
		return DOCA_ERROR_INVALID_VALUE;
	if (ctx->started)
		return DOCA_ERROR_BAD_STATE;
	if (ctx->dev != dev)
		return DOCA_ERROR_NOT_FOUND;
	result = xvj_destroy(ctx->engine);
	if (result != DOCA_SUCCESS)
		return result;
	ctx->dev = NULL;
	ctx->engine = NULL;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_ctx_start(struct doca_ctx *ctx)
{
	doca_error_t result;

	if (!ctx)
		return DOCA_ERROR_INVALID_VALUE;
	if (ctx->started || !ctx->dev)
		return DOCA_ERROR_BAD_STATE;
	result = xvj_start(ctx->engine);
	ctx->started = result == DOCA_SUCCESS;
	return result;
}

EXPORT doca_error_t doca_ctx_stop(struct doca_ctx *ctx)
{
	doca_error_t result;

	if (!ctx)
		return DOCA_ERROR_INVALID_VALUE;
	if (!ctx->started)
		return DOCA_ERROR_BAD_STATE;
	if (ctx->workq)
		return DOCA_ERROR_IN_USE;
	result = xvj_stop(ctx->engine);
	if (result != DOCA_SUCCESS)
		return result;
	ctx->num_jobs = 0;
	ctx->started = false;
	ctx->connected = false;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_ctx_workq_add(struct doca_ctx *ctx, struct doca_workq *workq)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (!ctx || !workq)
		return DOCA_ERROR_INVALID_VALUE;
	if (!ctx->started)
		return DOCA_ERROR_BAD_STATE;
	if (ctx->workq)
		return ctx->workq == workq ? DOCA_ERROR_ALREADY_EXIST : DOCA_ERROR_NOT_SUPPORTED;
	if (workq->epoll_fd >= 0 &&
	    epoll_ctl(workq->epoll_fd, EPOLL_CTL_ADD, xvj_event_fd(ctx->engine), &event))
		return DOCA_ERROR_OPERATING_SYSTEM;
	ctx->workq = workq;
	ctx->next = ctx;
	if (workq->last) {
		ctx->next = workq->last->next;
		workq->last->next = ctx;
	}
	workq->last = ctx;
	workq->num_jobs += ctx->num_jobs;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_ctx_workq_rm(struct doca_ctx *ctx, struct doca_workq *workq)
{
	struct doca_ctx *before;

	if (!ctx || !workq)
		return DOCA_ERROR_INVALID_VALUE;
	if (ctx->workq != workq)
		return DOCA_ERROR_NOT_FOUND;
	if (workq->epoll_fd >= 0)
		epoll_ctl(workq->epoll_fd, EPOLL_CTL_DEL, xvj_event_fd(ctx->engine), NULL);
	for (before = ctx; before->next != ctx; before = before->next)
		;
	before->next = ctx->next;
	if (workq->last == ctx)
		workq->last = before == ctx ? NULL : before;
	ctx->workq = NULL;
	workq->num_jobs -= ctx->num_jobs;
	return DOCA_SUCCESS;
}
