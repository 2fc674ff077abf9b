// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The data path: requests and completions of libibverbs.
 */
#include "verbs.h"

/*
 * A wait request keeps its operands where a request of libibverbs has a remote address and a key.
 */
EXPORT doca_error_t doca_verbs_bridge_set_wait_cq_pi_wr(struct doca_verbs_cq *verbs_cq,
							uint32_t cq_pi, struct ibv_send_wr *wr)
{
	if (!verbs_cq || !wr)
		return DOCA_ERROR_INVALID_VALUE;
	if (!can_wait(verbs_cq->ctx))
		return DOCA_ERROR_NOT_SUPPORTED;
	wr->opcode = IBV_WR_DRIVER1;
	wr->sg_list = NULL;
	wr->num_sge = 0;
	wr->wr.rdma.remote_addr = (uintptr_t)verbs_cq->xv;
	wr->wr.rdma.rkey = cq_pi;
	return DOCA_SUCCESS;
}

static int post_wait(struct xv_qp *qp, const struct ibv_send_wr *wr)
{
	struct xv_send_wr wait = {
		.wr_id = wr->wr_id,
		.opcode = XV_WR_WAIT_CQ_PI,
		.send_flags = wr->send_flags & (IBV_SEND_SIGNALED | IBV_SEND_FENCE),
		.wr.wait_cq_pi = {
			.cq = (struct xv_cq *)(uintptr_t)wr->wr.rdma.remote_addr,
			.index = wr->wr.rdma.rkey,
		},
	}, *bad;

	return xv_post_send(qp, &wait, &bad);
}

static int post_one(struct xv_qp *qp, const struct ibv_send_wr *wr)
{
	struct ibv_send_wr one = *wr, *bad;

	if (wr->opcode == IBV_WR_DRIVER1)
		return post_wait(qp, wr);
	one.next = NULL;
	return xv_bridge_post_send(qp, &one, &bad);
}

static bool has_wait(const struct ibv_send_wr *wr)
{
	while (wr && wr->opcode != IBV_WR_DRIVER1)
		wr = wr->next;
	return wr;
}

EXPORT int doca_verbs_bridge_post_send(struct doca_verbs_qp *verbs_qp, struct ibv_send_wr *wr,
				       struct ibv_send_wr **bad_wr)
{
	int err = 0;

	if (!verbs_qp)
		return EINVAL;
	if (!has_wait(wr))
		return -xv_bridge_post_send(verbs_qp->xv, wr, bad_wr);
	for (; wr && !err; wr = err ? wr : wr->next)
		err = post_one(verbs_qp->xv, wr);
	if (err && bad_wr)
		*bad_wr = wr;
	return -err;
}

EXPORT int doca_verbs_bridge_post_recv(struct doca_verbs_qp *verbs_qp, struct ibv_recv_wr *wr,
				       struct ibv_recv_wr **bad_wr)
{
	return verbs_qp ? -xv_bridge_post_recv(verbs_qp->xv, wr, bad_wr) : EINVAL;
}

EXPORT int doca_verbs_bridge_post_srq_recv(struct doca_verbs_srq *verbs_srq,
					   struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return verbs_srq ? -xv_bridge_post_srq_recv(verbs_srq->xv, wr, bad_wr) : EINVAL;
}

EXPORT int doca_verbs_bridge_poll_cq(struct doca_verbs_cq *verbs_cq, int num_entries,
				     struct ibv_wc *ibv_wc)
{
	if (!verbs_cq || num_entries < 0 || !ibv_wc)
		return -EINVAL;
	return xv_bridge_poll_cq(verbs_cq->xv, num_entries, ibv_wc);
}

EXPORT uint32_t doca_verbs_bridge_get_current_cq_ci(struct doca_verbs_cq *verbs_cq)
{
	return verbs_cq ? verbs_cq->xv->ci : 0;
}
