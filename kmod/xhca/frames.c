// SPDX-License-Identifier: GPL-2.0
/*
 * RoCE frames between the uplink of a function and hca/.
 *
 * Frames arrive in softirqs of any CPU and wait in a queue of the function, until a pass reads
 * them.  hca/ writes frames during a pass, and they are sent at its end.
 *
 * The frames that are sent belong to a socket, as those of a process do.  So the kernel counts
 * their memory until the last queue on their way has sent them, which may be after the function
 * is removed and the module unloaded.  The socket has no other purpose.
 */
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jhash.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/sizes.h>
#include <linux/udp.h>
#include <net/sock.h>

#include "xhca.h"
#include "compat.h"

enum {
	MAX_ARRIVED = 1024,		/* frames that wait for a pass */
	MAX_ARRIVED_MEMORY = SZ_4M,
	MAX_UNSENT_MEMORY = SZ_2M,	/* about 250 frames of 4 KiB */
};

/* ---- Receive ------------------------------------------------------------------------------ */

static bool enqueue(struct xhca_frames *f, struct sk_buff *skb)
{
	bool room;

	spin_lock(&f->arrived.lock);
	room = f->arrived.qlen < MAX_ARRIVED &&
	       f->memory + skb->truesize <= MAX_ARRIVED_MEMORY;
	if (room) {
		f->memory += skb->truesize;
		__skb_queue_tail(&f->arrived, skb);
	}
	spin_unlock(&f->arrived.lock);
	return room;
}

static struct sk_buff *dequeue(struct xhca_frames *f)
{
	struct sk_buff *skb;

	if (skb_queue_empty_lockless(&f->arrived))
		return NULL;
	spin_lock_bh(&f->arrived.lock);
	skb = __skb_dequeue(&f->arrived);
	if (skb)
		f->memory -= skb->truesize;
	spin_unlock_bh(&f->arrived.lock);
	return skb;
}

static bool drop(struct xhca_frames *f, struct sk_buff *skb)
{
	atomic_long_inc(&f->dropped);
	kfree_skb(skb);
	return false;
}

/*
 * Several datagrams that the kernel has joined (GSO) have lost their IP headers, which the ICRC
 * covers.
 */
bool xhca_frames_receive(struct xhca_function *fn, struct sk_buff *skb)
{
	struct xhca_frames *f = &fn->frames;

	if (skb_is_gso(skb) || !netif_carrier_ok(fn->netdev) ||
	    skb_orphan_frags_rx(skb, GFP_ATOMIC))
		return drop(f, skb);
	/* While it waits, it does not count as unsent for its sender. */
	skb_orphan(skb);
	skb_scrub_packet(skb, true);
	if (skb_vlan_tag_present(skb)) {
		skb = __vlan_hwaccel_push_inside(skb);
		if (!skb)
			return drop(f, NULL);
	}
	return enqueue(f, skb) || drop(f, skb);
}

const void *xhca_frame_next(void *ctx, u32 *bytes)
{
	struct xhca_frames *f = &((struct xhca_function *)ctx)->frames;
	struct sk_buff *skb;

	consume_skb(f->reading);
	while ((skb = dequeue(f)) && skb_linearize(skb))
		drop(f, skb);
	f->reading = skb;
	if (!skb)
		return NULL;
	f->received++;
	*bytes = skb->len;
	return skb->data;
}

/* ---- Send --------------------------------------------------------------------------------- */

/* Bytes before and after the frame that the interface may want */
static void interface_space(const struct xhca_function *fn, unsigned int *head, unsigned int *tail)
{
	const struct net_device *dev;

	rcu_read_lock();
	dev = rcu_dereference(fn->uplink.dev);
	*head = dev ? LL_RESERVED_SPACE(dev) : 0;
	*tail = dev ? dev->needed_tailroom : 0;
	rcu_read_unlock();
}

/* Without an uplink there is memory, too: the frame will be lost, as on a wire. */
void *xhca_frame_alloc(void *ctx, u32 bytes)
{
	struct xhca_function *fn = ctx;
	struct sock *sk = fn->frames.socket->sk;
	unsigned int head, tail;
	struct sk_buff *skb;

	if (sk_wmem_alloc_get(sk) >= MAX_UNSENT_MEMORY)
		return NULL;
	interface_space(fn, &head, &tail);
	skb = alloc_skb(head + bytes + tail, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, head);
	skb_set_owner_w(skb, sk);
	kfree_skb(fn->frames.writing);
	fn->frames.writing = skb;
	return skb_put(skb, bytes);
}

static struct xhca_function **function_of(struct sk_buff *skb)
{
	return (struct xhca_function **)skb->cb;
}

void xhca_frame_send(void *ctx)
{
	struct xhca_function *fn = ctx;

	*function_of(fn->frames.writing) = fn;
	__skb_queue_tail(&fn->fabric->engine.to_send, fn->frames.writing);
	fn->frames.writing = NULL;
}

/* The frames of a queue pair have the same source port, so they stay in one queue and in order. */
static void set_hash(struct sk_buff *skb)
{
	skb_set_hash(skb, jhash_1word((__force u32)udp_hdr(skb)->source, 0), PKT_HASH_TYPE_L4);
}

/* IP headers have no options. */
static void set_headers(struct sk_buff *skb)
{
	unsigned int network = ETH_HLEN;
	__be16 protocol;

	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb->protocol = eth_hdr(skb)->h_proto;
	protocol = skb->protocol;
	if (protocol == htons(ETH_P_8021Q)) {
		skb->priority = ntohs(vlan_eth_hdr(skb)->h_vlan_TCI) >> VLAN_PRIO_SHIFT;
		protocol = vlan_eth_hdr(skb)->h_vlan_encapsulated_proto;
		network += VLAN_HLEN;
	}
	if (protocol == htons(ETH_P_IP))
		skb_set_transport_header(skb, network + sizeof(struct iphdr));
	else
		skb_set_transport_header(skb, network + sizeof(struct ipv6hdr));
	if (protocol != htons(ETH_P_IBOE))
		set_hash(skb);
}

static void transmit(struct xhca_function *fn, struct sk_buff *skb)
{
	struct net_device *dev = rcu_dereference_bh(fn->uplink.dev);
	int rc;

	if (!dev || skb->len > dev->mtu + ETH_HLEN + VLAN_HLEN) {
		fn->frames.unsent++;
		kfree_skb(skb);
		return;
	}
	set_headers(skb);
	skb->dev = dev;
	rc = dev_queue_xmit(skb);
	if (net_xmit_eval(rc))
		fn->frames.unsent++;
	else
		fn->frames.sent++;
}

void xhca_frames_send(struct xhca_engine *e)
{
	struct sk_buff *skb;

	rcu_read_lock_bh();
	while ((skb = __skb_dequeue(&e->to_send)))
		transmit(*function_of(skb), skb);
	rcu_read_unlock_bh();
}

/* ---- Creation and removal ------------------------------------------------------------------ */

int xhca_frames_create(struct xhca_function *fn)
{
	struct xhca_frames *f = &fn->frames;

	memset(f, 0, sizeof(*f));
	skb_queue_head_init(&f->arrived);
	if (!*fn->uplink.name)
		return 0;
	return sock_create_kern(&init_net, PF_INET, SOCK_DGRAM, IPPROTO_UDP, &f->socket);
}

void xhca_frames_destroy(struct xhca_function *fn)
{
	struct xhca_frames *f = &fn->frames;

	skb_queue_purge(&f->arrived);
	kfree_skb(f->reading);
	kfree_skb(f->writing);
	if (f->socket)
		sock_release(f->socket);
	f->socket = NULL;
}
