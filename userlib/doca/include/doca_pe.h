/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Progress engines and tasks.  Compatible with the header of the same name of the DOCA SDK.
 *
 * A progress engine runs the contexts that are connected to it: it completes their tasks and calls
 * all callbacks.
 *
 * Results: DOCA_ERROR_INVALID_VALUE for a null pointer, DOCA_ERROR_BAD_STATE in the wrong state.
 *
 * Threads: one thread at a time may use a progress engine, its contexts and their tasks.
 */
#ifndef XVDOCA_PE_H
#define XVDOCA_PE_H

#include <stddef.h>
#include <stdint.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_pe;
struct doca_task;

typedef doca_event_handle_t doca_notification_handle_t;

/* ---- Progress engines --------------------------------------------------------- */

/*
 * doca_pe_destroy(): DOCA_ERROR_IN_USE while a context is connected.  A context stays connected
 * until its object is destroyed.
 */
doca_error_t doca_pe_create(struct doca_pe **pe);
doca_error_t doca_pe_destroy(struct doca_pe *pe);

/* The context must be idle.  DOCA_ERROR_ALREADY_EXIST: it is connected to this or another one. */
doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx);

/*
 * Goes on with the work of all contexts and calls their callbacks.  Returns 1 if something was
 * done, else 0.  Makes no system call if there is nothing to do.  Callbacks may submit, resubmit
 * and free tasks and stop contexts, but must not call this function.
 */
uint8_t doca_pe_progress(struct doca_pe *pe);

/* The number of tasks in flight of all contexts */
doca_error_t doca_pe_get_num_inflight_tasks(const struct doca_pe *pe, size_t *num_inflight_tasks);

/* ---- Sleeping until there is work -------------------------------------------------- */

/*
 * A file descriptor for poll(2) and epoll(7), which belongs to the progress engine.  After
 * doca_pe_request_notification() it becomes readable once there is work for doca_pe_progress().
 * Then the program calls doca_pe_clear_notification(); on Linux its handle is not used.
 */
doca_error_t doca_pe_get_notification_handle(const struct doca_pe *pe,
					     doca_notification_handle_t *handle);
doca_error_t doca_pe_request_notification(struct doca_pe *pe);
doca_error_t doca_pe_clear_notification(struct doca_pe *pe, doca_notification_handle_t handle);

/* Which contexts doca_pe_progress() looks at.  Here it always looks at all, which is cheap. */
enum doca_pe_event_mode {
	DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE	= 0,
	DOCA_PE_EVENT_MODE_PROGRESS_ALL		= 1,
};

doca_error_t doca_pe_set_event_mode(struct doca_pe *pe, enum doca_pe_event_mode mode);

/* ---- Tasks ------------------------------------------------------------------------ */

enum doca_task_submit_flag {
	DOCA_TASK_SUBMIT_FLAG_NONE		= 0,
	/* Passes this task and all before it to the device. */
	DOCA_TASK_SUBMIT_FLAG_FLUSH		= 1 << 0,
	/* The callback may wait for that of the next task without this flag. */
	DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS	= 1 << 1,
};

/*
 * The context must be running.  The task belongs to the library until its callback is called; after
 * an error it still belongs to the caller.  doca_task_submit() submits with
 * DOCA_TASK_SUBMIT_FLAG_FLUSH.  doca_task_try_submit() does the same and checks the arguments of
 * the task first.  DOCA_ERROR_AGAIN: the queue is full.
 */
doca_error_t doca_task_submit(struct doca_task *task);
doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags);
doca_error_t doca_task_try_submit(struct doca_task *task);

/* Gives the task back to its context.  Does nothing for a task that is in flight or free. */
void doca_task_free(struct doca_task *task);

/* The result of a task whose callback was called */
doca_error_t doca_task_get_status(const struct doca_task *task);

void doca_task_set_user_data(struct doca_task *task, union doca_data user_data);
union doca_data doca_task_get_user_data(const struct doca_task *task);
struct doca_ctx *doca_task_get_ctx(const struct doca_task *task);

#ifdef __cplusplus
}
#endif

#endif
