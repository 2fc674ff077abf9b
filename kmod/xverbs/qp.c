// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: creation with rings whose geometry the kernel chooses, state
 * transitions, queries.
 */
#include <linux/capability.h>
#include <linux/log2.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include <linux/slab.h>
#include <rdma/mlx5_ring.h>

#include "ah.h"
#include "fw.h"
#include "qp_state.h"
#include "xrc_base.h"

#define XV_CMD_RTS2SQD_QP	0x508	/* PRM; not in linux/mlx5/mlx5_ifc.h */
#define XV_ACK_REQ_FREQ		8	/* log of packets between requests */
#define XV_UD_LOG_MSG_MAX	12	/* a datagram is one packet */
#define XV_QKEY_CONTROLLED	0x80000000u

/**
 * struct xv_qp_kind - what differs between the types of queue pairs
 * @st: service type (PRM)
 * @sq_header: bytes of a send WQE before its data segments
 * @sq_min: bytes of the smallest useful send WQE: some have atomics
 * @sq: has a send queue
 * @rq: has a receive queue, own or shared
 * @xrcd: belongs to an XRC domain
 */
struct xv_qp_kind {
	u8 st;
	u8 sq_header;
	u8 sq_min;
	bool sq;
	bool rq;
	bool xrcd;
};

#define XV_SEG(_type)	((u8)sizeof(struct mlx5r_##_type))
#define XV_ATOMIC	(XV_SEG(raddr) + XV_SEG(atomic) + XV_SEG(data))

static const struct xv_qp_kind *xv_qp_kind(u32 type)
{
	static const struct xv_qp_kind kinds[] = {
		[XVERBS_QPT_RC] = {
			.st = MLX5_QP_ST_RC, .sq = true, .rq = true,
			.sq_header = XV_SEG(ctrl) + XV_SEG(raddr),
			.sq_min = XV_SEG(ctrl) + XV_ATOMIC,
		},
		[XVERBS_QPT_UC] = {
			.st = MLX5_QP_ST_UC, .sq = true, .rq = true,
			.sq_header = XV_SEG(ctrl) + XV_SEG(raddr),
		},
		[XVERBS_QPT_UD] = {
			.st = MLX5_QP_ST_UD, .sq = true, .rq = true,
			.sq_header = XV_SEG(ctrl) + XV_SEG(av),
		},
		[XVERBS_QPT_XRC_SEND] = {
			.st = MLX5_QP_ST_XRC, .sq = true,
			.sq_header = XV_SEG(ctrl) + XV_SEG(xrc) + XV_SEG(raddr),
			.sq_min = XV_SEG(ctrl) + XV_SEG(xrc) + XV_ATOMIC,
		},
		[XVERBS_QPT_XRC_RECV] = {
			.st = MLX5_QP_ST_XRC, .xrcd = true,
		},
	};

	return xv_qp_type_known(type) ? &kinds[type] : NULL;
}

/* ---- Geometry ------------------------------------------------------------------ */

struct xv_qp_layout {
	u32 sq_wqebbs;
	u32 sq_offset;
	u32 rq_wqes;
	u32 rq_stride;
	size_t bytes;
};

static int xv_qp_size_sq(struct xv_call *call, const struct xv_qp_kind *kind,
			 struct xverbs_qp_cap *cap, struct xv_qp_layout *lay)
{
	struct mlx5_core_dev *mdev = call->dev->mdev;
	u32 max_wqe = min_t(u32, MLX5_CAP_GEN(mdev, max_wqe_sz_sq),
			    MLX5R_MAX_DS * MLX5R_DS);
	u64 max_wqebbs = 1ull << MLX5_CAP_GEN(mdev, log_max_qp_sz);
	u64 wqe, wqebbs;

	if (!cap->max_send_wr) {
		cap->max_send_sge = 0;
		cap->max_inline_data = 0;
		return 0;
	}
	wqe = kind->sq_header + (u64)cap->max_send_sge * MLX5R_DS;
	if (cap->max_inline_data)
		wqe = max(wqe, kind->sq_header +
			       ALIGN(sizeof(struct mlx5r_inline) +
				     (u64)cap->max_inline_data, MLX5R_DS));
	wqe = max_t(u64, wqe, kind->sq_min);
	if (wqe > max_wqe)
		return xv_fail(call, -EINVAL,
			       "QP: max_send_sge %u and max_inline_data %u need a WQE of %llu bytes, the limit is %u",
			       cap->max_send_sge, cap->max_inline_data, wqe,
			       max_wqe);
	wqebbs = DIV_ROUND_UP_ULL(wqe, MLX5R_WQEBB);
	if (cap->max_send_wr * wqebbs > max_wqebbs)
		return xv_fail(call, -EINVAL,
			       "QP: max_send_wr %u of %llu WQEBBs each, the limit is %llu WQEBBs",
			       cap->max_send_wr, wqebbs, max_wqebbs);

	lay->sq_wqebbs = roundup_pow_of_two(cap->max_send_wr * wqebbs);
	wqe = min_t(u64, wqebbs * MLX5R_WQEBB, max_wqe) - kind->sq_header;
	cap->max_send_wr = lay->sq_wqebbs / wqebbs;
	cap->max_send_sge = wqe / MLX5R_DS;
	cap->max_inline_data = wqe - sizeof(struct mlx5r_inline);
	return 0;
}

static int xv_qp_size_rq(struct xv_call *call, struct xverbs_qp_cap *cap,
			 struct xv_qp_layout *lay)
{
	struct mlx5_core_dev *mdev = call->dev->mdev;
	u32 max_wqe = MLX5_CAP_GEN(mdev, max_wqe_sz_rq);
	u32 max_wr = 1u << MLX5_CAP_GEN(mdev, log_max_qp_sz);

	if (!cap->max_recv_wr) {
		cap->max_recv_sge = 0;
		return 0;
	}
	if (cap->max_recv_wr > max_wr)
		return xv_fail(call, -EINVAL,
			       "QP: max_recv_wr %u, the limit is %u",
			       cap->max_recv_wr, max_wr);
	if (cap->max_recv_sge > max_wqe / MLX5R_DS)
		return xv_fail(call, -EINVAL,
			       "QP: max_recv_sge %u, the limit is %u",
			       cap->max_recv_sge, max_wqe / MLX5R_DS);
	lay->rq_stride = roundup_pow_of_two(max(cap->max_recv_sge, 1u)) *
			 MLX5R_DS;
	lay->rq_wqes = roundup_pow_of_two(cap->max_recv_wr);
	lay->rq_wqes = max_t(u32, lay->rq_wqes, MLX5R_WQEBB / lay->rq_stride);
	cap->max_recv_wr = lay->rq_wqes;
	cap->max_recv_sge = lay->rq_stride / MLX5R_DS;
	return 0;
}

/* Receive queue first, then the send queue on a WQEBB boundary (PRM) */
static int xv_qp_size(struct xv_call *call, const struct xv_qp_kind *kind,
		      struct xverbs_qp_cap *cap, struct xv_qp_layout *lay)
{
	const struct xverbs_qp_create *arg = &call->arg.qp_create;
	int err;

	memset(lay, 0, sizeof(*lay));
	if (cap->reserved)
		return xv_fail(call, -EINVAL, "QP: cap.reserved is not zero");
	if (cap->max_send_wr && !kind->sq)
		return xv_fail(call, -EINVAL,
			       "QP: max_send_wr, but the type sends nothing");
	if (cap->max_recv_wr && (!kind->rq || arg->srq))
		return xv_fail(call, -EINVAL,
			       "QP: max_recv_wr, but there is no receive queue");
	err = xv_qp_size_sq(call, kind, cap, lay);
	if (!err)
		err = xv_qp_size_rq(call, cap, lay);
	if (err)
		return err;
	lay->sq_offset = ALIGN(lay->rq_wqes * lay->rq_stride, MLX5R_WQEBB);
	lay->bytes = lay->sq_offset + (size_t)lay->sq_wqebbs * MLX5R_WQEBB;
	return 0;
}

/* ---- Creation ------------------------------------------------------------------- */

static void xv_qp_fill_create(const struct xv_call *call,
			      const struct xv_qp *qp,
			      const struct xv_qp_layout *lay, void *qpc)
{
	struct mlx5_core_dev *mdev = call->dev->mdev;

	MLX5_SET(qpc, qpc, st, xv_qp_kind(qp->type)->st);
	MLX5_SET(qpc, qpc, pm_state, MLX5_QP_PM_MIGRATED);
	MLX5_SET(qpc, qpc, pd, qp->pdn);
	MLX5_SET(qpc, qpc, uar_page, qp->uar_page);
	MLX5_SET(qpc, qpc, log_page_size,
		 PAGE_SHIFT - MLX5_ADAPTER_PAGE_SHIFT);
	MLX5_SET(qpc, qpc, ts_format, mlx5_get_qp_default_ts(mdev));
	MLX5_SET(qpc, qpc, cqn_snd, qp->cqn_snd);
	MLX5_SET(qpc, qpc, cqn_rcv, qp->cqn_rcv);
	MLX5_SET(qpc, qpc, xrcd, qp->xrcdn);
	MLX5_SET64(qpc, qpc, dbr_addr, qp->mem.dbr.dma);
	if (MLX5_CAP_GEN(mdev, cqe_version) == 1)
		MLX5_SET(qpc, qpc, user_index, call->arg.qp_create.user_index);
	if (lay->sq_wqebbs)
		MLX5_SET(qpc, qpc, log_sq_size, ilog2(lay->sq_wqebbs));
	else
		MLX5_SET(qpc, qpc, no_sq, 1);
	if (qp->srqn) {
		MLX5_SET(qpc, qpc, rq_type, MLX5_SRQ_RQ);
		MLX5_SET(qpc, qpc, srqn_rmpn_xrqn, qp->srqn);
	} else if (lay->rq_wqes) {
		MLX5_SET(qpc, qpc, rq_type, MLX5_NON_ZERO_RQ);
		MLX5_SET(qpc, qpc, log_rq_size, ilog2(lay->rq_wqes));
		MLX5_SET(qpc, qpc, log_rq_stride,
			 ilog2(lay->rq_stride / MLX5R_DS));
	} else {
		MLX5_SET(qpc, qpc, rq_type, MLX5_ZERO_LEN_RQ);
	}
}

static int xv_qp_create_hw(struct xv_call *call, struct xv_qp *qp,
			   const struct xv_qp_layout *lay)
{
	size_t inlen = MLX5_ST_SZ_BYTES(create_qp_in) +
		       qp->mem.ring.npages * sizeof(__be64);
	void *in;
	int err;

	in = kvzalloc(inlen, GFP_KERNEL_ACCOUNT);
	if (!in)
		return -ENOMEM;
	xv_qp_fill_create(call, qp, lay, MLX5_ADDR_OF(create_qp_in, in, qpc));
	xv_buf_fill_pas(&qp->mem.ring, MLX5_ADDR_OF(create_qp_in, in, pas));
	err = xv_fw_create_qp(call->dev, call, in, inlen, &qp->qpn);
	kvfree(in);
	if (err)
		return err;
	err = xa_err(xa_store_irq(&call->dev->qps, qp->qpn, &qp->obj,
				  GFP_KERNEL));
	if (err)
		xv_fw_destroy_qp(call->dev, NULL, qp->qpn);
	return err;
}

/* A number that the caller must give if, and only if, the type needs it */
static int xv_qp_use_cq(struct xv_call *call, struct xv_qp *qp,
			const char *what, bool needed, u32 handle, u32 *cqn)
{
	struct xv_obj *obj;

	if (!needed && !handle)
		return 0;
	if (!needed)
		return xv_fail(call, -EINVAL, "QP: the type has no %s", what);
	obj = xv_obj_use(call, &qp->obj, XV_OBJ_CQ, handle);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	*cqn = xv_to(cq, obj)->mcq.cqn;
	return 0;
}

/* A receiving QP of an XRC domain has nothing else of its own. */
static int xv_qp_deps_xrcd(struct xv_call *call, struct xv_qp *qp)
{
	const struct xverbs_qp_create *arg = &call->arg.qp_create;
	struct xv_obj *obj;

	if (arg->pd || arg->uar)
		return xv_fail(call, -EINVAL,
			       "QP: the type has neither pd nor uar");
	obj = xv_obj_use(call, &qp->obj, XV_OBJ_XRCD, arg->xrcd);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	qp->xrcdn = xv_to(xrcd, obj)->domain->xrcdn;
	return 0;
}

static int xv_qp_deps_pd(struct xv_call *call, struct xv_qp *qp)
{
	const struct xverbs_qp_create *arg = &call->arg.qp_create;
	struct xv_obj *obj;

	if (arg->xrcd)
		return xv_fail(call, -EINVAL, "QP: the type has no xrcd");
	obj = xv_obj_use(call, &qp->obj, XV_OBJ_PD, arg->pd);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	qp->ib_pd = xv_to(pd, obj)->ib;
	qp->pdn = xv_to(pd, obj)->pdn;
	obj = xv_obj_use(call, &qp->obj, XV_OBJ_UAR, arg->uar);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	qp->uar_page = xv_to(uar, obj)->index;
	if (!arg->srq)
		return 0;
	obj = xv_obj_use(call, &qp->obj, XV_OBJ_SRQ, arg->srq);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	if (xv_to(srq, obj)->xrc)
		return xv_fail(call, -EINVAL, "QP: srq %u is an XRC SRQ",
			       arg->srq);
	qp->srqn = xv_to(srq, obj)->srqn;
	return 0;
}

static int xv_qp_deps(struct xv_call *call, struct xv_qp *qp)
{
	const struct xv_qp_kind *kind = xv_qp_kind(qp->type);
	const struct xverbs_qp_create *arg = &call->arg.qp_create;
	int err;

	if (kind->st == MLX5_QP_ST_XRC) {
		err = xv_xrc_base_use(call, qp);
		if (err)
			return err;
	}
	err = kind->xrcd ? xv_qp_deps_xrcd(call, qp) : xv_qp_deps_pd(call, qp);
	if (!err)
		err = xv_qp_use_cq(call, qp, "send_cq", kind->sq, arg->send_cq,
				   &qp->cqn_snd);
	if (!err)
		err = xv_qp_use_cq(call, qp, "recv_cq", kind->rq, arg->recv_cq,
				   &qp->cqn_rcv);
	return err;
}

static int xv_qp_check_create(struct xv_call *call,
			      const struct xverbs_qp_create *arg)
{
	const struct xv_qp_kind *kind = xv_qp_kind(arg->type);
	struct mlx5_core_dev *mdev = call->dev->mdev;

	if (arg->reserved || arg->reserved2)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	if (!kind)
		return xv_fail(call, -EOPNOTSUPP, "QP: type %u", arg->type);
	if (kind->st == MLX5_QP_ST_XRC && !MLX5_CAP_GEN(mdev, xrc))
		return xv_fail(call, -EOPNOTSUPP, "the device has no XRC");
	if (arg->srq && !kind->rq)
		return xv_fail(call, -EINVAL, "QP: the type has no srq");
	if (arg->user_index >> 24)
		return xv_fail(call, -EINVAL,
			       "QP: user_index 0x%x has more than 24 bits",
			       arg->user_index);
	return 0;
}

static void xv_qp_report(const struct xv_qp *qp, const struct xv_qp_layout *lay,
			 struct xverbs_qp_create *arg)
{
	arg->out_cap = qp->cap;
	arg->out_handle = qp->obj.handle;
	arg->out_qpn = qp->qpn;
	arg->out_sq_offset = lay->sq_offset;
	arg->out_sq_wqebbs = lay->sq_wqebbs;
	arg->out_rq_offset = 0;
	arg->out_rq_wqes = lay->rq_wqes;
	arg->out_rq_stride = lay->rq_stride;
	arg->out_ring = xv_qmem_ring_map(&qp->mem);
	arg->out_dbr = xv_qmem_dbr_map(&qp->mem);
	arg->out_dbr_offset = qp->mem.dbr.offset;
}

int xv_qp_create(struct xv_call *call)
{
	struct xverbs_qp_create *arg = &call->arg.qp_create;
	struct xv_qp_layout lay;
	struct xv_obj *obj;
	struct xv_qp *qp;
	int err;

	err = xv_qp_check_create(call, arg);
	if (err)
		return err;
	obj = xv_obj_alloc(call, XV_OBJ_QP, sizeof(*qp));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	qp = xv_to(qp, obj);
	mutex_init(&qp->lock);
	INIT_LIST_HEAD(&qp->mcast);
	qp->type = arg->type;
	obj->events.user_data = arg->user_data;
	qp->cap = arg->cap;
	err = xv_qp_size(call, xv_qp_kind(arg->type), &qp->cap, &lay);
	if (err)
		goto err_obj;
	err = xv_qp_deps(call, qp);
	if (err)
		goto err_obj;
	err = xv_qmem_alloc(call, obj, &qp->mem, lay.bytes, &arg->external);
	if (err)
		goto err_obj;
	err = xv_qp_create_hw(call, qp, &lay);
	if (err)
		goto err_mem;

	xv_qp_report(qp, &lay, arg);
	call->new_obj = obj;
	return 0;

err_mem:
	xv_qmem_free(call->file, &qp->mem);
err_obj:
	xv_obj_abort(obj);
	return err;
}

int xv_qp_destroy(struct xv_obj *obj, struct xv_call *call)
{
	struct xv_dev *dev = obj->file->dev;
	struct xv_qp *qp = xv_to(qp, obj);
	int err;

	err = xv_mcast_detach_all(qp);
	if (err)
		return err;
	/* No events from here on; on failure the QP lives on without them. */
	xa_erase_irq(&dev->qps, qp->qpn);
	err = xv_fw_destroy_qp(dev, call, qp->qpn);
	if (err)
		return err;
	xv_qmem_free(obj->file, &qp->mem);
	return 0;
}

/* ---- Transitions ------------------------------------------------------------------ */

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
static u32 xv_qp_opt_mask(const struct xv_qp *qp, u32 optional, u32 mask)
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
	};
	u32 opt = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		if (optional & table[i].attr)
			opt |= table[i].opt;
	/* Reads and atomics are let in once they have resources, see below. */
	if (mask & XVERBS_QP_MAX_DEST_RD_ATOMIC ||
	    optional & XVERBS_QP_ACCESS_FLAGS) {
		opt |= MLX5_QP_OPTPAR_RWE;
		if (qp->type != XVERBS_QPT_UC)
			opt |= MLX5_QP_OPTPAR_RRE | MLX5_QP_OPTPAR_RAE;
	}
	return opt;
}

/* The code of the largest atomic operand that the adapter has */
static u8 xv_qp_atomic_mode(struct mlx5_core_dev *mdev)
{
	const u8 basic = MLX5_ATOMIC_OPS_CMP_SWAP | MLX5_ATOMIC_OPS_FETCH_ADD;
	const u8 extended = MLX5_ATOMIC_OPS_EXTENDED_CMP_SWAP |
			    MLX5_ATOMIC_OPS_EXTENDED_FETCH_ADD;
	u8 ops;
	u16 sizes;

	if (!MLX5_CAP_GEN(mdev, atomic))
		return 0;
	ops = MLX5_CAP_ATOMIC(mdev, atomic_operations);
	sizes = MLX5_CAP_ATOMIC(mdev, atomic_size_qp);
	/* A size bit's value is the size in bytes; the code is its log. */
	if ((ops & extended) == extended && sizes >= sizeof(u64))
		return ilog2(sizes);
	return (ops & basic) == basic ? MLX5_ATOMIC_MODE_IB_COMP : 0;
}

static void xv_qp_fill_access(const struct xverbs_qp_attr *attr,
			      struct mlx5_core_dev *mdev, void *qpc)
{
	u32 access = attr->qp_access_flags;
	u8 mode = xv_qp_atomic_mode(mdev);

	/* Without responder resources only writes can be served. */
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

/* The QP context as it shall be: firmware takes what the transition names. */
static void xv_qp_fill_modify(const struct xv_qp *qp,
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
	if (attr->max_rd_atomic)
		MLX5_SET(qpc, qpc, log_sra_max,
			 order_base_2(attr->max_rd_atomic));
	if (attr->max_dest_rd_atomic)
		MLX5_SET(qpc, qpc, log_rra_max,
			 order_base_2(attr->max_dest_rd_atomic));
	xv_qp_fill_access(attr, mdev, qpc);
	MLX5_SET(ads, path, pkey_index, attr->pkey_index);
	MLX5_SET(ads, path, vhca_port_num, attr->port_num);
	MLX5_SET(ads, path, ack_timeout, attr->timeout);
}

/* Resolves the addresses in @mask and writes them into the context. */
static int xv_qp_fill_paths(struct xv_call *call, const struct xv_qp *qp,
			    const struct xverbs_qp_attr *attr, u32 mask,
			    void *qpc)
{
	struct xv_path path;
	void *ads;
	int err;

	if (mask & XVERBS_QP_AV) {
		err = xv_path_resolve(call, qp->ib_pd, "QP: ah_attr",
				      &attr->ah_attr, attr->port_num, &path);
		if (err)
			return err;
		ads = MLX5_ADDR_OF(qpc, qpc, primary_address_path);
		xv_path_fill_ads(&path, qp->qpn, attr->dest_qp_num, ads);
	}
	if (mask & XVERBS_QP_ALT_PATH) {
		if (!MLX5_CAP_GEN(call->dev->mdev, apm))
			return xv_fail(call, -EOPNOTSUPP,
				       "QP: the device has no path migration");
		err = xv_path_resolve(call, qp->ib_pd, "QP: alt_ah_attr",
				      &attr->alt_ah_attr, attr->alt_port_num,
				      &path);
		if (err)
			return err;
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
	if (mask & XVERBS_QP_QKEY && attr->qkey & XV_QKEY_CONTROLLED &&
	    !capable(CAP_NET_RAW))
		return xv_fail(call, -EPERM,
			       "QP: qkey 0x%x is controlled and needs CAP_NET_RAW",
			       attr->qkey);
	return 0;
}

/* Checks masks and values; @from and @to become the states. */
static int xv_qp_check_modify(struct xv_call *call, const struct xv_qp *qp,
			      u32 *from, u32 *to, struct xv_qp_verdict *verdict)
{
	const struct xverbs_qp_modify *arg = &call->arg.qp_modify;
	const struct xverbs_qp_attr *attr = &arg->attr;
	u32 mask = arg->attr_mask;
	const char *name;
	u32 value;

	name = xv_qp_attr_out_of_range(attr, mask, &value);
	if (name)
		return xv_fail(call, -EINVAL, "QP: %s 0x%x is out of range",
			       name, value);
	*from = mask & XVERBS_QP_CUR_STATE ? attr->cur_qp_state :
					     qp->attr.qp_state;
	*to = mask & XVERBS_QP_STATE ? attr->qp_state : *from;
	if (!xv_qp_transition(qp->type, *from, *to, mask, verdict))
		return xv_fail(call, -EINVAL, "QP: no transition %s to %s",
			       xv_qp_state_name(*from), xv_qp_state_name(*to));
	if (verdict->missing)
		return xv_fail(call, -EINVAL, "QP: %s to %s requires %s",
			       xv_qp_state_name(*from), xv_qp_state_name(*to),
			       xv_qp_attr_name(verdict->missing));
	if (verdict->forbidden)
		return xv_fail(call, -EINVAL, "QP: %s to %s does not admit %s",
			       xv_qp_state_name(*from), xv_qp_state_name(*to),
			       xv_qp_attr_name(verdict->forbidden));
	return xv_qp_check_limits(call, attr, mask);
}

static int xv_qp_modify_locked(struct xv_call *call, struct xv_qp *qp)
{
	struct xverbs_qp_modify *arg = &call->arg.qp_modify;
	u32 qpc[MLX5_ST_SZ_DW(qpc)] = {};
	struct xverbs_qp_attr attr = qp->attr;
	struct xv_qp_verdict verdict;
	u32 from, to, mask;
	bool context;
	u16 opcode;
	int err;

	lockdep_assert_held(&qp->lock);
	err = xv_qp_check_modify(call, qp, &from, &to, &verdict);
	if (err)
		return err;
	mask = arg->attr_mask & ~XVERBS_QP_CUR_STATE;
	opcode = xv_qp_opcode(from, to);
	if (!opcode)
		return xv_fail(call, -EOPNOTSUPP,
			       "QP: the adapter has no transition %s to %s",
			       xv_qp_state_name(from), xv_qp_state_name(to));
	xv_qp_attr_merge(&attr, &arg->attr, mask);
	attr.qp_state = to;

	/* The adapter always tells when it has drained. */
	if (to == XVERBS_QPS_SQD)
		WRITE_ONCE(qp->want_drained,
			   mask & XVERBS_QP_EN_SQD_ASYNC_NOTIFY &&
			   attr.en_sqd_async_notify);
	context = to != XVERBS_QPS_RESET && to != XVERBS_QPS_ERR &&
		  to != XVERBS_QPS_SQD;
	if (context) {
		xv_qp_fill_modify(qp, &attr, mask, call->dev->mdev, qpc);
		err = xv_qp_fill_paths(call, qp, &attr, mask, qpc);
		if (err)
			return err;
	}
	err = xv_fw_modify_qp(call->dev, call, opcode, qp->qpn,
			      xv_qp_opt_mask(qp, verdict.optional, mask),
			      context ? qpc : NULL);
	if (err)
		return err;
	if (to == XVERBS_QPS_RESET)
		memset(&attr, 0, sizeof(attr));
	qp->attr = attr;
	arg->out_state = to;
	return 0;
}

int xv_qp_modify(struct xv_call *call)
{
	struct xverbs_qp_modify *arg = &call->arg.qp_modify;
	struct xv_obj *obj;
	struct xv_qp *qp;
	int err;

	if (arg->reserved || arg->attr.reserved || arg->attr.reserved2)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	obj = xv_obj_get(call, XV_OBJ_QP, arg->qp);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	qp = xv_to(qp, obj);
	mutex_lock(&qp->lock);
	err = xv_qp_modify_locked(call, qp);
	mutex_unlock(&qp->lock);
	xv_obj_put(obj);
	return err;
}

/* ---- Query -------------------------------------------------------------------------- */

static u32 xv_qp_state_from_hw(u8 state)
{
	switch (state) {
	case MLX5_QP_STATE_RST:
		return XVERBS_QPS_RESET;
	case MLX5_QP_STATE_INIT:
		return XVERBS_QPS_INIT;
	case MLX5_QP_STATE_RTR:
		return XVERBS_QPS_RTR;
	case MLX5_QP_STATE_RTS:
		return XVERBS_QPS_RTS;
	case MLX5_QP_STATE_SQER:
		return XVERBS_QPS_SQE;
	case MLX5_QP_STATE_SQD:
	case MLX5_QP_STATE_SQ_DRAINING:
		return XVERBS_QPS_SQD;
	default:
		return XVERBS_QPS_ERR;
	}
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

/* What was set, and over it what the adapter changes by itself */
static int xv_qp_query_locked(struct xv_call *call, struct xv_qp *qp)
{
	struct xverbs_qp_attr *attr = &call->arg.qp_query.out_attr;
	u32 qpc[MLX5_ST_SZ_DW(qpc)];
	u8 state;
	int err;

	lockdep_assert_held(&qp->lock);
	err = xv_fw_query_qp(call->dev, call, qp->qpn, qpc);
	if (err)
		return err;
	*attr = qp->attr;
	state = MLX5_GET(qpc, qpc, state);
	attr->qp_state = xv_qp_state_from_hw(state);
	attr->cur_qp_state = attr->qp_state;
	attr->sq_draining = state == MLX5_QP_STATE_SQ_DRAINING;
	attr->path_mig_state =
		xv_qp_mig_from_hw(MLX5_GET(qpc, qpc, pm_state));
	attr->rq_psn = MLX5_GET(qpc, qpc, next_rcv_psn);
	attr->sq_psn = MLX5_GET(qpc, qpc, next_send_psn);
	call->arg.qp_query.out_cap = qp->cap;
	return 0;
}

int xv_qp_query(struct xv_call *call)
{
	struct xverbs_qp_query *arg = &call->arg.qp_query;
	struct xv_obj *obj;
	struct xv_qp *qp;
	int err;

	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	obj = xv_obj_get(call, XV_OBJ_QP, arg->qp);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	qp = xv_to(qp, obj);
	mutex_lock(&qp->lock);
	err = xv_qp_query_locked(call, qp);
	mutex_unlock(&qp->lock);
	xv_obj_put(obj);
	return err;
}
