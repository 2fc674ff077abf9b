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

/* For coll_errors.c: calls of xv_query_device_sz() reach __wrap_, and __real_ is the original. */
int __wrap_xv_query_device_sz(struct xv_context *ctx, struct xv_device_attr *attr, size_t size);
int __real_xv_query_device_sz(struct xv_context *ctx, struct xv_device_attr *attr, size_t size);

#endif
