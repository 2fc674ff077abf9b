// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues.
 */
#include <unistd.h>
#include "internal.h"

static struct mlx5r_cqe *cqe_at(const struct xv_cq *cq, uint32_t i)
{
	return (struct mlx5r_cqe *)xv_cq_at(cq, i);
}

/* A CQE is at the end of its entry. */
static void *entry(const struct xv_cq *cq, uint32_t i)
{
	return (uint8_t *)(cqe_at(cq, i) + 1) - ((size_t)1 << cq->log_stride);
}

static int cq_map(struct cq *cq, const struct xverbs_cq_create *req,
		  const struct xv_external *ext, const struct xv_uar *uar)
{
	struct context *ctx = cq->ctx;
	struct xv_cq *pub = &cq->pub;
	uint32_t i;
	int err;

	err = xv_qmem_map(ctx, &cq->mem, ext, &req->out_ring, &req->out_dbr, req->out_dbr_offset,
			  "create CQ: ring");
	if (err)
		return err;
	pub->buf = cq->mem.ring;
	pub->dbrec = cq->mem.dbrec;
	pub->doorbell = (volatile uint64_t *)(void *)((char *)uar->addr + uar->cq_doorbell);
	pub->dir = &ctx->dir;
	pub->last_uidx = XV_RSC_NO_INDEX;
	pub->held = ~pub->ci;
	pub->mask = req->out_entries - 1;
	pub->log_size = (uint32_t)__builtin_ctz(req->out_entries);
	pub->log_stride = (uint32_t)__builtin_ctz(req->cqe_bytes);
	pub->cqn = req->out_cqn;
	pub->cqe = pub->mask;		/* one entry stays free */
	/* The kernel has initialised its own rings; a ring in a UMEM is the task of the library. */
	for (i = 0; ext->ring_umem && !cq->mem.external && i <= pub->mask; i++)
		cqe_at(pub, i)->op_own = MLX5R_CQE_INVALID << 4 | MLX5R_CQE_OWNER;
	return 0;
}

static int cq_create(struct cq *cq, const struct xv_cq_init_attr *attr)
{
	const struct xv_uar *uar = xv_uar_get(cq->ctx, &attr->external);
	struct xverbs_external external = { 0 };
	struct xverbs_cq_create req = {
		.uar = uar ? uar->handle : 0,
		.channel = attr->channel ? attr->channel->handle : 0,
		.entries = attr->cqe,
		.cqe_bytes = attr->cqe_size ? attr->cqe_size : 64,
		.comp_vector = attr->comp_vector,
		.user_data = (uintptr_t)cq,
		.external = XV_PART_OF(&external),
	};
	int err;

	if (!uar)
		return -errno;
	if (attr->flags & XV_CQ_IGNORE_OVERRUN)
		req.hdr.flags |= XVERBS_CQ_IGNORE_OVERRUN;
	if (attr->flags & XV_CQ_COLLAPSED)
		req.hdr.flags |= XVERBS_CQ_COLLAPSED;
	if (attr->flags & XV_CQ_CROSS_CHANNEL)
		req.hdr.flags |= XVERBS_CQ_CROSS_CHANNEL;
	err = XV_CHECK_USED(cq->ctx, "create CQ", attr->channel, uar, attr->external.ring_umem,
			    attr->external.dbr_umem);
	if (err)
		return err;
	err = xv_external_to_kernel(&external, &attr->external, &cq->mem, "create CQ");
	if (err)
		return err;
	err = xv_ioctl(&cq->ctx->pub, XVERBS_CQ_CREATE, "create CQ", &req, sizeof(req));
	if (err)
		return err;
	cq->pub.handle = req.out_handle;
	err = cq_map(cq, &req, &attr->external, uar);
	if (err)
		xv_destroy_handle(cq->ctx, req.out_handle, "create CQ", NULL);
	return err;
}

static void cq_release(void *object)
{
	struct cq *cq = object;

	xv_qmem_unmap(cq->ctx, &cq->mem);
	xv_events_destroy(&cq->events);
}

XV_EXPORT struct xv_cq *xv_create_cq_sz(struct xv_context *ctx, const struct xv_cq_init_attr *attr,
					size_t size)
{
	const uint32_t known = XV_CQ_SINGLE_THREADED | XV_CQ_IGNORE_OVERRUN | XV_CQ_COLLAPSED |
			       XV_CQ_EXTERNAL_DATAPATH | XV_CQ_CROSS_CHANNEL;
	struct xv_cq_init_attr a;
	struct cq *cq;
	int err;

	err = xv_attr_in(&a, sizeof(a), attr, size, "create CQ");
	if (!err && a.flags & ~known)
		err = xv_set_error(EOPNOTSUPP, "create CQ: flags: unknown bit in 0x%x", a.flags);
	if (err) {
		errno = -err;
		return NULL;
	}
	cq = xv_object_alloc(to_ctx(ctx), sizeof(*cq), cq_release, "create CQ");
	if (!cq)
		return NULL;
	cq->ctx = to_ctx(ctx);
	cq->pub.context = ctx;
	cq->pub.channel = a.channel;
	cq->pub.cq_context = a.cq_context;
	cq->pub.flags = a.flags;
	cq->mem.external = a.flags & XV_CQ_EXTERNAL_DATAPATH;
	cq->pub.lock.on = !(a.flags & XV_CQ_SINGLE_THREADED);
	xv_events_init(&cq->events);
	err = cq_create(cq, &a);
	if (err) {
		xv_object_free(cq);
		errno = -err;
		return NULL;
	}
	xv_object_add(cq, cq->pub.handle);
	return &cq->pub;
}

XV_EXPORT int xv_destroy_cq(struct xv_cq *pub)
{
	struct cq *cq = to_cq(pub);
	struct xverbs_destroy reply;
	int err = xv_object_destroy_kernel(cq, "destroy CQ", &reply);

	if (err)
		return err;
	xv_events_wait(&cq->events, &reply);
	xv_object_free(cq);
	return 0;
}

XV_EXPORT int xv_modify_cq_sz(struct xv_cq *pub, const struct xv_modify_cq_attr *attr, size_t size)
{
	struct cq *cq = to_cq(pub);
	struct xv_modify_cq_attr a;
	struct xverbs_cq_modify req = { .cq = pub->handle };
	int err = xv_attr_in(&a, sizeof(a), attr, size, "modify CQ");

	if (err)
		return err;
	if (a.attr_mask & ~(uint32_t)(XV_CQ_ATTR_MODERATE | XV_CQ_ATTR_OVERRUN))
		return xv_set_error(EOPNOTSUPP, "modify CQ: attr_mask: unknown bit in 0x%x",
				    a.attr_mask);
	if (a.attr_mask & XV_CQ_ATTR_MODERATE) {
		req.change |= XVERBS_CQ_MODERATION;
		req.count = a.cq_count;
		req.period_us = a.cq_period;
	}
	if (a.attr_mask & XV_CQ_ATTR_OVERRUN) {
		req.change |= XVERBS_CQ_OVERRUN;
		req.ignore_overrun = a.ignore_overrun;
	}
	return xv_ioctl(&cq->ctx->pub, XVERBS_CQ_MODIFY, "modify CQ", &req, sizeof(req));
}

static bool is_ours(const struct xv_cq *cq, uint32_t i)
{
	return __xv_cq_has(cq, i, __xv_cqe_op_own(xv_cq_at(cq, i)));
}

static bool is_of(const struct mlx5r_cqe *cqe, const struct xv_rsc *rsc)
{
	return (xv_be32(cqe->srqn_uidx) & XV_RSC_INDEX_MASK) == rsc->user_index;
}

/* Copies entry @i to the place of entry @to.  An owner bit belongs to its place in the ring. */
static void move_entry(struct xv_cq *cq, uint32_t i, uint32_t to)
{
	uint8_t owner = cqe_at(cq, to)->op_own & MLX5R_CQE_OWNER;
	struct mlx5r_cqe *cqe = cqe_at(cq, to);

	memcpy(entry(cq, to), entry(cq, i), (size_t)1 << cq->log_stride);
	cqe->op_own = (uint8_t)((cqe->op_own & ~MLX5R_CQE_OWNER) | owner);
}

/* Removes the entries of rsc from @from on; returns their number. */
static uint32_t remove_entries(struct xv_cq *cq, uint32_t from, struct xv_rsc *rsc,
			       struct xv_srq *srq)
{
	bool held = cq->held == from;
	struct mlx5r_cqe *cqe;
	uint32_t i, gone = 0;

	for (i = from; i - from <= cq->mask && is_ours(cq, i); i++)
		;
	xv_from_device_barrier();
	while (i-- != from) {
		cqe = cqe_at(cq, i);
		if (is_of(cqe, rsc)) {
			if (srq && !xv_cqe_is_send(cqe))
				__xv_srq_free(srq, xv_be16(cqe->wqe_counter));
			if (!held || i != from) {
				gone++;
				continue;
			}
			cqe->srqn_uidx = xv_be32(XV_RSC_GONE);
		}
		if (gone)
			move_entry(cq, i, i + gone);
	}
	return gone;
}

/*
 * Removes the completions of rsc from the ring.  The entries that stay move towards
 * the producer index and overwrite those that are removed; then the consumer index
 * advances.  An entry that the program reads in place stays in any case, and the adapter must not
 * write over it until the program says so.
 */
void xv_cq_clean(struct xv_cq *cq, struct xv_rsc *rsc, struct xv_srq *srq)
{
	uint32_t from, gone;

	if (to_cq(cq)->mem.external)
		return;
	if (srq && to_srq(srq)->mem.external)
		srq = NULL;
	xv_lock(&cq->lock);
	from = cq->ci;
	gone = remove_entries(cq, from, rsc, srq);
	cq->ci += gone;
	if (cq->held == from)
		cq->held = cq->ci;
	else if (gone)
		xv_commit_cq(cq);
	if (cq->last && &cq->last->rsc == rsc)
		cq->last_uidx = XV_RSC_NO_INDEX;
	xv_unlock(&cq->lock);
}

/* Waits for entry @i of the old ring.  Returns true if it is the last one (opcode RESIZE). */
static bool ends_ring(const struct xv_cq *old, uint32_t i)
{
	while (!is_ours(old, i))
		xv_cpu_relax();
	xv_from_device_barrier();
	return xv_cqe_opcode(cqe_at(old, i)) == MLX5R_CQE_RESIZE;
}

/*
 * The old ring has completions up to the CQE with opcode RESIZE.  Each of them moves
 * to the new ring, one index higher, because the RESIZE entry is not copied.
 */
static void move_entries(struct xv_cq *old, struct xv_cq *now)
{
	uint32_t i = old->ci;
	struct mlx5r_cqe *cqe;

	for (; !ends_ring(old, i); i++) {
		memcpy(entry(now, i + 1), entry(old, i), (size_t)1 << old->log_stride);
		cqe = cqe_at(now, i + 1);
		cqe->op_own = (uint8_t)((cqe->op_own & ~MLX5R_CQE_OWNER) |
					((i + 1) >> now->log_size & MLX5R_CQE_OWNER));
	}
	now->ci = old->ci + 1;
}

/* The new ring cannot be mapped.  Ends the old ring after the entries that it has. */
static void lose_ring(struct cq *cq)
{
	uint32_t i = cq->pub.ci;

	while (!ends_ring(&cq->pub, i))
		i++;
	cqe_at(&cq->pub, i)->op_own = MLX5R_CQE_INVALID << 4 | MLX5R_CQE_OWNER;
	cq->lost = true;
}

/* Size in bytes of the ring that the kernel allocates for @entries entries */
static size_t ring_bytes(const struct xv_cq *cq, uint32_t entries)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (size_t)1 << cq->log_stride;

	while (bytes >> cq->log_stride <= entries)
		bytes *= 2;
	return bytes > page ? bytes : page;
}

/* The end of the old ring is an entry that a wait would count.  The caller has the lock. */
static int resize(struct cq *cq, struct xverbs_cq_resize *req)
{
	if (cq->pub.flags & XV_CQ_CROSS_CHANNEL)
		return xv_set_error(EOPNOTSUPP, "resize CQ: not possible with CROSS_CHANNEL");
	return xv_ioctl(&cq->ctx->pub, XVERBS_CQ_RESIZE, "resize CQ", req, sizeof(*req));
}

/*
 * The adapter cannot return to the old ring, so the address range for the new ring
 * is reserved before the ioctl.  Then mmap() fails only if the kernel has no memory for it.
 */
XV_EXPORT int xv_resize_cq(struct xv_cq *pub, uint32_t cqe)
{
	struct cq *cq = to_cq(pub);
	struct xverbs_cq_resize req = { .cq = pub->handle, .entries = cqe };
	struct xv_cq now;
	struct mapping ring = {};
	int err;

	if (cq->mem.external)
		return xv_set_error(EINVAL, "resize CQ: not possible with EXTERNAL_DATAPATH");
	if (cq->lost)
		return xv_set_error(EINVAL, "resize CQ: its ring was lost by an earlier call");
	err = xv_reserve(&ring, ring_bytes(pub, cqe), "resize CQ: ring");
	if (err)
		return err;
	xv_lock(&pub->lock);
	err = resize(cq, &req);
	if (err) {
		xv_unmap(&ring);
		goto out;
	}
	err = xv_map_reserved(cq->ctx, &ring, &req.out_ring, "resize CQ: ring is lost");
	if (err) {
		lose_ring(cq);
	} else {
		now = *pub;
		now.buf = ring.addr;
		now.mask = req.out_entries - 1;
		now.log_size = (uint32_t)__builtin_ctz(req.out_entries);
		move_entries(pub, &now);
		pub->buf = now.buf;
		pub->mask = now.mask;
		pub->log_size = now.log_size;
		pub->ci = now.ci;
		pub->cqe = now.mask;
		pub->wait_base++;	/* the end of the old ring, for waits to come */
		xv_commit_cq(pub);
		xv_unmap(&cq->mem.map);
		cq->mem.map = ring;
	}
out:
	xv_unlock(&pub->lock);
	return err;
}
