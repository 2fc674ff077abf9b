// SPDX-License-Identifier: GPL-2.0
/*
 * Two processes keep the adapter busy with long writes, one on a single doorbell page, the other on
 * eight.  The adapter gives the same share to each process, not to each page.
 *
 * The test counts requests of both processes in the same time; how long it is does not matter.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "rig.h"

enum { PAGES = 8, DEPTH = 32, LONG = 256 << 10, ENOUGH = 400 };

struct load {
	struct xt_side side;
	struct xv_cq *cq;
	struct xv_mr *mr;
	struct xv_qp *qp[PAGES];
};

/* Numbers of completed requests of both child processes, in memory that they share with us */
static volatile uint32_t *done;

static struct xv_qp *qp_on_own_page(struct load *l)
{
	struct xv_qp_init_attr attr = { .qp_type = XV_QPT_RC, .send_cq = l->cq, .recv_cq = l->cq,
		.cap = { .max_send_wr = DEPTH, .max_send_sge = 1 } };
	struct xt_peer self;
	struct xv_qp *qp;

	attr.external.uar = xv_alloc_uar(l->side.ctx, 0);
	qp = attr.external.uar ? xv_create_qp(l->side.pd, &attr) : NULL;
	if (!qp)
		bail_out("%s", xv_last_error());
	xt_peer_of(&l->side, qp, &self);
	if (xt_connect(qp, &l->side, &self, NULL))
		bail_out("%s", xv_last_error());
	return qp;
}

static void post(const struct load *l, uint32_t page)
{
	struct xv_sge sge = { (uintptr_t)l->mr->addr, LONG, l->mr->lkey };

	xv_wr_write(l->qp[page], page, XV_SEND_SIGNALED, &sge, (uintptr_t)l->mr->addr + LONG,
		    l->mr->rkey);
	xv_commit_send(l->qp[page]);
}

/* Keeps the queues full until it is killed. */
static void keep_busy(uint32_t pages, volatile uint32_t *count)
{
	struct xv_cq_init_attr attr = { .cqe = PAGES * DEPTH };
	struct load l = {};
	struct xv_wc wc;
	uint32_t i;

	if (xt_side_open(&l.side, rig_device(0), 1, -1))
		bail_out("%s", xv_last_error());
	l.cq = xv_create_cq(l.side.ctx, &attr);
	l.mr = xt_mr_alloc(&l.side, 2 * LONG, XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE);
	if (!l.cq || !l.mr)
		bail_out("%s", xv_last_error());
	for (i = 0; i < pages; i++)
		l.qp[i] = qp_on_own_page(&l);
	for (i = 0; i < pages * DEPTH; i++)
		post(&l, i % pages);
	for (;;) {
		while (xv_poll_cq(l.cq, 1, &wc) == 1) {
			if (wc.status)
				bail_out("completion: %s", xv_wc_status_str(wc.status));
			++*count;
			post(&l, (uint32_t)wc.wr_id);
		}
		usleep(500);
	}
}

static pid_t start(uint32_t pages, volatile uint32_t *count)
{
	pid_t pid = fork();

	if (!pid)
		keep_busy(pages, count);
	if (pid < 0)
		bail_out("fork: %s", strerror(errno));
	return pid;
}

static void stop(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		bail_out("a process ended by itself");
}

/* Waits until at least @n requests of both together are done. */
static void wait_for(uint32_t n)
{
	double end = xt_now() + 60;

	while (done[0] + done[1] < n && xt_now() < end)
		usleep(1000);
}

int main(int argc, char **argv)
{
	uint32_t n[2], i;
	pid_t pid[2];

	rig_devices(argc, argv);
	if (access("/sys/kernel/debug/xhca", R_OK)) {
		tap_skip("shares of two processes", "not the software adapter");
		return tap_done();
	}
	done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (done == MAP_FAILED)
		bail_out("mmap: %s", strerror(errno));
	pid[0] = start(1, &done[0]);
	pid[1] = start(PAGES, &done[1]);
	for (i = 0; i < 10000 && (!done[0] || !done[1]); i++)
		usleep(1000);
	ok(done[0] && done[1], "both processes have requests that are done");
	for (i = 0; i < 2; i++)
		n[i] = done[i];
	wait_for(n[0] + n[1] + ENOUGH);
	for (i = 0; i < 2; i++)
		n[i] = done[i] - n[i];
	diag("one page: %u requests, %d pages: %u", n[0], PAGES, n[1]);
	ok(n[0] + n[1] >= ENOUGH && 3 * n[0] > n[1],
	   "a process with %d pages does not get more than one with a single page", PAGES);
	stop(pid[0]);
	stop(pid[1]);
	return tap_done();
}
