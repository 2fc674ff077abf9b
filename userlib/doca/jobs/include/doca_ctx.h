/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Contexts, jobs and their results.  A library converts its object into a context with a function
 * such as doca_rdma_as_ctx(); the object owns the context.  Compatible with the header of the same
 * name of DOCA 2.2.
 *
 * Results: DOCA_ERROR_INVALID_VALUE for a null pointer, DOCA_ERROR_BAD_STATE in the wrong state.
 *
 * Threads: one thread at a time may use a context and its work queue.
 */
#ifndef XVDOCA_JOBS_CTX_H
#define XVDOCA_JOBS_CTX_H

#include <stdint.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_dev;
struct doca_workq;

/* The types of the jobs of a library begin with a multiple of it. */
#define DOCA_ACTION_TYPE_STEP	(1 << 16)

enum doca_job_flags {
	DOCA_JOB_FLAGS_NONE	= 0,
};

/* The first member of each job */
struct doca_job {
	int type;			/* such as enum doca_rdma_job_types */
	int flags;			/* DOCA_JOB_FLAGS_NONE */
	struct doca_ctx *ctx;
	union doca_data user_data;	/* comes back in the event */
};

/* A job that is complete */
struct doca_event {
	int type;			/* that of the job */
	union doca_data user_data;
	union doca_data result;		/* ptr: memory of the program for the result */
};

/*
 * Before the start; DOCA_ERROR_NOT_SUPPORTED: the device cannot do what the context needs, or the
 * context has another device already.
 */
doca_error_t doca_ctx_dev_add(struct doca_ctx *ctx, struct doca_dev *dev);
doca_error_t doca_ctx_dev_rm(struct doca_ctx *ctx, struct doca_dev *dev);

/* The context needs a device. */
doca_error_t doca_ctx_start(struct doca_ctx *ctx);

/*
 * DOCA_ERROR_IN_USE: the context has a work queue.  Drops the jobs whose results were not
 * retrieved; their buffers are free afterwards.
 */
doca_error_t doca_ctx_stop(struct doca_ctx *ctx);

/*
 * After the start.  A context can have one work queue: DOCA_ERROR_NOT_SUPPORTED for a second one.
 * A work queue can serve several contexts.  Jobs stay in the context when the work queue is
 * removed: another one that is added retrieves them.
 */
doca_error_t doca_ctx_workq_add(struct doca_ctx *ctx, struct doca_workq *workq);
doca_error_t doca_ctx_workq_rm(struct doca_ctx *ctx, struct doca_workq *workq);

#ifdef __cplusplus
}
#endif

/* Programs use work queues without including their header. */
#include <doca_workq.h>

#endif
