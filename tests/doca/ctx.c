// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts: states, callbacks, and what is refused in which state.
 */
#include <string.h>
#include "toy.h"

static char log_text[200];		/* the changes of states */

static void state_changed(const union doca_data user_data, struct doca_ctx *ctx,
			  enum doca_ctx_states prev, enum doca_ctx_states next)
{
	size_t len = strlen(log_text);

	(void)ctx;
	snprintf(log_text + len, sizeof(log_text) - len, "%llu:%d-%d ",
		 (unsigned long long)user_data.u64, prev, next);
}

static void log_is(const char *want, const char *what)
{
	ok(!strcmp(log_text, want), "%s: \"%s\"", what, log_text);
	log_text[0] = '\0';
}

static enum doca_ctx_states state_of(struct doca_ctx *ctx)
{
	enum doca_ctx_states state = 99;

	doca_ctx_get_state(ctx, &state);
	return state;
}

static struct toy *connected(struct doca_pe *pe)
{
	struct toy *toy = toy_create();

	if (doca_pe_connect_ctx(pe, &toy->ctx) != DOCA_SUCCESS)
		bail_out("doca_pe_connect_ctx() failed");
	doca_ctx_set_user_data(&toy->ctx, (union doca_data) { .u64 = 7 });
	doca_ctx_set_state_changed_cb(&toy->ctx, state_changed);
	return toy;
}

static void test_null(struct doca_pe *pe)
{
	enum doca_ctx_states state;
	union doca_data data = { 0 };
	struct toy *toy = toy_create();
	struct doca_ctx *ctx = &toy->ctx;
	size_t n;

	tap_is(doca_ctx_start(NULL), DOCA_ERROR_INVALID_VALUE, "start: no context");
	tap_is(doca_ctx_stop(NULL), DOCA_ERROR_INVALID_VALUE, "stop: no context");
	tap_is(doca_ctx_get_state(NULL, &state), DOCA_ERROR_INVALID_VALUE, "state: no context");
	tap_is(doca_ctx_get_state(ctx, NULL), DOCA_ERROR_INVALID_VALUE, "state: no result");
	tap_is(doca_ctx_get_num_inflight_tasks(NULL, &n), DOCA_ERROR_INVALID_VALUE,
	       "tasks in flight: no context");
	tap_is(doca_ctx_get_num_inflight_tasks(ctx, NULL), DOCA_ERROR_INVALID_VALUE,
	       "tasks in flight: no result");
	tap_is(doca_ctx_set_user_data(NULL, data), DOCA_ERROR_INVALID_VALUE,
	       "set user data: no context");
	tap_is(doca_ctx_get_user_data(NULL, &data), DOCA_ERROR_INVALID_VALUE,
	       "get user data: no context");
	tap_is(doca_ctx_get_user_data(ctx, NULL), DOCA_ERROR_INVALID_VALUE,
	       "get user data: no result");
	tap_is(doca_ctx_set_state_changed_cb(NULL, state_changed), DOCA_ERROR_INVALID_VALUE,
	       "callback: no context");
	tap_is(doca_pe_connect_ctx(NULL, ctx), DOCA_ERROR_INVALID_VALUE, "connect: no engine");
	tap_is(doca_pe_connect_ctx(pe, NULL), DOCA_ERROR_INVALID_VALUE, "connect: no context");
	tap_is(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE, "start without an engine");
	doca_ctx_flush_tasks(NULL);
	tap_is(toy_destroy(toy), DOCA_SUCCESS, "a context without an engine is destroyed");
}

static void test_states(struct doca_pe *pe)
{
	struct toy *toy = connected(pe);
	struct doca_ctx *ctx = &toy->ctx;
	union doca_data data;

	tap_is(doca_pe_connect_ctx(pe, ctx), DOCA_ERROR_ALREADY_EXIST, "connected twice");
	tap_is(state_of(ctx), DOCA_CTX_STATE_IDLE, "a new context is idle");
	tap_is(doca_ctx_stop(ctx), DOCA_SUCCESS, "the stop of an idle context does nothing");
	tap_is(doca_ctx_start(ctx), DOCA_SUCCESS, "start");
	tap_is(state_of(ctx), DOCA_CTX_STATE_RUNNING, "it is running");
	log_is("7:0-2 ", "the callback saw it");
	tap_is(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE, "it cannot be started twice");
	tap_is(doca_ctx_set_state_changed_cb(ctx, NULL), DOCA_ERROR_BAD_STATE,
	       "the callback cannot be changed now");
	tap_is(doca_ctx_set_user_data(ctx, (union doca_data) { .u64 = 8 }), DOCA_SUCCESS,
	       "the user data can");
	ok(doca_ctx_get_user_data(ctx, &data) == DOCA_SUCCESS && data.u64 == 8, "it is stored");
	tap_is(xvd_ctx_destroy(ctx), DOCA_ERROR_IN_USE, "a running context cannot be destroyed");
	tap_is(doca_pe_destroy(pe), DOCA_ERROR_IN_USE, "nor can its engine");
	tap_is(doca_ctx_stop(ctx), DOCA_SUCCESS, "stop");
	tap_is(state_of(ctx), DOCA_CTX_STATE_IDLE, "it is idle");
	log_is("8:2-0 ", "the callback saw it");
	tap_is(doca_ctx_start(ctx), DOCA_SUCCESS, "start again");
	tap_is(doca_ctx_stop(ctx), DOCA_SUCCESS, "stop again");
	ok(toy->starts == 2 && toy->cancels == 2 && toy->stops == 2, "the library was called");
	toy->start_result = DOCA_ERROR_DRIVER;
	log_text[0] = '\0';
	tap_is(doca_ctx_start(ctx), DOCA_ERROR_DRIVER, "a start that fails");
	tap_is(state_of(ctx), DOCA_CTX_STATE_IDLE, "it is still idle");
	log_is("", "the callback was not called");
	tap_is(doca_pe_destroy(pe), DOCA_ERROR_IN_USE, "an engine with an idle context");
	tap_is(toy_destroy(toy), DOCA_SUCCESS, "the context is destroyed");
}

static void test_slow(struct doca_pe *pe)
{
	struct toy *toy = connected(pe);
	struct doca_ctx *ctx = &toy->ctx;

	toy->start_result = DOCA_ERROR_IN_PROGRESS;
	tap_is(doca_ctx_start(ctx), DOCA_ERROR_IN_PROGRESS, "a start that takes time");
	tap_is(state_of(ctx), DOCA_CTX_STATE_STARTING, "it is starting");
	xvd_ctx_started(ctx);
	log_is("7:0-1 7:1-2 ", "the callback saw both states");
	xvd_ctx_started(ctx);
	log_is("", "a running context is not started again");
	toy->slow_stops = 2;
	tap_is(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS, "a stop that takes time");
	tap_is(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS, "a second stop changes nothing");
	tap_is(doca_pe_progress(pe), 0, "it is not finished");
	tap_is(state_of(ctx), DOCA_CTX_STATE_STOPPING, "it is stopping");
	tap_is(doca_pe_progress(pe), 1, "the next call finishes it");
	log_is("7:2-3 7:3-0 ", "the callback saw both states");
	ok(toy->cancels == 1 && toy->stops == 3, "cancel was called once, stop until it succeeded");
	doca_ctx_start(ctx);
	tap_is(doca_ctx_stop(ctx), DOCA_SUCCESS, "a starting context can be stopped");
	log_is("7:0-1 7:1-0 ", "the callback saw it");
	toy_destroy(toy);
}

static struct toy *in_callback;

/* What programs do at the end of a context */
static void destroy_when_idle(const union doca_data user_data, struct doca_ctx *ctx,
			      enum doca_ctx_states prev, enum doca_ctx_states next)
{
	state_changed(user_data, ctx, prev, next);
	if (next == DOCA_CTX_STATE_IDLE) {
		toy_destroy(toy_of(ctx));
		in_callback = NULL;
	}
}

static void test_destroy_in_callback(struct doca_pe *pe)
{
	struct toy *first = connected(pe), *last = connected(pe);

	in_callback = connected(pe);
	doca_ctx_set_state_changed_cb(&in_callback->ctx, destroy_when_idle);
	doca_ctx_start(&first->ctx);
	doca_ctx_start(&in_callback->ctx);
	doca_ctx_start(&last->ctx);
	in_callback->slow_stops = 1;
	doca_ctx_stop(&in_callback->ctx);
	doca_pe_progress(pe);
	ok(!in_callback, "a context in the middle was destroyed in its callback");
	tap_is(doca_pe_progress(pe), 0, "the engine runs the others");
	tap_is(doca_ctx_stop(&first->ctx), DOCA_SUCCESS, "the first one is stopped");
	tap_is(doca_ctx_stop(&last->ctx), DOCA_SUCCESS, "the last one is stopped");
	toy_destroy(first);
	toy_destroy(last);

	in_callback = connected(pe);
	doca_ctx_set_state_changed_cb(&in_callback->ctx, destroy_when_idle);
	doca_ctx_start(&in_callback->ctx);
	tap_is(doca_ctx_stop(&in_callback->ctx), DOCA_SUCCESS, "stop, which destroys the context");
	ok(!in_callback, "it was destroyed");
}

int main(void)
{
	struct doca_pe *pe;

	if (doca_pe_create(&pe) != DOCA_SUCCESS)
		bail_out("doca_pe_create() failed");
	test_null(pe);
	test_states(pe);
	test_slow(pe);
	test_destroy_in_callback(pe);
	tap_is(doca_pe_destroy(pe), DOCA_SUCCESS, "the engine is destroyed after its contexts");
	return tap_done();
}
