// SPDX-License-Identifier: GPL-2.0
/*
 * Who runs when: the pass over everything, queue pairs with work, timers.
 */
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "wqe.h"

#define PASS_WQES	64		/* of all queues before doorbells are looked at */
#define CLOCK_PASSES	16		/* passes that may share a reading of the clock */
#define COMMAND_PASSES	16	/* with work: until commands are looked for */
#define FLUSH_LOOKS	8		/* QPs in error looked at per pass */

int hca_fabric_init(struct hca_fabric *f)
{
	memset(f, 0, sizeof(*f));
	INIT_LIST_HEAD(&f->functions);
	INIT_LIST_HEAD(&f->by_serial);
	INIT_LIST_HEAD(&f->uars);
	INIT_LIST_HEAD(&f->hot_uars);
	INIT_LIST_HEAD(&f->active_uars);
	INIT_LIST_HEAD(&f->sweeps);
	INIT_LIST_HEAD(&f->run);
	INIT_LIST_HEAD(&f->failing);
	INIT_LIST_HEAD(&f->flushing);
	INIT_LIST_HEAD(&f->timers);
	INIT_LIST_HEAD(&f->cq_timers);
	INIT_LIST_HEAD(&f->cq_news);
	f->now = ktime_get_ns();
	f->scratch = kmalloc(sizeof(*f->scratch), GFP_KERNEL);
	if (!f->scratch)
		return -ENOMEM;
	hca_copy_calibrate();
	return 0;
}

void hca_fabric_free(struct hca_fabric *f)
{
	kfree(f->scratch);
}

void hca_run_add(struct hca_qp *qp)
{
	if (list_empty(&qp->run_entry))
		list_add_tail(&qp->run_entry, &qp->hca->fabric->run);
}

void hca_qp_clear_timer(struct hca_qp *qp)
{
	qp->timer = 0;
	list_del_init(&qp->timer_entry);
}

void hca_qp_set_timer(struct hca_qp *qp, u64 delay_ns)
{
	struct hca_fabric *f = qp->hca->fabric;
	struct hca_qp *at;

	hca_qp_clear_timer(qp);
	f->now = ktime_get_ns();
	qp->timer = f->now + delay_ns;
	list_for_each_entry_reverse(at, &f->timers, timer_entry)
		if (at->timer <= qp->timer)
			break;
	list_add(&qp->timer_entry, &at->timer_entry);
}

static unsigned int run_timers(struct hca_fabric *f)
{
	unsigned int n = 0;
	struct hca_qp *qp;

	for (; !list_empty(&f->timers); n++) {
		qp = list_first_entry(&f->timers, struct hca_qp, timer_entry);
		if (qp->timer > f->now)
			break;
		hca_qp_clear_timer(qp);
		hca_run_add(qp);
	}
	return n;
}

static unsigned int run_queues(struct hca_fabric *f)
{
	u64 wqes = f->stat.wqes + PASS_WQES, units = f->stat.units + HCA_TURN_UNITS;
	unsigned int n = 0;
	LIST_HEAD(turn);

	list_splice_init(&f->run, &turn);
	for (; !list_empty(&turn) && f->stat.wqes < wqes && f->stat.units < units; n++) {
		struct hca_qp *qp = list_first_entry(&turn, struct hca_qp, run_entry);

		list_del_init(&qp->run_entry);
		if (hca_halted(qp->hca)) {
			list_add_tail(&qp->run_entry, &qp->hca->halted);
			continue;
		}
		if (hca_requester_run(qp, HCA_TURN_UNITS))
			hca_run_add(qp);
	}
	list_splice(&turn, &f->run);
	return n;
}

/* In error nothing tells of receives posted: look at the records in turns. */
static void run_flushing(struct hca_fabric *f)
{
	int n;

	for (n = 0; n < FLUSH_LOOKS && !list_empty(&f->flushing); n++) {
		struct hca_qp *qp = list_first_entry(&f->flushing, struct hca_qp, flush_entry);

		list_move_tail(&qp->flush_entry, &f->flushing);
		if (hca_halted(qp->hca))
			continue;
		hca_qp_look(qp);
		hca_rq_flush(qp);
	}
}

/*
 * Is it time to look for firmware commands, of one function?  Their registers are not
 * cached, so it is rare while there is other work; one command seldom comes alone.
 */
static struct hca *command_turn(struct hca_fabric *f, bool due)
{
	struct hca *hca = list_first_entry_or_null(&f->functions, struct hca, entry);

	if (!hca || !(due || hca_has_time(f) || !(f->stat.polls % COMMAND_PASSES)))
		return NULL;
	list_move_tail(&hca->entry, &f->functions);
	return hca;
}

static unsigned int run_commands(struct hca_fabric *f, bool due)
{
	struct hca *hca = command_turn(f, due || f->commands);

	if (hca)
		f->commands = hca_cmd_poll(hca);
	return hca ? f->commands : 0;
}

/* The same where none may run */
static void find_commands(struct hca_fabric *f)
{
	struct hca *hca = command_turn(f, false);

	if (!hca || !hca_cmd_waits(hca))
		return;
	f->wants_sleep = true;
	/* It is first when one may run. */
	list_del(&hca->entry);
	list_add(&hca->entry, &f->functions);
}

static void read_clock(struct hca_fabric *f)
{
	if (!(f->stat.polls++ % CLOCK_PASSES) || f->idle || !list_empty(&f->timers) ||
	    !list_empty(&f->cq_timers))
		f->now = ktime_get_ns();
}

static bool move(struct hca_fabric *f, unsigned int work)
{
	struct hca *hca;

	work += hca_doorbell_poll(f);
	work += run_timers(f);
	work += run_queues(f);
	work += hca_dependents_run(f);
	run_flushing(f);
	hca_cq_tell(f);
	hca_cq_run_timers(f);
	list_for_each_entry(hca, &f->functions, entry) {
		if (!hca_halted(hca))
			list_splice_tail_init(&hca->halted, &f->run);
		hca_eq_flush(hca);
	}
	f->idle = work ? 0 : f->idle + 1;
	return work || f->nsweeps;
}

bool hca_fabric_poll(struct hca_fabric *f)
{
	bool wanted = f->wants_sleep;

	f->may_sleep = true;
	f->wants_sleep = false;
	read_clock(f);
	return move(f, run_commands(f, wanted));
}

bool hca_fabric_poll_atomic(struct hca_fabric *f)
{
	f->may_sleep = false;
	read_clock(f);
	find_commands(f);
	return move(f, 0);
}

bool hca_fabric_must_sleep(const struct hca_fabric *f)
{
	return f->wants_sleep;
}

u64 hca_fabric_deadline(struct hca_fabric *f)
{
	u64 t = U64_MAX;

	if (!list_empty(&f->timers))
		t = list_first_entry(&f->timers, struct hca_qp, timer_entry)->timer;
	if (!list_empty(&f->cq_timers))
		t = min(t, list_first_entry(&f->cq_timers, struct hca_cq,
					    timer_entry)->event_due);
	return t;
}

void hca_qp_init_run(struct hca_qp *qp)
{
	INIT_LIST_HEAD(&qp->run_entry);
	INIT_LIST_HEAD(&qp->flush_entry);
	INIT_LIST_HEAD(&qp->timer_entry);
	INIT_LIST_HEAD(&qp->recv_entry);
}

void hca_qp_kick(struct hca_qp *qp)
{
	if (qp->state == MLX5_QP_STATE_RTS || qp->state == MLX5_QP_STATE_SQD) {
		hca_qp_look(qp);
		hca_run_add(qp);
	}
}

void hca_qp_error(struct hca_qp *qp)
{
	if (qp->state != MLX5_QP_STATE_ERR && qp->srq)
		hca_event_qp(qp, MLX5_EVENT_TYPE_SRQ_LAST_WQE);
	qp->state = MLX5_QP_STATE_ERR;
	MLX5_SET(qpc, qp->qpc, state, qp->state);
	hca_qp_clear_timer(qp);
	hca_record_rest(&qp->record);
	hca_qp_look(qp);
	hca_requester_flush(qp);
	hca_rq_flush(qp);
	if (list_empty(&qp->flush_entry))
		list_add_tail(&qp->flush_entry, &qp->hca->fabric->flushing);
}

void hca_qp_fatal(struct hca_qp *qp)
{
	if (qp->state == MLX5_QP_STATE_ERR)
		return;
	hca_event_qp(qp, MLX5_EVENT_TYPE_WQ_CATAS_ERROR);
	hca_qp_error(qp);
}

void hca_qp_enter(struct hca_qp *qp, u8 state)
{
	if (state == MLX5_QP_STATE_ERR) {
		hca_qp_error(qp);
		return;
	}
	qp->state = state;
	MLX5_SET(qpc, qp->qpc, state, state);
	if (state == MLX5_QP_STATE_RST) {
		hca_qp_reset_run(qp);
		hca_apm_reset(qp);
	} else {
		hca_qp_kick(qp);
	}
}

void hca_qp_stop(struct hca_qp *qp)
{
	hca_qp_clear_timer(qp);
	hca_rq_release(qp);
	list_del_init(&qp->run_entry);
	list_del_init(&qp->flush_entry);
}

void hca_qp_reset_run(struct hca_qp *qp)
{
	hca_qp_stop(qp);
	qp->sq.pi = qp->sq.ci = 0;
	qp->rq.pi = qp->rq.ci = 0;
	qp->nop_flags = 0;
	qp->done = 0;
	qp->in_message = false;
	memset(&qp->mc, 0, sizeof(qp->mc));
	qp->communication = false;
	qp->sq_drained_sent = false;
	qp->peer_hca = NULL;
}
