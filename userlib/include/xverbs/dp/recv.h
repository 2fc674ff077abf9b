/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Posting receives to the receive queue of a queue pair and to a shared receive
 * queue.  A scatter list that is shorter than the WQE ends with a segment with
 * the invalid lkey (PRM).  The doorbell record alone makes a receive visible to
 * the adapter; there is no doorbell.
 */
#ifndef XVERBS_DP_RECV_H
#define XVERBS_DP_RECV_H

#include <xverbs/dp/send.h>

xv_inline void __xv_seg_end(void *seg)
{
	struct mlx5r_data *d = (struct mlx5r_data *)seg;

	d->byte_count = 0;
	d->lkey = xv_be32(MLX5R_LKEY_END);
	d->addr = 0;
}

/* Writes the scatter list of one receive; elements of length 0 are left out. */
xv_inline int __xv_seg_scatter(uint8_t *seg, uint32_t max_sge, const struct xv_sge *sge, int n)
{
	uint32_t used = 0;
	int i;

	if (xv_unlikely(n < 0 || (uint32_t)n > max_sge))
		return XV_DP_REFUSE(XV_EINVAL, "%d SGEs, the queue has %u", n, max_sge);
	for (i = 0; i < n; i++) {
		if (!sge[i].length)
			continue;
		__xv_seg_data(seg + used * MLX5R_DS, &sge[i]);
		used++;
	}
	if (used < max_sge)
		__xv_seg_end(seg + used * MLX5R_DS);
	return 0;
}

/* ---- Receive queue of a queue pair ------------------------------------- */

/* The queue has no room even when it is empty. */
xv_inline int __xv_rq_refuse(const struct xv_qp *qp)
{
	if (qp->srq)
		return XV_DP_REFUSE(XV_EINVAL, "the queue pair has a shared receive queue");
	if (qp->state == XV_QPS_RESET)
		return XV_DP_REFUSE(XV_EINVAL, "the queue pair is in state RESET");
	return XV_DP_REFUSE(XV_EINVAL, "the queue pair has no receive queue for posts");
}

/* Builds one receive of n elements; xv_commit_recv() makes it visible to the adapter. */
xv_inline int xv_wr_recv_sg(struct xv_qp *qp, uint64_t wr_id, const struct xv_sge *sge, int n)
{
	struct xv_rq *rq = &qp->rq;
	uint32_t used = rq->pi - __atomic_load_n(&rq->ci, __ATOMIC_ACQUIRE);
	uint32_t i = rq->pi & rq->mask;
	int err;

	if (xv_unlikely(used >= rq->room)) {
		if (!rq->room)
			return __xv_rq_refuse(qp);
		if (!(rq->flags & XV_QP_IGNORE_RQ_OVERFLOW))
			return XV_DP_REFUSE(XV_ENOMEM, "the receive queue is full");
		XV_DP_CHECK(used <= rq->mask);
	}
	err = __xv_seg_scatter(rq->buf + ((uint64_t)i << rq->log_stride), rq->max_sge, sge, n);
	if (xv_unlikely(err))
		return err;
	XV_DP_BUILD(rq, XV_QP_MANAGED_RECV);
	rq->wr_id[i] = wr_id;
	rq->pi++;
	return 0;
}

xv_inline int xv_wr_recv(struct xv_qp *qp, uint64_t wr_id, const struct xv_sge *sge)
{
	return xv_wr_recv_sg(qp, wr_id, sge, 1);
}

xv_inline void xv_commit_recv(struct xv_qp *qp)
{
	xv_to_device_barrier();		/* A */
	qp->rq.dbrec[MLX5R_DBR_RCV] = xv_be32(qp->rq.pi & 0xffff);
	XV_DP_COMMIT(&qp->rq);
}

/* A queue pair without a receive queue has no doorbell record for it. */
xv_inline int __xv_recv_end(struct xv_qp *qp, uint32_t first, int err)
{
	if (qp->rq.pi != first)
		xv_commit_recv(qp);
	xv_unlock(&qp->rq.lock);
	return err;
}

/* Lets the library store the reason. */
xv_outline void __xv_recv_refuse(const struct xv_qp *qp, const struct xv_recv_wr *wr, int err)
{
	if (qp->recv_refused)
		qp->recv_refused(qp, wr, err);
}

/* Posts a list; results as xv_post_send() */
static inline int xv_post_recv(struct xv_qp *qp, struct xv_recv_wr *wr,
			       struct xv_recv_wr **bad_wr)
{
	uint32_t first;
	int err;

	xv_lock(&qp->rq.lock);
	first = qp->rq.pi;
	for (; wr; wr = wr->next) {
		err = xv_wr_recv_sg(qp, wr->wr_id, wr->sg_list, wr->num_sge);
		if (xv_unlikely(err)) {
			*bad_wr = wr;
			__xv_recv_refuse(qp, wr, err);
			return __xv_recv_end(qp, first, err);
		}
	}
	return __xv_recv_end(qp, first, 0);
}

/* ---- Shared receive queue ---------------------------------------------------- */

xv_inline struct mlx5r_srq_next *__xv_srq_entry(const struct xv_srq *srq, uint32_t i)
{
	return (struct mlx5r_srq_next *)(void *)
		(srq->buf + ((uint64_t)(i & srq->mask) << srq->log_stride));
}

/*
 * One entry always stays in the list, because a completion links its entry to the
 * tail.  head == tail therefore means that the queue is full.
 */
xv_inline int __xv_srq_post_list(struct xv_srq *srq, uint64_t wr_id,
				 const struct xv_sge *sge, int n)
{
	struct mlx5r_srq_next *next = __xv_srq_entry(srq, srq->head);
	int err;

	if (xv_unlikely(srq->head == srq->tail))
		return XV_DP_REFUSE(XV_ENOMEM, "the queue is full");
	err = __xv_seg_scatter((uint8_t *)(next + 1), srq->max_sge, sge, n);
	if (xv_unlikely(err))
		return err;
	srq->wr_id[srq->head] = wr_id;
	srq->head = xv_be16(next->next_wqe_index) & srq->mask;
	srq->counter++;
	return 0;
}

xv_inline int __xv_srq_post_ring(struct xv_srq *srq, uint64_t wr_id,
				 const struct xv_sge *sge, int n)
{
	uint32_t i = srq->head & srq->mask;
	int err;

	if (xv_unlikely(srq->head - srq->tail > srq->mask))
		return XV_DP_REFUSE(XV_ENOMEM, "the queue is full");
	err = __xv_seg_scatter((uint8_t *)__xv_srq_entry(srq, i), srq->max_sge, sge, n);
	if (xv_unlikely(err))
		return err;
	srq->wr_id[i] = wr_id;
	srq->head++;
	srq->counter++;
	return 0;
}

/* Builds one receive; the caller holds srq->lock. */
xv_inline int xv_wr_srq_recv(struct xv_srq *srq, uint64_t wr_id, const struct xv_sge *sge, int n)
{
	XV_DP_CHECK(!srq->lock.on || srq->lock.held);
	return srq->done ? __xv_srq_post_ring(srq, wr_id, sge, n) :
			   __xv_srq_post_list(srq, wr_id, sge, n);
}

xv_inline void xv_commit_srq(struct xv_srq *srq)
{
	xv_to_device_barrier();		/* A */
	srq->dbrec[MLX5R_DBR_RCV] = xv_be32(srq->counter);
}

static inline int xv_post_srq_recv(struct xv_srq *srq, struct xv_recv_wr *wr,
				   struct xv_recv_wr **bad_wr)
{
	int err = 0;

	xv_lock(&srq->lock);
	for (; wr; wr = wr->next) {
		err = xv_wr_srq_recv(srq, wr->wr_id, wr->sg_list, wr->num_sge);
		if (xv_unlikely(err)) {
			*bad_wr = wr;
			if (srq->recv_refused)
				srq->recv_refused(srq, wr, err);
			break;
		}
	}
	xv_commit_srq(srq);
	xv_unlock(&srq->lock);
	return err;
}

/* Returns entry i to the free entries. */
xv_inline void __xv_srq_free(struct xv_srq *srq, uint32_t i)
{
	i &= srq->mask;
	xv_lock(&srq->lock);
	if (srq->done) {
		srq->done[i] = 1;
		while (srq->tail != srq->head && srq->done[srq->tail & srq->mask])
			srq->done[srq->tail++ & srq->mask] = 0;
	} else {
		__xv_srq_entry(srq, srq->tail)->next_wqe_index = xv_be16(i);
		srq->tail = i;
	}
	xv_unlock(&srq->lock);
}

#endif
