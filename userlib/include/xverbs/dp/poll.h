/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Polling completions.  xv_poll_cq() fills an array.  Or the caller reads CQEs in
 * place:
 *
 *	while ((cqe = xv_cq_next(cq))) {
 *		... xv_cqe_wr_id(cq, cqe), xv_cqe_status(cqe) ...
 *		xv_cq_done(cq, cqe);
 *	}
 *	xv_commit_cq(cq);
 *
 * xv_cq_done() consumes the CQE and frees the entry of the work queue.  The
 * functions for CQEs in place take no lock: only one thread at a time may use a
 * completion queue.
 *
 * The adapter writes owner bit 0 in its first pass over the ring, 1 in the second,
 * 0 in the third.  An entry that it has never written has opcode INVALID, the
 * highest opcode.
 */
#ifndef XVERBS_DP_POLL_H
#define XVERBS_DP_POLL_H

#include <xverbs/dp/recv.h>

/* ---- One entry ------------------------------------------------------------ */

/* CQE of index i: the last 64 bytes of its entry, which has 64 or 128 bytes */
xv_inline const struct mlx5r_cqe *xv_cq_at(const struct xv_cq *cq, uint32_t i)
{
	const uint8_t *end = cq->buf + ((uint64_t)((i & cq->mask) + 1) << cq->log_stride);

	return (const struct mlx5r_cqe *)(const void *)end - 1;
}

xv_inline uint8_t __xv_cqe_op_own(const struct mlx5r_cqe *cqe)
{
	return *(const volatile uint8_t *)&cqe->op_own;
}

/* The owner bit that the adapter writes to entry i */
xv_inline uint8_t __xv_cq_owner(const struct xv_cq *cq, uint32_t i)
{
	return i >> cq->log_size & MLX5R_CQE_OWNER;
}

xv_inline int __xv_cq_has(const struct xv_cq *cq, uint32_t i, uint8_t op_own)
{
	return op_own < MLX5R_CQE_INVALID << 4 &&
	       (op_own & MLX5R_CQE_OWNER) == __xv_cq_owner(cq, i);
}

xv_inline const struct mlx5r_cqe *xv_cq_next(struct xv_cq *cq)
{
	const struct mlx5r_cqe *cqe = xv_cq_at(cq, cq->ci);

	if (!__xv_cq_has(cq, cq->ci, __xv_cqe_op_own(cqe)))
		return 0;
	xv_from_device_barrier();	/* D */
	cq->held = cq->ci;
	return cqe;
}

xv_inline uint32_t xv_cqe_opcode(const struct mlx5r_cqe *cqe)
{
	return cqe->op_own >> 4;
}

/* True for the opcode of a receive that was successful */
xv_inline int __xv_cqe_op_is_receive(uint32_t op)
{
	return op >= MLX5R_CQE_RESP_WR_IMM && op <= MLX5R_CQE_RESP_SEND_INV;
}

/* True for the completion of a send, successful or not */
xv_inline int xv_cqe_is_send(const struct mlx5r_cqe *cqe)
{
	uint32_t op = xv_cqe_opcode(cqe);

	return op == MLX5R_CQE_REQ || op == MLX5R_CQE_REQ_ERR;
}

xv_inline uint32_t xv_cqe_byte_len(const struct mlx5r_cqe *cqe)
{
	return xv_be32(cqe->byte_cnt);
}

xv_inline uint32_t xv_cqe_imm(const struct mlx5r_cqe *cqe)
{
	return cqe->imm_inval_pkey;	/* network byte order */
}

xv_inline uint32_t xv_cqe_qpn(const struct mlx5r_cqe *cqe)
{
	return xv_be32(cqe->sop_drop_qpn) & 0xffffff;
}

xv_inline uint32_t xv_cqe_src_qp(const struct mlx5r_cqe *cqe)
{
	return xv_be32(cqe->flags_rqpn) & 0xffffff;
}

xv_inline uint64_t xv_cqe_timestamp(const struct mlx5r_cqe *cqe)
{
	return xv_be64(cqe->timestamp);
}

/* The data, if the completion has it instead of memory, or null; at most 64 bytes */
xv_inline const void *xv_cqe_data(const struct mlx5r_cqe *cqe)
{
	switch (cqe->op_own & MLX5R_CQE_FORMAT_MASK) {
	case MLX5R_CQE_INLINE_32:
		return cqe;
	case MLX5R_CQE_INLINE_64:
		return cqe - 1;		/* the other half of an entry of 128 bytes */
	default:
		return 0;
	}
}

static inline enum xv_wc_status __xv_syndrome_status(uint8_t syndrome)
{
	switch (syndrome) {
	case MLX5R_SYND_LOCAL_LENGTH:		return XV_WC_LOC_LEN_ERR;
	case MLX5R_SYND_LOCAL_QP_OP:		return XV_WC_LOC_QP_OP_ERR;
	case MLX5R_SYND_LOCAL_PROT:		return XV_WC_LOC_PROT_ERR;
	case MLX5R_SYND_WR_FLUSH:		return XV_WC_WR_FLUSH_ERR;
	case MLX5R_SYND_MW_BIND:		return XV_WC_MW_BIND_ERR;
	case MLX5R_SYND_BAD_RESP:		return XV_WC_BAD_RESP_ERR;
	case MLX5R_SYND_LOCAL_ACCESS:		return XV_WC_LOC_ACCESS_ERR;
	case MLX5R_SYND_REMOTE_INVAL_REQ:	return XV_WC_REM_INV_REQ_ERR;
	case MLX5R_SYND_REMOTE_ACCESS:		return XV_WC_REM_ACCESS_ERR;
	case MLX5R_SYND_REMOTE_OP:		return XV_WC_REM_OP_ERR;
	case MLX5R_SYND_RETRY_EXC:		return XV_WC_RETRY_EXC_ERR;
	case MLX5R_SYND_RNR_EXC:		return XV_WC_RNR_RETRY_EXC_ERR;
	case MLX5R_SYND_REMOTE_ABORTED:		return XV_WC_REM_ABORT_ERR;
	default:				return XV_WC_GENERAL_ERR;
	}
}

/* Error completions have no time stamp. */
xv_inline int xv_cqe_has_timestamp(const struct mlx5r_cqe *cqe)
{
	return xv_cqe_opcode(cqe) <= MLX5R_CQE_RESP_SEND_INV;
}

xv_inline const struct mlx5r_err_cqe *xv_cqe_err(const struct mlx5r_cqe *cqe)
{
	return (const struct mlx5r_err_cqe *)(const void *)cqe;
}

xv_inline enum xv_wc_status xv_cqe_status(const struct mlx5r_cqe *cqe)
{
	uint32_t op = xv_cqe_opcode(cqe);

	if (xv_likely(op <= MLX5R_CQE_RESP_SEND_INV))
		return XV_WC_SUCCESS;
	if (op == MLX5R_CQE_REQ_ERR || op == MLX5R_CQE_RESP_ERR)
		return __xv_syndrome_status(xv_cqe_err(cqe)->syndrome);
	return XV_WC_GENERAL_ERR;
}

/* ---- From the CQE to the work request -------------------------------------- */

xv_outline struct xv_rsc *__xv_rsc_find(struct xv_cq *cq, uint32_t uidx)
{
	uint32_t index = xv_be32(uidx) & XV_RSC_INDEX_MASK;
	struct xv_rsc **leaf = cq->dir->leaf[index >> XV_RSC_DIR_SHIFT];
	struct xv_rsc *rsc = leaf ? leaf[index & XV_RSC_DIR_MASK] : 0;

	if (rsc && rsc->type == XV_RSC_QP && xv_be32(uidx) == index) {
		cq->last = (struct xv_qp *)(void *)rsc;
		cq->last_uidx = uidx;
	}
	return rsc;
}

/* True if the CQE is of the same queue pair as the previous one. */
xv_inline int __xv_cqe_is_last(const struct xv_cq *cq, const struct mlx5r_cqe *cqe)
{
	return cqe->srqn_uidx == cq->last_uidx;
}

/* The queue that a CQE names, or null if it no longer exists */
xv_inline struct xv_rsc *__xv_cqe_rsc(struct xv_cq *cq, const struct mlx5r_cqe *cqe)
{
	if (xv_likely(__xv_cqe_is_last(cq, cqe)))
		return &cq->last->rsc;
	return __xv_rsc_find(cq, cqe->srqn_uidx);
}

/*
 * CQEs of XRC SRQs have the user index of the SRQ, those of DC targets that of the target,
 * others that of the QP.
 */
xv_inline struct xv_srq *__xv_rsc_srq(struct xv_rsc *rsc)
{
	if (xv_likely(rsc->type == XV_RSC_QP))
		return ((struct xv_qp *)(void *)rsc)->srq;
	if (rsc->type == XV_RSC_DCT)
		return ((struct xv_dct *)(void *)rsc)->srq;
	return (struct xv_srq *)(void *)rsc;
}

xv_inline struct xv_sq_entry *xv_cqe_sq_entry(struct xv_qp *qp, const struct mlx5r_cqe *cqe)
{
	return &qp->sq.entry[xv_be16(cqe->wqe_counter) & qp->sq.mask];
}

/* A completion also completes all sends before it, signalled or not. */
xv_inline void xv_sq_retire(struct xv_qp *qp, const struct xv_sq_entry *e)
{
	__atomic_store_n(&qp->sq.ci, e->end, __ATOMIC_RELEASE);
}

/* Receives of a queue pair complete in posting order. */
xv_inline void __xv_rq_retire(struct xv_qp *qp)
{
	__atomic_store_n(&qp->rq.ci, qp->rq.ci + 1, __ATOMIC_RELEASE);
}

xv_inline uint64_t xv_cqe_wr_id(struct xv_cq *cq, const struct mlx5r_cqe *cqe)
{
	struct xv_rsc *rsc = __xv_cqe_rsc(cq, cqe);
	struct xv_srq *srq;
	struct xv_qp *qp;

	if (xv_unlikely(!rsc))
		return 0;
	qp = (struct xv_qp *)(void *)rsc;
	if (xv_cqe_is_send(cqe))
		return rsc->type == XV_RSC_QP ? xv_cqe_sq_entry(qp, cqe)->wr_id : 0;
	srq = __xv_rsc_srq(rsc);
	if (srq)
		return srq->wr_id[xv_be16(cqe->wqe_counter) & srq->mask];
	return qp->rq.wr_id[qp->rq.ci & qp->rq.mask];
}

xv_outline void __xv_cq_done_any(struct xv_cq *cq, const struct mlx5r_cqe *cqe)
{
	struct xv_rsc *rsc = __xv_cqe_rsc(cq, cqe);
	struct xv_qp *qp = (struct xv_qp *)(void *)rsc;
	struct xv_srq *srq;

	if (!rsc)
		return;
	if (xv_cqe_is_send(cqe)) {
		if (rsc->type == XV_RSC_QP)
			xv_sq_retire(qp, xv_cqe_sq_entry(qp, cqe));
		return;
	}
	srq = __xv_rsc_srq(rsc);
	if (srq)
		__xv_srq_free(srq, xv_be16(cqe->wqe_counter));
	else
		__xv_rq_retire(qp);
}

xv_inline void xv_cq_done(struct xv_cq *cq, const struct mlx5r_cqe *cqe)
{
	cq->ci++;
	if (xv_likely(xv_cqe_opcode(cqe) == MLX5R_CQE_REQ && __xv_cqe_is_last(cq, cqe)))
		xv_sq_retire(cq->last, xv_cqe_sq_entry(cq->last, cqe));
	else
		__xv_cq_done_any(cq, cqe);
}

/* Allows the adapter to reuse the entries consumed so far. */
xv_inline void xv_commit_cq(struct xv_cq *cq)
{
	xv_cqe_release_barrier();	/* E */
	cq->dbrec[MLX5R_DBR_CQ_CI] = xv_be32(cq->ci & MLX5R_CQ_INDEX_MASK);
}

/* ---- Data in the completion ------------------------------------------------------ */

/* The elements of a request have addresses of this process. */
#ifndef __XV_DATA_PTR
#define __XV_DATA_PTR(addr)	((void *)(uintptr_t)(addr))
#endif

/* Copies the data of a completion to n data segments, which wrap at the end of a send queue. */
xv_outline void __xv_cqe_scatter(const struct mlx5r_cqe *cqe, const struct xv_sq *sq, uint8_t *seg,
				 uint32_t n)
{
	const uint8_t *data = (const uint8_t *)xv_cqe_data(cqe);
	uint32_t left = xv_cqe_byte_len(cqe), bytes;

	left = left < sizeof(*cqe) ? left : (uint32_t)sizeof(*cqe);
	for (; left && n; n--, left -= bytes, data += bytes) {
		const struct mlx5r_data *d = (const struct mlx5r_data *)(const void *)seg;

		bytes = xv_be32(d->byte_count);
		if (!bytes && d->lkey == xv_be32(MLX5R_LKEY_END))
			return;
		bytes = bytes < left ? bytes : left;
		__builtin_memcpy(__XV_DATA_PTR(xv_be64(d->addr)), data, bytes);
		seg += MLX5R_DS;
		if (sq)
			seg = __xv_sq_wrap(sq, seg);
	}
}

/* The response to a read or an atomic: its data segments are the last ones of the request. */
xv_outline void __xv_cqe_scatter_response(const struct xv_qp *qp, const struct mlx5r_cqe *cqe)
{
	const struct xv_sq *sq = &qp->sq;
	uint8_t *wqe = sq->buf + (uint64_t)(xv_be16(cqe->wqe_counter) & sq->mask) * MLX5R_WQEBB;
	const struct mlx5r_ctrl *ctrl = (const struct mlx5r_ctrl *)(void *)wqe;
	uint32_t word = xv_be32(ctrl->opmod_idx_opcode), opcode = word & 0xff;
	uint32_t ds = xv_be32(ctrl->qpn_ds) & MLX5R_MAX_DS, skip = 2;
	uint32_t operand = MLX5R_ATOMIC_MIN << (word >> MLX5R_CTRL_OPMOD_SHIFT &
						MLX5R_ATOMIC_LOG_MASK);

	if (qp->qp_type == XV_QPT_DCI)
		skip += sizeof(struct mlx5r_av) / MLX5R_DS;
	if (qp->qp_type == XV_QPT_XRC_SEND)
		skip += sizeof(struct mlx5r_xrc) / MLX5R_DS;
	if (opcode == MLX5R_OP_ATOMIC_CS || opcode == MLX5R_OP_ATOMIC_FA)
		skip += sizeof(struct mlx5r_atomic) / MLX5R_DS;
	else if (opcode == MLX5R_OP_ATOMIC_MASKED_CS)
		skip += 4 * operand / MLX5R_DS;
	else if (opcode == MLX5R_OP_ATOMIC_MASKED_FA)
		skip += (2 * operand + MLX5R_DS - 1) / MLX5R_DS;
	if (sq->flags & XV_QP_EXTERNAL_DATAPATH || skip >= ds)
		return;
	wqe += skip * MLX5R_DS;
	if (wqe >= sq->buf_end)
		wqe -= (uint64_t)(sq->mask + 1) * MLX5R_WQEBB;
	__xv_cqe_scatter(cqe, sq, wqe, ds - skip);
}

/* A message: the data segments are those of the receive. */
xv_outline void __xv_cqe_scatter_receive(struct xv_rsc *rsc, const struct mlx5r_cqe *cqe)
{
	struct xv_srq *srq = __xv_rsc_srq(rsc);
	const struct xv_rq *rq = &((const struct xv_qp *)(void *)rsc)->rq;
	uint8_t *seg;

	if (srq) {
		seg = (uint8_t *)__xv_srq_entry(srq, xv_be16(cqe->wqe_counter));
		if (!srq->done)
			seg += sizeof(struct mlx5r_srq_next);
		__xv_cqe_scatter(cqe, 0, seg, srq->max_sge);
	} else if (!(rq->flags & XV_QP_EXTERNAL_DATAPATH)) {
		seg = rq->buf + ((uint64_t)(rq->ci & rq->mask) << rq->log_stride);
		__xv_cqe_scatter(cqe, 0, seg, rq->max_sge);
	}
}

/* ---- Work completions ----------------------------------------------------------- */

xv_inline void __xv_wc_requester(struct xv_qp *qp, const struct mlx5r_cqe *cqe, struct xv_wc *wc)
{
	const struct xv_sq_entry *e = xv_cqe_sq_entry(qp, cqe);

	wc->wr_id = e->wr_id;
	wc->status = XV_WC_SUCCESS;
	wc->opcode = (enum xv_wc_opcode)e->wc_opcode;
	wc->byte_len = xv_be32(cqe->byte_cnt);
	wc->vendor_err = 0;
	wc->qp_num = qp->qp_num;
	wc->wc_flags = 0;
	if (wc->opcode == XV_WC_COMP_SWAP || wc->opcode == XV_WC_FETCH_ADD)
		wc->byte_len = 8;
	xv_sq_retire(qp, e);
}

xv_inline uint64_t __xv_recv_retire(struct xv_rsc *rsc, const struct mlx5r_cqe *cqe)
{
	struct xv_qp *qp = (struct xv_qp *)(void *)rsc;
	struct xv_srq *srq = __xv_rsc_srq(rsc);
	uint64_t wr_id;
	uint32_t i;

	if (srq) {
		i = xv_be16(cqe->wqe_counter) & srq->mask;
		wr_id = srq->wr_id[i];
		__xv_srq_free(srq, i);
		return wr_id;
	}
	wr_id = qp->rq.wr_id[qp->rq.ci & qp->rq.mask];
	__xv_rq_retire(qp);
	return wr_id;
}

xv_inline void __xv_wc_responder(struct xv_rsc *rsc, const struct mlx5r_cqe *cqe, struct xv_wc *wc)
{
	/* Data in the first half of the CQE replaces these fields, which only datagrams need. */
	int covered = (cqe->op_own & MLX5R_CQE_FORMAT_MASK) == MLX5R_CQE_INLINE_32;
	uint32_t op = xv_cqe_opcode(cqe), flags = covered ? 0 : xv_be32(cqe->flags_rqpn);

	wc->wr_id = __xv_recv_retire(rsc, cqe);
	wc->status = XV_WC_SUCCESS;
	wc->vendor_err = 0;
	wc->qp_num = xv_cqe_qpn(cqe);
	wc->opcode = op == MLX5R_CQE_RESP_WR_IMM ? XV_WC_RECV_RDMA_WITH_IMM : XV_WC_RECV;
	wc->byte_len = xv_be32(cqe->byte_cnt);
	wc->wc_flags = flags >> 28 & 3 ? XV_WC_GRH : 0;
	if (op == MLX5R_CQE_RESP_WR_IMM || op == MLX5R_CQE_RESP_SEND_IMM) {
		wc->wc_flags |= XV_WC_WITH_IMM;
		wc->imm_data = cqe->imm_inval_pkey;
	} else if (op == MLX5R_CQE_RESP_SEND_INV) {
		wc->wc_flags |= XV_WC_WITH_INV;
		wc->invalidated_rkey = xv_be32(cqe->imm_inval_pkey);
	}
	wc->src_qp = flags & 0xffffff;
	wc->sl = flags >> 24 & 0xf;
	wc->slid = covered ? 0 : xv_be16(cqe->slid);
	wc->dlid_path_bits = covered ? 0 : cqe->ml_path & 0x7f;
	wc->pkey_index = 0;
}

xv_inline void __xv_wc_error(struct xv_rsc *rsc, const struct mlx5r_cqe *cqe, struct xv_wc *wc)
{
	wc->status = xv_cqe_status(cqe);
	wc->qp_num = xv_cqe_qpn(cqe);
	wc->byte_len = 0;
	wc->wc_flags = 0;
	if (xv_cqe_opcode(cqe) == MLX5R_CQE_RESP_ERR) {
		wc->wr_id = __xv_recv_retire(rsc, cqe);
		wc->opcode = XV_WC_RECV;
	} else {
		struct xv_qp *qp = (struct xv_qp *)(void *)rsc;
		const struct xv_sq_entry *e = xv_cqe_sq_entry(qp, cqe);

		wc->wr_id = e->wr_id;
		wc->opcode = (enum xv_wc_opcode)e->wc_opcode;
		xv_sq_retire(qp, e);
	}
	wc->vendor_err = xv_cqe_err(cqe)->vendor_err_synd;
}

/* Copies data that is in the CQE to the buffers of its request. */
xv_outline void __xv_cqe_deliver(struct xv_rsc *rsc, const struct mlx5r_cqe *cqe)
{
	uint32_t op = xv_cqe_opcode(cqe);

	if (op == MLX5R_CQE_REQ && rsc->type == XV_RSC_QP)
		__xv_cqe_scatter_response((struct xv_qp *)(void *)rsc, cqe);
	else if (__xv_cqe_op_is_receive(op))
		__xv_cqe_scatter_receive(rsc, cqe);
}

/* Handles a CQE of any kind; 0: its queue no longer exists, skip it. */
xv_outline int __xv_cq_take(struct xv_cq *cq, const struct mlx5r_cqe *cqe, struct xv_wc *wc)
{
	struct xv_rsc *rsc = __xv_cqe_rsc(cq, cqe);
	uint32_t op = xv_cqe_opcode(cqe);

	if (!rsc)
		return 0;
	if (xv_unlikely(xv_cqe_data(cqe)))
		__xv_cqe_deliver(rsc, cqe);
	if (op == MLX5R_CQE_REQ && rsc->type == XV_RSC_QP)
		__xv_wc_requester((struct xv_qp *)(void *)rsc, cqe, wc);
	else if (__xv_cqe_op_is_receive(op))
		__xv_wc_responder(rsc, cqe, wc);
	else if (op == MLX5R_CQE_RESP_ERR || (op == MLX5R_CQE_REQ_ERR && rsc->type == XV_RSC_QP))
		__xv_wc_error(rsc, cqe, wc);
	else
		return 0;
	return 1;
}

/* The queues that a completion belongs to; those that it has not are null. */
struct xv_wc_queues {
	struct xv_qp *qp;		/* not of the receive of an XRC SRQ or a DC target */
	struct xv_srq *srq;		/* of a receive */
	struct xv_dct *dct;		/* of a receive */
};

xv_outline void __xv_wc_queues(struct xv_cq *cq, const struct mlx5r_cqe *cqe,
			       struct xv_wc_queues *q)
{
	struct xv_rsc *rsc = __xv_cqe_rsc(cq, cqe);

	q->qp = rsc->type == XV_RSC_QP ? (struct xv_qp *)(void *)rsc : 0;
	q->srq = xv_cqe_is_send(cqe) ? 0 : __xv_rsc_srq(rsc);
	q->dct = rsc->type == XV_RSC_DCT ? (struct xv_dct *)(void *)rsc : 0;
}

/*
 * Needs the lock of the CQ.  times: null, or an array for the time stamps; queues: null, or an
 * array for the queues.
 */
xv_inline int __xv_cq_poll_locked(struct xv_cq *cq, int n, struct xv_wc *wc, uint64_t *times,
				  struct xv_wc_queues *queues)
{
	const struct mlx5r_cqe *cqe;
	uint8_t op_own;
	int got = 0;
	uint32_t ci;

	for (ci = cq->ci; got < n; ci++) {
		cqe = xv_cq_at(cq, ci);
		op_own = __xv_cqe_op_own(cqe);
		/* For a successful send the opcode is 0: op_own is the owner bit alone. */
		if (xv_unlikely(op_own != __xv_cq_owner(cq, ci)) && !__xv_cq_has(cq, ci, op_own))
			break;
		xv_from_device_barrier();	/* D */
		if (xv_likely(op_own <= MLX5R_CQE_OWNER && __xv_cqe_is_last(cq, cqe)))
			__xv_wc_requester(cq->last, cqe, wc);
		else if (!__xv_cq_take(cq, cqe, wc))
			continue;
		if (times)
			times[got] = xv_cqe_has_timestamp(cqe) ? xv_cqe_timestamp(cqe) : 0;
		if (queues)
			__xv_wc_queues(cq, cqe, &queues[got]);
		got++;
		wc++;
	}
	if (ci != cq->ci) {
		cq->ci = ci;
		xv_commit_cq(cq);
	}
	return got;
}

xv_inline int __xv_cq_poll(struct xv_cq *cq, int n, struct xv_wc *wc, uint64_t *times,
			   struct xv_wc_queues *queues)
{
	int got;

	xv_lock(&cq->lock);
	got = __xv_cq_poll_locked(cq, n, wc, times, queues);
	xv_unlock(&cq->lock);
	return got;
}

/*
 * Polls up to n completions and returns their number.  Takes the lock of the CQ.
 * When it returns, the entries of the work queues are free for new requests.
 */
static inline int xv_poll_cq(struct xv_cq *cq, int n, struct xv_wc *wc)
{
	return __xv_cq_poll(cq, n, wc, 0, 0);
}

/*
 * The same, with the times of the completions.  They count at the rate hca_core_clock of the
 * device, from an arbitrary start.  A failed completion has none: 0.
 */
static inline int xv_poll_cq_ts(struct xv_cq *cq, int n, struct xv_wc *wc, uint64_t *times)
{
	return __xv_cq_poll(cq, n, wc, times, 0);
}

/*
 * The same, with the queues of the completions.  A queue pair may be destroyed by another thread
 * as soon as the call returns.
 */
static inline int xv_poll_cq_queues(struct xv_cq *cq, int n, struct xv_wc *wc, uint64_t *times,
				    struct xv_wc_queues *queues)
{
	return __xv_cq_poll(cq, n, wc, times, queues);
}

/* ---- Arming --------------------------------------------------------------------- */

/*
 * Requests one completion event for the next completion, or for the next solicited
 * or failed one.  The caller must poll once more before it sleeps: a completion
 * that came before the request raises no event.
 */
xv_inline int xv_req_notify(struct xv_cq *cq, int solicited_only)
{
	uint32_t word = (cq->arm_sn & 3) << MLX5R_CQ_ARM_SN_SHIFT |
			(solicited_only ? MLX5R_CQ_ARM_SOLICITED : 0) |
			(cq->ci & MLX5R_CQ_INDEX_MASK);

	xv_to_device_barrier();		/* A */
	cq->dbrec[MLX5R_DBR_CQ_ARM] = xv_be32(word);
	xv_doorbell_barrier();		/* B */
	*cq->doorbell = (uint64_t)xv_be32(cq->cqn) << 32 | xv_be32(word);
	xv_doorbell_flush();		/* C */
	return 0;
}

#endif
