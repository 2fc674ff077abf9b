// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit: sizes of the uAPI, the state machine of queue pairs, and the object
 * table with objects of no hardware.  The sources under test are included,
 * with what they call replaced here.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "qp_state.c"
#include "object.c"

/* ---- uAPI ---------------------------------------------------------------------- */

static const struct {
	const char *name;
	size_t size;
	size_t pinned;
} xv_uapi_sizes[] = {
#define XV_SIZE(_name, _bytes)	{ #_name, sizeof(struct xverbs_##_name), _bytes }
	XV_SIZE(hdr, 24), XV_SIZE(map, 16), XV_SIZE(external, 24),
	XV_SIZE(device, 192), XV_SIZE(list_devices, 48), XV_SIZE(bind, 96),
	XV_SIZE(destroy, 40), XV_SIZE(query_device, 232),
	XV_SIZE(query_port, 104), XV_SIZE(query_gid, 56),
	XV_SIZE(query_pkey, 40), XV_SIZE(feature, 136),
	XV_SIZE(query_features, 48), XV_SIZE(async_event, 24),
	XV_SIZE(comp_event, 8), XV_SIZE(channel_alloc, 32),
	XV_SIZE(pd_alloc, 32), XV_SIZE(uar_alloc, 64), XV_SIZE(mr_reg, 72),
	XV_SIZE(mr_rereg, 72), XV_SIZE(mr_dmabuf, 72), XV_SIZE(mw_alloc, 40),
	XV_SIZE(umem_reg, 48), XV_SIZE(xrcd_open, 40), XV_SIZE(qp_open, 48),
	XV_SIZE(cq_create, 128), XV_SIZE(cq_modify, 48),
	XV_SIZE(cq_resize, 56), XV_SIZE(srq_create, 152),
	XV_SIZE(srq_modify, 32), XV_SIZE(srq_query, 40), XV_SIZE(qp_cap, 24),
	XV_SIZE(qp_create, 208), XV_SIZE(ah_attr, 32), XV_SIZE(qp_attr, 120),
	XV_SIZE(qp_modify, 160), XV_SIZE(qp_query, 176),
	XV_SIZE(ah_resolve, 112), XV_SIZE(mcast, 48),
};

static void xv_test_uapi_sizes(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(xv_uapi_sizes); i++) {
		KUNIT_EXPECT_EQ_MSG(test, xv_uapi_sizes[i].size,
				    xv_uapi_sizes[i].pinned, "xverbs_%s",
				    xv_uapi_sizes[i].name);
		KUNIT_EXPECT_EQ_MSG(test, xv_uapi_sizes[i].size % 8, (size_t)0,
				    "xverbs_%s", xv_uapi_sizes[i].name);
	}
}

static struct kunit_case xv_uapi_cases[] = {
	KUNIT_CASE(xv_test_uapi_sizes),
	{}
};

static struct kunit_suite xv_uapi_suite = {
	.name = "xverbs-uapi",
	.test_cases = xv_uapi_cases,
};

/* ---- States -------------------------------------------------------------------- */

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
	/* The current state can be doubted only where it may change by itself. */
	KUNIT_EXPECT_FALSE(test, xv_qp_transition(XVERBS_QPT_RC, S(INIT),
						  S(RTR), XV_RTR_RC | CUR,
						  &v));
}

static void xv_test_attr_table(struct kunit *test)
{
	struct xverbs_qp_attr a, b = {};
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
	KUNIT_EXPECT_EQ(test, b.rq_psn, 0xffffffffu);
	KUNIT_EXPECT_EQ(test, b.pkey_index, 0xffff);
	KUNIT_EXPECT_EQ(test, b.timeout, 0xff);
	KUNIT_EXPECT_EQ(test, b.sq_psn, 0u);
	KUNIT_EXPECT_EQ(test, b.alt_pkey_index, 0);
	KUNIT_EXPECT_EQ(test, b.retry_cnt, 0);
}

static struct kunit_case xv_state_cases[] = {
	KUNIT_CASE(xv_test_required),
	KUNIT_CASE(xv_test_forbidden),
	KUNIT_CASE(xv_test_no_way),
	KUNIT_CASE(xv_test_attr_table),
	{}
};

static struct kunit_suite xv_state_suite = {
	.name = "xverbs-qp-state",
	.test_cases = xv_state_cases,
};

/* ---- Objects -------------------------------------------------------------------- */

static enum xv_obj_type xv_destroyed[16];
static int xv_n_destroyed, xv_destroy_error;

static int xv_mock_destroy(struct xv_obj *obj)
{
	if (xv_destroy_error)
		return xv_destroy_error;
	if (xv_n_destroyed < ARRAY_SIZE(xv_destroyed))
		xv_destroyed[xv_n_destroyed++] = obj->type;
	return 0;
}

#define XV_MOCK(_name)							\
int xv_##_name##_destroy(struct xv_obj *obj, struct xv_call *call)	\
{									\
	return xv_mock_destroy(obj);					\
}

XV_MOCK(qp)
XV_MOCK(srq)
XV_MOCK(cq)
XV_MOCK(channel)
XV_MOCK(xrcd)
XV_MOCK(umem)
XV_MOCK(mw)
XV_MOCK(mr)
XV_MOCK(uar)
XV_MOCK(pd)

int xv_fail(struct xv_call *call, int err, const char *fmt, ...)
{
	return err;
}

void xv_evsrc_init(struct xv_evsrc *src)
{
}

u32 xv_evsrc_stop(struct xv_evq *q, struct xv_evsrc *src)
{
	return 0;
}

struct xv_table {
	struct xv_file file;
	struct xv_call call;
	unsigned int max;
};

static int xv_table_init(struct kunit *test)
{
	struct xv_table *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	xa_init_flags(&t->file.objs, XA_FLAGS_ALLOC1);
	t->call.file = &t->file;
	t->max = max_objects;
	xv_n_destroyed = 0;
	xv_destroy_error = 0;
	test->priv = t;
	return 0;
}

static void xv_table_exit(struct kunit *test)
{
	struct xv_table *t = test->priv;

	max_objects = t->max;
	xv_objs_destroy_all(&t->file);
	xa_destroy(&t->file.objs);
}

static struct xv_obj *xv_make(struct kunit *test, enum xv_obj_type type)
{
	struct xv_table *t = test->priv;
	struct xv_obj *obj;

	obj = xv_obj_alloc(&t->call, type, sizeof(*obj));
	KUNIT_ASSERT_FALSE(test, IS_ERR(obj));
	return obj;
}

static int xv_try_destroy(struct kunit *test, u32 handle)
{
	struct xv_table *t = test->priv;

	t->call.arg.destroy = (struct xverbs_destroy) { .handle = handle };
	return xv_destroy(&t->call);
}

static void xv_test_publish(struct kunit *test)
{
	struct xv_table *t = test->priv;
	struct xv_obj *obj = xv_make(test, XV_OBJ_PD);

	KUNIT_EXPECT_EQ(test, obj->handle, 1u);
	KUNIT_EXPECT_EQ(test, PTR_ERR(xv_obj_get(&t->call, XV_OBJ_PD, 1)),
			(long)-ENOENT);
	KUNIT_EXPECT_EQ(test, xv_try_destroy(test, 1), -ENOENT);
	xv_obj_publish(obj);
	KUNIT_EXPECT_EQ(test, PTR_ERR(xv_obj_get(&t->call, XV_OBJ_CQ, 1)),
			(long)-ENOENT);
	KUNIT_EXPECT_PTR_EQ(test, xv_obj_get(&t->call, XV_OBJ_PD, 1), obj);
	KUNIT_EXPECT_EQ(test, xv_try_destroy(test, 1), -EBUSY);
	xv_obj_put(obj);
	KUNIT_EXPECT_EQ(test, xv_try_destroy(test, 1), 0);
	KUNIT_EXPECT_EQ(test, xv_try_destroy(test, 1), -ENOENT);
	KUNIT_EXPECT_EQ(test, xv_try_destroy(test, 0), -ENOENT);
}

static void xv_test_deps(struct kunit *test)
{
	struct xv_table *t = test->priv;
	struct xv_obj *pd = xv_make(test, XV_OBJ_PD), *mr;

	xv_obj_publish(pd);
	mr = xv_make(test, XV_OBJ_MR);
	KUNIT_EXPECT_PTR_EQ(test, xv_obj_use(&t->call, mr, XV_OBJ_PD,
					     pd->handle), pd);
	KUNIT_EXPECT_EQ(test, xv_try_destroy(test, pd->handle), -EBUSY);
	/* A creation that fails lets go of what it used. */
	xv_obj_abort(mr);
	KUNIT_EXPECT_EQ(test, pd->users, 0u);

	mr = xv_make(test, XV_OBJ_MR);
	xv_obj_use(&t->call, mr, XV_OBJ_PD, pd->handle);
	xv_obj_publish(mr);
	KUNIT_EXPECT_EQ(test, xv_try_destroy(test, pd->handle), -EBUSY);
	KUNIT_EXPECT_EQ(test, xv_try_destroy(test, mr->handle), 0);
	KUNIT_EXPECT_EQ(test, xv_try_destroy(test, pd->handle), 0);
}

static void xv_test_destroy_fails(struct kunit *test)
{
	struct xv_table *t = test->priv;
	struct xv_obj *cq = xv_make(test, XV_OBJ_CQ);

	xv_obj_publish(cq);
	xv_destroy_error = -EREMOTEIO;
	KUNIT_EXPECT_EQ(test, xv_try_destroy(test, cq->handle), -EREMOTEIO);
	xv_destroy_error = 0;
	KUNIT_EXPECT_PTR_EQ(test, xv_obj_get(&t->call, XV_OBJ_CQ, cq->handle),
			    cq);
	xv_obj_put(cq);
	KUNIT_EXPECT_EQ(test, xv_try_destroy(test, cq->handle), 0);
}

static void xv_test_order(struct kunit *test)
{
	static const enum xv_obj_type made[] = {
		XV_OBJ_PD, XV_OBJ_UAR, XV_OBJ_MR, XV_OBJ_CHANNEL, XV_OBJ_CQ,
		XV_OBJ_QP, XV_OBJ_MR, XV_OBJ_QP,
	};
	struct xv_table *t = test->priv;
	int i;

	for (i = 0; i < ARRAY_SIZE(made); i++)
		xv_obj_publish(xv_make(test, made[i]));
	xv_objs_destroy_all(&t->file);
	KUNIT_ASSERT_EQ(test, xv_n_destroyed, (int)ARRAY_SIZE(made));
	for (i = 1; i < xv_n_destroyed; i++)
		KUNIT_EXPECT_LE(test, xv_destroyed[i - 1], xv_destroyed[i]);
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->file.objs));
}

static void xv_test_limit(struct kunit *test)
{
	struct xv_table *t = test->priv;
	struct xv_obj *obj;

	max_objects = 2;
	xv_obj_publish(xv_make(test, XV_OBJ_PD));
	obj = xv_make(test, XV_OBJ_PD);
	KUNIT_EXPECT_EQ(test, PTR_ERR(xv_obj_alloc(&t->call, XV_OBJ_PD,
						   sizeof(*obj))),
			(long)-ENOSPC);
	xv_obj_abort(obj);
	xv_obj_publish(xv_make(test, XV_OBJ_PD));
}

static struct kunit_case xv_object_cases[] = {
	KUNIT_CASE(xv_test_publish),
	KUNIT_CASE(xv_test_deps),
	KUNIT_CASE(xv_test_destroy_fails),
	KUNIT_CASE(xv_test_order),
	KUNIT_CASE(xv_test_limit),
	{}
};

static struct kunit_suite xv_object_suite = {
	.name = "xverbs-objects",
	.init = xv_table_init,
	.exit = xv_table_exit,
	.test_cases = xv_object_cases,
};

kunit_test_suites(&xv_uapi_suite, &xv_state_suite, &xv_object_suite);

MODULE_DESCRIPTION("KUnit tests of xverbs");
MODULE_LICENSE("GPL");
