// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion channels: file descriptors that say which completion queue has
 * something.
 */
#include <unistd.h>
#include "internal.h"

static void channel_release(void *object)
{
	struct xv_comp_channel *ch = object;

	close(ch->fd);
}

XV_EXPORT struct xv_comp_channel *xv_create_comp_channel(struct xv_context *ctx)
{
	struct xverbs_channel_alloc req = { .event_size = sizeof(struct xverbs_comp_event) };
	struct xv_comp_channel *ch = xv_object_create(ctx, XVERBS_CHANNEL_ALLOC,
						      "create completion channel", &req,
						      sizeof(req), sizeof(*ch), channel_release);

	if (!ch)
		return NULL;
	*ch = (struct xv_comp_channel) {
		.context = ctx,
		.handle = req.out_handle,
		.fd = req.out_fd,
	};
	xv_object_add(ch, req.out_handle);
	return ch;
}

XV_EXPORT int xv_destroy_comp_channel(struct xv_comp_channel *ch)
{
	return xv_object_destroy(ch, "destroy completion channel");
}

/* read() of exactly one event; -EAGAIN says nothing about a failure */
static int read_event(int fd, void *event, size_t size, const char *what)
{
	ssize_t n = read(fd, event, size);

	if (n == (ssize_t)size)
		return 0;
	if (n < 0)
		return xv_set_error(errno, "%s: %s", what, xv_strerror(errno));
	return xv_set_error(EIO, "%s: short read", what);
}

XV_EXPORT int xv_get_cq_event(struct xv_comp_channel *ch, struct xv_cq **cq, void **cq_context)
{
	struct xverbs_comp_event event;
	int err = read_event(ch->fd, &event, sizeof(event), "completion event");

	if (err)
		return err;
	*cq = (struct xv_cq *)(uintptr_t)event.user_data;
	if (cq_context)
		*cq_context = (*cq)->cq_context;
	__atomic_fetch_add(&(*cq)->arm_sn, 1, __ATOMIC_RELAXED);
	return 0;
}

XV_EXPORT int xv_get_async_event(struct xv_context *ctx, struct xv_async_event *out)
{
	struct xverbs_async_event event;
	int err = read_event(ctx->fd, &event, sizeof(event), "asynchronous event");

	if (err)
		return err;
	memset(out, 0, sizeof(*out));
	out->event_type = (enum xv_event_type)event.type;
	if (event.handle)
		out->element.qp = (struct xv_qp *)(uintptr_t)event.user_data;
	else
		out->element.port_num = event.port;
	return 0;
}
