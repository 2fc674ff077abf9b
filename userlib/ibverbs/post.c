// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Posting lists: the functions of the bridge, with the address handles of this library.
 */
#include "ibv.h"

static inline struct xv_ah *ah_of(struct ibv_ah *ah)
{
	return TO(ah, ah)->xv;
}

static __attribute__((noinline)) int send_failed(const struct xv_qp *qp, int err)
{
	return iv_not_posted(-err, qp->sq.room ? "post send: the request: " :
			     "post send: the queue pair does not send in its state: ");
}

int iv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct xv_qp *xv = TO(qp, qp)->xv;
	int err = __xv_bridge_post_list(xv, wr, bad_wr, ah_of);

	return xv_unlikely(err) ? send_failed(xv, err) : 0;
}

static __attribute__((noinline)) int recv_failed(const struct xv_qp *qp, int err)
{
	if (qp->rq.room)
		return iv_not_posted(-err, "post receive: elements: ");
	return iv_not_posted(-err, qp->state == XV_QPS_RESET ?
			     "post receive: the queue pair is in RESET: " :
			     "post receive: the queue pair has no receive queue: ");
}

int iv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct xv_qp *xv = TO(qp, qp)->xv;
	int err = xv_bridge_post_recv(xv, wr, bad_wr);

	return xv_unlikely(err) ? recv_failed(xv, err) : 0;
}

int iv_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	int err = xv_bridge_post_srq_recv(TO(srq, srq)->xv, wr, bad_wr);

	return xv_unlikely(err) ? iv_not_posted(-err, "post receive: elements: ") : 0;
}
