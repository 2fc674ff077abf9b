/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Contexts and work queues of jobs.  Devices, maps, buffers and inventories are those of
 * libdoca_common.
 */
#ifndef XVDOCA_JOBS_PRIVATE_H
#define XVDOCA_JOBS_PRIVATE_H

#include <doca_ctx.h>
#include <doca_rdma.h>
#include <doca_workq.h>
#include "engine.h"

#define EXPORT	__attribute__((visibility("default")))

/* RDMA instances are the only contexts. */
struct doca_ctx {
	struct doca_dev *dev;		/* or NULL */
	struct xvj_engine *engine;	/* exists as long as there is a device */
	struct doca_workq *workq;	/* or NULL */
	struct doca_ctx *next;		/* in the ring of the work queue */
	uint32_t num_jobs;		/* not retrieved */
	bool started;
	bool connected;
};

/* What the program has set before there is a device, and for the next one */
struct xvj_config {
	bool set;
	uint32_t value;
};

struct doca_rdma {
	struct doca_ctx ctx;		/* must be first */
	struct xvj_config config[XVJ_NUM_PROPERTIES];
};

struct doca_workq {
	struct doca_ctx *last;		/* of the ring of contexts, or NULL */
	uint32_t depth;
	uint32_t num_jobs;		/* of all contexts */
	int epoll_fd;			/* what the program waits for, or -1 */
	int wake_fd;			/* eventfd for jobs that are complete already, or -1 */
	bool signaled;			/* wake_fd is readable. */
};

enum doca_rdma_state xvj_state(const struct doca_ctx *ctx);

/* Passes the properties to a new engine. */
doca_error_t xvj_configure(const struct doca_rdma *rdma, struct xvj_engine *engine);

#endif
