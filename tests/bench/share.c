// SPDX-License-Identifier: GPL-2.0
/*
 * usage: share NAME DEVICE PEER-DEVICE
 *
 * One process computes.  Another one keeps a queue full of long writes, and sleeps.  The share is
 * the speed of the first process divided by its speed without the second one.  Both speeds are
 * measured in turns, because the host pauses this VM more often at some times than at others.  The
 * median of the quotients is printed.
 *
 * Prints lines: bench NAME VALUE UNIT
 */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tool.h"

enum { TURNS = 7, DEPTH = 64, LONG = 1 << 20 };

static const double span = 0.7;		/* seconds of a measurement */

/* Returns how many rounds of a loop it executes in the span. */
static double compute(void)
{
	double end = xt_now() + span;
	volatile unsigned int x = 0;
	double n = 0;
	int i;

	for (; xt_now() < end; n++)
		for (i = 0; i < 1000; i++)
			x++;
	return n;
}

static struct xv_qp *make_qp(struct xt_side *s)
{
	struct xv_cq_init_attr cq_attr = { .cqe = DEPTH };
	struct xv_cq *cq = xv_create_cq(s->ctx, &cq_attr);
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = DEPTH, .max_send_sge = 1 },
	};
	struct xv_qp *qp = cq ? xv_create_qp(s->pd, &attr) : NULL;

	if (!qp)
		errx(1, "%s", xv_last_error());
	return qp;
}

/* Keeps the queue full, but takes little time itself. */
static void load(char **device)
{
	struct xt_side side[2];
	struct xv_mr *mr[2];
	struct xv_qp *qp[2];
	struct xv_sge sge;
	struct xv_wc wc;
	int i, n = DEPTH;

	for (i = 0; i < 2; i++) {
		if (xt_side_open(&side[i], device[i], 0, -1))
			errx(1, "%s: %s", device[i], xv_last_error());
		mr[i] = xt_mr_alloc(&side[i], LONG, XV_ACCESS_LOCAL_WRITE |
				    XV_ACCESS_REMOTE_WRITE);
		qp[i] = make_qp(&side[i]);
		if (!mr[i])
			errx(1, "%s", xv_last_error());
	}
	if (xt_connect_pair(qp[0], &side[0], qp[1], &side[1], NULL))
		errx(1, "%s", xv_last_error());
	sge = (struct xv_sge) { (uintptr_t)mr[0]->addr, LONG, mr[0]->lkey };
	for (;;) {
		for (i = 0; i < n; i++)
			xv_wr_write(qp[0], 0, XV_SEND_SIGNALED, &sge, (uintptr_t)mr[1]->addr,
				    mr[1]->rkey);
		xv_commit_send(qp[0]);
		usleep(1000);
		for (n = 0; xv_poll_cq(qp[0]->send_cq, 1, &wc); n++)
			if (wc.status)
				errx(1, "%s", xv_wc_status_str(wc.status));
	}
}

/* The process is stopped while it must do nothing; its requests end soon after. */
static double turn(pid_t pid)
{
	double alone, with;
	int status;

	usleep(300000);
	alone = compute();
	kill(pid, SIGCONT);
	usleep(300000);
	with = compute();
	kill(pid, SIGSTOP);
	if (waitpid(pid, &status, WNOHANG | WUNTRACED) == pid && !WIFSTOPPED(status))
		errx(1, "the other process has ended");
	return with / alone;
}

static int by_value(const void *a, const void *b)
{
	double d = *(const double *)a - *(const double *)b;

	return d < 0 ? -1 : d > 0;
}

int main(int argc, char **argv)
{
	double share[TURNS];
	pid_t pid;
	int i;

	if (argc != 4)
		errx(2, "usage: share NAME DEVICE PEER-DEVICE");
	pid = fork();
	if (!pid)
		load(argv + 2);
	usleep(500000);
	kill(pid, SIGSTOP);
	for (i = 0; i < TURNS; i++)
		share[i] = turn(pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	qsort(share, TURNS, sizeof(*share), by_value);
	printf("bench %s %.3f ratio\n", argv[1], share[TURNS / 2]);
	return 0;
}
