// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion channels: file descriptors that deliver completion events.
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
