// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tasks: pools, and what programs do with a task of any kind.  See task.h.
 */
#include <stdlib.h>
#include "task.h"

/* A program may still have tasks after a stop, so the pool stays until it gets other sizes. */
EXPORT doca_error_t xvd_task_type_set_conf(struct doca_ctx *ctx, struct xvd_task_type *type,
					   const struct xvd_task_ops *ops, xvd_task_cb_t completed,
					   xvd_task_cb_t failed, uint32_t num_tasks)
{
	if (!completed || !failed || !num_tasks)
		return DOCA_ERROR_INVALID_VALUE;
	if (!xvd_ctx_is_idle(ctx))
		return DOCA_ERROR_BAD_STATE;
	if (type->pool && type->num_free != type->num_tasks)
		return DOCA_ERROR_IN_USE;
	xvd_task_type_free_pool(type);
	if (!type->ctx) {
		type->next = ctx->types;
		ctx->types = type;
	}
	type->ops = ops;
	type->ctx = ctx;
	type->completed = completed;
	type->failed = failed;
	type->num_tasks = num_tasks;
	return DOCA_SUCCESS;
}

void xvd_task_type_free_pool(struct xvd_task_type *type)
{
	free(type->pool);
	type->pool = NULL;
	type->free = NULL;
	type->num_free = 0;
}

doca_error_t xvd_task_type_alloc_pool(struct xvd_task_type *type)
{
	struct doca_task *task;
	uint32_t i;

	if (type->pool)
		return DOCA_SUCCESS;
	type->pool = calloc(type->num_tasks, type->ops->size);
	if (!type->pool)
		return DOCA_ERROR_NO_MEMORY;
	for (i = type->num_tasks; i--;) {
		task = (struct doca_task *)((char *)type->pool + i * type->ops->size);
		task->type = type;
		task->next = type->free;
		type->free = task;
	}
	type->num_free = type->num_tasks;
	return DOCA_SUCCESS;
}

EXPORT void doca_task_free(struct doca_task *task)
{
	struct xvd_task_type *type;

	if (!task || task->state != XVD_TASK_ALLOCATED)
		return;
	type = task->type;
	task->state = XVD_TASK_FREE;
	task->next = type->free;
	type->free = task;
	type->num_free++;
}

static inline doca_error_t submit(struct doca_task *task, uint32_t flags)
{
	struct xvd_task_type *type;
	doca_error_t result;

	if (xv_unlikely(!task))
		return DOCA_ERROR_INVALID_VALUE;
	type = task->type;
	if (xv_unlikely(task->state != XVD_TASK_ALLOCATED ||
			type->ctx->state != DOCA_CTX_STATE_RUNNING))
		return DOCA_ERROR_BAD_STATE;
	task->state = XVD_TASK_INFLIGHT;
	type->ctx->num_inflight++;
	result = type->ops->submit(task, flags);
	if (xv_unlikely(result != DOCA_SUCCESS)) {
		task->state = XVD_TASK_ALLOCATED;
		task->type->ctx->num_inflight--;
	}
	return result;
}

EXPORT doca_error_t doca_task_submit(struct doca_task *task)
{
	return submit(task, DOCA_TASK_SUBMIT_FLAG_FLUSH);
}

EXPORT doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags)
{
	if (flags & ~(DOCA_TASK_SUBMIT_FLAG_FLUSH | DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS))
		return DOCA_ERROR_INVALID_VALUE;
	return submit(task, flags);
}

EXPORT doca_error_t doca_task_try_submit(struct doca_task *task)
{
	const struct xvd_task_ops *ops;
	doca_error_t result;

	if (!task)
		return DOCA_ERROR_INVALID_VALUE;
	ops = task->type->ops;
	result = ops->validate ? ops->validate(task) : DOCA_SUCCESS;
	return result == DOCA_SUCCESS ? submit(task, DOCA_TASK_SUBMIT_FLAG_FLUSH) : result;
}

EXPORT doca_error_t doca_task_get_status(const struct doca_task *task)
{
	return task ? task->status : DOCA_ERROR_INVALID_VALUE;
}

EXPORT void doca_task_set_user_data(struct doca_task *task, union doca_data user_data)
{
	if (task)
		task->user_data = user_data;
}

EXPORT union doca_data doca_task_get_user_data(const struct doca_task *task)
{
	return task ? task->user_data : (union doca_data) { .u64 = 0 };
}

EXPORT struct doca_ctx *doca_task_get_ctx(const struct doca_task *task)
{
	return task ? task->type->ctx : NULL;
}
