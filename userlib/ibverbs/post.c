// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Posting lists.  The structures of both libraries have the same layout, except for pointers
 * to objects (layout.c).  Common requests go to a builder, so that opcode and shape are
 * constants.
 */
#include "ibv.h"

enum {
	KNOWN_FLAGS	= IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE,
};

/* Any request: those with pointers to objects, and those of unusual shape */
static __attribute__((noinline)) int post_any(struct xv_qp *qp, const struct ibv_send_wr *wr)
{
	struct xv_send_wr x;

	/* A request of libibverbs has no DC target. */
	if ((unsigned int)wr->opcode > IBV_WR_SEND_WITH_INV || qp->qp_type == XV_QPT_DCI)
		return -EINVAL;
	memset(&x, 0, sizeof(x));
	memcpy(&x, wr, sizeof(*wr));
	x.send_flags &= KNOWN_FLAGS;
	if (qp->qp_type == XV_QPT_UD)
		x.wr.ud.ah = TO(ah, wr->wr.ud.ah)->xv;
	if (wr->opcode == IBV_WR_BIND_MW) {
		x.bind_mw.mw = iv_mw(wr->bind_mw.mw);
		iv_bind_info(&x.bind_mw.bind_info, &wr->bind_mw.bind_info);
	}
	return xv_wr_general(qp, &x);
}

static inline const struct xv_sge *sge_of(const struct ibv_send_wr *wr)
{
	return (const struct xv_sge *)wr->sg_list;
}

/* RC with one element of data that is not inline */
static inline int post_rc(struct xv_qp *qp, const struct ibv_send_wr *wr, unsigned int flags)
{
	if (wr->opcode == IBV_WR_RDMA_WRITE)
		return xv_wr_write(qp, wr->wr_id, flags, sge_of(wr), wr->wr.rdma.remote_addr,
				   wr->wr.rdma.rkey);
	if (wr->opcode == IBV_WR_SEND)
		return xv_wr_send(qp, wr->wr_id, flags, sge_of(wr));
	return post_any(qp, wr);
}

static inline int post_ud(struct xv_qp *qp, const struct ibv_send_wr *wr, unsigned int flags)
{
	if (wr->opcode == IBV_WR_SEND)
		return xv_wr_send_ud(qp, wr->wr_id, flags, sge_of(wr),
				     TO(ah, wr->wr.ud.ah)->xv, wr->wr.ud.remote_qpn,
				     wr->wr.ud.remote_qkey);
	return post_any(qp, wr);
}

static inline int post_one(struct xv_qp *qp, const struct ibv_send_wr *wr)
{
	const unsigned int plain = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED;

	if (xv_unlikely(wr->num_sge != 1 || wr->send_flags & ~plain || !wr->sg_list->length))
		return post_any(qp, wr);
	/* Only these flags can be set here, so the compiler drops the code for the others. */
	if (xv_likely(qp->qp_type == XV_QPT_RC))
		return post_rc(qp, wr, wr->send_flags & plain);
	if (qp->qp_type == XV_QPT_UD)
		return post_ud(qp, wr, wr->send_flags & plain);
	return post_any(qp, wr);
}

int iv_post_send(struct ibv_qp *pub, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct xv_qp *qp = TO(qp, pub)->xv;
	uint32_t start;
	int err = 0;

	xv_lock(&qp->sq.lock);
	start = qp->sq.pi;
	for (; wr; wr = wr->next) {
		err = post_one(qp, wr);
		if (xv_unlikely(err)) {
			*bad_wr = wr;
			break;
		}
	}
	if (xv_likely(qp->sq.pi != start))
		xv_commit_send(qp);
	xv_unlock(&qp->sq.lock);
	return -err;
}

int iv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return -xv_post_recv(TO(qp, qp)->xv, (struct xv_recv_wr *)wr,
			     (struct xv_recv_wr **)bad_wr);
}

int iv_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return -xv_post_srq_recv(TO(srq, srq)->xv, (struct xv_recv_wr *)wr,
				 (struct xv_recv_wr **)bad_wr);
}
