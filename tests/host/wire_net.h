/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Many hosts on a switch.  Each host is a session with one function, and has a link to the switch.
 *
 * Time is virtual (shim_now): the links and the queues of the switch take time, the adapters take
 * none.  A queue of the switch drops what exceeds its buffer, and marks packets that arrive when it
 * is longer than a threshold, if they are capable of ECN.
 */
#ifndef WIRE_NET_H
#define WIRE_NET_H

#include "session.h"

struct net_frame;

/* What a test sets before it begins */
struct net_config {
	u32 hosts;			/* at most 256 */
	u32 mbps;			/* of a link */
	u64 delay;			/* of a link, in ns */
	u32 buffer;			/* of a port of the switch, in bytes */
	u32 threshold;			/* bytes before a packet is marked; 0: none is */
	u32 loss;			/* of a million frames; any frame may be lost */
};

/* One direction of a link, and the queue before it */
struct net_link {
	u64 free;			/* when it has sent all */
	u64 longest;			/* queue, in bytes */
	u64 bytes;			/* that were sent */
};

struct net_host {
	struct net *net;
	struct session s;
	struct net_link up, down;
	struct net_frame *out, *in, **in_end, *current;
	bool due;			/* it has something to do now */
	u64 deadline;			/* of its timers */
};

struct net {
	struct net_config config;
	struct net_host *host;
	struct net_frame **event;	/* a heap of frames on the way, by their next event */
	u32 events, room;
	u64 order;			/* of events at the same time */
	u64 seed;
	u64 frames, marked, dropped, lost;
};

void net_init(struct net *n, const struct net_config *config);
void net_free(struct net *n);
/* Takes queue pairs of two hosts to RTS, connected to each other. */
void net_pair(struct net *n, u32 from, u32 to, struct session_qp *a, struct session_qp *b);
/*
 * Lets @ns pass.  After a host has run, @ran is called for it; it returns true if it has posted
 * something.
 */
void net_run(struct net *n, u64 ns, bool (*ran)(struct net *n, u32 host));

#endif
