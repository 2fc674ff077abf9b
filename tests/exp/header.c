// SPDX-License-Identifier: GPL-2.0
/*
 * What a program finds that includes only <infiniband/verbs.h>: the experimental verbs, shared
 * receive queues, and the declarations of what is not supported.
 *
 * usage: DEVICE GID-INDEX
 */
#include <fcntl.h>
#include <infiniband/verbs.h>
#include "rig.h"

static void test_declarations(void)
{
	struct ibv_exp_send_wr wr = { .exp_opcode = IBV_EXP_WR_SEND };
	struct ibv_async_event event = { .element.dct = NULL };
	struct ibv_exp_qp_init_attr old = {
		.qp_type = IBV_QPT_XRC, .pd = side[0].pd, .comp_mask = IBV_EXP_QP_INIT_ATTR_PD,
	};

	ok(!wr.num_sge && !event.element.dct, "requests and events");
	ok(!ibv_exp_create_qp(side[0].ctx, &old) && errno == EINVAL, "XRC of old libraries");
}

/* Programs get these functions once, and call them in their loops. */
static void test_functions(void)
{
	struct pair p = make_pair((struct ibv_exp_qp_init_attr) { .comp_mask = 0 });
	struct ibv_context *ctx = side[0].ctx;
	drv_exp_post_send_func exp_send = ibv_exp_get_provider_func(ctx, IBV_EXP_POST_SEND_FUNC);
	drv_exp_poll_cq_func exp_poll = ibv_exp_get_provider_func(ctx, IBV_EXP_POLL_CQ_FUNC);
	drv_post_send_func send = ibv_exp_get_provider_func(ctx, IBV_POST_SEND_FUNC);
	drv_post_recv_func recv = ibv_exp_get_provider_func(ctx, IBV_POST_RECV_FUNC);
	drv_poll_cq_func poll = ibv_exp_get_provider_func(ctx, IBV_POLL_CQ_FUNC);
	struct ibv_exp_send_wr exp_wr = { .exp_opcode = IBV_EXP_WR_SEND }, *exp_bad;
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_recv_wr empty = { .wr_id = 5 }, *bad_recv;
	struct ibv_exp_wc exp_wc = { .wr_id = 0 };
	struct ibv_wc wc = { .wr_id = 0 };
	double until = now() + 20;

	need(exp_send && exp_poll && send && recv && poll, "the functions");
	ok(!recv(p.qp[1], &empty, &bad_recv) && !recv(p.qp[1], &empty, &bad_recv),
	   "receives through a pointer");
	ok(!exp_send(p.qp[0], &exp_wr, &exp_bad) && !send(p.qp[0], &wr, &bad), "sends");
	while (!exp_poll(p.cq[1], 1, &exp_wc, sizeof(exp_wc)) && now() < until)
		;
	while (!poll(p.cq[1], 1, &wc) && now() < until)
		;
	ok(exp_wc.wr_id == 5 && exp_wc.status == IBV_WC_SUCCESS && wc.wr_id == 5 &&
	   wc.status == IBV_WC_SUCCESS, "and completions");
	errno = 0;
	ok(!ibv_exp_get_provider_func(ctx, (enum ibv_exp_func_name)99) && errno == EINVAL,
	   "a function that has no name");
	break_pair(&p);
}

static void test_srq(void)
{
	struct ibv_xrcd_init_attr domain = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, .oflags = O_CREAT,
	};
	struct ibv_exp_create_srq_attr attr = {
		.base = { .srq_context = side, .attr = { .max_wr = 10, .max_sge = 1 } },
		.pd = side[0].pd,
		.comp_mask = 0xa5a5a5a5,	/* not used by this type */
	};
	struct ibv_xrcd *xrcd = ibv_open_xrcd(side[0].ctx, &domain);
	struct ibv_cq *cq = ibv_create_cq(side[0].ctx, 16, NULL, NULL, 0);
	struct ibv_srq *srq = ibv_exp_create_srq(side[0].ctx, &attr);
	uint32_t number = 0;

	need(xrcd && cq, "an XRC domain and a CQ");
	ok(srq && srq->srq_context == side && attr.base.attr.max_wr >= 10 && !ibv_destroy_srq(srq),
	   "a shared receive queue");
	attr.srq_type = IBV_EXP_SRQT_XRC;
	attr.comp_mask = IBV_EXP_CREATE_SRQ_CQ | IBV_EXP_CREATE_SRQ_XRCD;
	attr.cq = cq;
	attr.xrcd = xrcd;
	srq = ibv_exp_create_srq(side[0].ctx, &attr);
	ok(srq && !ibv_get_srq_num(srq, &number) && number && !ibv_destroy_srq(srq), "of type XRC");
	attr.comp_mask = IBV_EXP_CREATE_SRQ_CQ;
	ok(!ibv_exp_create_srq(side[0].ctx, &attr) && errno == EINVAL, "XRC without a domain");
	attr.srq_type = IBV_EXP_SRQT_TAG_MATCHING;
	attr.comp_mask = IBV_EXP_CREATE_SRQ_CQ | IBV_EXP_CREATE_SRQ_TM;
	ok(!ibv_exp_create_srq(side[0].ctx, &attr) && errno == EOPNOTSUPP, "tag matching");
	attr.srq_type = (enum ibv_exp_srq_type)7;
	ok(!ibv_exp_create_srq(side[0].ctx, &attr) && errno == EINVAL, "an unknown type");
	need(!ibv_close_xrcd(xrcd) && !ibv_destroy_cq(cq), "destroy");
}

static void test_not_supported(void)
{
	struct ibv_exp_prefetch_attr prefetch = {
		.flags = IBV_EXP_PREFETCH_WRITE_ACCESS, .addr = side[0].mem, .length = BYTES,
	};
	struct {
		struct ibv_exp_flow_attr attr;
		struct ibv_exp_flow_spec_eth eth;
		struct ibv_exp_flow_spec_ipv4 ip;
		struct ibv_exp_flow_spec_tcp_udp udp;
	} rule = {
		.attr = { .type = IBV_EXP_FLOW_ATTR_NORMAL, .size = sizeof(rule),
			  .num_of_specs = 3, .port = 1 },
		.eth = { .type = IBV_EXP_FLOW_SPEC_ETH, .size = sizeof(rule.eth),
			 .val.ether_type = 0x0800 },
		.ip = { .type = IBV_EXP_FLOW_SPEC_IPV4, .size = sizeof(rule.ip) },
		.udp = { .type = IBV_EXP_FLOW_SPEC_UDP, .size = sizeof(rule.udp) },
	};

	struct ibv_exp_reg_shared_mr_in shared = { .pd = side[0].pd };
	struct ibv_exp_dc_info_ent info;

	/* They fail. */
	ok(ibv_exp_prefetch_mr(side[0].mr, &prefetch) == EOPNOTSUPP, "prefetching");
	ok(!ibv_exp_create_flow(NULL, &rule.attr) && errno == EOPNOTSUPP, "flow steering");
	ok(!ibv_exp_reg_shared_mr(&shared) && errno == EOPNOTSUPP, "a region of another process");
	errno = 0;
	ok(ibv_exp_poll_dc_info(side[0].ctx, &info, 1, 1) == -1 && errno == EOPNOTSUPP,
	   "information on DC");
}

int main(int argc, char **argv)
{
	open_sides(argc, argv);
	test_declarations();
	test_functions();
	test_srq();
	test_not_supported();
	close_sides();
	return tap_done();
}
