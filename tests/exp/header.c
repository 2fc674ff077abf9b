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

	ok(!wr.num_sge && !event.element.dct, "requests and events");
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

	/* Both fail. */
	ok(ibv_exp_prefetch_mr(side[0].mr, &prefetch) == EOPNOTSUPP, "prefetching");
	ok(!ibv_exp_create_flow(NULL, &rule.attr) && errno == EOPNOTSUPP, "flow steering");
}

int main(int argc, char **argv)
{
	open_sides(argc, argv);
	test_declarations();
	test_srq();
	test_not_supported();
	close_sides();
	return tap_done();
}
