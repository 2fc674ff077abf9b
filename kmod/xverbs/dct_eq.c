// SPDX-License-Identifier: GPL-2.0
/*
 * The event queue for key violations of DC targets.  The event queues of mlx5_core
 * are not subscribed to this type of event.
 *
 * An armed target writes one entry.  So that the queue cannot overrun, it has room for twice
 * as many entries as there can be armed targets: those of targets that fire and are armed
 * again or destroyed before the interrupt come in addition.
 */
#include <linux/mlx5/device.h>
#include <linux/mlx5/eq.h>
#include <linux/slab.h>

#include "dct.h"
#include "fw.h"

/* mlx5_core adds spare ones and rounds up to a power of two. */
#define XV_DCT_EQ_ENTRIES	(XV_DCT_MAX_ARMED + 1)

/**
 * struct xv_dct_eq - the event queue
 * @dev: the device
 * @core: queue of mlx5_core
 * @irq: called in the interrupt that the queue shares with those of mlx5_core
 */
struct xv_dct_eq {
	struct xv_dev *dev;
	struct mlx5_eq *core;
	struct notifier_block irq;
};

static int xv_dct_eq_interrupt(struct notifier_block *nb, unsigned long action,
			       void *data)
{
	struct xv_dct_eq *eq = container_of(nb, struct xv_dct_eq, irq);
	struct mlx5_eqe *eqe;
	u32 cc = 0, budget;

	/* If entries are left, the adapter raises the next interrupt at once. */
	for (budget = MLX5_NUM_SPARE_EQE; budget; budget--) {
		eqe = mlx5_eq_get_eqe(eq->core, cc);
		if (!eqe)
			break;
		xv_dct_event(eq->dev, be32_to_cpu(eqe->data.dct.dctn) & 0xffffff,
			     eqe->type);
		cc = mlx5_eq_update_cc(eq->core, ++cc);
	}
	mlx5_eq_update_ci(eq->core, cc, true);
	return NOTIFY_DONE;
}

static struct xv_dct_eq *xv_dct_eq_new(struct xv_dev *dev)
{
	struct mlx5_eq_param param = { .nent = XV_DCT_EQ_ENTRIES };
	struct xv_dct_eq *eq;
	int err;

	/* All processes share it: no cgroup is charged. */
	eq = kzalloc(sizeof(*eq), GFP_KERNEL);
	if (!eq)
		return ERR_PTR(-ENOMEM);
	eq->dev = dev;
	eq->irq.notifier_call = xv_dct_eq_interrupt;
	param.mask[0] = BIT_ULL(MLX5_EVENT_TYPE_DCT_KEY_VIOLATION);
	eq->core = mlx5_eq_create_generic(dev->mdev, &param);
	if (IS_ERR(eq->core)) {
		err = PTR_ERR(eq->core);
		goto err_eq;
	}
	err = mlx5_eq_enable(dev->mdev, eq->core, &eq->irq);
	if (err)
		goto err_core;
	return eq;

err_core:
	/* If this fails, the adapter may still use the queue, so it is not freed. */
	mlx5_eq_destroy_generic(dev->mdev, eq->core);
err_eq:
	kfree(eq);
	return ERR_PTR(err);
}

static int xv_dct_eq_use(struct xv_call *call)
{
	struct xv_dev *dev = call->dev;
	struct xv_dct_eq *eq;

	lockdep_assert_held(&dev->dct_lock);
	if (dev->dct_eq)
		return 0;
	eq = xv_dct_eq_new(dev);
	if (IS_ERR(eq))
		return xv_fail(call, xv_fw_errno(PTR_ERR(eq)),
			       "DCT: no event queue for key violations");
	dev->dct_eq = eq;
	return 0;
}

int xv_dct_eq_reserve(struct xv_call *call)
{
	struct xv_dev *dev = call->dev;
	int err;

	mutex_lock(&dev->dct_lock);
	err = xv_dct_eq_use(call);
	if (!err && !atomic_add_unless(&dev->n_armed, 1, XV_DCT_MAX_ARMED))
		err = xv_fail_limit(call, -ENOSPC, XVERBS_LIMIT_ARMED_DCTS,
				    "DCT: %u targets of the device are armed already",
				    XV_DCT_MAX_ARMED);
	mutex_unlock(&dev->dct_lock);
	return err;
}

/* Called when no file is bound to the device any more. */
void xv_dct_eq_exit(struct xv_dev *dev)
{
	struct xv_dct_eq *eq = dev->dct_eq;

	if (!eq)
		return;
	mlx5_eq_disable(dev->mdev, eq->core, &eq->irq);
	/* If this fails, the adapter may still use the queue, so it is not freed. */
	if (mlx5_eq_destroy_generic(dev->mdev, eq->core))
		dev_err(&dev->ib->dev, "xverbs: an event queue could not be destroyed\n");
	kfree(eq);
}
