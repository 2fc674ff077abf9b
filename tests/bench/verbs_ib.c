// SPDX-License-Identifier: GPL-2.0
/*
 * libibverbs: lists and the extended interface.
 */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gid.h"
#include "verbs.h"

static struct {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_qp_ex *qpx;
	struct ibv_mr *mr;
	struct ibv_port_attr port;
	union ibv_gid gid;
	int gid_index;
	uint8_t *buf;
} s[2];

static struct ibv_send_wr wr[DEPTH];
static struct ibv_sge sge[2];

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	int i;

	for (i = 0; list && list[i] && !ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	if (!ctx)
		die("ibv_open_device");
	return ctx;
}

static void open_side(int i, const char *dev)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE,
	};

	s[i].ctx = open_device(dev);
	s[i].pd = ibv_alloc_pd(s[i].ctx);
	s[i].cq = ibv_create_cq(s[i].ctx, DEPTH, NULL, NULL, 0);
	s[i].buf = aligned_alloc(4096, 4096);
	s[i].mr = ibv_reg_mr(s[i].pd, s[i].buf, 4096,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	attr.pd = s[i].pd;
	attr.send_cq = attr.recv_cq = s[i].cq;
	s[i].qp = ibv_create_qp_ex(s[i].ctx, &attr);
	if (!s[i].pd || !s[i].cq || !s[i].mr || !s[i].qp || ibv_query_port(s[i].ctx, 1, &s[i].port))
		die("libibverbs objects");
	s[i].qpx = ibv_qp_to_qp_ex(s[i].qp);
	s[i].gid_index = pick_gid(s[i].ctx, s[i].port.gid_tbl_len);
	if (ibv_query_gid(s[i].ctx, 1, s[i].gid_index, &s[i].gid))
		die("ibv_query_gid");
	sge[i] = (struct ibv_sge) { (uintptr_t)s[i].buf, LEN, s[i].mr->lkey };
}

static void connect_side(int i)
{
	int j = !i;
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE };

	if (ibv_modify_qp(s[i].qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  IBV_QP_ACCESS_FLAGS))
		die("INIT");
	a = (struct ibv_qp_attr) { .qp_state = IBV_QPS_RTR, .path_mtu = s[i].port.active_mtu,
		.dest_qp_num = s[j].qp->qp_num, .max_dest_rd_atomic = 1, .min_rnr_timer = 1,
		.ah_attr = { .port_num = 1, .dlid = s[j].port.lid,
			.is_global = s[i].port.link_layer == IBV_LINK_LAYER_ETHERNET,
			.grh = { .dgid = s[j].gid, .sgid_index = (uint8_t)s[i].gid_index,
				.hop_limit = 64 } } };
	if (ibv_modify_qp(s[i].qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			  IBV_QP_MIN_RNR_TIMER))
		die("RTR");
	a = (struct ibv_qp_attr) { .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7,
		.rnr_retry = 7, .max_rd_atomic = 1 };
	if (ibv_modify_qp(s[i].qp, &a, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			  IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		die("RTS");
}

static void ib_open(const char *dev0, const char *dev1)
{
	open_side(0, dev0);
	open_side(1, dev1);
	connect_side(0);
	connect_side(1);
}

static void ib_close(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		ibv_destroy_qp(s[i].qp);
		ibv_destroy_cq(s[i].cq);
		ibv_dereg_mr(s[i].mr);
		ibv_dealloc_pd(s[i].pd);
		ibv_close_device(s[i].ctx);
		free(s[i].buf);
	}
}

static int post_list(int side, int n)
{
	struct ibv_send_wr *bad;
	int i;

	for (i = 0; i < n; i++) {
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
		wr[i].sg_list = &sge[side];
		wr[i].num_sge = 1;
		wr[i].opcode = IBV_WR_RDMA_WRITE;
		wr[i].send_flags = IBV_SEND_SIGNALED;
		wr[i].wr.rdma.remote_addr = (uintptr_t)s[!side].buf + 2048;
		wr[i].wr.rdma.rkey = s[!side].mr->rkey;
	}
	return ibv_post_send(s[side].qp, wr, &bad);
}

static int post_wr(int side, int n)
{
	struct ibv_qp_ex *qp = s[side].qpx;
	int i;

	ibv_wr_start(qp);
	for (i = 0; i < n; i++) {
		qp->wr_id = 0;
		qp->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_rdma_write(qp, s[!side].mr->rkey, (uintptr_t)s[!side].buf + 2048);
		ibv_wr_set_sge(qp, sge[side].lkey, sge[side].addr, LEN);
	}
	return ibv_wr_complete(qp);
}

static int ib_poll(int side, int n)
{
	struct ibv_wc wc[32];
	int got = ibv_poll_cq(s[side].cq, n < 32 ? n : 32, wc), i;

	for (i = 0; i < got; i++)
		if (wc[i].status)
			return -1;
	return got;
}

static uint8_t *ib_out(int side)
{
	return s[side].buf;
}

static volatile uint8_t *ib_in(int side)
{
	return s[side].buf + 2048;
}

const struct verbs ibv_post = {
	"ibv_post_send", ib_open, ib_close, post_list, ib_poll, ib_out, ib_in,
};

const struct verbs ibv_wr = {
	"ibv_wr", ib_open, ib_close, post_wr, ib_poll, ib_out, ib_in,
};
