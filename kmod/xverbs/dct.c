// SPDX-License-Identifier: GPL-2.0
/*
 * DC targets: they receive from any number of initiators that know the access key.
 * There are no states to set: the adapter creates a target that is active.  Before a
 * target is destroyed it is drained: it completes the messages in flight and takes no
 * new ones.
 */
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include <rdma/ib_cache.h>
#include <rdma/mlx5_ring.h>

#include "ah.h"
#include "atomic.h"
#include "cq.h"
#include "dct.h"
#include "device.h"
#include "fw.h"
#include "mr.h"
#include "pd.h"
#include "qp.h"
#include "query.h"
#include "srq.h"

#define XV_DRAIN_INTERVAL	(HZ / 10)
#define XV_MAX_RNR_TIMER	31
#define XV_MAX_SL		15

#define XV_DCT_ACCESS	(XVERBS_ACCESS_REMOTE_WRITE |			\
			 XVERBS_ACCESS_REMOTE_READ |			\
			 XVERBS_ACCESS_REMOTE_ATOMIC)

/* ---- Creation ------------------------------------------------------------------- */

static int xv_dct_check_device(struct xv_call *call)
{
	struct mlx5_core_dev *mdev = call->dev->mdev;

	if (!MLX5_CAP_GEN(mdev, dct))
		return xv_fail(call, -EOPNOTSUPP, "the device does not support DC");
	if (mlx5_lag_is_active(mdev) && !MLX5_CAP_GEN(mdev, lag_dct))
		return xv_fail(call, -EOPNOTSUPP,
			       "DCT: the device does not support DC targets on a bond");
	return 0;
}

static int xv_dct_check_attr(struct xv_call *call,
			     const struct xverbs_dct_attr *attr)
{
	int max_pkeys = call->dev->ib->attrs.max_pkeys;
	int err;

	if (attr->reserved2)
		return xv_fail(call, -EINVAL, "DCT: attr.reserved2 is not zero");
	err = xv_check_access_known(call, "DCT", attr->access);
	if (err)
		return err;
	if (attr->access & ~XV_DCT_ACCESS)
		return xv_fail(call, -EINVAL, "DCT: access 0x%x is out of range",
			       attr->access);
	if (attr->flow_label > IB_GRH_FLOWLABEL_MASK)
		return xv_fail(call, -EINVAL, "DCT: flow_label 0x%x is out of range",
			       attr->flow_label);
	if (attr->mtu < IB_MTU_256 || attr->mtu > IB_MTU_4096)
		return xv_fail(call, -EINVAL, "DCT: mtu %u is out of range",
			       attr->mtu);
	if (attr->pkey_index >= max_pkeys)
		return xv_fail(call, -EINVAL, "DCT: pkey_index %u, the limit is %d",
			       attr->pkey_index, max_pkeys - 1);
	if (attr->min_rnr_timer > XV_MAX_RNR_TIMER)
		return xv_fail(call, -EINVAL, "DCT: min_rnr_timer %u is out of range",
			       attr->min_rnr_timer);
	if (attr->sl > XV_MAX_SL)
		return xv_fail(call, -EINVAL, "DCT: sl %u is out of range",
			       attr->sl);
	if (attr->ece && !MLX5_CAP_GEN(call->dev->mdev, ece_support))
		return xv_fail(call, -EOPNOTSUPP,
			       "DCT: ece 0x%x: the device has no options for connections (ECE)",
			       attr->ece);
	return xv_check_port(call, attr->port);
}

/* While the GID is referenced, ib_core does not reuse its table entry. */
static int xv_dct_hold_sgid(struct xv_call *call, struct xv_dct_obj *dct)
{
	const struct ib_gid_attr *gid;

	gid = rdma_get_gid_attr(call->dev->ib, dct->port,
				call->dct_attr.gid_index);
	if (IS_ERR(gid))
		return xv_fail(call, -ENOENT, "DCT: no GID at gid_index %u",
			       call->dct_attr.gid_index);
	dct->sgid = gid;
	return 0;
}

/*
 * mlx5_ib asks for data in CQEs of 128 bytes only, and whether an adapter puts data of
 * a DCT into CQEs of 64 bytes is not documented.
 */
static bool xv_dct_in_cqe(const struct xv_call *call,
			  const struct xv_cq_obj *cq)
{
	return call->dct_attr.inline_size && cq->cqe_bytes == 128 &&
	       MLX5_CAP_GEN(call->dev->mdev, sctr_data_cqe);
}

/* Writes the numbers of the objects that the target uses into the context. */
static int xv_dct_deps(struct xv_call *call, struct xv_dct_obj *dct, void *dctc)
{
	const struct xverbs_dct_create *arg = &call->arg.dct_create;
	struct xv_obj *pd, *cq, *srq;

	pd = xv_obj_use(call, &dct->obj, XV_OBJ_PD, arg->pd);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	cq = xv_obj_use(call, &dct->obj, XV_OBJ_CQ, arg->cq);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	srq = xv_obj_use(call, &dct->obj, XV_OBJ_SRQ, arg->srq);
	if (IS_ERR(srq))
		return PTR_ERR(srq);
	if (to_srq_obj(srq)->xrc)
		return xv_fail(call, -EINVAL, "DCT: srq %u is an XRC SRQ",
			       arg->srq);
	MLX5_SET(dctc, dctc, pd, to_pd_obj(pd)->pdn);
	MLX5_SET(dctc, dctc, cqn, to_cq_obj(cq)->mcq.cqn);
	if (xv_dct_in_cqe(call, to_cq_obj(cq)))
		MLX5_SET(dctc, dctc, cs_res,
			 MLX5R_CQE_DATA_MAX / MLX5R_CQE_DATA_MIN);
	MLX5_SET(dctc, dctc, srqn_xrqn, to_srq_obj(srq)->srqn);
	return 0;
}

/*
 * dctc.port is the port itself, not an affinity as in the context of a queue pair.  So
 * ports take turns only while there is a bond, but then always, as in mlx5_ib.
 */
static u8 xv_dct_port(struct xv_dev *dev, u8 port)
{
	u8 turn = 0;

	if (mlx5_lag_is_active(dev->mdev))
		turn = xv_lag_turn(dev, mlx5_lag_get_num_ports(dev->mdev));
	return turn ?: port;
}

static void xv_dct_fill(const struct xv_call *call, void *dctc)
{
	const struct xverbs_dct_attr *attr = &call->dct_attr;
	u8 mode = xv_atomic_mode(call->dev->mdev, XVERBS_QPT_DCI);

	MLX5_SET(dctc, dctc, user_index, call->arg.dct_create.user_index);
	MLX5_SET64(dctc, dctc, dc_access_key, attr->dc_key);
	MLX5_SET(dctc, dctc, rwe, !!(attr->access & XVERBS_ACCESS_REMOTE_WRITE));
	MLX5_SET(dctc, dctc, rre, !!(attr->access & XVERBS_ACCESS_REMOTE_READ));
	if (attr->access & XVERBS_ACCESS_REMOTE_ATOMIC && mode) {
		MLX5_SET(dctc, dctc, rae, 1);
		MLX5_SET(dctc, dctc, atomic_mode, mode);
	}
	MLX5_SET(dctc, dctc, min_rnr_nak, attr->min_rnr_timer);
	MLX5_SET(dctc, dctc, tclass, attr->tclass);
	MLX5_SET(dctc, dctc, flow_label, attr->flow_label);
	MLX5_SET(dctc, dctc, mtu, attr->mtu);
	MLX5_SET(dctc, dctc, port, xv_dct_port(call->dev, attr->port));
	MLX5_SET(dctc, dctc, pkey_index, attr->pkey_index);
	MLX5_SET(dctc, dctc, my_addr_index, attr->gid_index);
	MLX5_SET(dctc, dctc, hop_limit, attr->hop_limit);
	MLX5_SET(dctc, dctc, ece, attr->ece);
}

/* On InfiniBand, the context of a DC target has no service level. */
static bool xv_dct_has_priority(const struct xv_dct_obj *dct)
{
	return dct->sgid && dct->sgid->gid_type != IB_GID_TYPE_IB;
}

static int xv_dct_build(struct xv_call *call, struct xv_dct_obj *dct)
{
	u32 in[MLX5_ST_SZ_DW(create_dct_in)] = {};
	void *dctc = MLX5_ADDR_OF(create_dct_in, in, dct_context_entry);
	int err;

	err = xv_dct_deps(call, dct, dctc);
	if (!err)
		err = xv_dct_hold_sgid(call, dct);
	if (err)
		return err;
	xv_dct_fill(call, dctc);
	if (xv_dct_has_priority(dct))
		MLX5_SET(dctc, dctc, eth_prio, dct->sl & 7);
	err = xv_fw_create_dct(call->dev, call, in, &dct->dctn, &dct->ece);
	if (err)
		xv_sgid_put(&dct->sgid);
	return err;
}

int xv_dct_create(struct xv_call *call)
{
	struct xverbs_dct_create *arg = &call->arg.dct_create;
	struct xv_dct_obj *dct;
	struct xv_obj *obj;
	int err;

	err = xv_dct_check_device(call);
	if (!err)
		err = xv_dct_check_attr(call, &call->dct_attr);
	if (!err && arg->user_index >> 24)
		err = xv_fail(call, -EINVAL,
			      "DCT: user_index 0x%x has more than 24 bits",
			      arg->user_index);
	if (err)
		return err;
	obj = xv_obj_alloc(call, XV_OBJ_DCT, sizeof(*dct));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	dct = to_dct_obj(obj);
	obj->events.user_data = arg->user_data;
	init_completion(&dct->drained);
	mutex_init(&dct->arm_lock);
	dct->init = *arg;
	dct->port = call->dct_attr.port;
	dct->pkey_index = call->dct_attr.pkey_index;
	dct->sl = call->dct_attr.sl;
	err = xv_security_label(call, &dct->label);
	if (!err)
		err = xv_security_create_dct(call, dct);
	if (!err)
		err = xv_dct_build(call, dct);
	if (err) {
		xv_security_free(&dct->label);
		xv_obj_abort(obj);
		return err;
	}
	obj->resource.number = dct->dctn;
	err = xv_number_add(&call->dev->dcts, dct->dctn, dct);
	/* P_Keys may have changed before the target was in the table. */
	if (!err)
		err = xv_security_create_dct(call, dct);
	if (err) {
		xv_obj_undo(obj);
		return err;
	}
	arg->out_handle = obj->handle;
	arg->out_dctn = dct->dctn;
	call->new_obj = obj;
	return 0;
}

/* ---- Destruction ---------------------------------------------------------------- */

static bool xv_dct_is_drained(struct xv_dev *dev, const struct xv_dct_obj *dct)
{
	u32 dctc[MLX5_ST_SZ_DW(dctc)];

	return !xv_fw_query_dct(dev, NULL, dct->dctn, dctc) &&
	       MLX5_GET(dctc, dctc, state) == XVERBS_DCT_DRAINED;
}

void xv_dct_drain(struct xv_obj *obj)
{
	struct xv_dev *dev = obj->file->dev;

	xv_security_hold(dev);
	xv_dct_begin_drain(dev, NULL, to_dct_obj(obj));
	xv_security_release(dev);
}

/*
 * Waits for the event, and also asks for the state: there is no event if the target is
 * not yet known by its number.  If it takes too long, DESTROY_DCT will fail.
 */
static void xv_dct_wait_drained(struct xv_dev *dev, struct xv_dct_obj *dct)
{
	while (!wait_for_completion_timeout(&dct->drained, XV_DRAIN_INTERVAL) &&
	       !xv_dct_is_drained(dev, dct) &&
	       time_before64(get_jiffies_64(), dct->drain_end))
		;
}

int xv_dct_destroy(struct xv_obj *obj, struct xv_call *call)
{
	struct xv_dev *dev = obj->file->dev;
	struct xv_dct_obj *dct = to_dct_obj(obj);
	int err;

	xv_security_hold(dev);
	err = xv_dct_begin_drain(dev, call, dct);
	xv_security_release(dev);
	if (!err)
		xv_dct_wait_drained(dev, dct);
	xv_security_hold(dev);
	/* In error state the adapter has lost its objects; they can be destroyed. */
	if (!err || err == -ENODEV)
		err = xv_fw_destroy_dct(dev, call, dct->dctn);
	if (!err)
		xv_number_del(&dev->dcts, dct->dctn, dct);
	xv_security_release(dev);
	if (err)
		return err;
	if (dct->arm_state == XVERBS_DCT_ARMED)
		xv_dct_eq_release(dev);
	xv_sgid_put(&dct->sgid);
	xv_security_free(&dct->label);
	return 0;
}

void xv_dct_leak(struct xv_obj *obj)
{
	struct xv_dct_obj *dct = to_dct_obj(obj);
	struct xv_dev *dev = obj->file->dev;

	xv_security_hold(dev);
	xv_number_del(&dev->dcts, dct->dctn, dct);
	xv_security_release(dev);
	xv_security_free(&dct->label);
	/* Removal of the device waits for references to its GIDs. */
	xv_sgid_put(&dct->sgid);
}

/* ---- Query, key violations ------------------------------------------------------- */

static void xv_dct_attr_from_hw(const struct xv_dct_obj *dct, const void *dctc,
				struct xverbs_dct_attr *attr)
{
	attr->dc_key = MLX5_GET64(dctc, dctc, dc_access_key);
	if (MLX5_GET(dctc, dctc, rwe))
		attr->access |= XVERBS_ACCESS_REMOTE_WRITE;
	if (MLX5_GET(dctc, dctc, rre))
		attr->access |= XVERBS_ACCESS_REMOTE_READ;
	if (MLX5_GET(dctc, dctc, rae))
		attr->access |= XVERBS_ACCESS_REMOTE_ATOMIC;
	attr->flow_label = MLX5_GET(dctc, dctc, flow_label);
	attr->mtu = MLX5_GET(dctc, dctc, mtu);
	attr->inline_size = MLX5_GET(dctc, dctc, cs_res) * MLX5R_CQE_DATA_MIN;
	attr->pkey_index = MLX5_GET(dctc, dctc, pkey_index);
	attr->port = dct->port;	/* on a bond, the context has another one */
	attr->gid_index = MLX5_GET(dctc, dctc, my_addr_index);
	attr->hop_limit = MLX5_GET(dctc, dctc, hop_limit);
	attr->tclass = MLX5_GET(dctc, dctc, tclass);
	attr->min_rnr_timer = MLX5_GET(dctc, dctc, min_rnr_nak);
	attr->sl = xv_dct_has_priority(dct) ? MLX5_GET(dctc, dctc, eth_prio) :
					      dct->sl;
	attr->ece = dct->ece;
}

int xv_dct_query(struct xv_call *call)
{
	struct xverbs_dct_query *arg = &call->arg.dct_query;
	u32 dctc[MLX5_ST_SZ_DW(dctc)];
	struct xv_dct_obj *dct;
	struct xv_obj *obj;
	int err;

	obj = xv_obj_get(call, XV_OBJ_DCT, arg->dct);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	dct = to_dct_obj(obj);
	err = xv_fw_query_dct(call->dev, call, dct->dctn, dctc);
	if (!err) {
		arg->out_state = MLX5_GET(dctc, dctc, state);
		arg->out_arm_state = READ_ONCE(dct->arm_state);
		arg->out_key_violations =
			MLX5_GET(dctc, dctc, dc_access_key_violation_count);
		arg->out_pd = dct->init.pd;
		arg->out_cq = dct->init.cq;
		arg->out_srq = dct->init.srq;
		arg->out_user_index = dct->init.user_index;
		xv_dct_attr_from_hw(dct, dctc, &call->dct_attr);
	}
	xv_obj_put(obj);
	return err;
}

/*
 * A target that is armed is not armed again, so each has at most one reserved entry.  Its
 * event may already be in the queue; the caller gets it all the same.
 */
static int xv_dct_arm_locked(struct xv_call *call, struct xv_dct_obj *dct)
{
	u32 old = READ_ONCE(dct->arm_state);
	int err;

	lockdep_assert_held(&dct->arm_lock);
	if (old == XVERBS_DCT_ARMED)
		return 0;
	err = xv_dct_eq_reserve(call);
	if (err)
		return err;
	/* The event may come before the command has returned. */
	WRITE_ONCE(dct->arm_state, XVERBS_DCT_ARMED);
	err = xv_fw_arm_dct(call->dev, call, dct->dctn);
	if (err && cmpxchg(&dct->arm_state, XVERBS_DCT_ARMED, old) ==
		   XVERBS_DCT_ARMED)
		xv_dct_eq_release(call->dev);
	return err;
}

int xv_dct_arm(struct xv_call *call)
{
	struct xverbs_dct_arm *arg = &call->arg.dct_arm;
	struct xv_dct_obj *dct;
	struct xv_obj *obj;
	int err;

	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	obj = xv_obj_get(call, XV_OBJ_DCT, arg->dct);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	dct = to_dct_obj(obj);
	mutex_lock(&dct->arm_lock);
	err = xv_dct_arm_locked(call, dct);
	mutex_unlock(&dct->arm_lock);
	xv_obj_put(obj);
	return err;
}
