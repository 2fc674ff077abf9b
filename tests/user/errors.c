// SPDX-License-Identifier: GPL-2.0
/*
 * Invalid requests fail with the status that the specification defines, and affect
 * only their connection.
 */
#include "rig.h"

static struct rig r;
static struct rig_opts opts = { .size = 65536, .depth = 16,
	.rc = { .timeout = 10, .retry_cnt = 2, .no_rnr_retry = true, .min_rnr_timer = 1 } };

/* A request on side 0 that fails; the name says what is wrong. */
struct wrong {
	const char *what;
	enum xv_wr_opcode opcode;
	enum { LKEY = 1, LBOUND, RKEY, RBOUND, OTHER_PD_L, OTHER_PD_R, NO_RIGHT, MISALIGNED } flaw;
	enum xv_wc_status status;
};

static const struct wrong wrongs[] = {
	{ "write, bad lkey", XV_WR_RDMA_WRITE, LKEY, XV_WC_LOC_PROT_ERR },
	{ "write, source out of bounds", XV_WR_RDMA_WRITE, LBOUND, XV_WC_LOC_PROT_ERR },
	{ "write, source of another PD", XV_WR_RDMA_WRITE, OTHER_PD_L, XV_WC_LOC_PROT_ERR },
	{ "send, bad lkey", XV_WR_SEND, LKEY, XV_WC_LOC_PROT_ERR },
	{ "read into a bad lkey", XV_WR_RDMA_READ, LKEY, XV_WC_LOC_PROT_ERR },
	{ "write, bad rkey", XV_WR_RDMA_WRITE, RKEY, XV_WC_REM_ACCESS_ERR },
	{ "write, target out of bounds", XV_WR_RDMA_WRITE, RBOUND, XV_WC_REM_ACCESS_ERR },
	{ "write, target of another PD", XV_WR_RDMA_WRITE, OTHER_PD_R, XV_WC_REM_ACCESS_ERR },
	{ "write to read-only memory", XV_WR_RDMA_WRITE, NO_RIGHT, XV_WC_REM_ACCESS_ERR },
	{ "read, bad rkey", XV_WR_RDMA_READ, RKEY, XV_WC_REM_ACCESS_ERR },
	{ "read, source out of bounds", XV_WR_RDMA_READ, RBOUND, XV_WC_REM_ACCESS_ERR },
	{ "atomic, bad rkey", XV_WR_ATOMIC_FETCH_AND_ADD, RKEY, XV_WC_REM_ACCESS_ERR },
	{ "atomic on memory without access flag", XV_WR_ATOMIC_FETCH_AND_ADD, NO_RIGHT,
	  XV_WC_REM_ACCESS_ERR },
	{ "atomic, misaligned", XV_WR_ATOMIC_FETCH_AND_ADD, MISALIGNED, XV_WC_REM_INV_REQ_ERR },
};

static uint8_t *other_mem[2], *weak_mem;
static struct xv_mr *other_mr[2];	/* memory of another PD */
static struct xv_mr *weak_mr;		/* remote access: read only */

static void post_wrong(const struct wrong *w)
{
	struct xv_sge sge = rig_sge(&r, 0, 0, 8);
	uint64_t raddr = rig_addr(&r, 1, 0);
	uint32_t rkey = r.mr[1]->rkey;
	struct xv_send_wr wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = w->opcode,
		.send_flags = XV_SEND_SIGNALED }, *bad;

	if (w->flaw == LKEY)
		sge.lkey ^= 0x5500;
	if (w->flaw == LBOUND)
		sge.addr = rig_addr(&r, 0, r.size - 7);
	if (w->flaw == OTHER_PD_L)
		sge = (struct xv_sge) { (uintptr_t)other_mem[0], 8, other_mr[0]->lkey };
	if (w->flaw == RKEY)
		rkey ^= 0x5500;
	if (w->flaw == RBOUND)
		raddr = rig_addr(&r, 1, r.size - 7);
	if (w->flaw == OTHER_PD_R) {
		raddr = (uintptr_t)other_mem[1];
		rkey = other_mr[1]->rkey;
	}
	if (w->flaw == NO_RIGHT) {
		raddr = (uintptr_t)weak_mem;
		rkey = weak_mr->rkey;
	}
	if (w->flaw == MISALIGNED)
		raddr += 4;
	if (w->opcode == XV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = raddr;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = raddr;
		wr.wr.rdma.rkey = rkey;
	}
	if (xv_post_send(r.qp[0], &wr, &bad))
		bail_out("post refused");
	wr.wr_id = 2;
	xv_post_send(r.qp[0], &wr, &bad);
}

static bool in_error(struct xv_qp *qp)
{
	struct xv_qp_attr a;

	return !xv_query_qp(qp, &a, 0, NULL) && a.qp_state == XV_QPS_ERR;
}

static bool untouched(const uint8_t *p)
{
	return p[0] == 0x55 && p[7] == 0x55 && p[r.size - 1] == 0x55;
}

static void test_wrong(const struct wrong *w)
{
	struct xv_sge sge = rig_sge(&r, 1, 0, 8);

	memset(r.buf[0], 0xaa, r.size);
	memset(r.buf[1], 0x55, r.size);
	memset(other_mem[1], 0x55, r.size);
	memset(weak_mem, 0x55, r.size);
	xv_wr_recv(r.qp[1], 9, &sge);
	xv_commit_recv(r.qp[1]);
	post_wrong(w);
	ok(rig_expect(r.cq[0], 1, w->status) && rig_expect(r.cq[0], 2, XV_WC_WR_FLUSH_ERR) &&
	   in_error(r.qp[0]), "%s: %s, then flush", w->what, xv_wc_status_str(w->status));
	if (w->opcode != XV_WR_RDMA_READ)
		ok(untouched(r.buf[1]) && untouched(other_mem[1]) && untouched(weak_mem),
		   "%s: nothing was written", w->what);
	else
		ok(r.buf[0][0] == 0xaa && r.buf[0][7] == 0xaa, "%s: nothing was read", w->what);
	rig_reconnect(&r, &opts);
}

static void test_wrong_all(void)
{
	const unsigned int all = XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE |
				 XV_ACCESS_REMOTE_READ | XV_ACCESS_REMOTE_ATOMIC;
	struct xv_pd *pd[2];
	size_t i;

	for (i = 0; i < 2; i++) {
		pd[i] = xv_alloc_pd(r.side[i].ctx);
		other_mem[i] = aligned_alloc(4096, r.size);
		other_mr[i] = pd[i] ? xv_reg_mr(pd[i], other_mem[i], r.size, all) : NULL;
		if (!other_mr[i])
			bail_out("%s", xv_last_error());
	}
	weak_mem = aligned_alloc(4096, r.size);
	weak_mr = xv_reg_mr(r.side[1].pd, weak_mem, r.size, XV_ACCESS_REMOTE_READ);
	if (!weak_mr)
		bail_out("%s", xv_last_error());
	for (i = 0; i < ARRAY_SIZE(wrongs); i++)
		test_wrong(&wrongs[i]);
	ok(!xv_dereg_mr(weak_mr), "deregister");
	for (i = 0; i < 2; i++)
		ok(!xv_dereg_mr(other_mr[i]) && !xv_dealloc_pd(pd[i]), "memory region, then PD");
	free(other_mem[0]);
	free(other_mem[1]);
	free(weak_mem);
}

/* The key allows all operations, but the queue pair of the receiver allows none. */
static void test_rights(void)
{
	static const struct {
		const char *what;
		enum xv_wr_opcode opcode;
	} ops[] = {
		{ "write", XV_WR_RDMA_WRITE },
		{ "write with immediate", XV_WR_RDMA_WRITE_WITH_IMM },
		{ "read", XV_WR_RDMA_READ },
		{ "atomic", XV_WR_ATOMIC_FETCH_AND_ADD },
	};
	struct xv_qp_attr none = { .qp_access_flags = 0 };
	struct wrong w = { .status = XV_WC_REM_INV_REQ_ERR };
	struct xv_sge to = rig_sge(&r, 1, 0, 8);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		if (xv_modify_qp(r.qp[1], &none, XV_QP_ACCESS_FLAGS))
			bail_out("%s", xv_last_error());
		memset(r.buf[0], 0xaa, r.size);
		memset(r.buf[1], 0x55, r.size);
		xv_wr_recv(r.qp[1], 9, &to);
		xv_commit_recv(r.qp[1]);
		w.opcode = ops[i].opcode;
		post_wrong(&w);
		ok(rig_expect(r.cq[0], 1, w.status) && rig_expect(r.cq[1], 9, XV_WC_WR_FLUSH_ERR),
		   "%s without the right of the queue pair: %s", ops[i].what,
		   xv_wc_status_str(w.status));
		ok(untouched(r.buf[1]) && r.buf[0][0] == 0xaa, "%s: no byte is copied",
		   ops[i].what);
		rig_reconnect(&r, &opts);
	}
}

/* Errors at the responder: receive too short, receive not writable */
static void test_receive_errors(void)
{
	struct xv_sge from = rig_sge(&r, 0, 0, 100), to = rig_sge(&r, 1, 0, 50);

	xv_wr_recv(r.qp[1], 5, &to);
	xv_wr_recv(r.qp[1], 6, &to);
	xv_commit_recv(r.qp[1]);
	xv_wr_send(r.qp[0], 1, XV_SEND_SIGNALED, &from);
	xv_commit_send(r.qp[0]);
	ok(rig_expect(r.cq[0], 1, XV_WC_REM_INV_REQ_ERR) &&
	   rig_expect(r.cq[1], 5, XV_WC_LOC_LEN_ERR) &&
	   rig_expect(r.cq[1], 6, XV_WC_WR_FLUSH_ERR), "message longer than the receive");
	rig_reconnect(&r, &opts);

	to.length = 100;
	to.lkey ^= 0x5500;
	xv_wr_recv(r.qp[1], 7, &to);
	xv_commit_recv(r.qp[1]);
	xv_wr_send(r.qp[0], 1, XV_SEND_SIGNALED, &from);
	xv_commit_send(r.qp[0]);
	ok(rig_expect(r.cq[0], 1, XV_WC_REM_OP_ERR) && rig_expect(r.cq[1], 7, XV_WC_LOC_PROT_ERR),
	   "receive with a bad lkey");
	rig_reconnect(&r, &opts);

	/* The receive request of a write with immediate has an error of its own. */
	memset(r.buf[1], 0x55, r.size);
	to = rig_sge(&r, 1, 0, 50);
	xv_wr_recv(r.qp[1], 8, &to);
	xv_commit_recv(r.qp[1]);
	xv_wr_write_imm(r.qp[0], 1, XV_SEND_SIGNALED, &from, rig_addr(&r, 1, 0),
			r.mr[1]->rkey ^ 0x5500, xv_be32(3));
	xv_commit_send(r.qp[0]);
	ok(rig_expect(r.cq[0], 1, XV_WC_REM_ACCESS_ERR) &&
	   rig_expect(r.cq[1], 8, XV_WC_LOC_ACCESS_ERR) && untouched(r.buf[1]),
	   "write with immediate and a bad rkey: local access error of the receive");
	rig_reconnect(&r, &opts);
}

static void test_rnr(void)
{
	struct xv_sge from = rig_sge(&r, 0, 0, 8);

	xv_wr_send(r.qp[0], 1, XV_SEND_SIGNALED, &from);
	xv_commit_send(r.qp[0]);
	ok(rig_expect(r.cq[0], 1, XV_WC_RNR_RETRY_EXC_ERR),
	   "no receive posted: RNR retries exceeded");
	rig_reconnect(&r, &opts);
}

static void test_rnr_recovers(void)
{
	struct xv_sge from = rig_sge(&r, 0, 0, 8), to = rig_sge(&r, 1, 0, 8);
	struct rig_opts patient = opts;
	double until;
	struct xv_wc wc;

	patient.rc.no_rnr_retry = false;
	patient.rc.rnr_retry = 7;
	rig_reconnect(&r, &patient);
	xv_wr_send(r.qp[0], 1, XV_SEND_SIGNALED, &from);
	xv_commit_send(r.qp[0]);
	for (until = xt_now() + 0.05; xt_now() < until;)
		if (xv_poll_cq(r.cq[0], 1, &wc))
			break;
	xv_wr_recv(r.qp[1], 2, &to);
	xv_commit_recv(r.qp[1]);
	ok(rig_expect(r.cq[0], 1, XV_WC_SUCCESS) && rig_expect(r.cq[1], 2, XV_WC_SUCCESS),
	   "receive posted during RNR retries is used");
	rig_reconnect(&r, &opts);
}

static void test_peer_destroyed(void)
{
	struct xv_sge from = rig_sge(&r, 0, 0, 8);
	struct xv_qp_attr err = { .qp_state = XV_QPS_ERR };

	if (xv_modify_qp(r.qp[1], &err, XV_QP_STATE))
		bail_out("%s", xv_last_error());
	xv_wr_write(r.qp[0], 1, XV_SEND_SIGNALED, &from, rig_addr(&r, 1, 0), r.mr[1]->rkey);
	xv_commit_send(r.qp[0]);
	ok(rig_expect(r.cq[0], 1, XV_WC_RETRY_EXC_ERR), "peer does not answer: retries exceeded");
	rig_reconnect(&r, &opts);
}

static void test_flush(void)
{
	struct xv_sge sge = rig_sge(&r, 0, 0, 8);
	struct xv_qp_attr err = { .qp_state = XV_QPS_ERR };
	struct xv_wc wc[8];
	int i, n;

	for (i = 0; i < 4; i++)
		xv_wr_recv(r.qp[0], 10 + (uint64_t)i, &sge);
	xv_commit_recv(r.qp[0]);
	ok(!xv_modify_qp(r.qp[0], &err, XV_QP_STATE), "modify to ERR");
	n = rig_poll(r.cq[0], 4, wc);
	for (i = 0; i < n; i++)
		if (wc[i].status != XV_WC_WR_FLUSH_ERR || wc[i].wr_id != 10 + (uint64_t)i)
			break;
	ok(i == 4, "ERR: posted receives are flushed in order");
	xv_wr_write(r.qp[0], 20, 0, &sge, rig_addr(&r, 1, 0), r.mr[1]->rkey);
	xv_commit_send(r.qp[0]);
	ok(rig_expect(r.cq[0], 20, XV_WC_WR_FLUSH_ERR),
	   "ERR: new sends are flushed, signalled or not");
	rig_reconnect(&r, &opts);
}

static void test_queue_full(void)
{
	struct xv_sge sge = rig_sge(&r, 0, 0, 8);
	struct xv_wc wc[64];
	uint64_t n = 0;
	int got;

	while (!xv_wr_write(r.qp[0], n, XV_SEND_SIGNALED, &sge, rig_addr(&r, 1, 0), r.mr[1]->rkey))
		n++;
	ok(n >= 16 && xv_wr_write(r.qp[0], n, 0, &sge, 0, 0) == -XV_ENOMEM,
	   "send queue full after %llu: ENOMEM", (unsigned long long)n);
	xv_commit_send(r.qp[0]);
	got = rig_poll(r.cq[0], (int)n, wc);
	ok(got == (int)n && wc[0].wr_id == 0 && wc[n - 1].wr_id == n - 1 && !wc[n - 1].status,
	   "all sends complete");
	ok(!xv_wr_write(r.qp[0], 7, XV_SEND_SIGNALED, &sge, rig_addr(&r, 1, 0), r.mr[1]->rkey),
	   "the send queue has room again");
	xv_commit_send(r.qp[0]);
	ok(rig_expect(r.cq[0], 7, XV_WC_SUCCESS), "a new send completes");
	for (n = 0; !xv_wr_recv(r.qp[0], n, &sge); n++)
		;
	ok(n >= 16 && xv_wr_recv(r.qp[0], n, &sge) == -XV_ENOMEM,
	   "receive queue full after %llu: ENOMEM", (unsigned long long)n);
	rig_reconnect(&r, &opts);
}

static void test_states(void)
{
	struct xv_sge sge = rig_sge(&r, 0, 0, 8);
	struct rig_opts fresh = opts;

	fresh.unconnected = true;
	rig_reconnect(&r, &fresh);
	ok(xv_wr_send(r.qp[0], 1, 0, &sge) == -XV_EINVAL, "send in RESET: EINVAL");
	ok(xv_wr_recv(r.qp[0], 1, &sge) == -XV_EINVAL, "receive in RESET: EINVAL");
	rig_reconnect(&r, &opts);
}

int main(int argc, char **argv)
{
	rig_devices(argc, argv);
	rig_open(&r, &opts);
	test_wrong_all();
	test_rights();
	test_receive_errors();
	test_rnr();
	test_rnr_recovers();
	test_peer_destroyed();
	test_flush();
	test_queue_full();
	test_states();
	rig_close(&r);
	return tap_done();
}
