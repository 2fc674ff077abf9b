// SPDX-License-Identifier: GPL-2.0
/*
 * How much time of the processors the software adapter takes:
 *
 * - a request that waits for data that nobody writes, and a message without a receive request,
 *   are retried for ever: the CPUs are nearly idle
 * - a process that has slept posts a request, and polls: the adapter finds it soon
 *
 * tests/bench/share.c measures the share that other programs keep.
 */
#include <unistd.h>
#include "chain.h"

enum { LATENCIES = 200, SLEEP_US = 10000 };

static const double span = 2;		/* seconds of a measurement */

/* ---- Retries ------------------------------------------------------------------------------- */

/* The part of the time in which the CPUs were not idle */
static double busy(void)
{
	unsigned long long t[2][8] = {}, all = 0, idle;
	FILE *f;
	int i, j;

	for (i = 0; i < 2; i++) {
		f = fopen("/proc/stat", "r");
		if (!f || fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[i][0],
				 &t[i][1], &t[i][2], &t[i][3], &t[i][4], &t[i][5], &t[i][6],
				 &t[i][7]) != 8)
			bail_out("/proc/stat: %s", strerror(errno));
		fclose(f);
		if (!i)
			usleep(span * 1e6);
	}
	for (j = 0; j < 8; j++)
		all += t[1][j] - t[0][j];
	idle = t[1][3] - t[0][3] + t[1][4] - t[0][4];
	return 1 - (double)idle / all;
}

static void expect_idle(double before, const char *what)
{
	double now;

	/* At first a retry comes soon. */
	sleep(1);
	now = busy();
	ok(now < before + 0.1, "%s: the processors are nearly idle", what);
	diag("busy %.3f, before %.3f", now, before);
}

static void test_retries(void)
{
	struct xv_sge sge = rig_sge(&r, 0, 0, 8);
	struct xv_wait_data d = {
		.condition = XV_WAIT_EQUAL, .addr = rig_addr(&r, 0, 0), .lkey = r.mr[0]->lkey,
		.value = 1, .mask = ~0ull,
	};
	struct link w, l;
	double before;
	int i;

	/* The driver may still prepare memory keys. */
	for (i = 0; (before = busy()) > 0.1 && i < 20; i++)
		;
	l = link_up(4, 0, 0);
	xv_wr_send(l.qp, 1, XV_SEND_SIGNALED, &sge);
	xv_commit_send(l.qp);
	expect_idle(before, "a message without a receive request is retried");
	link_down(&l);
	if (!has_feature("wait-on-data")) {
		diag("no wait-on-data");
		return;
	}
	w = link_up(4, XV_QP_CROSS_CHANNEL, 0);
	xv_wr_wait_data(w.qp, 1, XV_SEND_SIGNALED, &d);
	xv_commit_send(w.qp);
	expect_idle(before, "a request waits for data");
	link_down(&w);
}

/* ---- Latency -------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	double d = *(const double *)a - *(const double *)b;

	return d < 0 ? -1 : d > 0;
}

static void test_latency(void)
{
	static double t[LATENCIES];
	struct xv_sge sge = rig_sge(&r, 0, 0, 8);
	struct xv_wc wc;
	double start;
	int i;

	for (i = 0; i < LATENCIES; i++) {
		usleep(SLEEP_US);
		start = xt_now();
		xv_wr_write(r.qp[0], 0, XV_SEND_SIGNALED, &sge, rig_addr(&r, 1, 0),
			    r.mr[1]->rkey);
		xv_commit_send(r.qp[0]);
		while (!xv_poll_cq(r.cq[0], 1, &wc) && xt_now() < start + 1)
			;
		t[i] = xt_now() - start;
	}
	qsort(t, LATENCIES, sizeof(*t), by_value);
	ok(t[LATENCIES / 2] < 0.005, "a request after a pause is found soon");
	diag("median %.0f us, 9 of 10 below %.0f us", 1e6 * t[LATENCIES / 2],
	     1e6 * t[LATENCIES * 9 / 10]);
}

int main(int argc, char **argv)
{
	struct rig_opts opts = { .size = 4096 };

	rig_devices(argc, argv);
	rig_open(&r, &opts);
	test_latency();
	test_retries();
	return tap_done();
}
