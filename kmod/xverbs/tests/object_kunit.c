// SPDX-License-Identifier: GPL-2.0
/* KUnit: handles, references and destruction, with objects without hardware */
#include <kunit/test.h>
#include <linux/module.h>

#include "../charge.h"
#include "../cq.h"
#include "../dct.h"
#include "../mkey.h"
#include "../mr.h"
#include "../pd.h"
#include "../qp.h"
#include "../srq.h"
#include "../uar.h"
#include "../xrcd.h"

static enum xv_obj_type xv_destroyed[16];
static int xv_n_destroyed, xv_destroy_error;
static int xv_destroy_fails;	/* only of this type, if not negative */

static int xv_mock_destroy(struct xv_obj *obj, struct xv_call *call)
{
	if (xv_destroy_error && (xv_destroy_fails < 0 ||
				 obj->type == xv_destroy_fails))
		return xv_destroy_error;
	if (xv_n_destroyed < ARRAY_SIZE(xv_destroyed))
		xv_destroyed[xv_n_destroyed++] = obj->type;
	return 0;
}

static int xv_n_lost;

static void xv_mock_leak(struct xv_obj *obj)
{
	xv_n_lost++;
}

static int xv_n_drained;

/* All objects begin to drain before the first is destroyed. */
static void xv_mock_drain(struct xv_obj *obj)
{
	if (!xv_n_destroyed)
		xv_n_drained++;
}

#define xv_dct_drain	xv_mock_drain
#define xv_qp_leak	xv_mock_leak
#define xv_dct_leak	xv_mock_leak
#define xv_srq_leak	xv_mock_leak
#define xv_mr_leak	xv_mock_leak
#define xv_cq_leak	xv_mock_leak
#define xv_channel_leak	xv_mock_leak
#define xv_uar_leak	xv_mock_leak
#define xv_pd_leak	xv_mock_leak
#define xv_qp_destroy	xv_mock_destroy
#define xv_dct_destroy	xv_mock_destroy
#define xv_srq_destroy	xv_mock_destroy
#define xv_cq_destroy	xv_mock_destroy
#define xv_channel_destroy	xv_mock_destroy
#define xv_xrcd_destroy	xv_mock_destroy
#define xv_umem_destroy	xv_mock_destroy
#define xv_mw_destroy	xv_mock_destroy
#define xv_mr_destroy	xv_mock_destroy
#define xv_uar_destroy	xv_mock_destroy
#define xv_pd_destroy	xv_mock_destroy
#define xv_cgroup_charge(call, dev, charged, what)	0
#define xv_cgroup_uncharge(dev, charged, what)
#include "../object.c"

struct xv_table {
	struct xv_dev dev;
	struct xv_file file;
	struct xv_call call;
	unsigned int max;
};

static int xv_table_init(struct kunit *test)
{
	struct xv_table *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	t->dev.ib = kunit_kzalloc(test, sizeof(*t->dev.ib), GFP_KERNEL);
	if (!t->dev.ib)
		return -ENOMEM;
	t->file.dev = &t->dev;
	kref_init(&t->file.ref);
	xa_init_flags(&t->file.objs, XA_FLAGS_ALLOC1);
	xv_evq_init(&t->file.async, sizeof(struct xverbs_async_event), t->file.log);
	t->call.file = &t->file;
	t->max = max_objects;
	xv_n_destroyed = 0;
	xv_n_lost = 0;
	xv_n_drained = 0;
	xv_destroy_error = 0;
	xv_destroy_fails = -1;
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
	/* A failed creation drops its references. */
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

/* The reply fails after the object was published and other calls have used it. */
static void xv_test_discard(struct kunit *test)
{
	struct xv_table *t = test->priv;
	struct xv_obj *pd = xv_make(test, XV_OBJ_PD);
	u64 serial = pd->serial;

	xv_obj_publish(pd);
	pd->users = 1;
	xv_obj_discard(&t->file, 1, serial);
	KUNIT_EXPECT_EQ(test, xv_n_destroyed, 0);
	xv_obj_put(pd);
	KUNIT_EXPECT_EQ(test, xv_try_destroy(test, 1), 0);

	/* Another object with the same handle */
	pd = xv_make(test, XV_OBJ_PD);
	xv_obj_publish(pd);
	KUNIT_EXPECT_EQ(test, pd->handle, 1u);
	KUNIT_EXPECT_NE(test, pd->serial, serial);
	xv_obj_discard(&t->file, 1, serial);
	KUNIT_EXPECT_PTR_EQ(test, xa_load(&t->file.objs, 1), pd);

	xv_destroy_error = -EREMOTEIO;
	xv_obj_discard(&t->file, 1, pd->serial);
	KUNIT_EXPECT_PTR_EQ(test, xa_load(&t->file.objs, 1), pd);
	xv_destroy_error = 0;
	xv_obj_discard(&t->file, 1, pd->serial);
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->file.objs));
	xv_obj_discard(&t->file, 1, serial);
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

static void xv_test_destroy_drains(struct kunit *test)
{
	struct xv_table *t = test->priv;
	int i;

	xv_obj_publish(xv_make(test, XV_OBJ_QP));
	for (i = 0; i < 3; i++)
		xv_obj_publish(xv_make(test, XV_OBJ_DCT));
	xv_objs_destroy_all(&t->file);
	KUNIT_EXPECT_EQ(test, xv_n_drained, 3);
	KUNIT_EXPECT_EQ(test, xv_n_destroyed, 4);
}

/* The second pass destroys objects that have lost their users. */
static void xv_test_destroy_retried(struct kunit *test)
{
	struct xv_table *t = test->priv;
	struct xv_obj *pd = xv_make(test, XV_OBJ_PD), *mr;

	xv_obj_publish(pd);
	mr = xv_make(test, XV_OBJ_MR);
	xv_obj_use(&t->call, mr, XV_OBJ_PD, pd->handle);
	xv_obj_publish(mr);
	xv_destroy_error = -ENOMEM;
	xv_objs_destroy_pass(&t->file);
	KUNIT_EXPECT_EQ(test, xv_n_destroyed, 0);
	xv_destroy_error = 0;
	xv_objs_destroy_all(&t->file);
	KUNIT_EXPECT_EQ(test, xv_n_destroyed, 2);
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->file.objs));
}

/*
 * Objects that a lost object uses are not destroyed or freed.  The file and the module
 * stay.
 */
static void xv_test_lost(struct kunit *test)
{
	struct xv_table *t = test->priv;
	struct xv_obj *umem = xv_make(test, XV_OBJ_UMEM);
	int module = module_refcount(THIS_MODULE);
	struct xv_obj *cq, *pd = xv_make(test, XV_OBJ_PD);

	xv_obj_publish(umem);
	xv_obj_publish(pd);
	cq = xv_make(test, XV_OBJ_CQ);
	xv_obj_use(&t->call, cq, XV_OBJ_UMEM, umem->handle);
	xv_obj_publish(cq);
	xv_destroy_error = -EREMOTEIO;
	xv_destroy_fails = XV_OBJ_CQ;
	xv_objs_destroy_all(&t->file);
	KUNIT_EXPECT_EQ(test, xv_n_destroyed, 1);
	KUNIT_EXPECT_EQ(test, xv_destroyed[0], XV_OBJ_PD);
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->file.objs));
	KUNIT_EXPECT_EQ(test, umem->users, 1u);
	KUNIT_EXPECT_PTR_EQ(test, cq->deps[0], umem);
	KUNIT_EXPECT_EQ(test, xv_n_lost, 1);
	KUNIT_EXPECT_EQ(test, kref_read(&t->file.ref), 3u);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), module + 2);
	module_put(THIS_MODULE);
	module_put(THIS_MODULE);
	kfree(umem);
	kfree(cq);
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
	KUNIT_EXPECT_EQ(test, t->call.limit, (u32)XVERBS_LIMIT_OBJECTS);
	xv_obj_abort(obj);
	xv_obj_publish(xv_make(test, XV_OBJ_PD));
}

static struct kunit_case xv_object_cases[] = {
	KUNIT_CASE(xv_test_publish),
	KUNIT_CASE(xv_test_deps),
	KUNIT_CASE(xv_test_destroy_fails),
	KUNIT_CASE(xv_test_discard),
	KUNIT_CASE(xv_test_order),
	KUNIT_CASE(xv_test_destroy_drains),
	KUNIT_CASE(xv_test_destroy_retried),
	KUNIT_CASE(xv_test_lost),
	KUNIT_CASE(xv_test_limit),
	{}
};

static struct kunit_suite xv_object_suite = {
	.name = "xverbs-objects",
	.init = xv_table_init,
	.exit = xv_table_exit,
	.test_cases = xv_object_cases,
};

kunit_test_suite(xv_object_suite);

MODULE_DESCRIPTION("KUnit tests of xverbs");
MODULE_LICENSE("GPL");
