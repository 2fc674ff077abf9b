// SPDX-License-Identifier: GPL-2.0
/*
 * Collective operations over 1 to 8 ranks: threads with their own contexts, half of them on
 * each device, and processes.  Every operation runs many times without being rebuilt.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xverbs/coll.h>
#include "rig.h"

enum { MAX_RANKS = 8, RUNS = 200, COUNT = 100, LENGTH = 5000 };

/* Memory that all ranks share; processes map it. */
struct shared {
	pthread_barrier_t meet;
	uint8_t message[MAX_RANKS][1024];
	volatile uint32_t phase[MAX_RANKS];
	volatile uint32_t bad;
	uint32_t ranks;
	uint32_t flags;
	uint32_t runs;
};

static struct shared *sh;

static void failed(uint32_t rank, const char *what)
{
	diag("rank %u: %s: %s", rank, what, xv_coll_last_error());
	sh->bad++;
}

static int exchange(void *arg, const void *mine, void *all, size_t size)
{
	uint32_t rank = *(uint32_t *)arg, i;

	if (size > sizeof(sh->message[0]))
		return -EINVAL;
	memcpy(sh->message[rank], mine, size);
	pthread_barrier_wait(&sh->meet);
	for (i = 0; i < sh->ranks; i++)
		memcpy((uint8_t *)all + i * size, sh->message[i], size);
	pthread_barrier_wait(&sh->meet);
	return 0;
}

/* Debug kernels report pages that are registered twice, so buffers do not share pages. */
static void *pages(size_t size)
{
	void *p = aligned_alloc(4096, (size + 4095) / 4096 * 4096);

	if (!p)
		bail_out("no memory");
	memset(p, 0, size);
	return p;
}

/* ---- Operations -------------------------------------------------------- */

static int run(struct xv_coll_op *op)
{
	int err = xv_coll_start(op);

	return err ? err : xv_coll_wait(op);
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
		for (k = 0; k < sh->ranks; k++) {
			if (sh->phase[k] < i) {
				diag("rank %u left barrier %u before rank %u entered", rank, i, k);
				sh->bad++;
			}
		}
	}
	if (xv_coll_free(op))
		failed(rank, "free");
	pthread_barrier_wait(&sh->meet);
	sh->phase[rank] = 0;
}

static void rank_bcast(struct xv_coll *c, uint32_t rank, uint32_t root)
{
	static const uint8_t none[LENGTH];
	uint8_t *buf = pages(LENGTH);
	struct xv_coll_op *op = xv_coll_bcast(c, buf, LENGTH, root);
	uint32_t i;

	for (i = 0; op && i < sh->runs / 4; i++) {
		memcpy(buf, none, LENGTH);
		if (rank == root)
			rig_fill(buf, LENGTH, i);
		if (run(op) != 1 || !rig_check(buf, LENGTH, i)) {
			failed(rank, "broadcast");
			break;
		}
	}
	if (!op || xv_coll_free(op))
		failed(rank, "broadcast");
	free(buf);
}

static uint64_t element(uint32_t rank, uint32_t run, uint32_t i)
{
	uint64_t x = (rank + 1) * 0x9e3779b97f4a7c15ull + run * 0xbf58476d1ce4e5b9ull + i * 977;

	return x ^ x >> 29;
}

/* The same combination, in another way */
static uint64_t expected(enum xv_vector_op op, uint32_t run, uint32_t i)
{
	uint64_t v = element(0, run, i), w;
	uint32_t k;

	for (k = 1; k < sh->ranks; k++) {
		w = element(k, run, i);
		switch (op) {
		case XV_VECTOR_ADD: v += w; break;
		case XV_VECTOR_MAX: v = v > w ? v : w; break;
		case XV_VECTOR_MIN: v = v < w ? v : w; break;
		case XV_VECTOR_AND: v &= w; break;
		case XV_VECTOR_OR: v |= w; break;
		default: v ^= w; break;
		}
	}
	return v;
}

static void rank_allreduce(struct xv_coll *c, uint32_t rank, enum xv_vector_op which)
{
	uint64_t in[COUNT], *out = pages(COUNT * sizeof(*out));
	struct xv_coll_op *op;
	uint32_t i, k;

	op = xv_coll_allreduce(c, in, out, COUNT, XV_VECTOR_UINT64, which);
	for (k = 0; op && k < sh->runs / 4; k++) {
		for (i = 0; i < COUNT; i++)
			in[i] = element(rank, k, i);
		memset(out, 0, COUNT * sizeof(*out));
		if (run(op) != 1) {
			failed(rank, "allreduce");
			break;
		}
		for (i = 0; i < COUNT && out[i] == expected(which, k, i); i++)
			;
		if (i < COUNT) {
			diag("rank %u, run %u, element %u: %llx, expected %llx", rank, k, i,
			     (unsigned long long)out[i],
			     (unsigned long long)expected(which, k, i));
			sh->bad++;
			break;
		}
	}
	if (!op || xv_coll_free(op))
		failed(rank, "allreduce");
	free(out);
}

/* Small whole numbers, so that the order of additions has no influence */
static void rank_floats(struct xv_coll *c, uint32_t rank)
{
	double in = rank + 1, *out = pages(sizeof(*out));
	float in4 = (float)rank, *out4 = pages(sizeof(*out4));
	struct xv_coll_op *op = xv_coll_allreduce(c, &in, out, 1, XV_VECTOR_FLOAT64,
						  XV_VECTOR_ADD);
	struct xv_coll_op *max = xv_coll_allreduce(c, &in4, out4, 1, XV_VECTOR_FLOAT32,
						   XV_VECTOR_MAX);

	if (!op || !max || run(op) != 1 || run(max) != 1 ||
	    *out != (double)(sh->ranks * (sh->ranks + 1) / 2) || *out4 != (float)(sh->ranks - 1))
		failed(rank, "floating-point numbers");
	if (op)
		xv_coll_free(op);
	if (max)
		xv_coll_free(max);
	free(out);
	free(out4);
}

/* ---- Ranks ------------------------------------------------------------- */

static void run_rank(uint32_t rank)
{
	struct xt_side side;
	struct xv_coll_attr attr = { .rank = rank, .ranks = sh->ranks, .flags = sh->flags,
				     .exchange = exchange, .arg = &rank };
	struct xv_coll *c;
	uint32_t i;

	if (xt_side_open(&side, rig_device(rank & 1), 0, -1))
		bail_out("%s", xv_last_error());
	attr.pd = side.pd;
	c = xv_coll_create(&attr);
	if (!c)
		bail_out("%s", xv_coll_last_error());
	rank_barrier(c, rank);
	for (i = 0; i < sh->ranks; i += 1 + sh->ranks / 3)
		rank_bcast(c, rank, i);
	for (i = XV_VECTOR_ADD; i <= XV_VECTOR_MIN; i++)
		rank_allreduce(c, rank, (enum xv_vector_op)i);
	rank_floats(c, rank);
	if (xv_coll_destroy(c))
		failed(rank, "destroy");
	pthread_barrier_wait(&sh->meet);
	xt_side_close(&side);
}

static void *thread(void *rank)
{
	run_rank((uint32_t)(uintptr_t)rank);
	return NULL;
}

static void prepare(uint32_t ranks, uint32_t flags)
{
	pthread_barrierattr_t attr;

	memset(sh, 0, sizeof(*sh));
	sh->ranks = ranks;
	sh->flags = flags;
	sh->runs = flags & XV_COLL_CPU_DRIVEN ? RUNS / 8 : RUNS;
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&sh->meet, &attr, ranks);
}

static void test_threads(uint32_t ranks, uint32_t flags)
{
	pthread_t t[MAX_RANKS];
	uint32_t i;

	prepare(ranks, flags);
	for (i = 0; i < ranks; i++)
		pthread_create(&t[i], NULL, thread, (void *)(uintptr_t)i);
	for (i = 0; i < ranks; i++)
		pthread_join(t[i], NULL);
	ok(!sh->bad, "%u ranks%s", ranks, flags & XV_COLL_CPU_DRIVEN ? ", driven by the CPU" : "");
}

static void test_processes(uint32_t ranks)
{
	int status, bad = 0;
	uint32_t i;

	prepare(ranks, 0);
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

/* ---- Errors ------------------------------------------------------------ */

static int alone(void *arg, const void *mine, void *all, size_t size)
{
	(void)arg;
	memcpy(all, mine, size);
	return 0;
}

static void test_errors(void)
{
	struct xt_side side;
	struct xv_coll_attr attr = { .ranks = 1, .exchange = alone };
	struct xv_coll_op *op;
	struct xv_coll *c;
	uint64_t x = 5, y = 0;

	if (xt_side_open(&side, rig_device(0), 0, -1))
		bail_out("%s", xv_last_error());
	ok(!xv_coll_create(&attr) && errno == EINVAL, "%s", xv_coll_last_error());
	attr.pd = side.pd;
	attr.rank = 1;
	ok(!xv_coll_create(&attr) && errno == EINVAL, "%s", xv_coll_last_error());
	attr.rank = 0;
	attr.flags = 1u << 31;
	ok(!xv_coll_create(&attr) && errno == EOPNOTSUPP, "%s", xv_coll_last_error());
	attr.flags = 0;
	c = xv_coll_create(&attr);
	ok(c != NULL, "a communicator of one rank");
	ok(!xv_coll_bcast(c, &x, 8, 1) && errno == EINVAL, "%s", xv_coll_last_error());
	ok(!xv_coll_allreduce(c, &x, &y, 0, XV_VECTOR_UINT64, XV_VECTOR_ADD) && errno == EINVAL,
	   "%s", xv_coll_last_error());
	ok(!xv_coll_allreduce(c, &x, &y, 1, (enum xv_vector_type)3, XV_VECTOR_ADD) &&
	   errno == EINVAL, "%s", xv_coll_last_error());
	ok(!xv_coll_allreduce(c, &x, &y, 1, XV_VECTOR_UINT64, (enum xv_vector_op)7) &&
	   errno == EINVAL, "%s", xv_coll_last_error());
	op = xv_coll_allreduce(c, &x, &y, 1, XV_VECTOR_UINT64, XV_VECTOR_ADD);
	ok(op && xv_coll_test(op) == -EINVAL, "%s", xv_coll_last_error());
	ok(xv_coll_destroy(c) == -EBUSY, "%s", xv_coll_last_error());
	ok(!xv_coll_start(op) && xv_coll_start(op) == -EBUSY, "%s", xv_coll_last_error());
	ok(xv_coll_free(op) == -EBUSY, "%s", xv_coll_last_error());
	ok(xv_coll_wait(op) == 1 && y == 5 && !xv_coll_free(op) && !xv_coll_destroy(c),
	   "one rank alone has its own result");
	xt_side_close(&side);
}

int main(int argc, char **argv)
{
	static const uint32_t ranks[] = { 1, 2, 3, 4, 5, 7, 8 };
	size_t i;

	rig_devices(argc, argv);
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	test_processes(8);
	test_errors();
	for (i = 0; i < ARRAY_SIZE(ranks); i++)
		test_threads(ranks[i], 0);
	test_threads(4, XV_COLL_CPU_DRIVEN);
	test_threads(5, XV_COLL_CPU_DRIVEN);
	return tap_done();
}
