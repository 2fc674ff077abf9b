// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Posting lists.  Common requests go to a builder, so that opcode and shape are constants.
 */
#include "exp.h"

static __attribute__((noinline)) int post_any(struct xv_qp *qp, const struct ibv_exp_send_wr *wr)
{
	struct xv_send_wr x;
	struct exp_umr umr;
	int err = exp_translate(&x, qp, wr, &umr);

	return err ? err : xv_wr_general(qp, &x);
}

static inline int post_one(struct xv_qp *qp, const struct ibv_exp_send_wr *wr)
{
	const uint64_t plain = IBV_EXP_SEND_SIGNALED | IBV_EXP_SEND_SOLICITED;
	const struct xv_sge *sge = (const struct xv_sge *)wr->sg_list;
	unsigned int flags = (unsigned int)(wr->exp_send_flags & plain);

	/* Other opcodes may have no list, and any number as the size of it. */
	if (xv_unlikely(qp->qp_type != XV_QPT_RC || wr->num_sge != 1 ||
			wr->exp_send_flags & ~plain))
		return post_any(qp, wr);
	if (wr->exp_opcode == IBV_EXP_WR_RDMA_WRITE && xv_likely(sge->length))
		return xv_wr_write(qp, wr->wr_id, flags, sge, wr->wr.rdma.remote_addr,
				   wr->wr.rdma.rkey);
	if (wr->exp_opcode == IBV_EXP_WR_SEND && xv_likely(sge->length))
		return xv_wr_send(qp, wr->wr_id, flags, sge);
	return post_any(qp, wr);
}

/* libmlx5 returns ENOMEM for a list or inline data that the queue has no room for. */
static bool too_large(const struct xv_qp *qp, const struct ibv_exp_send_wr *wr)
{
	uint64_t bytes = 0;
	int i;

	if (wr->exp_opcode > IBV_EXP_WR_ATOMIC_FETCH_AND_ADD || wr->num_sge < 0)
		return false;
	if ((uint32_t)wr->num_sge > qp->sq.max_sge)
		return true;
	for (i = 0; i < wr->num_sge; i++)
		bytes += wr->sg_list[i].length;
	return wr->exp_send_flags & IBV_EXP_SEND_INLINE && bytes > qp->sq.max_inline;
}

/* Why a request was refused, for its user */
static const char *reason(const struct xv_qp *qp, const struct ibv_exp_send_wr *wr)
{
	if (!qp->sq.room)
		return "post send: the queue pair does not send in its state: ";
	switch (wr->exp_opcode) {
	case IBV_EXP_WR_CQE_WAIT:
		return qp->sq.flags & XV_QP_CROSS_CHANNEL ? "post send: wait: CQ or count: " :
		       "post send: wait: the queue pair lacks CROSS_CHANNEL: ";
	case IBV_EXP_WR_SEND_ENABLE:
	case IBV_EXP_WR_RECV_ENABLE:
		return qp->sq.flags & XV_QP_CROSS_CHANNEL ?
		       "post send: enable: not a managed queue, or the count: " :
		       "post send: enable: the queue pair lacks CROSS_CHANNEL: ";
	default:
		return wr->exp_send_flags & IBV_EXP_SEND_WITH_CALC ?
		       "post send: calculation: " : "post send: the request: ";
	}
}

static int refuse(struct ibv_exp_send_wr *wr, struct ibv_exp_send_wr **bad_wr, int err,
		  const char *why)
{
	if (bad_wr)
		*bad_wr = wr;
	return iv_not_posted(-err, why);
}

/* Ends a list at the request that was refused. */
static __attribute__((noinline)) int stop(struct xv_qp *qp, uint32_t start,
					  struct ibv_exp_send_wr *wr,
					  struct ibv_exp_send_wr **bad_wr, int err)
{
	if (qp->sq.pi != start)
		xv_commit_send(qp);
	xv_unlock(&qp->sq.lock);
	if (qp->sq.room && too_large(qp, wr))
		err = -ENOMEM;
	return refuse(wr, bad_wr, err, reason(qp, wr));
}

EXPORT int ibv_exp_post_send(struct ibv_qp *pub, struct ibv_exp_send_wr *wr,
			     struct ibv_exp_send_wr **bad_wr)
{
	struct xv_qp *qp = xv_bridge_get_qp(pub);
	uint32_t start;
	int err;

	if (xv_unlikely(!qp))
		return refuse(wr, bad_wr, -EINVAL, "post send: the queue pair: ");
	xv_lock(&qp->sq.lock);
	start = qp->sq.pi;
	for (; wr; wr = wr->next) {
		err = post_one(qp, wr);
		if (xv_unlikely(err))
			return stop(qp, start, wr, bad_wr, err);
	}
	if (xv_likely(qp->sq.pi != start))
		xv_commit_send(qp);
	xv_unlock(&qp->sq.lock);
	return 0;
}
