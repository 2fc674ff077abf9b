// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Progress engines: polling, and sleeping until there is work.
 *
 * The program sleeps on an epoll file descriptor.  It has the file descriptors of the contexts, and
 * an eventfd for work that was there before the program went to sleep.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include "pe.h"

static bool watch(struct doca_pe *pe, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(pe->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void free_pe(struct doca_pe *pe)
{
	if (pe->wake_fd >= 0)
		close(pe->wake_fd);
	if (pe->epoll_fd >= 0)
		close(pe->epoll_fd);
	free(pe);
}

EXPORT doca_error_t doca_pe_create(struct doca_pe **pe)
{
	struct doca_pe *new;

	if (!pe)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	new->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	new->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (new->epoll_fd < 0 || new->wake_fd < 0 || !watch(new, new->wake_fd)) {
		free_pe(new);
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	*pe = new;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_pe_destroy(struct doca_pe *pe)
{
	if (!pe)
		return DOCA_ERROR_INVALID_VALUE;
	if (pe->num_ctxs || pe->in_progress)
		return DOCA_ERROR_IN_USE;
	free_pe(pe);
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx)
{
	if (!pe || !ctx)
		return DOCA_ERROR_INVALID_VALUE;
	if (!xvd_ctx_is_idle(ctx))
		return DOCA_ERROR_BAD_STATE;
	if (ctx->pe)
		return DOCA_ERROR_ALREADY_EXIST;
	ctx->pe = pe;
	pe->num_ctxs++;
	return DOCA_SUCCESS;
}

void xvd_pe_activate(struct doca_ctx *ctx)
{
	ctx->next = ctx->pe->active;
	ctx->pe->active = ctx;
}

void xvd_pe_deactivate(struct doca_ctx *ctx)
{
	struct doca_ctx **link;

	for (link = &ctx->pe->active; *link != ctx; link = &(*link)->next)
		;
	*link = ctx->next;
}

void xvd_pe_remove_fd(struct doca_ctx *ctx)
{
	if (ctx->event_fd < 0)
		return;
	epoll_ctl(ctx->pe->epoll_fd, EPOLL_CTL_DEL, ctx->event_fd, NULL);
	ctx->event_fd = -1;
}

EXPORT uint8_t doca_pe_progress(struct doca_pe *pe)
{
	struct doca_ctx *ctx, *next;
	unsigned int done = 0;

	if (!pe || pe->in_progress)
		return 0;
	pe->in_progress = true;
	/*
	 * Callbacks add contexts to the front of the list.  Only xvd_ctx_finish() here removes one,
	 * so that next stays valid.
	 */
	for (ctx = pe->active; ctx; ctx = next) {
		done |= ctx->ops->progress(ctx);
		next = ctx->next;
		if (xv_unlikely(ctx->state == DOCA_CTX_STATE_STOPPING))
			done |= xvd_ctx_finish(ctx, DOCA_CTX_STATE_STOPPING);
	}
	pe->in_progress = false;
	return done != 0;
}

EXPORT doca_error_t doca_pe_get_num_inflight_tasks(const struct doca_pe *pe,
						   size_t *num_inflight_tasks)
{
	const struct doca_ctx *ctx;
	size_t n = 0;

	if (!pe || !num_inflight_tasks)
		return DOCA_ERROR_INVALID_VALUE;
	for (ctx = pe->active; ctx; ctx = ctx->next)
		n += ctx->num_inflight;
	*num_inflight_tasks = n;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_pe_get_notification_handle(const struct doca_pe *pe,
						    doca_notification_handle_t *handle)
{
	if (!pe || !handle)
		return DOCA_ERROR_INVALID_VALUE;
	*handle = pe->epoll_fd;
	return DOCA_SUCCESS;
}

/* Adds the file descriptor when the program wants to sleep first: others need no system call. */
static bool watch_ctx(struct doca_ctx *ctx)
{
	int fd;

	if (ctx->event_fd >= 0 || !ctx->ops->event_fd)
		return true;
	fd = ctx->ops->event_fd(ctx);
	if (!watch(ctx->pe, fd))
		return false;
	ctx->event_fd = fd;
	return true;
}

EXPORT doca_error_t doca_pe_request_notification(struct doca_pe *pe)
{
	const uint64_t one = 1;
	struct doca_ctx *ctx;
	bool work = false;

	if (!pe)
		return DOCA_ERROR_INVALID_VALUE;
	for (ctx = pe->active; ctx; ctx = ctx->next) {
		if (ctx->state == DOCA_CTX_STATE_STOPPING && !ctx->num_inflight) {
			work = true;
			continue;
		}
		if (!watch_ctx(ctx))
			return DOCA_ERROR_OPERATING_SYSTEM;
		work |= !ctx->ops->request_notification || ctx->ops->request_notification(ctx);
	}
	if (work && !pe->signaled) {
		if (write(pe->wake_fd, &one, sizeof(one)) != sizeof(one))
			return DOCA_ERROR_OPERATING_SYSTEM;
		pe->signaled = true;
	}
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_pe_clear_notification(struct doca_pe *pe,
					       doca_notification_handle_t handle)
{
	struct doca_ctx *ctx;
	uint64_t n;

	(void)handle;
	if (!pe)
		return DOCA_ERROR_INVALID_VALUE;
	if (pe->signaled && read(pe->wake_fd, &n, sizeof(n)) != sizeof(n))
		return DOCA_ERROR_OPERATING_SYSTEM;
	pe->signaled = false;
	for (ctx = pe->active; ctx; ctx = ctx->next)
		if (ctx->ops->clear_notification)
			ctx->ops->clear_notification(ctx);
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_pe_set_event_mode(struct doca_pe *pe, enum doca_pe_event_mode mode)
{
	if (!pe || (mode != DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE &&
		    mode != DOCA_PE_EVENT_MODE_PROGRESS_ALL))
		return DOCA_ERROR_INVALID_VALUE;
	pe->event_mode = mode;
	return DOCA_SUCCESS;
}
