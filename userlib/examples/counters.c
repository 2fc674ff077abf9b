// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Masked atomics: 16 counters of 16 bits, in 32 bytes of memory, and a lock in the last bit.
 *
 * Each round takes the lock with a masked compare-and-swap, adds a different number to each
 * counter with one fetch-and-add, and releases the lock.  The last counter has 15 bits.
 *
 * usage: counters [-d DEVICE] [-i PORT] [-g GID-INDEX]
 */
#include "common.h"

enum { LOG_BYTES = 5, WORDS = 4, LANES = 16, ROUNDS = 100 };

static struct {
	struct xv_context *ctx;
	struct xv_pd *pd;
	struct xv_cq *cq;
	struct xv_qp *qp[2];
	struct xv_mr *mr;
	struct {
		uint64_t counters[WORDS];	/* changed by the adapter */
		uint64_t old[WORDS];		/* what they were before */
	} mem __attribute__((aligned(64)));
	uint64_t be_sizes;
} res;

static void resources_create(void)
{
	struct xv_cq_init_attr cq = { .cqe = 16 };
	struct xv_device_attr device;
	int i;

	CHECK((res.ctx = xv_open(opt.device)));
	CHECK(!xv_query_device(res.ctx, &device));
	if (!(device.ext_atom.atomic_arg_sizes >> LOG_BYTES & 1))
		errx(1, "the device has no atomics of 32 bytes");
	res.be_sizes = device.ext_atom.atomic_arg_sizes_be;
	CHECK((res.pd = xv_alloc_pd(res.ctx)));
	CHECK((res.cq = xv_create_cq(res.ctx, &cq)));
	CHECK((res.mr = xv_reg_mr(res.pd, &res.mem, sizeof(res.mem),
				  XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_ATOMIC)));
	for (i = 0; i < 2; i++) {
		struct xv_qp_init_attr attr = {
			.qp_type = XV_QPT_RC, .send_cq = res.cq, .recv_cq = res.cq,
			.cap = { .max_send_wr = 4, .max_send_sge = 1 },
			.max_atomic_arg = 1 << LOG_BYTES,
		};

		CHECK((res.qp[i] = xv_create_qp(res.pd, &attr)));
	}
	connect_both(res.ctx, res.qp[0], res.qp[1]);
}

static void resources_destroy(void)
{
	CHECK(!xv_destroy_qp(res.qp[0]));
	CHECK(!xv_destroy_qp(res.qp[1]));
	CHECK(!xv_destroy_cq(res.cq));
	CHECK(!xv_dereg_mr(res.mr));
	CHECK(!xv_dealloc_pd(res.pd));
	CHECK(!xv_close(res.ctx));
}

/* Swaps the lock bit if it is not @value yet; returns whether it was. */
static int set_lock(uint64_t value)
{
	const uint64_t lock[WORDS] = { [WORDS - 1] = 1ull << 63 }, zero[WORDS] = { 0 };
	struct xv_cmp_swap op = {
		.compare_mask = (uintptr_t)lock, .compare_val = (uintptr_t)(value ? zero : lock),
		.swap_mask = (uintptr_t)lock, .swap_val = (uintptr_t)(value ? lock : zero),
	};
	struct xv_sge sge = { (uintptr_t)res.mem.old, sizeof(res.mem.old), res.mr->lkey };

	CHECK(!xv_wr_masked_atomic_cs(res.qp[0], 0, XV_SEND_SIGNALED, &sge,
				      (uintptr_t)res.mem.counters, res.mr->rkey, LOG_BYTES, &op));
	xv_commit_send(res.qp[0]);
	wait_wc(res.cq);
	return (int)(xv_atomic_value(res.mem.old, LOG_BYTES, res.be_sizes, WORDS - 1) >> 63);
}

/* Adds i to counter i. */
static void add_all(void)
{
	uint64_t add[WORDS] = { 0 }, boundary[WORDS];
	struct xv_fetch_add op = { (uintptr_t)add, (uintptr_t)boundary };
	struct xv_sge sge = { (uintptr_t)res.mem.old, sizeof(res.mem.old), res.mr->lkey };
	int i;

	for (i = 0; i < LANES; i++)
		add[i / 4] |= (uint64_t)i << 16 * (i % 4);
	for (i = 0; i < WORDS; i++)
		boundary[i] = 0x8000800080008000;
	boundary[WORDS - 1] = 0xc000800080008000;	/* the lock is a field of its own */
	CHECK(!xv_wr_masked_atomic_fa(res.qp[0], 0, XV_SEND_SIGNALED, &sge,
				      (uintptr_t)res.mem.counters, res.mr->rkey, LOG_BYTES, &op));
	xv_commit_send(res.qp[0]);
	wait_wc(res.cq);
}

int main(int argc, char **argv)
{
	uint64_t total = 0;
	int i;

	parse(argc, argv);
	resources_create();
	for (i = 0; i < ROUNDS; i++) {
		while (set_lock(1))
			;
		add_all();
		if (!set_lock(0))
			errx(1, "the lock was not held");
	}
	for (i = 0; i < LANES; i++)
		total += res.mem.counters[i / 4] >> 16 * (i % 4) & 0xffff;
	printf("%d rounds over %d counters: the sum is %llu\n", ROUNDS, LANES,
	       (unsigned long long)total);
	resources_destroy();
	return total != ROUNDS * 120;
}
