// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA devices: the list of devices, the files bound to them, their events, and their
 * removal.
 *
 * A file is in xv_dev.files if, and only if, xv_file.dev points to the device.  Removal
 * of a device empties the list before it returns.
 */
#include <linux/device.h>
#include <linux/dma-map-ops.h>
#include <linux/mlx5/eq.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/pci.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/swiotlb.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>

#include "dct.h"
#include "qp.h"
#include "xrc_base.h"
#include "xv.h"

static bool bind_by_name;
module_param(bind_by_name, bool, 0644);
MODULE_PARM_DESC(bind_by_name, "give every process every device (for older libraries)");

static DEFINE_MUTEX(xv_devs_lock);	/* protects xv_devs */
static LIST_HEAD(xv_devs);

static void xv_dev_release(struct device *node)
{
	struct xv_dev *dev = container_of(node, struct xv_dev, node);

	xa_destroy(&dev->qps);
	xa_destroy(&dev->srqs);
	xa_destroy(&dev->dcts);
	kfree(dev);
}

void xv_dev_get(struct xv_dev *dev)
{
	get_device(&dev->node);
}

void xv_dev_put(struct xv_dev *dev)
{
	put_device(&dev->node);
}

void xv_dev_unbind(struct xv_dev *dev, struct xv_file *file)
{
	mutex_lock(&dev->files_lock);
	list_del_init(&file->dev_node);
	mutex_unlock(&dev->files_lock);
}

/* From now on, events of the number go to @entry. */
int xv_number_add(struct xarray *numbers, u32 number, void *entry)
{
	return xa_err(xa_store_irq(numbers, number, entry, XV_GFP));
}

/*
 * Called after the adapter has destroyed @entry.  Its number may be in use again, so
 * the entry of another object is not deleted.
 */
void xv_number_del(struct xarray *numbers, u32 number, void *entry)
{
	xa_cmpxchg_irq(numbers, number, entry, NULL, 0);
}

/* ---- Events ------------------------------------------------------------------- */

/* Converts a firmware event to an event of the API; -1: not an event of the API. */
static int xv_fw_event_type(unsigned long type)
{
	switch (type) {
	case MLX5_EVENT_TYPE_PATH_MIG:
		return XVERBS_EVENT_PATH_MIG;
	case MLX5_EVENT_TYPE_COMM_EST:
		return XVERBS_EVENT_COMM_EST;
	case MLX5_EVENT_TYPE_SQ_DRAINED:
		return XVERBS_EVENT_SQ_DRAINED;
	case MLX5_EVENT_TYPE_SRQ_LAST_WQE:
		return XVERBS_EVENT_QP_LAST_WQE_REACHED;
	case MLX5_EVENT_TYPE_WQ_CATAS_ERROR:
		return XVERBS_EVENT_QP_FATAL;
	case MLX5_EVENT_TYPE_PATH_MIG_FAILED:
		return XVERBS_EVENT_PATH_MIG_ERR;
	case MLX5_EVENT_TYPE_WQ_INVAL_REQ_ERROR:
		return XVERBS_EVENT_QP_REQ_ERR;
	case MLX5_EVENT_TYPE_WQ_ACCESS_ERROR:
		return XVERBS_EVENT_QP_ACCESS_ERR;
	case MLX5_EVENT_TYPE_SRQ_CATAS_ERROR:
		return XVERBS_EVENT_SRQ_ERR;
	case MLX5_EVENT_TYPE_SRQ_RQ_LIMIT:
		return XVERBS_EVENT_SRQ_LIMIT_REACHED;
	default:
		return -1;
	}
}

static void xv_handle_event(struct xv_qp_obj *h, int type)
{
	xv_event_async(&h->obj.file->async, &h->obj.events, type);
}

/* Gives the raised events of a target of an XRC domain to all its handles. */
void xv_qp_deliver_events(struct work_struct *work)
{
	struct xv_dev_qp *qp = container_of(work, struct xv_dev_qp, deliver);
	unsigned long raised = xchg(&qp->raised, 0);
	struct xv_qp_obj *h;
	int type;

	mutex_lock(&qp->handles_lock);
	list_for_each_entry(h, &qp->handles, node)
		for_each_set_bit(type, &raised, BITS_PER_LONG)
			xv_handle_event(h, type);
	mutex_unlock(&qp->handles_lock);
}

/*
 * A target of an XRC domain may have many handles, so a work item visits them.  Events of
 * other queue pairs reach the file in the order in which the adapter raised them.
 */
void xv_qp_event(struct xv_dev_qp *qp, int type)
{
	if (type == XVERBS_EVENT_SQ_DRAINED && !READ_ONCE(qp->want_drained))
		return;
	if (qp->domain) {
		set_bit(type, &qp->raised);
		xv_compat_queue_work(&qp->deliver);
	} else if (qp->handle) {
		xv_handle_event(qp->handle, type);
	}
}

static_assert(XVERBS_EVENT_QP_LAST_WQE_REACHED < BITS_PER_LONG);

static void xv_srq_event(struct xv_obj *srq, int type)
{
	xv_event_async(&srq->file->async, &srq->events, type);
}

/* The number of a DC target is where other events have that of a QP or SRQ. */
static bool xv_is_dct_event(unsigned long fw_type, const struct mlx5_eqe *eqe)
{
	BUILD_BUG_ON(offsetof(struct mlx5_eqe, data.dct.dctn) !=
		     offsetof(struct mlx5_eqe, data.qp_srq.qp_srq_n));
	switch (fw_type) {
	case MLX5_EVENT_TYPE_DCT_DRAINED:
		return true;
	case MLX5_EVENT_TYPE_WQ_ACCESS_ERROR:
	case MLX5_EVENT_TYPE_WQ_INVAL_REQ_ERROR:
		return eqe->data.qp_srq.type == MLX5_EVENT_QUEUE_TYPE_DCT;
	default:
		return false;
	}
}

/*
 * Called in interrupts, for events of all users of the adapter: nothing here takes longer
 * when a process has more objects.  The lock of the xarray protects the object, because an
 * object is removed from the xarray before it is freed.
 */
static int xv_dev_fw_event(struct notifier_block *nb, unsigned long fw_type,
			   void *data)
{
	struct xv_dev *dev = container_of(nb, struct xv_dev, fw_events);
	int type = xv_fw_event_type(fw_type);
	struct mlx5_eqe *eqe = data;
	unsigned long irq;
	bool srq;
	u32 number;
	void *entry;

	/* Events that mlx5_core itself raises have no entry of an event queue. */
	if (type < 0 && fw_type != MLX5_EVENT_TYPE_DCT_DRAINED)
		return NOTIFY_DONE;
	number = be32_to_cpu(eqe->data.qp_srq.qp_srq_n) & 0xffffff;
	if (xv_is_dct_event(fw_type, eqe)) {
		xv_dct_event(dev, number, fw_type);
		return NOTIFY_OK;
	}
	srq = type == XVERBS_EVENT_SRQ_ERR ||
	      type == XVERBS_EVENT_SRQ_LIMIT_REACHED;
	/* RQs and SQs have other number spaces than QPs. */
	if (!srq && eqe->data.qp_srq.type != MLX5_EVENT_QUEUE_TYPE_QP)
		return NOTIFY_DONE;
	xa_lock_irqsave(srq ? &dev->srqs : &dev->qps, irq);
	entry = xa_load(srq ? &dev->srqs : &dev->qps, number);
	if (entry && srq)
		xv_srq_event(entry, type);
	else if (entry)
		xv_qp_event(entry, type);
	xa_unlock_irqrestore(srq ? &dev->srqs : &dev->qps, irq);
	return NOTIFY_OK;
}

static_assert((int)IB_EVENT_DEVICE_FATAL == XVERBS_EVENT_DEVICE_FATAL);
static_assert((int)IB_EVENT_GID_CHANGE == XVERBS_EVENT_GID_CHANGE);
static_assert((int)IB_EVENT_CLIENT_REREGISTER ==
	      XVERBS_EVENT_CLIENT_REREGISTER);

/*
 * Port and device events go to all files bound to the device.  ib_core calls this in a work
 * item.
 */
static void xv_dev_ib_event(struct ib_event_handler *handler,
			    struct ib_event *event)
{
	struct xv_dev *dev = container_of(handler, struct xv_dev, ib_events);
	struct xv_file *file;
	u32 source = 0;

	switch (event->event) {
	case IB_EVENT_DEVICE_FATAL:
		break;
	case IB_EVENT_PORT_ACTIVE:
	case IB_EVENT_PORT_ERR:
	case IB_EVENT_LID_CHANGE:
	case IB_EVENT_PKEY_CHANGE:
	case IB_EVENT_SM_CHANGE:
	case IB_EVENT_CLIENT_REREGISTER:
	case IB_EVENT_GID_CHANGE:
		source = event->element.port_num;
		break;
	default:
		return;
	}
	xv_security_event(dev, event->event);
	mutex_lock(&dev->files_lock);
	list_for_each_entry(file, &dev->files, dev_node) {
		if (source < file->n_sources)
			xv_event_async(&file->async, &file->sources[source],
				       event->event);
		cond_resched();
	}
	mutex_unlock(&dev->files_lock);
}

/* ---- ib_core client -------------------------------------------------------------- */

/*
 * A CQE must have the user index of its queue.  The CQEs of Connect-IB, the oldest
 * adapter of the family, have queue numbers there, so that a completion would be
 * attributed to the wrong queue.
 */
static const char *xv_dev_caps_why_not(struct mlx5_core_dev *mdev)
{
	if (MLX5_CAP_GEN(mdev, cqe_version) != 1)
		return "too old: its CQEs have no user index (cqe_version is not 1)";
	return NULL;
}

/*
 * Process and adapter share rings without DMA synchronisation, so DMA must be coherent.
 * dma_alloc_coherent() would work on all devices, but its pages cannot stay allocated
 * after the queue is destroyed, as long as a process maps them.
 */
static const char *xv_dma_why_not(struct device *dma)
{
	if (!dev_is_dma_coherent(dma))
		return "its DMA is not coherent with the CPU caches";
	if (is_swiotlb_force_bounce(dma))
		return "its DMA uses bounce buffers (swiotlb)";
	return NULL;
}

/* Finds the adapter of a device; returns NULL, or the reason why it cannot be used. */
static const char *xv_dev_probe(struct xv_dev *dev)
{
	struct device *parent = dev->ib->dev.parent;

	if (dev->ib->ops.driver_id != RDMA_DRIVER_MLX5)
		return "not a ConnectX adapter (its driver is not mlx5)";
	if (!parent || !dev_is_pci(parent))
		return "not a PCI function (subfunctions are not supported)";
	dev->mdev = pci_get_drvdata(to_pci_dev(parent));
	if (!dev->mdev)
		return "no mlx5_core device";
	return xv_dma_why_not(dev->mdev->device) ?:
	       xv_dev_caps_why_not(dev->mdev);
}

static void xv_dev_stop(struct xv_dev *dev)
{
	ib_unregister_event_handler(&dev->ib_events);
	xv_security_del(dev);
	mlx5_notifier_unregister(dev->mdev, &dev->fw_events);
}

/* Returns NULL, or the reason why the device cannot be used. */
static const char *xv_dev_start(struct xv_dev *dev)
{
	xv_security_add(dev);
	dev->fw_events.notifier_call = xv_dev_fw_event;
	mlx5_notifier_register(dev->mdev, &dev->fw_events);
	INIT_IB_EVENT_HANDLER(&dev->ib_events, dev->ib, xv_dev_ib_event);
	ib_register_event_handler(&dev->ib_events);
	/* From now on, files can bind to the device. */
	if (!xv_node_add(dev))
		return NULL;
	xv_dev_stop(dev);
	return "its device node cannot be created (no memory or minor number)";
}

/* Called by ib_core with a lock that keeps the name. */
static void xv_dev_set_name(struct xv_dev *dev)
{
	spin_lock(&dev->name_lock);
	strscpy(dev->name, dev_name(&dev->ib->dev), sizeof(dev->name));
	spin_unlock(&dev->name_lock);
}

void xv_dev_name(struct xv_dev *dev, char name[XVERBS_NAME_MAX])
{
	spin_lock(&dev->name_lock);
	strscpy(name, dev->name, XVERBS_NAME_MAX);
	spin_unlock(&dev->name_lock);
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

/* Returns a file bound to @dev with a reference, or NULL if there is none. */
static struct xv_file *xv_dev_first_file(struct xv_dev *dev)
{
	struct xv_file *file;

	mutex_lock(&dev->files_lock);
	WRITE_ONCE(dev->gone, true);
	file = list_first_entry_or_null(&dev->files, struct xv_file, dev_node);
	/* A file is unbound before its last reference is dropped. */
	if (file)
		kref_get(&file->ref);
	mutex_unlock(&dev->files_lock);
	return file;
}

static void xv_dev_remove_files(struct xv_dev *dev)
{
	unsigned long deadline = jiffies + XV_REMOVE_TIMEOUT;
	struct xv_file *file;

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
		xv_dev_stop(dev);
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

/* Called before the removal of the device ends */
bool xv_dev_visible(const struct xv_dev *dev)
{
	return rdma_dev_access_netns(dev->ib, current->nsproxy->net_ns);
}

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
