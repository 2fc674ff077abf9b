// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA devices: references, name, the files bound to them, and whether xverbs can use them.
 *
 * A file is in xv_dev.files if, and only if, xv_file.dev points to the device.  Removal of a
 * device empties the list before it returns.
 */
#include <linux/dma-map-ops.h>
#include <linux/mlx5/device.h>
#include <linux/nsproxy.h>
#include <linux/pci.h>
#include <linux/sched.h>
#include <linux/swiotlb.h>
#include <net/net_namespace.h>

#include "device.h"

void xv_dev_get(struct xv_dev *dev)
{
	get_device(&dev->node);
}

void xv_dev_put(struct xv_dev *dev)
{
	put_device(&dev->node);
}

/* Called by ib_core with a lock that keeps the name. */
void xv_dev_set_name(struct xv_dev *dev)
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

bool xv_dev_visible(const struct xv_dev *dev)
{
	return rdma_dev_access_netns(dev->ib, current->nsproxy->net_ns);
}

/* ---- Bound files ----------------------------------------------------------------- */

/* From now on, no file can bind to the device. */
void xv_dev_close_binding(struct xv_dev *dev)
{
	mutex_lock(&dev->files_lock);
	WRITE_ONCE(dev->gone, true);
	mutex_unlock(&dev->files_lock);
}

/* Returns a file bound to @dev with a reference, or NULL if there is none. */
struct xv_file *xv_dev_first_file(struct xv_dev *dev)
{
	struct xv_file *file;

	mutex_lock(&dev->files_lock);
	file = list_first_entry_or_null(&dev->files, struct xv_file, dev_node);
	/* A file is unbound before its last reference is dropped. */
	if (file)
		kref_get(&file->ref);
	mutex_unlock(&dev->files_lock);
	return file;
}

void xv_dev_unbind(struct xv_dev *dev, struct xv_file *file)
{
	mutex_lock(&dev->files_lock);
	list_del_init(&file->dev_node);
	mutex_unlock(&dev->files_lock);
}

/* ---- Devices that xverbs can use -------------------------------------------------- */

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
 * dma_alloc_coherent() would work on all devices.  But a process may keep a ring mapped
 * after the queue is destroyed: the pages of the ring then stay allocated, which those of
 * dma_alloc_coherent() cannot.
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
const char *xv_dev_probe(struct xv_dev *dev)
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
