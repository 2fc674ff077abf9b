// SPDX-License-Identifier: GPL-2.0
/*
 * Errors of collective operations: wrong arguments, adapters that lack what is needed, ranks
 * that do not agree, an exchange function or allocations that fail, signals, and ranks that are
 * killed ("all": in more ways).
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "ranks.h"

/* ---- Arguments and capabilities ---------------------------------------- */

/* What an adapter does not have, for the library */
static uint64_t lacks_caps;
static uint32_t lacks_ops;

int __wrap_xv_query_device_sz(struct xv_context *ctx, struct xv_device_attr *attr, size_t size)
{
	int err = __real_xv_query_device_sz(ctx, attr, size);

	attr->exp_device_cap_flags &= ~lacks_caps;
	attr->vector_calc_cap.ops &= ~lacks_ops;
	return err;
}

static int alone(void *arg, const void *mine, void *all, size_t size)
{
	(void)arg;
	memcpy(all, mine, size);
	return 0;
}

static void refuse(const struct xv_coll_attr *attr, size_t size, int err)
{
	errno = 0;
	ok(!xv_coll_create_sz(attr, size) && errno == err, "%s", xv_coll_last_error());
}

/* Values out of range, and structures that are longer or shorter than the library knows */
static void refuse_attributes(const struct xv_coll_attr *good)
{
	struct { struct xv_coll_attr attr; char newer[8]; } longer = { .attr = *good };
	struct xv_coll_attr bad = *good;
	struct xv_coll *c;

	bad.sl = 16;
	refuse(&bad, sizeof(bad), EINVAL);
	bad.sl = 0;
	bad.mtu = XV_MTU_4096 + 1;
	refuse(&bad, sizeof(bad), EINVAL);
	bad.mtu = 0;
	bad.timeout = 15;
	refuse(&bad, sizeof(bad), EINVAL);
	bad.timeout = 32;
	refuse(&bad, sizeof(bad), EINVAL);
	refuse(NULL, sizeof(bad), EINVAL);
	longer.newer[7] = 1;
	refuse(&longer.attr, sizeof(longer), E2BIG);
	longer.newer[7] = 0;
	c = xv_coll_create_sz(&longer.attr, sizeof(longer));
	ok(c && !xv_coll_destroy(c), "a newer program that does not use its new attributes");
	c = xv_coll_create_sz(&bad, offsetof(struct xv_coll_attr, sl));
	ok(c && !xv_coll_destroy(c), "an older program, without these attributes");
}

static void test_arguments(void)
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
	refuse_attributes(&attr);
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

static void test_capabilities(void)
{
	struct xt_side side;
	struct xv_coll_attr attr = { .ranks = 1, .exchange = alone };
	struct xv_coll_op *op;
	struct xv_coll *c;
	uint64_t x = 5, y = 0;

	if (xt_side_open(&side, rig_device(0), 0, -1))
		bail_out("%s", xv_last_error());
	attr.pd = side.pd;
	lacks_caps = XV_EXP_DEVICE_CROSS_CHANNEL;
	errno = 0;
	ok(!xv_coll_create(&attr) && errno == EOPNOTSUPP, "%s", xv_coll_last_error());
	lacks_caps = 0;
	lacks_ops = 1u << XV_VECTOR_MAX;
	c = xv_coll_create(&attr);
	if (!c)
		bail_out("%s", xv_coll_last_error());
	errno = 0;
	ok(!xv_coll_allreduce(c, &x, &y, 1, XV_VECTOR_UINT64, XV_VECTOR_MAX) &&
	   errno == EOPNOTSUPP, "%s", xv_coll_last_error());
	op = xv_coll_allreduce(c, &x, &y, 1, XV_VECTOR_UINT64, XV_VECTOR_MIN);
	ok(op && !xv_coll_free(op) && !xv_coll_destroy(c), "operations that it has can be created");
	lacks_ops = 0;
	xt_side_close(&side);
}

/* ---- Ranks that do not agree ------------------------------------------- */

enum { DISAGREE_RANKS = 2, ODD = 1 };

enum what {
	KIND, LENGTH, ROOT, COUNT, TYPE, OPERATION, ARGUMENT, EXCHANGE_1, EXCHANGE_2,
};

static const struct {
	const char *name;
	int odd;		/* error of the rank ODD */
	int other;		/* error of the others; 0: they have an operation */
	uint32_t failing_call;	/* of the exchange function of the rank ODD */
} disagreements[] = {
	[KIND] = { "another operation", EPROTO, EPROTO },
	[LENGTH] = { "another length", EPROTO, EPROTO },
	[ROOT] = { "another root", EPROTO, EPROTO },
	[COUNT] = { "another number of elements", EPROTO, EPROTO },
	[TYPE] = { "another type", EPROTO, EPROTO },
	[OPERATION] = { "another operation on vectors", EPROTO, EPROTO },
	[ARGUMENT] = { "a wrong argument", EINVAL, EIO },
	[EXCHANGE_1] = { "the first exchange fails", ECONNRESET, EIO, 1 },
	[EXCHANGE_2] = { "the last exchange fails", ECONNRESET, 0, 2 },
};

static struct ranks disagreeing;
static enum what what;
static volatile int errors[MAX_RANKS];
static volatile bool not_freed;
static uint32_t odd_calls;		/* of the exchange function */

static int failing_exchange(void *arg, const void *mine, void *all, size_t size)
{
	const struct rank *rank = arg;
	int err = ranks_exchange(arg, mine, all, size);

	if (rank->number == ODD && ++odd_calls == disagreements[what].failing_call)
		return -ECONNRESET;
	return err;
}

static struct xv_coll_op *create_op(struct xv_coll *c, bool odd, void *in, void *out)
{
	switch (what) {
	case KIND: return odd ? xv_coll_barrier(c) : xv_coll_bcast(c, out, 64, 0);
	case LENGTH: return xv_coll_bcast(c, out, odd ? 65 : 64, 0);
	case ROOT: return xv_coll_bcast(c, out, 64, odd);
	case COUNT:
		return xv_coll_allreduce(c, in, out, odd ? 2 : 1, XV_VECTOR_UINT64, XV_VECTOR_ADD);
	case TYPE:
		return xv_coll_allreduce(c, in, out, 1, odd ? XV_VECTOR_INT64 : XV_VECTOR_UINT64,
					 XV_VECTOR_ADD);
	case OPERATION:
		return xv_coll_allreduce(c, in, out, 1, XV_VECTOR_UINT64,
					 odd ? XV_VECTOR_MAX : XV_VECTOR_ADD);
	case ARGUMENT:
		return xv_coll_allreduce(c, in, out, odd ? 0 : 1, XV_VECTOR_UINT64,
					 XV_VECTOR_ADD);
	default: return xv_coll_barrier(c);
	}
}

static void *disagree(void *arg)
{
	struct rank self = { &disagreeing, (uint32_t)(uintptr_t)arg };
	struct xv_coll_attr attr = { .rank = self.number, .ranks = DISAGREE_RANKS,
				     .exchange = failing_exchange, .arg = &self };
	void *in = ranks_buffer(64), *out = ranks_buffer(65);
	struct xv_coll_op *op;
	struct xt_side side;
	struct xv_coll *c;

	if (xt_side_open(&side, rig_device(self.number & 1), 0, -1))
		bail_out("%s", xv_last_error());
	attr.pd = side.pd;
	c = xv_coll_create(&attr);
	if (!c)
		bail_out("%s", xv_coll_last_error());
	op = create_op(c, self.number == ODD, in, out);
	errors[self.number] = op ? 0 : errno;
	if (!op)
		diag("rank %u: %s", self.number, xv_coll_last_error());
	if ((op && xv_coll_free(op)) || xv_coll_destroy(c) || xv_dealloc_pd(side.pd))
		not_freed = true;
	side.pd = NULL;
	xt_side_close(&side);
	free(in);
	free(out);
	return NULL;
}

static void test_disagreement(enum what w)
{
	pthread_t t[DISAGREE_RANKS];
	bool good = true;
	uint32_t i;

	what = w;
	not_freed = false;
	odd_calls = 0;
	memset(&disagreeing, 0, sizeof(disagreeing));
	ranks_init(&disagreeing, DISAGREE_RANKS);
	for (i = 0; i < DISAGREE_RANKS; i++)
		pthread_create(&t[i], NULL, disagree, (void *)(uintptr_t)i);
	for (i = 0; i < DISAGREE_RANKS; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < DISAGREE_RANKS; i++)
		good &= errors[i] == (i == ODD ? disagreements[w].odd : disagreements[w].other);
	ok(good && !not_freed, "%s at one rank: error %d there, %d at the others",
	   disagreements[w].name, errors[ODD], errors[0]);
}

/* ---- Allocations that fail --------------------------------------------- */

static __thread uint32_t allocations;	/* of this thread, while it creates an operation */
static __thread uint32_t failing;	/* the number of the one that fails; 0: none */

static bool fails(void)
{
	return failing && ++allocations == failing;
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

int __wrap_posix_memalign(void **mem, size_t alignment, size_t size)
{
	return fails() ? ENOMEM : __real_posix_memalign(mem, alignment, size);
}

static volatile uint32_t failed_times[DISAGREE_RANKS];

/* Each allocation of the rank ODD fails once: no rank has an operation, and none waits. */
static int without_memory(struct xv_coll *c, const struct rank *self)
{
	void *in = ranks_buffer(64), *out = ranks_buffer(64);
	const int wanted = self->number == ODD ? ENOMEM : EIO;
	struct xv_coll_op *op;
	uint32_t k;

	for (k = 1;; k++) {
		allocations = 0;
		failing = self->number == ODD ? k : 0;
		op = xv_coll_allreduce(c, in, out, 8, XV_VECTOR_UINT64, XV_VECTOR_ADD);
		failing = 0;
		if (op)
			break;
		if (errno == wanted)
			continue;
		diag("rank %u, allocation %u: error %d: %s", self->number, k, errno,
		     xv_coll_last_error());
		return 1;
	}
	failed_times[self->number] = k - 1;
	k = ranks_free(op, self) != 0;
	free(in);
	free(out);
	return (int)k;
}

static void test_memory(void)
{
	static struct ranks two;
	struct thread_rank t[DISAGREE_RANKS];
	int i, bad = 0;

	ranks_init(&two, DISAGREE_RANKS);
	ranks_start(&two, t, (struct xv_coll_attr) { 0 }, without_memory);
	for (i = 0; i < DISAGREE_RANKS; i++) {
		pthread_join(t[i].thread, NULL);
		bad |= t[i].ret;
	}
	ok(!bad && failed_times[ODD] > 8 && failed_times[0] == failed_times[ODD],
	   "%u allocations of a rank fail, one at a time; the other rank notices %u",
	   failed_times[ODD], failed_times[0]);
}

/* ---- Signals ----------------------------------------------------------- */

enum { SIGNALS = 20 };

static volatile int signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

/* The rank ODD starts after the other one has got its signals. */
static int wait_for_odd(struct xv_coll *c, const struct rank *self)
{
	struct xv_coll_op *op = xv_coll_barrier(c);
	int ret;

	if (!op)
		return -errno;
	while (self->number == ODD && signals < SIGNALS)
		usleep(1000);
	ret = xv_coll_start(op);
	if (!ret)
		ret = xv_coll_wait(op);
	if (ret < 0)
		diag("rank %u: %s", self->number, xv_coll_last_error());
	return ranks_free(op, self) ? 3 : ret;
}

static void test_signals(void)
{
	const struct sigaction action = { .sa_handler = count_signal };
	static struct ranks two;
	struct thread_rank t[DISAGREE_RANKS];
	int i;

	sigaction(SIGUSR1, &action, NULL);
	ranks_init(&two, DISAGREE_RANKS);
	ranks_start(&two, t, (struct xv_coll_attr) { 0 }, wait_for_odd);
	usleep(500000);
	for (i = 0; i < SIGNALS; i++) {
		usleep(10000);
		pthread_kill(t[0].thread, SIGUSR1);
		while (signals <= i)
			usleep(1000);
	}
	for (i = 0; i < DISAGREE_RANKS; i++)
		pthread_join(t[i].thread, NULL);
	ok(t[0].ret == 1 && t[1].ret == 1, "a rank that waits gets %d signals: %d", SIGNALS,
	   t[0].ret);
}

/* ---- Ranks that are killed --------------------------------------------- */

enum { FIRST_RUNS = 20, ELEMENTS = 64 };

enum kind { BARRIER, BCAST, SUM };

struct killing {
	const char *name;
	enum kind kind;
	uint32_t ranks;
	uint32_t victim;
	bool absent;		/* the victim does not start its last run */
	uint32_t flags;
};

/* In trees and with 8 ranks, some ranks are far from the victim: other peers of theirs fail. */
static const struct killing killings[] = {
	{ "allreduce", SUM, 4, 3, false, 0 },
	{ "barrier that the rank has not started", BARRIER, 4, 2, true, 0 },
	{ "broadcast over a tree, a leaf", BCAST, 5, 3, false, 0 },
	{ "allreduce, driven by the CPU", SUM, 4, 1, true, XV_COLL_CPU_DRIVEN },
	{ "allreduce of many ranks", SUM, 8, 3, false, 0 },
	{ "allreduce that the rank has not started", SUM, 4, 1, true, 0 },
	{ "broadcast over a tree, the root", BCAST, 5, 0, true, 0 },
	{ "allreduce over a tree", SUM, 5, 4, true, 0 },
};

enum { SHORT_FORM = 4 };		/* as many of them without the argument "all" */

struct group {
	struct ranks all;
	volatile uint32_t runs[MAX_RANKS];
	pid_t pid[MAX_RANKS];
};

static struct xv_coll_op *create_kind(struct xv_coll *c, enum kind kind, uint64_t *in,
				      uint64_t *out)
{
	switch (kind) {
	case BARRIER: return xv_coll_barrier(c);
	case BCAST: return xv_coll_bcast(c, out, ELEMENTS * sizeof(*out), 0);
	default:
		return xv_coll_allreduce(c, in, out, ELEMENTS, XV_VECTOR_UINT64, XV_VECTOR_ADD);
	}
}

/* One run with data; returns 1, or an error, or 2 after a wrong result. */
static int checked_run(struct xv_coll_op *op, const struct killing *k, uint32_t rank, uint64_t n,
		       uint64_t *in, uint64_t *out)
{
	uint64_t want;
	uint32_t i;
	int ret;

	for (i = 0; i < ELEMENTS; i++) {
		in[i] = n * 1000 + i + rank;
		out[i] = k->kind == BCAST && !rank ? in[i] : 0;
	}
	ret = xv_coll_start(op);
	if (!ret)
		ret = xv_coll_wait(op);
	for (i = 0; i < ELEMENTS && ret == 1 && k->kind != BARRIER; i++) {
		want = n * 1000 + i;
		if (k->kind == SUM)
			want = want * k->ranks + k->ranks * (k->ranks - 1) / 2;
		if (out[i] != want)
			return 2;
	}
	return ret;
}

/* A process; exits with 0 if a run has ended with EIO, and all could be freed. */
static int killed_group(struct group *g, const struct killing *k, uint32_t rank)
{
	struct rank self = { &g->all, rank };
	struct xv_coll_attr attr = { .rank = rank, .ranks = k->ranks, .flags = k->flags,
				     .exchange = ranks_exchange, .arg = &self };
	uint64_t *in = ranks_buffer(ELEMENTS * 8), *out = ranks_buffer(ELEMENTS * 8), n;
	struct xv_coll_op *op;
	struct xt_side side;
	struct xv_coll *c;
	int ret = 1;

	alarm(60);
	if (xt_side_open(&side, rig_device(rank & 1), 0, -1))
		return 1;
	attr.pd = side.pd;
	c = xv_coll_create(&attr);
	op = c ? create_kind(c, k->kind, in, out) : NULL;
	if (!op)
		return 2;
	for (n = 0; ret == 1; n++) {
		g->runs[rank] = (uint32_t)n;
		while (rank == k->victim && k->absent && n == FIRST_RUNS)
			pause();
		ret = checked_run(op, k, rank, n, in, out);
	}
	if (ret != -EIO || xv_coll_start(op) != -EBUSY || xv_coll_test(op) != -EINVAL) {
		diag("%s: rank %u, run %u: %d: %s", k->name, rank, g->runs[rank], ret,
		     xv_coll_last_error());
		return 3;
	}
	if (xv_coll_free(op) || xv_coll_destroy(c) || xv_dealloc_pd(side.pd))
		return 4;
	return 0;
}

static void start_group(struct group *g, const struct killing *k)
{
	uint32_t i;
	pid_t pid;

	ranks_init(&g->all, k->ranks);
	fflush(stdout);
	for (i = 0; i < k->ranks; i++) {
		pid = fork();
		if (pid < 0)
			bail_out("no process");
		if (!pid)
			_exit(killed_group(g, k, i));
		g->pid[i] = pid;
	}
}

static void kill_victim(struct group *g, const struct killing *k)
{
	double until = xt_now() + 60;
	uint32_t i;

	for (i = 0; i < k->ranks; i++)
		while (g->runs[i] < FIRST_RUNS && xt_now() < until)
			usleep(10000);
	kill(g->pid[k->victim], SIGKILL);
}

static void end_group(struct group *g, const struct killing *k)
{
	uint32_t i, bad = 0;
	int status;

	for (i = 0; i < k->ranks; i++) {
		waitpid(g->pid[i], &status, 0);
		if (i == k->victim ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL : !status)
			continue;
		diag("rank %u: status 0x%x", i, status);
		bad++;
	}
	ok(!bad && g->runs[k->victim] >= FIRST_RUNS, "rank %u of %u is killed: %s", k->victim,
	   k->ranks, k->name);
}

/* The groups wait for their ends at the same time. */
static void test_killings(size_t n)
{
	struct group *g = ranks_map(n * sizeof(*g));
	size_t i;

	for (i = 0; i < n; i++) {
		start_group(&g[i], &killings[i]);
		kill_victim(&g[i], &killings[i]);
	}
	for (i = 0; i < n; i++)
		end_group(&g[i], &killings[i]);
	munmap(g, n * sizeof(*g));
}

int main(int argc, char **argv)
{
	enum what w;

	rig_devices(argc, argv);
	test_killings(argc > optind && !strcmp(argv[optind], "all") ? ARRAY_SIZE(killings) :
								      SHORT_FORM);
	test_arguments();
	test_capabilities();
	for (w = KIND; w <= EXCHANGE_2; w++)
		test_disagreement(w);
	alarm(60);
	test_memory();
	test_signals();
	return tap_done();
}
