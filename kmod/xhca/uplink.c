// SPDX-License-Identifier: GPL-2.0
/*
 * The uplink: an Ethernet interface of the host to which RoCE ports are connected.
 *
 * Each port has a MAC address of its own on the wire, as a macvlan has.  What arrives for this
 * address does not reach the host; a multicast reaches both.  RoCE frames go to the adapter
 * (frames.c), all others to the network device of the port.  As with macvlan, the host itself
 * cannot reach the port through the uplink: what the host sends on the interface leaves the host.
 * A port may also share the addresses of the interface (shared.c).
 *
 * The interface may appear after the function, disappear and appear again, and be in another
 * namespace than the network device of the port.  While it does not exist, the port has no carrier.
 * If it moves to another namespace, it stays attached.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>

#include "xhca.h"
#include "compat.h"

/* Functions whose interface exists; they have a network device.  Under RTNL, read under RCU */
static LIST_HEAD(attached);

/* ---- Frames ------------------------------------------------------------------------------ */

static void deliver(struct xhca_function *fn, struct sk_buff *skb)
{
	bool roce = xhca_frames_is_roce(skb);

	skb_push_rcsum(skb, ETH_HLEN);
	if (roce)
		xhca_frames_receive(fn, skb, false);
	else
		xhca_netdev_receive(fn, skb);
}

/* A port that shares the addresses of its uplink receives only RoCE. */
static bool wants(const struct xhca_function *fn, const struct sk_buff *skb)
{
	return !fn->uplink.shared || xhca_frames_is_roce(skb);
}

/* The host receives it, too. */
static void deliver_multicast(const struct sk_buff *skb)
{
	struct xhca_function *fn;
	struct sk_buff *clone;

	list_for_each_entry_rcu(fn, &attached, uplink.entry) {
		if (rcu_access_pointer(fn->uplink.dev) != skb->dev || !wants(fn, skb))
			continue;
		clone = skb_clone((struct sk_buff *)skb, GFP_ATOMIC);
		if (clone)
			deliver(fn, clone);
	}
}

static struct xhca_function *find_function(const struct sk_buff *skb)
{
	const u8 *dest = eth_hdr(skb)->h_dest;
	struct xhca_function *fn;

	list_for_each_entry_rcu(fn, &attached, uplink.entry)
		if (rcu_access_pointer(fn->uplink.dev) == skb->dev &&
		    ether_addr_equal(dest, fn->netdev->dev_addr))
			return fn;
	return NULL;
}

/* In softirqs, under RCU.  A frame of a VLAN that the interface has a device for is not here. */
static rx_handler_result_t uplink_receive(struct sk_buff **pskb)
{
	struct sk_buff *skb = *pskb;
	struct xhca_function *fn;

	if (skb->pkt_type == PACKET_LOOPBACK)
		return RX_HANDLER_PASS;
	if (is_multicast_ether_addr(eth_hdr(skb)->h_dest)) {
		deliver_multicast(skb);
		return RX_HANDLER_PASS;
	}
	fn = find_function(skb);
	if (!fn || !wants(fn, skb))
		return RX_HANDLER_PASS;
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (skb)
		deliver(fn, skb);
	return RX_HANDLER_CONSUMED;
}

/* ---- Attaching the interface -------------------------------------------------------------- */

static bool is_named(const struct xhca_function *fn, const struct net_device *dev)
{
	return !strcmp(dev->name, fn->uplink.name) && xhca_net_id(dev_net(dev)) == fn->uplink.netns;
}

static bool has_handler(const struct net_device *dev)
{
	return rcu_access_pointer(dev->rx_handler) == uplink_receive;
}

static bool is_in_use(const struct net_device *dev)
{
	struct xhca_function *fn;

	list_for_each_entry(fn, &attached, uplink.entry)
		if (rcu_access_pointer(fn->uplink.dev) == dev)
			return true;
	return false;
}

/*
 * Two ports must not have the same address.  A port that shares its uplink gets the addresses of
 * all interfaces above the uplink, too, so another port must not use one of these.
 */
static bool conflicts(const struct xhca_function *fn, struct net_device *dev)
{
	struct xhca_function *other;
	struct net_device *used;
	bool conflict = false;

	rcu_read_lock();
	list_for_each_entry_rcu(other, &attached, uplink.entry) {
		used = rcu_dereference(other->uplink.dev);
		if ((fn->uplink.shared || other->uplink.shared) && used == dev)
			conflict = true;
		if ((fn->uplink.shared && netdev_has_upper_dev_all_rcu(dev, used)) ||
		    (other->uplink.shared && netdev_has_upper_dev_all_rcu(used, dev)))
			conflict = true;
	}
	rcu_read_unlock();
	return conflict;
}

static int check_interface(const struct xhca_function *fn, struct net_device *dev)
{
	if (dev->type != ARPHRD_ETHER || xhca_netdev_is(dev)) {
		pr_err("uplink=%s: must be an Ethernet interface, and not that of a function\n",
		       dev->name);
		return -EINVAL;
	}
	if (netdev_is_rx_handler_busy(dev) && !has_handler(dev)) {
		pr_err("uplink=%s: is in use as a port of a bridge or as similar\n", dev->name);
		return -EBUSY;
	}
	if (conflicts(fn, dev)) {
		pr_err("uplink=%s: a shared uplink cannot have another function\n", dev->name);
		return -EBUSY;
	}
	return fn->uplink.shared ? xhca_shared_check(dev) : 0;
}

int xhca_uplink_check(const struct xhca_function *fn, struct net *net)
{
	struct net_device *dev;
	int err;

	if (!*fn->uplink.name) {
		if (!fn->uplink.shared)
			return 0;
		pr_err("shared=1 needs an uplink\n");
		return -EINVAL;
	}
	if (!fn->roce) {
		pr_err("uplink=%s needs link=roce\n", fn->uplink.name);
		return -EINVAL;
	}
	rtnl_lock();
	dev = __dev_get_by_name(net, fn->uplink.name);
	err = dev ? check_interface(fn, dev) : 0;
	rtnl_unlock();
	return err;
}

static void limit_mtu(struct xhca_function *fn, const struct net_device *dev)
{
	fn->netdev->max_mtu = min_t(unsigned int, dev->mtu, XHCA_MAX_MTU);
	if (fn->uplink.shared || fn->netdev->mtu > fn->netdev->max_mtu)
		dev_set_mtu(fn->netdev, fn->netdev->max_mtu);
}

/* The kernel refuses a link that makes a circle, for instance through a VLAN device. */
static int link_devices(struct xhca_function *fn, struct net_device *dev)
{
	if (fn->uplink.shared)
		return xhca_shared_link(fn, dev);
	return netdev_upper_dev_link(dev, fn->netdev, NULL);
}

static void unlink_devices(struct xhca_function *fn, struct net_device *dev)
{
	if (fn->uplink.shared)
		xhca_shared_unlink(fn, dev);
	else
		netdev_upper_dev_unlink(dev, fn->netdev);
}

static int link_interface(struct xhca_function *fn, struct net_device *dev)
{
	int err = link_devices(fn, dev);

	if (err)
		return err;
	err = vlan_vids_add_by_dev(dev, fn->netdev);
	if (err)
		goto err_link;
	if (!has_handler(dev))
		err = netdev_rx_handler_register(dev, uplink_receive, NULL);
	if (err)
		goto err_vlans;
	if (netif_running(fn->netdev))
		err = xhca_lowerdev_add_addresses(fn, dev);
	if (err)
		goto err_handler;
	return 0;

err_handler:
	if (!is_in_use(dev))
		netdev_rx_handler_unregister(dev);
err_vlans:
	vlan_vids_del_by_dev(dev, fn->netdev);
err_link:
	unlink_devices(fn, dev);
	return err;
}

static void attach(struct xhca_function *fn, struct net_device *dev)
{
	int err;

	if (check_interface(fn, dev))
		return;
	err = link_interface(fn, dev);
	if (err) {
		pr_err("uplink=%s: error %d\n", dev->name, err);
		return;
	}
	rcu_assign_pointer(fn->uplink.dev, dev);
	list_add_tail_rcu(&fn->uplink.entry, &attached);
	limit_mtu(fn, dev);
	xhca_netdev_update(fn);
}

static void detach(struct xhca_function *fn)
{
	struct net_device *dev = rtnl_dereference(fn->uplink.dev);

	RCU_INIT_POINTER(fn->uplink.dev, NULL);
	list_del_rcu(&fn->uplink.entry);
	synchronize_net();
	if (netif_running(fn->netdev))
		xhca_lowerdev_remove_addresses(fn, dev);
	if (!is_in_use(dev))
		netdev_rx_handler_unregister(dev);
	vlan_vids_del_by_dev(dev, fn->netdev);
	unlink_devices(fn, dev);
	xhca_netdev_update(fn);
}

void xhca_uplink_join(struct xhca_function *fn)
{
	struct net_device *dev;
	struct net *net;

	if (!*fn->uplink.name)
		return;
	rtnl_lock();
	net = dev_net(fn->netdev);
	fn->uplink.netns = xhca_net_id(net);
	fn->uplink.joined = true;
	dev = __dev_get_by_name(net, fn->uplink.name);
	if (dev)
		attach(fn, dev);
	rtnl_unlock();
}

void xhca_uplink_leave(struct xhca_function *fn)
{
	if (!*fn->uplink.name)
		return;
	rtnl_lock();
	fn->uplink.joined = false;
	if (rcu_access_pointer(fn->uplink.dev))
		detach(fn);
	rtnl_unlock();
}

/* ---- Events of interfaces ----------------------------------------------------------------- */

/* A device that moves to another namespace loses its addresses on the way. */
static void attached_event(struct xhca_function *fn, struct net_device *dev, unsigned long event,
			   void *info)
{
	if (fn->uplink.shared && xhca_shared_event(fn, dev, event, info)) {
		detach(fn);
		return;
	}
	switch (event) {
	case NETDEV_UNREGISTER:
		if (dev->reg_state == NETREG_UNREGISTERING)
			detach(fn);
		else if (netif_running(fn->netdev))
			xhca_lowerdev_remove_addresses(fn, dev);
		break;
	case NETDEV_REGISTER:
		if (netif_running(fn->netdev) && xhca_lowerdev_add_addresses(fn, dev))
			pr_err("uplink=%s: no memory for its addresses\n", dev->name);
		break;
	case NETDEV_CHANGEMTU:
		limit_mtu(fn, dev);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		xhca_netdev_update(fn);
		break;
	}
}

/* The type of an interface, such as a bond, may change while it has no ports. */
static int interface_event(struct notifier_block *nb, unsigned long event, void *info)
{
	struct xhca *x = container_of(nb, struct xhca, interfaces);
	struct net_device *dev = netdev_notifier_info_to_dev(info);
	struct xhca_function *fn;
	unsigned int i;

	if (event == NETDEV_PRE_TYPE_CHANGE && is_in_use(dev))
		return NOTIFY_BAD;
	for (i = 0; i < XHCA_MAX_FUNCTIONS; i++) {
		fn = &x->fn[i];
		if (!fn->uplink.joined)
			continue;
		if (rcu_access_pointer(fn->uplink.dev) == dev)
			attached_event(fn, dev, event, info);
		else if ((event == NETDEV_REGISTER || event == NETDEV_CHANGENAME) &&
			 !rcu_access_pointer(fn->uplink.dev) && is_named(fn, dev))
			attach(fn, dev);
	}
	return NOTIFY_DONE;
}

int xhca_uplink_init(struct xhca *x)
{
	x->interfaces.notifier_call = interface_event;
	return register_netdevice_notifier(&x->interfaces);
}

void xhca_uplink_exit(struct xhca *x)
{
	unregister_netdevice_notifier(&x->interfaces);
}
