// SPDX-License-Identifier: GPL-2.0
/*
 * A turn: queues of one owner execute requests until the work reaches a limit.  A step of work
 * is not interrupted, so a turn can exceed its budget by one step.
 */
#include "data/wire.h"

#define SHORT_UNITS	(HCA_TURN_UNITS / 8)	/* a turn with less work is short */

/* A queue that has completed nothing, and now waits for its timer, has made no progress. */
static void hca_turn_run_queue(struct hca_fabric *f, struct hca_qp *qp)
{
	u64 wqes = f->stat.wqes;
	bool more;

	hca_share_take(qp);
	f->turn.woken = false;
	more = hca_requester_run(qp);
	if (more)
		hca_share_add(qp);
	f->turn.progress |= !(hca_timer_due(&qp->timer) || hca_wire_waits(qp)) ||
			    f->stat.wqes != wqes;
	hca_qp_take_failures(f);
}

/*
 * Does the turn continue with the next queue of the owner?  A short turn continues, because the
 * end of a turn costs about as much as a request.  A turn that has woken a queue continues while
 * its budget lasts, because the woken queue can then execute the next step of its chain.
 */
static bool hca_turn_continues(const struct hca_fabric *f)
{
	return f->turn.units < SHORT_UNITS || (f->turn.woken && hca_turn_left(f));
}

bool hca_turn_run(struct hca_fabric *f, struct hca_qp *qp)
{
	struct hca_owner *owner = qp->share;
	u64 before = f->stat.units;
	struct hca *hca = qp->hca;

	f->turn = (struct hca_turn) { .budget = HCA_TURN_UNITS };
	do {
		hca_turn_run_queue(f, qp);
		qp = hca_share_first_of(owner);
	} while (qp && hca_turn_continues(f) && !hca_halted(hca));
	hca_turn_end(f);
	hca_share_used(hca, owner, f->stat.units - before);
	return f->turn.progress;
}

/*
 * An adapter begins a request microseconds after its doorbell, so it has run when firmware
 * executes a command that software sends after the doorbell.  A pass can find that command
 * before the doorbell.
 */
void hca_turn_run_posted(struct hca_qp *qp)
{
	if (hca_halted(qp->hca))
		return;
	hca_qp_read_record(qp);
	if (qp->share)
		hca_turn_run(qp->hca->fabric, qp);
}

#undef SHORT_UNITS
