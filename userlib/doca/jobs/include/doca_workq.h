/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Work queues: submit jobs, and retrieve their results by polling or by waiting for events.
 * Compatible with the functions of the same names of DOCA 2.2.
 *
 * Results: DOCA_ERROR_INVALID_VALUE for a null pointer, DOCA_ERROR_BAD_STATE in the wrong state.
 *
 * Threads: one thread at a time may use a work queue and its contexts.
 */
#ifndef XVDOCA_JOBS_WORKQ_H
#define XVDOCA_JOBS_WORKQ_H

#include <stdint.h>
#include <doca_ctx.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum doca_workq_retrieve_flags {
	DOCA_WORKQ_RETRIEVE_FLAGS_NONE	= 0,
};

/*
 * depth: jobs that are submitted and not retrieved.  DOCA_ERROR_IN_USE: contexts use the work
 * queue.
 */
doca_error_t doca_workq_create(uint32_t depth, struct doca_workq **workq);
doca_error_t doca_workq_destroy(struct doca_workq *workq);

/*
 * The work queue must have been added to the context of the job, else DOCA_ERROR_BAD_STATE.  The
 * structure of the job is not needed after the call, but its buffers are until the result is
 * retrieved.  DOCA_ERROR_NO_MEMORY: the work queue, or the queue of the context, is full.  Each
 * library has further errors.
 */
doca_error_t doca_workq_submit(struct doca_workq *workq, const struct doca_job *job);

/*
 * Retrieves one completed job.  DOCA_ERROR_AGAIN: there is none.  event->result.ptr must point to
 * the structure of the library for results.  DOCA_SUCCESS says only that there was a job: whether
 * it succeeded is in its result.
 */
doca_error_t doca_workq_progress_retrieve(struct doca_workq *workq, struct doca_event *event,
					  int flags);

/*
 * The event-driven mode: 1 to enable, 0 to disable, before the work queue is added to a context.
 * The handle is for epoll(7) and poll(2) and belongs to the work queue.
 *
 *	while (doca_workq_progress_retrieve(...) == DOCA_ERROR_AGAIN) {
 *		doca_workq_event_handle_arm(workq);
 *		epoll_wait(...);
 *		doca_workq_event_handle_clear(workq, handle);
 *	}
 */
doca_error_t doca_workq_set_event_driven_enable(struct doca_workq *workq, uint8_t enable);

/* DOCA_ERROR_BAD_STATE: the event-driven mode is not enabled. */
doca_error_t doca_workq_get_event_handle(const struct doca_workq *workq,
					 doca_event_handle_t *handle);
doca_error_t doca_workq_event_handle_arm(struct doca_workq *workq);
doca_error_t doca_workq_event_handle_clear(struct doca_workq *workq, doca_event_handle_t handle);

#ifdef __cplusplus
}
#endif

#endif
