// SPDX-License-Identifier: GPL-2.0
/*
 * Collective operations on adapters that lack what the library can do without, or that refuse a
 * request although their attributes allow it.
 */
#include <unistd.h>
#include "../../userlib/coll/coll.h"
#include "ranks.h"

enum { RANKS = 2, ODD = 1, ELEMENTS = 4, RUNS = 20 };

/* ---- No cross-channel queues ------------------------------------------- */

static bool plain;		/* the adapter has plain queues only */
static uint32_t max_count;	/* vectors of a calculation; 0: those of the adapter */

int __wrap_xv_query_device_sz(struct xv_context *ctx, struct xv_device_attr *attr, size_t size)
{
	int err = __real_xv_query_device_sz(ctx, attr, size);

	if (plain) {
		attr->exp_device_cap_flags &= ~(uint64_t)XV_EXP_DEVICE_CROSS_CHANNEL;
		memset(&attr->vector_calc_cap, 0, sizeof(attr->vector_calc_cap));
	}
	if (max_count)
		attr->vector_calc_cap.max_count = max_count;
	return err;
}

struct xv_cq *__wrap_xv_create_cq_sz(struct xv_context *ctx, const struct xv_cq_init_attr *attr,
				     size_t size)
{
	if (!plain || !(attr->flags & (XV_CQ_CROSS_CHANNEL | XV_CQ_IGNORE_OVERRUN)))
		return __real_xv_create_cq_sz(ctx, attr, size);
	errno = EOPNOTSUPP;
	return NULL;
}

struct xv_qp *__wrap_xv_create_qp_sz(struct xv_pd *pd, struct xv_qp_init_attr *attr, size_t size)
{
	if (!plain || !(attr->flags & XV_QP_CROSS_CHANNEL))
		return __real_xv_create_qp_sz(pd, attr, size);
	errno = EOPNOTSUPP;
	return NULL;
}

static int run(struct xv_coll_op *op)
{
	int err = xv_coll_start(op);

	return err ? err : xv_coll_wait(op);
}

static int sums(struct xv_coll *c, const struct rank *self)
{
	uint64_t *in = ranks_buffer(ELEMENTS * 8), *out = ranks_buffer(ELEMENTS * 8), n;
	struct xv_coll_op *op = xv_coll_allreduce(c, in, out, ELEMENTS, XV_VECTOR_UINT64,
						  XV_VECTOR_ADD);
	int ret = op ? 1 : -errno, i;

	for (n = 0; n < RUNS && ret == 1; n++) {
		for (i = 0; i < ELEMENTS; i++)
			in[i] = n * 1000 + (uint64_t)i + self->number;
		ret = run(op);
		for (i = 0; i < ELEMENTS && ret == 1; i++)
			if (out[i] != 2 * (n * 1000 + (uint64_t)i) + 1)
				ret = 2;
	}
	if (ret != 1)
		diag("rank %u: run %llu: %d: %s", self->number, (unsigned long long)n, ret,
		     xv_coll_last_error());
	if (op && ranks_free(op, self))
		ret = 3;
	return ret;
}

static void both(int (*fn)(struct xv_coll *c, const struct rank *self), uint32_t flags,
		 int ret[RANKS])
{
	static struct ranks all;
	struct thread_rank t[RANKS];
	int i;

	memset(&all, 0, sizeof(all));
	ranks_init(&all, RANKS);
	ranks_start(&all, t, (struct xv_coll_attr) { .flags = flags }, fn);
	for (i = 0; i < RANKS; i++) {
		pthread_join(t[i].thread, NULL);
		ret[i] = t[i].ret;
	}
}

static void test_plain_queues(void)
{
	int ret[RANKS];

	plain = true;
	both(sums, XV_COLL_CPU_DRIVEN, ret);
	plain = false;
	ok(ret[0] == 1 && ret[1] == 1, "the CPU drives plain queues: %d sums are right", RUNS);
}

/* ---- Calculations ------------------------------------------------------ */

/* With 2 ranks, the adapter combines 2 vectors for the result of numbers that are not integers. */
static int real_sum(struct xv_coll *c, const struct rank *self)
{
	double *in = ranks_buffer(8), *out = ranks_buffer(8);
	struct xv_coll_op *op = xv_coll_allreduce(c, in, out, 1, XV_VECTOR_FLOAT64, XV_VECTOR_ADD);
	int ret = op ? run(op) : -errno;

	if (!op)
		diag("rank %u: %s", self->number, xv_coll_last_error());
	else if (ranks_free(op, self))
		ret = 3;
	return ret;
}

static void test_count(void)
{
	int ret[RANKS];

	max_count = 1;
	both(real_sum, 0, ret);
	ok(ret[0] == -EOPNOTSUPP && ret[1] == -EOPNOTSUPP, "an adapter that combines 1 vector");
	both(sums, 0, ret);
	ok(ret[0] == 1 && ret[1] == 1, "if the CPU calculates the result, 1 vector is enough");
	max_count = 0;
}

/* The adapter refuses this type when it executes the request. */
static void change_types(struct xv_coll_op *op)
{
	struct list *l;
	uint32_t i, k;

	for (i = 0; i < 2; i++)
		for (l = op->plan[i].list; l < op->plan[i].list + op->plan[i].lists; l++)
			for (k = 0; k < l->n; k++)
				if (l->wr[k].send_flags & XV_SEND_WITH_VECTOR_CALC)
					l->image[k].vector.seg.type = 3;
}

/* The run of the rank ODD fails at once, later that of the other one. */
static int refused_type(struct xv_coll *c, const struct rank *self)
{
	double *in = ranks_buffer(8), *out = ranks_buffer(8);
	struct xv_coll_op *op = xv_coll_allreduce(c, in, out, 1, XV_VECTOR_FLOAT64, XV_VECTOR_ADD);
	int ret;

	if (!op)
		return -errno;
	if (self->number == ODD)
		change_types(op);
	do
		ret = run(op);
	while (ret == 1 && self->number != ODD);
	diag("rank %u: %d: %s", self->number, ret, xv_coll_last_error());
	if (xv_coll_free(op))
		ret = 3;
	return ret;
}

static void test_type(void)
{
	int ret[RANKS];

	both(refused_type, 0, ret);
	ok(ret[0] == -EIO && ret[1] == -EIO, "the adapter refuses the calculation of the result");
}

int main(int argc, char **argv)
{
	rig_devices(argc, argv);
	alarm(100);
	test_plain_queues();
	test_count();
	test_type();
	return tap_done();
}
