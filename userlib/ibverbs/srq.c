// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Shared receive queues.
 */
#include <infiniband/mlx5dv.h>
#include "ibv.h"

/* The kernel chooses the ring size.  To learn it, creates a queue in kernel memory first. */
static int get_memory(struct srq *srq, struct xv_pd *pd, struct xv_srq_init_attr *x)
{
	struct xv_srq_init_attr first = *x;
	struct xv_srq *xv;
	size_t bytes;

	if (!iv_memory_is_ours(&srq->memory))
		return 0;
	xv = xv_create_srq(pd, &first);
	if (!xv) {
		iv_null();
		return -1;
	}
	bytes = ((size_t)xv->mask + 1) << xv->log_stride;
	return iv_result(xv_destroy_srq(xv)) ? -1 :
	       iv_memory_get(&srq->memory, MLX5DV_RES_TYPE_SRQ, bytes, &x->external);
}

static struct ibv_srq *srq_new(struct ibv_pd *pd, void *srq_context, struct ibv_srq_attr *attr,
			       struct xv_srq_init_attr *x)
{
	struct srq *srq = calloc(1, sizeof(*srq));

	if (!srq)
		return NULL;
	iv_memory_init(&srq->memory, pd);
	x->srq_context = srq;
	srq->empty = !attr->max_wr;
	x->attr.max_wr = srq->empty ? 1 : attr->max_wr;
	x->attr.max_sge = attr->max_sge;
	x->flags = pd_single_threaded(pd) ? XV_SRQ_SINGLE_THREADED : 0;
	if (get_memory(srq, TO(pd, pd)->xv, x))
		goto err;
	srq->xv = xv_create_srq(TO(pd, pd)->xv, x);
	if (!srq->xv) {
		iv_null();
		goto err;
	}
	attr->max_wr = srq->empty ? 0 : x->attr.max_wr;
	attr->max_sge = x->attr.max_sge;
	srq->pub.context = pd->context;
	srq->pub.srq_context = srq_context;
	srq->pub.pd = pd;
	srq->pub.handle = srq->xv->handle;
	return &srq->pub;

err:
	iv_memory_put(&srq->memory);
	free(srq);
	return NULL;
}

EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct xv_srq_init_attr x = { .xrcd = NULL };

	return srq_new(pd, attr->srq_context, &attr->attr, &x);
}

struct ibv_srq *iv_create_srq_ex(struct ibv_context *ctx, struct ibv_srq_init_attr_ex *a)
{
	bool typed = a->comp_mask & IBV_SRQ_INIT_ATTR_TYPE;
	bool xrc = typed && a->srq_type == IBV_SRQT_XRC;
	const uint32_t of_xrc = IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	struct xv_srq_init_attr x = { .xrcd = NULL };

	(void)ctx;
	if (typed && a->srq_type == IBV_SRQT_TM)
		return iv_refuse(EOPNOTSUPP, "create SRQ: type: ");
	/* As in libmlx5, unknown bits of comp_mask, and that of the PD, mean nothing. */
	if ((typed && !xrc && a->srq_type != IBV_SRQT_BASIC) || !a->pd ||
	    (xrc && (~a->comp_mask & of_xrc || !a->xrcd || !a->cq)))
		return iv_refuse(EINVAL, "create SRQ: pd, xrcd or cq: ");
	if (xrc) {
		x.xrcd = TO(xrcd, a->xrcd)->xv;
		x.cq = TO(cq, a->cq)->xv;
	}
	return srq_new(a->pd, a->srq_context, &a->attr, &x);
}

int iv_get_srq_num(struct ibv_srq *srq, uint32_t *num)
{
	*num = TO(srq, srq)->xv->srq_num;
	return 0;
}

EXPORT int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	struct xv_srq_attr x = { .srq_limit = attr->srq_limit };

	if (mask & IBV_SRQ_MAX_WR)
		return iv_fail(EINVAL);
	return iv_result(xv_modify_srq(TO(srq, srq)->xv, &x, mask & IBV_SRQ_LIMIT));
}

EXPORT int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	struct xv_srq_attr x;
	int err = xv_query_srq(TO(srq, srq)->xv, &x);

	if (err)
		return iv_result(err);
	attr->max_wr = TO(srq, srq)->empty ? 0 : x.max_wr;
	attr->max_sge = x.max_sge;
	attr->srq_limit = x.srq_limit;
	return 0;
}

EXPORT int ibv_destroy_srq(struct ibv_srq *pub)
{
	struct srq *srq = TO(srq, pub);
	int err = xv_destroy_srq(srq->xv);

	if (err)
		return iv_result(err);
	iv_memory_put(&srq->memory);
	free(srq);
	return 0;
}
