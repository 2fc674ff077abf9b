// SPDX-License-Identifier: GPL-2.0
/*
 * Events of a device: those of the firmware go to the files of the queue, those of ib_core, about
 * ports and the device, to all files bound to the device.
 */
#include <linux/mlx5/device.h>

#include "dct.h"
#include "device.h"
#include "qp.h"

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

/* Events come from now on. */
void xv_events_start(struct xv_dev *dev)
{
	xv_security_add(dev);
	dev->fw_events.notifier_call = xv_dev_fw_event;
	mlx5_notifier_register(dev->mdev, &dev->fw_events);
	INIT_IB_EVENT_HANDLER(&dev->ib_events, dev->ib, xv_dev_ib_event);
	ib_register_event_handler(&dev->ib_events);
}

void xv_events_stop(struct xv_dev *dev)
{
	ib_unregister_event_handler(&dev->ib_events);
	xv_security_del(dev);
	mlx5_notifier_unregister(dev->mdev, &dev->fw_events);
}
