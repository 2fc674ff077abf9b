// SPDX-License-Identifier: GPL-2.0
/*
 * What a queue pair does when it enters a state.
 *
 * Commands ask for a state (qp_state.c, sq.c), and so do failures (fail.c).
 *
 * In state ERR all posted requests complete with a flush error.  Software posts receive
 * requests and requests of managed send queues without a doorbell, so the doorbell records of
 * a QP in ERR are read at intervals, and in SQER that of a managed send queue.  What is found
 * is flushed in turns of the QP, so that it counts for the share of its page.
 */
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include "data/wire.h"

enum {
	FLUSH_QPS	= 8,	/* QPs in ERR whose records are read in a pass */
};

#define FLUSH_FIRST_NS	(1ull << 14)	/* first interval; it doubles while there is no request */
#define FLUSH_LAST_NS	(1ull << 27)

void hca_qp_init_run(struct hca_qp *qp)
{
	INIT_LIST_HEAD(&qp->recv_entry);
	INIT_LIST_HEAD(&qp->room_entry);
	hca_fail_init(qp);
}

int hca_qp_timers_join(struct hca_qp *qp)
{
	struct hca_fabric *f = qp->hca->fabric;

	if (hca_heap_join(&f->timers))
		return -ENOMEM;
	if (hca_heap_join(&f->flushing)) {
		hca_heap_leave(&f->timers, &qp->timer.entry);
		return -ENOMEM;
	}
	return 0;
}

void hca_qp_timers_leave(struct hca_qp *qp)
{
	hca_heap_leave(&qp->hca->fabric->timers, &qp->timer.entry);
	hca_heap_leave(&qp->hca->fabric->flushing, &qp->flush);
}

/* ---- Flushing -------------------------------------------------------------------- */

/* The time is rounded, so that many QPs are due at the same time and the engine can sleep. */
static void hca_qp_flush_later(struct hca_qp *qp, u64 ns)
{
	struct hca_fabric *f = qp->hca->fabric;

	qp->flush_ns = ns;
	hca_heap_set(&f->flushing, &qp->flush, (f->now + 2 * ns) & ~(ns - 1));
}

/* True if there is something to flush */
static bool hca_qp_flush(struct hca_qp *qp)
{
	bool changed = false;

	if (!hca_halted(qp->hca)) {
		changed = hca_qp_read_record(qp);
		if (qp->state == MLX5_QP_STATE_ERR && hca_rq_has_posted(qp)) {
			hca_share_add(qp);
			changed = true;
		}
	}
	hca_qp_flush_later(qp, changed ? FLUSH_FIRST_NS : min(2 * qp->flush_ns, FLUSH_LAST_NS));
	return changed;
}

unsigned int hca_qp_run_flushing(struct hca_fabric *f)
{
	struct hca_heap_entry *e;
	unsigned int n, found = 0;

	for (n = 0; n < FLUSH_QPS && (e = hca_heap_first_until(&f->flushing, f->now)); n++)
		found += hca_qp_flush(container_of(e, struct hca_qp, flush));
	return found;
}

/* ---- Transitions ----------------------------------------------------------------- */

/*
 * A managed queue runs up to the index that SEND_ENABLE sets.  Its record is used only in an
 * error state, for the requests that are flushed.
 */
static bool hca_qp_has_record(const struct hca_qp *qp)
{
	return qp->state >= MLX5_QP_STATE_RTS && qp->sq.entries &&
	       (!qp->managed_send || qp->state == MLX5_QP_STATE_ERR ||
		qp->state == MLX5_QP_STATE_SQER);
}

static void hca_qp_set_state(struct hca_qp *qp, u8 state)
{
	qp->state = state;
	qp->has_record = hca_qp_has_record(qp);
	MLX5_SET(qpc, qp->qpc, state, state);
}

/* Without DMA, the send queue is flushed when its function takes part again (share.c). */
static void hca_qp_flush_sends(struct hca_qp *qp)
{
	if (hca_halted(qp->hca)) {
		hca_share_add(qp);
		return;
	}
	hca_qp_read_record(qp);
	if (hca_requester_flush(qp))
		hca_share_add(qp);
}

static void hca_qp_reset_wire(struct hca_qp *qp)
{
	if (!qp->wire)
		return;
	hca_wire_reset_requester(qp);
	hca_wire_reset_responder(qp);
}

static void hca_qp_enter_error(struct hca_qp *qp)
{
	if (qp->state != MLX5_QP_STATE_ERR && qp->srq && qp->st != MLX5_QP_ST_DCT)
		hca_event_qp(qp, MLX5_EVENT_TYPE_SRQ_LAST_WQE);
	hca_qp_set_state(qp, MLX5_QP_STATE_ERR);
	qp->flush_left = 0;
	/* The timer of a DCT limits its draining, also in ERR. */
	if (qp->st != MLX5_QP_ST_DCT)
		hca_timer_clear(qp->hca->fabric, &qp->timer);
	hca_xchan_stop(qp);
	hca_qp_reset_wire(qp);
	if (qp->st == MLX5_QP_ST_DCT)
		hca_wire_dct_stop(qp);
	hca_record_inactive(&qp->record);
	hca_qp_flush_sends(qp);
	if (!hca_halted(qp->hca) && hca_rq_flush(qp))
		hca_share_add(qp);
	hca_qp_flush_later(qp, FLUSH_FIRST_NS);
}

void hca_qp_stop(struct hca_qp *qp)
{
	struct hca_fabric *f = qp->hca->fabric;

	hca_fail_forget(qp);
	list_del_init(&qp->room_entry);
	hca_timer_clear(f, &qp->timer);
	hca_heap_clear(&f->flushing, &qp->flush);
	hca_xchan_stop(qp);
	hca_qp_reset_wire(qp);
	hca_ud_long_forget(qp);
	hca_dci_end(qp);
	hca_dct_disconnect(qp);
	if (qp->st == MLX5_QP_ST_DCT)
		hca_wire_dct_stop(qp);
	hca_rq_release(qp);
	hca_share_del(qp);
}

static void hca_qp_enter_reset(struct hca_qp *qp)
{
	hca_qp_set_state(qp, MLX5_QP_STATE_RST);
	hca_qp_stop(qp);
	qp->sq.pi = qp->sq.ci = 0;
	qp->flush_left = 0;
	qp->has_cause = false;
	qp->rq.pi = qp->rq.ci = 0;
	qp->rq_enabled = 0;
	qp->nop_flags = 0;
	qp->done = 0;
	qp->in_message = false;
	memset(&qp->mc, 0, sizeof(qp->mc));
	qp->calc.next = 0;
	qp->communication = false;
	qp->sender = NULL;
	qp->sq_drained_sent = false;
	qp->remote = NULL;
	hca_apm_reset(qp);
}

void hca_qp_enter(struct hca_qp *qp, u8 state)
{
	switch (state) {
	case MLX5_QP_STATE_RST:
		hca_qp_enter_reset(qp);
		return;
	case MLX5_QP_STATE_ERR:
		hca_qp_enter_error(qp);
		return;
	case MLX5_QP_STATE_SQER:
		hca_qp_set_state(qp, state);
		qp->flush_left = 0;
		hca_xchan_stop(qp);
		if (qp->wire)
			hca_wire_reset_requester(qp);
		hca_qp_flush_sends(qp);
		if (qp->managed_send)
			hca_qp_flush_later(qp, FLUSH_FIRST_NS);
		return;
	case MLX5_QP_STATE_RTS:
		/* No request that was posted in SQER may be executed. */
		hca_heap_clear(&qp->hca->fabric->flushing, &qp->flush);
		if (qp->state == MLX5_QP_STATE_SQER) {
			hca_qp_read_record(qp);
			qp->flush_left = qp->sq.pi - qp->sq.ci;
		}
		fallthrough;
	case MLX5_QP_STATE_SQD:
		hca_qp_set_state(qp, state);
		hca_qp_look(qp);
		hca_share_add(qp);
		return;
	default:
		hca_qp_set_state(qp, state);
	}
}

void hca_qp_run_failures(struct hca_fabric *f)
{
	struct hca_qp *qp;
	u8 state;

	while ((qp = hca_fail_first(f))) {
		state = qp->fail_to;
		hca_fail_forget(qp);
		hca_qp_enter(qp, state);
	}
}

#undef FLUSH_FIRST_NS
#undef FLUSH_LAST_NS
