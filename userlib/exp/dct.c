// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * DC targets.
 */
#include "exp.h"

/* libxverbs-ibverbs returns a DCT in events, of which it knows the head. */
_Static_assert(offsetof(struct ibv_exp_dct, context) == offsetof(struct dct_head, context) &&
	       offsetof(struct ibv_exp_dct, priv) == offsetof(struct dct_head, xv), "dct");
_Static_assert((int)IBV_EXP_DCT_STATE_ACTIVE == (int)XV_DCT_STATE_ACTIVE &&
	       (int)IBV_EXP_DCT_STATE_DRAINED == (int)XV_DCT_STATE_DRAINED, "state");
_Static_assert((int)IBV_EXP_EVENT_DCT_KEY_VIOLATION == (int)XV_EVENT_DCT_KEY_VIOLATION &&
	       (int)IBV_EXP_EVENT_DCT_REQ_ERR == (int)XV_EVENT_DCT_REQ_ERR, "event");

/* False: an object is of another provider.  libxverbs refuses those that are missing. */
static bool give_objects(struct xv_dct_init_attr *x, const struct ibv_exp_dct_init_attr *a)
{
	x->pd = a->pd ? xv_bridge_get_pd(a->pd) : NULL;
	x->cq = a->cq ? xv_bridge_get_cq(a->cq) : NULL;
	x->srq = a->srq ? xv_bridge_get_srq(a->srq) : NULL;
	return !a->pd == !x->pd && !a->cq == !x->cq && !a->srq == !x->srq;
}

static struct xv_dct_init_attr give(const struct ibv_exp_dct_init_attr *a)
{
	return (struct xv_dct_init_attr) {
		.dc_key = a->dc_key,
		.access_flags = a->access_flags,
		.flow_label = a->flow_label,
		.mtu = (enum xv_mtu)a->mtu,
		.create_flags = a->create_flags,
		.inline_size = a->inline_size,
		.pkey_index = a->pkey_index,
		.port = a->port,
		.gid_index = a->gid_index,
		.hop_limit = a->hop_limit,
		.tclass = a->tclass,
		.min_rnr_timer = a->min_rnr_timer,
	};
}

/*
 * Programs that have no GID on IB give -1.  The adapter of MLNX_OFED takes it; xverbs holds a GID
 * for each target.  An IB port always has the first one.
 */
static int choose_gid(struct xv_context *ctx, struct xv_dct_init_attr *x)
{
	struct xv_port_attr port;
	int err;

	if (x->gid_index != UINT8_MAX)
		return 0;
	err = xv_query_port(ctx, x->port, &port);
	if (!err && port.link_layer == XV_LINK_LAYER_INFINIBAND)
		x->gid_index = 0;
	return err;
}

EXPORT struct ibv_exp_dct *ibv_exp_create_dct(struct ibv_context *ctx,
					      struct ibv_exp_dct_init_attr *a)
{
	struct xv_context *own = xv_bridge_get_ctx(ctx);
	struct xv_dct_init_attr x = give(a);
	struct ibv_exp_dct *dct;
	struct xv_dct *xv;

	if (!own || !give_objects(&x, a) ||
	    exp_check_mask("create DCT: comp_mask: ", a->comp_mask, 0, 0) ||
	    exp_check_mask("create DCT: create_flags: ", a->create_flags,
			   IBV_EXP_DCT_CREATE_FLAGS_MASK, 0))
		return NULL;
	if (choose_gid(own, &x))
		return iv_null();
	dct = calloc(1, sizeof(*dct));
	if (!dct)
		return NULL;
	x.dct_context = dct;
	xv = xv_create_dct(own, &x);
	if (!xv) {
		free(dct);
		return iv_null();
	}
	*dct = (struct ibv_exp_dct) {
		.context = ctx,
		.priv = xv,
		.handle = xv->handle,
		.dct_num = xv->dct_num,
		.pd = a->pd,
		.srq = a->srq,
		.cq = a->cq,
	};
	return dct;
}

EXPORT int ibv_exp_destroy_dct(struct ibv_exp_dct *dct)
{
	int err = xv_destroy_dct(dct->priv);

	if (!err)
		free(dct);
	return iv_result(err);
}

EXPORT int ibv_exp_query_dct(struct ibv_exp_dct *dct, struct ibv_exp_dct_attr *a)
{
	struct xv_dct_attr x;
	int err = exp_check_mask("query DCT: comp_mask: ", a->comp_mask, 0, 0);

	if (!err)
		err = iv_result(xv_query_dct(dct->priv, &x));
	if (err)
		return err;
	*a = (struct ibv_exp_dct_attr) {
		.dc_key = x.dc_key,
		.port = x.port,
		.access_flags = x.access_flags,
		.min_rnr_timer = x.min_rnr_timer,
		.tclass = x.tclass,
		.flow_label = x.flow_label,
		.mtu = (enum ibv_mtu)x.mtu,
		.pkey_index = (uint8_t)x.pkey_index,
		.gid_index = x.gid_index,
		.hop_limit = x.hop_limit,
		.key_violations = x.key_violations,
		.state = (uint8_t)x.state,
		.srq = dct->srq,
		.cq = dct->cq,
		.pd = dct->pd,
	};
	return 0;
}

EXPORT int ibv_exp_arm_dct(struct ibv_exp_dct *dct, struct ibv_exp_arm_attr *attr)
{
	int err = exp_check_mask("arm DCT: comp_mask: ", attr->comp_mask, 0, 0);

	return err ? err : iv_result(xv_arm_dct(dct->priv));
}
