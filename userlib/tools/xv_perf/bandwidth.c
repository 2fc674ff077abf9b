// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Bandwidth and message rate.  The active end keeps --depth requests in flight on
 * each QP.  The passive end reposts receives.
 *
 * Every signal_every-th request is signalled.  The low half of its wr_id is the
 * number of requests that its completion covers, the high half the QP.
 */
#include "post.h"

struct flow {
	uint64_t posted;
	uint64_t done;
	uint32_t unsignalled;
};

static bool post_batch(struct run *r, uint32_t q, struct flow *f, uint64_t *left)
{
	struct params *p = &r->p;
	uint32_t n = *left < p->batch ? (uint32_t)*left : p->batch, i;

	if (f->posted - f->done + n > p->depth)
		return false;
	for (i = 0; i < n; i++) {
		bool signal = ++f->unsignalled == p->signal_every || *left == 1;

		if (post_op(r->a, r->a->qp[q], p->op, p->size, p->inline_max,
			    (uint64_t)q << 32 | f->unsignalled, signal ? XV_SEND_SIGNALED : 0)) {
			f->unsignalled--;
			break;
		}
		if (signal)
			f->unsignalled = 0;
		f->posted++;
		--*left;
	}
	if (i)
		xv_commit_send(r->a->qp[q]);
	return i == n;
}

static void reap(struct run *r, struct flow *flow)
{
	struct xv_wc wc[32];
	int n = xv_poll_cq(r->a->send_cq, 32, wc), i;
	uint64_t done = r->done;

	for (i = 0; i < n; i++) {
		if (wc[i].status) {
			r->failed = wc[i].status;
			return;
		}
		flow[wc[i].wr_id >> 32].done += (uint32_t)wc[i].wr_id;
		done += (uint32_t)wc[i].wr_id;
	}
	if (n)
		__atomic_store_n(&r->done, done, __ATOMIC_RELAXED);
}

/* Reposts consumed receives; wr_id is the index of the QP. */
static void serve(struct run *r)
{
	struct xv_wc wc[32];
	int n = xv_poll_cq(r->b->recv_cq, 32, wc), i;

	for (i = 0; i < n; i++) {
		if (wc[i].status) {
			r->failed = wc[i].status;
			return;
		}
		post_recv(r->b, (uint32_t)wc[i].wr_id);
	}
	r->b->recv_done += (uint64_t)n;
}

/*
 * Receives the remaining messages.  UC and UD may lose messages, so the run ends when
 * none has come for one second.
 */
static void serve_rest(struct run *r, uint64_t wanted)
{
	uint64_t patience = (uint64_t)(1e6 * xt_ticks_per_us()), last = xt_ticks();
	uint64_t before = r->b->recv_done;

	while (!r->failed && r->b->recv_done < wanted) {
		serve(r);
		if (r->b->recv_done != before) {
			before = r->b->recv_done;
			last = xt_ticks();
		} else if (!transport_is_reliable(r->p.transport) && r->b->recv_done &&
			   xt_ticks() - last > patience) {
			break;
		}
	}
	r->lost = wanted - r->b->recv_done;
	r->b->recv_done = wanted;
}

void run_bandwidth(void *arg)
{
	static struct flow flow[MAX_QPS];
	struct run *r = arg;
	uint64_t left = r->p.iterations, start, wanted;
	uint32_t q;

	for (q = 0; q < MAX_QPS; q++)
		flow[q] = (struct flow) { 0 };
	wanted = (r->b ? r->b->recv_done : 0) + r->p.iterations;
	start = xt_ticks();
	while (!r->failed && r->a && r->done < r->p.iterations) {
		for (q = 0; q < r->a->qps; q++)
			while (left && post_batch(r, q, &flow[q], &left))
				;
		reap(r, flow);
		if (r->b && op_is_received(r->p.op))
			serve(r);
	}
	if (r->a)
		r->ticks = xt_ticks() - start;
	if (r->b && op_is_received(r->p.op))
		serve_rest(r, wanted);
}
