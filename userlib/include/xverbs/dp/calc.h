/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Builders for requests whose message is the result of a calculation.  They are allowed
 * in queue pairs with the flag XV_QP_CROSS_CHANNEL.
 *
 * The operands of a calculation are structures xv_calc_operand.  The elements of the gather
 * list hold them one after another, however they are cut.  The result is one such structure.
 *
 * A vector calculation has vectors of equal length, which lie back to back in memory.
 * The result is one such vector.
 */
#ifndef XVERBS_DP_CALC_H
#define XVERBS_DP_CALC_H

#include <xverbs/dp/send.h>

/* ---- Calculation --------------------------------------------------------------- */

/* The opmod, or 0 if there is no such calculation */
static inline uint8_t __xv_calc_opmod(const struct xv_calc *calc)
{
	/* indexed by operation and data type */
	static const uint8_t opmod[5][3] = {
		{ MLX5R_CALC_ADD, MLX5R_CALC_ADD, MLX5R_CALC_ADD_DOUBLE },
		{ 0, MLX5R_CALC_MAXLOC, 0 },
		{ MLX5R_CALC_AND, MLX5R_CALC_AND, MLX5R_CALC_AND },
		{ MLX5R_CALC_XOR, MLX5R_CALC_XOR, MLX5R_CALC_XOR },
		{ MLX5R_CALC_OR, MLX5R_CALC_OR, MLX5R_CALC_OR },
	};
	uint32_t op = (uint32_t)calc->calc_op, type = (uint32_t)calc->data_type;

	if (op >= 5 || type >= 3 || calc->data_size != XV_CALC_DATA_SIZE_64_BIT)
		return 0;
	return opmod[op][type];
}

xv_inline int __xv_calc_unknown(const struct xv_calc *calc)
{
	(void)calc;
	return XV_DP_REFUSE(XV_EINVAL, "there is no calculation %d of type %d, size %d",
			    (int)calc->calc_op, (int)calc->data_type, (int)calc->data_size);
}

/* The builders have no argument for the peer of a request on XRC and on DC. */
xv_inline int __xv_calc_type(const struct xv_qp *qp)
{
	return qp->qp_type != XV_QPT_XRC_SEND && qp->qp_type != XV_QPT_DCI;
}

/* Counts the operands, and the elements of the list that are not empty. */
static inline int __xv_calc_operands(const struct xv_qp *qp, const struct xv_sge *sge, int n,
				     uint32_t *elements, uint64_t *operands)
{
	uint64_t bytes = 0;
	int i;

	*elements = 0;
	if (!(qp->sq.flags & XV_QP_CROSS_CHANNEL))
		return XV_DP_REFUSE(XV_EINVAL, "the queue pair lacks XV_QP_CROSS_CHANNEL");
	if (n < 1 || (uint32_t)n > qp->sq.max_sge)
		return XV_DP_REFUSE(XV_EINVAL, "%d SGEs, the queue has %u", n, qp->sq.max_sge);
	for (i = 0; i < n; i++) {
		bytes += sge[i].length;
		*elements += !!sge[i].length;
	}
	if (!bytes || bytes % sizeof(struct xv_calc_operand))
		return XV_DP_REFUSE(XV_EINVAL, "%llu bytes are no operands, which have %u bytes",
				    (unsigned long long)bytes,
				    (unsigned int)sizeof(struct xv_calc_operand));
	*operands = bytes / sizeof(struct xv_calc_operand);
	return 0;
}

/* fixed: DS before the data; returns their address, or null with an error in *err */
static inline uint8_t *__xv_calc_open(struct xv_qp *qp, uint32_t opcode, uint32_t wc_opcode,
				      uint32_t fixed, uint64_t wr_id, unsigned int flags,
				      const struct xv_calc *calc, const struct xv_sge *sge,
				      int n, int *err)
{
	struct xv_sq *sq = &qp->sq;
	uint8_t opmod = __xv_calc_opmod(calc);
	struct mlx5r_ctrl *ctrl;
	uint64_t operands;
	uint32_t ds;
	uint8_t *seg;
	int i;

	*err = opmod ? __xv_calc_operands(qp, sge, n, &ds, &operands) : __xv_calc_unknown(calc);
	if (*err)
		return 0;
	ds += fixed;
	if (ds > MLX5R_MAX_DS)
		*err = __xv_too_long(ds);
	else if (__xv_sq_full(sq, (ds + 3) / 4))
		*err = __xv_sq_refuse(qp);
	if (*err)
		return 0;
	ctrl = __xv_sq_next(sq);
	__xv_sq_open(sq, ctrl, opcode, ds, flags, 0, wr_id, wc_opcode);
	__xv_sq_set_opmod(sq, ctrl, opmod);
	seg = (uint8_t *)ctrl + (uint64_t)fixed * MLX5R_DS;
	for (i = 0; i < n; i++) {
		if (!sge[i].length)
			continue;
		seg = __xv_sq_wrap(sq, seg);
		__xv_seg_data(seg, &sge[i]);
		seg += MLX5R_DS;
	}
	return (uint8_t *)(ctrl + 1);
}

/* Sends the result of a calculation over the operands in n elements. */
static inline int xv_wr_send_calc(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				  const struct xv_calc *calc, const struct xv_sge *sge, int n)
{
	int err;

	if (!__xv_calc_type(qp))
		return XV_DP_REFUSE(XV_EINVAL, "XRC and DC need a list, as for xv_post_send()");
	__xv_calc_open(qp, MLX5R_OP_SEND, XV_WC_SEND, 1, wr_id, flags, calc, sge, n, &err);
	return err;
}

/* Writes the result to the memory of the peer. */
static inline int xv_wr_write_calc(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				   const struct xv_calc *calc, const struct xv_sge *sge, int n,
				   uint64_t remote_addr, uint32_t rkey)
{
	uint8_t *seg;
	int err;

	if (!__xv_calc_type(qp))
		return XV_DP_REFUSE(XV_EINVAL, "XRC and DC need a list, as for xv_post_send()");
	seg = __xv_calc_open(qp, MLX5R_OP_RDMA_WRITE, XV_WC_RDMA_WRITE, 2, wr_id, flags, calc,
			     sge, n, &err);
	if (seg)
		__xv_seg_raddr(seg, remote_addr, rkey);
	return err;
}

/* ---- Vector calculation -------------------------------------------------------- */

/* log2 of the chunk size in units of 64 bytes, or -1 */
xv_inline int __xv_vector_chunk(const struct xv_vector_calc *v)
{
	int log;

	for (log = 0; log <= MLX5R_VECTOR_CHUNK_MASK; log++)
		if (v->chunk == (uint32_t)MLX5R_VECTOR_CHUNK_MIN << log)
			return log;
	return -1;
}

/* 0, or a negative error number */
static inline int __xv_vector_check(const struct xv_qp *qp, const struct xv_vector_calc *v,
				    const struct xv_sge *first)
{
	if (!(qp->sq.flags & XV_QP_CROSS_CHANNEL))
		return XV_DP_REFUSE(XV_EINVAL, "the queue pair lacks XV_QP_CROSS_CHANNEL");
	if (!__xv_calc_type(qp))
		return XV_DP_REFUSE(XV_EINVAL, "not possible on XRC and DC queue pairs");
	if ((uint32_t)v->op - 1 >= XV_VECTOR_MIN || (uint32_t)v->type > XV_VECTOR_FLOAT64 ||
	    (uint32_t)v->type == 3)
		return XV_DP_REFUSE(XV_EINVAL, "there is no vector calculation %d of type %d",
				    (int)v->op, (int)v->type);
	if (!v->count || !first->length || __xv_vector_chunk(v) < 0)
		return XV_DP_REFUSE(XV_EINVAL, "%u vectors of %u bytes in chunks of %u",
				    (unsigned int)v->count, first->length, v->chunk);
	return 0;
}

xv_inline void __xv_seg_vector(void *seg, const struct xv_vector_calc *v)
{
	struct mlx5r_vector_calc *c = (struct mlx5r_vector_calc *)seg;

	__builtin_memset(c, 0, sizeof(*c));
	c->op[0] = (uint8_t)v->op;
	c->type = (uint8_t)v->type;
	c->flags = (uint8_t)(__xv_vector_chunk(v) |
			     (v->little_endian ? MLX5R_VECTOR_LITTLE_ENDIAN : 0));
	c->count = xv_be16(v->count);
}

/* Sends the result of a calculation over v->count vectors; *first is the first of them. */
static inline int xv_wr_send_vector_calc(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
					 const struct xv_vector_calc *v,
					 const struct xv_sge *first)
{
	struct xv_sq *sq = &qp->sq;
	struct mlx5r_ctrl *ctrl = __xv_sq_next(sq);
	int err = __xv_vector_check(qp, v, first);

	if (err)
		return err;
	if (__xv_sq_full(sq, 1))
		return __xv_sq_refuse(qp);
	__xv_sq_open(sq, ctrl, MLX5R_OP_SEND, 4, flags, 0, wr_id, XV_WC_SEND);
	__xv_sq_set_opmod(sq, ctrl, MLX5R_CALC_VECTOR);
	__xv_seg_vector(ctrl + 1, v);
	__xv_seg_data(ctrl + 3, first);
	return 0;
}

/* Writes the result to the memory of the peer; imm: network byte order. */
static inline int xv_wr_write_imm_vector_calc(struct xv_qp *qp, uint64_t wr_id,
					      unsigned int flags,
					      const struct xv_vector_calc *v,
					      const struct xv_sge *first, uint64_t remote_addr,
					      uint32_t rkey, uint32_t imm)
{
	struct xv_sq *sq = &qp->sq;
	struct mlx5r_ctrl *ctrl = __xv_sq_next(sq);
	int err = __xv_vector_check(qp, v, first);

	if (err)
		return err;
	if (__xv_sq_full(sq, 2))
		return __xv_sq_refuse(qp);
	__xv_sq_open(sq, ctrl, MLX5R_OP_RDMA_WRITE_IMM, 5, flags, imm, wr_id, XV_WC_RDMA_WRITE);
	__xv_sq_set_opmod(sq, ctrl, MLX5R_CALC_VECTOR);
	__xv_seg_raddr(ctrl + 1, remote_addr, rkey);
	__xv_seg_vector(ctrl + 2, v);
	__xv_seg_data(__xv_sq_wrap(sq, (uint8_t *)(ctrl + 4)), first);
	return 0;
}

#endif
