// SPDX-License-Identifier: GPL-2.0
/*
 * RoCE frames between hca/ and the uplink of a function, or another function of its fabric.
 *
 * Frames arrive in softirqs of any CPU and wait in a queue of the function, until a pass reads
 * them.  hca/ writes frames during a pass, and they are sent at its end, in their order (see
 * may_send_here()).
 *
 * While frames of a function are captured, packet sockets get them as if they were frames of its
 * network device: those that it sends before they are impaired, those that it receives afterwards.
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
#include <net/ip.h>
#include <net/sock.h>
#include <rdma/ib_verbs.h>

#include "xhca.h"
#include "compat.h"

enum {
	MAX_ARRIVED = 1024,		/* frames that wait for a pass */
	MAX_ARRIVED_MEMORY = SZ_16M,	/* about 1024 frames of 9000 bytes */
	MAX_UNSENT_MEMORY = SZ_2M,	/* about 250 frames of 4 KiB */
};

#define ORDER_NS	(100 * NSEC_PER_MSEC)	/* longest wait for the frames of another CPU */

/* In the control block of a frame */
struct frame_info {
	struct xhca_function *fn;	/* its sender */
	bool local;			/* of a frame that arrives: its sender is in the fabric */
};

static struct frame_info *info_of(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct frame_info) > sizeof(skb->cb));
	return (struct frame_info *)skb->cb;
}

static void capture(struct xhca_function *fn, struct sk_buff *skb)
{
	struct net_device *dev = READ_ONCE(fn->netdev);

	if (!dev || !dev_nit_active(dev))
		return;
	skb->dev = dev;
	dev_queue_xmit_nit(skb, dev);
}

/* ---- Which frames ------------------------------------------------------------------------- */

static bool is_roce_port(const struct sk_buff *skb, int offset)
{
	const struct udphdr *udp;
	struct udphdr buf;

	udp = skb_header_pointer(skb, offset, sizeof(buf), &buf);
	return udp && udp->dest == htons(ROCE_V2_UDP_DPORT);
}

static bool is_roce_v4(const struct sk_buff *skb)
{
	const struct iphdr *ip;
	struct iphdr buf;

	ip = skb_header_pointer(skb, 0, sizeof(buf), &buf);
	return ip && ip->protocol == IPPROTO_UDP && !ip_is_fragment(ip) &&
	       is_roce_port(skb, 4 * ip->ihl);
}

/* RoCE has no extension headers. */
static bool is_roce_v6(const struct sk_buff *skb)
{
	const struct ipv6hdr *ip;
	struct ipv6hdr buf;

	ip = skb_header_pointer(skb, 0, sizeof(buf), &buf);
	return ip && ip->nexthdr == IPPROTO_UDP && is_roce_port(skb, sizeof(*ip));
}

/* The data of @skb begins after the Ethernet header, and after the VLAN tag if there is one. */
bool xhca_frames_is_roce(const struct sk_buff *skb)
{
	switch (skb->protocol) {
	case htons(ETH_P_IP):
		return is_roce_v4(skb);
	case htons(ETH_P_IPV6):
		return is_roce_v6(skb);
	case htons(ETH_P_IBOE):
		return true;
	}
	return false;
}

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

static void drop(struct xhca_frames *f, struct sk_buff *skb)
{
	atomic_long_inc(&f->dropped);
	kfree_skb(skb);
}

/* The network device may be removed at the same time. */
static bool has_carrier(const struct xhca_function *fn)
{
	const struct net_device *dev = READ_ONCE(fn->netdev);

	return dev && netif_carrier_ok(dev);
}

/*
 * Several datagrams that the kernel has joined (GSO) have lost their IP headers, which the ICRC
 * covers.
 */
static struct sk_buff *prepare(struct xhca_function *fn, struct sk_buff *skb)
{
	if (skb_is_gso(skb) || !has_carrier(fn) || skb_orphan_frags_rx(skb, GFP_ATOMIC)) {
		kfree_skb(skb);
		return NULL;
	}
	/* While it waits, it does not count as unsent for its sender. */
	skb_orphan(skb);
	skb_scrub_packet(skb, true);
	return skb_vlan_tag_present(skb) ? __vlan_hwaccel_push_inside(skb) : skb;
}

void xhca_frames_receive(struct xhca_function *fn, struct sk_buff *skb, bool local)
{
	struct xhca_frames *f = &fn->frames;

	skb = prepare(fn, skb);
	if (!skb) {
		drop(f, NULL);
		return;
	}
	if (READ_ONCE(fn->capture))
		capture(fn, skb);
	info_of(skb)->local = local;
	if (enqueue(f, skb))
		f->wake(fn);
	else
		drop(f, skb);
}

const void *xhca_frame_next(void *ctx, u32 *bytes, bool *local)
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
	*local = info_of(skb)->local;
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

void xhca_frame_send(void *ctx)
{
	struct xhca_function *fn = ctx;
	struct xhca_frames *f = &fn->frames;

	info_of(f->writing)->fn = fn;
	f->waiting += f->writing->truesize;
	__skb_queue_tail(&fn->fabric->engine.to_send, f->writing);
	f->writing = NULL;
}

/* The frames of a queue pair have the same source port. */
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

/*
 * All frames of a queue pair use the same queue of the device.  Otherwise the kernel would choose a
 * queue for this CPU, and another queue when another CPU sends the next frames.
 */
static void set_queue(const struct net_device *dev, struct sk_buff *skb)
{
	sk_tx_queue_set(skb->sk, reciprocal_scale(skb->hash, dev->real_num_tx_queues));
	skb->ooo_okay = 0;
}

static bool transmit_to_uplink(struct xhca_function *fn, struct sk_buff *skb)
{
	struct net_device *dev = rcu_dereference_bh(fn->uplink.dev);
	int rc;

	if (!dev || skb->len > dev->mtu + ETH_HLEN + VLAN_HLEN) {
		kfree_skb(skb);
		return false;
	}
	skb->dev = dev;
	set_queue(dev, skb);
	rc = dev_queue_xmit(skb);
	return !net_xmit_eval(rc);
}

static void switch_to(struct xhca_function *to, struct sk_buff *skb)
{
	if (skb)
		xhca_frames_receive(to, skb, true);
}

/* True: the frame is consumed, and no other host gets it. */
static bool transmit_in_fabric(struct xhca_function *from, struct sk_buff *skb)
{
	const u8 *dest = eth_hdr(skb)->h_dest;
	struct xhca_function *to = from->xhca->fn;
	const struct net_device *dev;

	for (; to < from->xhca->fn + XHCA_MAX_FUNCTIONS; to++) {
		dev = READ_ONCE(to->netdev);
		if (!dev || to->fabric != from->fabric)
			continue;
		if (ether_addr_equal(dest, dev->dev_addr)) {
			switch_to(to, skb);
			return true;
		}
		if (is_multicast_ether_addr(dest) && (from->packets || to->packets))
			switch_to(to, skb_clone(skb, GFP_ATOMIC));
	}
	return false;
}

static void transmit(struct xhca_function *fn, struct sk_buff *skb)
{
	struct xhca_frames *f = &fn->frames;

	if (transmit_in_fabric(fn, skb) || transmit_to_uplink(fn, skb))
		atomic_long_inc(&f->sent);
	else
		atomic_long_inc(&f->unsent);
}

static void send(struct xhca_function *fn, struct sk_buff *skb)
{
	set_headers(skb);
	if (fn->capture)
		capture(fn, skb);
	if (fn->impair.active)
		xhca_impair_send(fn, skb);
	else
		transmit(fn, skb);
}

/* Do the frames of @fn go through a queue that keeps their order, whichever CPU sends them? */
static bool has_queue(const struct xhca_function *fn)
{
	const struct net_device *dev = rcu_dereference_bh(fn->uplink.dev);

	return fn->impair.active || !dev || !(dev->priv_flags & IFF_NO_QUEUE);
}

/* True if a frame was sent and has not arrived: the socket still owns its memory. */
static bool has_unarrived(const struct xhca_frames *f)
{
	unsigned int here = f->waiting + (f->writing ? f->writing->truesize : 0);

	return sk_wmem_alloc_get(f->socket->sk) > here;
}

/*
 * veth and similar devices have no queue: they put a frame into the receive queue of the CPU that
 * sends it.  So a frame can overtake the frames that another CPU has sent, and RDMA takes that for
 * a loss.  Therefore a CPU does not send before the frames of the previous CPU have arrived.  It
 * waits ORDER_NS at most: then they have left the receive queue and wait somewhere else.
 */
static bool may_send_here(struct xhca_function *fn, u64 now)
{
	struct xhca_frames *f = &fn->frames;
	unsigned int cpu = smp_processor_id();

	/* If a frame of the function had to wait in this pass, the frames behind it wait, too. */
	if (f->held_at == now)
		return false;
	if (f->cpu != cpu && now - f->sent_at < ORDER_NS && has_unarrived(f) && !has_queue(fn)) {
		f->held_at = now;
		return false;
	}
	f->cpu = cpu;
	f->sent_at = now;
	return true;
}

bool xhca_frames_send(struct xhca_engine *e)
{
	u64 now = hca_fabric_now(e->fabric);
	struct sk_buff *skb, *next;
	struct xhca_function *fn;

	rcu_read_lock_bh();
	skb_queue_walk_safe(&e->to_send, skb, next) {
		fn = info_of(skb)->fn;
		if (!may_send_here(fn, now))
			continue;
		__skb_unlink(skb, &e->to_send);
		fn->frames.waiting -= skb->truesize;
		send(fn, skb);
	}
	rcu_read_unlock_bh();
	return skb_queue_empty(&e->to_send);
}

void xhca_frames_discard(struct xhca_function *fn)
{
	struct sk_buff_head *to_send = &fn->fabric->engine.to_send;
	struct sk_buff *skb, *next;

	skb_queue_walk_safe(to_send, skb, next) {
		if (info_of(skb)->fn == fn) {
			__skb_unlink(skb, to_send);
			kfree_skb(skb);
		}
	}
}

/* ---- Creation and removal ------------------------------------------------------------------ */

int xhca_frames_create(struct xhca_function *fn, void (*wake)(struct xhca_function *fn))
{
	struct xhca_frames *f = &fn->frames;

	memset(f, 0, sizeof(*f));
	skb_queue_head_init(&f->arrived);
	f->wake = wake;
	xhca_impair_init(fn, transmit);
	fn->capture = false;
	fn->packets = false;
	if (!fn->roce)
		return 0;
	return sock_create_kern(&init_net, PF_INET, SOCK_DGRAM, IPPROTO_UDP, &f->socket);
}

void xhca_frames_destroy(struct xhca_function *fn)
{
	struct xhca_frames *f = &fn->frames;

	xhca_impair_exit(fn);
	skb_queue_purge(&f->arrived);
	kfree_skb(f->reading);
	kfree_skb(f->writing);
	if (f->socket)
		sock_release(f->socket);
	f->socket = NULL;
}
