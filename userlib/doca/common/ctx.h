/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Contexts, for libraries that have one.  The object of a library embeds a struct doca_ctx, fills
 * it with xvd_ctx_init() and destroys it with xvd_ctx_destroy().
 *
 * States.  The core changes the state and calls the program's callback, the library gets calls:
 *
 *	IDLE -> start() -> RUNNING, or STARTING until the library calls xvd_ctx_started()
 *	RUNNING or STARTING -> cancel() -> STOPPING
 *	STOPPING, and no task is in flight -> stop() -> IDLE
 *
 * Callbacks of the program run in doca_pe_progress() only: a library calls xvd_task_complete() and
 * callbacks of its own in progress(), never in submit(), start(), cancel() or stop().  Therefore
 * doca_ctx_stop() in a callback always leaves the rest to doca_pe_progress().
 */
#ifndef XVDOCA_PRIVATE_CTX_H
#define XVDOCA_PRIVATE_CTX_H

#include <stdbool.h>
#include <doca_ctx.h>
#include "internal.h"

struct doca_pe;
struct xvd_task_type;

struct xvd_ctx_ops {
	/*
	 * Allocates the queues and what else needs the final configuration.  The pools of tasks
	 * exist already.  DOCA_ERROR_IN_PROGRESS: xvd_ctx_started() comes later, in progress().
	 * After other errors nothing is left, and the context stays idle.
	 */
	doca_error_t (*start)(struct doca_ctx *ctx);

	/*
	 * Optional.  Makes all tasks in flight complete soon: progress() completes them, those that
	 * did not succeed with an error.  Called once for each stop.
	 */
	void (*cancel)(struct doca_ctx *ctx);

	/*
	 * Frees what start() allocated.  No task is in flight.  DOCA_ERROR_IN_PROGRESS: it needs
	 * more time, and doca_pe_progress() calls it again.
	 */
	doca_error_t (*stop)(struct doca_ctx *ctx);

	/*
	 * Polls the queues, completes tasks and calls callbacks.  Returns how much was done, 0 if
	 * nothing.  It should do a bounded amount of work, and cost next to nothing and make no
	 * system call if there is none.  Called in all states but IDLE.
	 */
	unsigned int (*progress)(struct doca_ctx *ctx);

	/* Optional.  Posts what was submitted without DOCA_TASK_SUBMIT_FLAG_FLUSH. */
	void (*flush)(struct doca_ctx *ctx);

	/*
	 * Optional.  A file descriptor that is readable if there is work, such as that of a
	 * completion channel.  Called after start(); it stays open until stop().
	 */
	int (*event_fd)(struct doca_ctx *ctx);

	/*
	 * Optional.  Makes event_fd readable for the next completion.  Returns true if there is
	 * work already: then the program does not sleep.
	 */
	bool (*request_notification)(struct doca_ctx *ctx);

	/* Optional.  Reads the events, so that event_fd is not readable any more. */
	void (*clear_notification)(struct doca_ctx *ctx);
};

struct doca_ctx {
	const struct xvd_ctx_ops *ops;
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_ctx *next;			/* list of the progress engine */
	enum doca_ctx_states state;
	int event_fd;				/* in the set of the progress engine, or -1 */
	size_t num_inflight;			/* tasks */
	struct xvd_task_type *types;		/* list of the types with a pool */
	union doca_data user_data;
	doca_ctx_state_changed_callback_t state_changed;
};

/* The context uses the device until xvd_ctx_destroy().  dev may be NULL. */
void xvd_ctx_init(struct doca_ctx *ctx, const struct xvd_ctx_ops *ops, struct doca_dev *dev);

/*
 * Frees the pools of tasks and disconnects the context from its progress engine.
 * DOCA_ERROR_IN_USE: it is not idle, and nothing was done.
 */
doca_error_t xvd_ctx_destroy(struct doca_ctx *ctx);

/* STARTING -> RUNNING; called in progress(). */
void xvd_ctx_started(struct doca_ctx *ctx);

/* For setters: the configuration can be changed */
static inline bool xvd_ctx_is_idle(const struct doca_ctx *ctx)
{
	return ctx->state == DOCA_CTX_STATE_IDLE;
}

#endif
