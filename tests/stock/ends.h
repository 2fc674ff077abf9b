/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A device with a region, and ends: queue pairs with a CQ of their own that use extended work
 * requests and completions.
 */
#ifndef TESTS_STOCK_ENDS_H
#define TESTS_STOCK_ENDS_H

#include <stdlib.h>
#include "verbs.h"

#define BYTES	65536u
#define DEPTH	64

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_port_attr port;
static struct place place;
static int gid_index;
static uint8_t *mem;

struct end {
	struct ibv_cq_ex *cqx;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_qp_ex *qpx;
};

static UNUSED uint64_t send_ops(enum ibv_qp_type type)
{
	uint64_t ops = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;

	if (type == IBV_QPT_RC)
		ops |= IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
		       IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
		       IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_BIND_MW |
		       IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_SEND_WITH_INV;
	return ops;
}

/* domain: null, or a parent domain of pd */
static UNUSED struct end make(enum ibv_qp_type type, struct ibv_pd *domain, struct ibv_srq *srq)
{
	struct ibv_cq_init_attr_ex cq = {
		.cqe = 2 * DEPTH,
		.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
		.comp_mask = domain ? IBV_CQ_INIT_ATTR_MASK_PD : 0,
		.parent_domain = domain,
	};
	struct ibv_qp_init_attr_ex qp = {
		.qp_type = type,
		.srq = srq,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 4,
			 .max_recv_sge = 2, .max_inline_data = 64 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = domain ? domain : pd,
		.send_ops_flags = send_ops(type),
	};
	struct end e = { .cqx = ibv_create_cq_ex(ctx, &cq) };

	need(e.cqx != NULL, "ibv_create_cq_ex");
	e.cq = ibv_cq_ex_to_cq(e.cqx);
	qp.send_cq = qp.recv_cq = e.cq;
	e.qp = ibv_create_qp_ex(ctx, &qp);
	need(e.qp != NULL, "ibv_create_qp_ex");
	e.qpx = ibv_qp_to_qp_ex(e.qp);
	need(e.qpx != NULL, "ibv_qp_to_qp_ex");
	return e;
}

static UNUSED void unmake(struct end *e)
{
	ok(!ibv_destroy_qp(e->qp) && !ibv_destroy_cq(e->cq), "a queue pair and its CQ end");
}

static UNUSED void rc_up(struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_ah_attr path = path_to(&place, gid_index);

	path.grh.flow_label = ~0u;
	rc_init(qp);
	rc_connect(qp, peer, path);
}

static UNUSED struct ibv_sge sge_at(uint32_t offset, uint32_t length)
{
	return (struct ibv_sge) { .addr = (uintptr_t)mem + offset, .length = length,
				  .lkey = mr->lkey };
}

static UNUSED uint64_t at(uint32_t offset)
{
	return (uintptr_t)mem + offset;
}

static UNUSED struct ibv_qp_ex *start(struct end *e, uint64_t id)
{
	ibv_wr_start(e->qpx);
	e->qpx->wr_id = id;
	e->qpx->wr_flags = IBV_SEND_SIGNALED;
	return e->qpx;
}

/* The arguments are those of a program: DEVICE GID-INDEX. */
static UNUSED void ends_open(int argc, char **argv)
{
	need(argc == 3, "usage: DEVICE GID-INDEX");
	ctx = open_device(argv[1]);
	gid_index = atoi(argv[2]);
	need(!ibv_query_port(ctx, 1, &port), "ibv_query_port");
	place = place_of(ctx, gid_index);
	mem = aligned_alloc(4096, BYTES);
	pd = ibv_alloc_pd(ctx);
	mr = pd ? ibv_reg_mr(pd, mem, BYTES, ACCESS) : NULL;
	need(mr != NULL, "ibv_reg_mr");
}

static UNUSED void ends_close(void)
{
	ok(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd), "region and domain end");
	ok(!ibv_close_device(ctx), "the device closes");
}

/* Two RC queue pairs connected to each other */
static UNUSED void make_pair(struct end *a, struct end *b)
{
	*a = make(IBV_QPT_RC, NULL, NULL);
	*b = make(IBV_QPT_RC, NULL, NULL);
	rc_up(a->qp, b->qp->qp_num);
	rc_up(b->qp, a->qp->qp_num);
}

#endif
