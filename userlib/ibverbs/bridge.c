// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The objects of libxverbs that are behind objects of this library.
 */
#include "ibv.h"

#define GET(object)	(iv_is_ours((object)->context) ? TO(object, object)->xv : \
						   iv_refuse(EINVAL, "bridge: " #object ": "))

EXPORT struct xv_context *xv_bridge_get_ctx(struct ibv_context *ctx)
{
	return iv_is_ours(ctx) ? xv_of(ctx) : iv_refuse(EINVAL, "bridge: context: ");
}

EXPORT struct xv_pd *xv_bridge_get_pd(struct ibv_pd *pd)
{
	return GET(pd);
}

EXPORT struct xv_cq *xv_bridge_get_cq(struct ibv_cq *cq)
{
	return GET(cq);
}

EXPORT struct xv_qp *xv_bridge_get_qp(struct ibv_qp *qp)
{
	return GET(qp);
}

EXPORT struct xv_srq *xv_bridge_get_srq(struct ibv_srq *srq)
{
	return GET(srq);
}

EXPORT struct xv_ah *xv_bridge_get_ah(struct ibv_ah *ah)
{
	return GET(ah);
}

EXPORT struct xv_mr *xv_bridge_get_mr(struct ibv_mr *mr)
{
	struct xv_mr *xv = GET(mr);

	return !xv && iv_is_ours(mr->context) ? iv_refuse(EINVAL, "bridge: an indirect key: ") : xv;
}

EXPORT struct xv_mw *xv_bridge_get_mw(struct ibv_mw *mw)
{
	return iv_is_ours(mw->context) ? iv_mw(mw) : iv_refuse(EINVAL, "bridge: mw: ");
}
