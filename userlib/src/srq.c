// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Shared receive queues.
 */
#include "internal.h"

static int srq_map(struct srq *srq, const struct xverbs_srq_create *req,
		   const struct xv_external *ext)
{
	struct xv_srq *pub = &srq->pub;
	bool linked = req->layout == XVERBS_SRQ_LINKED;
	uint32_t head = linked ? sizeof(struct mlx5r_srq_next) : 0, i;
	int err = xv_qmem_map(srq->ctx, &srq->mem, ext, &req->out_ring, &req->out_dbr,
			      req->out_dbr_offset, "create SRQ: ring");

	if (err)
		return err;
	pub->srq_num = req->out_srqn;
	pub->buf = srq->mem.ring;
	pub->dbrec = srq->mem.dbrec;
	pub->mask = req->out_wqes - 1;
	pub->max_sge = (req->out_stride - head) / MLX5R_DS;
	pub->log_stride = (uint32_t)__builtin_ctz(req->out_stride);
	pub->tail = linked ? pub->mask : 0;
	/* The kernel has initialised its own rings. */
	for (i = 0; ext->ring_umem && linked && !srq->mem.external && i <= pub->mask; i++)
		__xv_srq_entry(pub, i)->next_wqe_index = xv_be16((i + 1) & pub->mask);
	pub->wr_id = calloc(req->out_wqes, sizeof(*pub->wr_id));
	pub->done = linked ? NULL : calloc(req->out_wqes, 1);
	if (!pub->wr_id || (!linked && !pub->done))
		return xv_set_error(ENOMEM, "create SRQ: out of memory");
	return 0;
}

static void srq_release(void *object)
{
	struct srq *srq = object;

	if (srq->indexed)
		xv_rsc_set(srq->ctx, srq->pub.rsc.user_index, NULL);
	free(srq->pub.wr_id);
	free(srq->pub.done);
	xv_qmem_unmap(srq->ctx, &srq->mem);
	xv_events_destroy(&srq->events);
}

static int srq_create(struct srq *srq, const struct xv_pd *pd, struct xv_srq_init_attr *a)
{
	struct xverbs_external external = { 0 };
	struct xverbs_srq_create req = {
		.pd = pd->handle,
		.layout = a->layout,
		.max_wr = a->attr.max_wr,
		.max_sge = a->attr.max_sge,
		.limit = a->attr.srq_limit,
		.xrcd = a->xrcd ? a->xrcd->handle : 0,
		.cq = a->cq ? a->cq->handle : 0,
		.user_index = srq->pub.rsc.user_index,
		.user_data = (uintptr_t)srq,
		.external = XV_PART_OF(&external),
	};
	int err;

	err = XV_CHECK_USED(srq->ctx, "create SRQ", a->xrcd, a->cq, a->external.ring_umem,
			    a->external.dbr_umem);
	if (err)
		return err;
	err = xv_external_to_kernel(&external, &a->external, &srq->mem, "create SRQ");
	if (err)
		return err;
	err = xv_ioctl(&srq->ctx->pub, XVERBS_SRQ_CREATE, "create SRQ", &req, sizeof(req));
	if (err)
		return err;
	srq->pub.handle = req.out_handle;
	a->attr.max_wr = req.out_max_wr;
	a->attr.max_sge = req.out_max_sge;
	err = srq_map(srq, &req, &a->external);
	if (err)
		xv_destroy_handle(srq->ctx, srq->pub.handle, "create SRQ", NULL);
	return err;
}

static struct srq *srq_new(struct xv_pd *pd, const struct xv_srq_init_attr *a)
{
	struct context *ctx = to_ctx(pd->context);
	struct srq *srq = xv_object_alloc(ctx, sizeof(*srq), srq_release, "create SRQ");

	if (!srq)
		return NULL;
	srq->ctx = ctx;
	srq->pub.rsc.type = XV_RSC_SRQ;
	srq->pub.context = pd->context;
	srq->pub.pd = pd;
	srq->pub.srq_context = a->srq_context;
	srq->pub.recv_refused = xv_srq_recv_refused;
	srq->pub.lock.on = !(a->flags & XV_SRQ_SINGLE_THREADED);
	srq->mem.external = a->flags & XV_SRQ_EXTERNAL_DATAPATH;
	xv_events_init(&srq->events);
	return srq;
}

XV_EXPORT struct xv_srq *xv_create_srq_sz(struct xv_pd *pd, struct xv_srq_init_attr *attr,
					  size_t size)
{
	struct xv_srq_init_attr a;
	struct srq *srq;
	int err = xv_attr_in(&a, sizeof(a), attr, size, "create SRQ");

	if (!err && a.flags & ~(uint32_t)(XV_SRQ_SINGLE_THREADED | XV_SRQ_EXTERNAL_DATAPATH))
		err = xv_set_error(EOPNOTSUPP, "create SRQ: flags: unknown bit in 0x%x", a.flags);
	if (err) {
		errno = -err;
		return NULL;
	}
	srq = srq_new(pd, &a);
	if (!srq)
		return NULL;
	if (a.xrcd)
		err = xv_rsc_add(srq->ctx, &srq->pub.rsc, "create SRQ");
	srq->indexed = a.xrcd && !err;
	if (!err)
		err = srq_create(srq, pd, &a);
	if (err) {
		xv_object_free(srq);
		errno = -err;
		return NULL;
	}
	xv_object_add(srq, srq->pub.handle);
	srq->init = a;
	attr->attr = a.attr;
	return &srq->pub;
}

XV_EXPORT int xv_modify_srq_sz(struct xv_srq *srq, struct xv_srq_attr *attr, unsigned int mask,
			       size_t size)
{
	struct xverbs_srq_modify req = { .srq = srq->handle };
	struct xv_srq_attr a;
	int err = xv_attr_in(&a, sizeof(a), attr, size, "modify SRQ");

	if (err)
		return err;
	if (mask & ~(unsigned int)XV_SRQ_LIMIT)
		return xv_set_error(EOPNOTSUPP, mask & XV_SRQ_MAX_WR ?
				    "modify SRQ: the adapter cannot resize an SRQ" :
				    "modify SRQ: mask: unknown bit in 0x%x", mask);
	req.limit = a.srq_limit;
	if (mask & XV_SRQ_LIMIT)
		err = xv_ioctl(srq->context, XVERBS_SRQ_MODIFY, "modify SRQ", &req,
			       sizeof(req));
	return err ? err : xv_query_srq_sz(srq, attr, size);
}

XV_EXPORT void xv_get_srq_init_attr_sz(const struct xv_srq *srq, struct xv_srq_init_attr *attr,
				       size_t size)
{
	const struct srq *own = (const struct srq *)srq;

	xv_attr_out(attr, size, &own->init, sizeof(own->init));
}

XV_EXPORT int xv_query_srq_sz(struct xv_srq *pub, struct xv_srq_attr *attr, size_t size)
{
	struct srq *srq = to_srq(pub);
	struct xverbs_srq_query req = { .srq = srq->pub.handle };
	struct xv_srq_attr a = { 0 };
	int err = xv_ioctl(&srq->ctx->pub, XVERBS_SRQ_QUERY, "query SRQ", &req, sizeof(req));

	if (err)
		return err;
	a.max_wr = req.out_max_wr;
	a.max_sge = req.out_max_sge;
	a.srq_limit = req.out_limit;
	xv_attr_out(attr, size, &a, sizeof(a));
	return 0;
}

/* All queue pairs that used it are destroyed, and their completions are removed. */
XV_EXPORT int xv_destroy_srq(struct xv_srq *pub)
{
	struct srq *srq = to_srq(pub);
	struct xverbs_destroy reply;
	int err = xv_object_destroy_kernel(srq, "destroy SRQ", &reply);

	if (err)
		return err;
	if (srq->indexed && srq->init.cq)
		xv_cq_clean(srq->init.cq, &pub->rsc, NULL);
	xv_events_wait(&srq->events, &reply);
	xv_object_free(srq);
	return 0;
}
