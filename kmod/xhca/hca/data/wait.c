// SPDX-License-Identifier: GPL-2.0
/*
 * Queues that wait for an entry of a CQ.
 *
 * A CQ has its waiting queues in a heap, ordered by the producer index that they wait for.
 * So an entry costs one comparison, and no queue is visited before its time.  It is a leftist
 * heap: adding and removing a queue takes O(log n) steps and no memory, and two heaps are
 * merged as fast.
 *
 * Many queues may wait for the same entry, so only some of them wake up at once, and the
 * others in the next passes.  If a CQ is destroyed or has overrun, its queues move to the
 * heap of detached, and each pass queues some of these for failure: their requests are flushed.
 */
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include "data/data.h"

enum {
	WAKE_QPS	= 8,	/* of a CQ, at once */
	WAKE_CQS	= 8,	/* in a pass */
	PASS_ORPHANS	= 8,
};

/* ---- The heap ---------------------------------------------------------------------- */

/* Length of the path to the right; on the left it is at least as long. */
static u32 hca_wait_rank(const struct hca_waiter *w)
{
	return w ? w->rank : 0;
}

static void hca_wait_set_child(struct hca_waiter *w, int side, struct hca_waiter *child)
{
	w->child[side] = child;
	if (child)
		child->parent = w;
}

/* Restores the order of ranks from @w upwards. */
static void hca_wait_repair(struct hca_waiter *w)
{
	u32 rank;

	for (; w; w = w->parent) {
		if (hca_wait_rank(w->child[0]) < hca_wait_rank(w->child[1]))
			swap(w->child[0], w->child[1]);
		rank = hca_wait_rank(w->child[1]) + 1;
		if (rank == w->rank)
			return;
		w->rank = rank;
	}
}

/* Merges along the right sides, the earlier queue first.  The result has no parent. */
static struct hca_waiter *hca_wait_merge(struct hca_waiter *a, struct hca_waiter *b)
{
	struct hca_waiter *root = NULL, *last = NULL;

	while (a && b) {
		if ((s32)(b->pi - a->pi) < 0)
			swap(a, b);
		a->parent = last;
		if (last)
			last->child[1] = a;
		else
			root = a;
		/* Ranks of the path are set below. */
		a->rank = 0;
		last = a;
		a = a->child[1];
	}
	if (!a)
		a = b;
	if (!last) {
		if (a)
			a->parent = NULL;
		return a;
	}
	hca_wait_set_child(last, 1, a);
	hca_wait_repair(last);
	return root;
}

/* What is below @w, as one heap */
static struct hca_waiter *hca_wait_below(const struct hca_waiter *w)
{
	return w->child[1] ? hca_wait_merge(w->child[0], w->child[1]) : w->child[0];
}

static void hca_wait_take_first(struct hca_waiter **first)
{
	struct hca_waiter *rest = hca_wait_below(*first);

	*first = rest;
	if (rest)
		rest->parent = NULL;
}

static void hca_wait_remove(struct hca_waiter **first, struct hca_waiter *w)
{
	struct hca_waiter *parent = w->parent;

	if (!parent) {
		hca_wait_take_first(first);
		return;
	}
	hca_wait_set_child(parent, parent->child[1] == w, hca_wait_below(w));
	hca_wait_repair(parent);
}

/* ---- Queues ------------------------------------------------------------------------ */

void hca_wait_begin(struct hca_qp *qp, const struct hca_wqe_wait *w, struct hca_cq *cq, u32 pi)
{
	struct hca_waiter *waiter = &qp->waiter;

	waiter->parent = waiter->child[0] = waiter->child[1] = NULL;
	waiter->cq = cq;
	waiter->pi = pi;
	waiter->rank = 1;
	waiter->nbb = w->nbb;
	waiter->signalled = w->signalled;
	qp->waiting = true;
	cq->waiters = cq->waiters ? hca_wait_merge(cq->waiters, waiter) : waiter;
}

void hca_wait_end(struct hca_qp *qp)
{
	struct hca_fabric *f = qp->hca->fabric;
	struct hca_waiter *w = &qp->waiter;

	if (!qp->waiting)
		return;
	/* The CQ of a detached queue may not exist any more. */
	hca_wait_remove(w->parent || w == f->wait.detached ? &f->wait.detached : &w->cq->waiters,
			w);
	qp->waiting = false;
}

static struct hca_qp *hca_wait_qp(struct hca_waiter *w)
{
	return container_of(w, struct hca_qp, waiter);
}

void hca_wait_wake(struct hca_cq *cq)
{
	struct hca_fabric *f = cq->hca->fabric;
	struct hca_qp *qp;
	int n;

	for (n = 0; n < WAKE_QPS && hca_wait_due(cq); n++) {
		qp = hca_wait_qp(cq->waiters);
		hca_wait_take_first(&cq->waiters);
		qp->waiting = false;
		qp->wait_over = true;
		hca_share_add(qp);
	}
	f->turn.woken = true;
	hca_charge(f, HCA_ENTRIES, n);
	if (list_empty(&cq->wake_entry) != hca_wait_due(cq))
		return;
	if (hca_wait_due(cq))
		list_add_tail(&cq->wake_entry, &f->wait.waking);
	else
		list_del_init(&cq->wake_entry);
}

void hca_wait_abandon(struct hca_cq *cq)
{
	struct hca_fabric *f = cq->hca->fabric;

	list_del_init(&cq->wake_entry);
	f->wait.detached = hca_wait_merge(f->wait.detached, cq->waiters);
	cq->waiters = NULL;
}

/* Flushing writes completions.  Without DMA the WAIT runs later, and then finds no CQ. */
static void hca_wait_fail(struct hca_qp *qp)
{
	if (hca_halted(qp->hca))
		hca_share_add(qp);
	else if (qp->st == MLX5_QP_ST_UC)
		hca_fail_sq(qp);
	else
		hca_fail_qp(qp);
}

unsigned int hca_wait_run(struct hca_fabric *f)
{
	unsigned int n, detached;
	struct hca_cq *cq;
	struct hca_qp *qp;

	for (n = 0; n < WAKE_CQS && !list_empty(&f->wait.waking); n++) {
		cq = list_first_entry(&f->wait.waking, struct hca_cq, wake_entry);
		list_move_tail(&cq->wake_entry, &f->wait.waking);
		hca_wait_wake(cq);
	}
	for (detached = 0; detached < PASS_ORPHANS && f->wait.detached; detached++) {
		qp = hca_wait_qp(f->wait.detached);
		hca_wait_end(qp);
		hca_wait_fail(qp);
	}
	return n + detached;
}
