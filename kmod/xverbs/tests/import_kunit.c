// SPDX-License-Identifier: GPL-2.0
/* KUnit: which protection domains of ib_uverbs can be imported */
#include "../pd.h"
#include "fw_kunit.h"

enum { XV_HANDLE = 7, XV_USECNT = 2 };

struct xv_foreign_pd {
	struct ib_uobject uobj;
	struct ib_pd pd;
	int file, other;
};

static int xv_foreign_init(struct kunit *test)
{
	struct xv_foreign_pd *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	if (!f)
		return -ENOMEM;
	f->uobj.ufile = (void *)&f->file;
	f->uobj.id = XV_HANDLE;
	f->uobj.object = &f->pd;
	f->pd.uobject = &f->uobj;
	atomic_set(&f->pd.usecnt, XV_USECNT);
	test->priv = f;
	return 0;
}

/* Only a successful call leaves the count raised. */
static void xv_expect_hold(struct kunit *test, const void *ufile, u32 handle,
			   int result)
{
	struct xv_foreign_pd *f = test->priv;

	KUNIT_EXPECT_EQ(test, xv_import_hold(&f->pd, ufile, handle), result);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->pd.usecnt),
			XV_USECNT + (result ? 0 : 1));
}

static void xv_test_import_own(struct kunit *test)
{
	struct xv_foreign_pd *f = test->priv;

	xv_expect_hold(test, &f->file, XV_HANDLE, 0);
}

static void xv_test_import_in_use(struct kunit *test)
{
	struct xv_foreign_pd *f = test->priv;

	atomic_set(&f->uobj.usecnt, 3);
	xv_expect_hold(test, &f->file, XV_HANDLE, 0);
}

static void xv_test_import_other_file(struct kunit *test)
{
	struct xv_foreign_pd *f = test->priv;

	xv_expect_hold(test, &f->other, XV_HANDLE, -ENOENT);
	xv_expect_hold(test, NULL, XV_HANDLE, -ENOENT);
}

static void xv_test_import_other_handle(struct kunit *test)
{
	struct xv_foreign_pd *f = test->priv;

	xv_expect_hold(test, &f->file, XV_HANDLE + 1, -ENOENT);
	xv_expect_hold(test, &f->file, ~0u, -ENOENT);
}

static void xv_test_import_kernel_pd(struct kunit *test)
{
	struct xv_foreign_pd *f = test->priv;

	f->pd.uobject = NULL;
	xv_expect_hold(test, &f->file, XV_HANDLE, -ENOENT);
	xv_expect_hold(test, NULL, 0, -ENOENT);
}

/* The memory of the uobject is in use again. */
static void xv_test_import_other_object(struct kunit *test)
{
	struct xv_foreign_pd *f = test->priv;

	f->uobj.object = &f->other;
	xv_expect_hold(test, &f->file, XV_HANDLE, -ENOENT);
}

/* ib_uverbs locks an object with -1 while it creates or destroys it. */
static void xv_test_import_of_closing_file(struct kunit *test)
{
	struct xv_foreign_pd *f = test->priv;

	atomic_set(&f->uobj.usecnt, -1);
	xv_expect_hold(test, &f->file, XV_HANDLE, -EBUSY);
}

static struct kunit_case xv_import_cases[] = {
	KUNIT_CASE(xv_test_import_own),
	KUNIT_CASE(xv_test_import_in_use),
	KUNIT_CASE(xv_test_import_other_file),
	KUNIT_CASE(xv_test_import_other_handle),
	KUNIT_CASE(xv_test_import_kernel_pd),
	KUNIT_CASE(xv_test_import_other_object),
	KUNIT_CASE(xv_test_import_of_closing_file),
	{}
};

static struct kunit_suite xv_import_suite = {
	.name = "xverbs-import",
	.init = xv_foreign_init,
	.test_cases = xv_import_cases,
};
kunit_test_suite(xv_import_suite);
