/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel versions: what differs between 6.1 and 6.12 for the shell around hca/.
 */
#ifndef _XHCA_COMPAT_H
#define _XHCA_COMPAT_H

#include <linux/netdevice.h>
#include <linux/version.h>
#include <linux/mlx5/driver.h>

/*
 * 6.1: mlx5_ib finds the network device by its parent, in the notifier.
 * Later it looks at what mlx5's own Ethernet driver announced.
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

#endif
