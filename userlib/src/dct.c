// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * DC targets.
 */
#include "internal.h"

static void dct_release(void *object)
{
	struct dct *dct = object;

	if (dct->pub.rsc.user_index != XV_RSC_NO_INDEX)
		xv_rsc_set(to_ctx(dct->pub.context), dct->pub.rsc.user_index, NULL);
	xv_events_destroy(&dct->events);
}

static struct xverbs_dct_attr attr_to_kernel(const struct xv_dct_init_attr *a)
{
	return (struct xverbs_dct_attr) {
		.dc_key = a->dc_key,
		.access = a->access_flags,
		.flow_label = a->flow_label,
		.mtu = a->mtu,
		.inline_size = a->inline_size,
		.pkey_index = a->pkey_index,
		.port = a->port,
		.gid_index = a->gid_index,
		.hop_limit = a->hop_limit,
		.tclass = a->tclass,
		.min_rnr_timer = a->min_rnr_timer,
		.sl = a->sl,
		.ece = a->ece,
	};
}

static int dct_create(struct dct *dct, const struct xv_dct_init_attr *a)
{
	struct xverbs_dct_attr attr = attr_to_kernel(a);
	struct xverbs_dct_create req = {
		.pd = a->pd ? a->pd->handle : 0,
		.cq = a->cq ? a->cq->handle : 0,
		.srq = a->srq ? a->srq->handle : 0,
		.user_index = dct->pub.rsc.user_index,
		.user_data = (uintptr_t)dct,
		.attr = XV_PART_OF(&attr),
	};
	int err = XV_CHECK_USED(to_ctx(dct->pub.context), "create DCT", a->pd, a->cq, a->srq);

	if (!err)
		err = xv_ioctl(dct->pub.context, XVERBS_DCT_CREATE, "create DCT", &req,
			       sizeof(req));
	if (err)
		return err;
	dct->pub.handle = req.out_handle;
	dct->pub.dct_num = req.out_dctn;
	return 0;
}

static struct dct *dct_new(struct xv_context *ctx, const struct xv_dct_init_attr *a)
{
	struct dct *dct = xv_object_alloc(to_ctx(ctx), sizeof(*dct), dct_release, "create DCT");

	if (!dct)
		return NULL;
	dct->pub.context = ctx;
	dct->pub.rsc.type = XV_RSC_DCT;
	dct->pub.rsc.user_index = XV_RSC_NO_INDEX;
	dct->pub.pd = a->pd;
	dct->pub.cq = a->cq;
	dct->pub.srq = a->srq;
	dct->pub.dct_context = a->dct_context;
	xv_events_init(&dct->events);
	return dct;
}

XV_EXPORT struct xv_dct *xv_create_dct_sz(struct xv_context *ctx,
					  const struct xv_dct_init_attr *attr, size_t size)
{
	struct xv_dct_init_attr a;
	struct dct *dct;
	int err = xv_attr_in(&a, sizeof(a), attr, size, "create DCT");

	if (!err && a.create_flags)
		err = xv_set_error(EOPNOTSUPP, "create DCT: create_flags: unknown bit in 0x%x",
				   a.create_flags);
	if (err) {
		errno = -err;
		return NULL;
	}
	dct = dct_new(ctx, &a);
	if (!dct)
		return NULL;
	err = xv_rsc_add(to_ctx(ctx), &dct->pub.rsc, "create DCT");
	if (!err)
		err = dct_create(dct, &a);
	if (err) {
		xv_object_free(dct);
		errno = -err;
		return NULL;
	}
	xv_object_add(dct, dct->pub.handle);
	return &dct->pub;
}

XV_EXPORT int xv_query_dct_sz(struct xv_dct *dct, struct xv_dct_attr *attr, size_t size)
{
	struct xverbs_dct_attr k = { 0 };
	struct xverbs_dct_query req = { .dct = dct->handle, .out_attr = XV_PART_OF(&k) };
	struct xv_dct_attr a;
	int err = xv_ioctl(dct->context, XVERBS_DCT_QUERY, "query DCT", &req, sizeof(req));

	if (err)
		return err;
	a = (struct xv_dct_attr) {
		.dc_key = k.dc_key,
		.state = (enum xv_dct_state)req.out_state,
		.arm_state = (enum xv_dct_arm_state)req.out_arm_state,
		.key_violations = req.out_key_violations,
		.access_flags = k.access,
		.flow_label = k.flow_label,
		.mtu = (enum xv_mtu)k.mtu,
		.inline_size = k.inline_size,
		.pd = dct->pd,
		.cq = dct->cq,
		.srq = dct->srq,
		.pkey_index = k.pkey_index,
		.port = k.port,
		.gid_index = k.gid_index,
		.hop_limit = k.hop_limit,
		.tclass = k.tclass,
		.min_rnr_timer = k.min_rnr_timer,
		.sl = k.sl,
		.ece = k.ece,
	};
	xv_attr_out(attr, size, &a, sizeof(a));
	return 0;
}

XV_EXPORT int xv_arm_dct(struct xv_dct *dct)
{
	struct xverbs_dct_arm req = { .dct = dct->handle };

	return xv_ioctl(dct->context, XVERBS_DCT_ARM, "arm DCT", &req, sizeof(req));
}

XV_EXPORT int xv_destroy_dct(struct xv_dct *pub)
{
	struct dct *dct = to_dct(pub);
	struct xverbs_destroy reply;
	int err = xv_object_destroy_kernel(dct, "destroy DCT", &reply);

	if (err)
		return err;
	xv_cq_clean(pub->cq, &pub->rsc, pub->srq);
	xv_events_wait(&dct->events, &reply);
	xv_object_free(dct);
	return 0;
}
