// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Collective operations over ranks in this process, each with its own context.  Threads
 * create the ranks; then one thread runs all of them, so that the measurement has no
 * changes between threads.
 */
#include <pthread.h>
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
};

struct group {
	const struct compare *c;
	uint32_t flags;
	struct rank *rank;
	pthread_barrier_t meet;
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

static void *create_rank(void *arg)
{
	struct rank *r = arg;
	const struct compare *c = r->group->c;
	struct xv_coll_attr attr = {
		.rank = r->number, .ranks = c->ranks, .flags = r->group->flags,
		.port = c->port, .exchange = exchange, .arg = r,
	};
	const char *device = c->device[r->number & 1] ? c->device[r->number & 1] : c->device[0];

	if (xt_side_open(&r->side, device, c->port, c->gid_index))
		xt_die_xv("rank %u", r->number);
	attr.pd = r->side.pd;
	attr.gid_index = r->side.gid_index;
	attr.flags |= XV_COLL_GID_INDEX;
	r->in = xt_calloc(1, c->size + 8);
	r->out = xt_calloc(1, c->size + 8);
	r->coll = xv_coll_create(&attr);
	if (r->coll && c->test == CMP_BARRIER)
		r->op = xv_coll_barrier(r->coll);
	else if (r->coll && c->test == CMP_BCAST)
		r->op = xv_coll_bcast(r->coll, r->out, c->size, 0);
	else if (r->coll)
		r->op = xv_coll_allreduce(r->coll, r->in, r->out, c->size / 8, XV_VECTOR_UINT64,
					  XV_VECTOR_ADD);
	if (!r->op)
		xt_die(XT_FAILED, "rank %u: %s", r->number, xv_coll_last_error());
	return NULL;
}

static void open_group(struct group *g, const struct compare *c, uint32_t flags)
{
	pthread_t *thread = xt_calloc(c->ranks, sizeof(*thread));
	uint32_t i;

	*g = (struct group) { .c = c, .flags = flags };
	g->rank = xt_calloc(c->ranks, sizeof(*g->rank));
	g->message = xt_calloc(c->ranks, MESSAGE);
	pthread_barrier_init(&g->meet, NULL, c->ranks);
	for (i = 0; i < c->ranks; i++) {
		g->rank[i].group = g;
		g->rank[i].number = i;
		if (pthread_create(&thread[i], NULL, create_rank, &g->rank[i]))
			xt_die(XT_FAILED, "cannot create a thread");
	}
	for (i = 0; i < c->ranks; i++)
		pthread_join(thread[i], NULL);
	free(thread);
}

static void close_group(struct group *g)
{
	struct rank *r;

	for (r = g->rank; r < g->rank + g->c->ranks; r++) {
		if (xv_coll_free(r->op) || xv_coll_destroy(r->coll))
			xt_die(XT_FAILED, "%s", xv_coll_last_error());
		xt_side_close(&r->side);
		free(r->in);
		free(r->out);
	}
	pthread_barrier_destroy(&g->meet);
	free(g->rank);
	free(g->message);
}

/* ---- Runs -------------------------------------------------------------- */

static void check(int result)
{
	if (result < 0)
		xt_die(XT_FAILED, "%s", xv_coll_last_error());
}

/* All ranks step by step, or one after the other: then the last ones have ended too. */
static void await_all(struct group *g)
{
	uint32_t left = g->c->ranks, i;
	uint8_t ended[256] = { 0 };
	int done;

	if (g->c->events && !(g->flags & XV_COLL_CPU_DRIVEN)) {
		for (i = 0; i < g->c->ranks; i++)
			check(xv_coll_wait(g->rank[i].op));
		return;
	}
	while (left) {
		for (i = 0; i < g->c->ranks; i++) {
			if (ended[i])
				continue;
			done = xv_coll_test(g->rank[i].op);
			check(done);
			ended[i] = (uint8_t)done;
			left -= (uint32_t)done;
		}
	}
}

static void one_run(struct group *g, uint64_t n)
{
	uint64_t ranks = g->c->ranks, i;

	for (i = 0; i < ranks; i++) {
		g->rank[i].in[0] = n + i;
		g->rank[i].out[0] = i ? 0 : n;
		check(xv_coll_start(g->rank[i].op));
	}
	await_all(g);
	for (i = 0; i < ranks && g->c->test != CMP_BARRIER; i++)
		if (g->rank[i].out[0] != (g->c->test == CMP_BCAST ? n :
					  n * ranks + ranks * (ranks - 1) / 2))
			xt_die(XT_MISMATCH, "run %llu: rank %llu has a wrong result",
			       (unsigned long long)n, (unsigned long long)i);
}

static void run_way(struct compare *c, int way)
{
	struct group g;
	double start, cpu;
	uint64_t i;

	open_group(&g, c, way == BY_CPU ? XV_COLL_CPU_DRIVEN : 0);
	one_run(&g, 1);
	start = xt_now();
	cpu = cpu_time_us();
	for (i = 0; i < c->iterations; i++)
		one_run(&g, i);
	c->us[way] = (xt_now() - start) * 1e6 / (double)c->iterations;
	c->cpu_us[way] = (cpu_time_us() - cpu) / (double)c->iterations;
	close_group(&g);
}

void run_collective(struct compare *c)
{
	run_way(c, BY_ADAPTER);
	run_way(c, BY_CPU);
}
