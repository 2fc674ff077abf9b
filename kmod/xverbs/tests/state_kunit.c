// SPDX-License-Identifier: GPL-2.0
/* KUnit: state transitions of queue pairs */
#include <kunit/test.h>
#include <rdma/xverbs.h>

#include "../qp_state.c"

#define XV_RTR_RC (AV | MTU | DEST_QPN | RQ_PSN | DEST_RD_ATOMIC | RNR_TIMER)

static void xv_test_required(struct kunit *test)
{
	struct xv_qp_verdict v;
	u32 bit;

	KUNIT_ASSERT_TRUE(test, xv_qp_transition(XVERBS_QPT_RC, INIT, RTR,
						 XV_RTR_RC | XVERBS_QP_STATE,
						 &v));
	KUNIT_EXPECT_EQ(test, v.missing, 0u);
	KUNIT_EXPECT_EQ(test, v.forbidden, 0u);
	KUNIT_EXPECT_EQ(test, v.optional, 0u);
	for (bit = 1; bit <= DEST_QPN; bit <<= 1) {
		if (!(bit & XV_RTR_RC))
			continue;
		xv_qp_transition(XVERBS_QPT_RC, INIT, RTR,
				 XV_RTR_RC & ~bit, &v);
		KUNIT_EXPECT_EQ(test, v.missing, bit);
	}
}

static void xv_test_forbidden(struct kunit *test)
{
	struct xv_qp_verdict v;

	xv_qp_transition(XVERBS_QPT_RC, INIT, RTR,
			 XV_RTR_RC | QKEY | ALT, &v);
	KUNIT_EXPECT_EQ(test, v.forbidden, QKEY);
	KUNIT_EXPECT_EQ(test, v.optional, ALT);
	xv_qp_transition(XVERBS_QPT_UD, INIT, RTR, AV, &v);
	KUNIT_EXPECT_EQ(test, v.forbidden, AV);
	xv_qp_transition(XVERBS_QPT_RC, RTS, RTS, XVERBS_QP_CAP, &v);
	KUNIT_EXPECT_EQ(test, v.forbidden, XVERBS_QP_CAP);
	xv_qp_transition(XVERBS_QPT_RC, RTS, RTS, 1u << 31, &v);
	KUNIT_EXPECT_EQ(test, v.forbidden, 1u << 31);
}

static void xv_test_invalid_transition(struct kunit *test)
{
	struct xv_qp_verdict v;
	u32 from;

	KUNIT_EXPECT_FALSE(test, xv_qp_transition(XVERBS_QPT_RC, RESET,
						  RTR, 0, &v));
	KUNIT_EXPECT_FALSE(test, xv_qp_transition(XVERBS_QPT_RC, SQE,
						  RTS, 0, &v));
	KUNIT_EXPECT_TRUE(test, xv_qp_transition(XVERBS_QPT_UC, SQE, RTS,
						 0, &v));
	for (from = RESET; from <= ERR; from++) {
		KUNIT_EXPECT_TRUE(test, xv_qp_transition(XVERBS_QPT_XRC_RECV,
							 from, RESET, 0,
							 &v));
		KUNIT_EXPECT_TRUE(test, xv_qp_transition(XVERBS_QPT_XRC_SEND,
							 from, ERR, 0, &v));
	}
	/* CUR_STATE is allowed only in states that the adapter can change itself. */
	KUNIT_EXPECT_FALSE(test, xv_qp_transition(XVERBS_QPT_RC, INIT,
						  RTR, XV_RTR_RC | CUR,
						  &v));
}

/* What the manual (A.1.7) and mlx5_ib both require, and what one of them allows */
static void xv_test_dci(struct kunit *test)
{
	static const struct {
		u8 from;
		u8 to;
		u32 required;
		u32 optional;
	} rules[] = {
		{ RESET, INIT, PKEY | PORT, DC_KEY | ACCESS },
		{ INIT, INIT, 0, PKEY | PORT | ACCESS },
		{ INIT, RTR, MTU, AV | PKEY | DC_KEY },
		{ RTR, RTS, TIMEOUT | RETRY | RNR_RETRY | RD_ATOMIC,
		  SQ_PSN | RNR_TIMER },
		{ RTS, RTS, 0, RNR_TIMER },
	};
	struct xv_qp_verdict v;
	u32 from, to, all;
	bool known;
	int i;

	for (from = RESET; from <= ERR; from++) {
		for (to = RESET; to <= ERR; to++) {
			known = to == RESET || to == ERR;
			for (i = 0; i < ARRAY_SIZE(rules); i++)
				known |= rules[i].from == from &&
					 rules[i].to == to;
			KUNIT_EXPECT_EQ_MSG(test,
					    xv_qp_transition(XVERBS_QPT_DCI,
							     from, to, 0, &v),
					    known, "%s to %s",
					    xv_qp_state_name(from),
					    xv_qp_state_name(to));
		}
	}
	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		all = rules[i].required | rules[i].optional | ECE;
		xv_qp_transition(XVERBS_QPT_DCI, rules[i].from, rules[i].to, 0,
				 &v);
		KUNIT_EXPECT_EQ(test, v.missing, rules[i].required);
		xv_qp_transition(XVERBS_QPT_DCI, rules[i].from, rules[i].to,
				 ~0u & ~CUR, &v);
		KUNIT_EXPECT_EQ(test, v.missing, 0u);
		KUNIT_EXPECT_EQ(test, v.optional, rules[i].optional | ECE);
		KUNIT_EXPECT_EQ(test, v.forbidden,
				~all & ~CUR & ~(u32)XVERBS_QP_STATE);
	}
	/* Bit 15 in the table stands for DCI, and is no type. */
	KUNIT_EXPECT_TRUE(test, xv_qp_type_known(XVERBS_QPT_DCI));
	KUNIT_EXPECT_FALSE(test, xv_qp_type_known(15));
	KUNIT_EXPECT_FALSE(test, xv_qp_type_known(0));
	KUNIT_EXPECT_FALSE(test, xv_qp_type_known(XVERBS_QPT_DCI + 1));
}

/* The commands of all transitions up to RTS, and of RTS to RTS, have a field for ECE. */
static void xv_test_ece(struct kunit *test)
{
	static const struct {
		u8 from;
		u8 to;
		bool allowed;
	} moves[] = {
		{ RESET, INIT, true }, { INIT, INIT, true }, { INIT, RTR, true },
		{ RTR, RTS, true }, { RTS, RTS, true },
		{ RTS, SQD, false }, { SQD, SQD, false }, { SQD, RTS, false },
		{ SQE, RTS, false }, { RTS, RESET, false }, { RTS, ERR, false },
		{ RESET, RESET, false },
	};
	struct xv_qp_verdict v;
	int i;

	for (i = 0; i < ARRAY_SIZE(moves); i++) {
		KUNIT_EXPECT_TRUE(test, xv_qp_transition(XVERBS_QPT_UD,
							 moves[i].from,
							 moves[i].to, ECE, &v));
		KUNIT_EXPECT_EQ_MSG(test, v.forbidden,
				    moves[i].allowed ? 0u : ECE, "%s to %s",
				    xv_qp_state_name(moves[i].from),
				    xv_qp_state_name(moves[i].to));
		KUNIT_EXPECT_EQ(test, xv_qp_negotiates(moves[i].from,
						       moves[i].to),
				moves[i].allowed);
	}
	KUNIT_EXPECT_STREQ(test, xv_qp_attr_name(ECE), "ece");
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

	KUNIT_EXPECT_NULL(test, xv_qp_attr_out_of_range(&a, DC_KEY, &value));
	KUNIT_EXPECT_STREQ(test, xv_qp_attr_name(DC_KEY), "dct_key");
	xv_qp_attr_merge(&b, &a, DC_KEY);
	KUNIT_EXPECT_EQ(test, b.qp.dct_key, ~0ull);

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
	KUNIT_CASE(xv_test_invalid_transition),
	KUNIT_CASE(xv_test_dci),
	KUNIT_CASE(xv_test_ece),
	KUNIT_CASE(xv_test_attr_table),
	KUNIT_CASE(xv_test_attr_migrate),
	{}
};

static struct kunit_suite xv_state_suite = {
	.name = "xverbs-qp-state",
	.test_cases = xv_state_cases,
};

kunit_test_suite(xv_state_suite);
