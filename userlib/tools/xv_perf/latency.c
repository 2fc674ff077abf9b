// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Latency.  Writes and sends go back and forth between the ends, and the latency is
 * half of the round trip.  For other operations it is the time from post to completion.
 *
 * The receiver of a write polls its last byte, which changes in each round.
 */
#include "post.h"

/* With --events: sleeps until the CQ has a completion. */
static void sleep_for(struct end *e, struct xv_cq *cq)
{
	struct xv_cq *which;

	xv_req_notify(cq, 0);
	if (xv_cq_next(cq))
		return;
	if (!xv_get_cq_event(e->channel, &which, NULL))
		xv_ack_cq_events(which, 1);
}

/* Waits for one completion; returns false if it is an error. */
static bool await(struct run *r, struct end *e, struct xv_cq *cq)
{
	struct xv_wc wc;

	while (!xv_poll_cq(cq, 1, &wc))
		if (r->p.events)
			sleep_for(e, cq);
	if (wc.status)
		__atomic_store_n(&r->failed, wc.status, __ATOMIC_RELAXED);
	return !wc.status;
}

static bool post(struct run *r, struct end *e, uint64_t round)
{
	struct params *p = &r->p;

	if (p->op == OP_WRITE && p->size)
		e->out[p->size - 1] = (uint8_t)round;
	if (post_op(e, e->qp[0], p->op, p->size, p->inline_max, 0, XV_SEND_SIGNALED)) {
		r->failed = XV_WC_GENERAL_ERR;
		return false;
	}
	xv_commit_send(e->qp[0]);
	return true;
}

/* Waits for the message of this round and for the completion of the last own message. */
static bool arrived(struct run *r, struct end *e, uint64_t round, bool sent)
{
	if (op_is_received(r->p.op)) {
		if (!await(r, e, e->recv_cq))
			return false;
		post_recv(e, 0);
	} else {
		while (e->in[r->p.size - 1] != (uint8_t)round)
			xv_cpu_relax();
	}
	return !sent || await(r, e, e->send_cq);
}

static bool bounce(struct run *r, uint64_t round)
{
	if (r->a && !post(r, r->a, round))
		return false;
	if (r->b && (!arrived(r, r->b, round, round > 0) || !post(r, r->b, round)))
		return false;
	return !r->a || arrived(r, r->a, round, true);
}

static bool one_sided(struct run *r, uint64_t round)
{
	return !r->a || (post(r, r->a, round) && await(r, r->a, r->a->send_cq));
}

void run_latency(void *arg)
{
	struct run *r = arg;
	bool pingpong = op_bounces(r->p.op);
	uint64_t i, before, now, warmup = r->p.iterations / 10 + 1;

	if (!r->a && !pingpong)
		return;
	before = xt_ticks();
	for (i = 0; i < r->p.iterations + warmup; i++) {
		if (!(pingpong ? bounce(r, i) : one_sided(r, i)))
			return;
		now = xt_ticks();
		if (i >= warmup && r->sample)
			r->sample[i - warmup] = (uint32_t)((now - before) / (pingpong ? 2 : 1));
		if (i >= warmup)
			r->ticks += now - before;
		before = now;
		__atomic_store_n(&r->done, i, __ATOMIC_RELAXED);
	}
	if (r->b && pingpong)
		await(r, r->b, r->b->send_cq);
	r->done = r->p.iterations;
}
