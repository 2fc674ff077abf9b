// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues.
 */
#include <infiniband/mlx5dv.h>
#include "ibv.h"

/* The kernel chooses the ring size.  To learn it, creates a queue in kernel memory first. */
static int get_memory(struct cq *cq, struct ibv_context *ctx, struct xv_cq_init_attr *x)
{
	struct xv_cq *xv;
	size_t bytes;

	if (!iv_memory_is_ours(&cq->memory))
		return 0;
	xv = xv_create_cq(xv_of(ctx), x);
	if (!xv) {
		iv_null();
		return -1;
	}
	bytes = ((size_t)xv->mask + 1) << xv->log_stride;
	return iv_result(xv_destroy_cq(xv)) ? -1 :
	       iv_memory_get(&cq->memory, MLX5DV_RES_TYPE_CQ, bytes, &x->external);
}

EXPORT struct cq *iv_cq_new(struct ibv_context *ctx, struct xv_cq_init_attr *x, void *cq_context,
			    struct ibv_comp_channel *channel, struct ibv_pd *domain)
{
	struct cq *cq = calloc(1, sizeof(*cq));

	if (!cq)
		return NULL;
	iv_memory_init(&cq->memory, domain);
	x->cq_context = cq;
	x->channel = channel ? TO(channel, channel)->xv : NULL;
	if (get_memory(cq, ctx, x))
		goto err;
	cq->xv = xv_create_cq(xv_of(ctx), x);
	if (!cq->xv) {
		iv_null();
		goto err;
	}
	cq->pub.context = ctx;
	cq->pub.channel = channel;
	cq->pub.cq_context = cq_context;
	cq->pub.handle = cq->xv->handle;
	cq->pub.cqe = (int)cq->xv->cqe;
	if (channel)
		__atomic_fetch_add(&channel->refcnt, 1, __ATOMIC_RELAXED);
	return cq;

err:
	iv_memory_put(&cq->memory);
	free(cq);
	return NULL;
}

EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *ctx, int cqe, void *cq_context,
				    struct ibv_comp_channel *channel, int comp_vector)
{
	struct xv_cq_init_attr x = {
		.cqe = (uint32_t)cqe,
		.comp_vector = (uint32_t)comp_vector,
	};

	if (cqe <= 0)
		return iv_refuse(EINVAL, "create CQ: cqe: ");
	return (struct ibv_cq *)iv_cq_new(ctx, &x, cq_context, channel, NULL);
}

static bool single_threaded(const struct ibv_cq_init_attr_ex *a)
{
	if (a->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
	    a->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED)
		return true;
	return a->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD && pd_single_threaded(a->parent_domain);
}

struct ibv_cq_ex *iv_create_cq_ex(struct ibv_context *ctx, struct ibv_cq_init_attr_ex *a)
{
	const uint64_t fields = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
				IBV_WC_EX_WITH_CVLAN;
	const uint64_t defined = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK * 2ull - 1;
	const uint32_t masks = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
	const uint32_t known = IBV_CREATE_CQ_ATTR_SINGLE_THREADED |
			       IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
	uint32_t flags = a->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? a->flags : 0;
	struct xv_cq_init_attr x = { .cqe = a->cqe, .comp_vector = a->comp_vector };
	struct cq *cq;

	/* In the order of libibverbs and libmlx5 */
	if (a->wc_flags & ~defined)
		return iv_refuse(EOPNOTSUPP, "create CQ: wc_flags: ");
	if (!a->cqe || a->comp_mask & ~masks || flags & ~known)
		return iv_refuse(EINVAL, "create CQ: cqe, comp_mask or flags: ");
	if (a->wc_flags & ~fields)
		return iv_refuse(EOPNOTSUPP, "create CQ: wc_flags: ");
	if (a->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD &&
	    (!a->parent_domain || !TO(pd, a->parent_domain)->base))
		return iv_refuse(EINVAL, "create CQ: parent_domain: ");
	if (single_threaded(a))
		x.flags |= XV_CQ_SINGLE_THREADED;
	if (flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN)
		x.flags |= XV_CQ_IGNORE_OVERRUN;
	cq = iv_cq_new(ctx, &x, a->cq_context, a->channel,
		       a->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD ? a->parent_domain : NULL);
	if (!cq)
		return NULL;
	iv_poll_ex_init(cq);
	return &cq->pub;
}

EXPORT int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	int err;

	if (cqe <= 0)
		return iv_fail(EINVAL);
	err = xv_resize_cq(TO(cq, cq)->xv, (uint32_t)cqe);
	cq->cqe = (int)TO(cq, cq)->xv->cqe;
	return iv_result(err);
}

int iv_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *a)
{
	struct xv_modify_cq_attr x = {
		.attr_mask = XV_CQ_ATTR_MODERATE,
		.cq_count = a->moderate.cq_count,
		.cq_period = a->moderate.cq_period,
	};

	if (a->attr_mask != IBV_CQ_ATTR_MODERATE)
		return iv_fail(EINVAL);
	return iv_result(xv_modify_cq(TO(cq, cq)->xv, &x));
}

EXPORT int ibv_destroy_cq(struct ibv_cq *pub)
{
	struct cq *cq = TO(cq, pub);
	int err = xv_destroy_cq(cq->xv);

	if (err)
		return iv_result(err);
	if (pub->channel)
		__atomic_fetch_sub(&pub->channel->refcnt, 1, __ATOMIC_RELAXED);
	iv_memory_put(&cq->memory);
	free(cq);
	return 0;
}
