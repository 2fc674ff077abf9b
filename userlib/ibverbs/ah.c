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

int iv_address_error(struct ibv_context *ctx, const struct ibv_ah_attr *attr)
{
	struct xv_port_attr port;
	union xv_gid gid;

	if (xv_query_port(xv_of(ctx), attr->port_num, &port) ||
	    attr->grh.sgid_index >= port.gid_tbl_len)
		return EINVAL;
	return xv_query_gid(xv_of(ctx), attr->port_num, attr->grh.sgid_index, &gid) ? ENODATA : 0;
}

/* As in libmlx5, a rate that is not defined is no limit. */
EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct xv_ah_attr x = *(const struct xv_ah_attr *)attr;
	struct ibv_ah *ah;

	iv_ah_attr(&x);
	if (xv_rate_to_mbps((enum xv_rate)x.static_rate) < 0)
		x.static_rate = IBV_RATE_MAX;
	ah = ah_new(pd, xv_create_ah(TO(pd, pd)->xv, &x));
	if (!ah && errno == ENOENT)
		errno = iv_address_error(pd->context, attr) ?: ENODATA;
	return ah;
}

enum { UDP = 17, IB = 0x1b };	/* protocols */

static bool is_ipv4(const struct ibv_grh *grh)
{
	return ((const uint8_t *)grh)[20] >> 4 == 4;
}

/* Has the local GID the type of the packet? */
static bool same_type(struct ibv_context *ctx, uint8_t port, const struct ibv_grh *grh,
		      const struct ibv_ah_attr *attr)
{
	struct xv_gid_entry gid;
	bool v2 = is_ipv4(grh) || grh->next_hdr == UDP;

	return !xv_query_gid_entry(xv_of(ctx), port, attr->grh.sgid_index, &gid) &&
	       v2 == (gid.gid_type == XV_GID_TYPE_ROCE_V2);
}

/* IPv6 with UDP (RoCE v2) or IB (RoCE v1 and InfiniBand), or IPv4 */
static bool known_protocol(const struct ibv_grh *grh)
{
	if (be32toh(grh->version_tclass_flow) >> 28 != 6 || is_ipv4(grh))
		return is_ipv4(grh);
	return grh->next_hdr == UDP || grh->next_hdr == IB;
}

EXPORT int ibv_init_ah_from_wc(struct ibv_context *ctx, uint8_t port, struct ibv_wc *wc,
			       struct ibv_grh *grh, struct ibv_ah_attr *attr)
{
	int err = wc->wc_flags & IBV_WC_GRH && !known_protocol(grh) ? -EPROTONOSUPPORT :
		  xv_init_ah_from_wc(xv_of(ctx), port, (const struct xv_wc *)wc,
				     (const struct xv_grh *)grh, (struct xv_ah_attr *)attr);

	if (!err && wc->wc_flags & IBV_WC_GRH && !same_type(ctx, port, grh, attr))
		err = -EINVAL;
	if (err)
		return iv_result(err), -1;
	attr->sl = wc->sl;
	attr->grh.flow_label = be32toh(grh->version_tclass_flow) & 0xfffff;
	return 0;
}

EXPORT struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc,
					    struct ibv_grh *grh, uint8_t port)
{
	struct ibv_ah_attr attr;

	return ibv_init_ah_from_wc(pd->context, port, wc, grh, &attr) ? NULL :
	       ibv_create_ah(pd, &attr);
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

static bool is_ethernet(struct xv_context *ctx, uint32_t port)
{
	struct xv_port_attr attr;

	return !xv_query_port(ctx, port, &attr) && attr.link_layer == XV_LINK_LAYER_ETHERNET;
}

/*
 * InfiniBand has LIDs of groups.  On RoCE, a LID is only a part of the name of a membership.  A
 * queue pair has a port from INIT on; before, any port of the device can become its port.
 */
static bool has_lids(const struct qp *qp)
{
	struct xv_context *ctx = xv_of(qp->pub.qp_base.context);
	struct xv_device_attr device;
	struct xv_qp_attr attr;
	uint32_t port;

	if (!xv_query_qp(qp->xv, &attr, 0, NULL) && attr.qp_state >= XV_QPS_INIT)
		return !is_ethernet(ctx, attr.port_num);
	if (xv_query_device(ctx, &device))
		return true;
	for (port = 1; port <= device.phys_port_cnt; port++)
		if (is_ethernet(ctx, port))
			return false;
	return true;
}

/* Stores the LID for libxverbs. */
static bool check_group(const struct qp *qp, uint16_t *lid)
{
	const uint16_t first = 0xc000, permissive = 0xffff;

	if (has_lids(qp))
		return *lid >= first && *lid != permissive;
	*lid = 0;
	return true;
}

/*
 * Joining a group again changes nothing, and a queue pair that is in a group stays.  The mutex of
 * the context protects the list.
 */
static struct membership **find_group(struct qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	struct membership **m = &qp->groups;

	while (*m && ((*m)->lid != lid || memcmp(&(*m)->gid, gid, sizeof(*gid))))
		m = &(*m)->next;
	return m;
}

static int join(struct qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	const uint16_t name = lid;
	struct membership *m;
	int err;

	if (*find_group(qp, gid, name))
		return 0;
	if (!check_group(qp, &lid))
		return iv_fail(EINVAL);
	m = calloc(1, sizeof(*m));
	if (!m)
		return iv_fail(ENOMEM);
	err = xv_attach_mcast(qp->xv, (const union xv_gid *)gid, lid);
	if (err) {
		free(m);
		return iv_result(err);
	}
	*m = (struct membership) { *gid, name, qp->groups };
	qp->groups = m;
	return 0;
}

/* Without a LID: libxverbs knows a membership by its GID. */
static int leave(struct qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	struct membership **p = find_group(qp, gid, lid), *m = *p;
	int err;

	if (!m)
		return iv_fail(EINVAL);
	err = xv_detach_mcast(qp->xv, (const union xv_gid *)gid, 0);
	if (err)
		return iv_result(err);
	*p = m->next;
	free(m);
	return 0;
}

EXPORT int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	int err;

	pthread_mutex_lock(&qp->context->mutex);
	err = join(TO(qp, qp), gid, lid);
	pthread_mutex_unlock(&qp->context->mutex);
	return err;
}

EXPORT int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	int err;

	pthread_mutex_lock(&qp->context->mutex);
	err = leave(TO(qp, qp), gid, lid);
	pthread_mutex_unlock(&qp->context->mutex);
	return err;
}
