/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Posting of the measured operation.  Inline, so that the compiler can use a
 * constant op.
 */
#ifndef XV_PERF_POST_H
#define XV_PERF_POST_H

#include "perf.h"

/* Any operation on XRC, with inline data or not */
static int post_xrc(struct end *e, struct xv_qp *qp, enum op op, struct xv_sge *sge,
		    uint32_t inline_max, uint64_t wr_id, unsigned int flags)
{
	static const enum xv_wr_opcode opcodes[] = {
		[OP_WRITE] = XV_WR_RDMA_WRITE,
		[OP_WRITE_IMM] = XV_WR_RDMA_WRITE_WITH_IMM,
		[OP_READ] = XV_WR_RDMA_READ,
		[OP_SEND] = XV_WR_SEND,
		[OP_SEND_IMM] = XV_WR_SEND_WITH_IMM,
		[OP_FETCH_ADD] = XV_WR_ATOMIC_FETCH_AND_ADD,
		[OP_CMP_SWAP] = XV_WR_ATOMIC_CMP_AND_SWP,
	};
	struct xv_send_wr wr = {
		.wr_id = wr_id,
		.sg_list = sge,
		.num_sge = 1,
		.opcode = opcodes[op],
		.send_flags = flags | (op_bounces(op) && sge->length <= inline_max ?
				       XV_SEND_INLINE : 0),
		.qp_type.xrc.remote_srqn = e->remote_srqn,
	};

	if (op_is_atomic(op)) {
		wr.wr.atomic.remote_addr = e->remote_in;
		wr.wr.atomic.rkey = e->rkey;
		wr.wr.atomic.compare_add = op == OP_FETCH_ADD;
		wr.wr.atomic.swap = 1;
	} else {
		wr.wr.rdma.remote_addr = e->remote_in;
		wr.wr.rdma.rkey = e->rkey;
	}
	return xv_wr_general(qp, &wr);
}

/* Any operation on DC; the next message is for the next target. */
xv_inline int post_dc(struct end *e, struct xv_qp *qp, enum op op, struct xv_sge *sge,
		      uint32_t inline_max, uint64_t wr_id, unsigned int flags)
{
	const struct xv_dc *to = &e->to[e->turn];

	e->turn = e->turn + 1 == e->targets ? 0 : e->turn + 1;
	switch (op) {
	case OP_WRITE:
		if (sge->length <= inline_max)
			return xv_wr_write_inline_dc(qp, wr_id, flags, e->out, sge->length,
						     e->remote_in, e->rkey, to);
		return xv_wr_write_dc(qp, wr_id, flags, sge, e->remote_in, e->rkey, to);
	case OP_WRITE_IMM:
		return xv_wr_write_imm_dc(qp, wr_id, flags, sge, e->remote_in, e->rkey,
					  (uint32_t)wr_id, to);
	case OP_READ:
		return xv_wr_read_dc(qp, wr_id, flags, sge, e->remote_in, e->rkey, to);
	case OP_SEND:
		if (sge->length <= inline_max)
			return xv_wr_send_inline_dc(qp, wr_id, flags, e->out, sge->length, to);
		return xv_wr_send_dc(qp, wr_id, flags, sge, to);
	case OP_SEND_IMM:
		return xv_wr_send_imm_dc(qp, wr_id, flags, sge, (uint32_t)wr_id, to);
	case OP_FETCH_ADD:
		return xv_wr_atomic_fa_dc(qp, wr_id, flags, sge, e->remote_in, e->rkey, 1, to);
	case OP_CMP_SWAP:
		return xv_wr_atomic_cs_dc(qp, wr_id, flags, sge, e->remote_in, e->rkey, 0, 1, to);
	default:
		return -XV_EINVAL;
	}
}

/* Every bind gives the window a new key. */
static int post_bind(struct end *e, struct xv_qp *qp, uint32_t size, uint64_t wr_id,
		     unsigned int flags)
{
	struct xv_mw_bind_info info = { e->mr, (uintptr_t)e->in, size, XV_ACCESS_REMOTE_WRITE };
	uint32_t key = xv_inc_rkey(e->mw_key);
	int err = xv_wr_bind_mw(qp, wr_id, flags, e->mw, key, &info);

	if (!err)
		e->mw_key = key;
	return err;
}

/* Adds 1 to fields of 32 bits, or compares and swaps all bits; of more than 8 bytes: zeros */
xv_inline int post_masked(struct end *e, struct xv_qp *qp, enum op op, const struct xv_sge *sge,
			  uint64_t wr_id, unsigned int flags)
{
	static const uint64_t zeros[32];
	uint32_t log = 31 - (uint32_t)__builtin_clz(sge->length);
	uint64_t array = (uintptr_t)zeros;
	struct xv_cmp_swap cs = { ~0ull, 0, 1, ~0ull };
	struct xv_fetch_add fa = { 1, 1u << 31 };

	if (log > 3) {
		cs = (struct xv_cmp_swap) { array, array, array, array };
		fa = (struct xv_fetch_add) { array, array };
	}
	if (op == OP_MASKED_FETCH_ADD)
		return xv_wr_masked_atomic_fa(qp, wr_id, flags, sge, e->remote_in, e->rkey, log,
					      &fa);
	return xv_wr_masked_atomic_cs(qp, wr_id, flags, sge, e->remote_in, e->rkey, log, &cs);
}

xv_inline int post_op(struct end *e, struct xv_qp *qp, enum op op, uint32_t size,
		      uint32_t inline_max, uint64_t wr_id, unsigned int flags)
{
	struct xv_sge sge = { (uintptr_t)e->out, size, e->mr->lkey };

	if (e->srq)
		return e->targets ? post_dc(e, qp, op, &sge, inline_max, wr_id, flags) :
				    post_xrc(e, qp, op, &sge, inline_max, wr_id, flags);
	switch (op) {
	case OP_WRITE:
		if (size <= inline_max)
			return xv_wr_write_inline(qp, wr_id, flags, e->out, size, e->remote_in,
						  e->rkey);
		return xv_wr_write(qp, wr_id, flags, &sge, e->remote_in, e->rkey);
	case OP_WRITE_IMM:
		return xv_wr_write_imm(qp, wr_id, flags, &sge, e->remote_in, e->rkey,
				       (uint32_t)wr_id);
	case OP_READ:
		return xv_wr_read(qp, wr_id, flags, &sge, e->remote_in, e->rkey);
	case OP_SEND:
		if (e->ah)
			return xv_wr_send_ud(qp, wr_id, flags, &sge, e->ah,
					     e->remote_qpn[wr_id >> 32], UD_QKEY);
		if (size <= inline_max)
			return xv_wr_send_inline(qp, wr_id, flags, e->out, size);
		return xv_wr_send(qp, wr_id, flags, &sge);
	case OP_SEND_IMM:
		return xv_wr_send_imm(qp, wr_id, flags, &sge, (uint32_t)wr_id);
	case OP_FETCH_ADD:
		return xv_wr_atomic_fa(qp, wr_id, flags, &sge, e->remote_in, e->rkey, 1);
	case OP_CMP_SWAP:
		return xv_wr_atomic_cs(qp, wr_id, flags, &sge, e->remote_in, e->rkey, 0, 1);
	case OP_MASKED_FETCH_ADD:
	case OP_MASKED_CMP_SWAP:
		return post_masked(e, qp, op, &sge, wr_id, flags);
	case OP_BIND:
		return post_bind(e, qp, size, wr_id, flags);
	default:
		return -XV_EINVAL;
	}
}

/* Receive buffers have the largest size, because they stay posted between runs. */
xv_inline int post_recv(struct end *e, uint32_t qp)
{
	struct xv_sge sge = { (uintptr_t)e->in, (uint32_t)e->half, e->mr->lkey };
	int err;

	if (e->srq) {
		err = xv_wr_srq_recv(e->srq, qp, &sge, 1);
		xv_commit_srq(e->srq);
		return err;
	}
	err = xv_wr_recv(e->qp[qp], qp, &sge);
	xv_commit_recv(e->qp[qp]);
	return err;
}

#endif
