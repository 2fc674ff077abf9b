// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues: the ring is the process's, the event queue behind it
 * belongs to mlx5_core, which calls back when an armed queue fires.
 */
#include <linux/log2.h>
#include <linux/slab.h>
#include <rdma/mlx5_ring.h>

#include "fw.h"

static void xv_cq_comp(struct mlx5_core_cq *mcq, struct mlx5_eqe *eqe)
{
	struct xv_cq *cq = container_of(mcq, struct xv_cq, mcq);

	if (cq->channel)
		xv_channel_event(cq->channel, &cq->comp);
}

static void xv_cq_event(struct mlx5_core_cq *mcq, enum mlx5_event type)
{
	struct xv_cq *cq = container_of(mcq, struct xv_cq, mcq);

	if (type == MLX5_EVENT_TYPE_CQ_ERROR)
		xv_event_async(&cq->obj.file->async, &cq->obj.events,
			       XVERBS_EVENT_CQ_ERR);
}

static int xv_cq_check(struct xv_call *call, struct xverbs_cq_create *arg,
		       u32 *entries)
{
	u32 max = 1u << MLX5_CAP_GEN(call->dev->mdev, log_max_cq_sz);

	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	if (arg->cqe_bytes != 64 && arg->cqe_bytes != 128)
		return xv_fail(call, -EINVAL,
			       "CQ: cqe_bytes %u is neither 64 nor 128",
			       arg->cqe_bytes);
	/* One entry stays free, so that full and empty rings differ. */
	if (!arg->entries || arg->entries > max - 1)
		return xv_fail(call, -EINVAL,
			       "CQ: entries %u is not in 1..%u", arg->entries,
			       max - 1);
	if (arg->comp_vector >= call->dev->ib->num_comp_vectors)
		return xv_fail(call, -EINVAL,
			       "CQ: comp_vector %u, the device has %d",
			       arg->comp_vector,
			       call->dev->ib->num_comp_vectors);
	*entries = roundup_pow_of_two(arg->entries + 1);
	return 0;
}

/* Every entry starts as the adapter's: an invalid opcode, owner bit set. */
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

static int xv_cq_create_hw(struct xv_call *call, struct xv_cq *cq,
			   const struct xv_uar *uar, u32 entries)
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
		cq->ring.npages * sizeof(__be64);
	in = kvzalloc(inlen, GFP_KERNEL_ACCOUNT);
	if (!in)
		return -ENOMEM;
	xv_buf_fill_pas(&cq->ring, MLX5_ADDR_OF(create_cq_in, in, pas));
	cqc = MLX5_ADDR_OF(create_cq_in, in, cq_context);
	MLX5_SET(cqc, cqc, cqe_sz, arg->cqe_bytes == 128);
	MLX5_SET(cqc, cqc, cc, !!(arg->hdr.flags & XVERBS_CQ_COLLAPSED));
	MLX5_SET(cqc, cqc, oi, !!(arg->hdr.flags & XVERBS_CQ_IGNORE_OVERRUN));
	MLX5_SET(cqc, cqc, log_cq_size, ilog2(entries));
	MLX5_SET(cqc, cqc, uar_page, uar->index);
	MLX5_SET(cqc, cqc, c_eqn_or_apu_element, eqn);
	MLX5_SET(cqc, cqc, log_page_size,
		 PAGE_SHIFT - MLX5_ADAPTER_PAGE_SHIFT);
	MLX5_SET64(cqc, cqc, dbr_addr, xv_dbr_dma(&cq->dbr));

	cq->mcq.comp = xv_cq_comp;
	cq->mcq.event = xv_cq_event;
	err = xv_fw_create_cq(call->dev, call, &cq->mcq, in, inlen);
	kvfree(in);
	return err;
}

static int xv_cq_deps(struct xv_call *call, struct xv_cq *cq,
		      struct xv_uar **uar)
{
	struct xverbs_cq_create *arg = &call->arg.cq_create;
	struct xv_obj *obj;

	obj = xv_obj_use(call, &cq->obj, XV_OBJ_UAR, arg->uar);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	*uar = xv_to(uar, obj);
	if (!arg->channel)
		return 0;
	obj = xv_obj_use(call, &cq->obj, XV_OBJ_CHANNEL, arg->channel);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	cq->channel = xv_to(channel, obj);
	return 0;
}

static void xv_cq_report(const struct xv_cq *cq, u32 entries,
			 struct xverbs_cq_create *arg)
{
	arg->out_handle = cq->obj.handle;
	arg->out_cqn = cq->mcq.cqn;
	arg->out_entries = entries;
	arg->out_ring = xv_mapping_user(&cq->ring.map);
	arg->out_dbr = xv_dbr_user(&cq->dbr);
	arg->out_dbr_offset = cq->dbr.offset;
}

int xv_cq_create(struct xv_call *call)
{
	struct xverbs_cq_create *arg = &call->arg.cq_create;
	struct xv_uar *uar;
	struct xv_obj *obj;
	struct xv_cq *cq;
	u32 entries;
	int err;

	err = xv_cq_check(call, arg, &entries);
	if (err)
		return err;
	obj = xv_obj_alloc(call, XV_OBJ_CQ, sizeof(*cq));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	cq = xv_to(cq, obj);
	obj->events.user_data = arg->user_data;
	xv_evsrc_init(&cq->comp);
	cq->comp.user_data = arg->user_data;
	err = xv_cq_deps(call, cq, &uar);
	if (err)
		goto err_obj;
	err = xv_buf_alloc(call->file, &cq->ring,
			   (size_t)entries * arg->cqe_bytes);
	if (err)
		goto err_obj;
	xv_cq_init_ring(&cq->ring);
	err = xv_dbr_alloc(call->file, &cq->dbr);
	if (err)
		goto err_ring;
	err = xv_cq_create_hw(call, cq, uar, entries);
	if (err)
		goto err_dbr;

	xv_cq_report(cq, entries, arg);
	call->new_obj = obj;
	return 0;

err_dbr:
	xv_dbr_free(call->file, &cq->dbr);
err_ring:
	xv_buf_free(call->file, &cq->ring);
err_obj:
	xv_obj_abort(obj);
	return err;
}

int xv_cq_destroy(struct xv_obj *obj, struct xv_call *call)
{
	struct xv_cq *cq = xv_to(cq, obj);
	u32 delivered = 0;
	int err;

	/* Waits for callbacks in flight. */
	err = mlx5_core_destroy_cq(obj->file->dev->mdev, &cq->mcq);
	if (err)
		return xv_fail(call, err, "CQ: DESTROY_CQ failed");
	if (cq->channel)
		delivered = xv_channel_stop(cq->channel, &cq->comp);
	if (call)
		call->arg.destroy.out_comp_events = delivered;
	xv_dbr_free(obj->file, &cq->dbr);
	xv_buf_free(obj->file, &cq->ring);
	return 0;
}
