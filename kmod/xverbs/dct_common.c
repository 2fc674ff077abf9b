// SPDX-License-Identifier: GPL-2.0
/* DC targets: what the verbs, events and rights to P_Keys share */
#include <linux/mlx5/device.h>

#include "dct.h"
#include "fw.h"

#define XV_DRAIN_LIMIT		(10 * HZ)

int xv_dct_begin_drain(struct xv_dev *dev, struct xv_call *call,
		       struct xv_dct_obj *dct)
{
	int err;

	if (dct->drain_end)
		return 0;
	err = xv_fw_drain_dct(dev, call, dct->dctn);
	if (!err)
		dct->drain_end = get_jiffies_64() + XV_DRAIN_LIMIT;
	return err;
}

void xv_dct_eq_release(struct xv_dev *dev)
{
	atomic_dec(&dev->n_armed);
}

/*
 * Called in interrupts.  The lock of the xarray protects the target, because a target
 * is removed from the xarray before it is freed.
 */
void xv_dct_event(struct xv_dev *dev, u32 dctn, unsigned long fw_type)
{
	struct xv_dct_obj *dct;
	unsigned long irq;
	int type = -1;

	xa_lock_irqsave(&dev->dcts, irq);
	dct = xa_load(&dev->dcts, dctn);
	if (!dct)
		goto out;
	switch (fw_type) {
	case MLX5_EVENT_TYPE_DCT_DRAINED:
		complete_all(&dct->drained);
		break;
	case MLX5_EVENT_TYPE_DCT_KEY_VIOLATION:
		if (xchg(&dct->arm_state, XVERBS_DCT_FIRED) == XVERBS_DCT_ARMED)
			xv_dct_eq_release(dev);
		type = XVERBS_EVENT_DCT_KEY_VIOLATION;
		break;
	case MLX5_EVENT_TYPE_WQ_ACCESS_ERROR:
		type = XVERBS_EVENT_DCT_ACCESS_ERR;
		break;
	case MLX5_EVENT_TYPE_WQ_INVAL_REQ_ERROR:
		type = XVERBS_EVENT_DCT_REQ_ERR;
		break;
	}
	if (type >= 0)
		xv_event_async(&dct->obj.file->async, &dct->obj.events, type);
out:
	xa_unlock_irqrestore(&dev->dcts, irq);
}
