/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One request of the measured kind.  Inline, so that with a constant op the
 * whole post compiles to stores.
 */
#ifndef XV_PERF_POST_H
#define XV_PERF_POST_H

#include "perf.h"

xv_inline int post_op(struct end *e, struct xv_qp *qp, enum op op, uint32_t size,
		      uint32_t inline_max, uint64_t wr_id, unsigned int flags)
{
	struct xv_sge sge = { (uintptr_t)e->out, size, e->mr->lkey };

	switch (op) {
	case OP_WRITE:
		if (size <= inline_max)
			return xv_wr_write_inline(qp, wr_id, flags, e->out, size, e->remote_in,
						  e->rkey);
		return xv_wr_write(qp, wr_id, flags, &sge, e->remote_in, e->rkey);
	case OP_READ:
		return xv_wr_read(qp, wr_id, flags, &sge, e->remote_in, e->rkey);
	case OP_SEND:
		if (e->ah)
			return xv_wr_send_ud(qp, wr_id, flags, &sge, e->ah,
					     e->remote_qpn[wr_id >> 32], UD_QKEY);
		if (size <= inline_max)
			return xv_wr_send_inline(qp, wr_id, flags, e->out, size);
		return xv_wr_send(qp, wr_id, flags, &sge);
	case OP_FETCH_ADD:
		return xv_wr_atomic_fa(qp, wr_id, flags, &sge, e->remote_in, e->rkey, 1);
	case OP_CMP_SWAP:
		return xv_wr_atomic_cs(qp, wr_id, flags, &sge, e->remote_in, e->rkey, 0, 1);
	default:
		return -XV_EINVAL;
	}
}

/* Receives take the largest size, since they stay posted from run to run. */
xv_inline int post_recv(struct end *e, uint32_t qp)
{
	struct xv_sge sge = { (uintptr_t)e->in, (uint32_t)e->half, e->mr->lkey };
	int err = xv_wr_recv(e->qp[qp], qp, &sge);

	xv_commit_recv(e->qp[qp]);
	return err;
}

#endif
