// SPDX-License-Identifier: GPL-2.0
/*
 * Receive queues: the ring of a QP, a shared linked list, a shared ring.
 *
 * Software posts receive requests without a doorbell, so the record is read when all known
 * requests are consumed.  A request is consumed when its message is complete.  If a message
 * takes several turns, other QPs use the shared queue between them.  Therefore the QP takes
 * the request out of the shared queue and holds it (recv_srq) until the message or the queue
 * ends.
 */
#include <linux/string.h>
#include <linux/compiler.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>
#include "data/data.h"

/* Reads the data segments at @at; a special key ends a list that is not full. */
static void hca_rq_parse(struct hca_rwqe *r, const void *at, u32 bytes)
{
	struct mlx5r_data d;

	r->nsge = 0;
	r->length = 0;
	for (; bytes >= sizeof(d) && r->nsge < HCA_MAX_SGE; at += sizeof(d), bytes -= sizeof(d)) {
		struct hca_sge *sge = &r->sge[r->nsge];

		memcpy(&d, at, sizeof(d));
		sge->lkey = be32_to_cpu(d.lkey);
		if (sge->lkey == MLX5R_LKEY_END && !d.byte_count)
			break;
		sge->len = be32_to_cpu(d.byte_count) & ~MLX5R_INLINE;
		sge->addr = be64_to_cpu(d.addr);
		sge->data = NULL;
		r->length += sge->len;
		r->nsge++;
	}
}

/* ---- A QP's own ring ---------------------------------------------------------------- */

/* A managed queue delivers only what is enabled; in ERR all that is posted is flushed. */
static void hca_rq_ring_limit(struct hca_qp *qp)
{
	struct hca_wq *rq = &qp->rq;
	s16 enabled = qp->rq_enabled - rq->ci;

	if (enabled < (u16)(rq->pi - rq->ci))
		rq->pi = rq->ci + max_t(s16, enabled, 0);
}

static bool hca_rq_ring_look(struct hca_qp *qp)
{
	struct hca_wq *rq = &qp->rq;

	if (rq->pi != rq->ci)
		return true;
	rq->pi = be32_to_cpu(READ_ONCE(qp->dbr[MLX5R_DBR_RCV]));
	/* Barrier A (dp/barrier.h): the record is read before the receives that it announces. */
	smp_rmb();
	if ((u16)(rq->pi - rq->ci) > rq->entries) {
		rq->pi = rq->ci;
		hca_fail_fatal(qp);
	}
	if (qp->managed_recv && qp->state != MLX5_QP_STATE_ERR)
		hca_rq_ring_limit(qp);
	return rq->pi != rq->ci;
}

static int hca_rq_ring_get(struct hca_qp *qp, struct hca_rwqe *r)
{
	struct hca_wq *rq = &qp->rq;
	u32 slot;

	if (!rq->entries || !hca_rq_ring_look(qp))
		return qp->fail_to ? MLX5R_SYND_REMOTE_OP : HCA_RNR;
	slot = rq->ci & (rq->entries - 1);
	hca_rq_parse(r, hca_buf_at(&qp->buf, rq->offset + ((u64)slot << rq->log_stride)),
		     1u << rq->log_stride);
	r->index = rq->ci;
	return 0;
}

/* ---- Shared receive queues ------------------------------------------------------------ */

static void hca_rq_srq_fail(struct hca_srq *srq)
{
	if (srq->error)
		return;
	srq->error = true;
	hca_event_srq(srq, MLX5_EVENT_TYPE_SRQ_CATAS_ERROR);
	hca_dependents_fail(srq->hca->fabric, &srq->dependents);
}

static u32 hca_rq_srq_available(struct hca_srq *srq)
{
	u32 n = be32_to_cpu(READ_ONCE(srq->dbr[0])) - srq->taken;

	/* Barrier A (dp/barrier.h): the counter is read before the receives that it announces. */
	smp_rmb();
	/* Some software keeps the counter in 16 bits. */
	n &= 0xffff;
	if (n <= 1u << srq->log_size)
		return n;
	hca_rq_srq_fail(srq);
	return 0;
}

static void hca_rq_srq_check_limit(struct hca_srq *srq, u32 left)
{
	if (srq->lwm && left < srq->lwm) {
		srq->lwm = 0;
		hca_event_srq(srq, MLX5_EVENT_TYPE_SRQ_RQ_LIMIT);
	}
}

/* Takes the request at the head out of the queue. */
static void hca_rq_srq_take(struct hca_srq *srq)
{
	const struct mlx5r_srq_next *next;
	u32 head = srq->head + 1;

	if (srq->linked) {
		next = hca_buf_at(&srq->buf, (u64)srq->head << srq->log_stride);
		head = be16_to_cpu(READ_ONCE(next->next_wqe_index));
	}
	srq->head = head & ((1u << srq->log_size) - 1);
	srq->taken++;
	if (srq->lwm && !srq->error)
		hca_rq_srq_check_limit(srq, hca_rq_srq_available(srq));
}

static int hca_rq_srq_get(struct hca_qp *qp, struct hca_srq *srq, struct hca_rwqe *r)
{
	/* Nothing can report a message to an XRC SRQ without its CQ. */
	if (srq->cq && srq->cq->overrun)
		hca_rq_srq_fail(srq);
	if (qp->holder->recv_srq == srq) {
		r->index = qp->holder->recv_index;
	} else if (!srq->error && hca_rq_srq_available(srq)) {
		r->index = srq->head;
	} else if (srq->error) {
		hca_fail_fatal(qp);
		return MLX5R_SYND_REMOTE_OP;
	} else {
		return HCA_RNR;
	}
	hca_rq_parse(r, hca_buf_at(&srq->buf, (u64)r->index << srq->log_stride) + srq->link,
		     (1u << srq->log_stride) - srq->link);
	return 0;
}

/* ---- Both ------------------------------------------------------------------------------ */

int hca_rq_read(struct hca_qp *qp, struct hca_srq *srq, struct hca_rwqe *r)
{
	return srq ? hca_rq_srq_get(qp, srq, r) : hca_rq_ring_get(qp, r);
}

void hca_rq_hold(struct hca_qp *qp, struct hca_srq *srq)
{
	struct hca_qp *holder = qp->holder;

	if (!srq || holder->recv_srq == srq)
		return;
	hca_rq_release(holder);
	holder->recv_index = srq->head;
	holder->recv_srq = srq;
	list_add_tail(&holder->recv_entry, &srq->holders);
	hca_rq_srq_take(srq);
}

void hca_rq_release(struct hca_qp *qp)
{
	qp->recv_srq = NULL;
	list_del_init(&qp->recv_entry);
}

void hca_rq_consume(struct hca_qp *qp, struct hca_srq *srq)
{
	if (!srq)
		qp->rq.ci++;
	else if (qp->holder->recv_srq == srq)
		hca_rq_release(qp->holder);
	else
		hca_rq_srq_take(srq);
}

struct hca_cq *hca_rq_cq(struct hca_qp *qp, struct hca_srq *srq)
{
	return srq && srq->cq ? srq->cq : qp->rcq;
}

void hca_rq_complete(struct hca_qp *qp, struct hca_srq *srq, struct mlx5r_cqe *cqe,
		     const u8 *data)
{
	u32 uidx = srq && srq->kind == HCA_XRC_SRQ ? srq->user_index : qp->user_index;

	cqe->srqn_uidx = cpu_to_be32(uidx);
	cqe->sop_drop_qpn = cpu_to_be32(qp->qpn);
	if (hca_cqe_post(hca_rq_cq(qp, srq), cqe, data))
		return;
	if (srq && srq->cq)
		hca_rq_srq_fail(srq);
	hca_fail_fatal(qp);
}

void hca_rq_complete_error(struct hca_qp *qp, struct hca_srq *srq, u32 index, u8 syndrome)
{
	struct mlx5r_err_cqe cqe = {
		.wqe_counter = cpu_to_be16(index),
		.op_own = MLX5R_CQE_RESP_ERR << 4,
	};

	hca_error_of_receive(&cqe, syndrome);
	hca_rq_complete(qp, srq, (struct mlx5r_cqe *)&cqe, NULL);
}

void hca_rq_abort(struct hca_qp *qp, struct hca_qp *holder)
{
	struct hca_srq *srq = holder->recv_srq;

	hca_rq_release(holder);
	if (srq && !hca_halted(qp->hca))
		hca_rq_complete_error(qp, srq, holder->recv_index, MLX5R_SYND_REMOTE_ABORTED);
}

bool hca_rq_has_posted(struct hca_qp *qp)
{
	return qp->rq.entries && !qp->srq && hca_rq_ring_look(qp);
}

/*
 * Everything posted to the QP's own ring fails with a flush error, and so does
 * the shared request of a message that will not be completed.  True if there is
 * more: long queues are flushed in parts.
 */
bool hca_rq_flush(struct hca_qp *qp)
{
	struct hca_srq *srq = qp->recv_srq;
	u32 n;

	hca_rq_release(qp);
	if (srq)
		hca_rq_complete_error(qp, srq, qp->recv_index, MLX5R_SYND_WR_FLUSH);
	if (!qp->rq.entries || qp->srq)
		return false;
	for (n = 0; n < HCA_FLUSH_REQUESTS && hca_rq_ring_look(qp); n++) {
		hca_rq_complete_error(qp, NULL, qp->rq.ci, MLX5R_SYND_WR_FLUSH);
		qp->rq.ci++;
	}
	hca_charge(qp->hca->fabric, HCA_REQUESTS, n);
	return qp->rq.ci != qp->rq.pi;
}
