/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between the kernels for which xhca.ko builds.  No other file checks the kernel
 * version.
 */
#ifndef _XHCA_COMPAT_H
#define _XHCA_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/irq.h>
#include <linux/irqdomain.h>
#include <linux/msi.h>
#include <linux/netdevice.h>
#include <linux/version.h>
#include <linux/mlx5/driver.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/hex.h>		/* mac_pton(), before in kernel.h */
#endif

/*
 * 6.1: mlx5_ib finds the network device by its parent, in the notifier.  Later kernels use
 * the device that the Ethernet driver of mlx5 announced.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
static inline void xhca_set_uplink(struct mlx5_core_dev *mdev, struct net_device *netdev)
{
}
#else
static inline void xhca_set_uplink(struct mlx5_core_dev *mdev, struct net_device *netdev)
{
	mutex_lock(&mdev->mlx5e_res.uplink_netdev_lock);
	mdev->mlx5e_res.uplink_netdev = netdev;
	mutex_unlock(&mdev->mlx5e_res.uplink_netdev_lock);
}
#endif

static inline void xhca_hrtimer_setup(struct hrtimer *timer,
				      enum hrtimer_restart (*function)(struct hrtimer *),
				      enum hrtimer_mode mode)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = function;
#else
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, mode);
#endif
}

/*
 * Creates a domain for the MSI-X vectors of all functions, with operations and chip of @info.
 * From 6.16 on the PCI core creates a domain for each device, below a parent domain.  Our
 * parent does nothing, and the domain of the device uses @info.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
static inline struct irq_domain *xhca_create_msi_domain(struct fwnode_handle *node,
							struct msi_domain_info *info)
{
	return pci_msi_create_irq_domain(node, info, NULL);
}
#else
static inline int xhca_msi_parent_alloc(struct irq_domain *parent, unsigned int virq,
					unsigned int n, void *arg)
{
	static struct irq_chip chip = { .name = "xhca" };
	unsigned int i;

	for (i = virq; i < virq + n; i++)
		irq_domain_set_hwirq_and_chip(parent, i, i, &chip, NULL);
	return 0;
}

static inline bool xhca_msi_init_device(struct device *dev, struct irq_domain *parent,
					struct irq_domain *real_parent,
					struct msi_domain_info *child)
{
	const struct msi_domain_info *info = parent->host_data;
	const struct irq_chip pci = *child->chip;

	*child->chip = *info->chip;
	child->chip->name = pci.name;
	child->chip->irq_write_msi_msg = pci.irq_write_msi_msg;
	child->chip->flags = pci.flags;
	child->ops->msi_prepare = info->ops->msi_prepare;
	child->ops->set_desc = info->ops->set_desc;
	child->ops->msi_init = info->ops->msi_init;
	child->ops->msi_free = info->ops->msi_free;
	child->flags |= MSI_FLAG_USE_DEF_DOM_OPS;
	return true;
}

static inline struct irq_domain *xhca_create_msi_domain(struct fwnode_handle *node,
							struct msi_domain_info *info)
{
	static const struct irq_domain_ops ops = {
		.alloc	= xhca_msi_parent_alloc,
		.free	= irq_domain_free_irqs_common,
	};
	static const struct msi_parent_ops parent_ops = {
		.supported_flags	= MSI_GENERIC_FLAGS_MASK | MSI_FLAG_PCI_MSIX,
		.bus_select_token	= DOMAIN_BUS_PCI_MSI,
		.prefix			= "xhca-",
		.init_dev_msi_info	= xhca_msi_init_device,
	};
	struct irq_domain_info domain = { .fwnode = node, .ops = &ops, .host_data = info };

	return msi_create_parent_irq_domain(&domain, &parent_ops);
}
#endif

/* Later kernels move an interrupt at once, unless a flag of the chip forbids it. */
static inline void xhca_irq_moves_at_once(unsigned int virq)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
	irq_set_status_flags(virq, IRQ_MOVE_PCNTXT);
#endif
}

#endif
