// SPDX-License-Identifier: GPL-2.0
/*
 * Do two fabrics disturb each other?  Two threads of a process, each with a fabric of its own, do
 * what two processes with one fabric each do.  Both run in turns, on the same CPUs, and the median
 * of the ratios counts.  A turn has a certain CPU time, so that other load of the host matters
 * little.
 *
 * Prints a line: bench NAME VALUE UNIT
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/ktime.h>
#include "hca_build.c"
#include "session.h"

#define TURNS		31
#define TURN_NS		20000000u
#define BATCH		64u		/* writes between two looks at the clock */
#define BYTES		64u

static struct load {
	struct session s;
	struct session_qp from, to;
	struct session_mr source, target;
} loads[2];

/* Processes share it. */
struct turn {
	atomic_uint started;
	atomic_ulong writes;
};

static struct turn *turn;

static void must(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "bench_fabrics: %s\n", what);
		exit(1);
	}
}

static void make(struct load *l)
{
	session_init(&l->s);
	l->source = session_mr(&l->s, 0, BYTES, ALL_ACCESS);
	l->target = session_mr(&l->s, 1, BYTES, ALL_ACCESS);
	session_qp(&l->s, 0, MLX5_QP_ST_RC, 6, 1, &l->from);
	session_qp(&l->s, 1, MLX5_QP_ST_RC, 1, 1, &l->to);
	session_connect(&l->from, &l->to);
}

static void write_once(struct load *l)
{
	struct xv_sge sge = session_sge(&l->source, 0, BYTES);
	struct xv_wc wc;

	must(!xv_wr_write(&l->from.qp, 0, XV_SEND_SIGNALED, &sge, l->target.addr, l->target.key),
	     "no room for a write");
	xv_commit_send(&l->from.qp);
	while (xv_poll_cq(&l->from.cq, 1, &wc) != 1)
		hca_fabric_poll(&l->s.fabric);
	must(wc.status == XV_WC_SUCCESS, "a write failed");
}

static u64 cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

static void write_batch(struct load *l)
{
	u32 i;

	for (i = 0; i < BATCH; i++)
		write_once(l);
}

/* Begins when the other one does.  A new process first gets its own copy of the memory. */
static void *work(void *load)
{
	unsigned long writes = 0;
	cpu_set_t cpu;
	u64 end;

	CPU_ZERO(&cpu);
	CPU_SET((struct load *)load - loads, &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	write_batch(load);
	atomic_fetch_add(&turn->started, 1);
	while (atomic_load(&turn->started) < 2)
		;
	for (end = cpu_time() + TURN_NS; cpu_time() < end; writes += BATCH)
		write_batch(load);
	atomic_fetch_add(&turn->writes, writes);
	return NULL;
}

static void begin(void)
{
	atomic_store(&turn->started, 0);
	atomic_store(&turn->writes, 0);
}

static double in_threads(void)
{
	pthread_t t[2];
	int i;

	begin();
	for (i = 0; i < 2; i++)
		must(!pthread_create(&t[i], NULL, work, &loads[i]), "pthread_create");
	for (i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return atomic_load(&turn->writes);
}

static double in_processes(void)
{
	int i, status;

	begin();
	for (i = 0; i < 2; i++) {
		pid_t child = fork();

		must(child >= 0, "fork");
		if (!child) {
			work(&loads[i]);
			_exit(0);
		}
	}
	for (i = 0; i < 2; i++)
		must(wait(&status) > 0 && !status, "a process failed");
	return atomic_load(&turn->writes);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(void)
{
	double ratio[TURNS];
	int i;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		fprintf(stderr, "bench_fabrics: two fabrics need two CPUs\n");
		return 0;
	}
	shim_step = 0;
	turn = mmap(NULL, sizeof(*turn), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		    0);
	must(turn != MAP_FAILED, "mmap");
	for (i = 0; i < 2; i++)
		make(&loads[i]);
	for (i = 0; i < TURNS; i++)
		ratio[i] = in_threads() / in_processes();
	qsort(ratio, TURNS, sizeof(*ratio), compare);
	printf("bench native.two_fabrics/two_processes %.3f ratio\n", ratio[TURNS / 2]);
	for (i = 0; i < 2; i++)
		session_free(&loads[i].s);
	return 0;
}
