// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Several queue pairs with one shared receive queue, as in chapter 8.3 of the RDMA
 * Aware Networks Programming User Manual.  The client uses the queue pairs in turn.
 * After MAX_WR messages the shared receive queue may be empty, so the client waits for
 * the server.
 *
 * usage: srq [-d DEVICE] [-p TCP-PORT] [-i PORT] [-g GID-INDEX] [HOST]
 */
#include "common.h"

enum { QPS = 4, MAX_WR = 32, MESSAGES = 320, SIZE = 1024 };

static struct {
	struct xv_context *ctx;
	struct xv_pd *pd;
	struct xv_cq *send_cq;
	struct xv_cq *recv_cq;
	struct xv_srq *srq;
	struct xv_qp *qp[QPS];
	struct xv_mr *mr;
	char buf[MAX_WR][SIZE];
} r;

static void create(void)
{
	struct xv_cq_init_attr cq_attr = { .cqe = 2 * MAX_WR };
	struct xv_srq_init_attr srq_attr = { .attr = { .max_wr = MAX_WR, .max_sge = 1 } };
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_RC,
		.cap = { .max_send_wr = MAX_WR, .max_send_sge = 1 },
	};
	int i;

	CHECK((r.ctx = xv_open(opt.device)));
	CHECK((r.pd = xv_alloc_pd(r.ctx)));
	CHECK((r.mr = xv_reg_mr(r.pd, r.buf, sizeof(r.buf), XV_ACCESS_LOCAL_WRITE)));
	CHECK((r.send_cq = xv_create_cq(r.ctx, &cq_attr)));
	CHECK((r.recv_cq = xv_create_cq(r.ctx, &cq_attr)));
	CHECK((r.srq = xv_create_srq(r.pd, &srq_attr)));
	attr.send_cq = r.send_cq;
	attr.recv_cq = r.recv_cq;
	attr.srq = r.srq;
	for (i = 0; i < QPS; i++)
		CHECK((r.qp[i] = xv_create_qp(r.pd, &attr)));
}

static void destroy(void)
{
	int i;

	for (i = 0; i < QPS; i++)
		CHECK(!xv_destroy_qp(r.qp[i]));
	CHECK(!xv_destroy_srq(r.srq));
	CHECK(!xv_destroy_cq(r.send_cq));
	CHECK(!xv_destroy_cq(r.recv_cq));
	CHECK(!xv_dereg_mr(r.mr));
	CHECK(!xv_dealloc_pd(r.pd));
	CHECK(!xv_close(r.ctx));
}

static void post_receive(uint64_t slot)
{
	struct xv_sge sge = { (uintptr_t)r.buf[slot], SIZE, r.mr->lkey };
	struct xv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	CHECK(!xv_post_srq_recv(r.srq, &wr, &bad));
}

static void send_one(struct xv_qp *qp, int number)
{
	struct xv_sge sge = { (uintptr_t)r.buf[0], SIZE, r.mr->lkey };
	struct xv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = XV_WR_SEND,
		.send_flags = XV_SEND_SIGNALED }, *bad;

	snprintf(r.buf[0], SIZE, "message %d", number);
	CHECK(!xv_post_send(qp, &wr, &bad));
	wait_wc(r.send_cq);
}

/* barrier() waits until the server has reposted MAX_WR receives. */
static void client(int fd)
{
	int i;

	for (i = 0; i < MESSAGES; i++) {
		send_one(r.qp[i % QPS], i);
		if (i % MAX_WR == MAX_WR - 1)
			barrier(fd);
	}
}

static void server(int fd)
{
	char expected[32];
	struct xv_wc wc;
	int i;

	for (i = 0; i < MESSAGES; i++) {
		wc = wait_wc(r.recv_cq);
		snprintf(expected, sizeof(expected), "message %d", i);
		if (strcmp(r.buf[wc.wr_id], expected))
			errx(1, "expected \"%s\", received \"%s\"", expected, r.buf[wc.wr_id]);
		post_receive(wc.wr_id);
		if (i % MAX_WR == MAX_WR - 1)
			barrier(fd);
	}
}

int main(int argc, char **argv)
{
	struct peer me, peer;
	uint64_t slot;
	int fd, i;

	parse(argc, argv);
	create();
	fd = connect_tcp();
	for (i = 0; i < QPS; i++) {
		me = describe(r.ctx, r.qp[i], NULL);
		swap(fd, &me, &peer, sizeof(me));
		connect_rc(r.qp[i], &peer);
	}
	if (!opt.host)
		for (slot = 0; slot < MAX_WR; slot++)
			post_receive(slot);
	barrier(fd);
	if (opt.host)
		client(fd);
	else
		server(fd);
	printf("%s: %d messages over %d queue pairs and one shared receive queue\n",
	       opt.host ? "client" : "server", MESSAGES, QPS);
	destroy();
	close(fd);
	return 0;
}
