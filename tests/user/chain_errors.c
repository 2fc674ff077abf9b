// SPDX-License-Identifier: GPL-2.0
/*
 * Errors of cross-channel requests: objects that a request must not name, numbers of
 * hostile programs, and queues and completion queues that are destroyed while others wait.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "chain.h"

static const struct rig_opts opts = { .size = 1 << 20, .depth = 16 };

enum { LAST = XV_SEND_WAIT_EN_LAST, SIGNALED = XV_SEND_SIGNALED };

/*
 * Runs one request in a queue of its own, which fails; the request behind it is flushed,
 * and both ends are in the error state.
 */
#define FAILS(_status, _what, ...) do {						\
	struct link w = link_up(16, XV_QP_CROSS_CHANNEL, 0);			\
	struct xv_qp *qp = w.qp;						\
										\
	if ((__VA_ARGS__))							\
		diag("not posted");						\
	put(qp, 2, SIGNALED, 0, 0, 64);						\
	xv_commit_send(qp);							\
	ok(rig_expect(w.cq, 1, _status) &&					\
	   rig_expect(w.cq, 2, XV_WC_WR_FLUSH_ERR), "%s", _what);		\
	link_down(&w);								\
} while (0)

/* A wait or enable request with any numbers */
static int raw(struct xv_qp *qp, uint8_t opcode, uint8_t opmod, uint32_t index, uint32_t number)
{
	struct { struct mlx5r_ctrl ctrl; struct mlx5r_wait wait; } wqe = {
		.ctrl = {
			.opmod_idx_opcode = xv_be32((uint32_t)opmod << 24 | opcode),
			.qpn_ds = xv_be32(2),
			.fm_ce_se = MLX5R_CE_ALWAYS,
		},
		.wait = { .index = xv_be32(index), .number = xv_be32(number) },
	};

	return xv_wr_raw(qp, 1, &wqe);
}

/* ---- Objects that a request must not name ------------------------------ */

static void test_foreign_page(void)
{
	struct xv_uar *uar = xv_alloc_uar(r.side[0].ctx, 0);
	struct xv_cq_init_attr attr = { .cqe = 4, .flags = XV_CQ_CROSS_CHANNEL,
					.external = { .uar = uar } };
	struct xv_cq *cq = xv_create_cq(r.side[0].ctx, &attr);

	if (!uar || !cq)
		bail_out("%s", xv_last_error());
	FAILS(XV_WC_LOC_QP_OP_ERR, "wait for a CQ of another doorbell page",
	      xv_wr_wait_cq_pi(qp, 1, SIGNALED, cq, 0));
	xv_destroy_cq(cq);
	xv_free_uar(uar);
}

static void test_foreign_objects(void)
{
	struct xv_pd *pd = xv_alloc_pd(r.side[0].ctx);
	struct xv_cq *cq = make_cq(0, 4, 0);
	struct xv_qp *strange = make_qp(0, pd, cq, 4, XV_QP_MANAGED_SEND | XV_QP_MANAGED_RECV);
	struct xv_qp *plain = make_qp(0, NULL, cq, 4, 0);
	struct link other = link_up(4, XV_QP_MANAGED_SEND | XV_QP_MANAGED_RECV, 0);

	put(other.qp, 7, SIGNALED, 0, 0, 64);
	FAILS(XV_WC_LOC_QP_OP_ERR, "enable sends in another protection domain",
	      xv_wr_send_enable_index(qp, 1, SIGNALED, strange->qp_num, 1));
	FAILS(XV_WC_LOC_QP_OP_ERR, "enable receives in another protection domain",
	      xv_wr_recv_enable_index(qp, 1, SIGNALED, strange->qp_num, 1));
	FAILS(XV_WC_LOC_QP_OP_ERR, "enable sends of a queue that is not managed",
	      xv_wr_send_enable_index(qp, 1, SIGNALED, plain->qp_num, 1));
	FAILS(XV_WC_LOC_QP_OP_ERR, "enable receives of a queue that is not managed",
	      xv_wr_recv_enable_index(qp, 1, SIGNALED, plain->qp_num, 1));
	FAILS(XV_WC_LOC_QP_OP_ERR, "enable a queue of another device",
	      xv_wr_send_enable_index(qp, 1, SIGNALED, other.peer->qp_num ^ 0x800000, 1));
	FAILS(XV_WC_LOC_QP_OP_ERR, "enable more than the ring has",
	      xv_wr_send_enable_index(qp, 1, SIGNALED, other.qp->qp_num, 1000));
	FAILS(XV_WC_LOC_QP_OP_ERR, "wait for a CQ that does not exist",
	      raw(qp, MLX5R_OP_WAIT, 0, 0, 0xfffffe));
	FAILS(XV_WC_LOC_QP_OP_ERR, "enable a queue that does not exist",
	      raw(qp, MLX5R_OP_SEND_ENABLE, 0, 1, 0xfffffe));
	FAILS(XV_WC_LOC_QP_OP_ERR, "an unknown kind of wait",
	      raw(qp, MLX5R_OP_WAIT, 9, 0, cq->cqn));
	ok(quiet(other.cq), "none of them has enabled another queue");
	link_down(&other);
	xv_destroy_qp(plain);
	xv_destroy_qp(strange);
	xv_destroy_cq(cq);
	xv_dealloc_pd(pd);
}

/* The numbers of another process: its queues must not run. */
static void test_foreign_process(void)
{
	struct link mine = link_up(8, XV_QP_MANAGED_SEND, 0);
	int status = 0;
	pid_t child;

	put(mine.qp, 1, SIGNALED, 0, 0, 64);
	fflush(stdout);
	child = fork();
	if (!child) {
		struct link w;
		bool good;

		alarm(60);
		memset(&r, 0, sizeof(r));
		rig_open(&r, &opts);
		w = link_up(8, XV_QP_CROSS_CHANNEL, 0);
		raw(w.qp, MLX5R_OP_SEND_ENABLE, 0, 1, mine.qp->qp_num);
		xv_commit_send(w.qp);
		good = rig_expect(w.cq, 1, XV_WC_LOC_QP_OP_ERR);
		link_down(&w);
		w = link_up(8, XV_QP_CROSS_CHANNEL, 0);
		raw(w.qp, MLX5R_OP_WAIT, 0, 0, mine.cq->cqn);
		xv_commit_send(w.qp);
		_exit(!(good && rig_expect(w.cq, 1, XV_WC_LOC_QP_OP_ERR)));
	}
	ok(waitpid(child, &status, 0) == child && !status,
	   "another process cannot enable a queue or wait for a CQ of this one");
	ok(quiet(mine.cq), "the queue did not run");
	link_down(&mine);
}

/* ---- Queues without the flag ------------------------------------------- */

static void test_plain_queue(void)
{
	struct link p = link_up(8, 0, 0);

	raw(p.qp, MLX5R_OP_WAIT, 0, 0, p.cq->cqn);
	xv_commit_send(p.qp);
	ok(rig_expect(p.cq, 1, XV_WC_LOC_QP_OP_ERR), "a wait in a queue that is not cross-channel");
	link_down(&p);
}

static void test_data(void)
{
	struct xv_wait_data d = {
		rig_addr(&r, 0, 0), r.mr[0]->lkey ^ 0x5500, XV_WAIT_ALWAYS, 0, 0,
	};

	FAILS(XV_WC_LOC_PROT_ERR, "wait for data with a wrong key",
	      xv_wr_wait_data(qp, 1, SIGNALED, &d));
}

/* ---- States ------------------------------------------------------------ */

static int set_state(struct xv_qp *qp, enum xv_qp_state state)
{
	struct xv_qp_attr a = { .qp_state = state };

	return xv_modify_qp(qp, &a, XV_QP_STATE);
}

/* A failure of a request stops the send queue on UC, the queue pair on the other types. */
static bool failed(const struct chain_type *t, struct xv_qp *qp)
{
	struct xv_qp_attr now;

	return !xv_query_qp(qp, &now, 0, NULL) &&
	       now.qp_state == (t->type == XV_QPT_UC ? XV_QPS_SQE : XV_QPS_ERR);
}

static int restart(struct xv_qp *qp)
{
	struct xv_qp_attr a = { .qp_state = XV_QPS_RTS, .cur_qp_state = XV_QPS_SQE };

	return xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_CUR_STATE);
}

/* From SQE to RTS: the next wait and the next write of the queue run. */
static void test_restart(struct link *w)
{
	struct link other = link_up(8, 0, 0);

	rig_fill(r.buf[0], 64, 7);
	memset(r.buf[1], 0, 128);
	ok(!restart(w->qp) &&
	   !xv_wr_cqe_wait(w->qp, 21, SIGNALED | LAST, other.cq, 1) &&
	   !put(w->qp, 22, SIGNALED, 0, 0, 64), "from SQE to RTS");
	xv_commit_send(w->qp);
	ok(quiet(w->cq) && !r.buf[1][0], "the queue waits again");
	put(other.qp, 23, SIGNALED, 0, 64, 64);
	xv_commit_send(other.qp);
	ok(rig_expect(other.cq, 23, XV_WC_SUCCESS) && rig_expect(w->cq, 21, XV_WC_SUCCESS) &&
	   rig_expect(w->cq, 22, XV_WC_SUCCESS) && rig_check(r.buf[1], 64, 7), "and runs");
	link_down(&other);
}

/* An enable request that fails */
static void test_failure(const struct chain_type *t)
{
	struct link w = link_of(t->type, 16, XV_QP_CROSS_CHANNEL, 0);

	xv_wr_send_enable_index(w.qp, 1, SIGNALED, w.peer->qp_num ^ 0x800000, 1);
	put(w.qp, 2, SIGNALED, 0, 0, 64);
	xv_commit_send(w.qp);
	ok(rig_expect(w.cq, 1, XV_WC_LOC_QP_OP_ERR) && rig_expect(w.cq, 2, XV_WC_WR_FLUSH_ERR) &&
	   failed(t, w.qp), "%s: a request that fails stops its queue", t->name);
	if (t->type == XV_QPT_UC)
		test_restart(&w);
	link_down(&w);
}

/* ---- Waits that are never met ------------------------------------------ */

static void test_never_data(const struct chain_type *t)
{
	struct link w = link_of(t->type, 8, XV_QP_CROSS_CHANNEL, 0);
	struct xv_wait_data d = { rig_addr(&r, 0, 0), r.mr[0]->lkey,
				  XV_WAIT_ALWAYS | XV_WAIT_INVERT, 0, 0 };

	xv_wr_wait_data(w.qp, 4, SIGNALED, &d);
	xv_commit_send(w.qp);
	ok(quiet(w.cq) && !set_state(w.qp, XV_QPS_ERR) && rig_expect(w.cq, 4, XV_WC_WR_FLUSH_ERR),
	   "the error state flushes a wait for data");
	link_down(&w);
}

static void test_never_time(const struct chain_type *t)
{
	struct link w = link_of(t->type, 8, XV_QP_CROSS_CHANNEL, 0);

	xv_wr_wait_time(w.qp, 5, SIGNALED, 1ull << 62);
	xv_commit_send(w.qp);
	ok(quiet(w.cq) && !set_state(w.qp, XV_QPS_RESET) && quiet(w.cq),
	   "RESET ends a wait for a time without a completion");
	link_down(&w);
}

static void test_never(const struct chain_type *t)
{
	struct link w = link_of(t->type, 8, XV_QP_CROSS_CHANNEL, 0), other = link_up(8, 0, 0);
	struct xv_cq *cq = make_cq(0, 4, XV_CQ_CROSS_CHANNEL);

	xv_wr_cqe_wait(w.qp, 1, SIGNALED | LAST, cq, 1);
	put(w.qp, 2, SIGNALED, 0, 0, 64);
	xv_commit_send(w.qp);
	put(other.qp, 3, SIGNALED, 0, 0, 64);
	xv_commit_send(other.qp);
	ok(rig_expect(other.cq, 3, XV_WC_SUCCESS) && quiet(w.cq),
	   "%s: a wait that is never met blocks its own queue only", t->name);
	ok(!set_state(w.qp, XV_QPS_ERR) && rig_expect(w.cq, 1, XV_WC_WR_FLUSH_ERR) &&
	   rig_expect(w.cq, 2, XV_WC_WR_FLUSH_ERR), "the error state flushes it");
	link_down(&w);
	w = link_of(t->type, 8, XV_QP_CROSS_CHANNEL, 0);
	xv_wr_wait_cq_pi(w.qp, 6, SIGNALED, cq, 0);
	put(w.qp, 7, SIGNALED, 0, 0, 64);
	xv_commit_send(w.qp);
	ok(quiet(w.cq) && !xv_destroy_cq(cq) && rig_expect(w.cq, 6, XV_WC_WR_FLUSH_ERR) &&
	   rig_expect(w.cq, 7, XV_WC_WR_FLUSH_ERR) && failed(t, w.qp),
	   "destroying the CQ flushes those that wait for it");
	if (t->type == XV_QPT_UC)
		test_restart(&w);
	link_down(&w);
	link_down(&other);
}

/* A queue pair that waits is destroyed; the CQ goes on waking others. */
static void test_destroy_waiting(const struct chain_type *t)
{
	struct link gone = link_of(t->type, 8, XV_QP_CROSS_CHANNEL, 0);
	struct link w = link_of(t->type, 8, XV_QP_CROSS_CHANNEL, 0), other = link_up(8, 0, 0);

	rig_fill(r.buf[0], 64, 8);
	memset(r.buf[1], 0, 128);
	xv_wr_wait_cq_pi(gone.qp, 1, SIGNALED, other.cq, 0);
	put(gone.qp, 2, SIGNALED, 0, 64, 64);
	xv_commit_send(gone.qp);
	xv_wr_wait_cq_pi(w.qp, 3, SIGNALED, other.cq, 0);
	put(w.qp, 4, SIGNALED, 0, 0, 64);
	xv_commit_send(w.qp);
	ok(quiet(gone.cq) && quiet(w.cq) && !xv_destroy_qp(gone.qp),
	   "%s: a queue pair is destroyed while it waits", t->name);
	put(other.qp, 5, SIGNALED, 0, 0, 64);
	xv_commit_send(other.qp);
	ok(rig_expect(other.cq, 5, XV_WC_SUCCESS) && rig_expect(w.cq, 3, XV_WC_SUCCESS) &&
	   rig_expect(w.cq, 4, XV_WC_SUCCESS) && rig_check(r.buf[1], 64, 8) &&
	   quiet(gone.cq) && !r.buf[1][64], "it has no completion; others that wait run");
	gone.qp = make_qp(0, NULL, gone.cq, 8, 0);
	link_down(&gone);
	link_down(&w);
	link_down(&other);
}

/* ---- Queues of a chain that are destroyed -------------------------------- */

/* A wait counts the completions of a CQ, whichever queue pair they are from. */
static void test_counted_queue_goes(void)
{
	struct link gone = link_up(8, 0, 0), w = link_up(8, XV_QP_CROSS_CHANNEL, 0);
	struct link m = link_up(8, XV_QP_MANAGED_SEND, 0);

	rig_fill(r.buf[0], 64, 10);
	memset(r.buf[1], 0, 64);
	xv_wr_cqe_wait(w.qp, 1, SIGNALED | LAST, gone.cq, 1);
	put(w.qp, 2, SIGNALED, 0, 0, 64);
	xv_commit_send(w.qp);
	ok(!set_state(gone.qp, XV_QPS_RESET) && quiet(w.cq) && !xv_destroy_qp(gone.qp) &&
	   quiet(w.cq), "a wait stays when a queue pair of its CQ is reset and destroyed");
	gone.qp = make_qp(0, NULL, gone.cq, 8, 0);
	if (set_state(gone.peer, XV_QPS_RESET) ||
	    xt_connect_pair(gone.qp, &r.side[0], gone.peer, &r.side[1], NULL))
		bail_out("%s", xv_last_error());
	put(gone.qp, 3, SIGNALED, 0, 128, 64);
	xv_commit_send(gone.qp);
	ok(rig_expect(gone.cq, 3, XV_WC_SUCCESS) && rig_expect(w.cq, 1, XV_WC_SUCCESS) &&
	   rig_expect(w.cq, 2, XV_WC_SUCCESS) && rig_check(r.buf[1], 64, 10),
	   "the completion of another one ends it");
	xv_wr_cqe_wait(w.qp, 4, SIGNALED | LAST, m.cq, 1);
	xv_commit_send(w.qp);
	put(m.qp, 5, 0, 0, 0, 64);
	xv_commit_send(m.qp);
	ok(quiet(w.cq) && !set_state(m.qp, XV_QPS_ERR) && rig_expect(w.cq, 4, XV_WC_SUCCESS),
	   "the error state of the queue pair ends it: a flushed request has a completion");
	link_down(&gone);
	link_down(&m);
	link_down(&w);
}

/* An enable request behind a wait runs when its managed queue is in RESET or destroyed. */
static void test_managed_queue_goes(bool destroyed)
{
	struct link m = link_up(8, XV_QP_MANAGED_SEND, 0), a = link_up(8, 0, 0);
	struct link w = link_up(8, XV_QP_CROSS_CHANNEL, 0);

	put(m.qp, 1, SIGNALED, 0, 0, 64);
	xv_commit_send(m.qp);
	xv_wr_cqe_wait(w.qp, 2, 0, a.cq, 1);
	xv_wr_send_enable(w.qp, 3, SIGNALED, m.qp, 1);
	put(w.qp, 4, SIGNALED, 0, 0, 64);
	xv_commit_send(w.qp);
	ok(!(destroyed ? xv_destroy_qp(m.qp) : set_state(m.qp, XV_QPS_RESET)) && quiet(w.cq),
	   "a managed queue is %s before it is enabled", destroyed ? "destroyed" : "reset");
	put(a.qp, 5, SIGNALED, 0, 0, 64);
	xv_commit_send(a.qp);
	ok(rig_expect(a.cq, 5, XV_WC_SUCCESS) && rig_expect(w.cq, 3, XV_WC_LOC_QP_OP_ERR) &&
	   rig_expect(w.cq, 4, XV_WC_WR_FLUSH_ERR) && quiet(m.cq), "the enable request fails");
	if (destroyed)
		m.qp = make_qp(0, NULL, m.cq, 8, 0);
	link_down(&m);
	link_down(&a);
	link_down(&w);
}

/* A managed queue with requests that nothing enables */
static void test_not_enabled(void)
{
	struct link m = link_up(8, XV_QP_MANAGED_SEND | XV_QP_CROSS_CHANNEL, 0);

	/* It cannot enable itself: the request would have to run first. */
	put(m.qp, 1, SIGNALED, 0, 0, 64);
	ok(!xv_wr_send_enable(m.qp, 2, SIGNALED, m.qp, 0) && quiet(m.cq),
	   "a managed queue cannot enable itself");
	ok(!set_state(m.qp, XV_QPS_ERR) && !set_state(m.qp, XV_QPS_RESET) && !m.qp->sq.pi,
	   "it can be reset");
	link_down(&m);
}

/* Counts of a managed queue begin anew behind the requests that were flushed. */
static void test_restart_managed(struct link *m, struct link *c)
{
	rig_fill(r.buf[0], 64, 9);
	memset(r.buf[1], 0, 64);
	put(m->qp, 8, SIGNALED, 0, 0, 64);
	xv_commit_send(m->qp);
	ok(rig_expect(m->cq, 8, XV_WC_WR_FLUSH_ERR) && !restart(m->qp) &&
	   !put(m->qp, 9, SIGNALED, 0, 0, 64), "a managed queue goes from SQE to RTS");
	xv_commit_send(m->qp);
	ok(quiet(m->cq) && !r.buf[1][0], "its next request does not run by itself");
	xv_wr_send_enable(c->qp, 10, SIGNALED | LAST, m->qp, 1);
	xv_commit_send(c->qp);
	ok(rig_expect(c->cq, 6, XV_WC_SUCCESS) && rig_expect(c->cq, 10, XV_WC_SUCCESS) &&
	   rig_expect(m->cq, 9, XV_WC_SUCCESS) && rig_check(r.buf[1], 64, 9), "enable 1: it runs");
}

/* Every request that is posted completes, also if nothing enables it. */
static void test_flush(const struct chain_type *t)
{
	struct link m = link_of(t->type, 8, XV_QP_MANAGED_SEND, 0);
	struct link c = link_of(t->type, 8, XV_QP_CROSS_CHANNEL, 0);
	struct xv_sge bad = { rig_addr(&r, 0, 0), 64, r.mr[0]->lkey ^ 0x5500 };

	put(m.qp, 1, SIGNALED, 0, 0, 64);
	put(m.qp, 2, SIGNALED, 0, 0, 64);
	xv_commit_send(m.qp);
	ok(quiet(m.cq) && !set_state(m.qp, XV_QPS_ERR) &&
	   rig_expect(m.cq, 1, XV_WC_WR_FLUSH_ERR) && rig_expect(m.cq, 2, XV_WC_WR_FLUSH_ERR),
	   "%s: the error state flushes requests that were not enabled", t->name);
	put(m.qp, 3, SIGNALED, 0, 0, 64);
	xv_commit_send(m.qp);
	ok(rig_expect(m.cq, 3, XV_WC_WR_FLUSH_ERR), "and one that is posted later");
	link_down(&m);
	m = link_of(t->type, 8, XV_QP_MANAGED_SEND, 0);
	put_sge(m.qp, 4, SIGNALED, &bad, 0);
	put(m.qp, 5, SIGNALED, 0, 0, 64);
	xv_commit_send(m.qp);
	xv_wr_send_enable(c.qp, 6, SIGNALED | LAST, m.qp, 1);
	xv_commit_send(c.qp);
	ok(rig_expect(m.cq, 4, XV_WC_LOC_PROT_ERR) && rig_expect(m.cq, 5, XV_WC_WR_FLUSH_ERR),
	   "an enabled request fails, the one behind it is flushed");
	put(m.qp, 7, SIGNALED, 0, 0, 64);
	xv_commit_send(m.qp);
	ok(rig_expect(m.cq, 7, XV_WC_WR_FLUSH_ERR),
	   "so is one that is posted when the library does not know the state yet");
	ok(failed(t, m.qp), "the state says so");
	if (t->type == XV_QPT_UC)
		test_restart_managed(&m, &c);
	link_down(&c);
	link_down(&m);
}

int main(int argc, char **argv)
{
	bool data, time;
	size_t i;

	rig_devices(argc, argv);
	rig_open(&r, &opts);
	if (!has_feature("cross-channel"))
		tap_skip_all("the device has no cross-channel queues");
	data = has_feature("wait-on-data");
	time = has_feature("wait-on-time");
	test_foreign_page();
	test_foreign_objects();
	test_foreign_process();
	test_plain_queue();
	if (data)
		test_data();
	else
		tap_skip("waits for data", "a ConnectX-7 has them");
	if (!time)
		tap_skip("waits for a time", "a ConnectX-7 has them");
	for (i = 0; i < ARRAY_SIZE(chain_types); i++) {
		test_failure(&chain_types[i]);
		test_never(&chain_types[i]);
		if (data)
			test_never_data(&chain_types[i]);
		if (time)
			test_never_time(&chain_types[i]);
		test_destroy_waiting(&chain_types[i]);
		test_flush(&chain_types[i]);
	}
	test_counted_queue_goes();
	test_managed_queue_goes(false);
	test_managed_queue_goes(true);
	test_not_enabled();
	return tap_done();
}
