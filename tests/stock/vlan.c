// SPDX-License-Identifier: GPL-2.0
/*
 * usage: vlan DEVICE GID-INDEX VLAN
 *
 * The completion of a datagram has the VLAN of the sender's GID, and the priority.  VLAN 0: the GID
 * has none.
 */
#include <stdbool.h>
#include <stdlib.h>
#include "verbs.h"

enum { QKEY = 17, GRH = 40, LEN = 16, PRIORITY = 3, PRIORITY_SHIFT = 13 };

static char mem[256] __attribute__((aligned(64)));
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_cq_ex *cq;
static struct ibv_cq *sent;
static struct ibv_qp *qp;

static void make_qp(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_UD, .send_cq = sent, .recv_cq = ibv_cq_ex_to_cq(cq),
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	qp = ibv_create_qp(pd, &init);
	need(qp != NULL, "ibv_create_qp");
	ud_up(qp, QKEY);
}

/* Sends a datagram to itself. */
static void send_datagram(struct ibv_ah *ah)
{
	struct ibv_sge from = { (uintptr_t)mem, LEN, mr->lkey };
	struct ibv_sge to = { (uintptr_t)mem + 128, GRH + LEN, mr->lkey };
	struct ibv_recv_wr recv = { .wr_id = 1, .sg_list = &to, .num_sge = 1 }, *bad_recv;
	struct ibv_send_wr send = {
		.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED, .wr.ud = { ah, qp->qp_num, QKEY },
	}, *bad_send;

	need(!ibv_post_recv(qp, &recv, &bad_recv), "ibv_post_recv");
	need(!ibv_post_send(qp, &send, &bad_send), "ibv_post_send");
}

static bool next(void)
{
	struct ibv_poll_cq_attr poll = { 0 };
	double end = now() + 10;
	int err;

	do {
		err = ibv_start_poll(cq, &poll);
	} while (err == ENOENT && now() < end);
	return !err;
}

int main(int argc, char **argv)
{
	struct ibv_cq_init_attr_ex init = {
		.cqe = 4, .wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_CVLAN,
	};
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1, .sl = PRIORITY };
	struct ibv_context *ctx;
	struct ibv_ah *ah;
	int vlan;

	if (argc != 4)
		bail_out("usage: vlan DEVICE GID-INDEX VLAN");
	vlan = atoi(argv[3]);
	ctx = open_device(argv[1]);
	attr.grh = (struct ibv_global_route) { .sgid_index = atoi(argv[2]), .hop_limit = 64 };
	need(!ibv_query_gid(ctx, 1, attr.grh.sgid_index, &attr.grh.dgid), "ibv_query_gid");
	pd = ibv_alloc_pd(ctx);
	need(pd != NULL, "ibv_alloc_pd");
	mr = ibv_reg_mr(pd, mem, sizeof(mem), IBV_ACCESS_LOCAL_WRITE);
	sent = ibv_create_cq(ctx, 4, NULL, NULL, 0);
	cq = ibv_create_cq_ex(ctx, &init);
	need(mr && sent && cq, "memory and completion queues");
	make_qp();
	ah = ibv_create_ah(pd, &attr);
	need(ah != NULL, "ibv_create_ah");
	send_datagram(ah);
	if (ok(next() && !cq->status && cq->wr_id == 1, "a datagram arrives"))
		tap_is(ibv_wc_read_cvlan(cq), vlan ? PRIORITY << PRIORITY_SHIFT | vlan : 0,
		       "VLAN and priority in its completion");
	return tap_done();
}
