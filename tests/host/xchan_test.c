// SPDX-License-Identifier: GPL-2.0
/*
 * Cross-channel: formats, flags of queue pairs, managed queues, SEND_ENABLE and RECV_ENABLE, and
 * what a hostile request can name.
 */
#include <stdlib.h>
#include <linux/ktime.h>
#include "cmd/cmd.h"
#include "session.h"
#include "tap.h"
#include "xchan.h"

/* ---- Formats ------------------------------------------------------------------------- */

static const u32 enable_example[8] = {
	0x00000517, 0x00012302, 0x00000008, 0, 0, 0, 0x0000000a, 0x00000456,
};
static const u32 wait_example[8] = {
	0x0000060f, 0x00012302, 0x00000000, 0, 0, 0, 0x00000003, 0x00000077,
};

/* Posts the bytes of an example at index 0 of @q, with numbers of this session. */
static void post_example(struct session_qp *q, const u32 *example, u32 index, u32 number)
{
	__be32 wqe[8];
	u32 i;

	for (i = 0; i < 8; i++)
		wqe[i] = cpu_to_be32(example[i]);
	wqe[6] = cpu_to_be32(index);
	wqe[7] = cpu_to_be32(number);
	xv_wr_raw(&q->qp, 1, wqe);
	go(q);
}

static void test_examples(void)
{
	struct pair m, w;
	struct xchan_wqe built;
	u32 i, same = 0;

	open_pair(&m, MLX5_QP_ST_RC, MASTER, 4);
	open_pair(&w, MLX5_QP_ST_RC, SEND, 4);
	built = xchan_wqe(MLX5R_OP_SEND_ENABLE, 0, 2);
	built.ctrl.opmod_idx_opcode |= cpu_to_be32(5 << 8);
	built.ctrl.qpn_ds |= cpu_to_be32(0x123 << 8);
	built.object.index = cpu_to_be32(10);
	built.object.number = cpu_to_be32(0x456);
	for (i = 0; i < 8; i++)
		same += ((__be32 *)&built)[i] == cpu_to_be32(enable_example[i]);
	tap_is(same, 8, "SEND_ENABLE has the bytes of the example");

	write_word(&w.q, 0, 0);
	xv_commit_send(&w.q.qp);
	post_example(&m.q, wait_example, 0, w.q.cqn);
	ok(xchan_hw(&m.q)->waiting, "the example of WAIT waits");
	close_pair(&w);
	open_pair(&w, MLX5_QP_ST_RC, SEND, 4);
	close_pair(&m);
	open_pair(&m, MLX5_QP_ST_RC, MASTER, 4);
	write_word(&w.q, 0, 0);
	xv_commit_send(&w.q.qp);
	post_example(&m.q, enable_example, 1, w.q.qp.qp_num);
	ok(xchan_status(&m.q) == XV_WC_SUCCESS && xchan_status(&w.q) == XV_WC_SUCCESS,
	   "the example of SEND_ENABLE enables and completes");
	close_pair(&m);
	close_pair(&w);
}

/* ---- CREATE_QP and capabilities ------------------------------------------------------- */

static const struct {
	const char *what;
	u8 st, cross;
	bool no_sq, no_rq, srq;
	bool good;
} creations[] = {
	{ "RC, all flags", MLX5_QP_ST_RC, MASTER | SEND | RECV, .good = true },
	{ "UC, all flags", MLX5_QP_ST_UC, MASTER | SEND | RECV, .good = true },
	{ "XRC, master and managed send", MLX5_QP_ST_XRC, MASTER | SEND, .no_rq = true,
	  .good = true },
	{ "UD, master", MLX5_QP_ST_UD, MASTER },
	{ "UD, managed send", MLX5_QP_ST_UD, SEND },
	{ "master without a send queue", MLX5_QP_ST_RC, MASTER, .no_sq = true },
	{ "managed send without a send queue", MLX5_QP_ST_RC, SEND, .no_sq = true },
	{ "managed receive without a receive queue", MLX5_QP_ST_RC, RECV, .no_rq = true },
};

static u8 create(u32 i, u32 *qpn)
{
	u32 in[(MLX5_ST_SZ_BYTES(create_qp_in) + 16) / 4] = {};
	u32 out[MLX5_ST_SZ_DW(create_qp_out)] = {};
	void *qpc = MLX5_ADDR_OF(create_qp_in, in, qpc);
	static u64 page, dbr;
	static struct session_qp other;		/* for its CQ */
	__be64 pa;

	if (!page) {
		page = session_alloc(&s, HCA_PAGE_SIZE);
		dbr = session_alloc(&s, 8);
		session_qp(&s, 0, MLX5_QP_ST_RC, 1, 1, &other);
	}
	pa = cpu_to_be64(page);
	MLX5_SET(create_qp_in, in, opcode, MLX5_CMD_OP_CREATE_QP);
	MLX5_SET(qpc, qpc, st, creations[i].st);
	MLX5_SET(qpc, qpc, pm_state, MLX5_QP_PM_MIGRATED);
	MLX5_SET(qpc, qpc, pd, s.pd[0]);
	if (creations[i].st == MLX5_QP_ST_XRC)
		MLX5_SET(qpc, qpc, xrcd, s.xrcd[0]);
	MLX5_SET(qpc, qpc, uar_page, s.uar[0]);
	MLX5_SET(qpc, qpc, no_sq, creations[i].no_sq);
	MLX5_SET(qpc, qpc, rq_type, creations[i].no_rq ? MLX5_ZERO_LEN_RQ : MLX5_NON_ZERO_RQ);
	MLX5_SET(qpc, qpc, log_sq_size, 1);
	MLX5_SET(qpc, qpc, log_rq_size, 1);
	MLX5_SET(qpc, qpc, log_rq_stride, 2);
	MLX5_SET(qpc, qpc, cqn_snd, other.cqn);
	MLX5_SET(qpc, qpc, cqn_rcv, other.cqn);
	MLX5_SET64(qpc, qpc, dbr_addr, dbr);
	MLX5_SET(qpc, qpc, cd_master, !!(creations[i].cross & MASTER));
	MLX5_SET(qpc, qpc, cd_slave_send, !!(creations[i].cross & SEND));
	MLX5_SET(qpc, qpc, cd_slave_receive, !!(creations[i].cross & RECV));
	memcpy(MLX5_ADDR_OF(create_qp_in, in, pas), &pa, sizeof(pa));
	session_cmd(&s, 0, in, sizeof(in), out, sizeof(out));
	*qpn = MLX5_GET(create_qp_out, out, qpn);
	return *(u8 *)out;
}

static u8 query_flags(u32 qpn)
{
	u32 in[MLX5_ST_SZ_DW(query_qp_in)] = {}, out[MLX5_ST_SZ_DW(query_qp_out)] = {};
	void *qpc = MLX5_ADDR_OF(query_qp_out, out, qpc);

	MLX5_SET(query_qp_in, in, opcode, MLX5_CMD_OP_QUERY_QP);
	MLX5_SET(query_qp_in, in, qpn, qpn);
	session_cmd(&s, 0, in, sizeof(in), out, sizeof(out));
	return MLX5_GET(qpc, qpc, cd_master) * MASTER | MLX5_GET(qpc, qpc, cd_slave_send) * SEND |
	       MLX5_GET(qpc, qpc, cd_slave_receive) * RECV;
}

static void test_create(void)
{
	struct session_qp xrc;			/* it creates the XRC domain */
	u32 i, qpn;

	session_qp(&s, 0, MLX5_QP_ST_XRC, 1, 1, &xrc);
	for (i = 0; i < ARRAY_SIZE(creations); i++) {
		u8 status = create(i, &qpn);

		tap_is(!status, creations[i].good, "CREATE_QP, %s: %s", creations[i].what,
		       creations[i].good ? "accepted" : "refused");
		if (!status)
			tap_is(query_flags(qpn), creations[i].cross, "a query shows the flags");
	}
	session_qp_destroy(&xrc);
}

static void test_caps(void)
{
	u32 in[MLX5_ST_SZ_DW(query_hca_cap_in)] = {};
	u32 *out = calloc(1, MLX5_ST_SZ_BYTES(query_hca_cap_out));
	void *cap = MLX5_ADDR_OF(query_hca_cap_out, out, capability);

	MLX5_SET(query_hca_cap_in, in, opcode, MLX5_CMD_OP_QUERY_HCA_CAP);
	session_cmd(&s, 0, in, sizeof(in), out, MLX5_ST_SZ_BYTES(query_hca_cap_out));
	tap_is(MLX5_GET(cmd_hca_cap, cap, cd), 1, "cross-channel is announced");
	tap_is(be32_to_cpu(((__be32 *)cap)[0xd0 / 4]) >> 19 & 3, 3,
	       "waiting for data and for time are announced");
	free(out);
}

/* ---- Managed send queues -------------------------------------------------------------- */

static void test_send_enable(void)
{
	struct {
		struct mlx5r_ctrl ctrl;
		u8 rest[112];
	} two = { xchan_wqe(MLX5R_OP_NOP, 0, 8).ctrl };
	struct pair m, w;
	u32 i;

	open_pair(&m, MLX5_QP_ST_RC, MASTER, 4);
	open_pair(&w, MLX5_QP_ST_RC, SEND, 4);
	for (i = 0; i < 3; i++)
		write_word(&w.q, 0, i);
	xv_wr_raw(&w.q.qp, 1, &two);		/* blocks 3 and 4 */
	write_word(&w.q, 0, 3);
	go(&w.q);
	tap_is(xchan_count(&w.q, 0), 0, "a doorbell does not start a managed queue");
	ok(!xchan_hw(&w.q)->share, "a managed queue is on no run list");

	xchan_send_enable(&m.q, &w.q, 1);
	go(&m.q);
	tap_is(xchan_count(&w.q, 0), 1, "enabled up to 1: one request runs");
	xchan_send_enable(&m.q, &w.q, 1);
	go(&m.q);
	tap_is(xchan_count(&w.q, 0), 0, "the same index again: no request runs");
	xchan_send_enable(&m.q, &w.q, 3);
	xchan_send_enable(&m.q, &w.q, 2);
	go(&m.q);
	tap_is(xchan_count(&w.q, 0), 2, "3, then 2: the index does not go back");
	xchan_send_enable(&m.q, &w.q, 5);
	go(&m.q);
	tap_is(xchan_count(&w.q, 0), 1, "a request of two blocks counts as two");
	xchan_send_enable(&m.q, &w.q, 6);
	go(&m.q);
	tap_is(xchan_count(&w.q, 0), 1, "enabled up to the last request: it runs");
	tap_is(xchan_count(&m.q, 0), 6, "every SEND_ENABLE has a completion");

	xchan_send_enable(&m.q, &w.q, 6 + 17);
	go(&m.q);
	tap_is(xchan_status(&m.q), XV_WC_LOC_QP_OP_ERR,
	       "an index beyond the ring: the SEND_ENABLE fails");
	ok(xchan_hw(&w.q)->state == MLX5_QP_STATE_RTS && xchan_hw(&w.q)->sq.pi == 6,
	   "the managed queue is as before");
	close_pair(&m);
	close_pair(&w);
}

/* The index has 16 bits: enabled in steps across its end. */
static void test_send_enable_wraps(void)
{
	struct pair m, w;
	u32 i, done = 0, index = 0;

	open_pair(&m, MLX5_QP_ST_RC, MASTER, 6);
	open_pair(&w, MLX5_QP_ST_RC, SEND, 4);
	for (i = 0; i < 70000 / 7; i++) {
		u32 n;

		for (n = 0; n < 7; n++)
			write_word(&w.q, 0, 0);
		xv_commit_send(&w.q.qp);
		index += 7;
		xchan_send_enable(&m.q, &w.q, index & 0xffff);
		xv_commit_send(&m.q.qp);
		while (!xchan_count(&m.q, 0))
			hca_fabric_poll(&s.fabric);
		for (n = 0; n < 7;)
			if (!xchan_status(&w.q))
				n++;
			else
				hca_fabric_poll(&s.fabric);
		done += n;
	}
	tap_is(done, 70000, "70000 requests, enabled in groups of 7");
	close_pair(&m);
	close_pair(&w);
}

/* A queue that is master and managed, and enables its own next requests */
static void test_self(void)
{
	struct pair m, w;

	open_pair(&m, MLX5_QP_ST_RC, MASTER, 4);
	open_pair(&w, MLX5_QP_ST_RC, MASTER | SEND, 4);
	write_word(&w.q, 0, 0);
	xchan_send_enable(&w.q, &w.q, 4);
	write_word(&w.q, 0, 0);
	write_word(&w.q, 0, 0);
	go(&w.q);
	xchan_send_enable(&m.q, &w.q, 1);
	go(&m.q);
	tap_is(xchan_count(&w.q, 0), 1, "an ENABLE after disabled requests does not run");
	xchan_send_enable(&m.q, &w.q, 2);
	go(&m.q);
	tap_is(xchan_count(&w.q, 0), 3, "when enabled, it enables the rest of its own queue");
	close_pair(&m);
	close_pair(&w);
}

/*
 * Programs write the record of a managed queue, but do not ring its doorbell.  The queue has
 * been quiet for long, so the adapter does not read its record in every pass.
 */
static void test_flush_without_doorbell(struct session_qp *q)
{
	volatile uint64_t *doorbell = q->qp.sq.doorbell, unused;
	u64 until = ktime_get_ns() + NSEC_PER_SEC;
	u32 n = 0;

	session_settle(&s);
	hca_record_inactive(&xchan_hw(q)->record);
	q->qp.sq.doorbell = &unused;
	write_word(q, 0, 0);
	xv_commit_send(&q->qp);
	while (!n && ktime_get_ns() < until) {
		hca_fabric_poll(&s.fabric);
		n = xchan_count(q, XV_WC_WR_FLUSH_ERR);
	}
	tap_is(n, 1, "also if its doorbell was not rung");
	q->qp.sq.doorbell = doorbell;
}

/* In an error state what is posted is flushed, enabled or not. */
static void test_managed_flush(void)
{
	static const struct {
		u8 st;
		const char *name;
	} types[] = { { MLX5_QP_ST_RC, "ERR" }, { MLX5_QP_ST_UC, "SQER" } };
	struct pair m, w;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		struct xv_sge bad = session_sge(&mr[0], 0, 8);

		open_pair(&m, MLX5_QP_ST_RC, MASTER, 4);
		open_pair(&w, types[i].st, SEND, 4);
		bad.lkey ^= 1;
		xv_wr_write(&w.q.qp, 1, XV_SEND_SIGNALED, &bad, mr[1].addr, mr[1].key);
		write_word(&w.q, 0, 0);
		write_word(&w.q, 0, 0);
		go(&w.q);
		xchan_send_enable(&m.q, &w.q, 1);
		go(&m.q);
		tap_is(xchan_status(&w.q), XV_WC_LOC_PROT_ERR, "%s: the enabled request fails",
		       types[i].name);
		tap_is(xchan_count(&w.q, XV_WC_WR_FLUSH_ERR), 2, "the others are flushed");
		write_word(&w.q, 0, 0);
		go(&w.q);
		tap_is(xchan_count(&w.q, XV_WC_WR_FLUSH_ERR), 1,
		       "a request posted later is flushed");
		test_flush_without_doorbell(&w.q);
		close_pair(&m);
		close_pair(&w);
	}
}

static void test_managed_reset(void)
{
	struct pair m, w;

	open_pair(&m, MLX5_QP_ST_RC, MASTER, 4);
	open_pair(&w, MLX5_QP_ST_RC, SEND, 4);
	xchan_send_enable(&m.q, &w.q, 1);
	go(&m.q);
	session_qp_modify(&w.q, MLX5_CMD_OP_2RST_QP, NULL);
	tap_is(xchan_hw(&w.q)->sq.pi, 0, "RESET clears the enabled index");
	xchan_send_enable(&m.q, &w.q, 1);
	go(&m.q);
	xchan_status(&m.q);
	tap_is(xchan_status(&m.q), XV_WC_LOC_QP_OP_ERR, "in RESET a queue cannot be enabled");
	close_pair(&m);
	close_pair(&w);
}

/* ---- Managed receive queues ------------------------------------------------------------ */

static void post_receive(struct session_qp *q)
{
	struct xv_sge sge = session_sge(&mr[0], 64, 8);

	xv_wr_recv(&q->qp, 2, &sge);
	xv_commit_recv(&q->qp);
}

static void send_word(struct session_qp *q)
{
	struct xv_sge sge = session_sge(&mr[1], 0, 8);

	xv_wr_send(&q->qp, 1, XV_SEND_SIGNALED, &sge);
	xv_commit_send(&q->qp);
}

static void test_recv_enable(void)
{
	struct pair m, r;
	u32 i;

	open_pair(&m, MLX5_QP_ST_RC, MASTER, 4);
	open_pair(&r, MLX5_QP_ST_RC, RECV, 4);
	for (i = 0; i < 3; i++)
		post_receive(&r.q);
	xchan_recv_enable(&m.q, &r.q, 1);
	go(&m.q);
	send_word(&r.peer);
	session_settle(&s);
	ok(!xchan_status(&r.peer) && !xchan_status(&r.q), "an enabled receive is used");
	send_word(&r.peer);
	for (i = 0; i < 50; i++)
		hca_fabric_poll(&s.fabric);
	ok(!xchan_count(&r.peer, 0) && hca_timer_due(&xchan_hw(&r.peer)->timer),
	   "the next one is not: the receiver is not ready");
	xchan_recv_enable(&m.q, &r.q, 2);
	xv_commit_send(&m.q.qp);
	while (hca_timer_due(&xchan_hw(&r.peer)->timer))
		hca_fabric_poll(&s.fabric);
	session_settle(&s);
	ok(!xchan_status(&r.peer) && !xchan_status(&r.q),
	   "a receive that is enabled in time is used");
	tap_is(xchan_count(&m.q, 0), 2, "RECV_ENABLE has a completion");
	send_word(&r.peer);
	while (xchan_hw(&r.peer)->state != MLX5_QP_STATE_ERR)
		hca_fabric_poll(&s.fabric);
	tap_is(xchan_status(&r.peer), XV_WC_RNR_RETRY_EXC_ERR,
	       "a receive that is enabled too late: retries exceeded");
	xchan_recv_enable(&m.q, &r.q, 0x6fff);
	go(&m.q);
	tap_is(xchan_count(&m.q, 0), 1, "an index far beyond what is posted is valid");
	session_qp_modify(&r.q, MLX5_CMD_OP_2ERR_QP, NULL);
	tap_is(xchan_count(&r.q, XV_WC_WR_FLUSH_ERR), 1, "in ERR a posted receive is flushed");
	close_pair(&m);
	close_pair(&r);
}

/* In ERR receives that are not enabled are flushed too. */
static void test_recv_flush(void)
{
	struct pair r;

	open_pair(&r, MLX5_QP_ST_RC, RECV, 4);
	post_receive(&r.q);
	post_receive(&r.q);
	session_qp_modify(&r.q, MLX5_CMD_OP_2ERR_QP, NULL);
	tap_is(xchan_count(&r.q, XV_WC_WR_FLUSH_ERR), 2,
	       "ERR: receives that were never enabled are flushed");
	close_pair(&r);
}

/* ---- Who may name what ----------------------------------------------------------------------- */

static void test_foreign(void)
{
	u32 uar = s.uar[0], pd = s.pd[0], in[4] = {}, out[4] = {};
	struct pair m, other_page, other_pd, plain;
	static const u8 ops[] = { MLX5R_OP_SEND_ENABLE, MLX5R_OP_RECV_ENABLE, MLX5R_OP_WAIT };
	u32 i, j;

	open_pair(&plain, MLX5_QP_ST_RC, 0, 2);
	s.uar[0] = session_uar(&s, 0);
	open_pair(&other_page, MLX5_QP_ST_RC, SEND | RECV, 2);
	s.uar[0] = uar;
	MLX5_SET(alloc_pd_in, in, opcode, MLX5_CMD_OP_ALLOC_PD);
	session_cmd(&s, 0, in, sizeof(in), out, sizeof(out));
	s.pd[0] = MLX5_GET(alloc_pd_out, out, pd);
	open_pair(&other_pd, MLX5_QP_ST_RC, SEND | RECV, 2);
	s.pd[0] = pd;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		const struct {
			const char *what;
			u32 qpn, cqn;
			bool wait_good;
		} named[] = {
			{ "of another page", other_page.q.qp.qp_num, other_page.q.cqn },
			{ "of another PD", other_pd.q.qp.qp_num, other_pd.q.cqn, true },
			{ "that is not managed", plain.q.qp.qp_num, plain.q.cqn, true },
			{ "that does not exist", 0xfffff0, 0xfffff0 },
			{ "of number 0", 0, 0 },
		};
		for (j = 0; j < ARRAY_SIZE(named); j++) {
			bool wait = ops[i] == MLX5R_OP_WAIT;
			u32 want = wait && named[j].wait_good ? XV_WC_SUCCESS : XV_WC_LOC_QP_OP_ERR;

			open_pair(&m, MLX5_QP_ST_RC, MASTER, 2);
			xchan_object(&m.q, ops[i], wait ? named[j].cqn : named[j].qpn,
				     wait ? 0xfffff0 : 1);
			go(&m.q);
			tap_is(xchan_status(&m.q), want, "opcode %#x, a queue %s: %s", ops[i],
			       named[j].what, want ? "refused" : "accepted");
			close_pair(&m);
		}
	}
	ok(!xchan_hw(&other_page.q)->sq.pi && !xchan_hw(&other_pd.q)->sq.pi &&
	   !xchan_hw(&other_page.q)->rq_enabled && !xchan_hw(&other_pd.q)->rq_enabled,
	   "nothing has changed there");
	xchan_wait(&plain.q, &plain.q, 0);
	go(&plain.q);
	tap_is(xchan_status(&plain.q), XV_WC_LOC_QP_OP_ERR, "only a master may wait");
	close_pair(&plain);
	close_pair(&other_page);
	close_pair(&other_pd);
}

/* With and without the XRC segment */
static void test_xrc(void)
{
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_xrc xrc;
		struct mlx5r_wait wait;
	} with = {};
	struct pair m, w;

	open_pair(&m, MLX5_QP_ST_XRC, MASTER, 4);
	open_pair(&w, MLX5_QP_ST_RC, SEND, 4);
	write_word(&w.q, 0, 0);
	write_word(&w.q, 0, 0);
	xchan_send_enable(&m.q, &w.q, 1);
	with.ctrl = xchan_wqe(MLX5R_OP_SEND_ENABLE, 0, 3).ctrl;
	with.wait.index = cpu_to_be32(2);
	with.wait.number = cpu_to_be32(w.q.qp.qp_num);
	xv_wr_raw(&m.q.qp, 1, &with);
	go(&m.q);
	tap_is(xchan_count(&m.q, 0), 2, "XRC: requests with and without its segment");
	tap_is(xchan_hw(&w.q)->sq.pi, 2, "XRC: they enable the requests up to their index");
	close_pair(&m);
	close_pair(&w);
}

int main(void)
{
	xchan_init();
	test_examples();
	test_create();
	test_caps();
	test_send_enable();
	test_send_enable_wraps();
	test_self();
	test_managed_flush();
	test_managed_reset();
	test_recv_enable();
	test_recv_flush();
	test_foreign();
	test_xrc();
	session_free(&s);
	return tap_done();
}
