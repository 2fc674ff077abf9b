// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Experimental verbs (RDMA Aware manual, appendix B): one fetch-and-add changes four counters of
 * 16 bits in a word of memory; no carry leaves a counter.
 *
 * usage: exp_fields DEVICE GID-INDEX
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <infiniband/verbs_exp.h>

#define CHECK(good)	do { if (!(good)) err(1, "%s", #good); } while (0)
#define BOUNDARIES	0x8000800080008000ull	/* the last bit of each counter */
#define LOG_BYTES	3
#define ACCESS		(IBV_EXP_ACCESS_LOCAL_WRITE | IBV_EXP_ACCESS_REMOTE_ATOMIC)

static struct {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint64_t counters, old;
} res;

static void resources_create(const char *name)
{
	struct ibv_exp_cq_init_attr cq = { .comp_mask = 0 };
	struct ibv_exp_reg_mr_in in = { .addr = &res, .length = sizeof(res),
		.exp_access = ACCESS };
	struct ibv_exp_qp_init_attr attr = {
		.comp_mask = IBV_EXP_QP_INIT_ATTR_PD | IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG,
		.qp_type = IBV_QPT_RC, .max_atomic_arg = 1 << LOG_BYTES,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
	};
	struct ibv_device **list = ibv_get_device_list(NULL), **d;

	CHECK(list);
	for (d = list; *d && strcmp(ibv_get_device_name(*d), name); d++)
		;
	CHECK((res.ctx = *d ? ibv_open_device(*d) : NULL));
	ibv_free_device_list(list);
	CHECK((res.pd = in.pd = attr.pd = ibv_alloc_pd(res.ctx)));
	CHECK((res.mr = ibv_exp_reg_mr(&in)));
	CHECK((res.cq = ibv_exp_create_cq(res.ctx, 4, NULL, NULL, 0, &cq)));
	attr.send_cq = attr.recv_cq = res.cq;
	CHECK((res.qp = ibv_exp_create_qp(res.ctx, &attr)));
}

static void resources_destroy(void)
{
	CHECK(!ibv_destroy_qp(res.qp));
	CHECK(!ibv_destroy_cq(res.cq));
	CHECK(!ibv_dereg_mr(res.mr));
	CHECK(!ibv_dealloc_pd(res.pd));
	CHECK(!ibv_close_device(res.ctx));
}

/* The queue pair is its own peer. */
static void connect_to_itself(int gid_index)
{
	struct ibv_port_attr port;
	struct ibv_exp_qp_attr a = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ACCESS,
		.path_mtu = IBV_MTU_1024, .dest_qp_num = res.qp->qp_num,
		.max_dest_rd_atomic = 1, .max_rd_atomic = 1, .min_rnr_timer = 12,
		.timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.ah_attr = { .port_num = 1, .is_global = 1,
			     .grh = { .sgid_index = (uint8_t)gid_index, .hop_limit = 64 } },
	};

	/* The first packet number has 24 bits; others must not guess it. */
	CHECK(getrandom(&a.sq_psn, 3, 0) == 3);
	a.rq_psn = a.sq_psn;
	CHECK(!ibv_query_port(res.ctx, 1, &port));
	CHECK(!ibv_query_gid(res.ctx, 1, gid_index, &a.ah_attr.grh.dgid));
	a.ah_attr.dlid = port.lid;
	CHECK(!ibv_exp_modify_qp(res.qp, &a, IBV_EXP_QP_STATE | IBV_EXP_QP_PKEY_INDEX |
				 IBV_EXP_QP_PORT | IBV_EXP_QP_ACCESS_FLAGS));
	a.qp_state = IBV_QPS_RTR;
	CHECK(!ibv_exp_modify_qp(res.qp, &a, IBV_EXP_QP_STATE | IBV_EXP_QP_AV |
				 IBV_EXP_QP_PATH_MTU | IBV_EXP_QP_DEST_QPN | IBV_EXP_QP_RQ_PSN |
				 IBV_EXP_QP_MAX_DEST_RD_ATOMIC | IBV_EXP_QP_MIN_RNR_TIMER));
	a.qp_state = IBV_QPS_RTS;
	CHECK(!ibv_exp_modify_qp(res.qp, &a, IBV_EXP_QP_STATE | IBV_EXP_QP_TIMEOUT |
				 IBV_EXP_QP_RETRY_CNT | IBV_EXP_QP_RNR_RETRY |
				 IBV_EXP_QP_SQ_PSN | IBV_EXP_QP_MAX_QP_RD_ATOMIC));
}

static void add(uint64_t fields)
{
	struct ibv_sge sge = { (uintptr_t)&res.old, sizeof(res.old), res.mr->lkey };
	struct ibv_exp_send_wr wr = {
		.sg_list = &sge, .num_sge = 1,
		.exp_opcode = IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD,
		.exp_send_flags = IBV_EXP_SEND_SIGNALED | IBV_EXP_SEND_EXT_ATOMIC_INLINE,
	}, *bad;
	struct ibv_exp_wc wc;
	int n;

	wr.ext_op.masked_atomics.log_arg_sz = LOG_BYTES;
	wr.ext_op.masked_atomics.remote_addr = (uintptr_t)&res.counters;
	wr.ext_op.masked_atomics.rkey = res.mr->rkey;
	wr.ext_op.masked_atomics.wr_data.inline_data.op.fetch_add = (struct ibv_exp_fetch_add) {
		.add_val = fields, .field_boundary = BOUNDARIES };
	CHECK(!ibv_exp_post_send(res.qp, &wr, &bad));
	do
		n = ibv_exp_poll_cq(res.cq, 1, &wc, sizeof(wc));
	while (!n);
	CHECK(n == 1);
	if (wc.status)
		errx(1, "%s", ibv_wc_status_str(wc.status));
}

int main(int argc, char **argv)
{
	if (argc != 3)
		errx(2, "usage: %s DEVICE GID-INDEX", argv[0]);
	resources_create(argv[1]);
	connect_to_itself(atoi(argv[2]));
	res.counters = 0x0001fffe00030004ull;
	add(0x0001000300010001ull);
	printf("counters %016llx, before %016llx\n", (unsigned long long)res.counters,
	       (unsigned long long)res.old);
	if (res.counters != 0x0002000100040005ull)
		errx(1, "the counters are wrong");
	resources_destroy();
	return 0;
}
