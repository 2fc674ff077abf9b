// SPDX-License-Identifier: GPL-2.0
/* UC, shared receive queues of both layouts, XRC, raw WQEs, and queues in UMEMs */
#include <fcntl.h>
#include <unistd.h>
#include "transports.h"

/* ---- UC ---------------------------------------------------------------- */

/* On UC a bad lkey affects only the sends after it, not the connection. */
static void test_uc_error(struct xv_qp *qp)
{
	struct xv_sge from = rig_sge(&r, 0, SRC, 64), bad = from;

	bad.lkey ^= 0x5500;
	xv_wr_write(qp, 6, XV_SEND_SIGNALED, &bad, rig_addr(&r, 1, DST), r.mr[1]->rkey);
	xv_wr_write(qp, 7, 0, &from, rig_addr(&r, 1, DST), r.mr[1]->rkey);
	xv_commit_send(qp);
	ok(rig_expect(r.cq[0], 6, XV_WC_LOC_PROT_ERR) && rig_expect(r.cq[0], 7, XV_WC_WR_FLUSH_ERR),
	   "UC: bad lkey: local protection error, then flush");
	test_restart(qp, "UC");
	message(0, 1, 64, 4);
	xv_wr_write(qp, 8, XV_SEND_SIGNALED, &from, rig_addr(&r, 1, DST), r.mr[1]->rkey);
	xv_commit_send(qp);
	ok(rig_expect(r.cq[0], 8, XV_WC_SUCCESS) && rig_arrives(r.buf[1] + DST, 64, 4),
	   "UC: send after SQE to RTS");
}

static void test_uc(void)
{
	struct xv_qp *qp[2] = {
		make_qp(0, XV_QPT_UC, NULL, NULL), make_qp(1, XV_QPT_UC, NULL, NULL),
	};
	struct xv_sge from = rig_sge(&r, 0, SRC, 9000), to = rig_sge(&r, 1, DST, 9000);
	struct xv_send_wr wr = { .sg_list = &from, .num_sge = 1, .opcode = XV_WR_RDMA_READ }, *bad;

	if (!ok(qp[0] && qp[1] &&
		!xt_connect_pair(qp[0], &r.side[0], qp[1], &r.side[1], NULL), "UC queue pairs")) {
		diag("%s", xv_last_error());
		return;
	}
	message(0, 1, 9000, 1);
	xv_wr_write(qp[0], 1, XV_SEND_SIGNALED, &from, rig_addr(&r, 1, DST), r.mr[1]->rkey);
	xv_commit_send(qp[0]);
	ok(rig_expect(r.cq[0], 1, XV_WC_SUCCESS) && rig_arrives(r.buf[1] + DST, 9000, 1),
	   "UC: write");
	message(0, 1, 9000, 2);
	xv_wr_recv(qp[1], 2, &to);
	xv_commit_recv(qp[1]);
	xv_wr_send_imm(qp[0], 3, XV_SEND_SIGNALED, &from, xv_be32(5));
	xv_commit_send(qp[0]);
	ok(rig_expect(r.cq[0], 3, XV_WC_SUCCESS) && rig_expect(r.cq[1], 2, XV_WC_SUCCESS) &&
	   rig_check(r.buf[1] + DST, 9000, 2), "UC: send with immediate");
	ok(xv_post_send(qp[0], &wr, &bad) == -XV_EINVAL, "UC: read is refused by the post");
	message(0, 1, 9000, 3);
	xv_wr_recv(qp[1], 4, &to);
	xv_commit_recv(qp[1]);
	xv_wr_write_imm(qp[0], 5, XV_SEND_SIGNALED, &from, rig_addr(&r, 1, DST), r.mr[1]->rkey, 1);
	xv_commit_send(qp[0]);
	ok(rig_expect(r.cq[0], 5, XV_WC_SUCCESS) && rig_expect(r.cq[1], 4, XV_WC_SUCCESS) &&
	   rig_check(r.buf[1] + DST, 9000, 3), "UC: write with immediate");
	test_uc_error(qp[0]);
	ok(!xv_destroy_qp(qp[0]) && !xv_destroy_qp(qp[1]), "UC: destroy");
}

/* ---- Shared receive queues --------------------------------------------- */

static void post_srq(struct xv_srq *srq, uint64_t wr_id)
{
	struct xv_sge to = rig_sge(&r, 1, DST + wr_id % 16 * 256, 256);
	struct xv_recv_wr wr = { .wr_id = wr_id, .sg_list = &to, .num_sge = 1 }, *bad;

	if (xv_post_srq_recv(srq, &wr, &bad))
		diag("SRQ full at %llu", (unsigned long long)wr_id);
}

/* Two queue pairs use one SRQ; every entry is used many times. */
static void test_srq(enum xv_srq_layout layout, const char *name)
{
	struct xv_srq_init_attr attr = { .attr = { .max_wr = 16, .max_sge = 1 }, .layout = layout,
		.srq_context = &r };
	struct xv_srq *srq = xv_create_srq(r.side[1].pd, &attr);
	struct xv_qp *tx[2], *rx[2];
	uint64_t i, bad = 0;
	struct xv_wc wc;

	if (!ok(srq && attr.attr.max_wr >= 16, "SRQ, %s", name)) {
		diag("%s", xv_last_error());
		return;
	}
	ok(srq->srq_context == &r && srq->context == r.side[1].ctx && srq->pd == r.side[1].pd,
	   "SRQ, %s: it knows its context and domain", name);
	for (i = 0; i < 2; i++) {
		tx[i] = make_qp(0, XV_QPT_RC, NULL, NULL);
		rx[i] = make_qp(1, XV_QPT_RC, srq, NULL);
		if (!tx[i] || !rx[i] || xt_connect_pair(tx[i], &r.side[0], rx[i], &r.side[1], NULL))
			bail_out("%s", xv_last_error());
	}
	for (i = 0; i < 8; i++)
		post_srq(srq, i);
	for (i = 0; i < 1000; i++) {
		struct xv_sge from = rig_sge(&r, 0, SRC, 256);

		message(0, 0, 256, (uint32_t)i);
		xv_wr_send(tx[i % 2], i, XV_SEND_SIGNALED, &from);
		xv_commit_send(tx[i % 2]);
		bad += !rig_expect(r.cq[0], i, XV_WC_SUCCESS);
		bad += rig_poll(r.cq[1], 1, &wc) != 1 || wc.status || wc.wr_id != i ||
		       wc.qp_num != rx[i % 2]->qp_num ||
		       !rig_check(r.buf[1] + DST + i % 16 * 256, 256, (uint32_t)i);
		post_srq(srq, i + 8);
		if (bad)
			break;
	}
	ok(!bad, "SRQ, %s: 1000 messages to two queue pairs", name);
	ok(xv_destroy_srq(srq) == -EBUSY, "SRQ, %s: destroy while in use: EBUSY", name);
	for (i = 0; i < 2; i++)
		bad += !!xv_destroy_qp(tx[i]) + !!xv_destroy_qp(rx[i]);
	ok(!bad && !xv_destroy_srq(srq), "SRQ, %s: destroy", name);
}

/* The sizes of a receive queue are ignored, as by libibverbs. */
static void test_srq_sizes(void)
{
	struct xv_srq_init_attr attr = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct xv_srq *srq = xv_create_srq(r.side[0].pd, &attr);
	struct xv_qp_init_attr init = { .qp_type = XV_QPT_RC, .send_cq = r.cq[0],
		.recv_cq = r.cq[0], .srq = srq, .cap = { .max_send_wr = 8, .max_recv_wr = 8,
		.max_send_sge = 1, .max_recv_sge = 1 } };
	struct xv_qp *qp = srq ? xv_create_qp(r.side[0].pd, &init) : NULL;

	if (!ok(qp && !init.cap.max_recv_wr && !init.cap.max_recv_sge,
		"SRQ: a queue pair with max_recv_wr has no receive queue"))
		diag("%s", xv_last_error());
	ok(!qp || !xv_destroy_qp(qp), "SRQ: it is destroyed");
	ok(!srq || !xv_destroy_srq(srq), "SRQ: so is the SRQ");
}

static void test_srq_limit(void)
{
	struct xv_srq_init_attr attr = { .attr = { .max_wr = 16, .max_sge = 1 } }, made;
	struct xv_srq *srq = xv_create_srq(r.side[1].pd, &attr);
	struct xv_srq_attr limit = { .srq_limit = 4 }, now;
	struct xv_sge from = rig_sge(&r, 0, SRC, 8);
	int flags = fcntl(r.side[1].ctx->fd, F_GETFL);
	struct xv_async_event event = { 0 };
	double until = xt_now() + 5;
	struct xv_qp *tx, *rx;
	struct xv_wc wc;
	int i, err;

	tx = make_qp(0, XV_QPT_RC, NULL, NULL);
	rx = srq ? make_qp(1, XV_QPT_RC, srq, NULL) : NULL;
	if (!tx || !rx || xt_connect_pair(tx, &r.side[0], rx, &r.side[1], NULL))
		bail_out("%s", xv_last_error());
	for (i = 0; i < 8; i++)
		post_srq(srq, (uint64_t)i);
	ok(!xv_modify_srq(srq, &limit, XV_SRQ_LIMIT) && !xv_query_srq(srq, &now) &&
	   now.srq_limit == 4, "SRQ limit: armed and queried");
	xv_get_srq_init_attr(srq, &made);
	ok(!memcmp(&made, &attr, sizeof(made)), "SRQ: attributes of creation");
	memset(&now, 0, sizeof(now));
	ok(!xv_modify_srq(srq, &now, 0) && now.srq_limit == 4 && now.max_wr == attr.attr.max_wr &&
	   now.max_sge == attr.attr.max_sge, "SRQ: modify with mask 0 returns the values");
	now.max_wr = 1000;
	now.srq_limit = 2;
	ok(xv_modify_srq(srq, &now, XV_SRQ_MAX_WR | XV_SRQ_LIMIT) == -EOPNOTSUPP &&
	   !xv_query_srq(srq, &now) && now.srq_limit == 4, "SRQ: %s, the limit is unchanged",
	   xv_last_error());
	fcntl(r.side[1].ctx->fd, F_SETFL, flags | O_NONBLOCK);
	for (i = 0; i < 5; i++) {
		xv_wr_send(tx, 1, XV_SEND_SIGNALED, &from);
		xv_commit_send(tx);
		rig_expect(r.cq[0], 1, XV_WC_SUCCESS);
		rig_poll(r.cq[1], 1, &wc);
	}
	do
		err = xv_get_async_event(r.side[1].ctx, &event);
	while (err && xt_now() < until);
	ok(!err && event.event_type == XV_EVENT_SRQ_LIMIT_REACHED && event.element.srq == srq,
	   "SRQ limit: one event when it is reached");
	if (!err)
		xv_ack_async_event(&event);
	fcntl(r.side[1].ctx->fd, F_SETFL, flags);
	ok(!xv_destroy_qp(tx) && !xv_destroy_qp(rx) && !xv_destroy_srq(srq), "SRQ limit: destroy");
}

/* ---- XRC --------------------------------------------------------------- */

static bool xrc_done(struct xv_qp *tx, int posted, uint64_t wr_id)
{
	xv_commit_send(tx);
	return !posted && rig_expect(r.cq[0], wr_id, XV_WC_SUCCESS);
}

static bool xrc_arrived(const struct xv_srq *srq, uint64_t wr_id, enum xv_wc_opcode opcode)
{
	double until = xt_now() + 10;
	struct xv_wc_queues q;
	uint64_t time;
	struct xv_wc wc;
	int got;

	do
		got = xv_poll_cq_queues(r.cq[1], 1, &wc, &time, &q);
	while (!got && xt_now() < until);
	return got == 1 && !q.qp && q.srq == srq && !q.dct && !wc.status && wc.wr_id == wr_id &&
	       wc.opcode == opcode && wc.wc_flags & XV_WC_WITH_IMM &&
	       wc.imm_data == xv_be32(srq->srq_num) && wc.byte_len == 256;
}

static void test_xrc_builders(struct xv_qp *tx, struct xv_srq *srq)
{
	struct xv_sge from = rig_sge(&r, 0, SRC, 256), back = rig_sge(&r, 0, DST, 256);
	uint64_t at = rig_addr(&r, 1, DST);
	uint32_t key = r.mr[1]->rkey, srqn = srq->srq_num;
	struct xv_wc wc;

	message(0, 1, 256, 20);
	post_srq(srq, 0);
	ok(xrc_done(tx, xv_wr_send_xrc(tx, 2, XV_SEND_SIGNALED, &from, srqn), 2) &&
	   rig_poll(r.cq[1], 1, &wc) == 1 && !wc.status && wc.wr_id == 0 && !wc.wc_flags &&
	   rig_check(r.buf[1] + DST, 256, 20), "XRC builder: send");
	message(0, 1, 256, 21);
	post_srq(srq, 16);
	ok(xrc_done(tx, xv_wr_send_imm_xrc(tx, 3, XV_SEND_SIGNALED, &from, srqn, xv_be32(srqn)),
		    3) &&
	   xrc_arrived(srq, 16, XV_WC_RECV) && rig_check(r.buf[1] + DST, 256, 21),
	   "XRC builder: send with immediate");
	message(0, 1, 256, 22);
	ok(xrc_done(tx, xv_wr_write_xrc(tx, 4, XV_SEND_SIGNALED, &from, at, key, srqn), 4) &&
	   rig_check(r.buf[1] + DST, 256, 22), "XRC builder: write");
	message(0, 1, 256, 23);
	post_srq(srq, 1);
	ok(xrc_done(tx, xv_wr_write_imm_xrc(tx, 5, XV_SEND_SIGNALED, &from, at, key, srqn,
					    xv_be32(srqn)), 5) &&
	   xrc_arrived(srq, 1, XV_WC_RECV_RDMA_WITH_IMM) && rig_check(r.buf[1] + DST, 256, 23),
	   "XRC builder: write with immediate");
	rig_fill(r.buf[1] + DST, 256, 24);
	ok(xrc_done(tx, xv_wr_read_xrc(tx, 6, XV_SEND_SIGNALED, &back, at, key, srqn), 6) &&
	   rig_check(r.buf[0] + DST, 256, 24), "XRC builder: read");
}

static void test_xrc(void)
{
	struct xv_xrcd *xrcd = xv_open_xrcd(r.side[1].ctx, -1, 0);
	struct xv_srq_init_attr attr = { .attr = { .max_wr = 16, .max_sge = 1 }, .xrcd = xrcd,
		.cq = r.cq[1] };
	struct xv_srq *srq = xrcd ? xv_create_srq(r.side[1].pd, &attr) : NULL;
	struct xv_sge from = rig_sge(&r, 0, SRC, 256);
	struct xv_send_wr wr = { .wr_id = 1, .sg_list = &from, .num_sge = 1, .opcode = XV_WR_SEND,
		.send_flags = XV_SEND_SIGNALED }, *bad;
	struct xv_recv_wr recv = { .wr_id = 2 }, *bad_recv = NULL;
	struct xv_qp *tx, *rx;
	struct xv_wc wc;

	if (!ok(srq != NULL, "XRC domain and SRQ")) {
		diag("%s", xv_last_error());
		return;
	}
	tx = make_qp(0, XV_QPT_XRC_SEND, NULL, NULL);
	rx = make_qp(1, XV_QPT_XRC_RECV, NULL, xrcd);
	if (!ok(tx && rx && !xt_connect_pair(tx, &r.side[0], rx, &r.side[1], NULL),
		"XRC queue pairs")) {
		diag("%s", xv_last_error());
		return;
	}
	ok(xv_post_recv(rx, &recv, &bad_recv) == -EINVAL && bad_recv == &recv,
	   "XRC: the target has no receive queue");
	message(0, 1, 256, 6);
	post_srq(srq, 0);
	wr.qp_type.xrc.remote_srqn = srq->srq_num;
	ok(!xv_post_send(tx, &wr, &bad) && rig_expect(r.cq[0], 1, XV_WC_SUCCESS) &&
	   rig_poll(r.cq[1], 1, &wc) == 1 && !wc.status && wc.wr_id == 0 && wc.byte_len == 256 &&
	   rig_check(r.buf[1] + DST, 256, 6), "XRC: send to an SRQ");
	message(0, 1, 256, 7);
	wr.opcode = XV_WR_RDMA_WRITE;
	wr.wr.rdma.remote_addr = rig_addr(&r, 1, DST);
	wr.wr.rdma.rkey = r.mr[1]->rkey;
	ok(!xv_post_send(tx, &wr, &bad) && rig_expect(r.cq[0], 1, XV_WC_SUCCESS), "XRC: write");
	test_xrc_builders(tx, srq);
	ok(!xv_destroy_qp(tx) && !xv_destroy_qp(rx) && !xv_destroy_srq(srq) &&
	   !xv_close_xrcd(xrcd), "XRC: destroy");
}

/* ---- Raw WQEs ---------------------------------------------------------- */

static void test_raw(void)
{
	static const struct rig_opts opts = { .rc = { .timeout = 10, .retry_cnt = 2 } };
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_raddr raddr;
		struct mlx5r_data data;
	} wqe = { .ctrl = { .opmod_idx_opcode = xv_be32(MLX5R_OP_RDMA_WRITE),
			.qpn_ds = xv_be32(3), .fm_ce_se = MLX5R_CE_ALWAYS } };
	struct xv_sge from = rig_sge(&r, 0, SRC, 700);
	struct xv_wc wc;

	message(0, 1, 700, 11);
	__xv_seg_raddr(&wqe.raddr, rig_addr(&r, 1, DST), r.mr[1]->rkey);
	__xv_seg_data(&wqe.data, &from);
	ok(!xv_wr_raw(r.qp[0], 21, &wqe), "raw: post a write");
	xv_commit_send(r.qp[0]);
	ok(rig_poll(r.cq[0], 1, &wc) == 1 && !wc.status && wc.wr_id == 21 &&
	   wc.opcode == XV_WC_DRIVER2 && rig_check(r.buf[1] + DST, 700, 11),
	   "raw: the write completes");
	wqe.ctrl.opmod_idx_opcode = xv_be32(0x3e);
	xv_wr_raw(r.qp[0], 22, &wqe);
	xv_commit_send(r.qp[0]);
	ok(rig_expect(r.cq[0], 22, XV_WC_LOC_QP_OP_ERR), "raw: unknown opcode: QP operation error");
	rig_reconnect(&r, &opts);
}

/* ---- Queues in a UMEM -------------------------------------------------- */

static void test_external(void)
{
	enum { CQ_AT = 0, QP_AT = 65536, DBR_AT = 262144, BYTES = DBR_AT + 4096 };
	void *memory = aligned_alloc(4096, BYTES);
	struct xv_umem *umem = xv_reg_umem(r.side[0].ctx, memory, BYTES);
	struct xv_uar *uar = xv_alloc_uar(r.side[0].ctx, XV_UAR_NC);
	struct xv_cq_init_attr cq_attr = { .cqe = 100,
		.external = { umem, umem, CQ_AT, DBR_AT, uar } };
	struct xv_qp_init_attr qp_attr = { .qp_type = XV_QPT_RC,
		.cap = { .max_send_wr = 32, .max_send_sge = 1,
			 .max_recv_wr = 32, .max_recv_sge = 1 },
		.external = { umem, umem, QP_AT, DBR_AT + 64, uar } };
	struct xv_sge from = rig_sge(&r, 0, SRC, 64);
	struct xv_qp *tx = NULL, *rx = make_qp(1, XV_QPT_RC, NULL, NULL);
	struct xv_cq *cq = NULL;
	int i, bad = 0;

	if (umem && uar)
		cq = xv_create_cq(r.side[0].ctx, &cq_attr);
	qp_attr.send_cq = qp_attr.recv_cq = cq;
	if (cq)
		tx = xv_create_qp(r.side[0].pd, &qp_attr);
	if (!ok(tx && rx && !xt_connect_pair(tx, &r.side[0], rx, &r.side[1], NULL),
		"UMEM: CQ and QP in it")) {
		diag("%s", xv_last_error());
		return;
	}
	ok((uint8_t *)memory + CQ_AT == cq->buf && tx->sq.buf >= (uint8_t *)memory + QP_AT &&
	   tx->sq.buf < (uint8_t *)memory + DBR_AT, "UMEM: the rings have the requested addresses");
	ok((char *)tx->sq.doorbell == (char *)uar->addr + uar->qp_doorbell &&
	   (char *)cq->doorbell == (char *)uar->addr + uar->cq_doorbell,
	   "UMEM: the queues use their own UAR");
	for (i = 0; i < 500; i++) {
		message(0, 1, 64, (uint32_t)i);
		bad += !!xv_wr_write(tx, (uint64_t)i, XV_SEND_SIGNALED, &from, rig_addr(&r, 1, DST),
				     r.mr[1]->rkey);
		xv_commit_send(tx);
		bad += !rig_expect(cq, (uint64_t)i, XV_WC_SUCCESS) ||
		       !rig_check(r.buf[1] + DST, 64, (uint32_t)i);
	}
	ok(!bad, "UMEM: 500 writes");
	ok(xv_dereg_umem(umem) == -EBUSY, "UMEM in use: deregister: EBUSY");
	ok(xv_free_uar(uar) == -EBUSY, "UAR in use: free: EBUSY");
	ok(!xv_destroy_qp(tx) && !xv_destroy_qp(rx) && !xv_destroy_cq(cq) && !xv_dereg_umem(umem) &&
	   !xv_free_uar(uar), "destroy the queues, then UMEM and UAR");
	free(memory);
}

int main(int argc, char **argv)
{
	static const char *const features[] = { "rc", "uc", "srq", "srq-contiguous", "xrc" };
	size_t i;

	open_rig(argc, argv);
	for (i = 0; i < ARRAY_SIZE(features); i++)
		ok(rig_feature(r.side[0].ctx, features[i])->available,
		   "the device has the feature %s", features[i]);
	test_uc();
	test_srq(XV_SRQ_LINKED_LIST, "linked list");
	test_srq(XV_SRQ_CONTIGUOUS, "contiguous");
	test_srq_sizes();
	test_srq_limit();
	test_xrc();
	test_raw();
	test_external();
	rig_close(&r);
	return tap_done();
}
