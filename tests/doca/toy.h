/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A library with a context and one kind of task, for tests of contexts without a device.  Tasks
 * complete in the order of their submission, at the next call of doca_pe_progress().
 */
#ifndef TESTS_DOCA_TOY_H
#define TESTS_DOCA_TOY_H

#include <stdlib.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include "task.h"
#include "tap.h"

#define TOY_DEPTH	4		/* tasks in the queue */

struct toy_task {
	struct doca_task task;
	doca_error_t result;		/* how it completes */
};

typedef void (*toy_cb)(struct toy_task *task, union doca_data task_data, union doca_data ctx_data);

struct toy {
	struct doca_ctx ctx;
	struct xvd_task_type type;
	struct toy_task *queue[TOY_DEPTH];
	unsigned int head, tail;	/* of the queue, not wrapped */
	unsigned int unflushed;
	doca_error_t start_result;
	int slow_stops;			/* so many times, stop() needs more time */
	bool canceled;
	bool armed;			/* the next task makes event_fd readable */
	int event_fd;
	int starts, stops, cancels, flushes;
};

static struct toy *toy_of(struct doca_ctx *ctx)
{
	return (struct toy *)ctx;
}

static doca_error_t toy_start(struct doca_ctx *ctx)
{
	struct toy *toy = toy_of(ctx);

	toy->starts++;
	toy->canceled = false;
	return toy->start_result;
}

static void toy_cancel(struct doca_ctx *ctx)
{
	toy_of(ctx)->cancels++;
	toy_of(ctx)->canceled = true;
}

static doca_error_t toy_stop(struct doca_ctx *ctx)
{
	struct toy *toy = toy_of(ctx);

	toy->stops++;
	return toy->slow_stops-- > 0 ? DOCA_ERROR_IN_PROGRESS : DOCA_SUCCESS;
}

static unsigned int toy_progress(struct doca_ctx *ctx)
{
	struct toy *toy = toy_of(ctx);
	unsigned int end = toy->tail, done = 0;
	struct toy_task *t;

	while (toy->head != end) {
		t = toy->queue[toy->head++ % TOY_DEPTH];
		xvd_task_complete(&t->task, toy->canceled ? DOCA_ERROR_IO_FAILED : t->result);
		done++;
	}
	return done;
}

static void toy_flush(struct doca_ctx *ctx)
{
	toy_of(ctx)->flushes++;
	toy_of(ctx)->unflushed = 0;
}

static int toy_event_fd(struct doca_ctx *ctx)
{
	return toy_of(ctx)->event_fd;
}

static bool toy_request_notification(struct doca_ctx *ctx)
{
	struct toy *toy = toy_of(ctx);

	toy->armed = true;
	return toy->head != toy->tail;
}

static void toy_clear_notification(struct doca_ctx *ctx)
{
	uint64_t n;

	if (read(toy_of(ctx)->event_fd, &n, sizeof(n)) < 0)
		return;
	toy_of(ctx)->armed = false;
}

static doca_error_t toy_submit(struct doca_task *task, uint32_t flags)
{
	struct toy *toy = toy_of(task->type->ctx);

	if (toy->tail - toy->head == TOY_DEPTH)
		return DOCA_ERROR_AGAIN;
	toy->queue[toy->tail++ % TOY_DEPTH] = (struct toy_task *)task;
	toy->unflushed = flags & DOCA_TASK_SUBMIT_FLAG_FLUSH ? 0 : toy->unflushed + 1;
	if (toy->armed && write(toy->event_fd, &(uint64_t) { 1 }, 8) != 8)
		return DOCA_ERROR_OPERATING_SYSTEM;
	return DOCA_SUCCESS;
}

static doca_error_t toy_validate(const struct doca_task *task)
{
	return ((const struct toy_task *)task)->result == DOCA_ERROR_TOO_BIG ? DOCA_ERROR_TOO_BIG :
	       DOCA_SUCCESS;
}

__attribute__((unused))
static doca_error_t toy_set_conf(struct toy *toy, toy_cb completed, toy_cb failed, uint32_t num)
{
	static const struct xvd_task_ops ops = {
		.size = sizeof(struct toy_task),
		.submit = toy_submit,
		.validate = toy_validate,
	};

	return xvd_task_type_set_conf(&toy->ctx, &toy->type, &ops, XVD_TASK_CB(completed),
				      XVD_TASK_CB(failed), num);
}

__attribute__((unused))
static struct toy *toy_create(void)
{
	static const struct xvd_ctx_ops ops = {
		.start = toy_start,
		.cancel = toy_cancel,
		.stop = toy_stop,
		.progress = toy_progress,
		.flush = toy_flush,
		.event_fd = toy_event_fd,
		.request_notification = toy_request_notification,
		.clear_notification = toy_clear_notification,
	};
	struct toy *toy = calloc(1, sizeof(*toy));

	if (!toy)
		bail_out("no memory");
	xvd_ctx_init(&toy->ctx, &ops, NULL);
	toy->event_fd = eventfd(0, EFD_NONBLOCK);
	return toy;
}

__attribute__((unused))
static doca_error_t toy_destroy(struct toy *toy)
{
	doca_error_t result = xvd_ctx_destroy(&toy->ctx);

	if (result == DOCA_SUCCESS) {
		close(toy->event_fd);
		free(toy);
	}
	return result;
}

/* A task that completes with result and counts in *counter */
__attribute__((unused))
static struct doca_task *toy_task_alloc(struct toy *toy, doca_error_t result, void *counter)
{
	union doca_data data = { .ptr = counter };
	struct doca_task *task = NULL;

	if (xvd_task_alloc(&toy->type, data, &task) != DOCA_SUCCESS)
		return NULL;
	((struct toy_task *)task)->result = result;
	return task;
}

#endif
