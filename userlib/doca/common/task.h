/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tasks, for libraries that have some.  The task of a library embeds a struct doca_task as its
 * first member, so that pointers to both are equal.
 *
 * A library has one struct xvd_task_type in its object for each kind of task.  The function
 * ..._set_conf() of the task calls xvd_task_type_set_conf(), ..._allocate_init() calls
 * xvd_task_alloc() and fills the rest of the structure.  The pool is allocated when the context is
 * started, so the data path allocates nothing.
 */
#ifndef XVDOCA_PRIVATE_TASK_H
#define XVDOCA_PRIVATE_TASK_H

#include <doca_pe.h>
#include "ctx.h"

typedef void (*xvd_task_cb_t)(struct doca_task *task, union doca_data task_user_data,
			      union doca_data ctx_user_data);

/* Converts a callback for the library's task, whose first member is the struct doca_task. */
#define XVD_TASK_CB(cb)		((xvd_task_cb_t)(void (*)(void))(cb))

struct xvd_task_ops {
	size_t size;			/* of the library's task */

	/*
	 * Passes the task to the device; flags: enum doca_task_submit_flag.  The core has checked
	 * the states of task and context.  After an error the task is not in flight.
	 */
	doca_error_t (*submit)(struct doca_task *task, uint32_t flags);

	/* Optional.  Checks the arguments of the task for doca_task_try_submit(). */
	doca_error_t (*validate)(const struct doca_task *task);
};

struct xvd_task_type {
	const struct xvd_task_ops *ops;
	struct doca_ctx *ctx;
	xvd_task_cb_t completed;
	xvd_task_cb_t failed;
	uint32_t num_tasks;
	uint32_t num_free;
	struct doca_task *free;
	void *pool;
	struct xvd_task_type *next;	/* list of the context */
};

enum xvd_task_state {
	XVD_TASK_FREE,
	XVD_TASK_ALLOCATED,		/* it belongs to the program */
	XVD_TASK_INFLIGHT,
};

struct doca_task {
	struct xvd_task_type *type;
	struct doca_task *next;		/* for the free list; a library may use it in flight */
	union doca_data user_data;
	doca_error_t status;
	enum xvd_task_state state;
};

/*
 * Sets the callbacks and the number of tasks.  DOCA_ERROR_BAD_STATE: the context is not idle.
 * DOCA_ERROR_INVALID_VALUE: no callback or no task.  DOCA_ERROR_IN_USE: the program has not freed
 * all tasks of this type.
 */
doca_error_t xvd_task_type_set_conf(struct doca_ctx *ctx, struct xvd_task_type *type,
				    const struct xvd_task_ops *ops, xvd_task_cb_t completed,
				    xvd_task_cb_t failed, uint32_t num_tasks);

/* Of the core: at the start and the end of the context */
doca_error_t xvd_task_type_alloc_pool(struct xvd_task_type *type);
void xvd_task_type_free_pool(struct xvd_task_type *type);

/*
 * DOCA_ERROR_BAD_STATE: the context is not running, or the type has no configuration.
 * DOCA_ERROR_NO_MEMORY: all tasks are in use.
 */
static inline doca_error_t xvd_task_alloc(struct xvd_task_type *type, union doca_data user_data,
					  struct doca_task **task)
{
	struct doca_task *t = type->free;

	if (!type->ctx || type->ctx->state != DOCA_CTX_STATE_RUNNING)
		return DOCA_ERROR_BAD_STATE;
	if (!t)
		return DOCA_ERROR_NO_MEMORY;
	type->free = t->next;
	type->num_free--;
	t->state = XVD_TASK_ALLOCATED;
	t->status = DOCA_SUCCESS;
	t->user_data = user_data;
	*task = t;
	return DOCA_SUCCESS;
}

/*
 * The task is complete: the program gets it back and its callback is called.  The callback may
 * submit or free the task and stop the context.
 */
static inline void xvd_task_complete(struct doca_task *task, doca_error_t status)
{
	struct xvd_task_type *type = task->type;
	struct doca_ctx *ctx = type->ctx;

	task->status = status;
	task->state = XVD_TASK_ALLOCATED;
	ctx->num_inflight--;
	(status == DOCA_SUCCESS ? type->completed : type->failed)(task, task->user_data,
								   ctx->user_data);
}

#endif
