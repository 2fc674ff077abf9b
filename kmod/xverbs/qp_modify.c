// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: state transitions.  QP_MODIFY checks masks and values with the tables
 * of qp_state.c, resolves the addresses and writes a QP context.  The firmware reads
 * the fields that belong to the transition.
 */
#include <linux/capability.h>
#include <linux/log2.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>

#include "ah.h"
#include "atomic.h"
#include "fw.h"
#include "mr.h"
#include "qp.h"
#include "qp_state.h"
#include "query.h"

#define XV_ACK_REQ_FREQ		8	/* log2 of packets between acknowledge requests */
#define XV_UD_LOG_MSG_MAX	12	/* a datagram is one packet */
#define XV_QKEY_CONTROLLED	0x80000000u

/**
 * struct xv_qp_change - one call of QP_MODIFY
 * @from: state before
 * @to: state afterwards
 * @mask: attributes to set
 * @verdict: which of them are optional in this transition
 * @opcode: of the command
 * @context: the command has a queue pair context
 * @attrs: all attributes afterwards
 * @sgid: referenced source GIDs of new paths; after the commit, those of the old paths
 */
struct xv_qp_change {
	u32 from;
	u32 to;
	u32 mask;
	struct xv_qp_verdict verdict;
	u16 opcode;
	bool context;
	struct xv_qp_attrs attrs;
	const struct ib_gid_attr *sgid[XV_PATHS];
};

struct xv_qp_opcode {
	u8 from;
	u8 to;
	u16 opcode;
};

static u16 xv_qp_opcode(u32 from, u32 to)
{
	static const struct xv_qp_opcode table[] = {
		{ XVERBS_QPS_RESET, XVERBS_QPS_INIT, MLX5_CMD_OP_RST2INIT_QP },
		{ XVERBS_QPS_INIT, XVERBS_QPS_INIT, MLX5_CMD_OP_INIT2INIT_QP },
		{ XVERBS_QPS_INIT, XVERBS_QPS_RTR, MLX5_CMD_OP_INIT2RTR_QP },
		{ XVERBS_QPS_RTR, XVERBS_QPS_RTS, MLX5_CMD_OP_RTR2RTS_QP },
		{ XVERBS_QPS_RTS, XVERBS_QPS_RTS, MLX5_CMD_OP_RTS2RTS_QP },
		{ XVERBS_QPS_RTS, XVERBS_QPS_SQD, XV_CMD_RTS2SQD_QP },
		{ XVERBS_QPS_SQD, XVERBS_QPS_RTS, MLX5_CMD_OP_SQD_RTS_QP },
		{ XVERBS_QPS_SQD, XVERBS_QPS_SQD, XV_CMD_SQD2SQD_QP },
		{ XVERBS_QPS_SQE, XVERBS_QPS_RTS, MLX5_CMD_OP_SQERR2RTS_QP },
	};
	int i;

	if (to == XVERBS_QPS_RESET)
		return MLX5_CMD_OP_2RST_QP;
	if (to == XVERBS_QPS_ERR)
		return MLX5_CMD_OP_2ERR_QP;
	for (i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].from == from && table[i].to == to)
			return table[i].opcode;
	return 0;
}

/* Optional attributes -> opt_param_mask of the command (PRM) */
static u32 xv_qp_opt_mask(const struct xv_dev_qp *qp, u32 optional, u32 mask)
{
	static const struct {
		u32 attr;
		u32 opt;
	} table[] = {
		{ XVERBS_QP_ALT_PATH, MLX5_QP_OPTPAR_ALT_ADDR_PATH },
		{ XVERBS_QP_PKEY_INDEX, MLX5_QP_OPTPAR_PKEY_INDEX },
		{ XVERBS_QP_PORT, MLX5_QP_OPTPAR_PRI_PORT },
		{ XVERBS_QP_QKEY, MLX5_QP_OPTPAR_Q_KEY },
		{ XVERBS_QP_MIN_RNR_TIMER, MLX5_QP_OPTPAR_RNR_TIMEOUT },
		{ XVERBS_QP_PATH_MIG_STATE, MLX5_QP_OPTPAR_PM_STATE },
		{ XVERBS_QP_AV, MLX5_QP_OPTPAR_PRIMARY_ADDR_PATH },
		{ XVERBS_QP_TIMEOUT, MLX5_QP_OPTPAR_ACK_TIMEOUT },
		{ XVERBS_QP_RETRY_CNT, MLX5_QP_OPTPAR_RETRY_COUNT },
		{ XVERBS_QP_RNR_RETRY, MLX5_QP_OPTPAR_RNR_RETRY },
		{ XVERBS_QP_MAX_QP_RD_ATOMIC, MLX5_QP_OPTPAR_SRA_MAX },
		{ XVERBS_QP_MAX_DEST_RD_ATOMIC, MLX5_QP_OPTPAR_RRA_MAX },
	};
	u32 opt = 0;
	int i;

	/* A DCI gets its path in INIT2RTR only. There it has no bit in opt_param_mask. */
	if (qp->type == XVERBS_QPT_DCI)
		optional &= ~(u32)XVERBS_QP_AV;
	for (i = 0; i < ARRAY_SIZE(table); i++)
		if (optional & table[i].attr)
			opt |= table[i].opt;
	/* RRE and RAE depend on max_dest_rd_atomic, see xv_qp_fill_access(). */
	if (qp->type != XVERBS_QPT_DCI &&
	    (mask & XVERBS_QP_MAX_DEST_RD_ATOMIC ||
	     optional & XVERBS_QP_ACCESS_FLAGS)) {
		opt |= MLX5_QP_OPTPAR_RWE;
		if (qp->type != XVERBS_QPT_UC)
			opt |= MLX5_QP_OPTPAR_RRE | MLX5_QP_OPTPAR_RAE;
	}
	return opt;
}

static void xv_qp_fill_access(const struct xverbs_qp_attr *attr,
			      struct mlx5_core_dev *mdev, void *qpc)
{
	u32 access = attr->qp_access_flags;
	u8 mode = xv_atomic_mode(mdev, XVERBS_QPT_RC);

	/* Without responder resources only writes are possible. */
	if (!attr->max_dest_rd_atomic)
		access &= XVERBS_ACCESS_REMOTE_WRITE;
	MLX5_SET(qpc, qpc, rwe, !!(access & XVERBS_ACCESS_REMOTE_WRITE));
	MLX5_SET(qpc, qpc, rre, !!(access & XVERBS_ACCESS_REMOTE_READ));
	if (access & XVERBS_ACCESS_REMOTE_ATOMIC && mode) {
		MLX5_SET(qpc, qpc, rae, 1);
		MLX5_SET(qpc, qpc, atomic_mode, mode);
	}
}

static u8 xv_qp_pm_state(const struct xverbs_qp_attr *attr, u32 mask)
{
	static const u8 pm_states[] = {
		[XVERBS_MIG_MIGRATED] = MLX5_QP_PM_MIGRATED,
		[XVERBS_MIG_REARM] = MLX5_QP_PM_REARM,
		[XVERBS_MIG_ARMED] = MLX5_QP_PM_ARMED,
	};

	return mask & XVERBS_QP_PATH_MIG_STATE ?
		pm_states[attr->path_mig_state] : MLX5_QP_PM_MIGRATED;
}

/* Writes the new QP context; the firmware reads the fields of the transition. */
static void xv_qp_fill_modify(const struct xv_dev_qp *qp,
			      const struct xverbs_qp_attr *attr, u32 mask,
			      struct mlx5_core_dev *mdev, void *qpc)
{
	void *path = MLX5_ADDR_OF(qpc, qpc, primary_address_path);
	bool ud = qp->type == XVERBS_QPT_UD;

	MLX5_SET(qpc, qpc, st, xv_qp_kind(qp->type)->st);
	MLX5_SET(qpc, qpc, pm_state, xv_qp_pm_state(attr, mask));
	MLX5_SET(qpc, qpc, pd, qp->pdn);
	MLX5_SET(qpc, qpc, cqn_snd, qp->cqn_snd);
	MLX5_SET(qpc, qpc, cqn_rcv, qp->cqn_rcv);
	MLX5_SET64(qpc, qpc, dbr_addr, qp->mem.dbr.dma);
	MLX5_SET(qpc, qpc, mtu, ud ? IB_MTU_4096 : attr->path_mtu);
	MLX5_SET(qpc, qpc, log_msg_max, ud ? XV_UD_LOG_MSG_MAX :
					     MLX5_CAP_GEN(mdev, log_max_msg));
	MLX5_SET(qpc, qpc, remote_qpn, attr->dest_qp_num);
	MLX5_SET(qpc, qpc, q_key, attr->qkey);
	MLX5_SET(qpc, qpc, next_rcv_psn, attr->rq_psn);
	MLX5_SET(qpc, qpc, next_send_psn, attr->sq_psn);
	MLX5_SET(qpc, qpc, retry_count, attr->retry_cnt);
	MLX5_SET(qpc, qpc, rnr_retry, attr->rnr_retry);
	MLX5_SET(qpc, qpc, min_rnr_nak, attr->min_rnr_timer);
	MLX5_SET(qpc, qpc, log_ack_req_freq, XV_ACK_REQ_FREQ);
	/*
	 * counter_set_id stays 0: the counter sets belong to mlx5_ib, and no public
	 * function returns them. So its hw_counters do not count these queue pairs.
	 */
	if (attr->max_rd_atomic)
		MLX5_SET(qpc, qpc, log_sra_max,
			 order_base_2(attr->max_rd_atomic));
	if (attr->max_dest_rd_atomic)
		MLX5_SET(qpc, qpc, log_rra_max,
			 order_base_2(attr->max_dest_rd_atomic));
	if (qp->type == XVERBS_QPT_DCI)
		MLX5_SET64(qpc, qpc, dc_access_key, attr->dct_key);
	else
		xv_qp_fill_access(attr, mdev, qpc);
	MLX5_SET(ads, path, pkey_index, attr->pkey_index);
	MLX5_SET(ads, path, vhca_port_num, attr->port_num);
	MLX5_SET(ads, path, ack_timeout, attr->timeout);
}

u8 xv_lag_turn(struct xv_dev *dev, u32 ports)
{
	if (ports < 2)
		return 0;
	return (u32)atomic_inc_return(&dev->lag_turn) % ports + 1;
}

/*
 * The ports take turns, as in mlx5_ib.  The adapter decides if a flow table spreads
 * the packets.  A function that does not manage bonds itself does not know of them, so
 * its ports always take turns.
 */
u8 xv_qp_lag_port(struct xv_dev *dev)
{
	struct mlx5_core_dev *mdev = dev->mdev;
	u32 ports = 0;

	if (mlx5_lag_is_active(mdev)) {
		if (!mlx5_lag_mode_is_hash(mdev) ||
		    !MLX5_CAP_PORT_SELECTION(mdev, port_select_flow_table_bypass))
			ports = mlx5_lag_get_num_ports(mdev);
	} else if (MLX5_CAP_GEN(mdev, lag_tx_port_affinity) &&
		   !mlx5_lag_is_lacp_owner(mdev)) {
		ports = MLX5_CAP_GEN(mdev, num_lag_ports);
	}
	return xv_lag_turn(dev, ports);
}

/*
 * Resolves the address and stores the hop limit of the route, which QP_QUERY returns.  Each
 * request of a DCI has an address of its own.  As in ib_core, that of the DCI can be empty.
 */
static int xv_qp_resolve(struct xv_call *call, const struct xv_dev_qp *qp,
			 const char *what, struct xverbs_ah_attr *attr,
			 u32 port, struct xv_path *path)
{
	int err;

	if (qp->type == XVERBS_QPT_DCI)
		return xv_path_take(call, what, attr, port, path);
	err = xv_path_resolve(call, qp->ib_pd, what, attr, port, path);
	if (!err && attr->is_global)
		attr->hop_limit = rdma_ah_read_grh(&path->rdma)->hop_limit;
	return err;
}

/*
 * Resolves the addresses in @mask and writes them to the context.  The caller drops
 * the references @sgid, also after a failure.
 *
 * ib_core refuses alternate paths on RoCE, because it resolves the MAC address of the
 * primary path only.  This function resolves both paths, so that path migration also
 * works on RoCE if the adapter supports it.
 */
static int xv_qp_fill_paths(struct xv_call *call, const struct xv_dev_qp *qp,
			    struct xv_qp_attrs *attrs, u32 mask,
			    const struct ib_gid_attr **sgid, void *qpc)
{
	const struct xverbs_qp_attr *attr = &attrs->qp;
	struct xv_path path;
	void *ads;
	int err;

	if (!MLX5_CAP_GEN(call->dev->mdev, apm) &&
	    (mask & XVERBS_QP_ALT_PATH ||
	     attr->path_mig_state != XVERBS_MIG_MIGRATED))
		return xv_fail(call, -EOPNOTSUPP,
			       "QP: the device does not support path migration");
	if (mask & XVERBS_QP_PATH_MIG_STATE && !attr->alt_port_num &&
	    attr->path_mig_state == XVERBS_MIG_REARM)
		return xv_fail(call, -EINVAL,
			       "QP: REARM needs an alternate path");
	if (mask & XVERBS_QP_AV) {
		err = xv_qp_resolve(call, qp, "QP: ah_attr", &attrs->ah_attr,
				    attr->port_num, &path);
		if (err)
			return err;
		sgid[XV_PATH_PRIMARY] = path.sgid;
		ads = MLX5_ADDR_OF(qpc, qpc, primary_address_path);
		xv_path_fill_ads(&path, qp->qpn, attr->dest_qp_num, ads);
	}
	if (mask & XVERBS_QP_ALT_PATH) {
		err = xv_qp_resolve(call, qp, "QP: alt_ah_attr",
				    &attrs->alt_ah_attr, attr->alt_port_num,
				    &path);
		if (err)
			return err;
		sgid[XV_PATH_ALTERNATE] = path.sgid;
		ads = MLX5_ADDR_OF(qpc, qpc, secondary_address_path);
		xv_path_fill_ads(&path, qp->qpn, attr->dest_qp_num, ads);
		MLX5_SET(ads, ads, pkey_index, attr->alt_pkey_index);
		MLX5_SET(ads, ads, ack_timeout, attr->alt_timeout);
	}
	return 0;
}

static int xv_qp_check_limits(struct xv_call *call,
			      const struct xverbs_qp_attr *attr, u32 mask)
{
	const struct ib_device_attr *limits = &call->dev->ib->attrs;
	int err;

	if (mask & XVERBS_QP_PORT) {
		err = xv_check_port(call, attr->port_num);
		if (err)
			return err;
	}
	if (mask & XVERBS_QP_MAX_QP_RD_ATOMIC &&
	    attr->max_rd_atomic > limits->max_qp_init_rd_atom)
		return xv_fail(call, -EINVAL,
			       "QP: max_rd_atomic %u, the limit is %d",
			       attr->max_rd_atomic,
			       limits->max_qp_init_rd_atom);
	if (mask & XVERBS_QP_MAX_DEST_RD_ATOMIC &&
	    attr->max_dest_rd_atomic > limits->max_qp_rd_atom)
		return xv_fail(call, -EINVAL,
			       "QP: max_dest_rd_atomic %u, the limit is %d",
			       attr->max_dest_rd_atomic,
			       limits->max_qp_rd_atom);
	if (mask & XVERBS_QP_PKEY_INDEX &&
	    attr->pkey_index >= limits->max_pkeys)
		return xv_fail(call, -EINVAL,
			       "QP: pkey_index %u, the limit is %u",
			       attr->pkey_index, limits->max_pkeys - 1);
	if (mask & XVERBS_QP_ALT_PATH &&
	    attr->alt_pkey_index >= limits->max_pkeys)
		return xv_fail(call, -EINVAL,
			       "QP: alt_pkey_index %u, the limit is %u",
			       attr->alt_pkey_index, limits->max_pkeys - 1);
	if (mask & XVERBS_QP_ECE &&
	    !MLX5_CAP_GEN(call->dev->mdev, ece_support))
		return xv_fail(call, -EOPNOTSUPP,
			       "QP: the device has no options for connections (ECE)");
	if (mask & XVERBS_QP_QKEY && attr->qkey & XV_QKEY_CONTROLLED &&
	    !capable(CAP_NET_RAW))
		return xv_fail(call, -EPERM,
			       "QP: qkey 0x%x is controlled and needs CAP_NET_RAW",
			       attr->qkey);
	return 0;
}

/* Checks mask and values; sets the states and the verdict of @change. */
static int xv_qp_check_modify(struct xv_call *call, const struct xv_dev_qp *qp,
			      struct xv_qp_change *change)
{
	struct xv_qp_verdict *verdict = &change->verdict;
	const struct xverbs_qp_attr *attr = &call->attrs.qp;
	u32 mask = call->arg.qp_modify.attr_mask;
	const char *name;
	u32 value, from, to;
	int err;

	if (xv_qp_attr_unknown(mask))
		return xv_fail(call, -EOPNOTSUPP, "QP: unknown attributes 0x%x in attr_mask",
			       xv_qp_attr_unknown(mask));
	if (mask & XVERBS_QP_ACCESS_FLAGS) {
		err = xv_check_access_known(call, "QP: qp_access_flags",
					    attr->qp_access_flags);
		if (err)
			return err;
	}
	name = xv_qp_attr_out_of_range(&call->attrs, mask, &value);
	if (name)
		return xv_fail(call, -EINVAL, "QP: %s 0x%x is out of range",
			       name, value);
	from = mask & XVERBS_QP_CUR_STATE ? attr->cur_qp_state :
					    qp->attrs.qp.qp_state;
	to = mask & XVERBS_QP_STATE ? attr->qp_state : from;
	change->from = from;
	change->to = to;
	if (!xv_qp_transition(qp->type, from, to, mask, verdict))
		return xv_fail(call, -EINVAL, "QP: no transition %s to %s",
			       xv_qp_state_name(from), xv_qp_state_name(to));
	if (verdict->missing)
		return xv_fail(call, -EINVAL, "QP: %s to %s requires %s",
			       xv_qp_state_name(from), xv_qp_state_name(to),
			       xv_qp_attr_name(verdict->missing));
	if (verdict->forbidden)
		return xv_fail(call, -EINVAL, "QP: %s to %s does not allow %s",
			       xv_qp_state_name(from), xv_qp_state_name(to),
			       xv_qp_attr_name(verdict->forbidden));
	return xv_qp_check_limits(call, attr, mask);
}

/*
 * The options for the connection in @attr, for xv_fw_modify_qp(); NULL if the command does
 * not negotiate them.  The value 0 requests no change.
 */
static u32 *xv_qp_ece(struct xv_call *call, u32 from, u32 to, u32 mask,
		      struct xverbs_qp_attr *attr)
{
	if (!MLX5_CAP_GEN(call->dev->mdev, ece_support) ||
	    !xv_qp_negotiates(from, to))
		return NULL;
	if (!(mask & XVERBS_QP_ECE))
		attr->ece = 0;
	return &attr->ece;
}

/* Checks the call and merges its attributes with those of the queue pair. */
static int xv_qp_plan(struct xv_call *call, struct xv_dev_qp *qp,
		      struct xv_qp_change *change)
{
	u32 qpc[MLX5_ST_SZ_DW(qpc)];
	u32 from, to;
	int err;

	err = xv_qp_check_modify(call, qp, change);
	if (err)
		return err;
	from = change->from;
	to = change->to;
	change->mask = call->arg.qp_modify.attr_mask & ~XVERBS_QP_CUR_STATE;
	change->opcode = xv_qp_opcode(from, to);
	if (!change->opcode)
		return xv_fail(call, -EOPNOTSUPP,
			       "QP: the adapter does not support %s to %s",
			       xv_qp_state_name(from), xv_qp_state_name(to));
	if (qp->attrs.qp.path_mig_state != XVERBS_MIG_MIGRATED) {
		err = xv_qp_refresh(call, qp, qpc);
		if (err)
			return err;
	}
	change->attrs = qp->attrs;
	xv_qp_attr_merge(&change->attrs, &call->attrs, change->mask);
	change->attrs.qp.qp_state = to;
	change->context = to != XVERBS_QPS_RESET && to != XVERBS_QPS_ERR &&
			  (to != XVERBS_QPS_SQD || from == to);
	return 0;
}

static int xv_qp_fill_context(struct xv_call *call, struct xv_dev_qp *qp,
			      struct xv_qp_change *change, void *qpc)
{
	struct xverbs_qp_attr *attr = &change->attrs.qp;
	int err;

	err = xv_security_modify_qp(call, qp, attr, change->mask);
	if (err)
		return err;
	xv_qp_fill_modify(qp, attr, change->mask, call->dev->mdev, qpc);
	if (change->from == XVERBS_QPS_RESET)
		MLX5_SET(qpc, qpc, lag_tx_port_affinity,
			 xv_qp_lag_port(call->dev));
	return xv_qp_fill_paths(call, qp, &change->attrs, change->mask,
				change->sgid, qpc);
}

static int xv_qp_execute(struct xv_call *call, struct xv_dev_qp *qp,
			 struct xv_qp_change *change)
{
	u32 qpc[MLX5_ST_SZ_DW(qpc)] = {};
	struct xverbs_qp_attr *attr = &change->attrs.qp;
	u32 from = change->from, to = change->to, mask = change->mask;
	int err;

	/* The adapter always raises the event; xv_qp_event() drops unwanted ones. */
	if (to == XVERBS_QPS_SQD && from != to)
		WRITE_ONCE(qp->want_drained,
			   mask & XVERBS_QP_EN_SQD_ASYNC_NOTIFY &&
			   attr->en_sqd_async_notify);
	if (change->context) {
		err = xv_qp_fill_context(call, qp, change, qpc);
		if (err)
			return err;
	}
	return xv_fw_modify_qp(call->dev, call, change->opcode, qp->qpn,
			       xv_qp_opt_mask(qp, change->verdict.optional, mask),
			       change->context ? qpc : NULL,
			       xv_qp_ece(call, from, to, mask, attr));
}

/* The adapter has executed the command. */
static void xv_qp_commit(struct xv_dev_qp *qp, struct xv_qp_change *change)
{
	struct xv_qp_attrs *attrs = &change->attrs;

	if (change->mask & XVERBS_QP_AV)
		swap(qp->sgid[XV_PATH_PRIMARY], change->sgid[XV_PATH_PRIMARY]);
	if (change->mask & XVERBS_QP_ALT_PATH)
		swap(qp->sgid[XV_PATH_ALTERNATE], change->sgid[XV_PATH_ALTERNATE]);
	if (attrs->qp.path_mig_state == XVERBS_MIG_MIGRATED &&
	    qp->attrs.qp.path_mig_state != XVERBS_MIG_MIGRATED)
		xv_qp_migrated(qp, attrs);
	if (change->to == XVERBS_QPS_RESET) {
		memset(attrs, 0, sizeof(*attrs));
		xv_qp_put_sgids(qp);
	}
	qp->attrs = *attrs;
}

static int xv_qp_modify_locked(struct xv_call *call, struct xv_dev_qp *qp)
{
	struct xv_qp_change change = {};
	int err;

	lockdep_assert_held(&qp->lock);
	err = xv_qp_plan(call, qp, &change);
	if (!err)
		err = xv_qp_execute(call, qp, &change);
	if (!err) {
		xv_qp_commit(qp, &change);
		call->arg.qp_modify.out_state = change.to;
	}
	xv_sgid_put(&change.sgid[XV_PATH_PRIMARY]);
	xv_sgid_put(&change.sgid[XV_PATH_ALTERNATE]);
	return err;
}

int xv_qp_modify(struct xv_call *call)
{
	struct xverbs_qp_modify *arg = &call->arg.qp_modify;

	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	if (call->attrs.qp.reserved)
		return xv_fail(call, -EINVAL, "attr.reserved is not zero");
	return xv_qp_call(call, arg->qp, xv_qp_modify_locked);
}
