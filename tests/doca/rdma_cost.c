// SPDX-License-Identifier: GPL-2.0
/*
 * The instructions of a write task with its completion, compared with xv_wr_write() and polling of
 * libxverbs, and those of progress() without work.  The parent single-steps the child from mark to
 * mark.
 */
#include <unistd.h>
#include <xverbs/xverbs.h>
#include "../../userlib/examples/common.h"
#undef UNUSED
#include "rdma.h"
#include "singlestep.h"

enum { ROUNDS = 8, WARM = 4, LEN = 64 };

/* What is measured: post, wait until the adapter has worked, poll */
struct measured {
	void (*open)(void);
	void (*post)(void);
	void (*poll)(void);
};

/* ---- libxverbs --------------------------------------------------------------------------- */

static struct {
	struct xv_context *ctx;
	struct xv_pd *pd;
	struct xv_cq *cq;
	struct xv_qp *qp[2];
	struct xv_mr *mr;
	char mem[2 * LEN];
} x;

static void xv_open_all(void)
{
	struct xv_cq_init_attr cq_attr = { .cqe = 16, .flags = XV_CQ_SINGLE_THREADED };
	int i;

	CHECK((x.ctx = xv_open(NULL)));
	CHECK((x.pd = xv_alloc_pd(x.ctx)));
	CHECK((x.mr = xv_reg_mr(x.pd, x.mem, sizeof(x.mem),
				XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE)));
	CHECK((x.cq = xv_create_cq(x.ctx, &cq_attr)));
	for (i = 0; i < 2; i++) {
		struct xv_qp_init_attr attr = {
			.send_cq = x.cq, .recv_cq = x.cq, .qp_type = XV_QPT_RC,
			.cap = { .max_send_wr = 16, .max_send_sge = 4 },
			.flags = XV_QP_SINGLE_THREADED,
		};

		CHECK((x.qp[i] = xv_create_qp(x.pd, &attr)));
	}
	connect_both(x.ctx, x.qp[0], x.qp[1]);
}

static void xv_post(void)
{
	struct xv_sge sge = { (uintptr_t)x.mem, LEN, x.mr->lkey };

	CHECK(!xv_wr_write(x.qp[0], 1, XV_SEND_SIGNALED, &sge, (uintptr_t)x.mem + LEN,
			   x.mr->rkey));
	xv_commit_send(x.qp[0]);
}

static void xv_poll(void)
{
	struct xv_wc wc;

	while (!xv_poll_cq(x.cq, 1, &wc))
		;
}

/* ---- Tasks ------------------------------------------------------------------------------- */

static struct side a, b;
static struct doca_task *task;
static struct doca_buf *dst;
static struct done done;

/* The callback belongs to the program, so it is short. */
static void count(struct doca_rdma_task_write *write, union doca_data data,
		  union doca_data ctx_data)
{
	struct done *d = data.ptr;

	(void)write;
	(void)ctx_data;
	d->completed++;
}

static void doca_open_all(void)
{
	struct doca_rdma_task_write *write;

	open_side(&a, 0, 0);
	MUST(doca_rdma_task_write_set_conf(a.rdma, count, count, 1));
	open_side(&b, 0, DOCA_ACCESS_FLAG_RDMA_WRITE);
	start_both(&a, &b);
	connect_sides(&a, &b);
	import_memory(&a, &b);
	dst = peer_space_at(&a, 0, LEN);
	MUST(doca_rdma_task_write_allocate_init(a.rdma, a.conn, data_at(&a, 0, LEN), dst,
						pointer(&done), &write));
	task = doca_rdma_task_write_as_task(write);
}

static void doca_post(void)
{
	MUST(doca_task_submit(task));
}

static void doca_poll(void)
{
	while (!doca_pe_progress(a.pe))
		;
	MUST(doca_buf_reset_data_len(dst));
}

static void nothing(void)
{
}

/* Polls an idle context. */
static void idle_poll(void)
{
	doca_pe_progress(a.pe);
}

/* The call of doca_buf_reset_data_len() in doca_poll() does not belong to the task. */
static void reset_only(void)
{
	MUST(doca_buf_reset_data_len(dst));
}

/* ---- Counting ---------------------------------------------------------------------------- */

static void child(const struct measured *m)
{
	int round;

	m->open();
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	for (round = -WARM; round < ROUNDS; round++) {
		if (round >= 0)
			MARK();
		m->post();
		if (round >= 0)
			MARK();
		usleep(20000);
		if (round >= 0)
			MARK();
		m->poll();
		if (round >= 0)
			MARK();
	}
	_exit(0);
}

static void measure(const struct measured *m, long *post, long *poll)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		child(m);
	if (!steps_measure(pid, ROUNDS, post, poll))
		bail_out("the measured process ended");
}

int main(void)
{
	static const struct measured verbs = { xv_open_all, xv_post, xv_poll };
	static const struct measured tasks = { doca_open_all, doca_post, doca_poll };
	static const struct measured idle = { doca_open_all, reset_only, idle_poll };
	long post[3], poll[3], empty, unused;
	static const struct measured none = { doca_open_all, nothing, nothing };
	double ratio;

	measure(&verbs, &post[0], &poll[0]);
	measure(&tasks, &post[1], &poll[1]);
	measure(&idle, &post[2], &poll[2]);
	measure(&none, &empty, &unused);
	ratio = (double)(post[1] + poll[1] - post[2]) / (double)(post[0] + poll[0]);
	/* tests/bench/run shows these. */
	diag("bench libxverbs.post.instructions %ld n", post[0]);
	diag("bench libxverbs.poll.instructions %ld n", poll[0]);
	diag("bench write_task.submit.instructions %ld n", post[1]);
	diag("bench write_task.progress.instructions %ld n", poll[1] - post[2]);
	diag("bench write_task/libxverbs.instructions %.2f ratio", ratio);
	diag("bench progress_idle.instructions %ld n", poll[2] - empty);
	ok(ratio <= 2.7, "a write task costs %.2f times the instructions of libxverbs", ratio);
	ok(poll[2] - empty <= 80, "progress() without work: %ld instructions", poll[2] - empty);
	return tap_done();
}
