// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The data path: the sender writes slots, the receiver notes them and sends feedback.
 * The thread cannot make system calls, so it polls.
 */
#include <unistd.h>
#include "copy.h"

#define load(x)		__atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define store(x, v)	__atomic_store_n(&(x), v, __ATOMIC_RELEASE)

enum { MAX_TELLING = 2 };

bool pump_wait(const struct pump *p)
{
	usleep(50);
	return !load(p->over);
}

static void send_slots(struct pump *p, struct end *e)
{
	uint64_t filled = load(e->filled), start = e->posted;

	while (e->posted != filled) {
		uint32_t i = (uint32_t)(e->posted % e->geo.slots);
		uint64_t at = (uint64_t)i * e->geo.slot_size;
		struct xv_sge sge = { (uintptr_t)e->slots + at, e->length[i], e->mr->lkey };

		if (xv_wr_write_imm(e->qp, 0, XV_SEND_SIGNALED, &sge, e->remote_slots + at,
				    e->rkey, xv_be32(i)))
			break;
		e->posted++;
	}
	if (e->posted == start)
		return;
	xv_commit_send(e->qp);
	p->operations += e->posted - start;
}

static void tell(struct pump *p, struct end *e)
{
	uint64_t consumed = load(e->consumed);
	struct feedback f = { consumed, e->writer_done, e->mismatches, e->errors };

	if (consumed == e->told || e->telling >= MAX_TELLING)
		return;
	if (xv_wr_write_inline(e->qp, 0, XV_SEND_SIGNALED, &f, sizeof(f), e->remote_feedback,
			       e->rkey))
		return;
	xv_commit_send(e->qp);
	e->told = consumed;
	e->telling++;
	p->operations++;
}

static void arrived(struct end *e, const struct xv_wc *wc)
{
	e->length[e->filled % e->geo.slots] = wc->byte_len;
	store(e->filled, e->filled + 1);
	xv_wr_recv_sg(e->qp, 0, NULL, 0);
	xv_commit_recv(e->qp);
}

/* Handles the completions of an end; returns false if one is an error. */
static bool reap(struct pump *p, struct end *e)
{
	struct xv_wc wc[PUMP_POLL];
	int n = xv_poll_cq(e->cq, PUMP_POLL, wc), i;

	p->polls += (uint64_t)n;
	for (i = 0; i < n; i++) {
		if (wc[i].status) {
			p->failed = wc[i].status;
			return false;
		}
		if (wc[i].opcode == XV_WC_RECV_RDMA_WITH_IMM)
			arrived(e, &wc[i]);
		else if (e->telling)
			e->telling--;
		else
			store(e->completed, e->completed + 1);
	}
	return true;
}

static bool pump_sender(struct pump *p, struct end *e)
{
	send_slots(p, e);
	if (!reap(p, e))
		return false;
	e->over = e->feedback->finished && e->completed == e->posted;
	return true;
}

static bool pump_receiver(struct pump *p, struct end *e)
{
	bool last = load(e->writer_done);

	if (!reap(p, e))
		return false;
	tell(p, e);
	e->over = last && e->told == e->consumed && !e->telling;
	return true;
}

void pump_run(void *arg)
{
	struct pump *p = arg;

	while (!load(p->stop)) {
		if (p->sender && !p->sender->over && !pump_sender(p, p->sender))
			break;
		if (p->receiver && !p->receiver->over && !pump_receiver(p, p->receiver))
			break;
		if ((!p->sender || p->sender->over) && (!p->receiver || p->receiver->over))
			break;
		xv_cpu_relax();
	}
	store(p->over, 1);
}
