// SPDX-License-Identifier: GPL-2.0
/*
 * Tasks: allocation, submission, callbacks, and stop with tasks in flight.
 */
#include "toy.h"

#define NUM_TASKS	6

struct counts {
	int completed, failed;
	doca_error_t status;
};

static uint64_t last_ctx_data;

static void completed(struct toy_task *task, union doca_data task_data, union doca_data ctx_data)
{
	struct counts *counts = task_data.ptr;

	counts->completed++;
	counts->status = doca_task_get_status(&task->task);
	last_ctx_data = ctx_data.u64;
}

static void failed(struct toy_task *task, union doca_data task_data, union doca_data ctx_data)
{
	struct counts *counts = task_data.ptr;

	counts->failed++;
	counts->status = doca_task_get_status(&task->task);
	last_ctx_data = ctx_data.u64;
}

static size_t num_inflight(struct toy *toy)
{
	size_t n = 99;

	doca_ctx_get_num_inflight_tasks(&toy->ctx, &n);
	return n;
}

static struct toy *running(struct doca_pe *pe, toy_cb ok_cb, toy_cb error_cb)
{
	struct toy *toy = toy_create();

	if (doca_pe_connect_ctx(pe, &toy->ctx) != DOCA_SUCCESS ||
	    toy_set_conf(toy, ok_cb, error_cb, NUM_TASKS) != DOCA_SUCCESS ||
	    doca_ctx_start(&toy->ctx) != DOCA_SUCCESS)
		bail_out("no running context");
	doca_ctx_set_user_data(&toy->ctx, (union doca_data) { .u64 = 33 });
	return toy;
}

static void test_null(void)
{
	tap_is(doca_task_submit(NULL), DOCA_ERROR_INVALID_VALUE, "submit: no task");
	tap_is(doca_task_submit_ex(NULL, 0), DOCA_ERROR_INVALID_VALUE, "submit_ex: no task");
	tap_is(doca_task_try_submit(NULL), DOCA_ERROR_INVALID_VALUE, "try_submit: no task");
	tap_is(doca_task_get_status(NULL), DOCA_ERROR_INVALID_VALUE, "status: no task");
	ok(!doca_task_get_user_data(NULL).ptr, "user data: no task");
	ok(!doca_task_get_ctx(NULL), "context: no task");
	doca_task_set_user_data(NULL, (union doca_data) { .u64 = 1 });
	doca_task_free(NULL);
	ok(1, "nothing happens to no task");
}

static void test_conf(struct doca_pe *pe)
{
	struct toy *toy = toy_create();
	struct doca_task *task;

	doca_pe_connect_ctx(pe, &toy->ctx);
	tap_is(toy_set_conf(toy, NULL, failed, 1), DOCA_ERROR_INVALID_VALUE, "no callback");
	tap_is(toy_set_conf(toy, completed, NULL, 1), DOCA_ERROR_INVALID_VALUE,
	       "no error callback");
	tap_is(toy_set_conf(toy, completed, failed, 0), DOCA_ERROR_INVALID_VALUE, "no tasks");
	ok(!toy_task_alloc(toy, DOCA_SUCCESS, NULL), "no task without a configuration");
	tap_is(toy_set_conf(toy, completed, failed, 1), DOCA_SUCCESS, "a configuration");
	tap_is(toy_set_conf(toy, completed, failed, 2), DOCA_SUCCESS, "another one");
	ok(!toy_task_alloc(toy, DOCA_SUCCESS, NULL), "no task in an idle context");
	doca_ctx_start(&toy->ctx);
	tap_is(toy_set_conf(toy, completed, failed, 1), DOCA_ERROR_BAD_STATE,
	       "no configuration in a running context");
	task = toy_task_alloc(toy, DOCA_SUCCESS, NULL);
	ok(task && toy_task_alloc(toy, DOCA_SUCCESS, NULL), "two tasks");
	tap_is(xvd_task_alloc(&toy->type, (union doca_data) { 0 }, &task), DOCA_ERROR_NO_MEMORY,
	       "there is no third one");
	doca_ctx_stop(&toy->ctx);
	tap_is(toy_set_conf(toy, completed, failed, 1), DOCA_ERROR_IN_USE,
	       "no other pool while the program has tasks");
	tap_is(doca_task_submit(task), DOCA_ERROR_BAD_STATE, "no task runs in an idle context");
	doca_ctx_start(&toy->ctx);
	ok(!toy_task_alloc(toy, DOCA_SUCCESS, NULL), "the program still has all tasks");
	doca_task_free(task);
	doca_task_free(task);
	ok(toy_task_alloc(toy, DOCA_SUCCESS, NULL) && !toy_task_alloc(toy, DOCA_SUCCESS, NULL),
	   "a task that was freed twice is there once");
	doca_ctx_stop(&toy->ctx);
	tap_is(toy_destroy(toy), DOCA_SUCCESS, "a context is destroyed with tasks of the program");
}

static void test_submit(struct doca_pe *pe)
{
	struct toy *toy = running(pe, completed, failed);
	struct counts a = { 0 }, b = { 0 };
	struct doca_task *good = toy_task_alloc(toy, DOCA_SUCCESS, &a);
	struct doca_task *bad = toy_task_alloc(toy, DOCA_ERROR_IO_FAILED, &b);
	size_t n = 0;

	ok(doca_task_get_user_data(good).ptr == &a, "the user data of a task");
	ok(doca_task_get_ctx(good) == &toy->ctx, "the context of a task");
	tap_is(doca_task_submit(good), DOCA_SUCCESS, "a task is submitted");
	tap_is(doca_task_submit(good), DOCA_ERROR_BAD_STATE, "it cannot be submitted twice");
	doca_task_free(good);
	tap_is(doca_task_submit(bad), DOCA_SUCCESS, "a task that will fail");
	tap_is(num_inflight(toy), 2, "two tasks are in flight");
	ok(doca_pe_get_num_inflight_tasks(pe, &n) == DOCA_SUCCESS && n == 2, "in the engine, too");
	ok(!a.completed && !b.failed, "no callback yet");
	tap_is(doca_pe_progress(pe), 1, "progress");
	tap_is(doca_pe_progress(pe), 0, "nothing left");
	ok(a.completed == 1 && !a.failed && a.status == DOCA_SUCCESS, "one task succeeded");
	ok(b.failed == 1 && !b.completed && b.status == DOCA_ERROR_IO_FAILED, "one task failed");
	tap_is(last_ctx_data, 33, "the callbacks got the user data of the context");
	tap_is(num_inflight(toy), 0, "none is in flight");
	doca_task_set_user_data(bad, (union doca_data) { .ptr = &a });
	doca_task_submit(bad);
	doca_pe_progress(pe);
	tap_is(a.failed, 1, "a task with other user data");
	doca_task_free(bad);
	tap_is(doca_task_submit(bad), DOCA_ERROR_BAD_STATE, "a free task cannot be submitted");
	doca_ctx_stop(&toy->ctx);
	toy_destroy(toy);
}

static void test_flags(struct doca_pe *pe)
{
	struct toy *toy = running(pe, completed, failed);
	struct counts c = { 0 };
	struct doca_task *task[NUM_TASKS];
	int i;

	for (i = 0; i < NUM_TASKS; i++)
		task[i] = toy_task_alloc(toy, DOCA_SUCCESS, &c);
	tap_is(doca_task_submit_ex(task[0], 1 << 2), DOCA_ERROR_INVALID_VALUE, "unknown flag");
	tap_is(doca_task_submit_ex(task[0], DOCA_TASK_SUBMIT_FLAG_NONE), DOCA_SUCCESS, "no flag");
	doca_task_submit_ex(task[1], DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS);
	tap_is(toy->unflushed, 2, "two tasks wait");
	doca_task_submit_ex(task[2], DOCA_TASK_SUBMIT_FLAG_FLUSH);
	tap_is(toy->unflushed, 0, "a task with the flag passes them on");
	doca_task_submit_ex(task[3], DOCA_TASK_SUBMIT_FLAG_NONE);
	doca_ctx_flush_tasks(&toy->ctx);
	ok(toy->unflushed == 0 && toy->flushes == 1, "doca_ctx_flush_tasks() does it, too");
	tap_is(doca_task_submit(task[4]), DOCA_ERROR_AGAIN, "the queue is full");
	tap_is(num_inflight(toy), TOY_DEPTH, "that task is not in flight");
	doca_pe_progress(pe);
	tap_is(c.completed, TOY_DEPTH, "those in the queue complete");
	tap_is(doca_task_try_submit(task[4]), DOCA_SUCCESS, "a valid task");
	((struct toy_task *)task[5])->result = DOCA_ERROR_TOO_BIG;
	tap_is(doca_task_try_submit(task[5]), DOCA_ERROR_TOO_BIG, "an invalid one");
	tap_is(num_inflight(toy), 1, "it is not in flight");
	doca_pe_progress(pe);
	doca_ctx_stop(&toy->ctx);
	doca_ctx_flush_tasks(&toy->ctx);
	tap_is(toy->flushes, 1, "an idle context has nothing to flush");
	toy_destroy(toy);
}

static void resubmit(struct toy_task *task, union doca_data task_data, union doca_data ctx_data)
{
	completed(task, task_data, ctx_data);
	if (((struct counts *)task_data.ptr)->completed < 3)
		tap_is(doca_task_submit(&task->task), DOCA_SUCCESS, "submitted in its callback");
	else
		doca_task_free(&task->task);
}

static void stop_and_free(struct toy_task *task, union doca_data task_data,
			  union doca_data ctx_data)
{
	struct doca_ctx *ctx = doca_task_get_ctx(&task->task);

	completed(task, task_data, ctx_data);
	doca_task_free(&task->task);
	tap_is(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS, "a stop in a callback waits");
	tap_is(doca_pe_progress(ctx->pe), 0, "no progress in a callback");
	tap_is(doca_pe_destroy(ctx->pe), DOCA_ERROR_IN_USE, "the engine cannot be destroyed there");
}

static void free_failed(struct toy_task *task, union doca_data task_data, union doca_data ctx_data)
{
	failed(task, task_data, ctx_data);
	doca_task_free(&task->task);
}

static void test_callbacks(struct doca_pe *pe)
{
	struct toy *toy = running(pe, resubmit, free_failed);
	enum doca_ctx_states state;
	struct counts c = { 0 };
	int i, calls = 0;

	doca_task_submit(toy_task_alloc(toy, DOCA_SUCCESS, &c));
	while (doca_pe_progress(pe))
		calls++;
	ok(c.completed == 3 && calls == 3, "a task that is submitted again completes again");
	tap_is(toy->type.num_free, NUM_TASKS, "its callback freed it");
	doca_ctx_stop(&toy->ctx);
	toy_destroy(toy);

	/* The library must not free its queues while it polls them. */
	toy = running(pe, stop_and_free, free_failed);
	doca_task_submit(toy_task_alloc(toy, DOCA_SUCCESS, &c));
	doca_pe_progress(pe);
	doca_ctx_get_state(&toy->ctx, &state);
	tap_is(state, DOCA_CTX_STATE_IDLE, "a stop in the callback of the last task");

	doca_ctx_start(&toy->ctx);
	c = (struct counts) { 0 };
	for (i = 0; i < 3; i++)
		doca_task_submit(toy_task_alloc(toy, DOCA_SUCCESS, &c));
	tap_is(doca_pe_progress(pe), 1, "progress with a stop");
	ok(c.completed == 1 && c.failed == 2, "the other tasks are canceled");
	doca_ctx_get_state(&toy->ctx, &state);
	tap_is(state, DOCA_CTX_STATE_IDLE, "the context is idle");
	tap_is(toy->type.num_free, NUM_TASKS, "all tasks are freed");
	toy_destroy(toy);
}

static void test_stop(struct doca_pe *pe)
{
	struct toy *toy = running(pe, completed, failed);
	enum doca_ctx_states state;
	struct doca_task *task[3];
	struct counts c = { 0 };
	int i;

	for (i = 0; i < 3; i++)
		task[i] = toy_task_alloc(toy, DOCA_SUCCESS, &c);
	doca_task_submit(task[0]);
	doca_task_submit(task[1]);
	tap_is(doca_ctx_stop(&toy->ctx), DOCA_ERROR_IN_PROGRESS, "stop with tasks in flight");
	tap_is(toy->stops, 0, "the library frees nothing yet");
	tap_is(doca_task_submit(task[2]), DOCA_ERROR_BAD_STATE, "no task is taken any more");
	ok(!toy_task_alloc(toy, DOCA_SUCCESS, &c), "nor allocated");
	ok(!c.failed, "no callback in doca_ctx_stop()");
	doca_pe_progress(pe);
	ok(c.failed == 2 && c.status == DOCA_ERROR_IO_FAILED, "the tasks in flight fail");
	doca_ctx_get_state(&toy->ctx, &state);
	tap_is(state, DOCA_CTX_STATE_IDLE, "the context is idle");
	tap_is(doca_ctx_start(&toy->ctx), DOCA_SUCCESS, "start again");
	tap_is(doca_task_submit(task[2]), DOCA_SUCCESS, "tasks of the program are still valid");
	doca_pe_progress(pe);
	tap_is(c.completed, 1, "and complete");
	doca_ctx_stop(&toy->ctx);
	for (i = 0; i < 3; i++)
		doca_task_free(task[i]);
	tap_is(toy->type.num_free, NUM_TASKS, "tasks are freed in an idle context");
	toy_destroy(toy);
}

int main(void)
{
	struct doca_pe *pe;

	if (doca_pe_create(&pe) != DOCA_SUCCESS)
		bail_out("doca_pe_create() failed");
	test_null();
	test_conf(pe);
	test_submit(pe);
	test_flags(pe);
	test_callbacks(pe);
	test_stop(pe);
	tap_is(doca_pe_destroy(pe), DOCA_SUCCESS, "the engine is destroyed");
	return tap_done();
}
