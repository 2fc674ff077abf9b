// SPDX-License-Identifier: GPL-2.0
/*
 * Shared receive queues.  In the adapter, an SRQ without an XRC domain is an RMP, one
 * with an XRC domain is an XRC SRQ (PRM).  Both have the same ring format.
 */
#include <linux/log2.h>
#include <linux/slab.h>
#include <rdma/mlx5_ring.h>

#include "buf.h"
#include "cq.h"
#include "device.h"
#include "fw.h"
#include "pd.h"
#include "srq.h"
#include "xrcd.h"

#define XV_WQ_LINKED	0	/* PRM: wq.wq_type */
#define XV_WQ_CYCLIC	1

struct xv_srq_geometry {
	bool linked;
	u32 wqes;
	u32 stride;
};

static int xv_srq_size(struct xv_call *call, struct xv_srq_geometry *lay)
{
	const struct xverbs_srq_create *arg = &call->arg.srq_create;
	struct mlx5_core_dev *mdev = call->dev->mdev;
	u32 max_wr = (1u << MLX5_CAP_GEN(mdev, log_max_srq_sz)) - 1;
	u32 max_sge = MLX5_CAP_GEN(mdev, max_wqe_sz_rq) / MLX5R_DS - 1;
	u32 link;

	if (!arg->max_wr || arg->max_wr > max_wr)
		return xv_fail(call, -EINVAL, "SRQ: max_wr %u is not in 1..%u",
			       arg->max_wr, max_wr);
	if (arg->max_sge > max_sge)
		return xv_fail(call, -EINVAL, "SRQ: max_sge %u, the limit is %u",
			       arg->max_sge, max_sge);
	if (arg->limit > arg->max_wr)
		return xv_fail(call, -EINVAL, "SRQ: limit %u is above max_wr %u",
			       arg->limit, arg->max_wr);
	lay->linked = arg->layout == XVERBS_SRQ_LINKED;
	link = lay->linked ? sizeof(struct mlx5r_srq_next) : 0;
	lay->stride = roundup_pow_of_two(link + max(arg->max_sge, 1u) *
						MLX5R_DS);
	/* In a linked list, one entry is never posted. */
	lay->wqes = roundup_pow_of_two(arg->max_wr + lay->linked);
	return 0;
}

static int xv_srq_check(struct xv_call *call,
			const struct xverbs_srq_create *arg)
{
	struct mlx5_core_dev *mdev = call->dev->mdev;

	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	if (arg->layout > XVERBS_SRQ_CONTIGUOUS)
		return xv_fail(call, -EOPNOTSUPP, "SRQ: layout %u is unknown",
			       arg->layout);
	if (arg->layout == XVERBS_SRQ_CONTIGUOUS &&
	    !MLX5_CAP_GEN(mdev, basic_cyclic_rcv_wqe))
		return xv_fail(call, -EOPNOTSUPP,
			       "SRQ: the device does not support the contiguous layout");
	if (arg->user_index >> 24)
		return xv_fail(call, -EINVAL,
			       "SRQ: user_index 0x%x has more than 24 bits",
			       arg->user_index);
	if (!arg->xrcd != !arg->cq)
		return xv_fail(call, -EINVAL,
			       "SRQ: an XRC SRQ needs both xrcd and cq");
	return 0;
}

/* Links each entry to the next one (PRM). */
static void xv_srq_init_ring(struct xv_buf *ring,
			     const struct xv_srq_geometry *lay)
{
	struct mlx5r_srq_next *entry;
	size_t off;
	u32 i;

	for (i = 0; i < lay->wqes; i++) {
		off = (size_t)i * lay->stride;
		entry = page_address(ring->pages[off >> PAGE_SHIFT]) +
			(off & ~PAGE_MASK);
		entry->next_wqe_index = cpu_to_be16((i + 1) & (lay->wqes - 1));
	}
}

static int xv_srq_create_rmp(struct xv_call *call, struct xv_srq_obj *srq,
			     const struct xv_pd_obj *pd,
			     const struct xv_srq_geometry *lay)
{
	size_t inlen = MLX5_ST_SZ_BYTES(create_rmp_in) +
		       srq->mem.ring.npages * sizeof(__be64);
	void *in, *rmpc, *wq;
	int err;

	in = kvzalloc(inlen, XV_GFP);
	if (!in)
		return -ENOMEM;
	rmpc = MLX5_ADDR_OF(create_rmp_in, in, ctx);
	wq = MLX5_ADDR_OF(rmpc, rmpc, wq);
	MLX5_SET(rmpc, rmpc, state, MLX5_RMPC_STATE_RDY);
	MLX5_SET(rmpc, rmpc, basic_cyclic_rcv_wqe, !lay->linked);
	MLX5_SET(wq, wq, wq_type, lay->linked ? XV_WQ_LINKED : XV_WQ_CYCLIC);
	MLX5_SET(wq, wq, log_wq_stride, ilog2(lay->stride));
	MLX5_SET(wq, wq, log_wq_sz, ilog2(lay->wqes));
	MLX5_SET(wq, wq, log_wq_pg_sz, PAGE_SHIFT - MLX5_ADAPTER_PAGE_SHIFT);
	MLX5_SET(wq, wq, lwm, call->arg.srq_create.limit);
	MLX5_SET(wq, wq, pd, pd->pdn);
	MLX5_SET64(wq, wq, dbr_addr, srq->mem.dbr.dma);
	xv_buf_fill_pas(&srq->mem.ring, MLX5_ADDR_OF(wq, wq, pas));
	err = xv_fw_create_rmp(call->dev, call, in, inlen, &srq->srqn);
	kvfree(in);
	return err;
}

static int xv_srq_create_xrc(struct xv_call *call, struct xv_srq_obj *srq,
			     const struct xv_pd_obj *pd,
			     const struct xv_srq_geometry *lay, u32 xrcdn,
			     u32 cqn)
{
	size_t inlen = MLX5_ST_SZ_BYTES(create_xrc_srq_in) +
		       srq->mem.ring.npages * sizeof(__be64);
	u64 dbr = srq->mem.dbr.dma;
	void *in, *srqc;
	int err;

	in = kvzalloc(inlen, XV_GFP);
	if (!in)
		return -ENOMEM;
	srqc = MLX5_ADDR_OF(create_xrc_srq_in, in, xrc_srq_context_entry);
	MLX5_SET(xrc_srqc, srqc, basic_cyclic_rcv_wqe, !lay->linked);
	MLX5_SET(xrc_srqc, srqc, log_rq_stride,
		 ilog2(lay->stride / MLX5R_DS));
	MLX5_SET(xrc_srqc, srqc, log_xrc_srq_size, ilog2(lay->wqes));
	MLX5_SET(xrc_srqc, srqc, log_page_size,
		 PAGE_SHIFT - MLX5_ADAPTER_PAGE_SHIFT);
	MLX5_SET(xrc_srqc, srqc, lwm, call->arg.srq_create.limit);
	MLX5_SET(xrc_srqc, srqc, pd, pd->pdn);
	MLX5_SET(xrc_srqc, srqc, xrcd, xrcdn);
	MLX5_SET(xrc_srqc, srqc, cqn, cqn);
	MLX5_SET(xrc_srqc, srqc, user_index, call->arg.srq_create.user_index);
	MLX5_SET(xrc_srqc, srqc, db_record_addr_h, upper_32_bits(dbr));
	MLX5_SET(xrc_srqc, srqc, db_record_addr_l, lower_32_bits(dbr) >> 2);
	xv_buf_fill_pas(&srq->mem.ring,
			MLX5_ADDR_OF(create_xrc_srq_in, in, pas));
	err = xv_fw_create_xrc_srq(call->dev, call, in, inlen, &srq->srqn);
	kvfree(in);
	return err;
}

static int xv_srq_destroy_hw(struct xv_dev *dev, struct xv_call *call,
			     const struct xv_srq_obj *srq)
{
	return srq->xrc ? xv_fw_destroy_xrc_srq(dev, call, srq->srqn) :
			  xv_fw_destroy_rmp(dev, call, srq->srqn);
}

static int xv_srq_create_hw(struct xv_call *call, struct xv_srq_obj *srq,
			    const struct xv_srq_geometry *lay)
{
	const struct xverbs_srq_create *arg = &call->arg.srq_create;
	struct xv_obj *pd, *xrcd, *cq;
	int err;

	pd = xv_obj_use(call, &srq->obj, XV_OBJ_PD, arg->pd);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	if (srq->xrc) {
		xrcd = xv_obj_use(call, &srq->obj, XV_OBJ_XRCD, arg->xrcd);
		if (IS_ERR(xrcd))
			return PTR_ERR(xrcd);
		cq = xv_obj_use(call, &srq->obj, XV_OBJ_CQ, arg->cq);
		if (IS_ERR(cq))
			return PTR_ERR(cq);
		err = xv_srq_create_xrc(call, srq, to_pd_obj(pd), lay,
					to_xrcd_obj(xrcd)->domain->xrcdn,
					to_cq_obj(cq)->mcq.cqn);
	} else {
		err = xv_srq_create_rmp(call, srq, to_pd_obj(pd), lay);
	}
	return err;
}

static void xv_srq_report(const struct xv_srq_obj *srq,
			  const struct xv_srq_geometry *lay,
			  struct xverbs_srq_create *arg)
{
	arg->out_handle = srq->obj.handle;
	arg->out_srqn = srq->srqn;
	arg->out_max_wr = srq->max_wr;
	arg->out_max_sge = srq->max_sge;
	arg->out_wqes = lay->wqes;
	arg->out_stride = lay->stride;
	arg->out_dbr_offset = srq->mem.dbr.offset;
	arg->out_ring = xv_qmem_ring_map(&srq->mem);
	arg->out_dbr = xv_qmem_dbr_map(&srq->mem);
}

int xv_srq_create(struct xv_call *call)
{
	struct xverbs_srq_create *arg = &call->arg.srq_create;
	struct xv_srq_geometry lay;
	struct xv_srq_obj *srq;
	struct xv_obj *obj;
	int err;

	err = xv_srq_check(call, arg);
	if (!err)
		err = xv_srq_size(call, &lay);
	if (err)
		return err;
	obj = xv_obj_alloc(call, XV_OBJ_SRQ, sizeof(*srq));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	srq = to_srq_obj(obj);
	srq->xrc = arg->xrcd;
	srq->max_wr = lay.wqes - lay.linked;
	srq->max_sge = lay.stride / MLX5R_DS - lay.linked;
	obj->events.user_data = arg->user_data;
	err = xv_qmem_alloc(call, obj, &srq->mem, (size_t)lay.wqes * lay.stride);
	if (err)
		goto err_obj;
	if (lay.linked && srq->mem.ring.pages)
		xv_srq_init_ring(&srq->mem.ring, &lay);
	err = xv_srq_create_hw(call, srq, &lay);
	if (err)
		goto err_mem;
	obj->resource.number = srq->srqn;
	obj->resource.bytes = xv_buf_bytes(&srq->mem.ring);
	err = xv_number_add(&call->dev->srqs, srq->srqn, obj);
	if (err) {
		xv_obj_undo(obj);
		return err;
	}

	xv_srq_report(srq, &lay, arg);
	call->new_obj = obj;
	return 0;

err_mem:
	xv_qmem_free(call->file, &srq->mem);
err_obj:
	xv_obj_abort(obj);
	return err;
}

int xv_srq_destroy(struct xv_obj *obj, struct xv_call *call)
{
	struct xv_dev *dev = obj->file->dev;
	struct xv_srq_obj *srq = to_srq_obj(obj);
	int err;

	err = xv_srq_destroy_hw(dev, call, srq);
	if (err)
		return err;
	xv_number_del(&dev->srqs, srq->srqn, obj);
	xv_qmem_free(obj->file, &srq->mem);
	return 0;
}

void xv_srq_leak(struct xv_obj *obj)
{
	xv_number_del(&obj->file->dev->srqs, to_srq_obj(obj)->srqn, obj);
}

int xv_srq_modify(struct xv_call *call)
{
	const struct xverbs_srq_modify *arg = &call->arg.srq_modify;
	struct xv_obj *obj;
	struct xv_srq_obj *srq;
	int err;

	obj = xv_obj_get(call, XV_OBJ_SRQ, arg->srq);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	srq = to_srq_obj(obj);
	if (arg->limit > srq->max_wr)
		err = xv_fail(call, -EINVAL, "SRQ: limit %u is above max_wr %u",
			      arg->limit, srq->max_wr);
	else if (srq->xrc)
		err = xv_fw_arm_xrc_srq(call->dev, call, srq->srqn, arg->limit);
	else
		err = xv_fw_arm_rmp(call->dev, call, srq->srqn, arg->limit);
	xv_obj_put(obj);
	return err;
}

static int xv_srq_rmp_limit(struct xv_call *call, u32 rmpn, u16 *limit)
{
	u32 rmpc[MLX5_ST_SZ_DW(rmpc)];
	int err = xv_fw_query_rmp(call->dev, call, rmpn, rmpc);

	if (!err)
		*limit = MLX5_GET(rmpc, rmpc, wq.lwm);
	return err;
}

int xv_srq_query(struct xv_call *call)
{
	struct xverbs_srq_query *arg = &call->arg.srq_query;
	struct xv_obj *obj;
	struct xv_srq_obj *srq;
	u16 limit;
	int err;

	obj = xv_obj_get(call, XV_OBJ_SRQ, arg->srq);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	srq = to_srq_obj(obj);
	err = srq->xrc ?
		xv_fw_query_xrc_srq_lwm(call->dev, call, srq->srqn, &limit) :
		xv_srq_rmp_limit(call, srq->srqn, &limit);
	if (!err) {
		arg->out_max_wr = srq->max_wr;
		arg->out_max_sge = srq->max_sge;
		arg->out_limit = limit;
	}
	xv_obj_put(obj);
	return err;
}
