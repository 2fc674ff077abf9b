// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Collective operations over RANKS processes on one host: barrier, broadcast and
 * allreduce, each built once and run several times.
 *
 * The processes exchange their addresses through shared memory; programs on several hosts
 * use what they have, such as MPI_Allgather().
 *
 * usage: collective [-d DEVICE] [-i PORT]
 */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <xverbs/coll.h>
#include "common.h"

enum { RANKS = 6, RUNS = 10, MESSAGE = 1024 };

#define COLL(good)	do {						\
	if (!(good))							\
		errx(1, "%s: %s", #good, xv_coll_last_error());		\
} while (0)

struct shared {
	pthread_barrier_t meet;
	uint8_t message[RANKS][MESSAGE];
};

static struct shared *shared;

static int exchange(void *arg, const void *mine, void *all, size_t size)
{
	const uint32_t *rank = arg;
	int i;

	if (size > MESSAGE)
		return -EINVAL;
	memcpy(shared->message[*rank], mine, size);
	pthread_barrier_wait(&shared->meet);
	for (i = 0; i < RANKS; i++)
		memcpy((uint8_t *)all + i * size, shared->message[i], size);
	pthread_barrier_wait(&shared->meet);
	return 0;
}

static void run(struct xv_coll_op *op)
{
	COLL(!xv_coll_start(op));
	COLL(xv_coll_wait(op) == 1);
}

static void run_rank(uint32_t rank)
{
	struct xv_coll_attr attr = { .rank = rank, .ranks = RANKS, .port = opt.port,
				     .exchange = exchange, .arg = &rank };
	struct xv_coll_op *barrier, *bcast, *sum;
	static char text[32] __attribute__((aligned(4096)));
	static uint64_t out __attribute__((aligned(4096)));
	struct xv_context *ctx;
	struct xv_coll *coll;
	uint64_t in;
	int i;

	CHECK((ctx = xv_open(opt.device)));
	CHECK((attr.pd = xv_alloc_pd(ctx)));
	COLL((coll = xv_coll_create(&attr)));
	COLL((barrier = xv_coll_barrier(coll)));
	COLL((bcast = xv_coll_bcast(coll, text, sizeof(text), 0)));
	COLL((sum = xv_coll_allreduce(coll, &in, &out, 1, XV_VECTOR_UINT64, XV_VECTOR_ADD)));
	for (i = 0; i < RUNS; i++) {
		run(barrier);
		if (!rank)
			snprintf(text, sizeof(text), "hello number %d", i);
		run(bcast);
		in = rank + (uint64_t)i;
		run(sum);
		if (out != RANKS * (RANKS - 1) / 2 + (uint64_t)RANKS * (uint64_t)i)
			errx(1, "rank %u: the sum is %llu", rank, (unsigned long long)out);
	}
	printf("rank %u: \"%s\", sum %llu\n", rank, text, (unsigned long long)out);
	run(barrier);
	COLL(!xv_coll_free(sum) && !xv_coll_free(bcast) && !xv_coll_free(barrier));
	COLL(!xv_coll_destroy(coll));
	CHECK(!xv_close(ctx));
}

int main(int argc, char **argv)
{
	pthread_barrierattr_t attr;
	int status, bad = 0;
	uint32_t rank;

	parse(argc, argv);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		err(1, "mmap");
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->meet, &attr, RANKS);
	for (rank = 0; rank < RANKS; rank++) {
		if (!fork()) {
			run_rank(rank);
			return 0;
		}
	}
	for (rank = 0; rank < RANKS; rank++) {
		wait(&status);
		bad |= status;
	}
	if (!bad)
		printf("%d ranks, %d runs of each operation\n", RANKS, RUNS);
	return bad ? 1 : 0;
}
