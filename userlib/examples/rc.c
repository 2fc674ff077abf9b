// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Send, receive, RDMA read and RDMA write between two hosts, as in chapter 7.2 of the
 * RDMA Aware Networks Programming User Manual:
 *
 *	server sends a message		client receives it
 *	server writes text to memory	client reads it with RDMA read
 *	server waits			client writes text with RDMA write
 *
 * usage: rc [-d DEVICE] [-p TCP-PORT] [-i PORT] [-g GID-INDEX] [HOST]
 */
#include "common.h"

enum { SIZE = 64 };

static const char hello[] = "SEND operation";
static const char to_read[] = "RDMA read operation";
static const char to_write[] = "RDMA write operation";

static struct {
	struct xv_context *ctx;
	struct xv_pd *pd;
	struct xv_cq *cq;
	struct xv_qp *qp;
	struct xv_mr *mr;
	char buf[SIZE];
} res;

static void resources_create(void)
{
	struct xv_cq_init_attr cq_attr = { .cqe = 4 };
	struct xv_qp_init_attr qp_attr = {
		.qp_type = XV_QPT_RC,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	CHECK((res.ctx = xv_open(opt.device)));
	CHECK((res.pd = xv_alloc_pd(res.ctx)));
	CHECK((res.cq = xv_create_cq(res.ctx, &cq_attr)));
	CHECK((res.mr = xv_reg_mr(res.pd, res.buf, SIZE, XV_ACCESS_LOCAL_WRITE |
				  XV_ACCESS_REMOTE_READ | XV_ACCESS_REMOTE_WRITE)));
	qp_attr.send_cq = qp_attr.recv_cq = res.cq;
	CHECK((res.qp = xv_create_qp(res.pd, &qp_attr)));
}

static void resources_destroy(void)
{
	CHECK(!xv_destroy_qp(res.qp));
	CHECK(!xv_destroy_cq(res.cq));
	CHECK(!xv_dereg_mr(res.mr));
	CHECK(!xv_dealloc_pd(res.pd));
	CHECK(!xv_close(res.ctx));
}

static void post_receive(void)
{
	struct xv_sge sge = { (uintptr_t)res.buf, SIZE, res.mr->lkey };
	struct xv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	CHECK(!xv_post_recv(res.qp, &wr, &bad));
}

static void post_send(enum xv_wr_opcode opcode, const struct peer *peer)
{
	struct xv_sge sge = { (uintptr_t)res.buf, SIZE, res.mr->lkey };
	struct xv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = opcode }, *bad;

	wr.wr.rdma.remote_addr = peer->addr;
	wr.wr.rdma.rkey = peer->rkey;
	CHECK(!xv_post_send(res.qp, &wr, &bad));
	wait_wc(res.cq);
}

static void expect(const char *text)
{
	if (strcmp(res.buf, text))
		errx(1, "expected \"%s\", received \"%s\"", text, res.buf);
	printf("%s: \"%s\"\n", opt.host ? "client" : "server", res.buf);
}

int main(int argc, char **argv)
{
	struct peer me, peer;
	int fd;

	parse(argc, argv);
	resources_create();
	fd = connect_tcp();
	me = describe(res.ctx, res.qp, res.mr);
	swap(fd, &me, &peer, sizeof(me));
	connect_rc(res.qp, &peer);
	if (opt.host)
		post_receive();
	barrier(fd);

	if (!opt.host) {
		strcpy(res.buf, hello);
		post_send(XV_WR_SEND, &peer);
		strcpy(res.buf, to_read);
	} else {
		wait_wc(res.cq);
		expect(hello);
	}
	barrier(fd);
	if (opt.host) {
		post_send(XV_WR_RDMA_READ, &peer);
		expect(to_read);
		strcpy(res.buf, to_write);
		post_send(XV_WR_RDMA_WRITE, &peer);
	}
	barrier(fd);
	if (!opt.host)
		expect(to_write);
	resources_destroy();
	close(fd);
	return 0;
}
