// SPDX-License-Identifier: GPL-2.0
/*
 * libxverbs: lists and builders.
 */
#include <string.h>
#include "tool.h"
#include "verbs.h"

static struct {
	struct xt_side side;
	struct xv_cq *cq;
	struct xv_qp *qp;
	struct xv_mr *mr;
	uint8_t *buf;
} s[2];

static struct xv_send_wr wr[DEPTH];
static struct xv_sge sge[2];
static uint64_t remote[2];
static uint32_t rkey[2];

static void open_side(int i, const char *dev)
{
	struct xv_cq_init_attr cq_attr = { .cqe = DEPTH };
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_RC,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	if (xt_side_open(&s[i].side, dev, 1, -1))
		die(xv_last_error());
	s[i].cq = xv_create_cq(s[i].side.ctx, &cq_attr);
	s[i].mr = xt_mr_alloc(&s[i].side, 4096, XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE);
	attr.send_cq = attr.recv_cq = s[i].cq;
	s[i].qp = s[i].cq ? xv_create_qp(s[i].side.pd, &attr) : NULL;
	if (!s[i].mr || !s[i].qp)
		die(xv_last_error());
	s[i].buf = s[i].mr->addr;
	sge[i] = (struct xv_sge) { (uintptr_t)s[i].buf, LEN, s[i].mr->lkey };
}

static void xv_open_both(const char *dev0, const char *dev1)
{
	int i;

	open_side(0, dev0);
	open_side(1, dev1);
	if (xt_connect_pair(s[0].qp, &s[0].side, s[1].qp, &s[1].side, NULL))
		die(xv_last_error());
	for (i = 0; i < 2; i++) {
		remote[i] = (uintptr_t)s[!i].buf + 2048;
		rkey[i] = s[!i].mr->rkey;
	}
}

static void xv_close_both(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		xv_destroy_qp(s[i].qp);
		xv_destroy_cq(s[i].cq);
		xt_mr_free(s[i].mr);
		xt_side_close(&s[i].side);
	}
}

static int post_list(int side, int n)
{
	struct xv_send_wr *bad;
	int i;

	for (i = 0; i < n; i++) {
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
		wr[i].sg_list = &sge[side];
		wr[i].num_sge = 1;
		wr[i].opcode = XV_WR_RDMA_WRITE;
		wr[i].send_flags = XV_SEND_SIGNALED;
		wr[i].wr.rdma.remote_addr = remote[side];
		wr[i].wr.rdma.rkey = rkey[side];
	}
	return xv_post_send(s[side].qp, wr, &bad);
}

static int post_build(int side, int n)
{
	struct xv_qp *qp = s[side].qp;
	int i;

	for (i = 0; i < n; i++)
		if (xv_wr_write(qp, 0, XV_SEND_SIGNALED, &sge[side], remote[side], rkey[side]))
			return -1;
	xv_commit_send(qp);
	return 0;
}

static int poll_wc(int side, int n)
{
	struct xv_wc wc[32];
	int got = xv_poll_cq(s[side].cq, n < 32 ? n : 32, wc), i;

	for (i = 0; i < got; i++)
		if (wc[i].status)
			return -1;
	return got;
}

static int poll_in_place(int side, int n)
{
	struct xv_cq *cq = s[side].cq;
	const struct mlx5r_cqe *cqe;
	int got = 0;

	while (got < n && (cqe = xv_cq_next(cq))) {
		if (xv_cqe_status(cqe))
			return -1;
		xv_cq_done(cq, cqe);
		got++;
	}
	if (got)
		xv_commit_cq(cq);
	return got;
}

static uint8_t *xv_out(int side)
{
	return s[side].buf;
}

static volatile uint8_t *xv_in(int side)
{
	return s[side].buf + 2048;
}

const struct verbs xv_list = {
	"xv_post_send", xv_open_both, xv_close_both, post_list, poll_wc, xv_out, xv_in,
};

const struct verbs xv_build = {
	"xv_wr", xv_open_both, xv_close_both, post_build, poll_in_place, xv_out, xv_in,
};
