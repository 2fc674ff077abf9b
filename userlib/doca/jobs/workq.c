// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Work queues.  In the event-driven mode, a work queue has an epoll file descriptor with those of
 * its contexts.
 */
#include <stdlib.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include "jobs.h"

static void close_fds(struct doca_workq *workq)
{
	if (workq->epoll_fd >= 0)
		close(workq->epoll_fd);
	if (workq->wake_fd >= 0)
		close(workq->wake_fd);
	workq->epoll_fd = -1;
	workq->wake_fd = -1;
	workq->signaled = false;
}

EXPORT doca_error_t doca_workq_create(uint32_t depth, struct doca_workq **workq)
{
	if (!depth || !workq)
		return DOCA_ERROR_INVALID_VALUE;
	*workq = calloc(1, sizeof(**workq));
	if (!*workq)
		return DOCA_ERROR_NO_MEMORY;
	(*workq)->depth = depth;
	(*workq)->epoll_fd = -1;
	(*workq)->wake_fd = -1;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_workq_destroy(struct doca_workq *workq)
{
	if (!workq)
		return DOCA_ERROR_INVALID_VALUE;
	if (workq->last)
		return DOCA_ERROR_IN_USE;
	close_fds(workq);
	free(workq);
	return DOCA_SUCCESS;
}

/* ---- Jobs -------------------------------------------------------------------------------- */

/* Returns false if the job has no type of this library. */
static bool arguments_of(const struct doca_job *job, struct xvj_args *a)
{
	const struct doca_rdma_job_recv *recv = (const void *)job;
	const struct doca_rdma_job_send *send = (const void *)job;
	const struct doca_rdma_job_read_write *rw = (const void *)job;
	const struct doca_rdma_job_atomic *atomic = (const void *)job;

	switch (job->type) {
	case DOCA_RDMA_JOB_RECV:
		a->dst = recv->dst_buff;
		return true;
	case DOCA_RDMA_JOB_SEND:
	case DOCA_RDMA_JOB_SEND_IMM:
		a->src = send->src_buff;
		a->imm = send->immediate_data;
		return true;
	case DOCA_RDMA_JOB_READ:
	case DOCA_RDMA_JOB_WRITE:
	case DOCA_RDMA_JOB_WRITE_IMM:
		a->src = rw->src_buff;
		a->dst = rw->dst_buff;
		a->imm = rw->immediate_data;
		return true;
	case DOCA_RDMA_JOB_ATOMIC_CMP_SWP:
	case DOCA_RDMA_JOB_ATOMIC_FETCH_ADD:
		a->dst = atomic->cmp_or_add_dest_buff;
		a->result = atomic->result_buff;
		a->swap_add = atomic->swap_or_add_data;
		a->compare = atomic->cmp_data;
		return true;
	default:
		return false;
	}
}

EXPORT doca_error_t doca_workq_submit(struct doca_workq *workq, const struct doca_job *job)
{
	struct xvj_args args = { .src = NULL };
	struct doca_ctx *ctx;
	doca_error_t result;

	if (!workq || !job || !job->ctx || job->flags != DOCA_JOB_FLAGS_NONE ||
	    !arguments_of(job, &args))
		return DOCA_ERROR_INVALID_VALUE;
	ctx = job->ctx;
	if (ctx->workq != workq || xvj_state(ctx) != DOCA_RDMA_STATE_CONNECTED)
		return DOCA_ERROR_BAD_STATE;
	if (workq->num_jobs >= workq->depth)
		return DOCA_ERROR_NO_MEMORY;
	result = xvj_submit(ctx->engine, job->type - DOCA_RDMA_JOB_RECV, &args, job->user_data);
	if (result != DOCA_SUCCESS)
		return result;
	ctx->num_jobs++;
	workq->num_jobs++;
	return DOCA_SUCCESS;
}

static void report(const struct xvj_done *done, struct doca_event *event)
{
	struct doca_rdma_result *result = event->result.ptr;

	event->type = DOCA_RDMA_JOB_RECV + (int)done->kind;
	event->user_data = done->user_data;
	*result = (struct doca_rdma_result) {
		.result = done->status,
		.opcode = (enum doca_rdma_opcode_t)done->opcode,
		.immediate_data = done->imm,
	};
}

/* The context of the job goes to the end of the ring, so that the others come first. */
EXPORT doca_error_t doca_workq_progress_retrieve(struct doca_workq *workq,
						 struct doca_event *event, int flags)
{
	struct doca_ctx *ctx, *end;
	struct xvj_done done;

	if (!workq || !event || !event->result.ptr || flags != DOCA_WORKQ_RETRIEVE_FLAGS_NONE)
		return DOCA_ERROR_INVALID_VALUE;
	end = workq->last;
	if (!end)
		return DOCA_ERROR_AGAIN;
	ctx = end;
	do {
		ctx = ctx->next;
		if (xvj_retrieve(ctx->engine, &done)) {
			workq->last = ctx;
			ctx->num_jobs--;
			workq->num_jobs--;
			report(&done, event);
			return DOCA_SUCCESS;
		}
	} while (ctx != end);
	return DOCA_ERROR_AGAIN;
}

/* ---- Event-driven mode ------------------------------------------------------------------- */

EXPORT doca_error_t doca_workq_set_event_driven_enable(struct doca_workq *workq, uint8_t enable)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (!workq || enable > 1)
		return DOCA_ERROR_INVALID_VALUE;
	if (workq->last)
		return DOCA_ERROR_BAD_STATE;
	close_fds(workq);
	if (!enable)
		return DOCA_SUCCESS;
	workq->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	workq->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (workq->epoll_fd < 0 || workq->wake_fd < 0 ||
	    epoll_ctl(workq->epoll_fd, EPOLL_CTL_ADD, workq->wake_fd, &event)) {
		close_fds(workq);
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_workq_get_event_handle(const struct doca_workq *workq,
						doca_event_handle_t *handle)
{
	if (!workq || !handle)
		return DOCA_ERROR_INVALID_VALUE;
	if (workq->epoll_fd < 0)
		return DOCA_ERROR_BAD_STATE;
	*handle = workq->epoll_fd;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_workq_event_handle_arm(struct doca_workq *workq)
{
	struct doca_ctx *ctx = workq ? workq->last : NULL;
	bool ready, any = false;
	doca_error_t result;

	if (!workq)
		return DOCA_ERROR_INVALID_VALUE;
	if (workq->epoll_fd < 0)
		return DOCA_ERROR_BAD_STATE;
	for (; ctx; ctx = ctx->next == workq->last ? NULL : ctx->next) {
		result = xvj_arm(ctx->engine, &ready);
		if (result != DOCA_SUCCESS)
			return result;
		any |= ready;
	}
	if (!any || workq->signaled)
		return DOCA_SUCCESS;
	if (eventfd_write(workq->wake_fd, 1))
		return DOCA_ERROR_OPERATING_SYSTEM;
	workq->signaled = true;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_workq_event_handle_clear(struct doca_workq *workq,
						  doca_event_handle_t handle)
{
	struct doca_ctx *ctx = workq ? workq->last : NULL;
	doca_error_t result;
	eventfd_t n;

	if (!workq || workq->epoll_fd != handle)
		return DOCA_ERROR_INVALID_VALUE;
	if (workq->epoll_fd < 0)
		return DOCA_ERROR_BAD_STATE;
	if (workq->signaled && eventfd_read(workq->wake_fd, &n))
		return DOCA_ERROR_OPERATING_SYSTEM;
	workq->signaled = false;
	for (; ctx; ctx = ctx->next == workq->last ? NULL : ctx->next) {
		result = xvj_clear(ctx->engine);
		if (result != DOCA_SUCCESS)
			return result;
	}
	return DOCA_SUCCESS;
}
