/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Contexts: the part that all libraries with tasks have in common.  A library converts its object
 * into a context with a function such as doca_rdma_as_ctx(); the object owns the context.
 * Compatible with the header of the same name of the DOCA SDK.
 *
 * Results: DOCA_ERROR_INVALID_VALUE for a null pointer, DOCA_ERROR_BAD_STATE in the wrong state.
 *
 * Threads: one thread at a time may use a context, its tasks and its progress engine.
 */
#ifndef XVDOCA_CTX_H
#define XVDOCA_CTX_H

#include <stddef.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;

enum doca_ctx_states {
	DOCA_CTX_STATE_IDLE	= 0,	/* it can be configured */
	DOCA_CTX_STATE_STARTING	= 1,	/* doca_pe_progress() goes on with the start */
	DOCA_CTX_STATE_RUNNING	= 2,	/* tasks can be allocated and submitted */
	DOCA_CTX_STATE_STOPPING	= 3,	/* doca_pe_progress() completes the tasks in flight */
};

/*
 * Called after each change of the state, in doca_ctx_start(), doca_ctx_stop() or
 * doca_pe_progress().  user_data is that of the context.  The function may destroy the object of
 * the context if next_state is DOCA_CTX_STATE_IDLE.
 */
typedef void (*doca_ctx_state_changed_callback_t)(const union doca_data user_data,
						  struct doca_ctx *ctx,
						  enum doca_ctx_states prev_state,
						  enum doca_ctx_states next_state);

/*
 * The context must be idle and connected to a progress engine.  DOCA_SUCCESS: it is running, or
 * the callback for changes of the state has stopped it again.
 * DOCA_ERROR_IN_PROGRESS: it is starting.  After other errors it is still idle.
 */
doca_error_t doca_ctx_start(struct doca_ctx *ctx);

/*
 * DOCA_SUCCESS: the context is idle.  DOCA_ERROR_IN_PROGRESS: it is stopping; doca_pe_progress()
 * completes the tasks in flight, mostly with errors, and then makes it idle.  This is always the
 * result in callbacks of doca_pe_progress().  Tasks that are not in flight can still be freed
 * later.
 */
doca_error_t doca_ctx_stop(struct doca_ctx *ctx);

doca_error_t doca_ctx_get_state(const struct doca_ctx *ctx, enum doca_ctx_states *state);

/* The number of tasks that were submitted and are not complete */
doca_error_t doca_ctx_get_num_inflight_tasks(const struct doca_ctx *ctx,
					     size_t *num_inflight_tasks);

/* What the callbacks of the context and of its tasks get.  It may be set in any state. */
doca_error_t doca_ctx_set_user_data(struct doca_ctx *ctx, union doca_data user_data);
doca_error_t doca_ctx_get_user_data(const struct doca_ctx *ctx, union doca_data *user_data);

/* The context must be idle.  cb may be NULL: no callback. */
doca_error_t doca_ctx_set_state_changed_cb(struct doca_ctx *ctx,
					   doca_ctx_state_changed_callback_t cb);

/* Passes the tasks to the device that were submitted without DOCA_TASK_SUBMIT_FLAG_FLUSH. */
void doca_ctx_flush_tasks(struct doca_ctx *ctx);

#ifdef __cplusplus
}
#endif

#endif
