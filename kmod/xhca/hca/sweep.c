// SPDX-License-Identifier: GPL-2.0
/*
 * Reads doorbell records: host memory where software writes what it has posted or armed.
 *
 * Records are cached, doorbell registers are not.  So records that changed recently are active:
 * every pass reads some of them.
 *
 * Two doorbells written to one register overwrite each other.  So every doorbell also starts
 * a sweep, which reads all records of its page.  A page with a sweep reads one record for
 * SWEEP_STEPS steps of work, and all such pages together at most one for each step; a step is
 * a pass or HCA_REQUEST_UNITS of work.  Without work the sweep is faster.  So the record of a
 * doorbell that was overwritten is read after at most
 *
 *	records of its page * max(SWEEP_STEPS, number of pages with a sweep)
 *
 * steps, whatever others write to their pages.
 */
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/prefetch.h>
#include <asm/byteorder.h>
#include "pass.h"

enum {
	ACTIVE_PAGES	= 8,		/* pages whose active records are read in a pass */
	ACTIVE_MISSES	= 4,		/* unchanged records that may be read in a pass and page */
	ACTIVE_LOOKS	= 20000,	/* reads without a change until a record is not active */
	SWEEP_STEPS	= 16,
	SWEEP_MAX	= 64,		/* limit for a pass: changed records, and unchanged ones */
	RUNG_LOOKS	= 64,		/* active records read while the engine sleeps */
};

static struct hca_qp *hca_sweep_qp(struct hca_record *r)
{
	return container_of(r, struct hca_qp, record);
}

static struct hca_cq *hca_sweep_cq(struct hca_record *r)
{
	return container_of(r, struct hca_cq, record);
}

static bool hca_sweep_read(struct hca_record *r)
{
	if (r->kind == HCA_RECORD_QP)
		return hca_qp_look(hca_sweep_qp(r));
	return hca_cq_read_record(hca_sweep_cq(r));
}

/* Has the record changed since it was read?  Unlike hca_sweep_read(), this takes over nothing. */
static bool hca_sweep_is_changed(struct hca_record *r)
{
	if (r->kind == HCA_RECORD_CQ)
		return hca_cq_has_request(hca_sweep_cq(r));
	return hca_qp_is_posted(hca_sweep_qp(r));
}

/* ---- Active records -------------------------------------------------------------- */

static unsigned int hca_sweep_read_active(struct hca_uar *uar)
{
	int n = uar->active.n, left = ACTIVE_MISSES;
	unsigned int found = 0;
	struct hca_record *r;

	for (; n && left; n--) {
		r = hca_round_first_entry(&uar->active, struct hca_record, active_entry);
		if (!r)
			break;
		hca_round_pass(&uar->active);
		if (hca_sweep_read(r)) {
			found++;
			continue;
		}
		left--;
		if (++r->misses > ACTIVE_LOOKS)
			hca_record_inactive(r);
	}
	return found;
}

/* ---- Sweeps ------------------------------------------------------------------------ */

void hca_sweep(struct hca_uar *uar, enum hca_record_kind kind)
{
	struct hca_fabric *f = uar->hca->fabric;

	uar->records[kind].sweep = uar->records[kind].all.n;
	if (list_empty(&uar->sweep_entry) && uar->records[kind].all.n)
		hca_round_add(&f->sweep.uars, &uar->sweep_entry);
}

void hca_sweep_restart(struct hca_uar *uar)
{
	uar->sweep_stopped = false;
	hca_sweep(uar, HCA_RECORD_QP);
	hca_sweep(uar, HCA_RECORD_CQ);
}

/*
 * Queues that a sweep reads are seldom in a cache.  While one is read, the record of the next
 * queue is prefetched, and the structure of the queue after it.
 */
static void hca_sweep_prefetch(struct hca_records *all)
{
	struct hca_record *next, *after;

	next = hca_round_first_entry(&all->all, struct hca_record, entry);
	after = list_next_entry(next, entry);
	if (next->kind == HCA_RECORD_QP) {
		prefetch(hca_sweep_qp(next)->dbr);
		prefetch(&hca_sweep_qp(after)->record);
		prefetch(&hca_sweep_qp(after)->sq.pi);
	} else {
		prefetch(hca_sweep_cq(next)->dbr);
		prefetch(&hca_sweep_cq(after)->record);
		prefetch(&hca_sweep_cq(after)->dbr);
	}
}

/* Reads records of one page until one is unchanged.  Returns the number of changed ones. */
static unsigned int hca_sweep_page(struct hca_uar *uar, enum hca_record_kind kind)
{
	struct hca_records *all = &uar->records[kind];
	unsigned int found = 0;
	struct hca_record *r;
	bool changed = true;

	all->sweep = min(all->sweep, all->all.n);
	for (; changed && all->sweep && found < SWEEP_MAX; all->sweep--) {
		r = hca_round_first_entry(&all->all, struct hca_record, entry);
		hca_round_pass(&all->all);
		hca_sweep_prefetch(all);
		changed = hca_sweep_read(r);
		found += changed;
	}
	return found;
}

static u32 hca_sweep_misses_allowed(struct hca_fabric *f, u32 steps)
{
	u32 pages = min_t(u32, f->sweep.uars.n, SWEEP_STEPS), n;

	if (hca_is_idle(f))
		return min_t(u32, f->sweep.uars.n * SWEEP_STEPS, SWEEP_MAX);
	f->sweep.credit = min_t(u32, f->sweep.credit + steps * pages, SWEEP_MAX * SWEEP_STEPS);
	n = f->sweep.credit / SWEEP_STEPS;
	f->sweep.credit %= SWEEP_STEPS;
	return n;
}

/* A page whose sweep found a changed record continues in the next pass. */
static unsigned int hca_sweep_pages(struct hca_fabric *f, u32 steps)
{
	u32 left = hca_sweep_misses_allowed(f, steps);
	unsigned int found, total = 0;
	struct hca_uar *uar;

	for (left = max(left, f->sweep.finds); left && total < SWEEP_MAX; left--) {
		uar = hca_round_first_entry(&f->sweep.uars, struct hca_uar, sweep_entry);
		if (!uar)
			break;
		if (hca_halted(uar->hca)) {
			uar->sweep_stopped = true;
			hca_uar_stop_sweep(uar);
			continue;
		}
		found = hca_sweep_page(uar, HCA_RECORD_QP) + hca_sweep_page(uar, HCA_RECORD_CQ);
		total += found;
		if (!uar->records[HCA_RECORD_QP].sweep && !uar->records[HCA_RECORD_CQ].sweep)
			hca_uar_stop_sweep(uar);
		else if (!found)
			hca_round_pass(&f->sweep.uars);
	}
	f->sweep.finds = total ? 1 : 0;
	return total;
}

unsigned int hca_sweep_poll(struct hca_fabric *f, u32 steps)
{
	u32 n = min_t(u32, f->sweep.active.n, ACTIVE_PAGES);
	unsigned int found = 0;
	struct hca_uar *uar;

	for (; n; n--) {
		uar = hca_round_first_entry(&f->sweep.active, struct hca_uar, active_uar_entry);
		if (!uar)
			break;
		hca_round_pass(&f->sweep.active);
		if (!hca_halted(uar->hca))
			found += hca_sweep_read_active(uar);
	}
	if (f->sweep.uars.n)
		found += hca_sweep_pages(f, steps);
	return found;
}

bool hca_sweep_rung(struct hca_fabric *f)
{
	struct hca_record *r;
	struct hca_uar *uar;
	int n = 0;

	list_for_each_entry(uar, &f->sweep.active.list, active_uar_entry) {
		list_for_each_entry(r, &uar->active.list, active_entry)
			if (!hca_halted(uar->hca) && hca_sweep_is_changed(r))
				return true;
		n += uar->active.n;
		if (n >= RUNG_LOOKS)
			break;
	}
	return false;
}
