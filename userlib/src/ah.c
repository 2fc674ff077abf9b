// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Addresses of peers.  An address handle is no object of the kernel: it is
 * the resolved address vector, kept in the library.
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
	struct xverbs_ah_resolve req = { .pd = pd->handle };
	struct xv_ah_attr a;
	struct xv_ah *ah;
	int err;

	_Static_assert(sizeof(ah->av) == sizeof(req.out_av), "address vector of 48 bytes");
	err = xv_attr_in(&a, sizeof(a), attr, size, "create AH");
	if (!err) {
		xv_ah_attr_to_kernel(&req.attr, &a);
		err = xv_ioctl(pd->context->fd, XVERBS_AH_RESOLVE, "create AH", &req, sizeof(req));
	}
	if (err) {
		errno = -err;
		return NULL;
	}
	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return xv_fail_null(ENOMEM, "create AH: out of memory");
	memcpy(&ah->av, req.out_av, sizeof(ah->av));
	return ah;
}

XV_EXPORT int xv_destroy_ah(struct xv_ah *ah)
{
	free(ah);
	return 0;
}
