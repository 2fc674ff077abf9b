// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * One sender and one member of a multicast group, as in chapter 7.4 of the RDMA Aware
 * Networks Programming User Manual.  On Ethernet the MAC address of the group is
 * derived from its GID; on InfiniBand the group must exist in the subnet.  The TCP
 * connection is used only to start the sender when the member is ready.
 *
 * usage: multicast [-d DEVICE] [-p TCP-PORT] [-i PORT] [-g GID-INDEX] [HOST]
 */
#include "common.h"

enum { MESSAGES = 10, SIZE = 1024, GRH = 40, QKEY = 0x1234 };

/* ::ffff:239.1.2.3 as a multicast GID */
static const union xv_gid group = { .raw = { 0xff, 0x0e, [10] = 0xff, 0xff, 239, 1, 2, 3 } };

static struct {
	struct xv_context *ctx;
	struct xv_pd *pd;
	struct xv_cq *cq;
	struct xv_qp *qp;
	struct xv_mr *mr;
	char buf[MESSAGES][GRH + SIZE];
} r;

static void to_rts(void)
{
	struct xv_qp_attr a = {
		.qp_state = XV_QPS_INIT,
		.port_num = (uint8_t)opt.port,
		.qkey = QKEY,
	};

	CHECK(!xv_modify_qp(r.qp, &a, XV_QP_STATE | XV_QP_PKEY_INDEX | XV_QP_PORT | XV_QP_QKEY));
	a.qp_state = XV_QPS_RTR;
	CHECK(!xv_modify_qp(r.qp, &a, XV_QP_STATE));
	a.qp_state = XV_QPS_RTS;
	CHECK(!xv_modify_qp(r.qp, &a, XV_QP_STATE | XV_QP_SQ_PSN));
}

static void create(void)
{
	struct xv_cq_init_attr cq_attr = { .cqe = 2 * MESSAGES };
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_UD,
		.cap = { .max_send_wr = MESSAGES, .max_recv_wr = MESSAGES, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	CHECK((r.ctx = xv_open(opt.device)));
	CHECK((r.pd = xv_alloc_pd(r.ctx)));
	CHECK((r.mr = xv_reg_mr(r.pd, r.buf, sizeof(r.buf), XV_ACCESS_LOCAL_WRITE)));
	CHECK((r.cq = xv_create_cq(r.ctx, &cq_attr)));
	attr.send_cq = attr.recv_cq = r.cq;
	CHECK((r.qp = xv_create_qp(r.pd, &attr)));
	to_rts();
}

static void destroy(void)
{
	CHECK(!xv_destroy_qp(r.qp));
	CHECK(!xv_destroy_cq(r.cq));
	CHECK(!xv_dereg_mr(r.mr));
	CHECK(!xv_dealloc_pd(r.pd));
	CHECK(!xv_close(r.ctx));
}

static void send_all(uint16_t lid)
{
	struct peer members = { .gid = group, .lid = lid };
	struct xv_ah_attr attr = path_to(&members);
	struct xv_ah *ah;
	int i;

	CHECK((ah = xv_create_ah(r.pd, &attr)));
	for (i = 0; i < MESSAGES; i++) {
		struct xv_sge sge = { (uintptr_t)r.buf[i], SIZE, r.mr->lkey };

		snprintf(r.buf[i], SIZE, "datagram %d", i);
		CHECK(!xv_wr_send_ud(r.qp, 0, XV_SEND_SIGNALED, &sge, ah, 0xffffff, QKEY));
		xv_commit_send(r.qp);
		wait_wc(r.cq);
	}
	xv_destroy_ah(ah);
}

static void receive_all(void)
{
	char expected[32];
	struct xv_wc wc;
	int i;

	for (i = 0; i < MESSAGES; i++) {
		wc = wait_wc(r.cq);
		snprintf(expected, sizeof(expected), "datagram %d", i);
		if (wc.byte_len != SIZE + GRH || strcmp(r.buf[wc.wr_id] + GRH, expected))
			errx(1, "expected \"%s\"", expected);
	}
}

int main(int argc, char **argv)
{
	struct xv_port_attr attr;
	uint16_t lid;
	uint64_t i;
	int fd;

	parse(argc, argv);
	create();
	CHECK(!xv_query_port(r.ctx, opt.port, &attr));
	if (opt.gid_index < 0)
		opt.gid_index = xv_default_gid_index(r.ctx, opt.port);
	lid = attr.link_layer == XV_LINK_LAYER_INFINIBAND ? 0xc001 : 0;
	if (!opt.host) {
		for (i = 0; i < MESSAGES; i++) {
			struct xv_sge sge = { (uintptr_t)r.buf[i], GRH + SIZE, r.mr->lkey };

			CHECK(!xv_wr_recv(r.qp, i, &sge));
		}
		xv_commit_recv(r.qp);
		CHECK(!xv_attach_mcast(r.qp, &group, lid));
	}
	fd = connect_tcp();
	if (opt.host)
		send_all(lid);
	else
		receive_all();
	barrier(fd);
	printf("%s %d datagrams\n", opt.host ? "sent" : "received", MESSAGES);
	if (!opt.host)
		CHECK(!xv_detach_mcast(r.qp, &group, lid));
	destroy();
	close(fd);
	return 0;
}
