// SPDX-License-Identifier: GPL-2.0
/*
 * usage: lacking DEVICE
 *
 * What xverbs does not have answers EOPNOTSUPP, and the attributes of the device do not offer it,
 * so that programs choose another way.  libmlx5 has most of it.
 */
#include <infiniband/mlx5dv.h>
#include "verbs.h"

enum { BYTES = 4096 };

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_srq *srq;
static struct ibv_qp *qp;
static char mem[BYTES];

/* The call returns an error number, or null with errno. */
#define REFUSED(call)	answer(call, #call)
#define NULL_OF(call)	answer((errno = 0, (call) ? 0 : errno), #call)

static void answer(int err, const char *call)
{
	if (!ok(err == EOPNOTSUPP, "%s: EOPNOTSUPP", call))
		diag("error %d (%s)", err, strerror(err));
}

static struct ibv_qp *create(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = { .qp_type = type, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1,
			 .max_recv_sge = 1 } };

	return ibv_create_qp(pd, &attr);
}

static struct ibv_qp *create_ex(struct ibv_qp_init_attr_ex attr, uint32_t mask)
{
	if (!attr.qp_type)
		attr.qp_type = IBV_QPT_RC;
	attr.send_cq = attr.recv_cq = cq;
	attr.cap.max_send_wr = attr.cap.max_send_sge = 1;
	attr.pd = pd;
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | mask;
	return ibv_create_qp_ex(ctx, &attr);
}
#define QP_EX(mask, ...)	create_ex((struct ibv_qp_init_attr_ex) { __VA_ARGS__ }, mask)

static void queue_pairs(void)
{
	NULL_OF(create(IBV_QPT_RAW_PACKET));
	NULL_OF(create(IBV_QPT_DRIVER));
	NULL_OF(QP_EX(0, .qp_type = IBV_QPT_RAW_PACKET));
	NULL_OF(QP_EX(IBV_QP_INIT_ATTR_MAX_TSO_HEADER, .max_tso_header = 64));
	NULL_OF(QP_EX(IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH, .rwq_ind_tbl = NULL));
	NULL_OF(QP_EX(IBV_QP_INIT_ATTR_CREATE_FLAGS, .qp_type = IBV_QPT_UD,
		      .create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB));
	NULL_OF(QP_EX(IBV_QP_INIT_ATTR_CREATE_FLAGS, .qp_type = IBV_QPT_UD,
		      .create_flags = IBV_QP_CREATE_SOURCE_QPN));
	NULL_OF(QP_EX(IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, .send_ops_flags = IBV_QP_EX_WITH_TSO));
}

static void packets(void)
{
	struct ibv_flow_attr flow = { .size = sizeof(flow), .port = 1 };
	struct ibv_flow_action_esp_attr esp = { .comp_mask = 0 };
	struct ibv_counters_init_attr counters = { .comp_mask = 0 };

	NULL_OF(ibv_create_flow(qp, &flow));
	NULL_OF(ibv_create_flow_action_esp(ctx, &esp));
	NULL_OF(ibv_create_counters(ctx, &counters));
}

static void work_queues(void)
{
	struct ibv_wq_init_attr wq = { .wq_type = IBV_WQT_RQ, .max_wr = 4, .max_sge = 1,
				       .pd = pd, .cq = cq };
	struct ibv_rwq_ind_table_init_attr table = { .log_ind_tbl_size = 0 };

	NULL_OF(ibv_create_wq(ctx, &wq));
	NULL_OF(ibv_create_rwq_ind_table(ctx, &table));
}

static void tag_matching(void)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 16, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ |
			     IBV_SRQ_INIT_ATTR_TM,
		.srq_type = IBV_SRQT_TM, .pd = pd, .cq = cq,
		.tm_cap = { .max_num_tags = 4, .max_ops = 4 },
	};
	struct ibv_ops_wr *bad, op = { .opcode = IBV_WR_TAG_SYNC };

	NULL_OF(ibv_create_srq_ex(ctx, &attr));
	REFUSED(ibv_post_srq_ops(srq, &op, &bad));
}

static void memory(void)
{
	struct ibv_alloc_dm_attr dm = { .length = 64 };
	struct ibv_sge range = { .length = BYTES };

	NULL_OF(ibv_alloc_dm(ctx, &dm));
	NULL_OF(ibv_reg_dm_mr(pd, NULL, 0, 64, IBV_ACCESS_LOCAL_WRITE));
	NULL_OF(ibv_reg_mr(pd, mem, BYTES, IBV_ACCESS_ON_DEMAND));
	NULL_OF(ibv_reg_mr(pd, NULL, SIZE_MAX, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_LOCAL_WRITE));
	REFUSED(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &range, 1));
	NULL_OF(ibv_alloc_null_mr(pd));
}

static struct ibv_cq_ex *cq_ex(uint64_t fields)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 1, .wc_flags = fields };

	return ibv_create_cq_ex(ctx, &attr);
}

static void completions(void)
{
	NULL_OF(cq_ex(IBV_WC_EX_WITH_FLOW_TAG));
	NULL_OF(cq_ex(IBV_WC_EX_WITH_TM_INFO));
	NULL_OF(cq_ex(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK));
}

static void connections(void)
{
	struct ibv_qp_rate_limit_attr limit = { .rate_limit = 1000 };
	struct ibv_qp_attr attr = { .rate_limit = 1000 };

	REFUSED(ibv_modify_qp_rate_limit(qp, &limit));
	REFUSED(ibv_modify_qp(qp, &attr, IBV_QP_RATE_LIMIT));
}

/* What cannot be imported cannot be given back either: nothing happens to the objects. */
static void imports(void)
{
	struct ibv_ah_attr path = { .port_num = 1 };
	struct ibv_mr *mr = ibv_reg_mr(pd, mem, BYTES, IBV_ACCESS_LOCAL_WRITE);
	uint8_t mac[6];
	uint16_t vlan;

	NULL_OF(ibv_import_device(ctx->cmd_fd));
	NULL_OF(ibv_import_pd(ctx, pd->handle));
	NULL_OF(ibv_import_mr(pd, 1));
	NULL_OF(ibv_import_dm(ctx, 1));
	ibv_unimport_mr(mr);
	ibv_unimport_pd(pd);
	ibv_unimport_dm(NULL);
	ok(mr && !ibv_dereg_mr(mr), "a region of an own domain is not given back");
	ok(ibv_resolve_eth_l2_from_gid(ctx, &path, mac, &vlan) == -EOPNOTSUPP,
	   "ibv_resolve_eth_l2_from_gid() is for providers");
}

static void offers(void)
{
	struct ibv_device_attr_ex dx;

	ok(!ibv_query_device_ex(ctx, NULL, &dx) && !dx.odp_caps.general_caps &&
	   !dx.tso_caps.max_tso && !dx.rss_caps.supported_qpts && !dx.max_wq_type_rq &&
	   !dx.packet_pacing_caps.supported_qpts && !dx.raw_packet_caps &&
	   !dx.tm_caps.max_num_tags && !dx.max_dm_size && !dx.xrc_odp_caps,
	   "ibv_query_device_ex offers none of this");
	ok(!mlx5dv_is_supported(ctx->device), "the device is not one of libmlx5");
}

int main(int argc, char **argv)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 16, .max_sge = 1 } };

	need(argc == 2, "usage: lacking DEVICE");
	ctx = open_device(argv[1]);
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	need(pd && cq, "PD and CQ");
	srq = ibv_create_srq(pd, &attr);
	qp = create(IBV_QPT_RC);
	need(srq && qp, "SRQ and queue pair");
	rc_init(qp);
	queue_pairs();
	packets();
	work_queues();
	tag_matching();
	memory();
	completions();
	connections();
	imports();
	offers();
	ok(!ibv_destroy_qp(qp) && !ibv_destroy_srq(srq) && !ibv_destroy_cq(cq) &&
	   !ibv_dealloc_pd(pd) && !ibv_close_device(ctx), "nothing is left of the refused objects");
	return tap_done();
}
