// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion: many hosts on a switch send as fast as they can, to one host (incast) or each to
 * another one (permutation).
 *
 * If the switch marks packets, the links are used and shared fairly, and it loses nothing.  If it
 * does not, it loses packets, and each message still arrives whole.
 */
#include <stdio.h>
#include <string.h>
#include "tap.h"
#include "wire_net.h"

enum {
	MOST		= 256,		/* hosts */
	MESSAGE		= 65536,
	OUTSTANDING	= 4,		/* messages of a flow */
};

#define MS	1000000ull

static struct flow {
	u32 to;
	struct session_qp a, b;
	struct session_mr source, target;
	u32 posted, completed;
	bool failed;
} flow[MOST];				/* by the host that sends */

static struct net n;
static bool stopped;

static bool sends(u32 host)
{
	return flow[host].source.ptr;
}

/* Each message has its number at both ends. */
static void post(struct flow *f)
{
	const u32 number = ++f->posted;
	const struct xv_sge sge = session_sge(&f->source, 0, MESSAGE);

	memcpy(f->source.ptr, &number, sizeof(number));
	memcpy(f->source.ptr + MESSAGE - sizeof(number), &number, sizeof(number));
	xv_wr_write(&f->a.qp, number, XV_SEND_SIGNALED, &sge, f->target.addr, f->target.key);
	xv_commit_send(&f->a.qp);
}

static bool poll_flow(struct flow *f)
{
	struct xv_wc wc;
	u32 before = f->posted;

	while (xv_poll_cq(&f->a.cq, 1, &wc) > 0) {
		f->failed |= wc.status != XV_WC_SUCCESS || wc.wr_id != f->completed + 1;
		f->completed++;
	}
	while (!stopped && f->posted - f->completed < OUTSTANDING)
		post(f);
	return f->posted != before;
}

static bool ran(struct net *net, u32 host)
{
	return sends(host) && poll_flow(&flow[host]);
}

static void add_flow(u32 from, u32 to)
{
	struct flow *f = &flow[from];

	f->to = to;
	f->source = session_mr(&n.host[from].s, 0, MESSAGE, ALL_ACCESS);
	f->target = session_mr(&n.host[to].s, 0, MESSAGE, ALL_ACCESS);
	net_pair(&n, from, to, &f->a, &f->b);
}

/* ---- What is measured ------------------------------------------------------------------- */

struct result {
	double share;			/* of the links to the receivers, by bytes of messages */
	double jain;			/* index of fairness of the flows */
};

/* Counts the messages that each flow completes in @ns. */
static struct result measure(u64 ns, u32 flows, u32 links)
{
	static u32 before[MOST];
	double sum = 0, squares = 0, x;
	u32 i;

	for (i = 0; i < n.config.hosts; i++)
		before[i] = flow[i].completed;
	net_run(&n, ns, ran);
	for (i = 0; i < n.config.hosts; i++) {
		x = flow[i].completed - before[i];
		sum += x;
		squares += x * x;
	}
	return (struct result) {
		.share = sum * MESSAGE * 8000 / ((double)n.config.mbps * ns * links),
		.jain = squares ? sum * sum / (flows * squares) : 0,
	};
}

/* All messages have arrived, in order, and the last one of each flow is whole. */
static bool all_arrived(void)
{
	u32 i, head, tail, good = 0, all = 0;

	stopped = true;
	net_run(&n, 20000 * MS, ran);
	for (i = 0; i < n.config.hosts; i++) {
		struct flow *f = &flow[i];

		if (!sends(i))
			continue;
		memcpy(&head, f->target.ptr, sizeof(head));
		memcpy(&tail, f->target.ptr + MESSAGE - sizeof(tail), sizeof(tail));
		good += !f->failed && f->completed == f->posted && head == f->posted &&
			tail == f->posted;
		all++;
	}
	return good == all;
}

struct scene {
	const char *name;
	u32 hosts, receivers;		/* 1: all send to host 0; else each to another one */
	u32 threshold, loss;		/* as in struct net_config */
	double least_share, least_jain;
	u32 warm_ms, ms;
};

static void begin(const struct scene *c)
{
	const struct net_config config = {
		.hosts = c->hosts, .mbps = 10000, .delay = 1000, .buffer = 1 << 20,
		.threshold = c->threshold, .loss = c->loss,
	};
	u32 i;

	stopped = false;
	memset(flow, 0, sizeof(flow));
	net_init(&n, &config);
	for (i = c->receivers == 1; i < c->hosts; i++)
		add_flow(i, c->receivers == 1 ? 0 : (i + c->hosts / 2) % c->hosts);
}

static void end(void)
{
	u32 i;

	for (i = 0; i < n.config.hosts; i++) {
		if (!sends(i))
			continue;
		session_qp_destroy(&flow[i].a);
		session_qp_destroy(&flow[i].b);
	}
	net_free(&n);
}

static double units_per_frame(void)
{
	double units = 0;
	u32 i;

	for (i = 0; i < n.config.hosts; i++)
		units += n.host[i].s.fabric.stat.units;
	return units / n.frames;
}

static void play(const struct scene *c)
{
	const u32 flows = c->receivers == 1 ? c->hosts - 1 : c->hosts;
	struct result r;
	u64 dropped;

	begin(c);
	net_run(&n, c->warm_ms * MS, ran);
	dropped = n.dropped;
	r = measure(c->ms * MS, flows, c->receivers);
	dropped = n.dropped - dropped;
	diag("%s: %.1f %% of the links, fairness %.3f, %llu frames, %llu marked, %llu dropped",
	     c->name, 100 * r.share, r.jain, n.frames, n.marked, n.dropped);
	diag("%s: %.0f units of work for a frame", c->name, units_per_frame());
	ok(!c->threshold || !dropped, "%s: no drops with marks", c->name);
	ok(r.share >= c->least_share, "%s: the links are used", c->name);
	ok(r.jain >= c->least_jain, "%s: fair", c->name);
	ok(all_arrived(), "%s: all messages arrive", c->name);
	end();
}

int main(void)
{
	static const struct scene scenes[] = {
		{ "incast of 2", 3, 1, 100 << 10, 0, .9, .95, 20, 40 },
		{ "incast of 16", 17, 1, 100 << 10, 0, .9, .95, 20, 40 },
		{ "incast of 16 without marks", 17, 1, 0, 0, .3, 0, 20, 40 },
		{ "permutation of 16", 16, 16, 100 << 10, 0, .9, .95, 5, 10 },
		{ "permutation of 16, 0.1 % loss", 16, 16, 100 << 10, 1000, .6, .9, 5, 20 },
		{ "permutation of 64", 64, 64, 100 << 10, 0, .9, .95, 5, 5 },
		{ "permutation of 256", 256, 256, 100 << 10, 0, .9, .95, 2, 2 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(scenes); i++)
		play(&scenes[i]);
	return tap_done();
}
