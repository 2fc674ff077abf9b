// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Shared receive queues.  The work is done by the functions of ibverbs.
 */
#include "exp.h"

static struct ibv_srq *create_xrc(struct ibv_context *ctx, struct ibv_exp_create_srq_attr *a)
{
	const uint32_t needed = IBV_EXP_CREATE_SRQ_XRCD | IBV_EXP_CREATE_SRQ_CQ;
	struct ibv_srq_init_attr_ex ex = {
		.srq_context = a->base.srq_context,
		.attr = a->base.attr,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = a->pd,
		.xrcd = a->xrcd,
		.cq = a->cq,
	};
	struct ibv_srq *srq;

	if (exp_check_mask("create SRQ: comp_mask: ", a->comp_mask,
			   IBV_EXP_CREATE_SRQ_RESERVED - 1, needed))
		return NULL;
	if (~a->comp_mask & needed || !a->xrcd || !a->cq)
		return iv_refuse(EINVAL, "create SRQ: xrcd or cq: ");
	if (!xv_bridge_get_ctx(a->xrcd->context) || !xv_bridge_get_cq(a->cq))
		return NULL;
	srq = ibv_create_srq_ex(ctx, &ex);
	if (srq)
		a->base.attr = ex.attr;
	return srq;
}

EXPORT struct ibv_srq *ibv_exp_create_srq(struct ibv_context *ctx,
					  struct ibv_exp_create_srq_attr *a)
{
	if (!a->pd)
		return iv_refuse(EINVAL, "create SRQ: pd: ");
	if (!xv_bridge_get_ctx(ctx) || !xv_bridge_get_pd(a->pd))
		return NULL;
	switch (a->srq_type) {
	case IBV_EXP_SRQT_BASIC:
		return ibv_create_srq(a->pd, &a->base);
	case IBV_EXP_SRQT_XRC:
		return create_xrc(ctx, a);
	case IBV_EXP_SRQT_TAG_MATCHING:
		return iv_refuse(EOPNOTSUPP, "create SRQ: tag matching: ");
	default:
		return iv_refuse(EINVAL, "create SRQ: type: ");
	}
}
