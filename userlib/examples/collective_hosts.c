// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Collective operations over processes on several hosts: an allreduce of a vector of 32-bit floats,
 * and a broadcast of a message of BYTES.  The contents are checked.
 *
 * Each process is a rank.  They exchange their addresses over TCP: rank 0 accepts a connection of
 * each other one.  Programs with MPI use MPI_Allgather() instead.
 *
 * usage: collective_hosts [-d DEVICE] [-i PORT] [-p TCP-PORT] RANKS [RANK HOST]
 * Without RANK, the process is rank 0; HOST is the host of rank 0.
 */
#include <xverbs/coll.h>
#include "common.h"

enum { MAX_RANKS = 64, RUNS = 20, N = 256, BYTES = 1 << 20 };

#define COLL(good)	do {						\
	if (!(good))							\
		errx(1, "%s: %s", #good, xv_coll_last_error());		\
} while (0)

static uint32_t rank, ranks;
static int connection[MAX_RANKS];	/* of rank 0: to each other; of others: [0] */

static float in[N], out[N];
static uint8_t message[BYTES];

static void receive(int fd, void *data, size_t size)
{
	if (recv(fd, data, size, MSG_WAITALL) != (ssize_t)size)
		errx(1, "rank %u: a connection is lost", rank);
}

static void transmit(int fd, const void *data, size_t size)
{
	if (send(fd, data, size, MSG_NOSIGNAL) != (ssize_t)size)
		errx(1, "rank %u: a connection is lost", rank);
}

static int exchange(void *arg, const void *mine, void *all, size_t size)
{
	uint8_t *to = all;
	uint32_t i;

	(void)arg;
	if (rank) {
		transmit(connection[0], mine, size);
		receive(connection[0], all, ranks * size);
		return 0;
	}
	memcpy(to, mine, size);
	for (i = 1; i < ranks; i++)
		receive(connection[i], to + i * size, size);
	for (i = 1; i < ranks; i++)
		transmit(connection[i], all, ranks * size);
	return 0;
}

/* The first word that each process sends is its rank. */
static void accept_all(void)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6,
				    .sin6_port = htons((uint16_t)atoi(opt.tcp_port)) };
	int listener = socket(AF_INET6, SOCK_STREAM, 0), fd, one = 1;
	uint32_t i, other;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (struct sockaddr *)&any, sizeof(any)) || listen(listener, MAX_RANKS))
		err(1, "listen on port %s", opt.tcp_port);
	for (i = 1; i < ranks; i++) {
		fd = accept(listener, NULL, NULL);
		if (fd < 0)
			err(1, "accept");
		receive(fd, &other, sizeof(other));
		if (!other || other >= ranks || connection[other])
			errx(1, "a second rank %u", other);
		connection[other] = fd;
	}
	close(listener);
}

static void run(struct xv_coll_op *op)
{
	COLL(!xv_coll_start(op));
	COLL(xv_coll_wait(op) == 1);
}

static void check_sum(struct xv_coll_op *sum)
{
	uint32_t i, turn;

	for (turn = 0; turn < RUNS; turn++) {
		for (i = 0; i < N; i++)
			in[i] = (float)(rank + i + turn);
		run(sum);
		for (i = 0; i < N; i++)
			if (out[i] != (float)(ranks * (ranks - 1) / 2 + ranks * (i + turn)))
				errx(1, "rank %u: sum %u of run %u is %f", rank, i, turn, out[i]);
	}
}

static void check_bcast(struct xv_coll_op *bcast)
{
	uint32_t i, turn;

	for (turn = 0; turn < RUNS; turn++) {
		for (i = 0; i < BYTES; i++)
			message[i] = rank ? 0 : (uint8_t)(i * 7 + turn);
		run(bcast);
		for (i = 0; i < BYTES; i++)
			if (message[i] != (uint8_t)(i * 7 + turn))
				errx(1, "rank %u: byte %u of message %u is wrong", rank, i, turn);
	}
}

static void run_all(void)
{
	struct xv_coll_attr attr = { .rank = rank, .ranks = ranks, .port = opt.port,
				     .exchange = exchange };
	struct xv_coll_op *barrier, *bcast, *sum;
	struct xv_context *ctx;
	struct xv_coll *coll;

	CHECK((ctx = xv_open(opt.device)));
	CHECK((attr.pd = xv_alloc_pd(ctx)));
	COLL((coll = xv_coll_create(&attr)));
	COLL((barrier = xv_coll_barrier(coll)));
	COLL((bcast = xv_coll_bcast(coll, message, sizeof(message), 0)));
	COLL((sum = xv_coll_allreduce(coll, in, out, N, XV_VECTOR_FLOAT32, XV_VECTOR_ADD)));
	run(barrier);
	check_sum(sum);
	check_bcast(bcast);
	run(barrier);
	printf("rank %u of %u: %d sums of %d floats, %d messages of %d bytes\n", rank, ranks, RUNS,
	       N, RUNS, BYTES);
	COLL(!xv_coll_free(sum) && !xv_coll_free(bcast) && !xv_coll_free(barrier));
	COLL(!xv_coll_destroy(coll));
	CHECK(!xv_close(ctx));
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	argv += optind;
	argc -= optind;
	if (argc != 1 && argc != 3)
		errx(2, "usage: collective_hosts [-d DEVICE] [-i PORT] [-p TCP-PORT] RANKS "
		     "[RANK HOST]");
	ranks = (uint32_t)atoi(argv[0]);
	rank = argc == 3 ? (uint32_t)atoi(argv[1]) : 0;
	if (ranks < 2 || ranks > MAX_RANKS || rank >= ranks)
		errx(2, "RANKS must be from 2 to %d, RANK below it", MAX_RANKS);
	if (argc == 3) {
		opt.host = argv[2];
		connection[0] = connect_tcp();
		transmit(connection[0], &rank, sizeof(rank));
	} else {
		accept_all();
	}
	run_all();
	return 0;
}
