// SPDX-License-Identifier: GPL-2.0
/*
 * The network device of a RoCE port.  Its parent is the PCI function, as with the Ethernet
 * driver of mlx5.
 *
 * The devices of a fabric form a switch: a frame goes to the device with its destination address, a
 * multicast to all others.  They may be in different network namespaces.  A port with an uplink
 * (uplink.c) also sends a multicast, and a frame for an address that no device has, to the uplink.
 * A port that shares the addresses of its uplink (shared.c) is not part of the switch; its network
 * device has no traffic.
 *
 * The port is up while its network device is up and has a cable (fault.c), and its uplink, if it
 * has one, has a carrier.
 *
 * A frame takes some time, as on a wire.  Without it, the answer to an ARP request would arrive
 * inside the call that sends the request, before ib_core waits for it, and rdma_resolve_addr()
 * would take its whole timeout.
 */
#include <linux/ethtool.h>
#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>

#include "xhca.h"
#include "compat.h"

#define XHCA_SPEED	SPEED_100000
#define XNET_WIRE_NS	100000
#define XNET_WIRE_FRAMES 512

struct xnet {
	struct net_device *dev;
	struct xhca_function *fn;
	bool cable;
	struct sk_buff_head wire;	/* frames that were sent and have not arrived */
	struct hrtimer arrival;
	bool armed;			/* the timer runs; under the lock of wire */
	struct list_head entry;		/* xnets, while the device is up */
};

static LIST_HEAD(xnets);		/* under RTNL; read under RCU */

/* Consumes the reference to @skb. */
static void forward(struct net_device *to, struct sk_buff *skb)
{
	unsigned int len = skb->len;

	if (unlikely(!netif_carrier_ok(to))) {
		dev_core_stats_rx_dropped_inc(to);
		kfree_skb(skb);
		return;
	}
	if (likely(__dev_forward_skb(to, skb) == 0)) {
		dev_sw_netstats_rx_add(to, len);
		netif_rx(skb);
	} else {
		dev_core_stats_rx_dropped_inc(to);
	}
}

static bool is_connected(const struct xnet *a, const struct xnet *b)
{
	return a != b && a->fn->fabric == b->fn->fabric && !b->fn->uplink.shared;
}

static bool forward_unicast(const struct xnet *from, struct sk_buff *skb)
{
	struct xnet *x;

	list_for_each_entry_rcu(x, &xnets, entry) {
		if (!is_connected(from, x) ||
		    !ether_addr_equal(eth_hdr(skb)->h_dest, x->dev->dev_addr))
			continue;
		forward(x->dev, skb);
		return true;
	}
	return false;
}

/* A frame for an unknown address goes to all devices, as in a switch, and to the uplink. */
static void flood(struct xnet *from, struct sk_buff *skb)
{
	struct sk_buff *clone;
	struct xnet *x;

	list_for_each_entry_rcu(x, &xnets, entry) {
		if (!is_connected(from, x))
			continue;
		clone = skb_clone(skb, GFP_ATOMIC);
		if (clone)
			forward(x->dev, clone);
	}
	xhca_lowerdev_send(from->fn, skb);
}

static void arrive(struct xnet *from, struct sk_buff *skb)
{
	skb_reset_mac_header(skb);
	if (!is_unicast_ether_addr(eth_hdr(skb)->h_dest) || !forward_unicast(from, skb))
		flood(from, skb);
}

static enum hrtimer_restart xnet_arrival(struct hrtimer *timer)
{
	struct xnet *x = container_of(timer, struct xnet, arrival);
	struct sk_buff_head frames;
	struct sk_buff *skb;

	__skb_queue_head_init(&frames);
	spin_lock(&x->wire.lock);
	skb_queue_splice_init(&x->wire, &frames);
	x->armed = !skb_queue_empty(&frames);
	spin_unlock(&x->wire.lock);
	if (skb_queue_empty(&frames))
		return HRTIMER_NORESTART;

	rcu_read_lock();
	while ((skb = __skb_dequeue(&frames)))
		arrive(x, skb);
	rcu_read_unlock();
	hrtimer_forward_now(timer, ns_to_ktime(XNET_WIRE_NS));
	return HRTIMER_RESTART;
}

static netdev_tx_t xnet_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct xnet *x = netdev_priv(dev);
	bool start;

	if (x->fn->uplink.shared || skb_queue_len_lockless(&x->wire) >= XNET_WIRE_FRAMES) {
		dev_core_stats_tx_dropped_inc(dev);
		kfree_skb(skb);
		return NETDEV_TX_OK;
	}
	skb_tx_timestamp(skb);
	dev_sw_netstats_tx_add(dev, 1, skb->len);
	spin_lock(&x->wire.lock);
	__skb_queue_tail(&x->wire, skb);
	start = !x->armed;
	x->armed = true;
	spin_unlock(&x->wire.lock);
	if (start)
		hrtimer_start(&x->arrival, ns_to_ktime(XNET_WIRE_NS), HRTIMER_MODE_REL_SOFT);
	return NETDEV_TX_OK;
}

/* ---- link ------------------------------------------------------------------- */

struct port_state {
	struct hca *hca;
	bool up;
};

static void port_set(void *arg)
{
	struct port_state *s = arg;

	hca_port_set(hca_port_find(s->hca, 1), s->up);
}

/* A device that goes down is not running any more. */
static void link_update(struct xnet *x)
{
	bool up = netif_running(x->dev) && x->cable && xhca_lowerdev_has_carrier(x->fn);
	struct port_state s = { x->fn->hca, up };

	if (up)
		netif_carrier_on(x->dev);
	else
		netif_carrier_off(x->dev);
	xhca_engine_call(&x->fn->fabric->engine, port_set, &s);
}

static int xnet_open(struct net_device *dev)
{
	struct xnet *x = netdev_priv(dev);
	int err = xhca_lowerdev_open(x->fn);

	if (err)
		return err;
	list_add_tail_rcu(&x->entry, &xnets);
	link_update(x);
	netif_start_queue(dev);
	return 0;
}

static int xnet_stop(struct net_device *dev)
{
	struct xnet *x = netdev_priv(dev);

	netif_stop_queue(dev);
	hrtimer_cancel(&x->arrival);
	skb_queue_purge(&x->wire);
	x->armed = false;
	link_update(x);
	xhca_lowerdev_close(x->fn);
	list_del_rcu(&x->entry);
	synchronize_net();
	return 0;
}

static void xnet_set_rx_mode(struct net_device *dev)
{
	xhca_lowerdev_set_groups(((struct xnet *)netdev_priv(dev))->fn);
}

static int xnet_vlan_rx_add_vid(struct net_device *dev, __be16 proto, u16 vid)
{
	return xhca_lowerdev_add_vlan(((struct xnet *)netdev_priv(dev))->fn, proto, vid);
}

static int xnet_vlan_rx_kill_vid(struct net_device *dev, __be16 proto, u16 vid)
{
	xhca_lowerdev_remove_vlan(((struct xnet *)netdev_priv(dev))->fn, proto, vid);
	return 0;
}

static int xnet_set_mac_address(struct net_device *dev, void *address)
{
	if (((struct xnet *)netdev_priv(dev))->fn->uplink.shared)
		return -EOPNOTSUPP;
	return eth_mac_addr(dev, address);
}

static int xnet_init(struct net_device *dev)
{
	dev->tstats = netdev_alloc_pcpu_stats(struct pcpu_sw_netstats);
	return dev->tstats ? 0 : -ENOMEM;
}

static void xnet_uninit(struct net_device *dev)
{
	free_percpu(dev->tstats);
}

static const struct net_device_ops xnet_ops = {
	.ndo_init		= xnet_init,
	.ndo_uninit		= xnet_uninit,
	.ndo_open		= xnet_open,
	.ndo_stop		= xnet_stop,
	.ndo_start_xmit		= xnet_xmit,
	.ndo_set_rx_mode	= xnet_set_rx_mode,
	.ndo_vlan_rx_add_vid	= xnet_vlan_rx_add_vid,
	.ndo_vlan_rx_kill_vid	= xnet_vlan_rx_kill_vid,
	.ndo_get_stats64	= dev_get_tstats64,
	.ndo_set_mac_address	= xnet_set_mac_address,
	.ndo_validate_addr	= eth_validate_addr,
};

static int xnet_get_link_ksettings(struct net_device *dev, struct ethtool_link_ksettings *k)
{
	k->base.speed = XHCA_SPEED;
	k->base.duplex = DUPLEX_FULL;
	k->base.port = PORT_OTHER;
	k->base.autoneg = AUTONEG_DISABLE;
	return 0;
}

static const struct ethtool_ops xnet_ethtool_ops = {
	.get_link		= ethtool_op_get_link,
	.get_link_ksettings	= xnet_get_link_ksettings,
	.get_ts_info		= ethtool_op_get_ts_info,
};

/* ---- creation and removal ------------------------------------------------------ */

int xhca_netdev_add(struct xhca_function *fn, struct pci_dev *pdev)
{
	struct net_device *dev = alloc_netdev(sizeof(struct xnet), "xnet%d", NET_NAME_ENUM,
					      ether_setup);
	char name[IFNAMSIZ];
	struct xnet *x;
	int err;

	if (!dev)
		return -ENOMEM;
	x = netdev_priv(dev);
	x->dev = dev;
	x->fn = fn;
	x->cable = true;
	skb_queue_head_init(&x->wire);
	xhca_hrtimer_setup(&x->arrival, xnet_arrival, HRTIMER_MODE_REL_SOFT);
	SET_NETDEV_DEV(dev, &pdev->dev);
	dev->netdev_ops = &xnet_ops;
	dev->ethtool_ops = &xnet_ethtool_ops;
	dev_net_set(dev, fn->net ?: &init_net);
	dev->max_mtu = XHCA_MAX_MTU;
	dev->features = NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HIGHDMA | NETIF_F_HW_CSUM |
			NETIF_F_GSO_SOFTWARE;
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	dev->hw_features = dev->features;
	dev->vlan_features = dev->features;
	dev->features |= NETIF_F_HW_VLAN_CTAG_FILTER;
	eth_hw_addr_set(dev, fn->mac);
	memcpy(dev->perm_addr, fn->mac, ETH_ALEN);
	netif_carrier_off(dev);
	rtnl_lock();
	/* The name with the number of the slot does not change with the namespace. */
	snprintf(name, sizeof(name), "xnet%u", fn->index);
	if (!netdev_name_in_use(dev_net(dev), name))
		strscpy(dev->name, name, sizeof(dev->name));
	err = register_netdevice(dev);
	if (!err)
		smp_store_release(&fn->netdev, dev);	/* readers see a complete device */
	rtnl_unlock();
	if (err)
		free_netdev(dev);
	return err;
}

void xhca_netdev_del(struct xhca_function *fn)
{
	struct net_device *dev = fn->netdev;

	if (!dev)
		return;
	rtnl_lock();
	WRITE_ONCE(fn->netdev, NULL);
	unregister_netdevice(dev);
	rtnl_unlock();
	free_netdev(dev);
}

void xhca_netdev_cable(struct xhca_function *fn, bool in)
{
	rtnl_lock();
	if (fn->netdev) {
		((struct xnet *)netdev_priv(fn->netdev))->cable = in;
		xhca_netdev_update(fn);
	}
	rtnl_unlock();
}

void xhca_netdev_update(struct xhca_function *fn)
{
	if (netif_running(fn->netdev))
		link_update(netdev_priv(fn->netdev));
}

bool xhca_netdev_is(const struct net_device *dev)
{
	return dev->netdev_ops == &xnet_ops;
}

void xhca_netdev_receive(struct xhca_function *fn, struct sk_buff *skb)
{
	forward(fn->netdev, skb);
}

bool xhca_netdev_place(struct xhca_function *fn, char name[IFNAMSIZ], unsigned int *netns)
{
	bool found;

	rtnl_lock();
	found = fn->netdev;
	if (found) {
		strscpy(name, fn->netdev->name, IFNAMSIZ);
		*netns = dev_net(fn->netdev)->ns.inum;
	}
	rtnl_unlock();
	return found;
}

void xhca_netdev_offer(struct xhca_function *fn, struct pci_dev *pdev)
{
	struct mlx5_core_dev *mdev = pci_get_drvdata(pdev);

	if (fn->netdev && mdev && pdev->driver && !strcmp(pdev->driver->name, "mlx5_core"))
		xhca_set_uplink(mdev, fn->netdev);
}
