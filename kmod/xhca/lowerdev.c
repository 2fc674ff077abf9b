// SPDX-License-Identifier: GPL-2.0
/*
 * The lower device of a RoCE port: the interface of its uplink (uplink.c), while that exists.
 *
 * While the network device of the port is up, the lower device receives what is sent to the address
 * of the port and to its multicast groups.  It receives the VLANs of the port at any time.  A port
 * that shares the address of the lower device (shared.c) has none of its own to add.
 */
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>

#include "xhca.h"

bool xhca_lowerdev_has_carrier(const struct xhca_function *fn)
{
	const struct net_device *dev = rtnl_dereference(fn->uplink.dev);

	return !*fn->uplink.name || (dev && netif_running(dev) && netif_carrier_ok(dev));
}

void xhca_lowerdev_send(struct xhca_function *fn, struct sk_buff *skb)
{
	struct net_device *dev = rcu_dereference(fn->uplink.dev);

	if (!dev) {
		consume_skb(skb);
		return;
	}
	skb_scrub_packet(skb, !net_eq(dev_net(skb->dev), dev_net(dev)));
	skb->dev = dev;
	dev_queue_xmit(skb);
}

/* ---- Its address filter ------------------------------------------------------------------ */

static void sync_groups(struct xhca_function *fn, struct net_device *dev)
{
	netif_addr_lock_bh(fn->netdev);
	dev_mc_sync(dev, fn->netdev);
	netif_addr_unlock_bh(fn->netdev);
}

int xhca_lowerdev_add_addresses(struct xhca_function *fn, struct net_device *dev)
{
	int err;

	if (fn->uplink.shared)
		return 0;
	err = dev_uc_add(dev, fn->netdev->dev_addr);
	if (!err)
		sync_groups(fn, dev);
	return err;
}

void xhca_lowerdev_remove_addresses(struct xhca_function *fn, struct net_device *dev)
{
	if (fn->uplink.shared)
		return;
	dev_mc_unsync(dev, fn->netdev);
	dev_uc_del(dev, fn->netdev->dev_addr);
}

/* The address of a device that is up does not change. */
int xhca_lowerdev_open(struct xhca_function *fn)
{
	struct net_device *dev = rtnl_dereference(fn->uplink.dev);

	return dev ? xhca_lowerdev_add_addresses(fn, dev) : 0;
}

void xhca_lowerdev_close(struct xhca_function *fn)
{
	struct net_device *dev = rtnl_dereference(fn->uplink.dev);

	if (dev)
		xhca_lowerdev_remove_addresses(fn, dev);
}

int xhca_lowerdev_add_vlan(struct xhca_function *fn, __be16 proto, u16 vid)
{
	struct net_device *dev = rtnl_dereference(fn->uplink.dev);

	return dev ? vlan_vid_add(dev, proto, vid) : 0;
}

void xhca_lowerdev_remove_vlan(struct xhca_function *fn, __be16 proto, u16 vid)
{
	struct net_device *dev = rtnl_dereference(fn->uplink.dev);

	if (dev)
		vlan_vid_del(dev, proto, vid);
}

/* Not always under RTNL */
void xhca_lowerdev_set_groups(struct xhca_function *fn)
{
	struct net_device *dev;

	rcu_read_lock();
	dev = rcu_dereference(fn->uplink.dev);
	if (dev && !fn->uplink.shared)
		dev_mc_sync(dev, fn->netdev);
	rcu_read_unlock();
}
