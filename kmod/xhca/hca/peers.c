// SPDX-License-Identifier: GPL-2.0
/*
 * The peers on the wire of the connected queue pairs of a function, for administrators.
 */
#include <linux/string.h>
#include <linux/mlx5/qp.h>
#include "data/wire.h"

enum { QPS = 128 };			/* in one call, because all functions wait meanwhile */

static bool hca_peers_is_connected(struct hca_qp *qp)
{
	if (!qp->wire || qp->state < MLX5_QP_STATE_RTR || qp->state == MLX5_QP_STATE_ERR)
		return false;
	if (qp->st == MLX5_QP_ST_DCI && !qp->wire->session)
		return false;
	return hca_wire_find_flow(qp) && !qp->wire->local_peer;
}

static void hca_peers_count(struct hca_peers *p, const u8 *gid)
{
	u32 i;

	for (i = 0; i < p->n && memcmp(p->peer[i].gid, gid, sizeof(p->peer[i].gid)); i++)
		;
	if (i == HCA_PEERS) {
		p->others++;
		return;
	}
	if (i == p->n) {
		memcpy(p->peer[i].gid, gid, sizeof(p->peer[i].gid));
		p->n++;
	}
	p->peer[i].qps++;
}

bool hca_peers_find(struct hca *hca, struct hca_peers *p)
{
	u32 end = max(p->next, hca->qps.first) + QPS;
	struct hca_qp *qp;

	for (p->next = end - QPS; p->next < end && p->next < hca->qps.used_end; p->next++) {
		qp = hca_table_get(&hca->qps, p->next);
		if (qp && hca_peers_is_connected(qp))
			hca_peers_count(p, qp->wire->flow.dgid);
	}
	return p->next < hca->qps.used_end;
}
