/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Posting sends.  A builder xv_wr_*() writes one WQE.  xv_commit_send() tells
 * the adapter about all WQEs built since the last commit.  Opcode and segments
 * are compile-time constants in a builder, so that it compiles to plain stores.
 *
 * A builder returns 0, -XV_ENOMEM if the queue is full, or -XV_EINVAL if the
 * state or a limit of the queue forbids the request.  After an error the queue
 * is unchanged.  Builders take no lock, also if the queue has one: either only one
 * thread posts to a queue pair, or each holds qp->sq.lock (xv_lock(), xv_unlock())
 * from the first builder to the commit.
 *
 * Sizes are in WQEBBs (64 bytes) and in data segment units, DS (16 bytes) (PRM).
 */
#ifndef XVERBS_DP_SEND_H
#define XVERBS_DP_SEND_H

#include <xverbs/dp/queue.h>

/* Reads the current consumer index. */
xv_outline int __xv_sq_full_now(struct xv_sq *sq, uint32_t nbb)
{
	uint32_t ci = __atomic_load_n(&sq->ci, __ATOMIC_ACQUIRE);

	if (sq->flags & XV_QP_IGNORE_SQ_OVERFLOW) {
		XV_DP_CHECK(sq->pi - ci + nbb <= sq->mask + 1);
		ci = sq->pi;
	}
	if (sq->pi - ci + nbb > sq->room)
		return 1;
	sq->limit = ci + sq->room;
	return 0;
}

/* True if the queue has no room for a WQE of nbb WQEBBs. */
xv_inline int __xv_sq_full(struct xv_sq *sq, uint32_t nbb)
{
	return xv_unlikely((int32_t)(sq->limit - sq->pi) < (int32_t)nbb) &&
	       __xv_sq_full_now(sq, nbb);
}

/* Address of the next WQE */
xv_inline struct mlx5r_ctrl *__xv_sq_next(const struct xv_sq *sq)
{
	return (struct mlx5r_ctrl *)(void *)
		(sq->buf + (uint64_t)(sq->pi & sq->mask) * MLX5R_WQEBB);
}

xv_inline const char *__xv_state_name(const struct xv_qp *qp)
{
	static const char name[][6] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };

	return (unsigned int)qp->state < sizeof(name) / sizeof(name[0]) ? name[qp->state] : "?";
}

xv_inline int __xv_sq_refuse(const struct xv_qp *qp)
{
	if (qp->sq.room)
		return XV_DP_REFUSE(XV_ENOMEM, "the send queue is full");
	if (qp->state >= XV_QPS_RTS || qp->qp_type == XV_QPT_XRC_RECV)
		return XV_DP_REFUSE(XV_EINVAL, "the queue pair has no send queue for posts");
	return XV_DP_REFUSE(XV_EINVAL, "the queue pair is in state %s and does not send",
			    __xv_state_name(qp));
}

xv_inline int __xv_foreign_ah(void)
{
	return XV_DP_REFUSE(XV_EINVAL, "the address handle is of another protection domain");
}

xv_inline int __xv_too_long(uint32_t ds)
{
	(void)ds;
	return XV_DP_REFUSE(XV_EINVAL, "the WQE would have %u units of 16 bytes, more than %u", ds,
			    MLX5R_MAX_DS);
}

/* Address of a segment, if the previous segment may end the ring */
xv_inline uint8_t *__xv_sq_wrap(const struct xv_sq *sq, uint8_t *seg)
{
	return seg == sq->buf_end ? sq->buf : seg;
}

/* The byte at its place in the word: the last one in memory */
#define __XV_FM_CE_SE(v)	((uint32_t)(v) << 24)

/*
 * The fm_ce_se field.  A small fence that is due (after UMR) goes into one WQE; if the
 * WQE asks for a fence itself, SMALL_FENCE includes it.
 */
xv_inline uint32_t __xv_fm_ce_se(struct xv_sq *sq, unsigned int flags)
{
	/* index: XV_SEND_FENCE, XV_SEND_SIGNALED, XV_SEND_SOLICITED */
	static const uint32_t bits[8] = {
		__XV_FM_CE_SE(0),
		__XV_FM_CE_SE(MLX5R_FM_SMALL_FENCE),
		__XV_FM_CE_SE(MLX5R_CE_ALWAYS),
		__XV_FM_CE_SE(MLX5R_FM_SMALL_FENCE | MLX5R_CE_ALWAYS),
		__XV_FM_CE_SE(MLX5R_SOLICITED),
		__XV_FM_CE_SE(MLX5R_FM_SMALL_FENCE | MLX5R_SOLICITED),
		__XV_FM_CE_SE(MLX5R_CE_ALWAYS | MLX5R_SOLICITED),
		__XV_FM_CE_SE(MLX5R_FM_SMALL_FENCE | MLX5R_CE_ALWAYS | MLX5R_SOLICITED),
	};
	uint32_t due = sq->fm_ce_se;

	if (xv_unlikely(due & __XV_FM_CE_SE(MLX5R_FM_MASK))) {
		sq->fm_ce_se = due & ~__XV_FM_CE_SE(MLX5R_FM_MASK);
		if (flags & XV_SEND_FENCE)
			due = sq->fm_ce_se;
	}
	return bits[flags & 7] | due;
}

/*
 * Writes the control segment and advances the producer index; the caller writes
 * the other segments.  imm is big-endian.  The first word is { opmod, index 15:8,
 * index 7:0, opcode } in memory, the second { QPN 23:16, 15:8, 7:0, ds }.
 */
xv_inline void __xv_sq_open(struct xv_sq *sq, struct mlx5r_ctrl *ctrl, uint32_t opcode,
			    uint32_t ds, unsigned int flags, uint32_t imm,
			    uint64_t wr_id, uint32_t wc_opcode)
{
	uint32_t pi = sq->pi;
	struct xv_sq_entry *e = &sq->entry[pi & sq->mask];
	uint64_t head = ((uint64_t)ds << 56 | (uint64_t)opcode << 24) | sq->ctrl_qpn |
			(uint64_t)xv_be16(pi) << 8;

	XV_DP_BUILD(sq, XV_QP_MANAGED_SEND);
	*(__xv_alias64 *)&ctrl->opmod_idx_opcode = head;
	*(__xv_alias64 *)&ctrl->signature = __xv_fm_ce_se(sq, flags) | (uint64_t)imm << 32;
	sq->last_ctrl = head;
	pi += (ds + 3) / 4;
	sq->pi = pi;
	e->wr_id = wr_id;
	e->end = pi;
	e->wc_opcode = wc_opcode;
}

/* opmod is the first byte of the WQE. */
xv_inline void __xv_sq_set_opmod(struct xv_sq *sq, struct mlx5r_ctrl *ctrl, uint8_t opmod)
{
	*(uint8_t *)ctrl = opmod;
	sq->last_ctrl |= opmod;
}

xv_inline void __xv_seg_raddr(void *seg, uint64_t addr, uint32_t rkey)
{
	struct mlx5r_raddr *r = (struct mlx5r_raddr *)seg;

	r->addr = xv_be64(addr);
	r->rkey = xv_be32(rkey);
	r->reserved_at_60 = 0;
}

xv_inline void __xv_seg_data(void *seg, const struct xv_sge *sge)
{
	struct mlx5r_data *d = (struct mlx5r_data *)seg;
	uint64_t v = xv_be64(*(const __xv_alias64 *)&sge->length);

	/* The 64-bit swap also exchanged length and lkey; exchange them back. */
	*(__xv_alias64 *)&d->byte_count = v << 32 | v >> 32;
	d->addr = xv_be64(sge->addr);
}

xv_inline void __xv_seg_atomic(void *seg, uint64_t swap_add, uint64_t compare)
{
	struct mlx5r_atomic *a = (struct mlx5r_atomic *)seg;

	a->swap_add = xv_be64(swap_add);
	a->compare = xv_be64(compare);
}

/* Size in DS of an inline segment with len bytes */
xv_inline uint32_t __xv_inline_ds(uint32_t len)
{
	return len ? (len + (uint32_t)sizeof(struct mlx5r_inline) + MLX5R_DS - 1) / MLX5R_DS : 0;
}

/* Copies n bytes to p, wrapping at the end of the ring; returns the end of the copy. */
xv_inline uint8_t *__xv_sq_copy(const struct xv_sq *sq, uint8_t *p, const void *src, uint64_t n)
{
	uint64_t first = (uint64_t)(sq->buf_end - p);

	if (xv_unlikely(n > first)) {
		__builtin_memcpy(p, src, first);
		src = (const uint8_t *)src + first;
		n -= first;
		p = sq->buf;
	}
	__builtin_memcpy(p, src, n);
	return p + n;
}

xv_inline void __xv_seg_inline(const struct xv_sq *sq, uint8_t *seg, const void *src, uint32_t len)
{
	if (!len)
		return;
	((struct mlx5r_inline *)(void *)seg)->byte_count = xv_be32(MLX5R_INLINE | len);
	__xv_sq_copy(sq, seg + sizeof(struct mlx5r_inline), src, len);
}

/* ---- Commit ------------------------------------------------------------ */

xv_inline void __xv_sq_record(struct xv_sq *sq)
{
	xv_to_device_barrier();		/* A */
	sq->dbrec[MLX5R_DBR_SND] = xv_be32(sq->pi & 0xffff);
	xv_doorbell_barrier();		/* B */
}

/* The next doorbell uses the other buffer, if the queue has two. */
xv_inline void __xv_sq_rung(struct xv_sq *sq)
{
	sq->doorbell = (volatile uint64_t *)((uintptr_t)sq->doorbell ^ __XV_BF_BYTES(sq));
	XV_DP_COMMIT(sq);
}

xv_inline void __xv_sq_ring(struct xv_sq *sq)
{
	__xv_sq_record(sq);
	*sq->doorbell = sq->last_ctrl;
	__xv_sq_rung(sq);
}

/*
 * Rings the doorbell without barrier C (barrier.h): the caller calls xv_doorbell_flush()
 * before it waits for a completion.  It does not use BlueFlame, whose buffers need the barrier.
 */
xv_inline void xv_commit_send_relaxed(struct xv_qp *qp)
{
	__xv_sq_ring(&qp->sq);
	xv_doorbell_next();
}

/*
 * BlueFlame: the adapter need not fetch a WQE that is written to the doorbell page whole.  The page
 * is write-combining, so each block of 64 bytes leaves the CPU as one transaction if it is
 * written in one go.  Two buffers alternate, because a buffer that the adapter still reads must not
 * be written.
 */
xv_inline void __xv_blueflame_block(volatile void *buffer, const uint8_t *wqebb)
{
	volatile __xv_alias128 *to = (volatile __xv_alias128 *)buffer;
	const __xv_alias128 *from = (const __xv_alias128 *)(const void *)wqebb;

	to[0] = from[0];
	to[1] = from[1];
	to[2] = from[2];
	to[3] = from[3];
}

static inline void __xv_blueflame_long(struct xv_sq *sq, uint8_t *wqebb, uint32_t nbb)
{
	volatile uint64_t *to = sq->doorbell;

	for (; nbb; nbb--) {
		__xv_blueflame_block(to, wqebb);
		to += MLX5R_WQEBB / sizeof(*to);
		wqebb = __xv_sq_wrap(sq, wqebb + MLX5R_WQEBB);
	}
}

/*
 * The last WQE is alone if it begins where the last commit ended; so far the doorbell record has
 * that index, in the byte order of the index in the control segment.
 */
xv_outline void __xv_commit_blueflame(struct xv_sq *sq)
{
	uint16_t index = (uint16_t)(sq->last_ctrl >> 8);
	uint32_t nbb = (uint16_t)(sq->pi - xv_be16(index));
	int single = index == (uint16_t)(sq->dbrec[MLX5R_DBR_SND] >> 16);
	uint8_t *wqe = sq->buf + (uint64_t)(xv_be16(index) & sq->mask) * MLX5R_WQEBB;

	__xv_sq_record(sq);
	if (xv_likely(single && nbb == 1))
		__xv_blueflame_block(sq->doorbell, wqe);
	else if (single && nbb - 1 < __XV_BF_BYTES(sq) / MLX5R_WQEBB)
		__xv_blueflame_long(sq, wqe, nbb);
	else
		*sq->doorbell = sq->last_ctrl;
	__xv_sq_rung(sq);
}

/* As in libmlx5, a single short request goes to the adapter by BlueFlame. */
xv_inline void xv_commit_send(struct xv_qp *qp)
{
	if (__XV_BF_BYTES(&qp->sq))
		__xv_commit_blueflame(&qp->sq);
	else
		__xv_sq_ring(&qp->sq);
	xv_doorbell_flush();		/* C */
}

/* ---- Builders: one scatter/gather element, RC and UC ----------------------------- */

xv_inline int __xv_wr_rdma(struct xv_qp *qp, uint32_t opcode, uint32_t wc_opcode,
			   uint64_t wr_id, unsigned int flags, const struct xv_sge *sge,
			   uint64_t remote_addr, uint32_t rkey, uint32_t imm)
{
	struct mlx5r_ctrl *ctrl = __xv_sq_next(&qp->sq);

	if (__xv_sq_full(&qp->sq, 1))
		return __xv_sq_refuse(qp);
	/* A byte count of 0 means 2^31 bytes (PRM): leave the segment out. */
	__xv_sq_open(&qp->sq, ctrl, opcode, 2 + !!sge->length, flags, imm, wr_id, wc_opcode);
	__xv_seg_raddr(ctrl + 1, remote_addr, rkey);
	__xv_seg_data(ctrl + 2, sge);
	return 0;
}

xv_inline int xv_wr_write(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
			  const struct xv_sge *sge, uint64_t remote_addr, uint32_t rkey)
{
	return __xv_wr_rdma(qp, MLX5R_OP_RDMA_WRITE, XV_WC_RDMA_WRITE, wr_id, flags, sge,
			    remote_addr, rkey, 0);
}

/* imm: network byte order, also below */
xv_inline int xv_wr_write_imm(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
			      const struct xv_sge *sge, uint64_t remote_addr,
			      uint32_t rkey, uint32_t imm)
{
	return __xv_wr_rdma(qp, MLX5R_OP_RDMA_WRITE_IMM, XV_WC_RDMA_WRITE, wr_id, flags, sge,
			    remote_addr, rkey, imm);
}

xv_inline int xv_wr_read(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
			 const struct xv_sge *sge, uint64_t remote_addr, uint32_t rkey)
{
	return __xv_wr_rdma(qp, MLX5R_OP_RDMA_READ, XV_WC_RDMA_READ, wr_id, flags, sge,
			    remote_addr, rkey, 0);
}

xv_inline int __xv_wr_message(struct xv_qp *qp, uint32_t opcode, uint64_t wr_id,
			      unsigned int flags, const struct xv_sge *sge, uint32_t imm)
{
	struct mlx5r_ctrl *ctrl = __xv_sq_next(&qp->sq);

	if (__xv_sq_full(&qp->sq, 1))
		return __xv_sq_refuse(qp);
	__xv_sq_open(&qp->sq, ctrl, opcode, 1 + !!sge->length, flags, imm, wr_id, XV_WC_SEND);
	__xv_seg_data(ctrl + 1, sge);
	return 0;
}

xv_inline int xv_wr_send(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
			 const struct xv_sge *sge)
{
	return __xv_wr_message(qp, MLX5R_OP_SEND, wr_id, flags, sge, 0);
}

xv_inline int xv_wr_send_imm(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
			     const struct xv_sge *sge, uint32_t imm)
{
	return __xv_wr_message(qp, MLX5R_OP_SEND_IMM, wr_id, flags, sge, imm);
}

xv_inline int xv_wr_send_inv(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
			     const struct xv_sge *sge, uint32_t invalidate_rkey)
{
	return __xv_wr_message(qp, MLX5R_OP_SEND_INVAL, wr_id, flags, sge,
			       xv_be32(invalidate_rkey));
}

/* ---- Builders: 8-byte atomics ---------------------------------------- */

xv_inline int __xv_wr_atomic(struct xv_qp *qp, uint32_t opcode, uint32_t wc_opcode,
			     uint64_t wr_id, unsigned int flags, const struct xv_sge *sge,
			     uint64_t remote_addr, uint32_t rkey, uint64_t swap_add,
			     uint64_t compare)
{
	struct mlx5r_ctrl *ctrl = __xv_sq_next(&qp->sq);

	if (__xv_sq_full(&qp->sq, 1))
		return __xv_sq_refuse(qp);
	__xv_sq_open(&qp->sq, ctrl, opcode, 4, flags, 0, wr_id, wc_opcode);
	__xv_seg_raddr(ctrl + 1, remote_addr, rkey);
	__xv_seg_atomic(ctrl + 2, swap_add, compare);
	__xv_seg_data(ctrl + 3, sge);
	return 0;
}

/* The adapter writes the original value to *sge: 8 bytes in host byte order. */
xv_inline int xv_wr_atomic_cs(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
			      const struct xv_sge *sge, uint64_t remote_addr,
			      uint32_t rkey, uint64_t compare, uint64_t swap)
{
	return __xv_wr_atomic(qp, MLX5R_OP_ATOMIC_CS, XV_WC_COMP_SWAP, wr_id, flags, sge,
			      remote_addr, rkey, swap, compare);
}

xv_inline int xv_wr_atomic_fa(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
			      const struct xv_sge *sge, uint64_t remote_addr,
			      uint32_t rkey, uint64_t add)
{
	return __xv_wr_atomic(qp, MLX5R_OP_ATOMIC_FA, XV_WC_FETCH_ADD, wr_id, flags, sge,
			      remote_addr, rkey, add, 0);
}

/* ---- Builders: inline data ------------------------------------ */

xv_inline int xv_wr_write_inline(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				 const void *src, uint32_t len, uint64_t remote_addr,
				 uint32_t rkey)
{
	uint32_t ds = 2 + __xv_inline_ds(len);
	struct mlx5r_ctrl *ctrl = __xv_sq_next(&qp->sq);

	if (xv_unlikely(len > qp->sq.max_inline))
		return XV_DP_REFUSE(XV_EINVAL, "%u bytes inline, the queue has room for %u", len,
				    qp->sq.max_inline);
	if (__xv_sq_full(&qp->sq, (ds + 3) / 4))
		return __xv_sq_refuse(qp);
	__xv_sq_open(&qp->sq, ctrl, MLX5R_OP_RDMA_WRITE, ds, flags, 0, wr_id, XV_WC_RDMA_WRITE);
	__xv_seg_raddr(ctrl + 1, remote_addr, rkey);
	__xv_seg_inline(&qp->sq, (uint8_t *)(ctrl + 2), src, len);
	return 0;
}

xv_inline int xv_wr_send_inline(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				const void *src, uint32_t len)
{
	uint32_t ds = 1 + __xv_inline_ds(len);
	struct mlx5r_ctrl *ctrl = __xv_sq_next(&qp->sq);

	if (xv_unlikely(len > qp->sq.max_inline))
		return XV_DP_REFUSE(XV_EINVAL, "%u bytes inline, the queue has room for %u", len,
				    qp->sq.max_inline);
	if (__xv_sq_full(&qp->sq, (ds + 3) / 4))
		return __xv_sq_refuse(qp);
	__xv_sq_open(&qp->sq, ctrl, MLX5R_OP_SEND, ds, flags, 0, wr_id, XV_WC_SEND);
	__xv_seg_inline(&qp->sq, (uint8_t *)(ctrl + 1), src, len);
	return 0;
}

/* ---- Builders: UD ------------------------------------------------------------ */

xv_inline void __xv_seg_av(void *seg, const struct xv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	struct mlx5r_av *av = (struct mlx5r_av *)seg;

	*av = ah->av;
	av->qkey = xv_be32(qkey);
	av->reserved = 0;
	av->dqp_dct = xv_be32(MLX5R_AV_EXT | qpn);
}

/*
 * Control segment and address vector fill the first WQEBB, the data segment is in
 * the second.  The address handle must be of the queue pair's protection domain.
 */
xv_inline int __xv_wr_datagram(struct xv_qp *qp, uint32_t opcode, uint64_t wr_id,
			       unsigned int flags, const struct xv_sge *sge,
			       const struct xv_ah *ah, uint32_t remote_qpn,
			       uint32_t remote_qkey, uint32_t imm)
{
	struct mlx5r_ctrl *ctrl = __xv_sq_next(&qp->sq);

	if (xv_unlikely(ah->pd != qp->pd))
		return __xv_foreign_ah();
	if (__xv_sq_full(&qp->sq, 2))
		return __xv_sq_refuse(qp);
	__xv_sq_open(&qp->sq, ctrl, opcode, 4 + !!sge->length, flags, imm, wr_id, XV_WC_SEND);
	__xv_seg_av(ctrl + 1, ah, remote_qpn, remote_qkey);
	__xv_seg_data(__xv_sq_wrap(&qp->sq, (uint8_t *)(ctrl + 4)), sge);
	return 0;
}

xv_inline int xv_wr_send_ud(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
			    const struct xv_sge *sge, const struct xv_ah *ah,
			    uint32_t remote_qpn, uint32_t remote_qkey)
{
	return __xv_wr_datagram(qp, MLX5R_OP_SEND, wr_id, flags, sge, ah, remote_qpn,
				remote_qkey, 0);
}

xv_inline int xv_wr_send_imm_ud(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				const struct xv_sge *sge, const struct xv_ah *ah,
				uint32_t remote_qpn, uint32_t remote_qkey, uint32_t imm)
{
	return __xv_wr_datagram(qp, MLX5R_OP_SEND_IMM, wr_id, flags, sge, ah, remote_qpn,
				remote_qkey, imm);
}

/* ---- Builders: XRC ----------------------------------------------------------- */

/*
 * Every request names a shared receive queue of the peer by its number.  The
 * rkeys of writes and reads must be of the protection domain of that queue.
 */
xv_inline void __xv_seg_xrc(void *seg, uint32_t srqn)
{
	struct mlx5r_xrc *xrc = (struct mlx5r_xrc *)seg;

	__builtin_memset(xrc, 0, sizeof(*xrc));
	xrc->srqn = xv_be32(srqn);
}

xv_inline int __xv_wr_message_xrc(struct xv_qp *qp, uint32_t opcode, uint64_t wr_id,
				  unsigned int flags, const struct xv_sge *sge,
				  uint32_t remote_srqn, uint32_t imm)
{
	struct mlx5r_ctrl *ctrl = __xv_sq_next(&qp->sq);

	if (__xv_sq_full(&qp->sq, 1))
		return __xv_sq_refuse(qp);
	__xv_sq_open(&qp->sq, ctrl, opcode, 2 + !!sge->length, flags, imm, wr_id, XV_WC_SEND);
	__xv_seg_xrc(ctrl + 1, remote_srqn);
	__xv_seg_data(ctrl + 2, sge);
	return 0;
}

xv_inline int xv_wr_send_xrc(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
			     const struct xv_sge *sge, uint32_t remote_srqn)
{
	return __xv_wr_message_xrc(qp, MLX5R_OP_SEND, wr_id, flags, sge, remote_srqn, 0);
}

xv_inline int xv_wr_send_imm_xrc(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				 const struct xv_sge *sge, uint32_t remote_srqn, uint32_t imm)
{
	return __xv_wr_message_xrc(qp, MLX5R_OP_SEND_IMM, wr_id, flags, sge, remote_srqn, imm);
}

xv_inline int __xv_wr_rdma_xrc(struct xv_qp *qp, uint32_t opcode, uint32_t wc_opcode,
			       uint64_t wr_id, unsigned int flags, const struct xv_sge *sge,
			       uint64_t remote_addr, uint32_t rkey, uint32_t remote_srqn,
			       uint32_t imm)
{
	struct mlx5r_ctrl *ctrl = __xv_sq_next(&qp->sq);

	if (__xv_sq_full(&qp->sq, 1))
		return __xv_sq_refuse(qp);
	__xv_sq_open(&qp->sq, ctrl, opcode, 3 + !!sge->length, flags, imm, wr_id, wc_opcode);
	__xv_seg_xrc(ctrl + 1, remote_srqn);
	__xv_seg_raddr(ctrl + 2, remote_addr, rkey);
	__xv_seg_data(ctrl + 3, sge);
	return 0;
}

xv_inline int xv_wr_write_xrc(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
			      const struct xv_sge *sge, uint64_t remote_addr,
			      uint32_t rkey, uint32_t remote_srqn)
{
	return __xv_wr_rdma_xrc(qp, MLX5R_OP_RDMA_WRITE, XV_WC_RDMA_WRITE, wr_id, flags, sge,
				remote_addr, rkey, remote_srqn, 0);
}

xv_inline int xv_wr_write_imm_xrc(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				  const struct xv_sge *sge, uint64_t remote_addr,
				  uint32_t rkey, uint32_t remote_srqn, uint32_t imm)
{
	return __xv_wr_rdma_xrc(qp, MLX5R_OP_RDMA_WRITE_IMM, XV_WC_RDMA_WRITE, wr_id, flags, sge,
				remote_addr, rkey, remote_srqn, imm);
}

xv_inline int xv_wr_read_xrc(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
			     const struct xv_sge *sge, uint64_t remote_addr,
			     uint32_t rkey, uint32_t remote_srqn)
{
	return __xv_wr_rdma_xrc(qp, MLX5R_OP_RDMA_READ, XV_WC_RDMA_READ, wr_id, flags, sge,
				remote_addr, rkey, remote_srqn, 0);
}

/* ---- Raw WQEs ------------------------------------------------------------------ */

/*
 * Copies a WQE that the caller prepared.  The function fills in the WQE index and
 * the QP number.  fm_ce_se (signalling, fences) is taken from the caller's WQE.
 */
xv_inline int xv_wr_raw(struct xv_qp *qp, uint64_t wr_id, const void *wqe)
{
	const struct mlx5r_ctrl *raw = (const struct mlx5r_ctrl *)wqe;
	uint32_t word = xv_be32(raw->opmod_idx_opcode);
	uint32_t ds = xv_be32(raw->qpn_ds) & MLX5R_MAX_DS;
	struct xv_sq *sq = &qp->sq;
	struct mlx5r_ctrl *ctrl = __xv_sq_next(sq);
	uint32_t fence = sq->fm_ce_se;

	if (xv_unlikely(!ds))
		return XV_DP_REFUSE(XV_EINVAL, "the length of the WQE is 0");
	if (__xv_sq_full(sq, (ds + 3) / 4))
		return __xv_sq_refuse(qp);
	__xv_sq_copy(sq, (uint8_t *)ctrl, wqe, (uint64_t)ds * MLX5R_DS);
	__xv_sq_open(sq, ctrl, word & 0xff, ds, 0, raw->imm, wr_id, XV_WC_DRIVER2);
	ctrl->opmod_idx_opcode |= xv_be32(word & 0xff000000u);
	ctrl->fm_ce_se = raw->fm_ce_se;
	/* A fence that the request before needs is left to the next request. */
	sq->fm_ce_se = fence;
	ctrl->dci_stream[0] = raw->dci_stream[0];
	ctrl->dci_stream[1] = raw->dci_stream[1];
	return 0;
}

#endif
