// SPDX-License-Identifier: GPL-2.0
/*
 * Automatic path migration (IBTA, volume 1, 17.2.8).
 *
 * MIGRATED: one path.  REARM: an alternate path is loaded; the QP waits until the peer has
 * one too.  ARMED: both have one.  From ARMED, software moves the QP to the alternate path,
 * or the requester does so when the primary path gives no answer; the peer follows.  On a
 * wire the MigReq bit of each packet shows the state of the other side; here each side reads
 * the state of the other when a message is sent.
 */
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include "data/data.h"

static void *hca_apm_alternate(struct hca_qp *qp)
{
	return MLX5_ADDR_OF(qpc, qp->qpc, secondary_address_path);
}

void hca_apm_reset(struct hca_qp *qp)
{
	qp->pm_state = MLX5_QP_PM_MIGRATED;
	qp->pm_failed = false;
	memset(hca_apm_alternate(qp), 0, MLX5_ST_SZ_BYTES(ads));
}

bool hca_apm_allows(const struct hca_qp *qp, const u32 *qpc)
{
	u8 to = MLX5_GET(qpc, qpc, pm_state);

	switch (qp->pm_state) {
	case MLX5_QP_PM_MIGRATED:
		return to == MLX5_QP_PM_MIGRATED ||
		       (to == MLX5_QP_PM_REARM &&
			MLX5_GET(qpc, qpc, secondary_address_path.vhca_port_num));
	case MLX5_QP_PM_REARM:
		return to == MLX5_QP_PM_REARM;
	default:
		return to == MLX5_QP_PM_ARMED || to == MLX5_QP_PM_MIGRATED;
	}
}

void hca_apm_migrate(struct hca_qp *qp)
{
	memcpy(MLX5_ADDR_OF(qpc, qp->qpc, primary_address_path), hca_apm_alternate(qp),
	       MLX5_ST_SZ_BYTES(ads));
	hca_apm_reset(qp);
	hca_path_take(qp);
	hca_event_qp(qp, MLX5_EVENT_TYPE_PATH_MIG);
}

void hca_apm_set(struct hca_qp *qp, u8 state)
{
	if (qp->pm_state == MLX5_QP_PM_ARMED && state == MLX5_QP_PM_MIGRATED)
		hca_apm_migrate(qp);
	qp->pm_state = state;
}

noinline void hca_apm_arm(struct hca_qp *qp, struct hca_qp *peer)
{
	if (peer->pm_state != MLX5_QP_PM_MIGRATED)
		qp->pm_state = peer->pm_state = MLX5_QP_PM_ARMED;
}

/* Do the alternate path of @qp and the path of @peer lead to each other? */
static bool hca_apm_leads_to(struct hca_qp *qp, struct hca_qp *peer)
{
	struct hca_path path;

	hca_path_decode(&path, hca_apm_alternate(qp), qp->hca->p.roce);
	return hca_route_find(qp->hca, &path) == peer->port &&
	       hca_route_remote(peer) == &qp->hca->port[path.port];
}

bool hca_apm_follow(struct hca_qp *qp, struct hca_qp *peer)
{
	struct hca_port *remote;
	struct hca_qp *late = qp->pm_state == MLX5_QP_PM_ARMED ? qp : peer;
	struct hca_qp *ahead = late == qp ? peer : qp;

	if (late->pm_state != MLX5_QP_PM_ARMED || ahead->pm_state != MLX5_QP_PM_MIGRATED)
		return true;
	if (hca_apm_leads_to(late, ahead)) {
		hca_apm_migrate(late);
		return true;
	}
	/* The event is raised once, and only if this QP is the peer. */
	remote = hca_route_remote(late);
	if (!late->pm_failed && remote && remote->hca == ahead->hca) {
		late->pm_failed = true;
		hca_event_qp(late, MLX5_EVENT_TYPE_PATH_MIG_FAILED);
	}
	return false;
}
