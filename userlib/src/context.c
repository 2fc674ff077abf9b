// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Devices and contexts.  A context is one open file of /dev/xverbs, bound to
 * one RDMA device; closing the file destroys whatever is left in it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "internal.h"

#define XV_DEVICE_FILE	"/dev/xverbs"

static int open_file(void)
{
	int fd = open(XV_DEVICE_FILE, O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	if (errno == ENOENT)
		return xv_set_error(ENOENT, "%s does not exist: is xverbs.ko loaded?",
				    XV_DEVICE_FILE);
	return xv_set_error(errno, "%s: %s", XV_DEVICE_FILE, strerror(errno));
}

static int list_devices(int fd, struct xverbs_device *dev, uint32_t count)
{
	struct xverbs_list_devices req = {
		.devices = (uintptr_t)dev,
		.count = count,
		.entry_size = sizeof(*dev),
	};
	int err = xv_ioctl(fd, XVERBS_LIST_DEVICES, "device list", &req, sizeof(req));

	return err ? err : (int)req.out_count;
}

/* Devices may come while we count them: ask until all fit. */
static struct xverbs_device *fetch_devices(int *num)
{
	struct xverbs_device *dev = NULL, *more;
	int fd = open_file(), room = 8, n;

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	for (;;) {
		more = realloc(dev, (size_t)room * sizeof(*dev));
		if (!more) {
			n = xv_set_error(ENOMEM, "device list: out of memory");
			break;
		}
		dev = more;
		n = list_devices(fd, dev, (uint32_t)room);
		if (n <= room)
			break;
		room = n;
	}
	close(fd);
	if (n < 0) {
		free(dev);
		errno = -n;
		return NULL;
	}
	*num = n;
	return dev;
}

/* sysfs says "1: CA" */
static enum xv_node_type node_type_of(const char *path)
{
	char file[sizeof(((struct xv_device *)0)->ibdev_path) + sizeof("/node_type")];
	int type = XV_NODE_UNKNOWN;
	FILE *f;

	snprintf(file, sizeof(file), "%s/node_type", path);
	f = fopen(file, "re");
	if (!f)
		return XV_NODE_UNKNOWN;
	if (fscanf(f, "%d", &type) != 1 || type < XV_NODE_CA || type > XV_NODE_UNSPECIFIED)
		type = XV_NODE_UNKNOWN;
	fclose(f);
	return (enum xv_node_type)type;
}

static enum xv_transport_type transport_of(enum xv_node_type type)
{
	switch (type) {
	case XV_NODE_CA:
	case XV_NODE_SWITCH:
	case XV_NODE_ROUTER:
		return XV_TRANSPORT_IB;
	case XV_NODE_RNIC:
		return XV_TRANSPORT_IWARP;
	case XV_NODE_USNIC:
		return XV_TRANSPORT_USNIC;
	case XV_NODE_USNIC_UDP:
		return XV_TRANSPORT_USNIC_UDP;
	case XV_NODE_UNSPECIFIED:
		return XV_TRANSPORT_UNSPECIFIED;
	default:
		return XV_TRANSPORT_UNKNOWN;
	}
}

static struct xv_device *device_from_kernel(const struct xverbs_device *k)
{
	struct xv_device *dev = calloc(1, sizeof(*dev));

	if (!dev)
		return NULL;
	memcpy(dev->name, k->name, sizeof(dev->name) - 1);
	memcpy(dev->why_not, k->why_not, sizeof(dev->why_not) - 1);
	dev->node_guid = k->node_guid;
	dev->index = k->index;
	dev->ports = k->ports;
	dev->vendor_id = k->vendor_id;
	dev->part_id = k->part_id;
	dev->available = k->available;
	strcpy(dev->dev_name, "xverbs");
	strcpy(dev->dev_path, "/sys/class/misc/xverbs");
	snprintf(dev->ibdev_path, sizeof(dev->ibdev_path), "/sys/class/infiniband/%s", dev->name);
	dev->node_type = node_type_of(dev->ibdev_path);
	dev->transport_type = transport_of(dev->node_type);
	return dev;
}

XV_EXPORT const char *xv_get_device_name(const struct xv_device *device)
{
	return device->name;
}

XV_EXPORT uint64_t xv_get_device_guid(const struct xv_device *device)
{
	return device->node_guid;
}

XV_EXPORT void xv_free_device_list(struct xv_device **list)
{
	size_t i;

	for (i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

XV_EXPORT struct xv_device **xv_get_device_list(int *num)
{
	struct xverbs_device *k;
	struct xv_device **list;
	int n, i;

	k = fetch_devices(&n);
	if (!k)
		return NULL;
	list = calloc((size_t)n + 1, sizeof(*list));
	for (i = 0; list && i < n; i++) {
		list[i] = device_from_kernel(&k[i]);
		if (!list[i]) {
			xv_free_device_list(list);
			list = NULL;
		}
	}
	free(k);
	if (!list)
		return xv_set_error_null(ENOMEM, "device list: out of memory");
	if (num)
		*num = n;
	return list;
}

/* The first device that can be opened */
static int first_available(struct xverbs_device *found)
{
	struct xverbs_device *dev;
	int n, i, err;

	dev = fetch_devices(&n);
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
		err = xv_set_error(ENODEV, "there is no RDMA device");
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
	struct xverbs_bind req = { .hdr.flags = XVERBS_BIND_BY_INDEX, .index = index };

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
	ctx->owner = getpid();
	ctx->pub.fd = open_file();
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
	close(ctx->pub.fd);
	xv_rsc_free_all(ctx);
	pthread_mutex_destroy(&ctx->lock);
	free(ctx);
	return 0;
}
