/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Builders for DC initiators (XV_QPT_DCI).  Every request names a DC target: address,
 * number and access key.  They are those of RC with the target as last argument.
 *
 * Control segment and address vector fill the first WQEBB, the other segments are in
 * the second.
 */
#ifndef XVERBS_DP_SEND_DC_H
#define XVERBS_DP_SEND_DC_H

#include <xverbs/dp/send.h>

#define __XV_DC_DS	((uint32_t)(sizeof(struct mlx5r_ctrl) + sizeof(struct mlx5r_av)) / MLX5R_DS)

xv_inline void __xv_seg_dc(void *seg, const struct xv_dc *to)
{
	struct mlx5r_av *av = (struct mlx5r_av *)seg;

	*av = to->ah->av;
	av->dc_key = xv_be64(to->dct_access_key);
	av->dqp_dct = xv_be32(MLX5R_AV_EXT | to->dct_number);
}

/*
 * Writes control segment and address vector of a WQE with more_ds DS after them, and
 * stores the address of the next segment in *seg.
 */
xv_inline int __xv_dc_open(struct xv_qp *qp, uint32_t opcode, uint32_t wc_opcode,
			   uint32_t more_ds, uint64_t wr_id, unsigned int flags, uint32_t imm,
			   const struct xv_dc *to, uint8_t **seg)
{
	struct mlx5r_ctrl *ctrl = __xv_sq_next(&qp->sq);
	uint32_t ds = __XV_DC_DS + more_ds;

	if (xv_unlikely(to->ah->pd != qp->pd))
		return __xv_foreign_ah();
	if (__xv_sq_full(&qp->sq, (ds + 3) / 4))
		return __xv_sq_refuse(qp);
	__xv_sq_open(&qp->sq, ctrl, opcode, ds, flags, imm, wr_id, wc_opcode);
	__xv_seg_dc(ctrl + 1, to);
	*seg = __xv_sq_wrap(&qp->sq, (uint8_t *)(ctrl + 4));
	return 0;
}

/* ---- Messages ------------------------------------------------------------------ */

xv_inline int __xv_wr_message_dc(struct xv_qp *qp, uint32_t opcode, uint64_t wr_id,
				 unsigned int flags, const struct xv_sge *sge, uint32_t imm,
				 const struct xv_dc *to)
{
	uint8_t *seg;
	int err = __xv_dc_open(qp, opcode, XV_WC_SEND, !!sge->length, wr_id, flags, imm, to, &seg);

	if (!err && sge->length)
		__xv_seg_data(seg, sge);
	return err;
}

xv_inline int xv_wr_send_dc(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
			    const struct xv_sge *sge, const struct xv_dc *to)
{
	return __xv_wr_message_dc(qp, MLX5R_OP_SEND, wr_id, flags, sge, 0, to);
}

/* imm: network byte order, also below */
xv_inline int xv_wr_send_imm_dc(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				const struct xv_sge *sge, uint32_t imm, const struct xv_dc *to)
{
	return __xv_wr_message_dc(qp, MLX5R_OP_SEND_IMM, wr_id, flags, sge, imm, to);
}

xv_inline int xv_wr_send_inv_dc(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				const struct xv_sge *sge, uint32_t invalidate_rkey,
				const struct xv_dc *to)
{
	return __xv_wr_message_dc(qp, MLX5R_OP_SEND_INVAL, wr_id, flags, sge,
				  xv_be32(invalidate_rkey), to);
}

xv_inline int xv_wr_send_inline_dc(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				   const void *src, uint32_t len, const struct xv_dc *to)
{
	uint8_t *seg;
	int err;

	if (xv_unlikely(len > qp->sq.max_inline))
		return XV_DP_REFUSE(XV_EINVAL, "%u bytes inline, the queue has room for %u", len,
				    qp->sq.max_inline);
	err = __xv_dc_open(qp, MLX5R_OP_SEND, XV_WC_SEND, __xv_inline_ds(len), wr_id, flags, 0,
			   to, &seg);
	if (!err)
		__xv_seg_inline(&qp->sq, seg, src, len);
	return err;
}

/* ---- RDMA ---------------------------------------------------------------------- */

xv_inline int __xv_wr_rdma_dc(struct xv_qp *qp, uint32_t opcode, uint32_t wc_opcode,
			      uint64_t wr_id, unsigned int flags, const struct xv_sge *sge,
			      uint64_t remote_addr, uint32_t rkey, uint32_t imm,
			      const struct xv_dc *to)
{
	uint8_t *seg;
	int err = __xv_dc_open(qp, opcode, wc_opcode, 1 + !!sge->length, wr_id, flags, imm, to,
			       &seg);

	if (err)
		return err;
	__xv_seg_raddr(seg, remote_addr, rkey);
	if (sge->length)
		__xv_seg_data(seg + MLX5R_DS, sge);
	return 0;
}

xv_inline int xv_wr_write_dc(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
			     const struct xv_sge *sge, uint64_t remote_addr, uint32_t rkey,
			     const struct xv_dc *to)
{
	return __xv_wr_rdma_dc(qp, MLX5R_OP_RDMA_WRITE, XV_WC_RDMA_WRITE, wr_id, flags, sge,
			       remote_addr, rkey, 0, to);
}

xv_inline int xv_wr_write_imm_dc(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				 const struct xv_sge *sge, uint64_t remote_addr, uint32_t rkey,
				 uint32_t imm, const struct xv_dc *to)
{
	return __xv_wr_rdma_dc(qp, MLX5R_OP_RDMA_WRITE_IMM, XV_WC_RDMA_WRITE, wr_id, flags, sge,
			       remote_addr, rkey, imm, to);
}

xv_inline int xv_wr_read_dc(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
			    const struct xv_sge *sge, uint64_t remote_addr, uint32_t rkey,
			    const struct xv_dc *to)
{
	return __xv_wr_rdma_dc(qp, MLX5R_OP_RDMA_READ, XV_WC_RDMA_READ, wr_id, flags, sge,
			       remote_addr, rkey, 0, to);
}

xv_inline int xv_wr_write_inline_dc(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				    const void *src, uint32_t len, uint64_t remote_addr,
				    uint32_t rkey, const struct xv_dc *to)
{
	uint8_t *seg;
	int err;

	if (xv_unlikely(len > qp->sq.max_inline))
		return XV_DP_REFUSE(XV_EINVAL, "%u bytes inline, the queue has room for %u", len,
				    qp->sq.max_inline);
	err = __xv_dc_open(qp, MLX5R_OP_RDMA_WRITE, XV_WC_RDMA_WRITE, 1 + __xv_inline_ds(len),
			   wr_id, flags, 0, to, &seg);
	if (err)
		return err;
	__xv_seg_raddr(seg, remote_addr, rkey);
	__xv_seg_inline(&qp->sq, seg + MLX5R_DS, src, len);
	return 0;
}

/* ---- 8-byte atomics ------------------------------------------------------------ */

xv_inline int __xv_wr_atomic_dc(struct xv_qp *qp, uint32_t opcode, uint32_t wc_opcode,
				uint64_t wr_id, unsigned int flags, const struct xv_sge *sge,
				uint64_t remote_addr, uint32_t rkey, uint64_t swap_add,
				uint64_t compare, const struct xv_dc *to)
{
	uint8_t *seg;
	int err = __xv_dc_open(qp, opcode, wc_opcode, 3, wr_id, flags, 0, to, &seg);

	if (err)
		return err;
	__xv_seg_raddr(seg, remote_addr, rkey);
	__xv_seg_atomic(seg + MLX5R_DS, swap_add, compare);
	__xv_seg_data(seg + 2 * MLX5R_DS, sge);
	return 0;
}

xv_inline int xv_wr_atomic_cs_dc(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				 const struct xv_sge *sge, uint64_t remote_addr, uint32_t rkey,
				 uint64_t compare, uint64_t swap, const struct xv_dc *to)
{
	return __xv_wr_atomic_dc(qp, MLX5R_OP_ATOMIC_CS, XV_WC_COMP_SWAP, wr_id, flags, sge,
				 remote_addr, rkey, swap, compare, to);
}

xv_inline int xv_wr_atomic_fa_dc(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				 const struct xv_sge *sge, uint64_t remote_addr, uint32_t rkey,
				 uint64_t add, const struct xv_dc *to)
{
	return __xv_wr_atomic_dc(qp, MLX5R_OP_ATOMIC_FA, XV_WC_FETCH_ADD, wr_id, flags, sge,
				 remote_addr, rkey, add, 0, to);
}

#endif
