// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the peer of a connected queue pair: the only place that decides whether it answers.
 */
#include "data/data.h"

static bool hca_peer_can_receive(const struct hca_qp *qp)
{
	return qp->state >= MLX5_QP_STATE_RTR && qp->state != MLX5_QP_STATE_ERR;
}

/* Rare, so it is not inlined: @to drops the packet for its P_Key, and counts it. */
static noinline struct hca_qp *hca_peer_refused(const struct hca_qp *qp, struct hca_port *to,
						u16 own)
{
	hca_pkey_check(to, own, hca_qp_pkey(qp));
	return NULL;
}

struct hca_qp *hca_peer_find(struct hca_qp *qp)
{
	struct hca_port *from = qp->port, *to = from->up ? hca_route_remote(qp) : NULL;
	struct hca_qp *peer;

	if (!to)
		return NULL;
	if (!qp->in_partition)
		return hca_peer_refused(qp, to, to->pkey);
	peer = hca_table_get(&to->hca->qps, qp->remote_qpn);
	if (!peer || peer->st != qp->st || peer->remote_qpn != qp->qpn ||
	    !hca_peer_can_receive(peer))
		return NULL;
	if (peer->pm_state != qp->pm_state && !hca_apm_follow(qp, peer))
		return NULL;
	if (peer->port != to || !hca_route_leads_to(peer, from))
		return NULL;
	if (!peer->in_partition)
		return hca_peer_refused(qp, to, hca_qp_pkey(peer));
	/* A UC receiver accepts any PSN at the start of a message. */
	if (qp->st != MLX5_QP_ST_UC && peer->rq_psn != qp->sq_psn)
		return NULL;
	return peer;
}
