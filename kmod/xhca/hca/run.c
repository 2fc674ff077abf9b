// SPDX-License-Identifier: GPL-2.0
/*
 * The scheduler: one pass reads commands and doorbells, then runs timers and queues.
 *
 * Functions, their processes and the queues of a process share the time (share.c).  A turn
 * can use more than its budget, because a step of work is not interrupted.
 */
#include <linux/list.h>
#include "data/wire.h"
#include "pass.h"

enum {
	PASS_WQES	= 64,	/* of all queues before doorbells are read again */
	CLOCK_PASSES	= 16,	/* a reading of the clock is used for this many passes */
	CLOCK_UNITS	= 8192,	/* or this much work, whichever ends first */
	COMMAND_PASSES	= 16,	/* passes with work between two checks for commands */
	TIMERS		= 64,	/* timers that may expire in a pass */
};

/* ---- Timers ------------------------------------------------------------------- */

/* A DCT has drained for too long, or a queue pair tries again: its turn tells whether in vain. */
static bool hca_run_qp_timer(struct hca_qp *qp)
{
	if (qp->st == MLX5_QP_ST_DCT) {
		hca_dct_timer(qp);
		return true;
	}
	hca_share_add(qp);
	return false;
}

/* True if there was work. */
static bool hca_run_timer(struct hca_timer *timer)
{
	switch (timer->owner) {
	case HCA_TIMER_CQ:
		return hca_cq_timer(container_of(timer, struct hca_cq, timer));
	case HCA_TIMER_WIRE:
		hca_wire_timer(timer);
		return false;
	case HCA_TIMER_ROOM:
		hca_wire_room_timer(timer);
		return false;
	case HCA_TIMER_RATE:
		hca_rate_timer(timer);
		return false;
	case HCA_TIMER_DC:
		hca_wire_dct_timer(timer);
		return false;
	default:
		return hca_run_qp_timer(container_of(timer, struct hca_qp, timer));
	}
}

static unsigned int hca_run_timers(struct hca_fabric *f)
{
	unsigned int n, progress = 0;
	struct hca_heap_entry *e;
	struct hca_timer *timer;

	for (n = 0; n < TIMERS && (e = hca_heap_first_until(&f->timers, f->now)); n++) {
		timer = container_of(e, struct hca_timer, entry);
		hca_timer_clear(f, timer);
		progress += hca_run_timer(timer);
	}
	return progress;
}

/* ---- Queues with work ----------------------------------------------------------- */

static bool hca_run_pass_continues(const struct hca_fabric *f, u64 wqes, u64 units)
{
	return f->stat.wqes - wqes < PASS_WQES && f->stat.units - units < HCA_TURN_UNITS;
}

static unsigned int hca_run_queues(struct hca_fabric *f)
{
	u64 wqes = f->stat.wqes, units = f->stat.units;
	unsigned int progress = 0;
	struct hca_qp *qp;

	while (hca_run_pass_continues(f, wqes, units) && (qp = hca_share_next(f)))
		progress += hca_turn_run(f, qp);
	return progress;
}

/* ---- The pass ---------------------------------------------------------------------- */

/*
 * Returns the function whose command doorbell is read in this pass, or NULL.  The register
 * is not cached, so it is read rarely while there is other work.  @due: a command is likely,
 * because drivers often send several in sequence.
 */
static struct hca *hca_run_command_turn(struct hca_fabric *f, bool due)
{
	struct hca *hca = list_first_entry_or_null(&f->functions.list, struct hca, entry);

	if (!hca || !(due || hca_is_idle(f) || !(f->stat.polls % COMMAND_PASSES)))
		return NULL;
	list_move_tail(&hca->entry, &f->functions.list);
	return hca;
}

static unsigned int hca_run_commands(struct hca_fabric *f, bool due)
{
	struct hca *hca = hca_run_command_turn(f, due || f->pass.commands || f->resets);

	if (!hca)
		return 0;
	f->pass.commands = hca_cmd_poll(hca);
	/* A command can take milliseconds. */
	if (f->pass.commands)
		hca_clock_read(f);
	return f->pass.commands;
}

/* In a pass that may not run commands: requests a pass that may. */
static void hca_run_find_commands(struct hca_fabric *f)
{
	struct hca *hca = hca_run_command_turn(f, false);

	if (!hca || !hca_cmd_waits(hca))
		return;
	f->pass.must_sleep = true;
	/* The next pass looks at this function first. */
	list_del(&hca->entry);
	list_add(&hca->entry, &f->functions.list);
}

static void hca_run_read_clock(struct hca_fabric *f)
{
	if (f->stat.polls++ % CLOCK_PASSES && !f->pass.idle && !f->timers.n &&
	    f->stat.units - f->clock.units < CLOCK_UNITS)
		return;
	hca_clock_read(f);
	hca_clock_run(f);
}

/* Raises the interrupts for the events of this pass. */
static void hca_run_interrupts(struct hca *hca)
{
	struct hca_eq *eq;
	bool behind = false;

	if (!hca->irq_pending || hca_halted(hca))
		return;
	list_for_each_entry(eq, &hca->eq_list, entry) {
		/* The handler may run at once, and another handler may overwrite its doorbell. */
		if (hca_eq_raise(eq))
			hca_doorbell_look_eq(eq->uar);
		behind |= hca_eq_behind(eq);
	}
	hca->irq_pending = behind;
}

static bool hca_run_pass(struct hca_fabric *f, unsigned int work)
{
	struct hca *hca;

	work += hca_doorbell_poll(f);
	work += hca_wire_poll(f);
	work += hca_run_timers(f);
	hca_qp_take_failures(f);
	work += hca_run_queues(f);
	if (hca_dependents_pending(f))
		work += hca_dependents_run(f);
	if (hca_wait_pending(f))
		work += hca_wait_run(f);
	hca_qp_take_failures(f);
	if (hca_heap_first_until(&f->flushing, f->now))
		work += hca_qp_run_flushing(f);
	hca_cq_raise_events(f);
	f->pass.left = false;
	list_for_each_entry(hca, &f->functions.list, entry) {
		if (!hca_halted(hca) && hca_share_has_work(hca)) {
			hca_share_ready(&f->run, &hca->share);
			f->pass.left = true;
		}
		hca_run_interrupts(hca);
	}
	f->pass.idle = work ? 0 : f->pass.idle + 1;
	return work || f->sweep.uars.n || f->pass.left ||
	       hca_heap_first_until(&f->flushing, f->now);
}

bool hca_fabric_poll(struct hca_fabric *f)
{
	bool wanted = f->pass.must_sleep;

	f->pass.must_sleep = false;
	hca_run_read_clock(f);
	return hca_run_pass(f, hca_run_commands(f, wanted));
}

bool hca_fabric_poll_atomic(struct hca_fabric *f)
{
	hca_run_read_clock(f);
	hca_run_find_commands(f);
	return hca_run_pass(f, 0);
}
