// SPDX-License-Identifier: GPL-2.0
/*
 * Counts of requests that wait and enable, with and without XV_SEND_WAIT_EN_LAST, and receive
 * queues that ignore overflows.
 */
#include "chain.h"

static const struct rig_opts opts = { .size = 1 << 20, .depth = 16 };

enum { LAST = XV_SEND_WAIT_EN_LAST, SIGNALED = XV_SEND_SIGNALED, BLOCK = 64, DST = 65536 };

/* ---- Counts -------------------------------------------------------------- */

/* The next n completions have the numbers from first on; no other comes. */
static bool exactly(struct xv_cq *cq, uint64_t first, uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n; i++)
		if (!rig_expect(cq, first + i, XV_WC_SUCCESS))
			return false;
	return quiet(cq);
}

/*
 * Requests up to one with LAST count from the same point.  The next point is behind the greatest
 * count, not behind their sum and not behind the last one.
 */
static void test_send_counts(void)
{
	struct link m = link_up(16, XV_QP_MANAGED_SEND, 0);
	struct link c = link_up(16, XV_QP_CROSS_CHANNEL, 0);
	uint32_t i;

	rig_fill(r.buf[0], 6 * BLOCK, 1);
	memset(r.buf[1], 0, 6 * BLOCK);
	for (i = 0; i < 6; i++)
		put(m.qp, i, SIGNALED, i * BLOCK, i * BLOCK, BLOCK);
	xv_commit_send(m.qp);
	xv_wr_send_enable(c.qp, 10, 0, m.qp, 2);
	xv_wr_send_enable(c.qp, 11, 0, m.qp, 2);
	xv_wr_send_enable(c.qp, 12, LAST, m.qp, 1);
	xv_commit_send(c.qp);
	ok(exactly(m.cq, 0, 2) && rig_check(r.buf[1], 2 * BLOCK, 1) && !r.buf[1][2 * BLOCK],
	   "enable 2, 2 and 1 with LAST: two sends run");
	xv_wr_send_enable(c.qp, 13, 0, m.qp, 1);
	xv_commit_send(c.qp);
	ok(exactly(m.cq, 2, 1), "enable 1: the third");
	xv_wr_send_enable(c.qp, 14, LAST, m.qp, 3);
	xv_commit_send(c.qp);
	ok(exactly(m.cq, 3, 2), "enable 3 from the same point: two more");
	ok(xv_wr_send_enable(c.qp, 15, 0, m.qp, 2) == -XV_EINVAL &&
	   !xv_wr_send_enable(c.qp, 16, SIGNALED, m.qp, 1), "one is left");
	xv_commit_send(c.qp);
	ok(rig_expect(c.cq, 16, XV_WC_SUCCESS) && exactly(m.cq, 5, 1) &&
	   rig_check(r.buf[1], 6 * BLOCK, 1), "it runs");
	link_down(&m);
	link_down(&c);
}

static void test_recv_counts(void)
{
	struct link m = link_up(16, XV_QP_MANAGED_RECV, 0);
	struct link c = link_up(16, XV_QP_CROSS_CHANNEL, 0);
	uint32_t i;

	rig_fill(r.buf[1], 5 * BLOCK, 2);
	memset(r.buf[0] + DST, 0, 5 * BLOCK);
	for (i = 0; i < 5; i++) {
		struct xv_sge from = rig_sge(&r, 1, i * BLOCK, BLOCK);
		struct xv_sge to = rig_sge(&r, 0, DST + i * BLOCK, BLOCK);

		xv_wr_recv(m.qp, i, &to);
		xv_wr_send(m.peer, i, SIGNALED, &from);
	}
	xv_commit_recv(m.qp);
	xv_commit_send(m.peer);
	xv_wr_recv_enable(c.qp, 10, 0, m.qp, 1);
	xv_wr_recv_enable(c.qp, 11, 0, m.qp, 2);
	xv_wr_recv_enable(c.qp, 12, LAST, m.qp, 1);
	xv_commit_send(c.qp);
	ok(exactly(m.cq, 0, 2) && exactly(m.peer_cq, 0, 2),
	   "enable 1, 2 and 1 with LAST: two receives");
	xv_wr_recv_enable(c.qp, 13, LAST, m.qp, 1);
	xv_commit_send(c.qp);
	ok(exactly(m.cq, 2, 1), "enable 1: the third");
	ok(xv_wr_recv_enable(c.qp, 14, 0, m.qp, 3) == -XV_EINVAL &&
	   !xv_wr_recv_enable(c.qp, 15, 0, m.qp, 2), "two are left");
	xv_commit_send(c.qp);
	ok(exactly(m.cq, 3, 2) && rig_check(r.buf[0] + DST, 5 * BLOCK, 2), "they arrive");
	link_down(&m);
	link_down(&c);
}

/* Waits up to one with LAST count from the same point. */
static void test_wait_counts(void)
{
	struct link a = link_up(16, 0, 0), w = link_up(16, XV_QP_CROSS_CHANNEL, 0);

	xv_wr_cqe_wait(w.qp, 1, SIGNALED, a.cq, 1);
	xv_wr_cqe_wait(w.qp, 2, SIGNALED, a.cq, 2);
	xv_wr_cqe_wait(w.qp, 3, SIGNALED | LAST, a.cq, 1);
	xv_wr_cqe_wait(w.qp, 4, SIGNALED, a.cq, 1);
	xv_commit_send(w.qp);
	put(a.qp, 11, SIGNALED, 0, 0, BLOCK);
	xv_commit_send(a.qp);
	ok(exactly(a.cq, 11, 1) && exactly(w.cq, 1, 1), "waits for 1, 2 and 1: the first ends");
	put(a.qp, 12, SIGNALED, 0, 0, BLOCK);
	xv_commit_send(a.qp);
	ok(exactly(a.cq, 12, 1) && exactly(w.cq, 2, 2),
	   "the second completion ends the two that count from the same point");
	put(a.qp, 13, SIGNALED, 0, 0, BLOCK);
	xv_commit_send(a.qp);
	ok(exactly(a.cq, 13, 1) && exactly(w.cq, 4, 1), "the third one the wait after LAST");
	link_down(&a);
	link_down(&w);
}

/* ---- Receives that ignore overflows -------------------------------------- */

enum { ROUNDS = 4 };

/* Posts a round of receives, none of whose completions anyone polls, and fills them. */
static bool recv_round(struct link *l, uint32_t n, uint32_t round)
{
	struct xv_wc wc[256];
	uint32_t i;

	rig_fill(r.buf[1], n * BLOCK, round);
	memset(r.buf[0] + DST, 0, n * BLOCK);
	for (i = 0; i < n; i++) {
		struct xv_sge from = rig_sge(&r, 1, i * BLOCK, BLOCK);
		struct xv_sge to = rig_sge(&r, 0, DST + i * BLOCK, BLOCK);

		if (xv_wr_recv(l->qp, i, &to) || xv_wr_send(l->peer, i, SIGNALED, &from))
			return false;
	}
	xv_commit_recv(l->qp);
	xv_commit_send(l->peer);
	/* A sender completes when its message has arrived. */
	return (uint32_t)rig_poll(l->peer_cq, (int)n, wc) == n &&
	       rig_check(r.buf[0] + DST, n * BLOCK, round);
}

static void test_ignore_rq_overflow(void)
{
	struct link l = link_up(16, XV_QP_IGNORE_RQ_OVERFLOW, XV_CQ_IGNORE_OVERRUN);
	struct link plain = link_up(16, 0, XV_CQ_IGNORE_OVERRUN);
	struct link w = link_up(16, XV_QP_CROSS_CHANNEL, 0);
	uint32_t n = l.qp->rq.mask + 1, round;
	struct xv_sge to = rig_sge(&r, 0, DST, BLOCK);

	ok(n <= 256 && recv_round(&plain, n, 1) && xv_wr_recv(plain.qp, 1, &to) == -XV_ENOMEM,
	   "a receive queue of %u entries is full, its completions are not polled: ENOMEM", n);
	xv_retire_recv(plain.qp, plain.qp->rq.pi);
	ok(recv_round(&plain, n, 2), "retired entries can be posted again");
	xv_wr_wait_cq_pi(w.qp, 1, SIGNALED, l.cq, ROUNDS * n - 1);
	xv_wr_wait_cq_pi(w.qp, 2, SIGNALED, l.cq, ROUNDS * n);
	xv_commit_send(w.qp);
	for (round = 0; round < ROUNDS && recv_round(&l, n, round); round++)
		;
	tap_is(round, ROUNDS, "rounds in a queue that ignores overflows, with the right data");
	ok(exactly(w.cq, 1, 1), "its completions are counted by a wait");
	link_down(&w);
	link_down(&l);
	link_down(&plain);
}

int main(int argc, char **argv)
{
	rig_devices(argc, argv);
	rig_open(&r, &opts);
	if (!has_feature("cross-channel"))
		tap_skip_all("the device has no cross-channel queues");
	test_send_counts();
	test_recv_counts();
	test_wait_counts();
	test_ignore_rq_overflow();
	return tap_done();
}
