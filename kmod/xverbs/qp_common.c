// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: what creation, state transitions, multicast and events share: the table of types,
 * calls with the lock held, path migration, events.
 */
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include <rdma/mlx5_ring.h>

#include "ah.h"
#include "fw.h"
#include "qp.h"

#define XV_CTRL_BYTES	((u8)sizeof(struct mlx5r_ctrl))
#define XV_RADDR_BYTES	((u8)sizeof(struct mlx5r_raddr))
#define XV_ATOMIC_BYTES	((u8)sizeof(struct mlx5r_atomic))
#define XV_AV_BYTES	((u8)sizeof(struct mlx5r_av))
#define XV_XRC_BYTES	((u8)sizeof(struct mlx5r_xrc))
#define XV_ATOMIC_WQE	(XV_RADDR_BYTES + XV_ATOMIC_BYTES + XV_DATA_BYTES)

const struct xv_qp_kind *xv_qp_kind(u32 type)
{
	static const struct xv_qp_kind kinds[] = {
		[XVERBS_QPT_RC] = {
			.st = MLX5_QP_ST_RC, .sq = true, .rq = true,
			.sq_header = XV_CTRL_BYTES + XV_RADDR_BYTES,
			.sq_min = XV_CTRL_BYTES + XV_ATOMIC_WQE,
			.cross_channel = true,
			.inl_recv = true, .inl_resp = true,
		},
		[XVERBS_QPT_UC] = {
			.st = MLX5_QP_ST_UC, .sq = true, .rq = true,
			.sq_header = XV_CTRL_BYTES + XV_RADDR_BYTES,
			.cross_channel = true,
			.inl_recv = true,
		},
		[XVERBS_QPT_UD] = {
			.st = MLX5_QP_ST_UD, .sq = true, .rq = true,
			.sq_header = XV_CTRL_BYTES + XV_AV_BYTES,
		},
		[XVERBS_QPT_XRC_SEND] = {
			.st = MLX5_QP_ST_XRC, .sq = true,
			.sq_header = XV_CTRL_BYTES + XV_XRC_BYTES + XV_RADDR_BYTES,
			.sq_min = XV_CTRL_BYTES + XV_XRC_BYTES + XV_ATOMIC_WQE,
			.cross_channel = true,
		},
		[XVERBS_QPT_XRC_RECV] = {
			.st = MLX5_QP_ST_XRC, .xrcd = true,
		},
		[XVERBS_QPT_DCI] = {
			.st = MLX5_QP_ST_DCI, .sq = true,
			.sq_header = XV_CTRL_BYTES + XV_AV_BYTES + XV_RADDR_BYTES,
			.sq_min = XV_CTRL_BYTES + XV_AV_BYTES + XV_ATOMIC_WQE,
			.cross_channel = true,
			.inl_resp = true,
		},
	};

	return xv_qp_type_known(type) ? &kinds[type] : NULL;
}

int xv_qp_call(struct xv_call *call, u32 handle,
	       int (*fn)(struct xv_call *call, struct xv_dev_qp *qp))
{
	struct xv_obj *obj;
	struct xv_dev_qp *qp;
	int err;

	obj = xv_obj_get(call, XV_OBJ_QP, handle);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	qp = to_qp_obj(obj)->qp;
	call->init = to_qp_obj(obj)->init;
	mutex_lock(&qp->lock);
	err = fn(call, qp);
	mutex_unlock(&qp->lock);
	xv_obj_put(obj);
	return err;
}

/* ---- Path migration ------------------------------------------------------------- */

void xv_qp_put_sgids(struct xv_dev_qp *qp)
{
	xv_sgid_put(&qp->sgid[XV_PATH_PRIMARY]);
	xv_sgid_put(&qp->sgid[XV_PATH_ALTERNATE]);
}

/* Called when the alternate path has become the primary path. */
void xv_qp_migrated(struct xv_dev_qp *qp, struct xv_qp_attrs *attrs)
{
	xv_qp_attr_migrate(attrs);
	xv_sgid_put(&qp->sgid[XV_PATH_PRIMARY]);
	swap(qp->sgid[XV_PATH_PRIMARY], qp->sgid[XV_PATH_ALTERNATE]);
}

static u32 xv_qp_mig_from_hw(u8 state)
{
	switch (state) {
	case MLX5_QP_PM_ARMED:
		return XVERBS_MIG_ARMED;
	case MLX5_QP_PM_REARM:
		return XVERBS_MIG_REARM;
	default:
		return XVERBS_MIG_MIGRATED;
	}
}

int xv_qp_refresh(struct xv_call *call, struct xv_dev_qp *qp, void *qpc)
{
	u32 state;
	int err;

	lockdep_assert_held(&qp->lock);
	err = xv_fw_query_qp(call->dev, call, qp->qpn, qpc);
	if (err || qp->attrs.qp.path_mig_state == XVERBS_MIG_MIGRATED)
		return err;
	state = xv_qp_mig_from_hw(MLX5_GET(qpc, qpc, pm_state));
	if (state == XVERBS_MIG_MIGRATED)
		xv_qp_migrated(qp, &qp->attrs);
	qp->attrs.qp.path_mig_state = state;
	return 0;
}

/* ---- Events ----------------------------------------------------------------------- */

static void xv_handle_event(struct xv_qp_obj *h, int type)
{
	xv_event_async(&h->obj.file->async, &h->obj.events, type);
}

/* Gives the raised events of a target of an XRC domain to all its handles. */
void xv_qp_deliver_events(struct work_struct *work)
{
	struct xv_dev_qp *qp = container_of(work, struct xv_dev_qp, deliver);
	unsigned long raised = xchg(&qp->raised, 0);
	struct xv_qp_obj *h;
	int type;

	mutex_lock(&qp->handles_lock);
	list_for_each_entry(h, &qp->handles, node)
		for_each_set_bit(type, &raised, BITS_PER_LONG)
			xv_handle_event(h, type);
	mutex_unlock(&qp->handles_lock);
}

/*
 * A target of an XRC domain may have many handles, so a work item visits them.  Events of
 * other queue pairs reach the file in the order in which the adapter raised them.
 */
void xv_qp_event(struct xv_dev_qp *qp, int type)
{
	if (type == XVERBS_EVENT_SQ_DRAINED && !READ_ONCE(qp->want_drained))
		return;
	if (qp->domain) {
		set_bit(type, &qp->raised);
		xv_compat_queue_work(&qp->deliver);
	} else if (qp->handle) {
		xv_handle_event(qp->handle, type);
	}
}

static_assert(XVERBS_EVENT_QP_LAST_WQE_REACHED < BITS_PER_LONG);
