// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Contexts.  A context is one open file of /dev/xverbs that is bound to one RDMA
 * device.  When the file is closed, the kernel destroys all its objects.
 */
#include <unistd.h>
#include "internal.h"

/* The first device that is available */
static int first_available(struct xverbs_device *found)
{
	struct xverbs_device *dev;
	int n, i, err;

	dev = xv_fetch_devices(&n);
	if (!dev)
		return -errno;
	for (i = 0; i < n && !dev[i].available; i++)
		;
	if (i < n) {
		*found = dev[i];
		err = 0;
	} else if (n) {
		err = xv_set_error(ENODEV, "no RDMA device is available: %s: %s", dev[0].name,
				   dev[0].why_not);
	} else {
		err = xv_set_error(ENODEV, "no RDMA device exists");
	}
	free(dev);
	return err;
}

static int bind_file(struct context *ctx, struct xverbs_bind *req)
{
	int err = xv_ioctl(ctx->pub.fd, XVERBS_BIND, "open", req, sizeof(*req));

	if (!err) {
		strcpy(ctx->pub.name, req->name);
		ctx->pub.index = req->index;
	}
	return err;
}

static int bind_index(struct context *ctx, uint32_t index)
{
	struct xverbs_bind req = {
		.hdr.flags = XVERBS_BIND_BY_INDEX,
		.index = index,
		.async_event_size = sizeof(struct xverbs_async_event),
	};

	return bind_file(ctx, &req);
}

static int bind_name(struct context *ctx, const char *name)
{
	struct xverbs_bind req = { .async_event_size = sizeof(struct xverbs_async_event) };
	struct xverbs_device first;
	int err;

	if (!name) {
		err = first_available(&first);
		if (err)
			return err;
		name = first.name;
	}
	if (strlen(name) >= sizeof(req.name))
		return xv_set_error(ENOENT, "the device name \"%.20s...\" is too long", name);
	strcpy(req.name, name);
	return bind_file(ctx, &req);
}

static struct xv_context *open_context(const struct xv_device *device, const char *name)
{
	struct context *ctx = calloc(1, sizeof(*ctx));
	int err;

	if (!ctx)
		return xv_set_error_null(ENOMEM, "open: out of memory");
	pthread_mutex_init(&ctx->lock, NULL);
	ctx->task_lock.on = 1;
	ctx->owner = getpid();
	ctx->pub.fd = xv_open_file();
	err = ctx->pub.fd;
	if (err >= 0)
		err = device ? bind_index(ctx, device->index) : bind_name(ctx, name);
	if (err) {
		if (ctx->pub.fd >= 0)
			close(ctx->pub.fd);
		free(ctx);
		errno = -err;
		return NULL;
	}
	return &ctx->pub;
}

XV_EXPORT struct xv_context *xv_open(const char *name)
{
	return open_context(NULL, name);
}

XV_EXPORT struct xv_context *xv_open_device(const struct xv_device *device)
{
	return open_context(device, NULL);
}

XV_EXPORT int xv_close(struct xv_context *pub)
{
	struct context *ctx = to_ctx(pub);

	xv_object_destroy_all(ctx);
	xv_unmap(&ctx->clock_map);
	close(ctx->pub.fd);
	xv_rsc_free_all(ctx);
	pthread_mutex_destroy(&ctx->lock);
	free(ctx);
	return 0;
}
