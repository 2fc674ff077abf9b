// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues: writes entries and decides when to raise events.
 *
 * The arm word in the doorbell record requests an event; the doorbell only says that the
 * record has changed.  Every request changes the word, because its sequence number counts
 * events.  So if the word differs from the one processed last, there is a new request.  The
 * word is read once for all entries of a turn.
 *
 * The word of the first request may be 0, the value with which libmlx5 fills the record before
 * it creates the CQ, and the doorbell of another CQ may overwrite its doorbell.  So if the record
 * is 0 at creation, 0 is a request after a CQ doorbell of the page has been rung.  If software
 * did not arm the CQ, the next CQE then raises one event for which software did not ask; the other
 * choice would be to lose an event.  The same holds if software fills the record after creation.
 * Adapters in hardware seem to do the same, because the driver of Linux sets the word of CQs
 * that it never arms ("net/mlx5: DR, On creation set CQs arm_db member to right value").  It
 * writes this word, ARM_NEVER, before or after creation.  It is no request: the first one has the
 * sequence number 0.
 * The record is never written: the process may have only read access to that memory.
 *
 * A request raises an event at once if there are entries after its index, but not if the
 * last event was for the same entries: perftest arms before it polls and counts one event
 * for each entry.
 */
#include <linux/string.h>
#include <linux/compiler.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>
#include "data/data.h"

#define ARM_NEVER	(2u << MLX5R_CQ_ARM_SN_SHIFT)
#define MAX_NEW	(1u << 30)	/* entries without an event at most: indices are compared by sign */

static void hca_cqe_raise_event(struct hca_cq *cq)
{
	cq->armed = false;
	cq->event_pi = cq->pi;
	hca_timer_clear(cq->hca->fabric, &cq->timer);
	hca_event_comp(cq);
	/* Software will poll, then arm again. */
	hca_record_set_active(&cq->record);
}

/* The CQ is armed and has new entries: raises the event now, or later if it is moderated. */
static void hca_cqe_notify(struct hca_cq *cq)
{
	struct hca_fabric *f = cq->hca->fabric;

	if (cq->pi - cq->event_pi >= cq->max_count || !cq->period_us) {
		hca_cqe_raise_event(cq);
		return;
	}
	if (!hca_timer_due(&cq->timer))
		hca_timer_set(f, &cq->timer, f->now + cq->period_us * 1000ull);
}

bool hca_cq_timer(struct hca_cq *cq)
{
	if (!hca_halted(cq->hca)) {
		hca_cqe_raise_event(cq);
		return true;
	}
	hca_timer_set(cq->hca->fabric, &cq->timer,
		      cq->hca->fabric->now + cq->period_us * 1000ull);
	return false;
}

static u32 hca_cqe_arm_word(const struct hca_cq *cq)
{
	return be32_to_cpu(READ_ONCE(cq->dbr[MLX5R_DBR_CQ_ARM]));
}

static bool hca_cqe_is_request(const struct hca_cq *cq, u32 word)
{
	if (cq->arm_zero && word == ARM_NEVER)
		return false;
	return (word != cq->arm_seen || cq->arm_zero) && cq->rings != cq->record.uar->cq_rings;
}

bool hca_cq_has_request(const struct hca_cq *cq)
{
	return hca_cqe_is_request(cq, hca_cqe_arm_word(cq));
}

/* Reads a new notification request from the record. */
static bool hca_cqe_read_arm(struct hca_cq *cq)
{
	u32 word = hca_cqe_arm_word(cq);
	bool request = hca_cqe_is_request(cq, word);

	/* Strict mode: the next request needs a doorbell, too. */
	if (cq->hca->strict)
		cq->rings = cq->record.uar->cq_rings;
	if (!request)
		return false;
	cq->arm_seen = word;
	cq->arm_zero = false;
	/* A request for any entry is not replaced by one for a solicited entry (IBTA 11.4.2.2). */
	cq->armed_solicited = (word & MLX5R_CQ_ARM_SOLICITED) &&
			      (!cq->armed || cq->armed_solicited);
	cq->armed = true;
	return true;
}

/* Are there entries after the index of the request for which no event was raised? */
static bool hca_cqe_has_new(struct hca_cq *cq)
{
	u32 last = cq->armed_solicited ? cq->solicited_pi : cq->pi;

	if (cq->pi - cq->event_pi > MAX_NEW)
		cq->event_pi = cq->pi - MAX_NEW;
	return (s32)((last - cq->arm_seen) << 8) > 0 && (s32)(last - cq->event_pi) > 0;
}

bool hca_cq_read_record(struct hca_cq *cq)
{
	if (!hca_cqe_read_arm(cq))
		return false;
	if (hca_cqe_has_new(cq))
		hca_cqe_notify(cq);
	return true;
}

void hca_cq_start(struct hca_cq *cq)
{
	cq->timer.owner = HCA_TIMER_CQ;
	INIT_LIST_HEAD(&cq->news_entry);
	INIT_LIST_HEAD(&cq->wake_entry);
	cq->rings = cq->record.uar->cq_rings;
	cq->arm_seen = hca_cqe_arm_word(cq);
	cq->arm_zero = !cq->arm_seen;
}

void hca_cq_stop(struct hca_cq *cq)
{
	hca_heap_leave(&cq->hca->fabric->timers, &cq->timer.entry);
	list_del_init(&cq->news_entry);
	hca_wait_abandon(cq);
}

void hca_cq_check_requests(struct hca_fabric *f)
{
	struct hca_cq *cq;

	/* The entries are written before the arm record is read; see hca_cq_read_record(). */
	smp_mb();
	while (!list_empty(&f->cqs_to_arm)) {
		cq = list_first_entry(&f->cqs_to_arm, struct hca_cq, news_entry);
		list_del_init(&cq->news_entry);
		hca_cqe_read_arm(cq);
		if (cq->armed && hca_cqe_has_new(cq))
			hca_cqe_notify(cq);
	}
}

static bool hca_cqe_has_room(struct hca_cq *cq)
{
	u32 size = 1u << cq->log_size;

	if (cq->overrun_ignore || cq->pi - cq->ci < size)
		return true;
	/* The record holds 24 bits of the free-running index. */
	cq->ci = cq->pi - ((cq->pi - be32_to_cpu(READ_ONCE(cq->dbr[MLX5R_DBR_CQ_CI]))) &
			   MLX5R_CQ_INDEX_MASK);
	return cq->pi - cq->ci < size;
}

/* 32 bytes replace unused fields of the CQE, 64 bytes are before it. */
static void hca_cqe_write_data(u8 *entry, u8 format, const u8 *data)
{
	if (format == MLX5R_CQE_INLINE_32)
		memcpy(entry, data, HCA_CQE_INLINE / 2);
	else if (format == MLX5R_CQE_INLINE_64)
		memcpy(entry - HCA_CQE_INLINE, data, HCA_CQE_INLINE);
}

bool hca_cqe_post(struct hca_cq *cq, struct mlx5r_cqe *cqe, const u8 *data)
{
	u32 slot = cq->collapsed ? 0 : cq->pi & ((1u << cq->log_size) - 1);
	u8 op = cqe->op_own >> 4;
	u8 *entry;

	if (cq->overrun)
		return false;
	if (!hca_cqe_has_room(cq)) {
		cq->overrun = true;
		hca_event_cq_error(cq, 1);
		hca_dependents_fail(cq->hca->fabric, &cq->dependents);
		hca_wait_abandon(cq);
		return false;
	}

	if ((cq->pi >> cq->log_size) & 1)
		cqe->op_own |= MLX5R_CQE_OWNER;
	if (op != MLX5R_CQE_REQ_ERR && op != MLX5R_CQE_RESP_ERR)
		cqe->timestamp = cpu_to_be64(hca_clock_stamp(cq->hca));
	entry = hca_buf_at(&cq->buf, (u64)slot * cq->cqe_bytes);
	entry += cq->cqe_bytes - sizeof(*cqe);
	memcpy(entry, cqe, sizeof(*cqe) - 8);
	hca_cqe_write_data(entry, cqe->op_own & MLX5R_CQE_FORMAT_MASK, data);
	/* Barrier D (dp/barrier.h): the owner bit is in the last word, so software sees it last. */
	smp_store_release((u64 *)(entry + sizeof(*cqe) - 8),
			  *(u64 *)((u8 *)cqe + sizeof(*cqe) - 8));

	cq->pi++;
	if ((cqe->op_own & MLX5R_CQE_SOLICITED) || op == MLX5R_CQE_REQ_ERR ||
	    op == MLX5R_CQE_RESP_ERR)
		cq->solicited_pi = cq->pi;
	if (list_empty(&cq->news_entry))
		list_add_tail(&cq->news_entry, &cq->hca->fabric->cqs_to_arm);
	if (hca_wait_due(cq))
		hca_wait_wake(cq);
	return true;
}

#undef ARM_NEVER
#undef MAX_NEW
