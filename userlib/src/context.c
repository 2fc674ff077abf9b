// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Contexts.  A context is one open file of /dev/xverbs that is bound to one RDMA
 * device.  When the file is closed, the kernel destroys all its objects.  The node of the
 * device is open only until the file is bound.
 */
#include <stdio.h>
#include <unistd.h>
#include "internal.h"

/* *node is -1 with the first versions of xverbs.ko, which have no nodes of devices. */
static int open_node(const struct xverbs_device *dev, int *node, char *reason, size_t size)
{
	*node = -1;
	if (!dev->available) {
		snprintf(reason, size, "%s", dev->why_not);
		return -EOPNOTSUPP;
	}
	if (!dev->node[0])
		return 0;
	*node = xv_open_node(dev, reason, size);
	return *node < 0 ? *node : 0;
}

/*
 * Finds an entry of the list by its index, or by its name, or the first one that can be
 * opened.  Opens its node; returns its position, or -errno.
 */
static int choose(const struct xverbs_device *dev, int n, const struct xv_device *device,
		  const char *name, int *node)
{
	char reason[XVERBS_REASON_MAX];
	int i, err, none = 0;

	for (i = 0; i < n; i++) {
		if (device ? dev[i].index != device->index : name && strcmp(dev[i].name, name))
			continue;
		err = open_node(&dev[i], node, reason, sizeof(reason));
		if (!err)
			return i;
		if (device || name)
			return xv_set_error(err, "open: %s: %s", dev[i].name, reason);
		if (!none)
			none = xv_set_error(ENODEV, "no RDMA device is available: %s: %s",
					    dev[i].name, reason);
	}
	if (none)
		return none;
	if (device)
		return xv_set_error(ENOENT, "open: no RDMA device with index %u", device->index);
	if (name)
		return xv_set_error(ENOENT, "open: no RDMA device %.63s", name);
	return xv_set_error(ENODEV, "no RDMA device exists");
}

static int bind_file(struct context *ctx, const struct xverbs_device *dev, int node)
{
	struct xverbs_bind req = {
		.hdr.flags = node < 0 ? XVERBS_BIND_BY_INDEX : XVERBS_BIND_BY_FD,
		.index = dev->index,
		.async_event_size = sizeof(struct xverbs_async_event),
		.fd = node < 0 ? 0 : node,
	};
	int err = xv_ioctl_file(ctx->pub.fd, dev->name, XVERBS_BIND, "open", &req,
				sizeof(req));

	if (err)
		return err;
	/* Between list and open, the node may have become that of another device. */
	if (req.index != dev->index)
		return xv_set_error(ENODEV, "open: %s was removed", dev->name);
	strcpy(ctx->pub.name, req.name);
	ctx->pub.index = req.index;
	if (!req.out_alive.length)	/* an older module */
		return 0;
	err = xv_map_read(ctx, &ctx->alive_map, &req.out_alive, "open");
	ctx->pub.alive = ctx->alive_map.addr;
	return err;
}

static int bind_device(struct context *ctx, const struct xv_device *device, const char *name)
{
	struct xverbs_device *dev;
	int n, node = -1, err;

	dev = xv_fetch_devices(&n);
	if (!dev)
		return -errno;
	n = choose(dev, n, device, name, &node);
	err = n < 0 ? n : bind_file(ctx, &dev[n], node);
	if (node >= 0)
		close(node);
	free(dev);
	return err;
}

static bool fits(uint32_t version)
{
	return version >> 16 == XV_VERSION_MAJOR &&
	       (XV_VERSION_MAJOR > 0 || (version >> 8 & 0xff) == XV_VERSION_MINOR);
}

static struct xv_context *open_context(const struct xv_device *device, const char *name,
				       uint32_t version)
{
	struct error_state before;
	struct context *ctx;
	int err;

	if (!fits(version))
		return xv_set_error_null(EPROTONOSUPPORT, "open: the program was compiled for "
					 "libxverbs %u.%u.%u, this is %s; compile it again",
					 version >> 16, version >> 8 & 0xff, version & 0xff,
					 xv_version());
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return xv_set_error_null(ENOMEM, "open: out of memory");
	xv_error_save(&before);
	pthread_mutex_init(&ctx->lock, NULL);
	pthread_mutex_init(&ctx->blueflame_lock, NULL);
	ctx->task_lock.on = 1;
	ctx->owner = getpid();
	ctx->pub.fd = xv_open_file();
	err = ctx->pub.fd;
	if (err >= 0)
		err = bind_device(ctx, device, name);
	if (err) {
		if (ctx->pub.fd >= 0)
			close(ctx->pub.fd);
		free(ctx);
		errno = -err;
		return NULL;
	}
	xv_error_restore(&before);
	return &ctx->pub;
}

XV_EXPORT struct xv_context *xv_open_v(const char *name, uint32_t version)
{
	return open_context(NULL, name, version);
}

XV_EXPORT struct xv_context *xv_open_device_v(const struct xv_device *device, uint32_t version)
{
	return open_context(device, NULL, version);
}

XV_EXPORT int xv_close(struct xv_context *pub)
{
	struct context *ctx = to_ctx(pub);
	struct error_state before;

	xv_error_save(&before);
	xv_object_destroy_all(ctx);
	xv_unmap(&ctx->clock_map);
	xv_unmap(&ctx->alive_map);
	close(ctx->pub.fd);
	xv_rsc_free_all(ctx);
	pthread_mutex_destroy(&ctx->blueflame_lock);
	pthread_mutex_destroy(&ctx->lock);
	free(ctx);
	xv_error_restore(&before);
	return 0;
}
