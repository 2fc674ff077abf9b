/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Progress engines, for contexts and tasks
 */
#ifndef XVDOCA_PRIVATE_PE_H
#define XVDOCA_PRIVATE_PE_H

#include <doca_pe.h>
#include "ctx.h"

struct doca_pe {
	struct doca_ctx *active;	/* list of the contexts that are not idle */
	uint32_t num_ctxs;		/* connected */
	bool in_progress;		/* doca_pe_progress() calls callbacks */
	bool signaled;			/* wake_fd is readable */
	int epoll_fd;			/* what the program waits for */
	int wake_fd;			/* eventfd for work that is there already */
	enum doca_pe_event_mode event_mode;
};

/* A context that is started or idle again */
void xvd_pe_activate(struct doca_ctx *ctx);
void xvd_pe_deactivate(struct doca_ctx *ctx);

/* The context's file descriptor will be closed. */
void xvd_pe_remove_fd(struct doca_ctx *ctx);

/* Ends STOPPING if nothing is in flight; prev: the state that the program's callback gets. */
bool xvd_ctx_finish(struct doca_ctx *ctx, enum doca_ctx_states prev);

#endif
