// SPDX-License-Identifier: GPL-2.0
/* KUnit: pinned memory: waiting for a dma-buf, pages of a UMEM, charges */
#include <kunit/test.h>
#include <linux/cred.h>
#include <linux/dma-fence.h>
#include <linux/dma-resv.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>

#include "../charge.h"
#include "../mr.h"

static const char *xv_fence_name(struct dma_fence *fence)
{
	return "xverbs";
}

static const struct dma_fence_ops xv_fence_ops = {
	.get_driver_name = xv_fence_name,
	.get_timeline_name = xv_fence_name,
};

static DEFINE_SPINLOCK(xv_fence_lock);

/* A signal ends the wait for an exporter that does not answer. */
static void xv_test_dmabuf_wait(struct kunit *test)
{
	struct dma_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL);
	struct dma_resv resv;
	int err;

	KUNIT_ASSERT_NOT_NULL(test, fence);
	dma_fence_init(fence, &xv_fence_ops, &xv_fence_lock,
		       dma_fence_context_alloc(1), 1);
	dma_resv_init(&resv);
	KUNIT_EXPECT_EQ(test, xv_dmabuf_wait(&resv), 0);
	dma_resv_lock(&resv, NULL);
	err = dma_resv_reserve_fences(&resv, 1);
	if (!err)
		dma_resv_add_fence(&resv, fence, DMA_RESV_USAGE_KERNEL);
	dma_resv_unlock(&resv);
	KUNIT_EXPECT_EQ(test, err, 0);

	allow_signal(SIGKILL);
	send_sig(SIGKILL, current, 1);
	KUNIT_EXPECT_EQ(test, xv_dmabuf_wait(&resv), -ERESTARTSYS);
	flush_signals(current);
	disallow_signal(SIGKILL);

	dma_fence_signal(fence);
	KUNIT_EXPECT_EQ(test, xv_dmabuf_wait(&resv), 0);
	dma_resv_fini(&resv);
	dma_fence_put(fence);
}

/* Pages that the memory does not have get no address. */
static void xv_test_umem_pages(struct kunit *test)
{
	struct ib_umem ib = { .length = 4 * PAGE_SIZE };
	struct xv_umem_obj umem = { .ib = &ib, .length = 4 * PAGE_SIZE };
	struct xv_call call = {};
	struct scatterlist sg;
	dma_addr_t dma[4];

	sg_init_table(&sg, 1);
	sg_dma_address(&sg) = 0x100000;
	sg_dma_len(&sg) = 3 * PAGE_SIZE;
	ib.sgt_append.sgt.sgl = &sg;
	ib.sgt_append.sgt.nents = 1;
	KUNIT_EXPECT_EQ(test, xv_umem_pages(&call, &umem, PAGE_SIZE, dma, 2),
			0);
	KUNIT_EXPECT_EQ(test, dma[0], (dma_addr_t)0x100000 + PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, dma[1], (dma_addr_t)0x100000 + 2 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, xv_umem_pages(&call, &umem, PAGE_SIZE, dma, 3),
			-EINVAL);
	KUNIT_EXPECT_NOT_NULL(test, strstr(call.reason, "UMEM"));
}

static struct xv_pinned *xv_try_range(struct xv_call *call, u64 addr, u64 length)
{
	xv_forget_failure(call);
	return xv_pin_charge_range(call, addr, length, "a test");
}

static void xv_test_charge(struct kunit *test)
{
	struct rlimit *limit = &current->signal->rlim[RLIMIT_MEMLOCK];
	struct cred *cred = prepare_creds();
	struct xv_pinned *three, *one;
	const struct cred *old;
	struct xv_call call = {};
	struct rlimit saved = *limit;
	struct user_struct *user;
	long before;

	KUNIT_ASSERT_NOT_NULL(test, cred);
	cap_lower(cred->cap_effective, CAP_IPC_LOCK);
	old = override_creds(cred);
	user = current_user();
	before = atomic_long_read(&user->locked_vm);
	limit->rlim_cur = (before + 4) << PAGE_SHIFT;

	/* Parts of pages count as pages. */
	three = xv_try_range(&call, PAGE_SIZE - 1, PAGE_SIZE + 2);
	KUNIT_ASSERT_FALSE(test, IS_ERR(three));
	KUNIT_EXPECT_EQ(test, three->npages, 3ul);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&user->locked_vm), before + 3);
	KUNIT_EXPECT_TRUE(test, IS_ERR(xv_try_range(&call, 0, PAGE_SIZE + 1)));
	KUNIT_EXPECT_NOT_NULL(test, strstr(call.reason, "RLIMIT_MEMLOCK"));
	KUNIT_EXPECT_EQ(test, call.limit, (u32)XVERBS_LIMIT_MEMLOCK);
	KUNIT_EXPECT_TRUE(test, IS_ERR(xv_try_range(&call, 0, U64_MAX)));
	KUNIT_EXPECT_EQ(test, atomic_long_read(&user->locked_vm), before + 3);
	one = xv_try_range(&call, 0, 1);
	KUNIT_EXPECT_FALSE(test, IS_ERR(one));
	/* The limit of a process can be below what its user has locked. */
	limit->rlim_cur = 0;
	KUNIT_EXPECT_TRUE(test, IS_ERR(xv_try_range(&call, 0, 1)));
	if (!IS_ERR(one))
		xv_pin_put(one);
	*limit = saved;
	revert_creds(old);
	put_cred(cred);

	/* Another user drops it. */
	xv_pin_put(three);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&user->locked_vm), before);
}

static struct kunit_case xv_memory_cases[] = {
	KUNIT_CASE(xv_test_dmabuf_wait),
	KUNIT_CASE(xv_test_umem_pages),
	KUNIT_CASE(xv_test_charge),
	{}
};

static struct kunit_suite xv_memory_suite = {
	.name = "xverbs-memory",
	.test_cases = xv_memory_cases,
};

kunit_test_suite(xv_memory_suite);
