// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The list of RDMA devices.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "internal.h"

#define XV_DEVICE_FILE	"/dev/xverbs"
#define XV_NODE_DIR	"/dev/infiniband"

int xv_open_file(void)
{
	int fd = open(XV_DEVICE_FILE, O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	if (errno == ENOENT)
		return xv_set_error(ENOENT, "%s does not exist: is xverbs.ko loaded?",
				    XV_DEVICE_FILE);
	return xv_set_error(errno, "%s: %s", XV_DEVICE_FILE, strerror(errno));
}

int xv_open_node(const struct xverbs_device *dev, char *reason, size_t size)
{
	char path[sizeof(XV_NODE_DIR) + 1 + sizeof(dev->node)];
	int fd, err;

	snprintf(path, sizeof(path), XV_NODE_DIR "/%.*s", (int)sizeof(dev->node) - 1, dev->node);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	err = errno;
	snprintf(reason, size, "%s: %s", path, strerror(err));
	return -err;
}

static int list_devices(int fd, struct xverbs_device *dev, uint32_t count)
{
	struct xverbs_list_devices req = {
		.devices = (uintptr_t)dev,
		.count = count,
		.entry_size = sizeof(*dev),
	};
	int err = xv_ioctl_file(fd, NULL, XVERBS_LIST_DEVICES, "device list", &req,
				sizeof(req));

	xv_is_written(dev, count * sizeof(*dev));
	return err ? err : (int)req.out_count;
}

/* Repeats with a larger array if the number of devices has grown. */
struct xverbs_device *xv_fetch_devices(int *num)
{
	struct xverbs_device *dev = NULL, *more;
	int fd = xv_open_file(), room = 8, n;

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

/* The file has a line like "1: CA". */
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

/*
 * A device that xverbs.ko cannot use has no node.  With the first versions of xverbs.ko, all
 * devices have the same one.
 */
static void set_node(struct xv_device *dev, const struct xverbs_device *k)
{
	int fd;

	if (!k->available)
		return;
	if (!k->node[0]) {
		strcpy(dev->dev_name, "xverbs");
		strcpy(dev->dev_path, "/sys/class/misc/xverbs");
		return;
	}
	memcpy(dev->dev_name, k->node, sizeof(k->node) - 1);
	snprintf(dev->dev_path, sizeof(dev->dev_path), "/sys/class/xverbs/%s", dev->dev_name);
	fd = xv_open_node(k, dev->why_not, sizeof(dev->why_not));
	dev->available = fd >= 0;
	if (fd >= 0)
		close(fd);
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
	set_node(dev, k);
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
	int before = errno, n, i;

	k = xv_fetch_devices(&n);
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
	errno = before;
	return list;
}
