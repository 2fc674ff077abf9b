/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Posting a list of work requests like ibv_post_send(): any opcode, any number
 * of scatter/gather elements, any transport.  Takes the lock of the queue.
 */
#ifndef XVERBS_DP_SEND_LIST_H
#define XVERBS_DP_SEND_LIST_H

#include <xverbs/dp/atomic.h>
#include <xverbs/dp/calc.h>
#include <xverbs/dp/chain.h>
#include <xverbs/dp/send_dc.h>
#include <xverbs/dp/send_mw.h>
#include <xverbs/dp/send_umr.h>

/* Segments that an opcode needs, and where it is allowed */
enum __xv_wr_shape {
	__XV_SHAPE_RADDR	= 1 << 0,
	__XV_SHAPE_ATOMIC	= 1 << 1,
	__XV_SHAPE_IMM	= 1 << 2,
	__XV_SHAPE_INV	= 1 << 3,
	__XV_SHAPE_INLINE	= 1 << 4,	/* may carry inline data */
	__XV_SHAPE_UC	= 1 << 5,	/* allowed on UC */
	__XV_SHAPE_UD	= 1 << 6,	/* allowed on UD */
};

struct __xv_wr_desc {
	uint8_t opcode;
	uint8_t wc_opcode;
	uint8_t shape;
};

/* Null for opcodes that __xv_wr_other() handles, and for unknown ones */
xv_inline const struct __xv_wr_desc *__xv_wr_describe(enum xv_wr_opcode opcode)
{
	/* indexed by enum xv_wr_opcode; shape 0: not handled here */
	static const struct __xv_wr_desc desc[] = {
		{ MLX5R_OP_RDMA_WRITE, XV_WC_RDMA_WRITE,
		  __XV_SHAPE_RADDR | __XV_SHAPE_INLINE | __XV_SHAPE_UC },
		{ MLX5R_OP_RDMA_WRITE_IMM, XV_WC_RDMA_WRITE,
		  __XV_SHAPE_RADDR | __XV_SHAPE_IMM | __XV_SHAPE_INLINE | __XV_SHAPE_UC },
		{ MLX5R_OP_SEND, XV_WC_SEND,
		  __XV_SHAPE_INLINE | __XV_SHAPE_UC | __XV_SHAPE_UD },
		{ MLX5R_OP_SEND_IMM, XV_WC_SEND,
		  __XV_SHAPE_IMM | __XV_SHAPE_INLINE | __XV_SHAPE_UC | __XV_SHAPE_UD },
		{ MLX5R_OP_RDMA_READ, XV_WC_RDMA_READ, __XV_SHAPE_RADDR },
		{ MLX5R_OP_ATOMIC_CS, XV_WC_COMP_SWAP, __XV_SHAPE_RADDR | __XV_SHAPE_ATOMIC },
		{ MLX5R_OP_ATOMIC_FA, XV_WC_FETCH_ADD, __XV_SHAPE_RADDR | __XV_SHAPE_ATOMIC },
		{ 0, 0, 0 },
		{ 0, 0, 0 },
		{ MLX5R_OP_SEND_INVAL, XV_WC_SEND, __XV_SHAPE_INV | __XV_SHAPE_INLINE },
	};

	if ((unsigned int)opcode >= sizeof(desc) / sizeof(desc[0]) || !desc[opcode].shape)
		return 0;
	return &desc[opcode];
}

xv_inline int __xv_wr_allowed(const struct xv_qp *qp, const struct __xv_wr_desc *d)
{
	switch (qp->qp_type) {
	case XV_QPT_RC:
	case XV_QPT_XRC_SEND:
	case XV_QPT_DCI:
		return 1;
	case XV_QPT_UC:
		return d->shape & __XV_SHAPE_UC;
	case XV_QPT_UD:
		return d->shape & __XV_SHAPE_UD;
	default:
		return 0;
	}
}

/* DS before the data: control, address vector or XRC, remote address, atomic */
xv_inline uint32_t __xv_wr_fixed_ds(const struct xv_qp *qp, const struct __xv_wr_desc *d)
{
	uint32_t ds = 1;

	if (qp->qp_type == XV_QPT_UD || qp->qp_type == XV_QPT_DCI)
		ds += sizeof(struct mlx5r_av) / MLX5R_DS;
	if (qp->qp_type == XV_QPT_XRC_SEND)
		ds += sizeof(struct mlx5r_xrc) / MLX5R_DS;
	if (d->shape & __XV_SHAPE_RADDR)
		ds++;
	if (d->shape & __XV_SHAPE_ATOMIC)
		ds++;
	return ds;
}

xv_inline int __xv_wr_sges(const struct xv_qp *qp, const struct xv_send_wr *wr)
{
	(void)qp;
	(void)wr;
	return XV_DP_REFUSE(XV_EINVAL, "%d SGEs, the queue has %u", wr->num_sge, qp->sq.max_sge);
}

/* The type of the queue pair does not have the operation. */
xv_inline int __xv_wr_not_on_type(const struct xv_qp *qp, const struct xv_send_wr *wr)
{
	(void)qp;
	(void)wr;
	return XV_DP_REFUSE(XV_EINVAL, "opcode %d is not possible on this type (%d) of queue pair",
			    (int)wr->opcode, (int)qp->qp_type);
}

/* DS of the data, or -XV_EINVAL if the list exceeds a limit of the queue */
static inline int __xv_wr_data_ds(const struct xv_qp *qp, const struct __xv_wr_desc *d,
				  const struct xv_send_wr *wr)
{
	uint64_t bytes = 0;
	int elements = 0, i;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->sq.max_sge)
		return __xv_wr_sges(qp, wr);
	for (i = 0; i < wr->num_sge; i++) {
		bytes += wr->sg_list[i].length;
		elements += !!wr->sg_list[i].length;
	}
	if (wr->send_flags & XV_SEND_INLINE) {
		if (!(d->shape & __XV_SHAPE_INLINE))
			return XV_DP_REFUSE(XV_EINVAL, "opcode %d has no inline data",
					    (int)wr->opcode);
		if (bytes > qp->sq.max_inline)
			return XV_DP_REFUSE(XV_EINVAL,
					    "%llu bytes inline, the queue has room for %u",
					    (unsigned long long)bytes, qp->sq.max_inline);
		return (int)__xv_inline_ds((uint32_t)bytes);
	}
	return elements;
}

static inline void __xv_seg_list(const struct xv_sq *sq, uint8_t *seg, const struct xv_send_wr *wr)
{
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		if (!wr->sg_list[i].length)
			continue;
		seg = __xv_sq_wrap(sq, seg);
		__xv_seg_data(seg, &wr->sg_list[i]);
		seg += MLX5R_DS;
	}
}

static inline void __xv_seg_inline_list(const struct xv_sq *sq, uint8_t *seg,
					const struct xv_send_wr *wr)
{
	struct mlx5r_inline *head = (struct mlx5r_inline *)(void *)__xv_sq_wrap(sq, seg);
	uint8_t *p = (uint8_t *)(head + 1);
	uint32_t bytes = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		p = __xv_sq_copy(sq, __xv_sq_wrap(sq, p),
				 (const void *)(uintptr_t)wr->sg_list[i].addr,
				 wr->sg_list[i].length);
		bytes += wr->sg_list[i].length;
	}
	if (bytes)
		head->byte_count = xv_be32(MLX5R_INLINE | bytes);
}

/* Writes the segments between control and data; returns the address of the data. */
xv_inline uint8_t *__xv_seg_fixed(const struct xv_qp *qp, const struct __xv_wr_desc *d,
				  const struct xv_send_wr *wr, uint8_t *seg)
{
	if (qp->qp_type == XV_QPT_UD) {
		__xv_seg_av(seg, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
		seg += sizeof(struct mlx5r_av);
	}
	if (qp->qp_type == XV_QPT_XRC_SEND) {
		__xv_seg_xrc(seg, wr->qp_type.xrc.remote_srqn);
		seg += sizeof(struct mlx5r_xrc);
	}
	if (qp->qp_type == XV_QPT_DCI) {
		__xv_seg_dc(seg, &wr->dc);
		seg = __xv_sq_wrap(&qp->sq, seg + sizeof(struct mlx5r_av));
	}
	if (d->shape & __XV_SHAPE_ATOMIC) {
		__xv_seg_raddr(seg, wr->wr.atomic.remote_addr, wr->wr.atomic.rkey);
		seg += MLX5R_DS;
		if (d->opcode == MLX5R_OP_ATOMIC_CS)
			__xv_seg_atomic(seg, wr->wr.atomic.swap, wr->wr.atomic.compare_add);
		else
			__xv_seg_atomic(seg, wr->wr.atomic.compare_add, 0);
		seg += MLX5R_DS;
	} else if (d->shape & __XV_SHAPE_RADDR) {
		__xv_seg_raddr(seg, wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
		seg += MLX5R_DS;
	}
	return seg;
}

static inline int __xv_wr_masked_list(struct xv_qp *qp, const struct xv_send_wr *wr)
{
	uint64_t addr = wr->wr.masked_atomics.remote_addr;
	uint32_t rkey = wr->wr.masked_atomics.rkey, log = wr->wr.masked_atomics.log_arg_sz;

	if (qp->qp_type == XV_QPT_DCI) {
		if (xv_unlikely(wr->dc.ah->pd != qp->pd))
			return __xv_foreign_ah();
	} else if (qp->qp_type != XV_QPT_RC && qp->qp_type != XV_QPT_XRC_SEND) {
		return __xv_wr_not_on_type(qp, wr);
	}
	if (!(wr->send_flags & XV_SEND_EXT_ATOMIC_INLINE) || wr->send_flags & XV_SEND_INLINE)
		return XV_DP_REFUSE(XV_EINVAL, "a masked atomic needs XV_SEND_EXT_ATOMIC_INLINE");
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->sq.max_sge)
		return __xv_wr_sges(qp, wr);
	if (wr->opcode == XV_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP)
		return __xv_wr_masked_cs(qp, wr->wr_id, wr->send_flags, wr->sg_list, wr->num_sge,
					 addr, rkey, wr, log, &wr->op.cmp_swap);
	return __xv_wr_masked_fa(qp, wr->wr_id, wr->send_flags, wr->sg_list, wr->num_sge, addr,
				 rkey, wr, log, &wr->op.fetch_add);
}

/* Requests whose segments are not those of a shape */
static inline int __xv_wr_other(struct xv_qp *qp, const struct xv_send_wr *wr)
{
	uint64_t id = wr->wr_id;
	uint32_t flags = wr->send_flags;

	if (wr->opcode == XV_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP ||
	    wr->opcode == XV_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD)
		return __xv_wr_masked_list(qp, wr);
	if (qp->qp_type == XV_QPT_UD)
		return __xv_wr_not_on_type(qp, wr);
	switch (wr->opcode) {
	case XV_WR_BIND_MW:
		return xv_wr_bind_mw(qp, id, flags, wr->bind_mw.mw, wr->bind_mw.rkey,
				     &wr->bind_mw.bind_info);
	case XV_WR_LOCAL_INV:
		return xv_wr_local_inv(qp, id, flags, wr->invalidate_rkey);
	case XV_WR_UMR_FILL:
		return xv_wr_umr_fill(qp, id, flags, wr->umr);
	case XV_WR_UMR_INVALIDATE:
		return xv_wr_umr_invalidate(qp, id, flags, wr->umr->mkey);
	case XV_WR_SEND_ENABLE:
		return xv_wr_send_enable(qp, id, flags, wr->wr.wqe_enable.qp,
					 (uint32_t)wr->wr.wqe_enable.wqe_count);
	case XV_WR_RECV_ENABLE:
		return xv_wr_recv_enable(qp, id, flags, wr->wr.wqe_enable.qp,
					 (uint32_t)wr->wr.wqe_enable.wqe_count);
	case XV_WR_CQE_WAIT:
		return xv_wr_cqe_wait(qp, id, flags, wr->wr.cqe_wait.cq,
				      (uint32_t)wr->wr.cqe_wait.cq_count);
	case XV_WR_WAIT_CQ_PI:
		return xv_wr_wait_cq_pi(qp, id, flags, wr->wr.wait_cq_pi.cq,
					wr->wr.wait_cq_pi.index);
	case XV_WR_WAIT_DATA:
		return xv_wr_wait_data(qp, id, flags, &wr->wr.wait_data);
	case XV_WR_WAIT_TIME:
		return xv_wr_wait_time(qp, id, flags, wr->wr.wait_time.time);
	default:
		return XV_DP_REFUSE(XV_EINVAL, "there is no opcode %d", (int)wr->opcode);
	}
}

/* The vector calculation has fixed shapes, with one data segment. */
static inline int __xv_wr_vector(struct xv_qp *qp, const struct xv_send_wr *wr)
{
	if (wr->num_sge != 1 || wr->send_flags & (XV_SEND_INLINE | XV_SEND_WITH_CALC))
		return XV_DP_REFUSE(XV_EINVAL, "a vector calculation has one SGE, not inline");
	if (wr->opcode == XV_WR_SEND)
		return xv_wr_send_vector_calc(qp, wr->wr_id, wr->send_flags, &wr->op.vector_calc,
					      wr->sg_list);
	if (wr->opcode == XV_WR_RDMA_WRITE_WITH_IMM)
		return xv_wr_write_imm_vector_calc(qp, wr->wr_id, wr->send_flags,
						   &wr->op.vector_calc, wr->sg_list,
						   wr->wr.rdma.remote_addr, wr->wr.rdma.rkey,
						   wr->imm_data);
	return XV_DP_REFUSE(XV_EINVAL, "opcode %d has no vector calculation", (int)wr->opcode);
}

/* The opmod of a request with or without calculation, or -XV_EINVAL */
static inline int __xv_wr_opmod(const struct xv_qp *qp, const struct xv_send_wr *wr,
				const struct __xv_wr_desc *d)
{
	uint32_t elements;
	uint64_t operands;
	int opmod, err;

	if (xv_likely(!(wr->send_flags & XV_SEND_WITH_CALC)))
		return 0;
	opmod = __xv_calc_opmod(&wr->op.calc);
	if (!opmod)
		return __xv_calc_unknown(&wr->op.calc);
	if (d->shape & (__XV_SHAPE_ATOMIC | __XV_SHAPE_INV) || wr->send_flags & XV_SEND_INLINE)
		return XV_DP_REFUSE(XV_EINVAL, "opcode %d, or inline data, has no calculation",
				    (int)wr->opcode);
	err = __xv_calc_operands(qp, wr->sg_list, wr->num_sge, &elements, &operands);
	if (err)
		return err;
	if (d->opcode == MLX5R_OP_RDMA_READ && (operands != 1 || wr->num_sge != 1))
		return XV_DP_REFUSE(XV_EINVAL, "a read calculates with one operand in one SGE");
	return opmod;
}

/* Builder for a request of any opcode and transport */
xv_outline int xv_wr_general(struct xv_qp *qp, const struct xv_send_wr *wr)
{
	const struct __xv_wr_desc *d = __xv_wr_describe(wr->opcode);
	struct xv_sq *sq = &qp->sq;
	struct mlx5r_ctrl *ctrl;
	uint32_t ds, imm = 0;
	uint8_t *seg;
	int data_ds, opmod;

	if (!d)
		return __xv_wr_other(qp, wr);
	if (xv_unlikely(wr->send_flags & XV_SEND_WITH_VECTOR_CALC))
		return __xv_wr_vector(qp, wr);
	if (xv_unlikely(!__xv_wr_allowed(qp, d)))
		return __xv_wr_not_on_type(qp, wr);
	opmod = __xv_wr_opmod(qp, wr, d);
	if (xv_unlikely(opmod < 0))
		return opmod;
	if (qp->qp_type == XV_QPT_UD && xv_unlikely(wr->wr.ud.ah->pd != qp->pd))
		return __xv_foreign_ah();
	if (qp->qp_type == XV_QPT_DCI && xv_unlikely(wr->dc.ah->pd != qp->pd))
		return __xv_foreign_ah();
	data_ds = __xv_wr_data_ds(qp, d, wr);
	if (xv_unlikely(data_ds < 0))
		return data_ds;
	ds = __xv_wr_fixed_ds(qp, d) + (uint32_t)data_ds;
	if (xv_unlikely(ds > MLX5R_MAX_DS))
		return __xv_too_long(ds);
	if (__xv_sq_full(sq, (ds + 3) / 4))
		return __xv_sq_refuse(qp);

	ctrl = __xv_sq_next(sq);
	seg = __xv_seg_fixed(qp, d, wr, (uint8_t *)(ctrl + 1));
	if (wr->send_flags & XV_SEND_INLINE)
		__xv_seg_inline_list(sq, seg, wr);
	else
		__xv_seg_list(sq, seg, wr);
	if (d->shape & __XV_SHAPE_IMM)
		imm = wr->imm_data;
	if (d->shape & __XV_SHAPE_INV)
		imm = xv_be32(wr->invalidate_rkey);
	__xv_sq_open(sq, ctrl, d->opcode, ds, wr->send_flags, imm, wr->wr_id, d->wc_opcode);
	if (xv_unlikely(opmod))
		__xv_sq_set_opmod(sq, ctrl, (uint8_t)opmod);
	return 0;
}

/* Uses a builder for the common requests on RC. */
xv_inline int __xv_wr_common(struct xv_qp *qp, const struct xv_send_wr *wr)
{
	/* Only these flags can be set here, so the compiler drops the code for the others. */
	uint32_t flags = wr->send_flags & (XV_SEND_SIGNALED | XV_SEND_SOLICITED);
	const uint32_t special = XV_SEND_INLINE | XV_SEND_FENCE | XV_SEND_WITH_CALC |
				 XV_SEND_WITH_VECTOR_CALC;

	if (xv_unlikely(wr->num_sge != 1 || wr->send_flags & special || !wr->sg_list->length))
		return xv_wr_general(qp, wr);
	if (wr->opcode == XV_WR_RDMA_WRITE)
		return xv_wr_write(qp, wr->wr_id, flags, wr->sg_list, wr->wr.rdma.remote_addr,
				   wr->wr.rdma.rkey);
	if (wr->opcode == XV_WR_SEND)
		return xv_wr_send(qp, wr->wr_id, flags, wr->sg_list);
	return xv_wr_general(qp, wr);
}

/* Lets the library store the reason.  wr: null if there is no request yet */
xv_outline int __xv_send_refuse(const struct xv_qp *qp, const struct xv_send_wr *wr, int err)
{
	if (qp->send_refused)
		qp->send_refused(qp, wr, err);
	return err;
}

/*
 * Posts the requests of a list in order and rings the doorbell once.  If a request
 * cannot be posted, the function stops, sets *bad_wr to it and returns -XV_ENOMEM
 * (queue full) or -XV_EINVAL.  The requests before it are posted.
 */
static inline int xv_post_send(struct xv_qp *qp, struct xv_send_wr *wr,
			       struct xv_send_wr **bad_wr)
{
	int rc = qp->qp_type == XV_QPT_RC, err = 0;
	uint32_t start;

	xv_lock(&qp->sq.lock);
	start = qp->sq.pi;
	for (; wr; wr = wr->next) {
		err = xv_likely(rc) ? __xv_wr_common(qp, wr) : xv_wr_general(qp, wr);
		if (xv_unlikely(err)) {
			*bad_wr = wr;
			__xv_send_refuse(qp, wr, err);
			break;
		}
	}
	if (xv_likely(qp->sq.pi != start))
		xv_commit_send(qp);
	xv_unlock(&qp->sq.lock);
	return err;
}

/*
 * Posts a request that binds a type 1 window (length 0: unbinds it) and stores the
 * new key in mw->rkey at once.  Takes the lock of the queue.  Only one thread at a
 * time may bind a window.  Returns -XV_EINVAL also for a type 2 window and for a
 * region or queue pair of another protection domain.
 */
static inline int xv_bind_mw(struct xv_qp *qp, struct xv_mw *mw, struct xv_mw_bind *bind)
{
	const struct xv_mr *mr = bind->bind_info.mr;
	struct xv_send_wr wr, *bad;
	int err;

	if (mw->type != XV_MW_TYPE_1 || mw->pd != qp->pd || (mr && mr->pd != mw->pd))
		return __xv_send_refuse(qp, 0, -XV_EINVAL);
	__builtin_memset(&wr, 0, sizeof(wr));
	wr.wr_id = bind->wr_id;
	wr.opcode = XV_WR_BIND_MW;
	wr.send_flags = bind->send_flags;
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = xv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info = bind->bind_info;
	err = xv_post_send(qp, &wr, &bad);
	if (!err)
		mw->rkey = wr.bind_mw.rkey;
	return err;
}

#endif
