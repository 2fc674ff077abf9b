// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: creation, destruction, queries.  The kernel chooses the sizes of the
 * rings.
 */
#include <linux/log2.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include <linux/slab.h>
#include <rdma/mlx5_ring.h>

#include "atomic.h"
#include "buf.h"
#include "cq.h"
#include "device.h"
#include "fw.h"
#include "pd.h"
#include "qp.h"
#include "qp_state.h"
#include "srq.h"
#include "uar.h"
#include "xrc_base.h"
#include "xrcd.h"

#define XV_ECE_VERSION	(1u << 28)	/* version 1, as in libmlx5 */

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
		cap->max_atomic_arg = 0;
		return 0;
	}
	wqe = kind->sq_header + (u64)cap->max_send_sge * MLX5R_DS;
	if (cap->max_inline_data)
		wqe = max(wqe, kind->sq_header +
			       ALIGN(sizeof(struct mlx5r_inline) +
				     (u64)cap->max_inline_data, MLX5R_DS));
	if (cap->max_atomic_arg)
		wqe = max_t(u64, wqe, kind->sq_header + XV_DATA_BYTES +
				      xv_atomic_arg_bytes(cap->max_atomic_arg));
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
	cap->max_inline_data = wqe ? wqe - sizeof(struct mlx5r_inline) : 0;
	cap->max_atomic_arg = kind->sq_min ?
		xv_atomic_largest(mdev, wqe - XV_DATA_BYTES) : 0;
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

/* The receive queue is first; the send queue begins at a WQEBB boundary (PRM). */
static int xv_qp_size(struct xv_call *call, const struct xv_qp_kind *kind,
		      struct xverbs_qp_cap *cap, struct xv_qp_layout *lay)
{
	const struct xverbs_qp_create *arg = &call->arg.qp_create;
	int err;

	memset(lay, 0, sizeof(*lay));
	if (!kind->inl_recv)
		cap->max_inl_recv = 0;
	if (!kind->inl_resp ||
	    (kind->st == MLX5_QP_ST_DCI &&
	     !MLX5_CAP_GEN(call->dev->mdev, dc_req_scat_data_cqe)))
		cap->max_inl_resp = 0;
	if (cap->max_atomic_arg && !kind->sq_min)
		return xv_fail(call, -EINVAL,
			       "QP: max_atomic_arg, but the type has no atomics");
	if (cap->max_atomic_arg > xv_atomic_largest(call->dev->mdev, U32_MAX))
		return xv_fail(call, -EINVAL,
			       "QP: max_atomic_arg %u, the limit is %u",
			       cap->max_atomic_arg,
			       xv_atomic_largest(call->dev->mdev, U32_MAX));
	if (cap->max_send_wr && !kind->sq)
		return xv_fail(call, -EINVAL,
			       "QP: max_send_wr, but the type has no send queue");
	if (cap->max_recv_wr && (!kind->rq || arg->srq))
		return xv_fail(call, -EINVAL,
			       "QP: max_recv_wr, but the QP has no receive queue");
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
			      const struct xv_dev_qp *qp,
			      const struct xv_qp_layout *lay, void *qpc)
{
	struct mlx5_core_dev *mdev = call->dev->mdev;
	u32 flags = call->arg.qp_create.hdr.flags;

	MLX5_SET(qpc, qpc, st, xv_qp_kind(qp->type)->st);
	MLX5_SET(qpc, qpc, cd_master, !!(flags & XVERBS_QP_CROSS_CHANNEL));
	MLX5_SET(qpc, qpc, cd_slave_send, !!(flags & XVERBS_QP_MANAGED_SEND));
	MLX5_SET(qpc, qpc, cd_slave_receive,
		 !!(flags & XVERBS_QP_MANAGED_RECV));
	MLX5_SET(qpc, qpc, pm_state, MLX5_QP_PM_MIGRATED);
	MLX5_SET(qpc, qpc, pd, qp->pdn);
	MLX5_SET(qpc, qpc, uar_page, qp->uar_page);
	MLX5_SET(qpc, qpc, log_page_size,
		 PAGE_SHIFT - MLX5_ADAPTER_PAGE_SHIFT);
	xv_compat_set_ts_format(mdev, qpc);
	MLX5_SET(qpc, qpc, cqn_snd, qp->cqn_snd);
	MLX5_SET(qpc, qpc, cqn_rcv, qp->cqn_rcv);
	MLX5_SET(qpc, qpc, xrcd, qp->xrcdn);
	/* PRM: 1 for 32 bytes, 2 for 64; of the requester twice */
	MLX5_SET(qpc, qpc, cs_res, qp->cap.max_inl_recv / MLX5R_CQE_DATA_MIN);
	MLX5_SET(qpc, qpc, cs_req, qp->cap.max_inl_resp / MLX5R_CQE_DATA_MIN * 0x11);
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

static int xv_qp_create_hw(struct xv_call *call, struct xv_dev_qp *qp,
			   const struct xv_qp_layout *lay)
{
	size_t inlen = MLX5_ST_SZ_BYTES(create_qp_in) +
		       qp->mem.ring.npages * sizeof(__be64);
	u32 *ece = NULL;
	void *in;
	int err;

	in = kvzalloc(inlen, XV_GFP);
	if (!in)
		return -ENOMEM;
	if (MLX5_CAP_GEN(call->dev->mdev, ece_support)) {
		ece = &qp->attrs.qp.ece;
		*ece = XV_ECE_VERSION;
	}
	xv_qp_fill_create(call, qp, lay, MLX5_ADDR_OF(create_qp_in, in, qpc));
	xv_buf_fill_pas(&qp->mem.ring, MLX5_ADDR_OF(create_qp_in, in, pas));
	err = xv_fw_create_qp(call->dev, call, in, inlen, &qp->qpn, ece);
	kvfree(in);
	return err;
}

/* Bytes of data that a CQE holds, of those that the caller wants */
static u32 xv_qp_in_cqe(const struct xv_call *call, const struct xv_cq_obj *cq,
			u32 wanted)
{
	if (!wanted || !MLX5_CAP_GEN(call->dev->mdev, sctr_data_cqe))
		return 0;
	return wanted > MLX5R_CQE_DATA_MIN && cq->cqe_bytes == 128 ?
	       MLX5R_CQE_DATA_MAX : MLX5R_CQE_DATA_MIN;
}

/*
 * The caller must pass the CQ if, and only if, the type needs it. *@in_cqe is set to the
 * bytes of data that a CQE of this CQ can hold.
 */
static int xv_qp_use_cq(struct xv_call *call, struct xv_qp_obj *h,
			const char *what, bool needed, u32 handle, u32 *cqn,
			u32 *in_cqe)
{
	struct xv_obj *obj;

	if (!needed && !handle)
		return 0;
	if (!needed)
		return xv_fail(call, -EINVAL, "QP: the type has no %s", what);
	if (!handle)
		return xv_fail(call, -ENOENT, "QP: the type needs a %s", what);
	obj = xv_obj_use(call, &h->obj, XV_OBJ_CQ, handle);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	*cqn = to_cq_obj(obj)->mcq.cqn;
	*in_cqe = xv_qp_in_cqe(call, to_cq_obj(obj), *in_cqe);
	return 0;
}

/* A QP of type XRC_RECV uses only its XRC domain. */
static int xv_qp_deps_xrcd(struct xv_call *call, struct xv_qp_obj *h)
{
	const struct xverbs_qp_create *arg = &call->arg.qp_create;
	struct xv_obj *obj;

	if (arg->pd || arg->uar)
		return xv_fail(call, -EINVAL,
			       "QP: the type has no pd and no uar");
	if (call->external.ring_umem || call->external.dbr_umem)
		return xv_fail(call, -EINVAL, "QP: the type has no rings");
	obj = xv_obj_use(call, &h->obj, XV_OBJ_XRCD, arg->xrcd);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	h->qp->domain = to_xrcd_obj(obj)->domain;
	h->qp->xrcdn = h->qp->domain->xrcdn;
	return 0;
}

static int xv_qp_deps_pd(struct xv_call *call, struct xv_qp_obj *h)
{
	const struct xverbs_qp_create *arg = &call->arg.qp_create;
	struct xv_dev_qp *qp = h->qp;
	struct xv_obj *obj;

	if (arg->xrcd)
		return xv_fail(call, -EINVAL, "QP: the type has no xrcd");
	obj = xv_obj_use(call, &h->obj, XV_OBJ_PD, arg->pd);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	qp->ib_pd = to_pd_obj(obj)->ib;
	qp->pdn = to_pd_obj(obj)->pdn;
	obj = xv_obj_use(call, &h->obj, XV_OBJ_UAR, arg->uar);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	qp->uar_page = to_uar_obj(obj)->index;
	if (!arg->srq)
		return 0;
	obj = xv_obj_use(call, &h->obj, XV_OBJ_SRQ, arg->srq);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	if (to_srq_obj(obj)->xrc)
		return xv_fail(call, -EINVAL, "QP: srq %u is an XRC SRQ",
			       arg->srq);
	qp->srqn = to_srq_obj(obj)->srqn;
	return 0;
}

static int xv_qp_deps(struct xv_call *call, struct xv_qp_obj *h)
{
	const struct xv_qp_kind *kind = xv_qp_kind(h->qp->type);
	const struct xverbs_qp_create *arg = &call->arg.qp_create;
	int err;

	if (kind->st == MLX5_QP_ST_XRC) {
		err = xv_xrc_base_use(call, h->qp);
		if (err)
			return err;
	}
	err = kind->xrcd ? xv_qp_deps_xrcd(call, h) : xv_qp_deps_pd(call, h);
	if (!err)
		err = xv_qp_use_cq(call, h, "send_cq", kind->sq, arg->send_cq,
				   &h->qp->cqn_snd, &h->qp->cap.max_inl_resp);
	if (!err && kind->st == MLX5_QP_ST_DCI && !arg->recv_cq)
		h->qp->cqn_rcv = h->qp->cqn_snd;
	else if (!err)
		err = xv_qp_use_cq(call, h, "recv_cq",
				   kind->rq || kind->st == MLX5_QP_ST_DCI,
				   arg->recv_cq, &h->qp->cqn_rcv,
				   &h->qp->cap.max_inl_recv);
	return err;
}

/* Queues that wait, and queues whose requests others enable (Manual, appendix D) */
static int xv_qp_check_cross_channel(struct xv_call *call,
				     const struct xverbs_qp_create *arg)
{
	const u32 sends = XVERBS_QP_CROSS_CHANNEL | XVERBS_QP_MANAGED_SEND;
	u32 flags = arg->hdr.flags;

	if (!flags)
		return 0;
	if (!MLX5_CAP_GEN(call->dev->mdev, cd))
		return xv_fail(call, -EOPNOTSUPP,
			       "QP: flags 0x%x: the device has no cross-channel queues",
			       flags);
	if (!xv_qp_kind(arg->type)->cross_channel)
		return xv_fail(call, -EINVAL,
			       "QP: flags 0x%x: the type has no cross-channel queues",
			       flags);
	if (flags & sends && !call->cap.max_send_wr)
		return xv_fail(call, -EINVAL,
			       "QP: flags 0x%x: the QP has no send queue",
			       flags);
	if (flags & XVERBS_QP_MANAGED_RECV && !call->cap.max_recv_wr)
		return xv_fail(call, -EINVAL,
			       "QP: flags 0x%x: the QP has no receive queue",
			       flags);
	return 0;
}

static int xv_qp_check_create(struct xv_call *call,
			      const struct xverbs_qp_create *arg)
{
	const struct xv_qp_kind *kind = xv_qp_kind(arg->type);
	struct mlx5_core_dev *mdev = call->dev->mdev;

	if (!kind)
		return xv_fail(call, -EOPNOTSUPP, "QP: type %u is unknown", arg->type);
	if (kind->st == MLX5_QP_ST_XRC && !MLX5_CAP_GEN(mdev, xrc))
		return xv_fail(call, -EOPNOTSUPP, "the device does not support XRC");
	if (kind->st == MLX5_QP_ST_DCI && !MLX5_CAP_GEN(mdev, dct))
		return xv_fail(call, -EOPNOTSUPP, "the device does not support DC");
	if (arg->srq && !kind->rq)
		return xv_fail(call, -EINVAL, "QP: the type has no srq");
	if (arg->user_index >> 24)
		return xv_fail(call, -EINVAL,
			       "QP: user_index 0x%x has more than 24 bits",
			       arg->user_index);
	return xv_qp_check_cross_channel(call, arg);
}

static void xv_qp_report(const struct xv_dev_qp *qp, const struct xv_qp_layout *lay,
			 struct xverbs_qp_create *arg)
{
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

/* Events of the queue pair go to all its handles. */
static void xv_qp_add_handle(struct xv_qp_obj *h)
{
	mutex_lock(&h->qp->handles_lock);
	list_add(&h->node, &h->qp->handles);
	mutex_unlock(&h->qp->handles_lock);
}

static void xv_qp_del_handle(struct xv_qp_obj *h)
{
	mutex_lock(&h->qp->handles_lock);
	list_del(&h->node);
	mutex_unlock(&h->qp->handles_lock);
}

static struct xv_dev_qp *xv_qp_alloc(const struct xv_call *call)
{
	struct xv_dev_qp *qp = kzalloc(sizeof(*qp), XV_GFP);

	if (!qp)
		return NULL;
	mutex_init(&qp->lock);
	INIT_LIST_HEAD(&qp->handles);
	mutex_init(&qp->handles_lock);
	INIT_WORK(&qp->deliver, xv_qp_deliver_events);
	INIT_LIST_HEAD(&qp->mcast);
	qp->users = 1;
	qp->type = call->arg.qp_create.type;
	qp->cap = call->cap;
	return qp;
}

static void xv_qp_join_domain(struct xv_dev *dev, struct xv_dev_qp *qp)
{
	mutex_lock(&dev->xrc_lock);
	qp->domain->users++;
	mutex_unlock(&dev->xrc_lock);
}

static int xv_qp_build(struct xv_call *call, struct xv_qp_obj *h)
{
	struct xverbs_qp_create *arg = &call->arg.qp_create;
	struct xv_dev_qp *qp = h->qp;
	struct xv_qp_layout lay;
	int err;

	err = xv_qp_size(call, xv_qp_kind(arg->type), &qp->cap, &lay);
	if (!err)
		err = xv_qp_deps(call, h);
	if (!err && !qp->domain)
		err = xv_qmem_alloc(call, &h->obj, &qp->mem, lay.bytes);
	if (err)
		return err;
	err = xv_qp_create_hw(call, qp, &lay);
	if (err) {
		xv_qmem_free(call->file, &qp->mem);
		return err;
	}
	xv_qp_report(qp, &lay, arg);
	call->cap = qp->cap;
	return 0;
}

static struct xverbs_qp_init xv_qp_init(const struct xverbs_qp_create *arg)
{
	return (struct xverbs_qp_init) {
		.user_data = arg->user_data,
		.type = arg->type,
		.pd = arg->pd,
		.send_cq = arg->send_cq,
		.recv_cq = arg->recv_cq,
		.srq = arg->srq,
		.uar = arg->uar,
		.xrcd = arg->xrcd,
		.user_index = arg->user_index,
		.flags = arg->hdr.flags,
	};
}

int xv_qp_create(struct xv_call *call)
{
	struct xverbs_qp_create *arg = &call->arg.qp_create;
	struct xv_qp_obj *h;
	struct xv_obj *obj;
	int err;

	err = xv_qp_check_create(call, arg);
	if (err)
		return err;
	obj = xv_obj_alloc(call, XV_OBJ_QP, sizeof(*h));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	h = to_qp_obj(obj);
	obj->events.user_data = arg->user_data;
	h->init = xv_qp_init(arg);
	h->qp = xv_qp_alloc(call);
	err = h->qp ? xv_security_label(call, &h->label) : -ENOMEM;
	if (!err)
		err = xv_qp_build(call, h);
	if (err) {
		xv_security_free(&h->label);
		kfree(h->qp);
		xv_obj_abort(obj);
		return err;
	}
	obj->resource.number = h->qp->qpn;
	obj->resource.bytes = xv_buf_bytes(&h->qp->mem.ring);
	xv_qp_add_handle(h);
	if (h->qp->domain)
		xv_qp_join_domain(call->dev, h->qp);
	else
		h->qp->handle = h;
	/* After this, other files can open the queue pair, if it has a domain. */
	err = xv_number_add(&call->dev->qps, h->qp->qpn, h->qp);
	if (err) {
		xv_obj_undo(obj);
		return err;
	}
	arg->out_handle = obj->handle;
	call->new_obj = obj;
	return 0;
}

/* xv_dev.xrc_lock keeps a queue pair with a domain, the lock of the xarray any other. */
static struct xv_dev_qp *xv_qp_find_target(struct xv_call *call,
					   const struct xv_xrc_domain *domain,
					   u32 qpn)
{
	struct xarray *qps = &call->dev->qps;
	struct xv_dev_qp *qp;

	lockdep_assert_held(&call->dev->xrc_lock);
	xa_lock_irq(qps);
	qp = xa_load(qps, qpn);
	if (qp && qp->domain != domain)
		qp = NULL;
	xa_unlock_irq(qps);
	if (!qp)
		return ERR_PTR(xv_fail(call, -ENOENT,
				       "QP: no QP with number 0x%x in the XRC domain",
				       qpn));
	if (qp->users >= XVERBS_MAX_QP_HANDLES)
		return ERR_PTR(xv_fail_limit(call, -ENOSPC, XVERBS_LIMIT_QP_HANDLES,
					     "QP: number 0x%x has %u handles already",
					     qpn, qp->users));
	return qp;
}

static int xv_qp_hold_target(struct xv_call *call, struct xv_qp_obj *h,
			     const struct xv_xrc_domain *domain, u32 qpn)
{
	struct xv_dev_qp *qp;

	mutex_lock(&call->dev->xrc_lock);
	qp = xv_qp_find_target(call, domain, qpn);
	if (!IS_ERR(qp)) {
		qp->users++;
		h->qp = qp;
	}
	mutex_unlock(&call->dev->xrc_lock);
	return PTR_ERR_OR_ZERO(qp);
}

/* With the lock held, nobody sets P_Keys between the check and the addition. */
static int xv_qp_join_target(struct xv_call *call, struct xv_qp_obj *h)
{
	int err;

	mutex_lock(&h->qp->lock);
	err = xv_security_open_qp(call, h);
	if (!err)
		xv_qp_add_handle(h);
	mutex_unlock(&h->qp->lock);
	return err;
}

/* Creates another handle for a queue pair of type XRC_RECV. */
int xv_qp_open(struct xv_call *call)
{
	struct xverbs_qp_open *arg = &call->arg.qp_open;
	struct xv_obj *obj, *xrcd;
	struct xv_qp_obj *h;
	int err;

	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	obj = xv_obj_alloc(call, XV_OBJ_QP, sizeof(*h));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	h = to_qp_obj(obj);
	obj->events.user_data = arg->user_data;
	h->init = (struct xverbs_qp_init) {
		.user_data = arg->user_data,
		.type = XVERBS_QPT_XRC_RECV,
		.xrcd = arg->xrcd,
	};
	INIT_LIST_HEAD(&h->node);
	xrcd = xv_obj_use(call, obj, XV_OBJ_XRCD, arg->xrcd);
	err = IS_ERR(xrcd) ? PTR_ERR(xrcd) : xv_security_label(call, &h->label);
	if (!err)
		err = xv_qp_hold_target(call, h, to_xrcd_obj(xrcd)->domain,
					arg->qpn);
	if (err) {
		xv_security_free(&h->label);
		xv_obj_abort(obj);
		return err;
	}
	obj->resource.number = arg->qpn;
	err = xv_qp_join_target(call, h);
	if (err) {
		xv_obj_undo(obj);
		return err;
	}
	arg->out_handle = obj->handle;
	call->new_obj = obj;
	return 0;
}

static int xv_qp_destroy_hw(struct xv_dev *dev, struct xv_call *call,
			    struct xv_dev_qp *qp)
{
	int err;

	err = xv_mcast_detach_all(dev, call, qp);
	if (!err)
		err = xv_fw_destroy_qp(dev, call, qp->qpn);
	if (!err)
		xv_number_del(&dev->qps, qp->qpn, qp);
	return err;
}

/* The last handle destroys the queue pair and drops its reference to the domain. */
static int xv_qp_put_target(struct xv_dev *dev, struct xv_call *call,
			    struct xv_dev_qp *qp)
{
	int err;

	lockdep_assert_held(&dev->xrc_lock);
	if (qp->users == 1) {
		err = xv_qp_destroy_hw(dev, call, qp);
		if (err)
			return err;
		/* The handle of the domain, a dep of this handle, keeps the domain. */
		xv_xrc_domain_put(dev, call, qp->domain);
	}
	qp->users--;
	return 0;
}

int xv_qp_destroy(struct xv_obj *obj, struct xv_call *call)
{
	struct xv_qp_obj *h = to_qp_obj(obj);
	struct xv_dev *dev = obj->file->dev;
	struct xv_dev_qp *qp = h->qp;
	int err, users = 0;

	xv_security_hold(dev);
	if (qp->domain) {
		mutex_lock(&dev->xrc_lock);
		err = xv_qp_put_target(dev, call, qp);
		users = qp->users;
		if (!err)
			xv_qp_del_handle(h);
		mutex_unlock(&dev->xrc_lock);
	} else {
		err = xv_qp_destroy_hw(dev, call, qp);
	}
	xv_security_release(dev);
	if (err)
		return err;
	xv_security_free(&h->label);
	if (users)
		return 0;
	/* The number is deleted, so no event starts the work again. */
	cancel_work_sync(&qp->deliver);
	xv_qp_put_sgids(qp);
	xv_qmem_free(obj->file, &qp->mem);
	kfree(qp);
	return 0;
}

/* Other handles may still use the queue pair, and the last of them destroys it. */
void xv_qp_leak(struct xv_obj *obj)
{
	struct xv_dev *dev = obj->file->dev;
	struct xv_qp_obj *h = to_qp_obj(obj);
	struct xv_dev_qp *qp = h->qp;

	xv_security_hold(dev);
	mutex_lock(&dev->xrc_lock);
	xv_qp_del_handle(h);
	xa_lock_irq(&dev->qps);
	qp->handle = NULL;
	xa_unlock_irq(&dev->qps);
	/* Removal of the device waits for references to its GIDs. */
	if (!--qp->users)
		xv_qp_put_sgids(qp);
	mutex_unlock(&dev->xrc_lock);
	xv_security_release(dev);
	xv_security_free(&h->label);
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

/* Returns the attributes as last set, updated with those that the adapter changes. */
static int xv_qp_query_locked(struct xv_call *call, struct xv_dev_qp *qp)
{
	struct xverbs_qp_attr *attr = &call->attrs.qp;
	u32 qpc[MLX5_ST_SZ_DW(qpc)];
	u8 state;
	int err;

	err = xv_qp_refresh(call, qp, qpc);
	if (err)
		return err;
	call->attrs = qp->attrs;
	state = MLX5_GET(qpc, qpc, state);
	attr->qp_state = xv_qp_state_from_hw(state);
	attr->cur_qp_state = attr->qp_state;
	attr->sq_draining = state == MLX5_QP_STATE_SQ_DRAINING;
	attr->rq_psn = MLX5_GET(qpc, qpc, next_rcv_psn);
	attr->sq_psn = MLX5_GET(qpc, qpc, next_send_psn);
	call->cap = qp->cap;
	return 0;
}

int xv_qp_query(struct xv_call *call)
{
	struct xverbs_qp_query *arg = &call->arg.qp_query;

	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	return xv_qp_call(call, arg->qp, xv_qp_query_locked);
}
