// SPDX-License-Identifier: GPL-2.0
/*
 * Progress engines: several contexts, and sleeping until there is work.
 */
#include <poll.h>
#include <sys/epoll.h>
#include "toy.h"

static int num_completed;

static void count(struct toy_task *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	num_completed++;
	doca_task_free(&task->task);
}

static struct toy *running(struct doca_pe *pe)
{
	struct toy *toy = toy_create();

	doca_pe_connect_ctx(pe, &toy->ctx);
	toy_set_conf(toy, count, count, TOY_DEPTH);
	if (doca_ctx_start(&toy->ctx) != DOCA_SUCCESS)
		bail_out("no running context");
	return toy;
}

static void submit(struct toy *toy)
{
	if (doca_task_submit(toy_task_alloc(toy, DOCA_SUCCESS, NULL)) != DOCA_SUCCESS)
		bail_out("doca_task_submit() failed");
}

static void test_null(struct doca_pe *pe)
{
	doca_notification_handle_t handle;
	size_t n;

	tap_is(doca_pe_create(NULL), DOCA_ERROR_INVALID_VALUE, "create: no result");
	tap_is(doca_pe_destroy(NULL), DOCA_ERROR_INVALID_VALUE, "destroy: no engine");
	tap_is(doca_pe_progress(NULL), 0, "progress: no engine");
	tap_is(doca_pe_progress(pe), 0, "progress: no context");
	tap_is(doca_pe_get_num_inflight_tasks(NULL, &n), DOCA_ERROR_INVALID_VALUE,
	       "tasks in flight: no engine");
	tap_is(doca_pe_get_num_inflight_tasks(pe, NULL), DOCA_ERROR_INVALID_VALUE,
	       "tasks in flight: no result");
	tap_is(doca_pe_get_notification_handle(NULL, &handle), DOCA_ERROR_INVALID_VALUE,
	       "handle: no engine");
	tap_is(doca_pe_get_notification_handle(pe, NULL), DOCA_ERROR_INVALID_VALUE,
	       "handle: no result");
	tap_is(doca_pe_request_notification(NULL), DOCA_ERROR_INVALID_VALUE,
	       "request: no engine");
	tap_is(doca_pe_clear_notification(NULL, 0), DOCA_ERROR_INVALID_VALUE, "clear: no engine");
	tap_is(doca_pe_set_event_mode(NULL, DOCA_PE_EVENT_MODE_PROGRESS_ALL),
	       DOCA_ERROR_INVALID_VALUE, "mode: no engine");
	tap_is(doca_pe_set_event_mode(pe, 2), DOCA_ERROR_INVALID_VALUE, "unknown mode");
	tap_is(doca_pe_set_event_mode(pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL), DOCA_SUCCESS, "mode");
}

static bool readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1;
}

static void test_events(struct doca_pe *pe)
{
	struct toy *a = running(pe), *b = running(pe);
	struct epoll_event event = { .events = EPOLLIN };
	doca_notification_handle_t handle = doca_event_invalid_handle;
	int set = epoll_create1(0);

	tap_is(doca_pe_get_notification_handle(pe, &handle), DOCA_SUCCESS, "the handle");
	ok(handle >= 0 && !epoll_ctl(set, EPOLL_CTL_ADD, handle, &event), "epoll takes it");
	tap_is(doca_pe_request_notification(pe), DOCA_SUCCESS, "a request");
	ok(!readable(handle, 0), "no work, no event");
	submit(b);
	tap_is(epoll_wait(set, &event, 1, 1000), 1, "a task is complete: epoll wakes up");
	tap_is(doca_pe_clear_notification(pe, handle), DOCA_SUCCESS, "clear");
	ok(!readable(handle, 0), "the event is gone");
	tap_is(doca_pe_progress(pe), 1, "there is work");

	submit(b);
	ok(!readable(handle, 0), "no event without a request");
	doca_pe_request_notification(pe);
	doca_pe_request_notification(pe);
	ok(readable(handle, 0), "work from before the request is an event");
	doca_pe_clear_notification(pe, handle);
	ok(!readable(handle, 0), "it is gone after one clear");
	doca_pe_progress(pe);
	tap_is(num_completed, 2, "two tasks are complete");

	a->slow_stops = 1;
	doca_ctx_stop(&a->ctx);
	doca_pe_request_notification(pe);
	ok(readable(handle, 0), "a context that stops is work");
	doca_pe_clear_notification(pe, handle);
	doca_pe_progress(pe);
	doca_pe_request_notification(pe);
	ok(!readable(handle, 0), "an idle one is not");
	submit(b);
	ok(readable(handle, 1000), "the other one still wakes up");
	doca_pe_clear_notification(pe, handle);
	doca_ctx_stop(&b->ctx);
	doca_pe_progress(pe);
	toy_destroy(a);
	toy_destroy(b);
	close(set);
}

/* A second start must find the new file descriptor. */
static void test_restart(struct doca_pe *pe)
{
	struct toy *toy = running(pe);
	doca_notification_handle_t handle;

	doca_pe_get_notification_handle(pe, &handle);
	doca_pe_request_notification(pe);
	doca_ctx_stop(&toy->ctx);
	close(toy->event_fd);
	toy->event_fd = eventfd(0, EFD_NONBLOCK);
	doca_ctx_start(&toy->ctx);
	tap_is(doca_pe_request_notification(pe), DOCA_SUCCESS, "a request after a restart");
	submit(toy);
	ok(readable(handle, 1000), "it wakes up");
	doca_pe_clear_notification(pe, handle);
	doca_pe_progress(pe);
	doca_ctx_stop(&toy->ctx);
	close(toy->event_fd);
	doca_ctx_start(&toy->ctx);
	tap_is(doca_pe_request_notification(pe), DOCA_ERROR_OPERATING_SYSTEM,
	       "a file descriptor that epoll does not take");
	doca_ctx_stop(&toy->ctx);
	toy->event_fd = -1;
	toy_destroy(toy);
}

int main(void)
{
	struct doca_pe *pe;

	if (doca_pe_create(&pe) != DOCA_SUCCESS)
		bail_out("doca_pe_create() failed");
	test_null(pe);
	test_events(pe);
	test_restart(pe);
	tap_is(doca_pe_destroy(pe), DOCA_SUCCESS, "the engine is destroyed");
	return tap_done();
}
