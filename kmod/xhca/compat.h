/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between the kernels for which xhca.ko builds.  No other file checks the kernel
 * version, or XHCA_HAS_*, by which Kbuild tells what the headers of the kernel have.
 */
#ifndef _XHCA_COMPAT_H
#define _XHCA_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/irq.h>
#include <linux/irqdomain.h>
#include <linux/kthread.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/msi.h>
#include <linux/netdevice.h>
#include <linux/sched/isolation.h>
#include <linux/smp.h>
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

/* The vector that the descriptor is for */
static inline unsigned int xhca_msi_index(const struct msi_desc *desc)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 17, 0)
	return desc->msi_attrib.entry_nr;
#else
	return desc->msi_index;
#endif
}

#ifndef XHCA_HAS_generic_handle_irq_safe
static inline void generic_handle_irq_safe(unsigned int virq)
{
	unsigned long flags;

	local_irq_save(flags);
	generic_handle_irq(virq);
	local_irq_restore(flags);
}
#endif

#ifndef XHCA_HAS_INIT_CSD
#define INIT_CSD(csd, function, argument)	\
	(*(csd) = (call_single_data_t) { .func = (function), .info = (argument) })
#endif

#ifndef XHCA_HAS_HK_TYPE_DOMAIN
#define HK_TYPE_DOMAIN	HK_FLAG_DOMAIN
#define HK_TYPE_TICK	HK_FLAG_TICK
#endif

/* The memory is that of one NUMA node. */
#ifdef CONFIG_MEMORY_HOTREMOVE
static inline int xhca_remove_memory(u64 start, u64 size)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 15, 0)
	return offline_and_remove_memory(pfn_to_nid(PHYS_PFN(start)), start, size);
#else
	return offline_and_remove_memory(start, size);
#endif
}
#endif

/* A number of the namespace; before 5.12 another one may get it later. */
static inline u64 xhca_net_id(const struct net *net)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 12, 0)
	return net->ns.inum;
#else
	return net->net_cookie;
#endif
}

/* @name contains %u, for the CPU.  Before 5.17 modules cannot call the function of the kernel. */
static inline struct task_struct *xhca_kthread_create(int (*function)(void *), void *data,
						      unsigned int cpu, const char *name)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 17, 0)
	struct task_struct *task;

	task = kthread_create_on_node(function, data, cpu_to_node(cpu), name, cpu);
	if (!IS_ERR(task))
		kthread_bind(task, cpu);
	return task;
#else
	return kthread_create_on_cpu(function, data, cpu, name);
#endif
}

/* Whether mlx5_ib allocates doorbell pages of processes without their user context */
#define XHCA_PLAIN_UARS	(LINUX_VERSION_CODE < KERNEL_VERSION(5, 16, 0))

/* ---- Network devices ------------------------------------------------------------------ */

#ifndef XHCA_HAS_netdev_name_in_use
static inline bool netdev_name_in_use(struct net *net, const char *name)
{
	return __dev_get_by_name(net, name);
}
#endif

#ifndef XHCA_HAS_dev_core_stats_rx_dropped_inc
static inline void dev_core_stats_rx_dropped_inc(struct net_device *dev)
{
	atomic_long_inc(&dev->rx_dropped);
}

static inline void dev_core_stats_tx_dropped_inc(struct net_device *dev)
{
	atomic_long_inc(&dev->tx_dropped);
}
#endif

#ifndef XHCA_HAS_dev_sw_netstats_tx_add
static inline void dev_sw_netstats_tx_add(struct net_device *dev, unsigned int packets,
					  unsigned int len)
{
	struct pcpu_sw_netstats *stats = this_cpu_ptr(dev->tstats);

	u64_stats_update_begin(&stats->syncp);
	stats->tx_bytes += len;
	stats->tx_packets += packets;
	u64_stats_update_end(&stats->syncp);
}
#endif

#ifndef XHCA_HAS_dev_get_tstats64
static inline void dev_get_tstats64(struct net_device *dev, struct rtnl_link_stats64 *s)
{
	netdev_stats_to_stats64(s, &dev->stats);
	dev_fetch_sw_netstats(s, dev->tstats);
}
#endif

#endif
