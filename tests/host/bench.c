// SPDX-License-Identifier: GPL-2.0
/*
 * The adapter at native speed: one thread posts and polls with the library's
 * data path, another runs the engine.  Printed beside what the machine itself
 * can do: a cache line from one CPU to another and back, and memcpy.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/ktime.h>
#include "session.h"

#define ALL (MLX5R_MKEY_ACCESS_LR | MLX5R_MKEY_ACCESS_LW | MLX5R_MKEY_ACCESS_RR | \
	     MLX5R_MKEY_ACCESS_RW | MLX5R_MKEY_ACCESS_A)
#define ROUNDS		200000u
#define MESSAGES	2000000u
#define BATCH		32u
#define BIG		65536u
#define BIG_MESSAGES	50000u

static struct session s;
static struct session_qp a, b;
static struct session_mr from, to;
static atomic_bool stop;

static void *engine(void *arg)
{
	while (!atomic_load_explicit(&stop, memory_order_relaxed))
		hca_fabric_poll(&s.fabric);
	return arg;
}

static void must(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "bench: %s\n", what);
		exit(1);
	}
}

static void reap(u32 *left)
{
	struct xv_wc wc[BATCH];
	int i, n = xv_poll_cq(&a.cq, BATCH, wc);

	for (i = 0; i < n; i++)
		must(wc[i].status == XV_WC_SUCCESS, "a write failed");
	*left -= n;
}

/* Nanoseconds from posting an 8-byte write until the data are there */
static double write_latency(void)
{
	volatile u64 *seen = (volatile u64 *)to.ptr;
	u64 t = ktime_get_ns(), i;
	struct xv_sge sge = session_sge(&from, 0, 8);
	u32 left;

	for (i = 1; i <= ROUNDS; i++) {
		*(u64 *)from.ptr = i;
		xv_wr_write(&a.qp, i, XV_SEND_SIGNALED, &sge, to.addr, to.key);
		xv_commit_send(&a.qp);
		while (*seen != i)
			;
		for (left = 1; left;)
			reap(&left);
	}
	return (double)(ktime_get_ns() - t) / ROUNDS;
}

static double messages_per_second(u32 size, u32 count)
{
	struct xv_sge sge = session_sge(&from, 0, size);
	u64 t = ktime_get_ns();
	u32 posted = 0, left = count, i;

	while (left) {
		for (i = 0; i < BATCH && posted < count; i++, posted++)
			if (xv_wr_write(&a.qp, posted, XV_SEND_SIGNALED, &sge, to.addr, to.key))
				break;
		xv_commit_send(&a.qp);
		reap(&left);
	}
	return count * 1e9 / (ktime_get_ns() - t);
}

static struct {
	atomic_ulong ping __attribute__((aligned(128)));
	atomic_ulong pong __attribute__((aligned(128)));
} line;

static void *echo(void *arg)
{
	unsigned long i;

	for (i = 1; i <= ROUNDS; i++) {
		while (atomic_load_explicit(&line.ping, memory_order_acquire) != i)
			;
		atomic_store_explicit(&line.pong, i, memory_order_release);
	}
	return arg;
}

static double cache_line_round_trip(void)
{
	pthread_t t;
	unsigned long i;
	u64 start;

	must(!pthread_create(&t, NULL, echo, NULL), "pthread_create");
	start = ktime_get_ns();
	for (i = 1; i <= ROUNDS; i++) {
		atomic_store_explicit(&line.ping, i, memory_order_release);
		while (atomic_load_explicit(&line.pong, memory_order_acquire) != i)
			;
	}
	pthread_join(t, NULL);
	return (double)(ktime_get_ns() - start) / ROUNDS;
}

static double memcpy_rate(void)
{
	u64 t = ktime_get_ns();
	u32 i;

	for (i = 0; i < BIG_MESSAGES; i++) {
		memcpy(to.ptr, from.ptr, BIG);
		__asm__ volatile("" ::: "memory");
	}
	return (double)BIG * BIG_MESSAGES / (ktime_get_ns() - t);
}

int main(void)
{
	pthread_t t;
	double line_ns, copy, latency, rate, big;

	session_init(&s);
	from = session_mr(&s, 0, BIG, ALL);
	to = session_mr(&s, 1, BIG, ALL);
	session_qp(&s, 0, MLX5_QP_ST_RC, 8, 4, &a);
	session_qp(&s, 1, MLX5_QP_ST_RC, 8, 4, &b);
	session_connect(&a, &b);

	line_ns = cache_line_round_trip();
	copy = memcpy_rate();
	must(!pthread_create(&t, NULL, engine, NULL), "pthread_create");
	latency = write_latency();
	rate = messages_per_second(64, MESSAGES);
	big = messages_per_second(BIG, BIG_MESSAGES);
	atomic_store(&stop, true);
	pthread_join(t, NULL);

	printf("{ \"cache_line_round_trip_ns\": %.0f, \"memcpy_GBps\": %.2f,\n"
	       "  \"write_8B_ns\": %.0f, \"write_64B_messages_per_s\": %.0f,\n"
	       "  \"write_64KiB_GBps\": %.2f }\n",
	       line_ns, copy, latency, rate, big * BIG / 1e9);
	session_free(&s);
	return 0;
}
