// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Attributes of a port and of its GIDs.
 */
#include "exp.h"

_Static_assert(offsetof(struct ibv_exp_port_attr, link_layer) ==
	       offsetof(struct ibv_port_attr, link_layer), "port_attr");

/* All members are filled in, also those that the caller did not ask for. */
EXPORT int ibv_exp_query_port(struct ibv_context *ctx, uint8_t port,
			      struct ibv_exp_port_attr *attr)
{
	const uint32_t defined = IBV_EXP_QUERY_PORT_ATTR_MASKS;
	int err = exp_check_mask("query port: comp_mask: ", attr->comp_mask, defined, defined);

	if (!err && attr->comp_mask & IBV_EXP_QUERY_PORT_ATTR_MASK1)
		err = exp_check_mask("query port: mask1: ", attr->mask1, IBV_EXP_QUERY_PORT_MASK,
				     IBV_EXP_QUERY_PORT_MASK);
	if (!xv_bridge_get_ctx(ctx))
		return iv_error(-EINVAL);
	return err ? err : ___ibv_query_port(ctx, port, &attr->port_attr);
}

EXPORT int ibv_exp_query_gid_attr(struct ibv_context *ctx, uint8_t port, unsigned int index,
				  struct ibv_exp_gid_attr *attr)
{
	const uint32_t defined = IBV_EXP_QUERY_GID_ATTR_RESERVED - 1;
	int err = exp_check_mask("query GID: comp_mask: ", attr->comp_mask, defined, defined);
	struct xv_context *xv = xv_bridge_get_ctx(ctx);
	struct xv_gid_entry x;

	if (!xv)
		return iv_error(-EINVAL);
	if (!err)
		err = iv_result(xv_query_gid_entry(xv, port, index, &x));
	if (err)
		return err;
	if (attr->comp_mask & IBV_EXP_QUERY_GID_ATTR_TYPE)
		attr->type = x.gid_type == XV_GID_TYPE_ROCE_V2 ? IBV_EXP_ROCE_V2_GID_TYPE :
								 IBV_EXP_IB_ROCE_V1_GID_TYPE;
	if (attr->comp_mask & IBV_EXP_QUERY_GID_ATTR_GID)
		memcpy(&attr->gid, &x.gid, sizeof(attr->gid));
	return 0;
}
