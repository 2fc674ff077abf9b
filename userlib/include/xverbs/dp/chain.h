/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Builders for requests that wait and for requests that enable those of managed
 * queues.  They are allowed in queue pairs with the flag XV_QP_CROSS_CHANNEL.
 *
 * The request in the ring has an absolute index.  The caller passes a relative count: the
 * library counts from the start point of the queue that the request names.  The flag
 * XV_SEND_WAIT_EN_LAST moves the start point: it is then after the greatest count that was
 * used since the start point was last moved.  Without the flag, further requests count from
 * the same start point.  The start point is stored in the queue that the request names, so
 * only one thread at a time may build requests that name this queue.
 *
 * The index of a send queue counts WQEBBs (64 bytes): a request of several WQEBBs increases it
 * by their number.  A count of the caller counts requests.
 */
#ifndef XVERBS_DP_CHAIN_H
#define XVERBS_DP_CHAIN_H

#include <xverbs/dp/send.h>

/* ---- Relative counts ----------------------------------------------------------- */

/* Counts up to half the range of the index, which has 24 bits */
#define __XV_WAIT_MAX	(1u << 23)

/* The position behind the request number count after base, or -XV_EINVAL if not posted */
static inline int __xv_sq_walk(struct xv_sq *sq, uint32_t count, uint32_t *position)
{
	struct __xv_enabled *en = &sq->en;
	uint32_t at = en->base, n = count;

	if (count >= en->count) {
		at = en->seen;
		n -= en->count;
	}
	for (; n; n--) {
		/* Not posted yet, or overwritten by a request one round later */
		if (at == sq->pi || sq->pi - at > sq->mask + 1)
			return XV_DP_REFUSE(XV_EINVAL, "count %u: not posted, or overwritten",
					    count);
		at = sq->entry[at & sq->mask].end;
	}
	if (count >= en->count) {
		en->count = count;
		en->seen = at;
	}
	*position = at;
	return 0;
}

static inline int __xv_sq_enable(struct xv_sq *sq, uint32_t count, unsigned int flags,
				 uint32_t *index)
{
	struct __xv_enabled *en = &sq->en;
	uint32_t position = sq->pi;

	if (count && __xv_sq_walk(sq, count, &position))
		return -XV_EINVAL;
	if ((int32_t)(position - en->max) > 0)
		en->max = position;
	if (flags & XV_SEND_WAIT_EN_LAST) {
		en->base = en->seen = en->max;
		en->count = 0;
	}
	*index = position & MLX5R_ENABLE_INDEX_MASK;
	return 0;
}

static inline int __xv_rq_enable(struct xv_rq *rq, uint32_t count, unsigned int flags,
				 uint32_t *index)
{
	uint32_t position = count ? rq->en_base + count : rq->pi;

	if (count > rq->pi - rq->en_base)
		return XV_DP_REFUSE(XV_EINVAL, "count %u, but %u receives are posted", count,
				    rq->pi - rq->en_base);
	if ((int32_t)(position - rq->en_max) > 0)
		rq->en_max = position;
	if (flags & XV_SEND_WAIT_EN_LAST)
		rq->en_base = rq->en_max;
	*index = position & MLX5R_ENABLE_INDEX_MASK;
	return 0;
}

static inline int __xv_cq_wait(struct xv_cq *cq, uint32_t count, unsigned int flags,
			       uint32_t *index)
{
	if (count > __XV_WAIT_MAX)
		return XV_DP_REFUSE(XV_EINVAL, "count %u is greater than %u", count, __XV_WAIT_MAX);
	*index = cq->wait_base + count - 1;
	if (count > cq->wait_max)
		cq->wait_max = count;
	if (flags & XV_SEND_WAIT_EN_LAST) {
		cq->wait_base += cq->wait_max;
		cq->wait_max = 0;
	}
	return 0;
}

/* ---- One request --------------------------------------------------------------- */

/* 0 if the queue may have such a request and has room for it */
xv_inline int __xv_chain_check(struct xv_qp *qp)
{
	if (!(qp->sq.flags & XV_QP_CROSS_CHANNEL))
		return XV_DP_REFUSE(XV_EINVAL, "the queue pair lacks XV_QP_CROSS_CHANNEL");
	return __xv_sq_full(&qp->sq, 1) ? __xv_sq_refuse(qp) : 0;
}

/*
 * Writes the control segment and returns the address of the next one.  On XRC the
 * request also has the XRC segment, which is not used.
 */
xv_inline void *__xv_chain_open(struct xv_qp *qp, uint32_t opcode, uint8_t opmod, uint32_t ds,
				uint64_t wr_id, unsigned int flags)
{
	struct mlx5r_ctrl *ctrl = __xv_sq_next(&qp->sq);
	uint8_t *seg = (uint8_t *)(ctrl + 1);

	if (qp->qp_type == XV_QPT_XRC_SEND) {
		__builtin_memset(seg, 0, sizeof(struct mlx5r_xrc));
		seg += sizeof(struct mlx5r_xrc);
		ds += sizeof(struct mlx5r_xrc) / MLX5R_DS;
	}
	__xv_sq_open(&qp->sq, ctrl, opcode, ds, flags, 0, wr_id, XV_WC_DRIVER1);
	__xv_sq_set_opmod(&qp->sq, ctrl, opmod);
	return seg;
}

/* The caller has called __xv_chain_check(). */
xv_inline void __xv_chain_name(struct xv_qp *qp, uint32_t opcode, uint64_t wr_id,
			       unsigned int flags, uint32_t index, uint32_t number)
{
	struct mlx5r_wait *w = (struct mlx5r_wait *)
		__xv_chain_open(qp, opcode, MLX5R_WAIT_CQ, 2, wr_id, flags);

	__builtin_memset(w->reserved_at_0, 0, sizeof(w->reserved_at_0));
	w->index = xv_be32(index);
	w->number = xv_be32(number);
}

/* ---- Builders: absolute indices ------------------------------------------------ */

/* Waits until the CQ has the entry with this index; the first entry has index 0. */
xv_inline int xv_wr_wait_cq_pi(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
			       const struct xv_cq *cq, uint32_t index)
{
	int err = __xv_chain_check(qp);

	if (xv_unlikely(err))
		return err;
	if (xv_unlikely(!(cq->flags & XV_CQ_CROSS_CHANNEL)))
		return XV_DP_REFUSE(XV_EINVAL, "the CQ lacks XV_CQ_CROSS_CHANNEL");
	__xv_chain_name(qp, MLX5R_OP_WAIT, wr_id, flags, index & MLX5R_WAIT_INDEX_MASK, cq->cqn);
	return 0;
}

/* Enables the sends of queue pair qpn before the WQEBB with this index. */
xv_inline int xv_wr_send_enable_index(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				      uint32_t qpn, uint32_t index)
{
	int err = __xv_chain_check(qp);

	if (xv_unlikely(err))
		return err;
	__xv_chain_name(qp, MLX5R_OP_SEND_ENABLE, wr_id, flags, index & MLX5R_ENABLE_INDEX_MASK,
			qpn);
	return 0;
}

/* Enables the receives of queue pair qpn before the one with this index. */
xv_inline int xv_wr_recv_enable_index(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				      uint32_t qpn, uint32_t index)
{
	int err = __xv_chain_check(qp);

	if (xv_unlikely(err))
		return err;
	__xv_chain_name(qp, MLX5R_OP_RECV_ENABLE, wr_id, flags, index & MLX5R_ENABLE_INDEX_MASK,
			qpn);
	return 0;
}

/* ---- Builders: relative counts ------------------------------------------------- */

/*
 * Waits for count entries of the CQ; 0: for the entry before the start point.  A new CQ has none,
 * and there is nothing to wait for.
 */
xv_inline int xv_wr_cqe_wait(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
			     struct xv_cq *cq, uint32_t count)
{
	int err = __xv_chain_check(qp);
	uint32_t index;

	if (xv_unlikely(err))
		return err;
	if (xv_unlikely(!(cq->flags & XV_CQ_CROSS_CHANNEL)))
		return XV_DP_REFUSE(XV_EINVAL, "the CQ lacks XV_CQ_CROSS_CHANNEL");
	err = __xv_cq_wait(cq, count, flags, &index);
	if (xv_unlikely(err))
		return err;
	__xv_chain_name(qp, MLX5R_OP_WAIT, wr_id, flags, index & MLX5R_WAIT_INDEX_MASK, cq->cqn);
	return 0;
}

/* Enables count sends of a managed queue; 0: all that are posted now. */
xv_inline int xv_wr_send_enable(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				struct xv_qp *managed, uint32_t count)
{
	int err = __xv_chain_check(qp);
	uint32_t index;

	if (xv_unlikely(err))
		return err;
	XV_DP_CHECK(managed != qp);	/* it would wait for itself */
	if (xv_unlikely(!(managed->sq.flags & XV_QP_MANAGED_SEND)))
		return XV_DP_REFUSE(XV_EINVAL, "the other queue pair lacks XV_QP_MANAGED_SEND");
	err = __xv_sq_enable(&managed->sq, count, flags, &index);
	if (xv_unlikely(err))
		return err;
	__xv_chain_name(qp, MLX5R_OP_SEND_ENABLE, wr_id, flags, index, managed->qp_num);
	return 0;
}

/* Enables count receives of a managed queue; 0: all that are posted now. */
xv_inline int xv_wr_recv_enable(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				struct xv_qp *managed, uint32_t count)
{
	int err = __xv_chain_check(qp);
	uint32_t index;

	if (xv_unlikely(err))
		return err;
	if (xv_unlikely(!(managed->rq.flags & XV_QP_MANAGED_RECV)))
		return XV_DP_REFUSE(XV_EINVAL, "the other queue pair lacks XV_QP_MANAGED_RECV");
	err = __xv_rq_enable(&managed->rq, count, flags, &index);
	if (xv_unlikely(err))
		return err;
	__xv_chain_name(qp, MLX5R_OP_RECV_ENABLE, wr_id, flags, index, managed->qp_num);
	return 0;
}

/* ---- Builders: waiting for data and time --------------------------------------- */

xv_inline int __xv_wr_wait_condition(struct xv_qp *qp, uint8_t opmod, uint64_t wr_id,
				     unsigned int flags, const struct xv_wait_data *d)
{
	uint32_t condition = d->condition & ~(uint32_t)XV_WAIT_OR_FAIL;
	int err = __xv_chain_check(qp);
	struct mlx5r_wait_data *w;

	if (xv_unlikely(err))
		return err;
	if (xv_unlikely((condition & ~(uint32_t)XV_WAIT_INVERT) > XV_WAIT_CYCLIC_SMALLER))
		return XV_DP_REFUSE(XV_EINVAL, "there is no condition 0x%x", condition);
	if (xv_unlikely(d->addr & MLX5R_WAIT_FAIL_MASK))
		return XV_DP_REFUSE(XV_EINVAL, "the operand at 0x%llx is not aligned",
				    (unsigned long long)d->addr);
	w = (struct mlx5r_wait_data *)__xv_chain_open(qp, MLX5R_OP_WAIT, opmod, 3, wr_id, flags);
	w->op_inv = xv_be32(condition);
	w->lkey = xv_be32(d->lkey);
	w->addr_fail = xv_be64(d->addr | (d->condition & XV_WAIT_OR_FAIL ? MLX5R_WAIT_ERROR :
									    MLX5R_WAIT_RETRY));
	w->value = xv_be64(d->value);
	w->mask = xv_be64(d->mask);
	return 0;
}

/* Waits until a number in memory meets the condition. */
xv_inline int xv_wr_wait_data(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
			      const struct xv_wait_data *d)
{
	return __xv_wr_wait_condition(qp, MLX5R_WAIT_DATA, wr_id, flags, d);
}

/* Waits until the clock of the adapter is past time; see xv_cqe_timestamp(). */
xv_inline int xv_wr_wait_time(struct xv_qp *qp, uint64_t wr_id, unsigned int flags, uint64_t time)
{
	struct xv_wait_data d = { 0, 0, XV_WAIT_CYCLIC_SMALLER, time, ~0ull };

	return __xv_wr_wait_condition(qp, MLX5R_WAIT_TIME, wr_id, flags, &d);
}

/* ---- Reuse of entries ---------------------------------------------------------- */

/*
 * Frees the entries of the sends before pi, a former value of qp->sq.pi.  The caller knows
 * that they have completed, although their completions were not polled: for example,
 * because a completion was polled of a request that waited for theirs.
 */
xv_inline void xv_retire_send(struct xv_qp *qp, uint32_t pi)
{
	struct xv_sq *sq = &qp->sq;

	XV_DP_CHECK(pi - sq->ci <= sq->pi - sq->ci);
	XV_DP_CHECK(!(sq->flags & XV_QP_MANAGED_SEND) || (int32_t)(sq->en.max - pi) >= 0);
	__atomic_store_n(&sq->ci, pi, __ATOMIC_RELEASE);
}

/* The same for the receives before pi, a former value of qp->rq.pi */
xv_inline void xv_retire_recv(struct xv_qp *qp, uint32_t pi)
{
	struct xv_rq *rq = &qp->rq;

	XV_DP_CHECK(pi - rq->ci <= rq->pi - rq->ci);
	XV_DP_CHECK(!(rq->flags & XV_QP_MANAGED_RECV) || (int32_t)(rq->en_max - pi) >= 0);
	__atomic_store_n(&rq->ci, pi, __ATOMIC_RELEASE);
}

#endif
