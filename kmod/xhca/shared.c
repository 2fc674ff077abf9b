// SPDX-License-Identifier: GPL-2.0
/*
 * A port that has no addresses of its own on the wire: it uses the MAC and IP addresses of its
 * uplink, as a device of rdma_rxe does.  Some networks accept only one MAC address from a host.
 *
 * The network device of the port is a lower device of the uplink.  So ib_core makes GIDs from the
 * addresses of the uplink, and of its VLAN devices.  The host keeps these addresses: its IP stack
 * uses the uplink as before, and only RoCE frames go to the adapter.  The network device has the
 * MAC address and the MTU of the uplink, which mlx5_ib reads, and no traffic.
 *
 * The port and the host have the same UDP ports.  A socket binds the port of RoCEv2, and nobody
 * reads it.  So a network namespace has either rdma_rxe or such ports.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/if_vlan.h>
#include <linux/in.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <rdma/ib_verbs.h>

#include "xhca.h"

/* ---- The UDP port -------------------------------------------------------------------------- */

static void release_udp_port(struct socket **socket)
{
	if (*socket)
		sock_release(*socket);
	*socket = NULL;
}

/* With sk_reuse, several functions can bind the port in one namespace. */
static int bind_udp_port(struct socket *socket)
{
	struct sockaddr_in any = {
		.sin_family = AF_INET,
		.sin_port = htons(ROCE_V2_UDP_DPORT),
	};

	socket->sk->sk_reuse = SK_CAN_REUSE;
	socket->sk->sk_rcvbuf = 0;
	return kernel_bind(socket, (void *)&any, sizeof(any));
}

static int take_udp_port(struct net_device *dev, struct socket **socket)
{
	int err = sock_create_kern(dev_net(dev), PF_INET, SOCK_DGRAM, IPPROTO_UDP, socket);

	if (err)
		return err;
	err = bind_udp_port(*socket);
	if (!err)
		return 0;
	pr_err("uplink=%s: UDP port %u of its namespace is in use, perhaps by rdma_rxe\n",
	       dev->name, ROCE_V2_UDP_DPORT);
	release_udp_port(socket);
	return err;
}

/* ---- Which interfaces ------------------------------------------------------------------------ */

/*
 * The bonding driver treats each lower device as one of its ports.  A GID of a VLAN device makes
 * the adapter write the tag, and the device would add the tag again.
 */
static int check_type(const struct net_device *dev)
{
	if (!netif_is_bond_master(dev) && !is_vlan_dev(dev))
		return 0;
	pr_err("uplink=%s: the addresses of a %s cannot be shared\n", dev->name,
	       is_vlan_dev(dev) ? "VLAN device (share those of the device below)" : "bond");
	return -EINVAL;
}

int xhca_shared_check(struct net_device *dev)
{
	struct socket *socket;
	int err = check_type(dev);

	if (!err)
		err = take_udp_port(dev, &socket);
	if (!err)
		release_udp_port(&socket);
	return err;
}

/* ---- VLAN devices of the uplink ------------------------------------------------------------- */

/* The VLAN code has removed the tag.  The adapter needs it. */
static void deliver(struct xhca_function *fn, struct sk_buff *skb)
{
	__vlan_hwaccel_put_tag(skb, vlan_dev_vlan_proto(skb->dev), vlan_dev_vlan_id(skb->dev));
	skb_push_rcsum(skb, ETH_HLEN);
	xhca_frames_receive(fn, skb, false);
}

/*
 * In softirqs, under RCU.  A VLAN device without VLAN_FLAG_REORDER_HDR leaves the tag in the frame;
 * such a frame is for the host.
 */
static rx_handler_result_t vlan_receive(struct sk_buff **pskb)
{
	struct sk_buff *skb = *pskb;
	struct xhca_function *fn = rcu_dereference(skb->dev->rx_handler_data);
	const u8 *dest = eth_hdr(skb)->h_dest;

	if (skb->pkt_type == PACKET_LOOPBACK || skb_mac_offset(skb) != -ETH_HLEN ||
	    !xhca_frames_is_roce(skb))
		return RX_HANDLER_PASS;
	if (is_multicast_ether_addr(dest)) {
		skb = skb_clone(skb, GFP_ATOMIC);
		if (skb)
			deliver(fn, skb);
		return RX_HANDLER_PASS;
	}
	if (!ether_addr_equal(dest, skb->dev->dev_addr))
		return RX_HANDLER_PASS;
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (skb)
		deliver(fn, skb);
	return RX_HANDLER_CONSUMED;
}

/* A VLAN device that has a handler already, as the port of a bridge has, keeps it. */
static void add_vlan(struct xhca_function *fn, struct net_device *vlan)
{
	if (is_vlan_dev(vlan) && !netdev_is_rx_handler_busy(vlan))
		netdev_rx_handler_register(vlan, vlan_receive, fn);
}

static void remove_vlan(struct net_device *vlan)
{
	if (rcu_access_pointer(vlan->rx_handler) == vlan_receive)
		netdev_rx_handler_unregister(vlan);
}

static void add_vlans(struct xhca_function *fn, struct net_device *dev)
{
	struct net_device *upper;
	struct list_head *iter;

	netdev_for_each_upper_dev_rcu(dev, upper, iter)
		add_vlan(fn, upper);
}

static void remove_vlans(struct net_device *dev)
{
	struct net_device *upper;
	struct list_head *iter;

	netdev_for_each_upper_dev_rcu(dev, upper, iter)
		remove_vlan(upper);
}

/* ---- The network device of the port --------------------------------------------------------- */

static void copy_address(struct xhca_function *fn, const struct net_device *dev)
{
	eth_hw_addr_set(fn->netdev, dev->dev_addr);
	call_netdevice_notifiers(NETDEV_CHANGEADDR, fn->netdev);
}

int xhca_shared_link(struct xhca_function *fn, struct net_device *dev)
{
	int err = take_udp_port(dev, &fn->uplink.udp_port);

	if (err)
		return err;
	copy_address(fn, dev);
	err = netdev_upper_dev_link(fn->netdev, dev, NULL);
	if (err)
		goto err_port;
	err = dev_open(fn->netdev, NULL);
	if (err)
		goto err_link;
	add_vlans(fn, dev);
	return 0;

err_link:
	netdev_upper_dev_unlink(fn->netdev, dev);
err_port:
	release_udp_port(&fn->uplink.udp_port);
	return err;
}

void xhca_shared_unlink(struct xhca_function *fn, struct net_device *dev)
{
	remove_vlans(dev);
	netdev_upper_dev_unlink(fn->netdev, dev);
	release_udp_port(&fn->uplink.udp_port);
}

/* ---- Events of the uplink ------------------------------------------------------------------- */

static void upper_event(struct xhca_function *fn,
			const struct netdev_notifier_changeupper_info *info)
{
	if (info->linking)
		add_vlan(fn, info->upper_dev);
	else if (is_vlan_dev(info->upper_dev))
		remove_vlan(info->upper_dev);
}

/* A device that moves to another namespace sends NETDEV_UNREGISTER, then NETDEV_REGISTER. */
int xhca_shared_event(struct xhca_function *fn, struct net_device *dev, unsigned long event,
		      void *info)
{
	switch (event) {
	case NETDEV_UNREGISTER:
		release_udp_port(&fn->uplink.udp_port);
		break;
	case NETDEV_REGISTER:
		return take_udp_port(dev, &fn->uplink.udp_port);
	case NETDEV_CHANGEADDR:
		copy_address(fn, dev);
		break;
	case NETDEV_CHANGEUPPER:
		upper_event(fn, info);
		break;
	}
	return 0;
}
