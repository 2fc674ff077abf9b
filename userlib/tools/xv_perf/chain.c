// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A chain of writes over several queues: each waits for the completion of the one before.
 * The adapter runs it as it was posted, or the processor polls each completion and posts the
 * next write.
 */
#include <stdlib.h>
#include "compare.h"

/* Steps that are posted at once.  Nothing runs while the first of them are posted. */
enum { PART = 1024 };

struct chain {
	const struct compare *c;
	struct xt_side side[2];
	struct xv_mr *mr[2];
	struct xv_cq **cq;		/* of each queue */
	struct xv_qp **qp;
	struct xv_qp **peer;
	uint32_t *sq_pi[2];		/* of each queue: after the even and the odd parts */
	struct xv_cq *peer_cq;
	struct xv_comp_channel *channel;
	struct xv_cq *end_cq;
	struct xv_qp *end;
	struct xv_qp *end_peer;
};

#define NEED(good)	do { if (!(good)) xt_die_xv("chain"); } while (0)

/* ---- Queues ------------------------------------------------------------ */

static struct xv_qp *make_qp(const struct xt_side *s, struct xv_cq *cq, uint32_t depth,
			     uint32_t flags)
{
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.flags = flags | XV_QP_SINGLE_THREADED,
		.cap = { .max_send_wr = depth, .max_send_sge = 1, .max_recv_wr = 1,
			 .max_recv_sge = 1 },
	};
	struct xv_qp *qp = xv_create_qp(s->pd, &attr);

	NEED(qp);
	return qp;
}

static void open_chain(struct chain *t, const struct compare *c)
{
	const uint32_t cross = XV_CQ_CROSS_CHANNEL | XV_CQ_SINGLE_THREADED;
	struct xv_cq_init_attr plain = { .cqe = 16 }, attr = { .cqe = 63 };
	uint32_t depth = 2 * 2 * (PART / c->qps + 1), i;

	*t = (struct chain) { .c = c };
	for (i = 0; i < 2; i++) {
		NEED(!xt_side_open(&t->side[i], c->device[i] ? c->device[i] : c->device[0],
				   c->port, c->gid_index));
		xt_side_set_net(&t->side[i], &c->net);
		t->mr[i] = xt_mr_alloc(&t->side[i], c->size, XV_ACCESS_LOCAL_WRITE |
				       XV_ACCESS_REMOTE_WRITE);
		NEED(t->mr[i]);
	}
	t->cq = xt_calloc(c->qps, sizeof(*t->cq));
	t->qp = xt_calloc(c->qps, sizeof(*t->qp));
	t->peer = xt_calloc(c->qps, sizeof(*t->peer));
	for (i = 0; i < 2; i++)
		t->sq_pi[i] = xt_calloc(c->qps, sizeof(*t->sq_pi[i]));
	NEED((t->peer_cq = xv_create_cq(t->side[1].ctx, &plain)));
	attr.flags = cross | XV_CQ_IGNORE_OVERRUN;
	for (i = 0; i < c->qps; i++) {
		NEED((t->cq[i] = xv_create_cq(t->side[0].ctx, &attr)));
		t->qp[i] = make_qp(&t->side[0], t->cq[i], depth, XV_QP_CROSS_CHANNEL);
		t->peer[i] = make_qp(&t->side[1], t->peer_cq, 1, 0);
		NEED(!xt_connect_pair(t->qp[i], &t->side[0], t->peer[i], &t->side[1], NULL));
	}
	NEED((t->channel = xv_create_comp_channel(t->side[0].ctx)));
	attr = (struct xv_cq_init_attr) { .cqe = 16, .channel = t->channel };
	NEED((t->end_cq = xv_create_cq(t->side[0].ctx, &attr)));
	t->end = make_qp(&t->side[0], t->end_cq, 16, XV_QP_CROSS_CHANNEL);
	t->end_peer = make_qp(&t->side[1], t->peer_cq, 1, 0);
	NEED(!xt_connect_pair(t->end, &t->side[0], t->end_peer, &t->side[1], NULL));
}

static void close_chain(struct chain *t)
{
	uint32_t i;

	for (i = 0; i < t->c->qps; i++)
		NEED(!xv_destroy_qp(t->qp[i]) && !xv_destroy_qp(t->peer[i]) &&
		     !xv_destroy_cq(t->cq[i]));
	NEED(!xv_destroy_qp(t->end) && !xv_destroy_qp(t->end_peer) && !xv_destroy_cq(t->end_cq) &&
	     !xv_destroy_cq(t->peer_cq) && !xv_destroy_comp_channel(t->channel));
	for (i = 0; i < 2; i++) {
		free(t->sq_pi[i]);
		xt_mr_free(t->mr[i]);
		xt_side_close(&t->side[i]);
	}
	free(t->cq);
	free(t->qp);
	free(t->peer);
}

/* ---- Steps ------------------------------------------------------------- */

static int post_write(struct chain *t, uint32_t queue)
{
	struct xv_sge sge = { (uintptr_t)t->mr[0]->addr, t->c->size, t->mr[0]->lkey };

	return xv_wr_write(t->qp[queue], 0, XV_SEND_SIGNALED, &sge,
			   (uintptr_t)t->mr[1]->addr, t->mr[1]->rkey);
}

/* Waits for the completion at the end of the chain. */
static void await_end(struct chain *t)
{
	struct xv_cq *cq;
	struct xv_wc wc;
	void *context;

	if (t->c->events)
		xv_req_notify(t->end_cq, 0);
	while (!xv_poll_cq(t->end_cq, 1, &wc)) {
		if (t->c->events) {
			NEED(!xv_get_cq_event(t->channel, &cq, &context));
			xv_ack_cq_events(cq, 1);
		}
	}
	if (wc.status)
		xt_die(XT_FAILED, "chain: %s", xv_wc_status_str(wc.status));
}

/*
 * Posts the steps from first on.  The request at the end of the part counts from the same point
 * as the first wait of the next part, so both wait for the last step.
 */
static void post_part(struct chain *t, uint64_t first, uint32_t steps, uint32_t parity)
{
	uint32_t qps = t->c->qps, i;
	uint64_t n;
	int bad = 0;

	for (n = first; n < first + steps; n++) {
		if (n)
			bad |= xv_wr_cqe_wait(t->qp[n % qps], 0, XV_SEND_WAIT_EN_LAST,
					      t->cq[(n - 1) % qps], 1);
		bad |= post_write(t, n % qps);
	}
	bad |= xv_wr_cqe_wait(t->end, 0, XV_SEND_SIGNALED, t->cq[(n - 1) % qps], 1);
	if (bad)
		xt_die(XT_FAILED, "chain: a queue is full");
	for (i = 0; i < qps; i++) {
		xv_commit_send_relaxed(t->qp[qps - 1 - i]);
		t->sq_pi[parity][i] = t->qp[i]->sq.pi;
	}
	xv_commit_send(t->end);
}

static void end_part(struct chain *t, uint32_t parity)
{
	uint32_t i;

	await_end(t);
	for (i = 0; i < t->c->qps; i++)
		xv_retire_send(t->qp[i], t->sq_pi[parity][i]);
}

/* While the adapter runs a part, the next one is posted. */
static void run_at_once(struct chain *t, uint64_t steps)
{
	uint64_t first;
	uint32_t n, part = 0;

	for (first = 0; first < steps; first += n, part++) {
		n = steps - first < PART ? (uint32_t)(steps - first) : PART;
		post_part(t, first, n, part & 1);
		if (part)
			end_part(t, !(part & 1));
	}
	end_part(t, !(part & 1));
}

static void run_in_steps(struct chain *t, uint64_t steps)
{
	uint32_t qps = t->c->qps;
	struct xv_wc wc;
	uint64_t n;

	for (n = 0; n < steps; n++) {
		if (post_write(t, n % qps))
			xt_die(XT_FAILED, "chain: a queue is full");
		xv_commit_send(t->qp[n % qps]);
		while (!xv_poll_cq(t->cq[n % qps], 1, &wc))
			;
		if (wc.status)
			xt_die(XT_FAILED, "chain: %s", xv_wc_status_str(wc.status));
	}
}

static void run_way(struct compare *c, int way)
{
	struct chain t;
	double start, cpu;

	open_chain(&t, c);
	start = xt_now();
	cpu = xt_cpu_us();
	if (way == AT_ONCE)
		run_at_once(&t, c->iterations);
	else
		run_in_steps(&t, c->iterations);
	c->us[way] = (xt_now() - start) * 1e6 / (double)c->iterations;
	c->cpu_us[way] = (xt_cpu_us() - cpu) / (double)c->iterations;
	close_chain(&t);
}

void run_chain(struct compare *c)
{
	run_way(c, AT_ONCE);
	run_way(c, IN_STEPS);
}
