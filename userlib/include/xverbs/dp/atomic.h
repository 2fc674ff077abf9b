/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Builders for masked atomic requests.  The operand has 1 << log_arg_sz bytes: 4 to 256, if the
 * adapter supports the size, the queue pair was created for it (max_atomic_arg), and the
 * arguments fit into a request, which excludes a compare-and-swap of 256 bytes.
 *
 * The original value is stored in *sge, whose length must be the size of the operand.  Its byte
 * order depends on the size (xv_device_attr.ext_atom); xv_atomic_value() converts it.
 */
#ifndef XVERBS_DP_ATOMIC_H
#define XVERBS_DP_ATOMIC_H

#include <xverbs/dp/send_dc.h>

/*
 * Writes the arguments and returns the address behind them.  For an operand of up to 8 bytes, a
 * field is a value, and an operand of 4 bytes uses its lower half.  For a larger operand, a field
 * is the address of an array.
 */
xv_inline uint8_t *__xv_seg_atomic_args(const struct xv_sq *sq, uint8_t *seg, uint32_t log,
					const uint64_t *field, uint32_t fields)
{
	uint32_t words = log > 3 ? 1u << (log - 3) : 1, f, i;

	for (f = 0; f < fields; f++)
		for (i = 0; i < words; i++) {
			uint64_t v = log > 3 ? ((const uint64_t *)(uintptr_t)field[f])[i] :
					       field[f];

			if (log == 2) {
				uint32_t half = xv_be32((uint32_t)v);

				__builtin_memcpy(seg, &half, sizeof(half));
				seg = __xv_sq_wrap(sq, seg + sizeof(half));
			} else {
				v = xv_be64(v);
				__builtin_memcpy(seg, &v, sizeof(v));
				seg = __xv_sq_wrap(sq, seg + sizeof(v));
			}
		}
	if (log == 2 && fields == 2) {
		__builtin_memset(seg, 0, MLX5R_DS / 2);
		seg = __xv_sq_wrap(sq, seg + MLX5R_DS / 2);
	}
	return seg;
}

/* Returns the number of data segments, or 0 if the elements are not as long as the operand. */
xv_inline uint32_t __xv_atomic_elements(const struct xv_sge *sge, int n, uint32_t log)
{
	uint64_t bytes = 0;
	uint32_t used = 0;
	int i;

	for (i = 0; i < n; i++) {
		bytes += sge[i].length;
		used += !!sge[i].length;
	}
	return bytes == 1u << log ? used : 0;
}

/*
 * Writes the segment that names the target: the SRQ on XRC, the address vector on DC queue pairs.
 * Returns the address of the next segment.
 */
xv_inline uint8_t *__xv_seg_masked_target(const struct xv_qp *qp, uint8_t *seg,
					  const struct xv_send_wr *target)
{
	if (qp->qp_type == XV_QPT_XRC_SEND) {
		__xv_seg_xrc(seg, target->qp_type.xrc.remote_srqn);
		return seg + MLX5R_DS;
	}
	if (qp->qp_type == XV_QPT_DCI) {
		__xv_seg_dc(seg, &target->dc);
		return __xv_sq_wrap(&qp->sq, seg + sizeof(struct mlx5r_av));
	}
	return seg;
}

/* Returns their size in DS (16 bytes). */
xv_inline uint32_t __xv_masked_target_ds(const struct xv_qp *qp)
{
	if (qp->qp_type == XV_QPT_DCI)
		return __XV_DC_DS - 1;
	return qp->qp_type == XV_QPT_XRC_SEND;
}

/* fields: in the order of the format; target: names the target on XRC and DC queue pairs */
xv_inline int __xv_wr_masked(struct xv_qp *qp, uint32_t opcode, uint32_t wc_opcode,
			     uint64_t wr_id, unsigned int flags, const struct xv_sge *sge, int n,
			     uint64_t remote_addr, uint32_t rkey, const struct xv_send_wr *target,
			     uint32_t log, const uint64_t *field, uint32_t fields)
{
	struct xv_sq *sq = &qp->sq;
	struct mlx5r_ctrl *ctrl = __xv_sq_next(sq);
	uint8_t *seg;
	uint32_t ds;
	int i;

	if (xv_unlikely(log < 2 || log > 8 || 1u << log > sq->max_atomic_arg))
		return XV_DP_REFUSE(XV_EINVAL, "log_arg_sz %u, max_atomic_arg is %u", log,
				    sq->max_atomic_arg);
	ds = __xv_atomic_elements(sge, n, log);
	if (xv_unlikely(!ds))
		return XV_DP_REFUSE(XV_EINVAL, "the SGEs are not as long as the operand, %u bytes",
				    1u << log);
	ds += 2 + __xv_masked_target_ds(qp) + ((fields << log) + MLX5R_DS - 1) / MLX5R_DS;
	if (xv_unlikely(ds > MLX5R_MAX_DS))
		return __xv_too_long(ds);
	if (__xv_sq_full(sq, (ds + 3) / 4))
		return __xv_sq_refuse(qp);
	__xv_sq_open(sq, ctrl, opcode, ds, flags, 0, wr_id, wc_opcode);
	__xv_sq_set_opmod(sq, ctrl, (uint8_t)(MLX5R_ATOMIC_EXT | (log - 2)));
	seg = __xv_seg_masked_target(qp, (uint8_t *)(ctrl + 1), target);
	__xv_seg_raddr(seg, remote_addr, rkey);
	seg = __xv_seg_atomic_args(sq, seg + MLX5R_DS, log, field, fields);
	for (i = 0; i < n; i++) {
		if (!sge[i].length)
			continue;
		__xv_seg_data(seg, &sge[i]);
		seg = __xv_sq_wrap(sq, seg + MLX5R_DS);
	}
	return 0;
}

xv_inline int __xv_wr_masked_cs(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				const struct xv_sge *sge, int n, uint64_t remote_addr,
				uint32_t rkey, const struct xv_send_wr *target,
				uint32_t log_arg_sz, const struct xv_cmp_swap *op)
{
	const uint64_t field[] = { op->swap_val, op->compare_val, op->swap_mask,
				   op->compare_mask };

	return __xv_wr_masked(qp, MLX5R_OP_ATOMIC_MASKED_CS, XV_WC_MASKED_COMP_SWAP, wr_id, flags,
			      sge, n, remote_addr, rkey, target, log_arg_sz, field, 4);
}

xv_inline int __xv_wr_masked_fa(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				const struct xv_sge *sge, int n, uint64_t remote_addr,
				uint32_t rkey, const struct xv_send_wr *target,
				uint32_t log_arg_sz, const struct xv_fetch_add *op)
{
	const uint64_t field[] = { op->add_val, op->field_boundary };

	return __xv_wr_masked(qp, MLX5R_OP_ATOMIC_MASKED_FA, XV_WC_MASKED_FETCH_ADD, wr_id, flags,
			      sge, n, remote_addr, rkey, target, log_arg_sz, field, 2);
}

/*
 * If memory and compare_val are equal in the bits of compare_mask, the bits of swap_mask are
 * replaced by those of swap_val.
 */
xv_inline int xv_wr_masked_atomic_cs(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				     const struct xv_sge *sge, uint64_t remote_addr,
				     uint32_t rkey, uint32_t log_arg_sz,
				     const struct xv_cmp_swap *op)
{
	if (qp->qp_type != XV_QPT_RC)
		return XV_DP_REFUSE(XV_EINVAL, "the type of the queue pair is not RC");
	return __xv_wr_masked_cs(qp, wr_id, flags, sge, 1, remote_addr, rkey, NULL, log_arg_sz, op);
}

/*
 * Adds field by field.  A bit that is set in field_boundary is the most significant one of its
 * field, as bit 63 of each 64 bits always is; no carry leaves a field.
 */
xv_inline int xv_wr_masked_atomic_fa(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				     const struct xv_sge *sge, uint64_t remote_addr,
				     uint32_t rkey, uint32_t log_arg_sz,
				     const struct xv_fetch_add *op)
{
	if (qp->qp_type != XV_QPT_RC)
		return XV_DP_REFUSE(XV_EINVAL, "the type of the queue pair is not RC");
	return __xv_wr_masked_fa(qp, wr_id, flags, sge, 1, remote_addr, rkey, NULL, log_arg_sz, op);
}

/*
 * 64-bit number i of a result (all of it, if it has 4 or 8 bytes) in host byte order.
 * be_sizes: xv_device_attr.ext_atom.atomic_arg_sizes_be
 */
xv_inline uint64_t xv_atomic_value(const void *result, uint32_t log_arg_sz, uint64_t be_sizes,
				   uint32_t i)
{
	uint64_t v = 0;

	if (log_arg_sz == 2) {
		__builtin_memcpy(&v, result, 4);
		return be_sizes >> log_arg_sz & 1 ? xv_be32((uint32_t)v) : v;
	}
	__builtin_memcpy(&v, (const uint8_t *)result + 8ull * i, 8);
	return be_sizes >> log_arg_sz & 1 ? xv_be64(v) : v;
}

#endif
