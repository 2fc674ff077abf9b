// SPDX-License-Identifier: GPL-2.0
/*
 * Path migration on the wire (apm.c): the MigReq bit of each packet says whether the peer has
 * migrated.
 *
 * In REARM, a packet of a peer that has not migrated arms the queue pair.  In ARMED, a packet of a
 * peer that has migrated makes it migrate, too, if the packet comes on the alternate path.
 */
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include "data/wire.h"

static void hca_wire_apm_alternate(struct hca_qp *qp, struct hca_path *path)
{
	hca_path_decode(path, MLX5_ADDR_OF(qpc, qp->qpc, secondary_address_path), true);
}

/* Does the packet come on the alternate path? */
static bool hca_wire_apm_fits(const struct hca_qp *qp, const struct hca_path *path,
			      const struct hca_packet *p)
{
	struct hca_gid from = hca_wire_network(p);

	return hca_route_gid_index(qp->hca, p->flow.dgid, p->flow.dmac, &from) ==
	       path->sgid_index && !memcmp(path->rgid, p->flow.sgid, sizeof(path->rgid));
}

/* The event is raised once, and only for a packet from the MAC of the peer or its router. */
static void hca_wire_apm_fail(struct hca_qp *qp, const struct hca_path *path,
			      const struct hca_packet *p)
{
	if (qp->pm_failed || (memcmp(path->rmac, p->flow.smac, sizeof(path->rmac)) &&
			      memcmp(qp->path.rmac, p->flow.smac, sizeof(path->rmac))))
		return;
	qp->pm_failed = true;
	hca_event_qp(qp, MLX5_EVENT_TYPE_PATH_MIG_FAILED);
}

static bool hca_wire_apm_follow(struct hca_qp *qp, const struct hca_packet *p)
{
	struct hca_path path;

	hca_wire_apm_alternate(qp, &path);
	if (!hca_wire_apm_fits(qp, &path, p)) {
		hca_wire_apm_fail(qp, &path, p);
		return false;
	}
	hca_apm_migrate(qp);
	return hca_wire_is_from_peer(qp, p);
}

bool hca_wire_apm_accepts(struct hca_qp *qp, const struct hca_packet *p)
{
	if (!hca_pkeys_match(hca_qp_pkey(qp), p->pkey) ||
	    hca_packet_transport(p->opcode) == HCA_BTH_CNP)
		return hca_wire_is_from_peer(qp, p);
	if (qp->pm_state == MLX5_QP_PM_ARMED && p->migrated)
		return hca_wire_apm_follow(qp, p);
	if (!hca_wire_is_from_peer(qp, p))
		return false;
	if (qp->pm_state == MLX5_QP_PM_REARM && !p->migrated)
		qp->pm_state = MLX5_QP_PM_ARMED;
	return true;
}

bool hca_wire_apm_retry(struct hca_qp *qp)
{
	if (qp->pm_state != MLX5_QP_PM_ARMED)
		return false;
	hca_apm_migrate(qp);
	qp->retry_left = qp->retry_cnt;
	memset(&qp->wire->rtt, 0, sizeof(qp->wire->rtt));
	qp->wire->timeouts = 0;
	return true;
}
