// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Address handles and multicast groups.
 */
#include "ibv.h"

static struct ibv_ah *ah_new(struct ibv_pd *pd, struct xv_ah *xv)
{
	struct ah *ah;

	if (!xv)
		return iv_null();
	ah = calloc(1, sizeof(*ah));
	if (!ah) {
		xv_destroy_ah(xv);
		return NULL;
	}
	ah->xv = xv;
	ah->pub.context = pd->context;
	ah->pub.pd = pd;
	return &ah->pub;
}

EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct xv_ah_attr x = *(const struct xv_ah_attr *)attr;

	iv_ah_attr(&x);
	return ah_new(pd, xv_create_ah(TO(pd, pd)->xv, &x));
}

EXPORT int ibv_init_ah_from_wc(struct ibv_context *ctx, uint8_t port, struct ibv_wc *wc,
			       struct ibv_grh *grh, struct ibv_ah_attr *attr)
{
	int err = xv_init_ah_from_wc(xv_of(ctx), port, (const struct xv_wc *)wc,
				     (const struct xv_grh *)grh, (struct xv_ah_attr *)attr);

	return err ? iv_result(err), -1 : 0;
}

EXPORT struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc,
					    struct ibv_grh *grh, uint8_t port)
{
	return ah_new(pd, xv_create_ah_from_wc(TO(pd, pd)->xv, (const struct xv_wc *)wc,
					       (const struct xv_grh *)grh, port));
}

EXPORT int ibv_destroy_ah(struct ibv_ah *pub)
{
	struct ah *ah = TO(ah, pub);
	int err = xv_destroy_ah(ah->xv);

	if (!err)
		free(ah);
	return iv_result(err);
}

/* For providers only; the kernel resolves the addresses of xverbs. */
EXPORT int ibv_resolve_eth_l2_from_gid(struct ibv_context *ctx, struct ibv_ah_attr *attr,
				       uint8_t mac[ETHERNET_LL_SIZE], uint16_t *vid)
{
	(void)ctx;
	(void)attr;
	(void)mac;
	(void)vid;
	return -EOPNOTSUPP;
}

EXPORT int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	return iv_result(xv_attach_mcast(TO(qp, qp)->xv, (const union xv_gid *)gid, lid));
}

EXPORT int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	return iv_result(xv_detach_mcast(TO(qp, qp)->xv, (const union xv_gid *)gid, lid));
}
