// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Posting lists: the functions of the bridge, with the address handles of this library.
 */
#include "ibv.h"

static inline struct xv_ah *ah_of(struct ibv_ah *ah)
{
	return TO(ah, ah)->xv;
}

int iv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return -__xv_bridge_post_list(TO(qp, qp)->xv, wr, bad_wr, ah_of);
}

int iv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return -xv_bridge_post_recv(TO(qp, qp)->xv, wr, bad_wr);
}

int iv_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return -xv_bridge_post_srq_recv(TO(srq, srq)->xv, wr, bad_wr);
}
