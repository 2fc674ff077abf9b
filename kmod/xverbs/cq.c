// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues.  The process polls the ring.  The event queue belongs to mlx5_core:
 * when an armed CQ raises a completion event, xv_cq_comp() is called in a tasklet, because
 * in the interrupt the wake-ups of many CQs could take too long.
 */
#include <linux/log2.h>
#include <linux/slab.h>
#include <rdma/mlx5_ring.h>

#include "buf.h"
#include "cq.h"
#include "fw.h"
#include "uar.h"

static void xv_cq_comp(struct mlx5_core_cq *mcq, struct mlx5_eqe *eqe)
{
	struct xv_cq_obj *cq = container_of(mcq, struct xv_cq_obj, mcq);

	if (cq->channel)
		xv_channel_event(cq->channel, &cq->comp);
}

static void xv_cq_event(struct mlx5_core_cq *mcq, enum mlx5_event type)
{
	struct xv_cq_obj *cq = container_of(mcq, struct xv_cq_obj, mcq);

	if (type == MLX5_EVENT_TYPE_CQ_ERROR)
		xv_event_async(&cq->obj.file->async, &cq->obj.events,
			       XVERBS_EVENT_CQ_ERR);
}

static int xv_cq_round_entries(struct xv_call *call, u32 wanted, u32 *entries)
{
	u32 max = 1u << MLX5_CAP_GEN(call->dev->mdev, log_max_cq_sz);

	/* One entry stays free to distinguish a full ring from an empty one. */
	if (!wanted || wanted > max - 1)
		return xv_fail(call, -EINVAL,
			       "CQ: entries %u is not in 1..%u", wanted,
			       max - 1);
	*entries = roundup_pow_of_two(wanted + 1);
	return 0;
}

static int xv_cq_check(struct xv_call *call, struct xverbs_cq_create *arg,
		       u32 *entries)
{
	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	if (arg->cqe_bytes != 64 && arg->cqe_bytes != 128)
		return xv_fail(call, -EINVAL,
			       "CQ: cqe_bytes %u is neither 64 nor 128",
			       arg->cqe_bytes);
	if (arg->comp_vector >= call->dev->ib->num_comp_vectors)
		return xv_fail(call, -EINVAL,
			       "CQ: comp_vector %u, the device has %d",
			       arg->comp_vector,
			       call->dev->ib->num_comp_vectors);
	if (arg->hdr.flags & XVERBS_CQ_IGNORE_OVERRUN &&
	    !MLX5_CAP_GEN(call->dev->mdev, cq_oi))
		return xv_fail(call, -EOPNOTSUPP,
			       "CQ: flag IGNORE_OVERRUN: the device does not support it");
	if (arg->hdr.flags & XVERBS_CQ_CROSS_CHANNEL &&
	    !MLX5_CAP_GEN(call->dev->mdev, cd))
		return xv_fail(call, -EOPNOTSUPP,
			       "CQ: flag CROSS_CHANNEL: the device has no cross-channel queues");
	return xv_cq_round_entries(call, arg->entries, entries);
}

/* Initialises all entries with opcode INVALID and the owner bit set. */
static void xv_cq_init_ring(struct xv_buf *ring)
{
	u8 *page;
	u32 i, off;

	for (i = 0; i < ring->npages; i++) {
		page = page_address(ring->pages[i]);
		for (off = 63; off < PAGE_SIZE; off += 64)
			page[off] = MLX5R_CQE_INVALID << 4 | MLX5R_CQE_OWNER;
	}
}

static int xv_cq_create_hw(struct xv_call *call, struct xv_cq_obj *cq,
			   const struct xv_uar_obj *uar, u32 entries)
{
	struct xverbs_cq_create *arg = &call->arg.cq_create;
	struct mlx5_core_dev *mdev = call->dev->mdev;
	size_t inlen;
	void *in, *cqc;
	int eqn, err;

	err = xv_compat_vector2eqn(mdev, arg->comp_vector, &eqn);
	if (err)
		return xv_fail(call, err, "CQ: no event queue for vector %u",
			       arg->comp_vector);
	inlen = MLX5_ST_SZ_BYTES(create_cq_in) +
		cq->mem.ring.npages * sizeof(__be64);
	in = kvzalloc(inlen, XV_GFP);
	if (!in)
		return -ENOMEM;
	xv_buf_fill_pas(&cq->mem.ring, MLX5_ADDR_OF(create_cq_in, in, pas));
	MLX5_SET(create_cq_in, in, uid, uar->uid);
	cqc = MLX5_ADDR_OF(create_cq_in, in, cq_context);
	MLX5_SET(cqc, cqc, cqe_sz, arg->cqe_bytes == 128);
	MLX5_SET(cqc, cqc, cc, !!(arg->hdr.flags & XVERBS_CQ_COLLAPSED));
	MLX5_SET(cqc, cqc, oi, !!(arg->hdr.flags & XVERBS_CQ_IGNORE_OVERRUN));
	MLX5_SET(cqc, cqc, log_cq_size, ilog2(entries));
	MLX5_SET(cqc, cqc, uar_page, uar->index);
	MLX5_SET(cqc, cqc, c_eqn_or_apu_element, eqn);
	MLX5_SET(cqc, cqc, log_page_size,
		 PAGE_SHIFT - MLX5_ADAPTER_PAGE_SHIFT);
	MLX5_SET64(cqc, cqc, dbr_addr, cq->mem.dbr.dma);

	cq->mcq.comp = mlx5_add_cq_to_tasklet;
	cq->mcq.tasklet_ctx.comp = xv_cq_comp;
	cq->mcq.event = xv_cq_event;
	err = xv_fw_create_cq(call->dev, call, &cq->mcq, in, inlen);
	kvfree(in);
	return err;
}

static int xv_cq_deps(struct xv_call *call, struct xv_cq_obj *cq,
		      struct xv_uar_obj **uar)
{
	struct xverbs_cq_create *arg = &call->arg.cq_create;
	struct xv_obj *obj;

	obj = xv_obj_use(call, &cq->obj, XV_OBJ_UAR, arg->uar);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	*uar = to_uar_obj(obj);
	if (!arg->channel)
		return 0;
	obj = xv_obj_use(call, &cq->obj, XV_OBJ_CHANNEL, arg->channel);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	cq->channel = to_channel_obj(obj);
	return 0;
}

static void xv_cq_report(const struct xv_cq_obj *cq, u32 entries,
			 struct xverbs_cq_create *arg)
{
	arg->out_handle = cq->obj.handle;
	arg->out_cqn = cq->mcq.cqn;
	arg->out_entries = entries;
	arg->out_ring = xv_qmem_ring_map(&cq->mem);
	arg->out_dbr = xv_qmem_dbr_map(&cq->mem);
	arg->out_dbr_offset = cq->mem.dbr.offset;
}

int xv_cq_create(struct xv_call *call)
{
	struct xverbs_cq_create *arg = &call->arg.cq_create;
	struct xv_uar_obj *uar;
	struct xv_obj *obj;
	struct xv_cq_obj *cq;
	u32 entries;
	int err;

	err = xv_cq_check(call, arg, &entries);
	if (err)
		return err;
	obj = xv_obj_alloc(call, XV_OBJ_CQ, sizeof(*cq));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	cq = to_cq_obj(obj);
	mutex_init(&cq->lock);
	cq->cqe_bytes = arg->cqe_bytes;
	obj->events.user_data = arg->user_data;
	xv_evsrc_init(&cq->comp);
	cq->comp.user_data = arg->user_data;
	err = xv_cq_deps(call, cq, &uar);
	if (err)
		goto err_obj;
	err = xv_qmem_alloc(call, obj, &cq->mem,
			    (size_t)entries * arg->cqe_bytes);
	if (err)
		goto err_obj;
	if (cq->mem.ring.pages)
		xv_cq_init_ring(&cq->mem.ring);
	err = xv_cq_create_hw(call, cq, uar, entries);
	if (err)
		goto err_mem;

	obj->resource.number = cq->mcq.cqn;
	obj->resource.bytes = xv_buf_bytes(&cq->mem.ring);
	xv_cq_report(cq, entries, arg);
	call->new_obj = obj;
	return 0;

err_mem:
	xv_qmem_free(call->file, &cq->mem);
err_obj:
	xv_obj_abort(obj);
	return err;
}

int xv_cq_destroy(struct xv_obj *obj, struct xv_call *call)
{
	struct xv_cq_obj *cq = to_cq_obj(obj);
	u32 delivered = 0;
	int err;

	/* This also waits for callbacks in flight. */
	err = mlx5_core_destroy_cq(obj->file->dev->mdev, &cq->mcq);
	if (err)
		return xv_fail(call, xv_fw_errno(err), "CQ: DESTROY_CQ failed");
	if (cq->channel)
		delivered = xv_channel_stop(cq->channel, &cq->comp);
	if (call)
		call->arg.destroy.out_comp_events = delivered;
	xv_qmem_free(obj->file, &cq->mem);
	return 0;
}

/*
 * The command fails while a queue pair uses the CQ, but mlx5_core removes the CQ from
 * its tables in any case and makes no more callbacks.
 */
void xv_cq_leak(struct xv_obj *obj)
{
	mlx5_core_destroy_cq(obj->file->dev->mdev, &to_cq_obj(obj)->mcq);
}

/* ---- Modification ---------------------------------------------------------------- */

#define XV_CQ_MAX_COUNT		0xffff	/* PRM: cqc.cq_max_count */
#define XV_CQ_MAX_PERIOD	0xfff	/* PRM: cqc.cq_period */

static int xv_cq_check_modify(struct xv_call *call)
{
	const struct xverbs_cq_modify *arg = &call->arg.cq_modify;
	struct mlx5_core_dev *mdev = call->dev->mdev;

	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	if (!arg->change)
		return xv_fail(call, -EINVAL, "CQ: change is empty");
	if (arg->change & ~(XVERBS_CQ_MODERATION | XVERBS_CQ_OVERRUN))
		return xv_fail(call, -EOPNOTSUPP, "CQ: unknown change 0x%x",
			       arg->change);
	if (arg->change & XVERBS_CQ_MODERATION) {
		if (!MLX5_CAP_GEN(mdev, cq_moderation))
			return xv_fail(call, -EOPNOTSUPP,
				       "CQ: the device does not support moderation");
		if (arg->count > XV_CQ_MAX_COUNT)
			return xv_fail(call, -EINVAL, "CQ: count %u is above %u",
				       arg->count, XV_CQ_MAX_COUNT);
		if (arg->period_us > XV_CQ_MAX_PERIOD)
			return xv_fail(call, -EINVAL,
				       "CQ: period_us %u is above %u",
				       arg->period_us, XV_CQ_MAX_PERIOD);
	}
	if (arg->change & XVERBS_CQ_OVERRUN && arg->ignore_overrun > 1)
		return xv_fail(call, -EINVAL, "CQ: ignore_overrun %u is above 1",
			       arg->ignore_overrun);
	if (arg->change & XVERBS_CQ_OVERRUN && !MLX5_CAP_GEN(mdev, cq_oi))
		return xv_fail(call, -EOPNOTSUPP,
			       "CQ: ignore_overrun: the device does not support it");
	return 0;
}

int xv_cq_modify(struct xv_call *call)
{
	const struct xverbs_cq_modify *arg = &call->arg.cq_modify;
	u32 in[MLX5_ST_SZ_DW(modify_cq_in)] = {};
	void *cqc = MLX5_ADDR_OF(modify_cq_in, in, cq_context);
	struct xv_obj *obj;
	u32 select = 0;
	int err;

	err = xv_cq_check_modify(call);
	if (err)
		return err;
	obj = xv_obj_get(call, XV_OBJ_CQ, arg->cq);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	if (arg->change & XVERBS_CQ_MODERATION) {
		select |= MLX5_CQ_MODIFY_PERIOD | MLX5_CQ_MODIFY_COUNT;
		MLX5_SET(cqc, cqc, cq_max_count, arg->count);
		MLX5_SET(cqc, cqc, cq_period, arg->period_us);
	}
	if (arg->change & XVERBS_CQ_OVERRUN) {
		select |= MLX5_CQ_MODIFY_OVERRUN;
		MLX5_SET(cqc, cqc, oi, arg->ignore_overrun);
	}
	err = xv_fw_modify_cq(call->dev, call, &to_cq_obj(obj)->mcq, select, in,
			      sizeof(in));
	xv_obj_put(obj);
	return err;
}

static int xv_cq_resize_hw(struct xv_call *call, const struct xv_cq_obj *cq,
			   const struct xv_buf *ring, u32 entries)
{
	size_t inlen = MLX5_ST_SZ_BYTES(modify_cq_in) +
		       ring->npages * sizeof(__be64);
	void *in, *cqc;
	int err;

	in = kvzalloc(inlen, XV_GFP);
	if (!in)
		return -ENOMEM;
	xv_buf_fill_pas(ring, MLX5_ADDR_OF(modify_cq_in, in, pas));
	cqc = MLX5_ADDR_OF(modify_cq_in, in, cq_context);
	MLX5_SET(cqc, cqc, log_cq_size, ilog2(entries));
	MLX5_SET(cqc, cqc, cqe_sz, cq->cqe_bytes == 128);
	MLX5_SET(cqc, cqc, log_page_size,
		 PAGE_SHIFT - MLX5_ADAPTER_PAGE_SHIFT);
	MLX5_SET(modify_cq_in, in, op_mod, MLX5_CQ_OPMOD_RESIZE);
	err = xv_fw_modify_cq(call->dev, call, &cq->mcq,
			      MLX5_MODIFY_CQ_MASK_LOG_SIZE |
			      MLX5_MODIFY_CQ_MASK_PG_OFFSET |
			      MLX5_MODIFY_CQ_MASK_PG_SIZE, in, inlen);
	kvfree(in);
	return err;
}

/* The process polls the rest of the old ring, which its mapping keeps. */
static int xv_cq_resize_locked(struct xv_call *call, struct xv_cq_obj *cq,
			       u32 entries)
{
	struct xverbs_cq_resize *arg = &call->arg.cq_resize;
	struct xv_buf *ring;
	int err;

	lockdep_assert_held(&cq->lock);
	if (!cq->mem.ring.pages)
		return xv_fail(call, -EOPNOTSUPP,
			       "CQ: a ring in a UMEM cannot be resized");
	ring = kzalloc(sizeof(*ring), XV_GFP);
	if (!ring)
		return -ENOMEM;
	err = xv_buf_alloc(call, ring, (size_t)entries * cq->cqe_bytes);
	if (err)
		goto out;
	xv_cq_init_ring(ring);
	err = xv_cq_resize_hw(call, cq, ring, entries);
	if (err) {
		xv_buf_free(call->file, ring);
		goto out;
	}
	xv_buf_replace(call->file, &cq->mem.ring, ring);
	cq->obj.resource.bytes = xv_buf_bytes(&cq->mem.ring);
	arg->out_entries = entries;
	arg->out_ring = xv_qmem_ring_map(&cq->mem);
out:
	kfree(ring);
	return err;
}

int xv_cq_resize(struct xv_call *call)
{
	struct xverbs_cq_resize *arg = &call->arg.cq_resize;
	struct xv_obj *obj;
	u32 entries;
	int err;

	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	if (!MLX5_CAP_GEN(call->dev->mdev, cq_resize))
		return xv_fail(call, -EOPNOTSUPP,
			       "CQ: the device does not support resizing");
	err = xv_cq_round_entries(call, arg->entries, &entries);
	if (err)
		return err;
	obj = xv_obj_get(call, XV_OBJ_CQ, arg->cq);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	mutex_lock(&to_cq_obj(obj)->lock);
	err = xv_cq_resize_locked(call, to_cq_obj(obj), entries);
	mutex_unlock(&to_cq_obj(obj)->lock);
	xv_obj_put(obj);
	return err;
}
