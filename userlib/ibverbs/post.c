// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Posting lists: the functions of the bridge, with the address handles of this library.
 */
#include "ibv.h"

static inline struct xv_ah *ah_of(struct ibv_ah *ah)
{
	return TO(ah, ah)->xv;
}

bool iv_sends_full(struct qp *qp)
{
	const struct xv_sq *sq = &qp->xv->sq;
	struct sq_count *c = &qp->sends;
	uint32_t ci, end;

	if (!c->max || (int32_t)(c->posted - c->retired - c->max) < 0)
		return false;
	ci = __atomic_load_n(&sq->ci, __ATOMIC_ACQUIRE);
	while ((int32_t)(ci - c->block) > 0) {
		end = sq->entry[c->block & sq->mask].end;
		/* Requests that the program posted by libxverbs are not counted. */
		if (end - c->block - 1 > sq->mask)
			end = ci;
		c->block = end;
		c->retired++;
	}
	return (int32_t)(c->posted - c->retired - c->max) >= 0;
}

static uint64_t bytes_of(const struct ibv_send_wr *wr)
{
	uint64_t bytes = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		bytes += wr->sg_list[i].length;
	return bytes;
}

/* libmlx5 returns other errors than libxverbs for a request that is refused. */
static int send_error(const struct xv_sq *sq, const struct ibv_send_wr *wr, int err)
{
	if (err != EINVAL || (unsigned int)wr->opcode > IBV_WR_DRIVER1)
		return err;
	if (!sq->room || wr->num_sge > (int)sq->max_sge ||
	    (wr->send_flags & IBV_SEND_INLINE && bytes_of(wr) > sq->max_inline))
		return ENOMEM;
	if (wr->opcode == IBV_WR_BIND_MW && wr->bind_mw.bind_info.length > 1ull << 31)
		return EOPNOTSUPP;
	return err;
}

static __attribute__((noinline)) int send_failed(struct qp *qp, uint32_t start,
						 struct ibv_send_wr *wr,
						 struct ibv_send_wr **bad_wr, int err)
{
	struct xv_qp *xv = qp->xv;

	if (xv->sq.pi != start)
		xv_commit_send(xv);
	xv_unlock(&xv->sq.lock);
	if (bad_wr)
		*bad_wr = wr;
	return iv_not_posted(send_error(&xv->sq, wr, -err), xv->sq.room ?
			     "post send: the request: " :
			     "post send: the queue pair does not send in its state: ");
}

int iv_post_send(struct ibv_qp *pub, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct qp *qp = TO(qp, pub);
	struct xv_qp *xv = qp->xv;
	uint32_t start;
	int err;

	xv_lock(&xv->sq.lock);
	start = xv->sq.pi;
	for (; wr; wr = wr->next) {
		err = iv_sends_full(qp) ? -ENOMEM : __xv_bridge_post_one(xv, wr, ah_of);
		if (xv_unlikely(err))
			return send_failed(qp, start, wr, bad_wr, err);
		qp->sends.posted++;
	}
	if (xv_likely(xv->sq.pi != start))
		xv_commit_send(xv);
	xv_unlock(&xv->sq.lock);
	return 0;
}

static __attribute__((noinline)) int recv_failed(const struct xv_qp *qp, int err)
{
	if (!qp->rq.wr_id)
		return iv_not_posted(ENOMEM, "post receive: the queue pair has no receive queue: ");
	return iv_not_posted(-err, qp->rq.room ? "post receive: elements: " :
			     "post receive: the queue pair is in RESET: ");
}

int iv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct xv_qp *xv = TO(qp, qp)->xv;
	int err = xv_bridge_post_recv(xv, wr, bad_wr);

	return xv_unlikely(err) ? recv_failed(xv, err) : 0;
}

int iv_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	int err;

	if (xv_unlikely(TO(srq, srq)->empty && wr)) {
		if (bad_wr)
			*bad_wr = wr;
		return iv_not_posted(ENOMEM, "");
	}
	err = xv_bridge_post_srq_recv(TO(srq, srq)->xv, wr, bad_wr);
	return xv_unlikely(err) ? iv_not_posted(-err, "post receive: elements: ") : 0;
}
