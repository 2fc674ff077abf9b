// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Collective operations over ranks in this process.  Each rank is a thread with its own
 * context, as programs with ranks are.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <xverbs/coll.h>
#include "compare.h"

struct group;

struct rank {
	struct group *group;
	uint32_t number;
	struct xt_side side;
	struct xv_coll *coll;
	struct xv_coll_op *op;
	uint64_t *in, *out;
	pthread_t thread;
};

struct group {
	const struct compare *c;
	uint32_t flags;
	struct rank *rank;
	pthread_barrier_t meet;		/* of all ranks */
	pthread_barrier_t phase;	/* of all ranks and the thread that measures */
	uint8_t *message;		/* of all ranks, MESSAGE bytes each */
};

enum { MESSAGE = 1024 };

static int exchange(void *arg, const void *mine, void *all, size_t size)
{
	struct rank *r = arg;
	struct group *g = r->group;
	uint32_t i;

	if (size > MESSAGE)
		xt_die(XT_FAILED, "a message of %zu bytes between ranks", size);
	memcpy(g->message + (size_t)r->number * MESSAGE, mine, size);
	pthread_barrier_wait(&g->meet);
	for (i = 0; i < g->c->ranks; i++)
		memcpy((uint8_t *)all + i * size, g->message + (size_t)i * MESSAGE, size);
	pthread_barrier_wait(&g->meet);
	return 0;
}

static void create_op(struct rank *r)
{
	const struct compare *c = r->group->c;

	if (c->test == CMP_BARRIER)
		r->op = xv_coll_barrier(r->coll);
	else if (c->test == CMP_BCAST)
		r->op = xv_coll_bcast(r->coll, r->out, c->size, 0);
	else
		r->op = xv_coll_allreduce(r->coll, r->in, r->out, c->size / 8,
					  c->real ? XV_VECTOR_FLOAT64 : XV_VECTOR_UINT64,
					  XV_VECTOR_ADD);
	if (!r->op)
		xt_die(XT_FAILED, "rank %u: %s", r->number, xv_coll_last_error());
}

static void open_rank(struct rank *r)
{
	const struct compare *c = r->group->c;
	const char *device = c->device[r->number & 1] ? c->device[r->number & 1] : c->device[0];
	struct xv_coll_attr attr = {
		.rank = r->number, .ranks = c->ranks, .port = c->port, .exchange = exchange,
		.arg = r, .flags = r->group->flags | XV_COLL_GID_INDEX, .sl = c->net.sl,
		.traffic_class = c->net.tclass, .pkey_index = c->net.pkey_index,
		.mtu = (uint16_t)c->net.mtu,
	};

	if (xt_side_open(&r->side, device, c->port, c->gid_index))
		xt_die_xv("rank %u", r->number);
	attr.pd = r->side.pd;
	attr.gid_index = r->side.gid_index;
	r->in = xt_calloc(1, c->size + 8);
	/* Debug kernels report pages that are registered twice. */
	r->out = aligned_alloc(4096, ((size_t)c->size + 8 + 4095) / 4096 * 4096);
	if (!r->out)
		xt_die(XT_FAILED, "out of memory");
	r->coll = xv_coll_create(&attr);
	if (!r->coll)
		xt_die(XT_FAILED, "rank %u: %s", r->number, xv_coll_last_error());
	create_op(r);
}

static void close_rank(struct rank *r)
{
	if (xv_coll_free(r->op) || xv_coll_destroy(r->coll))
		xt_die(XT_FAILED, "%s", xv_coll_last_error());
	xt_side_close(&r->side);
	free(r->in);
	free(r->out);
}

/* ---- Runs -------------------------------------------------------------- */

/* There may be more ranks than processors, so a rank that polls gives way to others. */
static void await_run(struct rank *r)
{
	const struct group *g = r->group;
	int done;

	do {
		done = g->c->events || g->flags & XV_COLL_CPU_DRIVEN ? xv_coll_wait(r->op) :
								       xv_coll_test(r->op);
		if (!done)
			sched_yield();
	} while (!done);
	if (done < 0)
		xt_die(XT_FAILED, "rank %u: %s", r->number, xv_coll_last_error());
}

/* The bits of an element with the value @n */
static uint64_t element(const struct compare *c, uint64_t n)
{
	double real = (double)n;

	if (c->real)
		memcpy(&n, &real, sizeof(n));
	return n;
}

static void one_run(struct rank *r, uint64_t n)
{
	const struct compare *c = r->group->c;
	uint64_t ranks = c->ranks, want = n;
	size_t last = c->size ? c->size / 8 - 1 : 0;

	r->in[0] = element(c, n + r->number);
	r->in[last] = r->in[0];
	r->out[0] = r->number ? 0 : n;
	r->out[last] = r->out[0];
	if (xv_coll_start(r->op))
		xt_die(XT_FAILED, "rank %u: %s", r->number, xv_coll_last_error());
	await_run(r);
	if (c->test == CMP_ALLREDUCE)
		want = element(c, n * ranks + ranks * (ranks - 1) / 2);
	if (c->test != CMP_BARRIER && (r->out[0] != want || r->out[last] != want))
		xt_die(XT_MISMATCH, "run %llu: rank %u has a wrong result",
		       (unsigned long long)n, r->number);
}

static void *run_rank(void *arg)
{
	struct rank *r = arg;
	struct group *g = r->group;
	uint64_t i;

	open_rank(r);
	one_run(r, 1);
	pthread_barrier_wait(&g->phase);
	for (i = 0; i < g->c->iterations; i++)
		one_run(r, i);
	pthread_barrier_wait(&g->phase);
	close_rank(r);
	return NULL;
}

static void run_way(struct compare *c, int way)
{
	struct group g = { .c = c, .flags = way == IN_STEPS ? XV_COLL_CPU_DRIVEN : 0 };
	double start, cpu;
	uint32_t i;

	g.rank = xt_calloc(c->ranks, sizeof(*g.rank));
	g.message = xt_calloc(c->ranks, MESSAGE);
	pthread_barrier_init(&g.meet, NULL, c->ranks);
	pthread_barrier_init(&g.phase, NULL, c->ranks + 1);
	for (i = 0; i < c->ranks; i++) {
		g.rank[i].group = &g;
		g.rank[i].number = i;
		if (pthread_create(&g.rank[i].thread, NULL, run_rank, &g.rank[i]))
			xt_die(XT_FAILED, "cannot create a thread");
	}
	pthread_barrier_wait(&g.phase);
	if (way == AT_ONCE)
		c->result_by_cpu = xv_coll_result_by_cpu(g.rank[0].op);
	start = xt_now();
	cpu = xt_cpu_us();
	pthread_barrier_wait(&g.phase);
	c->us[way] = (xt_now() - start) * 1e6 / (double)c->iterations;
	c->cpu_us[way] = (xt_cpu_us() - cpu) / (double)c->iterations;
	for (i = 0; i < c->ranks; i++)
		pthread_join(g.rank[i].thread, NULL);
	pthread_barrier_destroy(&g.meet);
	pthread_barrier_destroy(&g.phase);
	free(g.rank);
	free(g.message);
}

void run_collective(struct compare *c)
{
	run_way(c, AT_ONCE);
	run_way(c, IN_STEPS);
}
