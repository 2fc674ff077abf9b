/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ranks of a collective operation on one host: threads, or processes that map the memory.
 */
#ifndef TESTS_USER_RANKS_H
#define TESTS_USER_RANKS_H

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <xverbs/coll.h>
#include "rig.h"

enum { MAX_RANKS = 8 };

struct ranks {
	pthread_barrier_t meet;
	uint8_t message[MAX_RANKS][1024];
	uint32_t n;
};

struct rank {
	struct ranks *ranks;
	uint32_t number;
};

static inline void *ranks_map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		bail_out("no memory");
	return p;
}

static inline void ranks_init(struct ranks *r, uint32_t n)
{
	pthread_barrierattr_t attr;

	r->n = n;
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&r->meet, &attr, n);
}

/* The exchange function of a communicator; arg is a struct rank. */
static inline int ranks_exchange(void *arg, const void *mine, void *all, size_t size)
{
	const struct rank *rank = arg;
	struct ranks *r = rank->ranks;
	uint32_t i;

	if (size > sizeof(r->message[0]))
		return -EINVAL;
	memcpy(r->message[rank->number], mine, size);
	pthread_barrier_wait(&r->meet);
	for (i = 0; i < r->n; i++)
		memcpy((uint8_t *)all + i * size, r->message[i], size);
	pthread_barrier_wait(&r->meet);
	return 0;
}

/* Debug kernels report pages that are registered twice, so buffers do not share pages. */
static inline void *ranks_buffer(size_t size)
{
	void *p = aligned_alloc(4096, (size + 4095) / 4096 * 4096);

	if (!p)
		bail_out("no memory");
	memset(p, 0, size);
	return p;
}

/* A rank that is a thread with its own context */
struct thread_rank {
	struct rank self;
	struct xv_coll_attr attr;	/* the rest is set by ranks_thread() */
	int (*run)(struct xv_coll *c, const struct rank *self);
	int ret;			/* of run() */
	pthread_t thread;
};

static inline void *ranks_thread(void *arg)
{
	struct thread_rank *t = arg;
	struct xv_coll_attr attr = t->attr;
	struct xt_side side;
	struct xv_coll *c;

	if (xt_side_open(&side, rig_device(t->self.number & 1), 0, -1))
		bail_out("%s", xv_last_error());
	attr.pd = side.pd;
	attr.rank = t->self.number;
	attr.ranks = t->self.ranks->n;
	attr.exchange = ranks_exchange;
	attr.arg = &t->self;
	c = xv_coll_create(&attr);
	if (!c)
		bail_out("%s", xv_coll_last_error());
	t->ret = t->run(c, &t->self);
	if (xv_coll_destroy(c) || xv_dealloc_pd(side.pd))
		bail_out("a rank has objects left: %s, %s", xv_coll_last_error(), xv_last_error());
	side.pd = NULL;
	xt_side_close(&side);
	return NULL;
}

/* Runs the function in a thread for each of the ranks; the caller joins them. */
static inline void ranks_start(struct ranks *r, struct thread_rank *t, struct xv_coll_attr attr,
			       int (*run)(struct xv_coll *c, const struct rank *self))
{
	uint32_t i;

	for (i = 0; i < r->n; i++) {
		t[i] = (struct thread_rank) { .self = { r, i }, .attr = attr, .run = run };
		pthread_create(&t[i].thread, NULL, ranks_thread, &t[i]);
	}
}

/* Frees the operation when all ranks have completed it. */
static inline int ranks_free(struct xv_coll_op *op, const struct rank *self)
{
	pthread_barrier_wait(&self->ranks->meet);
	return xv_coll_free(op);
}

/* For tests of errors: calls of xv_query_device_sz() reach __wrap_, and __real_ is the original. */
int __wrap_xv_query_device_sz(struct xv_context *ctx, struct xv_device_attr *attr, size_t size);
int __real_xv_query_device_sz(struct xv_context *ctx, struct xv_device_attr *attr, size_t size);
struct xv_cq *__wrap_xv_create_cq_sz(struct xv_context *ctx, const struct xv_cq_init_attr *attr,
				     size_t size);
struct xv_cq *__real_xv_create_cq_sz(struct xv_context *ctx, const struct xv_cq_init_attr *attr,
				     size_t size);
struct xv_qp *__wrap_xv_create_qp_sz(struct xv_pd *pd, struct xv_qp_init_attr *attr, size_t size);
struct xv_qp *__real_xv_create_qp_sz(struct xv_pd *pd, struct xv_qp_init_attr *attr, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t size);
void *__real_malloc(size_t size);
int __wrap_posix_memalign(void **mem, size_t alignment, size_t size);
int __real_posix_memalign(void **mem, size_t alignment, size_t size);

#endif
