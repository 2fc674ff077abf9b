// SPDX-License-Identifier: GPL-2.0
/*
 * Send queues: executes requests and posts their completions.
 *
 * The requests of a queue run in order.  Each is complete before the next starts, so fences
 * need no code.  A long message takes several turns, so that other queues need not wait.
 */
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include "data/wire.h"

enum {
	TURN_WQES	= 64,	/* requests of a queue in one turn */
};

static bool hca_req_is_reliable(const struct hca_qp *qp)
{
	return qp->st == MLX5_QP_ST_RC || qp->st == MLX5_QP_ST_XRC || qp->st == MLX5_QP_ST_DCI;
}

/* The one place that decides whether the next request of a queue may run. */
static bool hca_req_may_run(struct hca_qp *qp)
{
	if (hca_timer_due(&qp->timer) || qp->fail_to || qp->waiting || qp->sq.ci == qp->sq.pi)
		return false;
	if (qp->wire && !hca_wire_may_post(qp))
		return false;
	if (qp->state == MLX5_QP_STATE_SQD)
		return qp->in_message;
	return qp->state == MLX5_QP_STATE_RTS;
}

/* The same after a request that has ended: it has set no timer, and waits for nothing. */
static bool hca_req_continues(struct hca_qp *qp)
{
	if (qp->fail_to || qp->sq.ci == qp->sq.pi || hca_halted(qp->hca))
		return false;
	if (qp->wire && !hca_wire_may_post(qp))
		return false;
	return qp->state == MLX5_QP_STATE_RTS || qp->in_message;
}

static void hca_req_forget_parts(struct hca_qp *qp)
{
	qp->in_message = false;
	hca_ud_long_end(qp);
	memset(&qp->mc, 0, sizeof(qp->mc));
	qp->calc.next = 0;
}

/* The message is complete, has failed or begins again. */
static inline void hca_req_end_parts(struct hca_qp *qp)
{
	qp->done = 0;
	if (qp->in_message)
		hca_req_forget_parts(qp);
}

static inline void hca_req_end_message(struct hca_qp *qp)
{
	hca_req_end_parts(qp);
	if (qp->target)
		hca_dci_end(qp);
	qp->retry_left = qp->retry_cnt;
	qp->rnr_left = qp->rnr_retry;
}

static u32 hca_req_count_packets(const struct hca_qp *qp, const struct hca_wqe *w)
{
	return w->length > qp->mtu ? DIV_ROUND_UP_ULL(w->length, qp->mtu) : 1;
}

static inline void hca_req_succeed(struct hca_qp *qp, const struct hca_wqe *w)
{
	hca_req_end_message(qp);
	qp->sq.ci += w->nbb;
	qp->hca->fabric->stat.wqes++;
	if (hca_wqe_signalled(w))
		hca_req_post_success(qp, w);
}

/* On datagram and unreliable transports only the send queue fails. */
static void hca_req_fail(struct hca_qp *qp, const struct hca_wqe *w, u8 syndrome)
{
	hca_req_end_message(qp);
	qp->sq.ci += w->nbb;
	hca_req_post_error(qp, w->index, w->opcode, syndrome);
	if (hca_req_is_reliable(qp) || qp->st == MLX5_QP_ST_REG_UMR || qp->st == HCA_ST_SQ)
		hca_fail_qp(qp);
	else
		hca_fail_sq(qp);
}

static bool hca_req_in_error(const struct hca_qp *qp)
{
	return qp->state == MLX5_QP_STATE_ERR || qp->state == MLX5_QP_STATE_SQER;
}

bool hca_requester_flush(struct hca_qp *qp)
{
	u16 left = hca_req_in_error(qp) ? qp->sq.pi - qp->sq.ci : qp->flush_left;
	u32 n;

	hca_req_end_message(qp);
	for (n = 0; n < HCA_FLUSH_REQUESTS && left; n++) {
		u16 index = qp->sq.ci;
		u8 opcode;
		u32 span = min_t(u32, hca_wqe_span(qp, &opcode), left);

		left -= span;
		qp->sq.ci += span;
		hca_req_post_error(qp, index, opcode, MLX5R_SYND_WR_FLUSH);
	}
	hca_charge(qp->hca->fabric, HCA_REQUESTS, n);
	if (qp->flush_left)
		qp->flush_left = left;
	return left;
}

/* Retries after a delay; returns @syndrome if no retry is left. */
static int hca_req_retry(struct hca_qp *qp, u8 *left, bool unlimited, u64 delay_ns, u8 syndrome)
{
	struct hca_fabric *f = qp->hca->fabric;

	if (!unlimited) {
		if (!*left)
			return syndrome;
		(*left)--;
	}
	hca_req_end_parts(qp);
	f->now = ktime_get_ns();
	hca_timer_set(f, &qp->timer, f->now + delay_ns);
	return HCA_AGAIN;
}

static int hca_req_retry_rnr(struct hca_qp *qp, u8 code)
{
	return hca_req_retry(qp, &qp->rnr_left, qp->rnr_retry == 7, hca_req_rnr_ns(qp, code),
			     MLX5R_SYND_RNR_EXC);
}

/* No answer.  If no retry is left, an armed QP migrates, with all its retries again. */
static int hca_req_retry_lost(struct hca_qp *qp)
{
	u64 delay = qp->ack_timeout ? 4096ull << qp->ack_timeout : NSEC_PER_SEC;

	if (qp->ack_timeout && !qp->retry_left && qp->pm_state == MLX5_QP_PM_ARMED) {
		hca_apm_migrate(qp);
		hca_req_end_message(qp);
		return HCA_AGAIN;
	}
	return hca_req_retry(qp, &qp->retry_left, !qp->ack_timeout, delay, MLX5R_SYND_RETRY_EXC);
}

/* An unreliable sender gets no answer, so errors of the receiver count as success. */
static int hca_req_forget_remote(int ret)
{
	switch (ret) {
	case HCA_RNR:
	case HCA_LOST:
	case MLX5R_SYND_REMOTE_INVAL_REQ:
	case MLX5R_SYND_REMOTE_ACCESS:
	case MLX5R_SYND_REMOTE_OP:
		return 0;
	default:
		return ret;
	}
}

/* The message is not complete, or was not answered with success. */
static noinline int hca_req_take_refusal(struct hca_qp *qp, struct hca_qp *peer, int ret)
{
	if (ret == HCA_AGAIN) {
		qp->in_message = true;
		if (qp->st == MLX5_QP_ST_DCI)
			hca_dci_continue(qp, peer);
		else
			peer->sender = qp;
	}
	if (!hca_req_is_reliable(qp))
		ret = hca_req_forget_remote(ret);
	if (ret == HCA_RNR)
		return hca_req_retry_rnr(qp, peer->min_rnr & 31);
	return ret == HCA_LOST ? hca_req_retry_lost(qp) : ret;
}

static bool hca_req_needs_outstanding(u8 opcode)
{
	return opcode >= MLX5R_OP_RDMA_READ && opcode <= MLX5R_OP_ATOMIC_MASKED_FA;
}

static int hca_req_check_connected(struct hca_qp *qp, const struct hca_wqe *w)
{
	u32 i;

	if (w->length > 1ull << qp->log_msg_max)
		return MLX5R_SYND_LOCAL_LENGTH;
	if (w->operand && w->length != w->operand)
		return MLX5R_SYND_LOCAL_LENGTH;
	if (!hca_req_needs_outstanding(w->opcode))
		return 0;
	for (i = 0; i < w->nsge; i++)
		if (w->sge[i].data)
			return MLX5R_SYND_LOCAL_QP_OP;
	return 0;
}

/*
 * @peer has been reset since the message began, and expects its PSN: RC and XRC begin again.  UC
 * drops the rest.
 */
static noinline bool hca_req_begin_again(struct hca_qp *qp)
{
	if (qp->st == MLX5_QP_ST_UC)
		return false;
	qp->done = 0;
	qp->calc.next = 0;
	return true;
}

/* Executes the message, or a part of it, at its receiver. */
static int hca_req_execute_at(struct hca_qp *qp, struct hca_qp *peer, struct hca_wqe *w)
{
	if (!peer)
		return HCA_LOST;
	if (qp->in_message && qp->st != MLX5_QP_ST_DCI && peer->sender != qp &&
	    !hca_req_begin_again(qp))
		return HCA_LOST;
	return hca_respond(qp, peer, w);
}

static int hca_req_send_connected(struct hca_qp *qp, struct hca_wqe *w)
{
	struct hca_qp *peer;
	int ret;

	ret = hca_req_check_connected(qp, w);
	if (ret)
		return ret;
	if (w->has_calc) {
		ret = hca_calc_begin(qp, w);
		if (ret)
			return ret;
	}
	if (qp->in_message && qp->done > w->length)
		return MLX5R_SYND_LOCAL_QP_OP;
	if (qp->wire && qp->st == MLX5_QP_ST_DCI) {
		ret = hca_wire_dci_choose(qp, w);
		if (ret)
			return ret;
	}
	w->packets = hca_req_count_packets(qp, w);
	if (hca_wire_leads(qp)) {
		/* A part of it may have reached a peer that was local. */
		hca_req_end_parts(qp);
		if (qp->target)
			hca_dci_end(qp);
		return hca_wire_post(qp, w);
	}
	peer = qp->st == MLX5_QP_ST_DCI ? hca_dci_target(qp, w) : hca_peer_find(qp);
	ret = hca_req_execute_at(qp, peer, w);
	if ((ret == HCA_RNR || ret == HCA_LOST) && !hca_resp_can_send(qp, w))
		ret = MLX5R_SYND_LOCAL_PROT;
	hca_count_request(qp, peer, w, ret);
	if (!ret && w->has_calc)
		ret = hca_calc_end(qp, w);
	if (ret) {
		ret = hca_req_take_refusal(qp, peer, ret);
		if (ret)
			return ret;
	}
	qp->sq_psn = (qp->sq_psn + w->packets) & HCA_PSN_MASK;
	if (peer && qp->pm_state == MLX5_QP_PM_REARM)
		hca_apm_arm(qp, peer);
	return 0;
}

/* Flags from a BlueFlame register count like those in the ring. */
static int hca_req_execute_nop(struct hca_qp *qp, struct hca_wqe *w)
{
	if (qp->nop_index == w->index) {
		w->fm_ce_se |= qp->nop_flags;
		qp->nop_flags = 0;
	}
	return 0;
}

/* Are there requests on the wire that are not complete? */
static bool hca_req_has_outstanding(const struct hca_qp *qp)
{
	return qp->wire && hca_wire_is_outstanding(qp->wire);
}

/* It needs no peer. */
static bool hca_req_is_local(const struct hca_wqe *w)
{
	return w->opcode == MLX5R_OP_NOP || w->opcode == MLX5R_OP_UMR || hca_wqe_is_xchan(w);
}

static void hca_req_set_active(struct hca_qp *qp)
{
	qp->requests = true;
	hca_record_set_active(&qp->record);
}

static int hca_req_execute(struct hca_qp *qp, struct hca_wqe *w)
{
	int ret;

	if (!hca_req_has_outstanding(qp) && hca_xchan_waits(qp)) {
		hca_req_set_active(qp);
		return HCA_AGAIN;
	}
	ret = hca_wqe_fetch(qp, w);
	if (ret)
		return ret;
	if (hca_req_has_outstanding(qp) && hca_req_is_local(w)) {
		hca_wire_drain(qp);
		return HCA_AGAIN;
	}
	if (w->opcode == MLX5R_OP_NOP)
		return hca_req_execute_nop(qp, w);
	hca_req_set_active(qp);
	if (hca_wqe_is_xchan(w))
		return hca_xchan(qp, w);
	if (w->opcode == MLX5R_OP_UMR)
		return hca_umr(qp, w);
	if (qp->st == MLX5_QP_ST_UD || qp->st == MLX5_QP_ST_QP0 || qp->st == MLX5_QP_ST_QP1)
		return hca_ud_send(qp, w);
	return hca_req_send_connected(qp, w);
}

static noinline void hca_req_complete_wait(struct hca_qp *qp, struct hca_wqe *w)
{
	w->opcode = MLX5R_OP_WAIT;
	w->index = qp->sq.ci;
	w->nbb = qp->waiter.nbb;
	w->fm_ce_se = MLX5R_CE_ALWAYS;
	w->length = 0;
	w->in_cqe = 0;
	hca_req_succeed(qp, w);
}

/* The CQ has the entry that the queue waited for. */
static inline void hca_req_end_wait(struct hca_qp *qp, struct hca_wqe *w)
{
	struct hca_fabric *f = qp->hca->fabric;

	qp->wait_over = false;
	hca_charge(f, HCA_REQUESTS, 1);
	if (qp->waiter.signalled) {
		hca_req_complete_wait(qp, w);
	} else {
		qp->sq.ci += qp->waiter.nbb;
		f->stat.wqes++;
	}
}

static noinline void hca_req_check_drained(struct hca_qp *qp)
{
	if (qp->fail_to || qp->in_message || qp->sq_drained_sent || hca_req_has_outstanding(qp))
		return;
	qp->sq_drained_sent = true;
	hca_event_qp(qp, MLX5_EVENT_TYPE_SQ_DRAINED);
}

static void hca_req_run(struct hca_qp *qp)
{
	struct hca_fabric *f = qp->hca->fabric;
	struct hca_wqe *w = &f->scratch->wqe;
	int n, ret;

	if (qp->wait_over)
		hca_req_end_wait(qp, w);
	for (n = 0; n < TURN_WQES && hca_req_continues(qp) && hca_turn_left(f); n++) {
		hca_charge(f, HCA_REQUESTS, 1);
		w->operand = 0;
		ret = hca_req_execute(qp, w);
		/* A QP that is connected to itself and refused the request: it will be flushed. */
		if (qp->fail_to || ret == HCA_AGAIN)
			return;
		if (ret == HCA_POSTED)
			continue;
		if (ret && hca_req_has_outstanding(qp)) {
			/* Its completion follows those of the requests before it. */
			hca_wire_drain(qp);
			return;
		}
		if (ret)
			hca_req_fail(qp, w, ret);
		else
			hca_req_succeed(qp, w);
	}
}

/* After the flush, RTS and SQD need a turn of their own. */
static bool hca_req_run_flush(struct hca_qp *qp)
{
	bool more = hca_requester_flush(qp) || !hca_req_in_error(qp);

	if (qp->state == MLX5_QP_STATE_ERR && hca_rq_flush(qp))
		more = true;
	return more;
}

/* Sends answers first, because peers wait for them.  True if there are more answers. */
static noinline bool hca_req_run_wire(struct hca_qp *qp)
{
	bool more = hca_wire_answer(qp);

	hca_wire_run(qp);
	return more;
}

bool hca_requester_run(struct hca_qp *qp)
{
	bool more = false;

	if (hca_req_in_error(qp) || qp->flush_left)
		return hca_req_run_flush(qp);
	if (hca_wire_waits(qp))
		return false;
	if (qp->wire)
		more = hca_req_run_wire(qp);
	if (hca_req_may_run(qp))
		hca_req_run(qp);
	if (qp->state == MLX5_QP_STATE_SQD)
		hca_req_check_drained(qp);
	if (hca_wire_waits(qp))
		return false;
	return more || (qp->wire && hca_wire_has_more(qp)) || hca_req_may_run(qp);
}
