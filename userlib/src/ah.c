// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Address handles.  The kernel has no object for them: the library keeps the
 * resolved address vector.
 */
#include "internal.h"

void xv_ah_attr_to_kernel(struct xverbs_ah_attr *k, const struct xv_ah_attr *a)
{
	memset(k, 0, sizeof(*k));
	memcpy(k->dgid, a->grh.dgid.raw, sizeof(k->dgid));
	k->flow_label = a->grh.flow_label;
	k->dlid = a->dlid;
	k->sgid_index = a->grh.sgid_index;
	k->hop_limit = a->grh.hop_limit;
	k->traffic_class = a->grh.traffic_class;
	k->sl = a->sl;
	k->src_path_bits = a->src_path_bits;
	k->static_rate = a->static_rate;
	k->is_global = a->is_global;
	k->port_num = a->port_num;
}

void xv_ah_attr_from_kernel(struct xv_ah_attr *a, const struct xverbs_ah_attr *k)
{
	memset(a, 0, sizeof(*a));
	memcpy(a->grh.dgid.raw, k->dgid, sizeof(k->dgid));
	a->grh.flow_label = k->flow_label;
	a->dlid = k->dlid;
	a->grh.sgid_index = k->sgid_index;
	a->grh.hop_limit = k->hop_limit;
	a->grh.traffic_class = k->traffic_class;
	a->sl = k->sl;
	a->src_path_bits = k->src_path_bits;
	a->static_rate = k->static_rate;
	a->is_global = k->is_global;
	a->port_num = k->port_num;
}

XV_EXPORT struct xv_ah *xv_create_ah_sz(struct xv_pd *pd, const struct xv_ah_attr *attr,
					size_t size)
{
	struct xverbs_ah_attr k;
	struct xverbs_ah_resolve req = { .pd = pd->handle, .attr = XV_PART_OF(&k) };
	struct context *ctx = to_ctx(pd->context);
	struct xv_ah_attr a;
	struct xv_ah *ah;
	int err;

	_Static_assert(sizeof(ah->av) == sizeof(req.out_av), "address vector of 48 bytes");
	err = xv_attr_in(&a, sizeof(a), attr, size, "create AH");
	if (!err) {
		xv_ah_attr_to_kernel(&k, &a);
		err = xv_ioctl(pd->context, XVERBS_AH_RESOLVE, "create AH", &req, sizeof(req));
	}
	if (err) {
		errno = -err;
		return NULL;
	}
	ah = xv_object_alloc(ctx, sizeof(*ah), NULL, "create AH");
	if (!ah)
		return NULL;
	memcpy(&ah->av, req.out_av, sizeof(ah->av));
	ah->context = pd->context;
	ah->pd = pd;
	__atomic_fetch_add(&to_pd(pd)->ahs, 1, __ATOMIC_RELAXED);
	xv_object_add(ah, 0);
	return ah;
}

XV_EXPORT int xv_destroy_ah(struct xv_ah *ah)
{
	__atomic_fetch_sub(&to_pd(ah->pd)->ahs, 1, __ATOMIC_RELAXED);
	xv_object_free(ah);
	return 0;
}

/*
 * The header before the data of a UD message: 40 bytes.  For RoCE v2 over IPv4 the
 * last 20 bytes are the IPv4 header.
 */
struct origin {
	union xv_gid from;
	union xv_gid to;
	uint32_t flow_label;
	uint8_t traffic_class;
	uint8_t hop_limit;
	enum xv_gid_type type;
};

static void v4_mapped(union xv_gid *gid, const uint8_t *addr)
{
	memset(gid, 0, sizeof(*gid));
	memset(gid->raw + 10, 0xff, 2);
	memcpy(gid->raw + 12, addr, 4);
}

static void parse_header(struct origin *o, const struct xv_grh *grh, bool ethernet)
{
	const uint8_t *bytes = (const uint8_t *)grh, *ip = bytes + 20;
	uint32_t first = xv_be32(grh->version_tclass_flow);

	memset(o, 0, sizeof(*o));
	if (ethernet && first >> 28 != 6 && ip[0] >> 4 == 4) {
		v4_mapped(&o->from, ip + 12);
		v4_mapped(&o->to, ip + 16);
		o->traffic_class = ip[1];
		o->hop_limit = ip[8];
		o->type = XV_GID_TYPE_ROCE_V2;
		return;
	}
	o->from = grh->sgid;
	o->to = grh->dgid;
	o->flow_label = first & 0xfffff;
	o->traffic_class = (uint8_t)(first >> 20);
	o->hop_limit = grh->hop_limit;
	o->type = !ethernet ? XV_GID_TYPE_IB :
		  grh->next_hdr == 17 ? XV_GID_TYPE_ROCE_V2 : XV_GID_TYPE_ROCE_V1;
}

/* Index of the destination GID; for a multicast GID, of the first GID of its type */
static int own_gid_index(struct xv_context *ctx, uint32_t port, const struct xv_port_attr *attr,
			 const struct origin *o)
{
	struct error_state before;
	struct xv_gid_entry e;
	int kind = -1, found = -1;
	uint32_t i;

	xv_error_save(&before);
	for (i = 0; i < attr->gid_tbl_len && found < 0; i++) {
		if (xv_query_gid_entry(ctx, port, i, &e) || e.gid_type != o->type)
			continue;
		if (!memcmp(&e.gid, &o->to, sizeof(e.gid)))
			found = (int)i;
		if (kind < 0)
			kind = (int)i;
	}
	if (kind < 0)
		return xv_set_error(ENOENT, "AH from completion: the port has no GID of this type");
	xv_error_restore(&before);
	return found < 0 ? kind : found;
}

static int ah_attr_of(struct xv_context *ctx, uint32_t port, const struct xv_wc *wc,
		      const struct xv_grh *grh, struct xv_ah_attr *attr)
{
	struct xv_port_attr pattr;
	struct origin o;
	bool ethernet;
	int err = xv_query_port(ctx, port, &pattr);

	if (err)
		return err;
	ethernet = pattr.link_layer == XV_LINK_LAYER_ETHERNET;
	memset(attr, 0, sizeof(*attr));
	attr->dlid = wc->slid;
	/* On Ethernet the field of the CQE has the type of the header instead. */
	if (!ethernet)
		attr->sl = wc->sl;
	attr->src_path_bits = wc->dlid_path_bits;
	attr->port_num = (uint8_t)port;
	if (!(wc->wc_flags & XV_WC_GRH))
		return 0;
	parse_header(&o, grh, ethernet);
	err = own_gid_index(ctx, port, &pattr, &o);
	if (err < 0)
		return err;
	attr->is_global = 1;
	attr->grh.dgid = o.from;
	attr->grh.sgid_index = (uint8_t)err;
	attr->grh.flow_label = o.flow_label;
	attr->grh.traffic_class = o.traffic_class;
	attr->grh.hop_limit = o.hop_limit;
	return 0;
}

XV_EXPORT int xv_init_ah_from_wc_sz(struct xv_context *ctx, uint32_t port, const struct xv_wc *wc,
				    const struct xv_grh *grh, struct xv_ah_attr *attr, size_t size)
{
	struct xv_ah_attr a;
	int err = ah_attr_of(ctx, port, wc, grh, &a);

	if (!err)
		xv_attr_out(attr, size, &a, sizeof(a));
	return err;
}

XV_EXPORT struct xv_ah *xv_create_ah_from_wc(struct xv_pd *pd, const struct xv_wc *wc,
					     const struct xv_grh *grh, uint32_t port)
{
	struct xv_ah_attr attr;
	int err = ah_attr_of(pd->context, port, wc, grh, &attr);

	if (err) {
		errno = -err;
		return NULL;
	}
	return xv_create_ah(pd, &attr);
}
