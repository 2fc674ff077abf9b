// SPDX-License-Identifier: GPL-2.0
/*
 * The ib_core client: the list of RDMA devices, their addition and removal, and the calls that
 * find a device in the list: LIST_DEVICES, BIND.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "charge.h"
#include "dct.h"
#include "device.h"
#include "file.h"
#include "pd.h"
#include "xrc_base.h"

static bool bind_by_name;
module_param(bind_by_name, bool, 0644);
MODULE_PARM_DESC(bind_by_name, "give every process every device (for older libraries)");

static DEFINE_MUTEX(xv_devs_lock);	/* protects xv_devs */
static LIST_HEAD(xv_devs);

/* ---- Addition and removal -------------------------------------------------------- */

static void xv_dev_release(struct device *node)
{
	struct xv_dev *dev = container_of(node, struct xv_dev, node);

	xa_destroy(&dev->qps);
	xa_destroy(&dev->srqs);
	xa_destroy(&dev->dcts);
	kfree(dev);
}

/* Returns NULL, or the reason why the device cannot be used. */
static const char *xv_dev_start(struct xv_dev *dev)
{
	xv_events_start(dev);
	/* From now on, files can bind to the device. */
	if (!xv_node_add(dev))
		return NULL;
	xv_events_stop(dev);
	return "its device node cannot be created (no memory or minor number)";
}

static int xv_dev_add(struct ib_device *ib)
{
	struct xv_dev *dev;

	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return -ENOMEM;
	xv_node_init(dev, xv_dev_release);
	dev->node.parent = ib->dev.parent;
	dev->ib = ib;
	spin_lock_init(&dev->name_lock);
	xv_dev_set_name(dev);
	dev->ports = ib->phys_port_cnt;
	mutex_init(&dev->files_lock);
	INIT_LIST_HEAD(&dev->files);
	INIT_LIST_HEAD(&dev->kept_imports);
	mutex_init(&dev->xrc_lock);
	mutex_init(&dev->dct_lock);
	INIT_LIST_HEAD(&dev->xrc_domains);
	xa_init_flags(&dev->qps, XA_FLAGS_LOCK_IRQ | XA_FLAGS_ACCOUNT);
	xa_init_flags(&dev->srqs, XA_FLAGS_LOCK_IRQ | XA_FLAGS_ACCOUNT);
	xa_init_flags(&dev->dcts, XA_FLAGS_LOCK_IRQ | XA_FLAGS_ACCOUNT);
	dev->why_not = xv_dev_probe(dev) ?: xv_dev_start(dev);
	xv_resources_add(dev);
	mutex_lock(&xv_devs_lock);
	list_add_tail(&dev->list, &xv_devs);
	mutex_unlock(&xv_devs_lock);
	return 0;
}

static void xv_dev_remove_files(struct xv_dev *dev)
{
	unsigned long deadline = jiffies + XV_REMOVE_TIMEOUT;
	struct xv_file *file;

	xv_dev_close_binding(dev);
	while ((file = xv_dev_first_file(dev))) {
		xv_file_disassociate(file, deadline);
		xv_file_put(file);
	}
}

static struct xv_dev *xv_dev_find(struct ib_device *ib)
{
	struct xv_dev *dev;

	list_for_each_entry(dev, &xv_devs, list)
		if (dev->ib == ib)
			return dev;
	return NULL;
}

static void xv_dev_remove(struct ib_device *ib, void *client_data)
{
	struct xv_dev *dev;

	mutex_lock(&xv_devs_lock);
	dev = xv_dev_find(ib);
	if (dev)
		list_del(&dev->list);
	mutex_unlock(&xv_devs_lock);
	if (!dev)
		return;

	if (!dev->why_not)
		xv_node_del(dev);
	xv_resources_del(dev);
	xv_dev_remove_files(dev);
	xv_imports_exit(dev);
	if (!dev->why_not) {
		xv_xrc_base_exit(dev);
		xv_dct_eq_exit(dev);
		xv_events_stop(dev);
	}
	xv_dev_put(dev);
}

static void xv_dev_renamed(struct ib_device *ib, void *client_data)
{
	struct xv_dev *dev;

	mutex_lock(&xv_devs_lock);
	dev = xv_dev_find(ib);
	if (dev)
		xv_dev_set_name(dev);
	mutex_unlock(&xv_devs_lock);
}

static struct ib_client xv_client = {
	.name = "xverbs",
	.add = xv_dev_add,
	.rename = xv_dev_renamed,
	.remove = xv_dev_remove,
};

int xv_devices_init(void)
{
	return ib_register_client(&xv_client);
}

void xv_devices_exit(void)
{
	ib_unregister_client(&xv_client);
}

/* ---- LIST_DEVICES, BIND -------------------------------------------------------------- */

static void xv_dev_describe(struct xv_dev *dev, struct xverbs_device *out)
{
	memset(out, 0, sizeof(*out));
	out->node_guid = (__force u64)dev->ib->node_guid;
	out->index = dev->ib->index;
	out->ports = dev->ib->phys_port_cnt;
	out->vendor_id = dev->ib->attrs.vendor_id;
	out->part_id = dev->ib->attrs.vendor_part_id;
	out->available = !dev->why_not;
	xv_dev_name(dev, out->name);
	if (dev->why_not)
		strscpy(out->why_not, dev->why_not, sizeof(out->why_not));
	else
		strscpy(out->node, dev_name(&dev->node), sizeof(out->node));
}

/* Fills in up to @room visible devices; returns the number of all visible devices. */
static u32 xv_devs_collect(struct xverbs_device *list, u32 room)
{
	struct xv_dev *dev;
	u32 n = 0;

	mutex_lock(&xv_devs_lock);
	list_for_each_entry(dev, &xv_devs, list) {
		if (!xv_dev_visible(dev))
			continue;
		if (n < room)
			xv_dev_describe(dev, &list[n]);
		n++;
	}
	mutex_unlock(&xv_devs_lock);
	return n;
}

int xv_device_list(struct xv_call *call)
{
	struct xverbs_list_devices *arg = &call->arg.list_devices;
	struct xverbs_device *list;
	int err = 0;
	u32 room;

	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	if (arg->count)
		err = xv_check_entry_size(call, arg->entry_size,
					  offsetofend(struct xverbs_device,
						      why_not));
	if (err)
		return err;
	room = min(arg->count, xv_devs_collect(NULL, 0));
	list = kvcalloc(max(room, 1u), sizeof(*list), XV_GFP);
	if (!list)
		return -ENOMEM;
	arg->out_count = xv_devs_collect(list, room);
	call->entries = (struct xv_entries) {
		.list = list,
		.n = min(room, arg->out_count),
		.size = sizeof(*list),
		.to = arg->devices,
		.to_size = arg->entry_size,
	};
	return 0;
}

static bool xv_dev_matches(struct xv_dev *dev, const struct xverbs_bind *arg)
{
	char name[XVERBS_NAME_MAX];

	if (arg->hdr.flags & XVERBS_BIND_BY_INDEX)
		return dev->ib->index == arg->index;
	xv_dev_name(dev, name);
	return !strcmp(name, arg->name);
}

/* Returns the device with the name or index, with a reference. */
static struct xv_dev *xv_bind_find(struct xv_call *call)
{
	struct xverbs_bind *arg = &call->arg.bind;
	struct xv_dev *dev;

	if (!READ_ONCE(bind_by_name))
		return ERR_PTR(xv_fail(call, -EPERM,
				       "this needs an open descriptor of /dev/infiniband/xverbsN (a newer libxverbs), or the module parameter bind_by_name"));
	arg->name[XVERBS_NAME_MAX - 1] = 0;
	mutex_lock(&xv_devs_lock);
	list_for_each_entry(dev, &xv_devs, list) {
		if (xv_dev_visible(dev) && xv_dev_matches(dev, arg)) {
			xv_dev_get(dev);
			mutex_unlock(&xv_devs_lock);
			return dev;
		}
	}
	mutex_unlock(&xv_devs_lock);
	return ERR_PTR(arg->hdr.flags & XVERBS_BIND_BY_INDEX ?
		       xv_fail(call, -ENOENT, "no RDMA device with index %u",
			       arg->index) :
		       xv_fail(call, -ENOENT, "no RDMA device %s", arg->name));
}

/* Returns the requested device with a reference. */
static struct xv_dev *xv_bind_device(struct xv_call *call)
{
	struct xverbs_bind *arg = &call->arg.bind;

	if (!(arg->hdr.flags & XVERBS_BIND_BY_FD)) {
		if (arg->fd)
			return ERR_PTR(xv_fail(call, -EINVAL,
					       "fd without XVERBS_BIND_BY_FD"));
		return xv_bind_find(call);
	}
	if (arg->hdr.flags & XVERBS_BIND_BY_INDEX)
		return ERR_PTR(xv_fail(call, -EINVAL,
				       "XVERBS_BIND_BY_INDEX with XVERBS_BIND_BY_FD"));
	return xv_node_get_dev(call, arg->fd);
}

/* Called under files_lock: while @gone is false, the RDMA device exists. */
static int xv_bind_allowed(struct xv_call *call, struct xv_dev *dev)
{
	if (dev->gone)
		return xv_fail(call, -ENODEV, "the device was removed");
	if (!xv_dev_visible(dev))
		return xv_fail(call, -EPERM,
			       "the device belongs to another network namespace");
	return xv_cgroup_charge(call, dev, &call->file->cgroup,
				RDMACG_RESOURCE_HCA_HANDLE);
}

static int xv_bind_file(struct xv_call *call, struct xv_dev *dev, u32 event_size)
{
	struct xverbs_bind *arg = &call->arg.bind;
	struct xv_file *file = call->file;
	int err;

	mutex_lock(&dev->files_lock);
	err = xv_bind_allowed(call, dev);
	if (!err) {
		file->number = ++dev->n_bound;
		list_add_tail(&file->dev_node, &dev->files);
		file->dev = dev;
		WRITE_ONCE(file->async.event_size, event_size);
		arg->index = dev->ib->index;
		arg->out_alive = xv_mapping_user(&file->alive);
		xv_dev_name(dev, arg->name);
	}
	mutex_unlock(&dev->files_lock);
	return err;
}

int xv_bind(struct xv_call *call)
{
	struct xverbs_bind *arg = &call->arg.bind;
	struct xv_file *file = call->file;
	struct xv_dev *dev;
	u32 event_size;
	int err;

	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	if (file->dev)
		return xv_fail(call, -EBUSY, "the file is already bound");
	err = xv_event_size(call, arg->async_event_size,
			    offsetofend(struct xverbs_async_event, reserved),
			    &event_size);
	if (err)
		return err;
	dev = xv_bind_device(call);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	if (dev->why_not) {
		err = xv_fail(call, -EOPNOTSUPP, "%s", dev->why_not);
		goto err_dev;
	}
	err = xv_file_init_sources(file, dev->ports);
	if (err)
		goto err_dev;
	err = xv_alive_map(file);
	if (err)
		goto err_sources;
	err = xv_bind_file(call, dev, event_size);
	if (err)
		goto err_alive;
	return 0;

err_alive:
	xv_mapping_del(file, &file->alive);
err_sources:
	/* The next device may have another number of ports. */
	xv_file_free_sources(file);
err_dev:
	xv_dev_put(dev);
	return err;
}
