// SPDX-License-Identifier: GPL-2.0
/* KUnit: state transitions of queue pairs */
#include <kunit/test.h>
#include <rdma/xverbs.h>

#include "qp_state.c"

#define XV_RTR_RC (AV | MTU | DEST_QPN | RQ_PSN | DEST_RD_ATOMIC | RNR_TIMER)

static void xv_test_required(struct kunit *test)
{
	struct xv_qp_verdict v;
	u32 bit;

	KUNIT_ASSERT_TRUE(test, xv_qp_transition(XVERBS_QPT_RC, S(INIT), S(RTR),
						 XV_RTR_RC | XVERBS_QP_STATE,
						 &v));
	KUNIT_EXPECT_EQ(test, v.missing, 0u);
	KUNIT_EXPECT_EQ(test, v.forbidden, 0u);
	KUNIT_EXPECT_EQ(test, v.optional, 0u);
	for (bit = 1; bit <= DEST_QPN; bit <<= 1) {
		if (!(bit & XV_RTR_RC))
			continue;
		xv_qp_transition(XVERBS_QPT_RC, S(INIT), S(RTR),
				 XV_RTR_RC & ~bit, &v);
		KUNIT_EXPECT_EQ(test, v.missing, bit);
	}
}

static void xv_test_forbidden(struct kunit *test)
{
	struct xv_qp_verdict v;

	xv_qp_transition(XVERBS_QPT_RC, S(INIT), S(RTR),
			 XV_RTR_RC | QKEY | ALT, &v);
	KUNIT_EXPECT_EQ(test, v.forbidden, QKEY);
	KUNIT_EXPECT_EQ(test, v.optional, ALT);
	xv_qp_transition(XVERBS_QPT_UD, S(INIT), S(RTR), AV, &v);
	KUNIT_EXPECT_EQ(test, v.forbidden, AV);
	xv_qp_transition(XVERBS_QPT_RC, S(RTS), S(RTS), XVERBS_QP_CAP, &v);
	KUNIT_EXPECT_EQ(test, v.forbidden, XVERBS_QP_CAP);
	xv_qp_transition(XVERBS_QPT_RC, S(RTS), S(RTS), 1u << 31, &v);
	KUNIT_EXPECT_EQ(test, v.forbidden, 1u << 31);
}

static void xv_test_no_way(struct kunit *test)
{
	struct xv_qp_verdict v;
	u32 from;

	KUNIT_EXPECT_FALSE(test, xv_qp_transition(XVERBS_QPT_RC, S(RESET),
						  S(RTR), 0, &v));
	KUNIT_EXPECT_FALSE(test, xv_qp_transition(XVERBS_QPT_RC, S(SQE),
						  S(RTS), 0, &v));
	KUNIT_EXPECT_TRUE(test, xv_qp_transition(XVERBS_QPT_UC, S(SQE), S(RTS),
						 0, &v));
	for (from = S(RESET); from <= S(ERR); from++) {
		KUNIT_EXPECT_TRUE(test, xv_qp_transition(XVERBS_QPT_XRC_RECV,
							 from, S(RESET), 0,
							 &v));
		KUNIT_EXPECT_TRUE(test, xv_qp_transition(XVERBS_QPT_XRC_SEND,
							 from, S(ERR), 0, &v));
	}
	/* CUR_STATE is allowed only in states that the adapter can change itself. */
	KUNIT_EXPECT_FALSE(test, xv_qp_transition(XVERBS_QPT_RC, S(INIT),
						  S(RTR), XV_RTR_RC | CUR,
						  &v));
}

static void xv_test_attr_table(struct kunit *test)
{
	struct xv_qp_attrs a, b = {};
	const char *name;
	u32 value;

	memset(&a, 0xff, sizeof(a));
	name = xv_qp_attr_out_of_range(&a, MTU, &value);
	KUNIT_ASSERT_NOT_NULL(test, name);
	KUNIT_EXPECT_STREQ(test, name, "path_mtu");
	name = xv_qp_attr_out_of_range(&a, ALT, &value);
	KUNIT_ASSERT_NOT_NULL(test, name);
	KUNIT_EXPECT_STREQ(test, name, "alt_timeout");
	KUNIT_EXPECT_NULL(test, xv_qp_attr_out_of_range(&a, QKEY | AV, &value));
	KUNIT_EXPECT_STREQ(test, xv_qp_attr_name(AV | DEST_QPN), "ah_attr");
	KUNIT_EXPECT_STREQ(test, xv_qp_attr_name(XVERBS_QP_CAP), "cap");

	xv_qp_attr_merge(&b, &a, RQ_PSN | PKEY | TIMEOUT);
	KUNIT_EXPECT_EQ(test, b.qp.rq_psn, 0xffffffffu);
	KUNIT_EXPECT_EQ(test, b.qp.pkey_index, 0xffff);
	KUNIT_EXPECT_EQ(test, b.qp.timeout, 0xff);
	KUNIT_EXPECT_EQ(test, b.qp.sq_psn, 0u);
	KUNIT_EXPECT_EQ(test, b.qp.alt_pkey_index, 0);
	KUNIT_EXPECT_EQ(test, b.qp.retry_cnt, 0);

	a.qp.path_mig_state = XVERBS_MIG_ARMED;
	name = xv_qp_attr_out_of_range(&a, MIG, &value);
	KUNIT_ASSERT_NOT_NULL(test, name);
	KUNIT_EXPECT_STREQ(test, name, "path_mig_state");
	a.qp.path_mig_state = XVERBS_MIG_REARM;
	KUNIT_EXPECT_NULL(test, xv_qp_attr_out_of_range(&a, MIG, &value));
}

static void xv_test_attr_migrate(struct kunit *test)
{
	struct xv_qp_attrs a = {
		.qp = { .port_num = 1, .timeout = 14, .alt_port_num = 2,
			.alt_timeout = 15, .alt_pkey_index = 5 },
		.ah_attr = { .dlid = 3 }, .alt_ah_attr = { .dlid = 4 },
	};

	xv_qp_attr_migrate(&a);
	KUNIT_EXPECT_EQ(test, a.qp.port_num, 2);
	KUNIT_EXPECT_EQ(test, a.qp.timeout, 15);
	KUNIT_EXPECT_EQ(test, a.qp.pkey_index, 5);
	KUNIT_EXPECT_EQ(test, a.ah_attr.dlid, 4);
	KUNIT_EXPECT_EQ(test, a.qp.alt_port_num, 0);
	KUNIT_EXPECT_EQ(test, a.qp.alt_timeout, 0);
	KUNIT_EXPECT_EQ(test, a.qp.alt_pkey_index, 0);
	KUNIT_EXPECT_EQ(test, a.alt_ah_attr.dlid, 0);
}

static struct kunit_case xv_state_cases[] = {
	KUNIT_CASE(xv_test_required),
	KUNIT_CASE(xv_test_forbidden),
	KUNIT_CASE(xv_test_no_way),
	KUNIT_CASE(xv_test_attr_table),
	KUNIT_CASE(xv_test_attr_migrate),
	{}
};

static struct kunit_suite xv_state_suite = {
	.name = "xverbs-qp-state",
	.test_cases = xv_state_cases,
};

kunit_test_suite(xv_state_suite);
