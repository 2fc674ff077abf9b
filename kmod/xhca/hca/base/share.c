// SPDX-License-Identifier: GPL-2.0
/*
 * Shares of the time: first of the functions, then of the owners of a function, that is of its
 * processes, then of the queue pairs of an owner.  A process has one share, however many doorbell
 * pages it has.  The driver may allocate a page without a user context; it has a share of its own.
 *
 * This is start-time fair queueing: each share counts the units that it has used.  A share
 * that gets work begins with at least the count of the share that ran last, so idle time
 * gives no credit.  Next is the share whose count would be the smallest after a turn as long
 * as its last one.  So a request of a process with short turns waits for one turn in general,
 * however many others are busy.
 */
#include <linux/minmax.h>
#include "base/share.h"

static void hca_share_queue(struct hca_shares *of, struct hca_share *s)
{
	hca_heap_set(&of->queue, &s->place, s->used + s->last);
}

void hca_share_ready(struct hca_shares *of, struct hca_share *s)
{
	if (hca_heap_has(&s->place))
		return;
	s->used = max(s->used, of->used);
	hca_share_queue(of, s);
}

static void hca_share_charge(struct hca_shares *of, struct hca_share *s, u64 units, bool work)
{
	of->used = max(of->used, s->used);
	s->used += units;
	s->last = min_t(u64, units, HCA_TURN_UNITS);
	if (work)
		hca_share_queue(of, s);
	else
		hca_heap_clear(&of->queue, &s->place);
}

void hca_share_add(struct hca_qp *qp)
{
	struct hca_owner *owner;
	struct hca *hca = qp->hca;

	if (qp->share)
		return;
	owner = qp->record.uar ? qp->record.uar->owner : &hca->no_page;
	qp->share = owner;
	hca_fifo_add(&owner->qps, &qp->run_entry);
	hca_share_ready(&hca->owners, &owner->share);
	hca_share_ready(&hca->fabric->run, &hca->share);
}

void hca_share_del(struct hca_qp *qp)
{
	struct hca_owner *owner = qp->share;
	struct hca *hca = qp->hca;

	if (!owner)
		return;
	hca_fifo_del(&owner->qps, &qp->run_entry);
	qp->share = NULL;
	if (hca_fifo_empty(&owner->qps))
		hca_heap_clear(&hca->owners.queue, &owner->share.place);
	if (!hca_share_has_work(hca))
		hca_heap_clear(&hca->fabric->run.queue, &hca->share.place);
}

void hca_share_used(struct hca *hca, struct hca_owner *owner, u64 units)
{
	hca_share_charge(&hca->owners, &owner->share, units, !hca_fifo_empty(&owner->qps));
	hca_share_charge(&hca->fabric->run, &hca->share, units, hca_share_has_work(hca));
}

static struct hca_share *hca_share_first(const struct hca_shares *of)
{
	struct hca_heap_entry *place = hca_heap_first(&of->queue);

	return place ? container_of(place, struct hca_share, place) : NULL;
}

/* A function whose DMA is off does not take part until it is on again. */
static struct hca *hca_share_function(struct hca_fabric *f)
{
	struct hca_share *s;
	struct hca *hca;

	while ((s = hca_share_first(&f->run))) {
		hca = container_of(s, struct hca, share);
		if (!hca_halted(hca))
			return hca;
		hca_heap_clear(&f->run.queue, &s->place);
	}
	return NULL;
}

struct hca_qp *hca_share_first_qp(struct hca_fabric *f)
{
	struct hca *hca = hca_share_function(f);
	struct hca_owner *owner;

	if (!hca)
		return NULL;
	owner = container_of(hca_share_first(&hca->owners), struct hca_owner, share);
	return hca_share_first_of(owner);
}
