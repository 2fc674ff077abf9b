// SPDX-License-Identifier: GPL-2.0
/*
 * Strict mode: doorbells that software forgets.
 */
#include <linux/mlx5/device.h>
#include "session.h"
#include "tap.h"

enum { WORD = 8 };

static struct session s;
static struct session_mr from, to;

static void pair(struct session_qp *a, struct session_qp *b)
{
	session_qp(&s, 0, MLX5_QP_ST_RC, 4, 4, a);
	session_qp(&s, 1, MLX5_QP_ST_RC, 4, 4, b);
	session_connect(a, b);
}

static void destroy(struct session_qp *q)
{
	session_qp_destroy(q);
	session_cq_destroy(q);
}

static void destroy_pair(struct session_qp *a, struct session_qp *b)
{
	destroy(a);
	destroy(b);
}

static void build(struct session_qp *q)
{
	struct xv_sge sge = session_sge(&from, 0, WORD);

	if (xv_wr_write(&q->qp, 0, XV_SEND_SIGNALED, &sge, to.addr, to.key))
		bail_out("no room for a request");
}

/* Posts without a doorbell. */
static void publish(struct session_qp *q)
{
	q->qp.sq.dbrec[MLX5R_DBR_SND] = xv_be32(q->qp.sq.pi & 0xffff);
}

static u32 completions(struct session_qp *q)
{
	struct xv_wc wc[16];
	int i, n;

	session_settle(&s);
	n = xv_poll_cq(&q->cq, 16, wc);
	for (i = 0; i < n; i++)
		if (wc[i].status)
			return 0;
	return n;
}

static void test_forgotten(void)
{
	struct session_qp a, b;

	pair(&a, &b);
	build(&a);
	publish(&a);
	tap_is(completions(&a), 0, "the first doorbell is forgotten: nothing is executed");
	ok(!hca_fabric_rung(&s.fabric), "and the engine may sleep");
	xv_commit_send(&a.qp);
	tap_is(completions(&a), 1, "with a doorbell it is");
	build(&a);
	publish(&a);
	tap_is(completions(&a), 0, "an active queue needs a doorbell, too");
	build(&a);
	xv_commit_send(&a.qp);
	tap_is(completions(&a), 2, "the next one announces both requests");
	build(&a);
	xv_commit_send(&a.qp);
	build(&a);
	publish(&a);
	tap_is(completions(&a), 1, "only what the doorbell has announced");
	hca_strict(s.hca[0], false);
	tap_is(completions(&a), 1, "strict mode ends: the record is enough");
	hca_strict(s.hca[0], true);
	destroy_pair(&a, &b);
}

/* The index of doorbell and record wraps at 16 bits. */
static void test_wrap(void)
{
	struct session_qp a, b;
	u32 i, n, done = 0;

	pair(&a, &b);
	for (i = 0; i < 70000; i += 8) {
		for (n = 0; n < 8; n++)
			build(&a);
		xv_commit_send(&a.qp);
		done += completions(&a);
	}
	tap_is(done, 70000, "requests, with a doorbell for eight");
	build(&a);
	publish(&a);
	tap_is(completions(&a), 0, "and one without");
	destroy_pair(&a, &b);
}

/* Two queues on a register: the doorbell of one may have overwritten that of the other. */
static void test_shared(void)
{
	struct session_qp a, b, c, d;
	u32 i, n = 0;

	pair(&a, &b);
	pair(&c, &d);
	for (i = 0; i < 100; i++) {
		build(&a);
		build(&c);
		xv_commit_send(&a.qp);
		xv_commit_send(&c.qp);
		n += completions(&a) + completions(&c);
	}
	tap_is(n, 200, "a doorbell that is overwritten is not lost");
	build(&a);
	publish(&a);
	tap_is(completions(&a), 0, "one that is forgotten is, while the other queue is quiet");
	session_qp_destroy(&c);
	build(&a);
	build(&a);
	xv_commit_send(&a.qp);
	*a.qp.sq.doorbell = xv_be64((u64)c.qp.qp_num << 8);
	tap_is(completions(&a), 3, "the doorbell of a queue that is gone has overwritten it");
	session_cq_destroy(&c);
	destroy(&d);
	destroy_pair(&a, &b);
}

/* A queue with a register of its own: doorbells of others do not help it. */
static void test_own_register(void)
{
	struct session_qp a, b, c, d;
	volatile uint64_t *usual;

	pair(&a, &b);
	pair(&c, &d);
	usual = c.qp.sq.doorbell;
	c.qp.sq.doorbell = usual + 0x200 / sizeof(*usual);
	build(&a);
	xv_commit_send(&a.qp);
	build(&c);
	xv_commit_send(&c.qp);
	tap_is(completions(&a) + completions(&c), 2, "each has rung its register");
	build(&a);
	publish(&a);
	build(&c);
	xv_commit_send(&c.qp);
	tap_is(completions(&c), 1, "one rings");
	tap_is(completions(&a), 0, "the other one is not executed");
	c.qp.sq.doorbell = usual;
	destroy_pair(&c, &d);
	destroy_pair(&a, &b);
}

static u32 armed(const struct session_qp *q)
{
	const struct hca_cq *cq = hca_table_get(&s.hca[0]->cqs, q->cqn);

	session_settle(&s);
	return cq->armed;
}

/* A request for an event, with a doorbell or without */
static void test_arm(void)
{
	struct session_qp a, b;
	u32 word;

	pair(&a, &b);
	xv_req_notify(&a.cq, 0);
	tap_is(armed(&a), 1, "a CQ is armed");
	build(&a);
	xv_commit_send(&a.qp);
	tap_is(completions(&a) << 1 | armed(&a), 2, "its event");
	word = be32_to_cpu(a.cq.dbrec[MLX5R_DBR_CQ_ARM]);
	a.cq.dbrec[MLX5R_DBR_CQ_ARM] = cpu_to_be32(word + 1);
	tap_is(armed(&a), 0, "it is not armed again without a doorbell");
	build(&a);
	xv_commit_send(&a.qp);
	tap_is(completions(&a) << 1 | armed(&a), 2, "nor by the next completion");
	xv_req_notify(&a.cq, 0);
	tap_is(armed(&a), 1, "but with a doorbell");
	destroy_pair(&a, &b);
}

int main(void)
{
	session_init(&s);
	from = session_mr(&s, 0, HCA_PAGE_SIZE, ALL_ACCESS);
	to = session_mr(&s, 1, HCA_PAGE_SIZE, ALL_ACCESS);
	hca_strict(s.hca[0], true);
	test_forgotten();
	test_wrap();
	test_shared();
	test_own_register();
	test_arm();
	session_free(&s);
	return tap_done();
}
