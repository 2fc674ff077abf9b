// SPDX-License-Identifier: GPL-2.0
/*
 * Collective operations over 1 to 8 ranks: threads with their own contexts, half of them on
 * each device, and processes.  Every operation runs many times without being rebuilt.
 */
#include <sys/wait.h>
#include <unistd.h>
#include "ranks.h"

/* Numbers of elements.  The CPU calculates the result of SHORT integers, the adapter all others. */
enum { RUNS = 200, SHORT = 100, LONG = 300, LENGTH = 5000 };

/* Memory that all ranks share; processes map it. */
struct shared {
	struct ranks all;
	volatile uint32_t phase[MAX_RANKS];
	volatile uint32_t bad;
	uint32_t flags;
	uint32_t runs;
	bool types;			/* all types of allreduce */
};

static struct shared *sh;

static void failed(uint32_t rank, const char *what)
{
	diag("rank %u: %s: %s", rank, what, xv_coll_last_error());
	sh->bad++;
}

/* ---- Operations -------------------------------------------------------- */

static int run(struct xv_coll_op *op)
{
	int err = xv_coll_start(op);

	return err ? err : xv_coll_wait(op);
}

/* A rank may free an operation when all have completed it. */
static void free_op(struct xv_coll_op *op, uint32_t rank)
{
	pthread_barrier_wait(&sh->all.meet);
	if (xv_coll_free(op))
		failed(rank, "free");
	pthread_barrier_wait(&sh->all.meet);
}

/* No rank leaves the barrier before all have entered it. */
static void rank_barrier(struct xv_coll *c, uint32_t rank)
{
	struct xv_coll_op *op = xv_coll_barrier(c);
	uint32_t i, k;

	if (!op) {
		failed(rank, "barrier");
		return;
	}
	for (i = 1; i <= sh->runs; i++) {
		if (i % 32 == rank)
			usleep(2000);
		sh->phase[rank] = i;
		if (run(op) != 1) {
			failed(rank, "barrier");
			break;
		}
		for (k = 0; k < sh->all.n; k++) {
			if (sh->phase[k] < i) {
				diag("rank %u left barrier %u before rank %u entered", rank, i, k);
				sh->bad++;
			}
		}
	}
	free_op(op, rank);
	sh->phase[rank] = 0;
}

static void rank_bcast(struct xv_coll *c, uint32_t rank, uint32_t root)
{
	static const uint8_t none[LENGTH];
	uint8_t *buf = ranks_buffer(LENGTH);
	struct xv_coll_op *op = xv_coll_bcast(c, buf, LENGTH, root);
	uint32_t i;

	if (!op) {
		failed(rank, "broadcast");
		return;
	}
	for (i = 0; i < sh->runs / 4; i++) {
		memcpy(buf, none, LENGTH);
		if (rank == root)
			rig_fill(buf, LENGTH, i);
		if (run(op) != 1 || !rig_check(buf, LENGTH, i)) {
			failed(rank, "broadcast");
			break;
		}
	}
	free_op(op, rank);
	free(buf);
}

static const enum xv_vector_type types[] = {
	XV_VECTOR_INT32, XV_VECTOR_UINT32, XV_VECTOR_FLOAT32,
	XV_VECTOR_INT64, XV_VECTOR_UINT64, XV_VECTOR_FLOAT64,
};

static bool is_float(enum xv_vector_type type)
{
	return type == XV_VECTOR_FLOAT32 || type == XV_VECTOR_FLOAT64;
}

static uint32_t width(enum xv_vector_type type)
{
	return type < XV_VECTOR_INT64 ? 4 : 8;
}

static uint64_t mixed(uint32_t rank, uint32_t run, uint32_t i)
{
	uint64_t x = (rank + 1) * 0x9e3779b97f4a7c15ull + run * 0xbf58476d1ce4e5b9ull + i * 977;

	return x ^ x >> 29;
}

/* The bits of a number of the type */
static uint64_t bits_of(enum xv_vector_type type, long double value)
{
	float single = (float)value;
	double real = (double)value;
	uint64_t bits = 0;

	if (type == XV_VECTOR_FLOAT32)
		memcpy(&bits, &single, sizeof(single));
	else
		memcpy(&bits, &real, sizeof(real));
	return bits;
}

/* The number that the bits mean.  A long double has 64 bits of precision: all are exact. */
static long double value_of(enum xv_vector_type type, uint64_t bits)
{
	float single;
	double real;

	switch (type) {
	case XV_VECTOR_INT32: return (int32_t)bits;
	case XV_VECTOR_UINT32: return (uint32_t)bits;
	case XV_VECTOR_INT64: return (int64_t)bits;
	case XV_VECTOR_UINT64: return bits;
	case XV_VECTOR_FLOAT32:
		memcpy(&single, &bits, sizeof(single));
		return single;
	default:
		memcpy(&real, &bits, sizeof(real));
		return real;
	}
}

/*
 * Whole numbers: the limits of both widths, small negative ones, and any.  Floating-point
 * numbers are multiples of 1/4 and small, so that the order of additions has no influence.
 */
static uint64_t element(enum xv_vector_type type, uint32_t rank, uint32_t run, uint32_t i)
{
	static const uint64_t special[] = {
		0x80000000, 0x7fffffff, 0xffffffff, 0xffffffff80000000, 0x8000000000000000,
		0x7fffffffffffffff, 0xffffffffffffffff, 0, 1, 0xfffffffffffffffe,
	};
	uint64_t x = mixed(rank, run, i);

	if (is_float(type))
		return bits_of(type, (long double)((int64_t)(x % 80001) - 40000) / 4);
	return x >> 60 < 8 ? special[x % ARRAY_SIZE(special)] : x;
}

static uint64_t combined(enum xv_vector_type type, enum xv_vector_op op, uint64_t a, uint64_t b)
{
	long double x = value_of(type, a), y = value_of(type, b);

	switch (op) {
	case XV_VECTOR_ADD: return is_float(type) ? bits_of(type, x + y) : a + b;
	case XV_VECTOR_MAX: return x > y ? a : b;
	case XV_VECTOR_MIN: return x < y ? a : b;
	case XV_VECTOR_AND: return a & b;
	case XV_VECTOR_OR: return a | b;
	default: return a ^ b;
	}
}

/* Compares the whole result. */
static bool check_result(const uint8_t *out, uint32_t count, enum xv_vector_type type,
			 enum xv_vector_op op, uint32_t rank, uint32_t run)
{
	uint64_t want;
	uint32_t i, k;

	for (i = 0; i < count; i++, out += width(type)) {
		want = element(type, 0, run, i);
		for (k = 1; k < sh->all.n; k++)
			want = combined(type, op, want, element(type, k, run, i));
		if (!memcmp(out, &want, width(type)))
			continue;
		diag("type %u, operation %u, rank %u, run %u, element %u: not 0x%llx", type, op,
		     rank, run, i, (unsigned long long)want);
		return false;
	}
	return true;
}

static void rank_allreduce(struct xv_coll *c, uint32_t rank, uint32_t count,
			   enum xv_vector_type type, enum xv_vector_op which, uint32_t runs)
{
	uint8_t in[8 * LONG] = { 0 }, *out = ranks_buffer(sizeof(in));
	struct xv_coll_op *op;
	uint64_t x;
	uint32_t i, k;

	op = xv_coll_allreduce(c, in, out, count, type, which);
	if (!op) {
		failed(rank, "allreduce");
		return;
	}
	for (k = 0; k < runs; k++) {
		for (i = 0; i < count; i++) {
			x = element(type, rank, k, i);
			memcpy(in + i * width(type), &x, width(type));
		}
		memset(out, 0, sizeof(in));
		if (run(op) != 1) {
			failed(rank, "allreduce");
			break;
		}
		if (!check_result(out, count, type, which, rank, k)) {
			sh->bad++;
			break;
		}
	}
	free_op(op, rank);
	free(out);
}

static void rank_types(struct xv_coll *c, uint32_t rank)
{
	enum xv_vector_op op;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		for (op = XV_VECTOR_ADD; op <= XV_VECTOR_MIN; op++) {
			rank_allreduce(c, rank, SHORT, types[i], op, 3);
			rank_allreduce(c, rank, LONG, types[i], op, 3);
		}
}

/* Waits for a result that the adapter stores while the process calls nothing of the library. */
static bool stored_by_adapter(const volatile uint8_t *out, size_t n, unsigned int ms)
{
	for (; !out[n - 1] && ms; ms--)
		usleep(1000);
	return out[n - 1];
}

/* The last byte of each element of the result is not zero. */
static void rank_who_calculates(struct xv_coll *c, uint32_t rank, uint32_t count,
				enum xv_vector_type type, bool by_cpu)
{
	uint8_t in[8 * LONG] = { 0 }, *out = ranks_buffer(sizeof(in));
	struct xv_coll_op *op = xv_coll_allreduce(c, in, out, count, type, XV_VECTOR_ADD);
	uint64_t x = 3ull << 56;
	double real = -1;
	uint32_t i;

	if (type == XV_VECTOR_FLOAT64)
		memcpy(&x, &real, sizeof(x));
	for (i = 0; i < count; i++)
		memcpy(in + 8 * i, &x, sizeof(x));
	if (!op || xv_coll_start(op)) {
		failed(rank, "allreduce");
	} else {
		if (xv_coll_result_by_cpu(op) != by_cpu) {
			diag("rank %u: xv_coll_result_by_cpu() is not %d", rank, by_cpu);
			sh->bad++;
		}
		/* When the last rank is here, the messages of all are on their way. */
		pthread_barrier_wait(&sh->all.meet);
		if (stored_by_adapter(out, 8 * count, by_cpu ? 30 : 10000) == by_cpu) {
			diag("rank %u: type %u, %u elements: not by the %s", rank, type, count,
			     by_cpu ? "CPU" : "adapter");
			sh->bad++;
		}
		if (xv_coll_wait(op) != 1 || !out[8 * count - 1])
			failed(rank, "allreduce");
		free_op(op, rank);
	}
	free(out);
}

/* ---- Ranks ------------------------------------------------------------- */

static void run_rank(uint32_t rank)
{
	struct xt_side side;
	struct rank self = { &sh->all, rank };
	struct xv_coll_attr attr = { .rank = rank, .ranks = sh->all.n, .flags = sh->flags,
				     .exchange = ranks_exchange, .arg = &self };
	struct xv_coll *c;
	uint32_t i;

	if (xt_side_open(&side, rig_device(rank & 1), 0, -1))
		bail_out("%s", xv_last_error());
	attr.pd = side.pd;
	c = xv_coll_create(&attr);
	if (!c)
		bail_out("%s", xv_coll_last_error());
	rank_barrier(c, rank);
	for (i = 0; i < sh->all.n; i += 1 + sh->all.n / 3)
		rank_bcast(c, rank, i);
	for (i = XV_VECTOR_ADD; i <= XV_VECTOR_MIN; i++)
		rank_allreduce(c, rank, SHORT, XV_VECTOR_UINT64, (enum xv_vector_op)i,
			       sh->runs / 4);
	rank_allreduce(c, rank, LONG, XV_VECTOR_UINT64, XV_VECTOR_ADD, sh->runs / 4);
	rank_allreduce(c, rank, SHORT, XV_VECTOR_FLOAT64, XV_VECTOR_ADD, 3);
	if (sh->types)
		rank_types(c, rank);
	if (sh->all.n > 1 && !(sh->flags & XV_COLL_CPU_DRIVEN)) {
		rank_who_calculates(c, rank, SHORT, XV_VECTOR_UINT64,
				    !(sh->all.n & (sh->all.n - 1)));
		rank_who_calculates(c, rank, SHORT, XV_VECTOR_FLOAT64, false);
		rank_who_calculates(c, rank, LONG, XV_VECTOR_UINT64, false);
	}
	if (xv_coll_destroy(c))
		failed(rank, "destroy");
	pthread_barrier_wait(&sh->all.meet);
	xt_side_close(&side);
}

static void *thread(void *rank)
{
	run_rank((uint32_t)(uintptr_t)rank);
	return NULL;
}

static void prepare(uint32_t ranks, uint32_t flags, bool all_types)
{
	memset(sh, 0, sizeof(*sh));
	sh->flags = flags;
	sh->runs = flags & XV_COLL_CPU_DRIVEN ? RUNS / 8 : RUNS;
	sh->types = all_types;
	ranks_init(&sh->all, ranks);
}

static void test_threads(uint32_t ranks, uint32_t flags, bool all_types)
{
	pthread_t t[MAX_RANKS];
	uint32_t i;

	prepare(ranks, flags, all_types);
	for (i = 0; i < ranks; i++)
		pthread_create(&t[i], NULL, thread, (void *)(uintptr_t)i);
	for (i = 0; i < ranks; i++)
		pthread_join(t[i], NULL);
	ok(!sh->bad, "%u ranks%s%s", ranks, flags & XV_COLL_CPU_DRIVEN ? ", driven by the CPU" : "",
	   all_types ? ", all types and operations" : "");
}

static void test_processes(uint32_t ranks)
{
	int status, bad = 0;
	uint32_t i;

	prepare(ranks, 0, false);
	fflush(stdout);
	for (i = 0; i < ranks; i++) {
		if (!fork()) {
			run_rank(i);
			_exit(sh->bad != 0);
		}
	}
	for (i = 0; i < ranks; i++)
		bad += wait(&status) < 0 || status;
	ok(!bad, "%u processes", ranks);
}

int main(int argc, char **argv)
{
	static const uint32_t ranks[] = { 1, 2, 3, 4, 5, 7, 8 };
	size_t i;

	rig_devices(argc, argv);
	sh = ranks_map(sizeof(*sh));
	test_processes(8);
	for (i = 0; i < ARRAY_SIZE(ranks); i++)
		test_threads(ranks[i], 0, ranks[i] == 3 || ranks[i] == 4);
	test_threads(2, XV_COLL_CPU_DRIVEN, true);
	test_threads(4, XV_COLL_CPU_DRIVEN, false);
	test_threads(5, XV_COLL_CPU_DRIVEN, false);
	return tap_done();
}
