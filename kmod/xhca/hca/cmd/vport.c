// SPDX-License-Identifier: GPL-2.0
/*
 * The function's vport: state, addresses, GIDs and P_Keys of an InfiniBand
 * port, traffic counters.  There is one vport, number 0, on each port.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <asm/byteorder.h>
#include "cmd/cmd.h"

enum { ALL_ENTRIES = 0xffff };

/* Bits of the capability mask for managers in software: CM, SNMP, device, vendor */
#define PORT_CAPS_SETTABLE	(1u << 16 | 1u << 17 | 1u << 19 | 1u << 20)

enum { VPORT_DOWN = 0, VPORT_UP = 1 };

/* All queries have vport and port at the same place.  NULL: there is no such port. */
static struct hca_port *hca_vport_port_of(struct hca *hca, const struct hca_cmd *c)
{
	if (MLX5_GET(query_hca_vport_context_in, c->in, other_vport) ||
	    MLX5_GET(query_hca_vport_context_in, c->in, vport_number))
		return NULL;
	return hca_port_get(hca, MLX5_GET(query_hca_vport_context_in, c->in, port_num));
}

enum hca_synd hca_cmd_query_vport_state(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_port *port = hca_vport_port_of(hca, c);
	enum { VNIC = 0, UPLINK = 2 };

	if (c->op_mod != VNIC && c->op_mod != UPLINK)
		return HCA_SYND_OPMOD;
	if (!port)
		return HCA_SYND_FUNCTION;
	MLX5_SET(query_vport_state_out, c->out, admin_state, VPORT_UP);
	MLX5_SET(query_vport_state_out, c->out, state, port->up ? VPORT_UP : VPORT_DOWN);
	return HCA_OK;
}

/* ---- Ethernet ------------------------------------------------------------------- */

enum hca_synd hca_cmd_query_nic_vport(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_port *port = hca_vport_port_of(hca, c);
	void *ctx = MLX5_ADDR_OF(query_nic_vport_context_out, c->out, nic_vport_context);

	if (!port)
		return HCA_SYND_FUNCTION;
	MLX5_SET(nic_vport_context, ctx, roce_en, hca->roce_en);
	MLX5_SET(nic_vport_context, ctx, mtu, hca->vport_mtu);
	MLX5_SET(nic_vport_context, ctx, qkey_violation_counter, port->qkey_violations);
	MLX5_SET64(nic_vport_context, ctx, system_image_guid, hca->p.node_guid);
	MLX5_SET64(nic_vport_context, ctx, port_guid, port->guid);
	MLX5_SET64(nic_vport_context, ctx, node_guid, hca->p.node_guid);
	MLX5_SET(nic_vport_context, ctx, allowed_list_type,
		 MLX5_GET(query_nic_vport_context_in, c->in, allowed_list_type));
	memcpy(MLX5_ADDR_OF(nic_vport_context, ctx, permanent_address.mac_addr_47_32),
	       hca->uc_mac, sizeof(hca->uc_mac));
	return HCA_OK;
}

enum hca_synd hca_cmd_modify_nic_vport(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_port *port = hca_vport_port_of(hca, c);
	const void *ctx = MLX5_ADDR_OF(modify_nic_vport_context_in, c->in, nic_vport_context);
	u32 select = be32_to_cpu(*(__be32 *)MLX5_ADDR_OF(modify_nic_vport_context_in, c->in,
							 field_select));
	const u32 roce_en = __mlx5_dw_mask(modify_nic_vport_field_select, roce_en);
	const u32 mtu = __mlx5_dw_mask(modify_nic_vport_field_select, mtu);
	const u32 mac = __mlx5_dw_mask(modify_nic_vport_field_select, permanent_address);

	if (!port)
		return HCA_SYND_FUNCTION;
	if (select & ~(roce_en | mtu | mac))
		return HCA_SYND_VPORT_FIELD;
	if (select & roce_en && !hca->p.roce)
		return HCA_SYND_NOT_ROCE;
	if (select & roce_en)
		hca->roce_en = MLX5_GET(nic_vport_context, ctx, roce_en);
	if (select & mtu)
		hca->vport_mtu = MLX5_GET(nic_vport_context, ctx, mtu);
	if (select & mac)
		memcpy(hca->uc_mac, MLX5_ADDR_OF(nic_vport_context, ctx,
						 permanent_address.mac_addr_47_32),
		       sizeof(hca->uc_mac));
	hca_route_changed(hca->fabric);
	return HCA_OK;
}

/* ---- InfiniBand ------------------------------------------------------------------ */

enum hca_synd hca_cmd_query_hca_vport(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_port *port = hca_vport_port_of(hca, c);
	void *ctx = MLX5_ADDR_OF(query_hca_vport_context_out, c->out, hca_vport_context);

	if (!port)
		return HCA_SYND_FUNCTION;
	MLX5_SET(hca_vport_context, ctx, port_physical_state,
		 port->up ? HCA_PHYS_LINK_UP : HCA_PHYS_DISABLED);
	MLX5_SET(hca_vport_context, ctx, port_state, port->up ? HCA_PORT_ACTIVE : HCA_PORT_DOWN);
	MLX5_SET(hca_vport_context, ctx, vport_state, port->up ? HCA_PORT_ACTIVE : HCA_PORT_DOWN);
	MLX5_SET64(hca_vport_context, ctx, system_image_guid, hca->p.node_guid);
	MLX5_SET64(hca_vport_context, ctx, port_guid, port->guid);
	MLX5_SET64(hca_vport_context, ctx, node_guid, hca->p.node_guid);
	MLX5_SET(hca_vport_context, ctx, lid, port->lid);
	MLX5_SET(hca_vport_context, ctx, sm_lid, HCA_SM_LID);
	MLX5_SET(hca_vport_context, ctx, has_smi, !hca->p.roce);
	MLX5_SET(hca_vport_context, ctx, subnet_timeout, 18);
	MLX5_SET(hca_vport_context, ctx, pkey_violation_counter, port->pkey_violations);
	MLX5_SET(hca_vport_context, ctx, qkey_violation_counter, port->qkey_violations);
	MLX5_SET(hca_vport_context, ctx, cap_mask1, port->caps);
	MLX5_SET(hca_vport_context, ctx, cap_mask1_field_select, PORT_CAPS_SETTABLE);
	return HCA_OK;
}

enum hca_synd hca_cmd_modify_hca_vport(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_port *port = hca_vport_port_of(hca, c);
	const void *ctx = MLX5_ADDR_OF(modify_hca_vport_context_in, c->in, hca_vport_context);
	u32 select = MLX5_GET(hca_vport_context, ctx, cap_mask1_field_select);

	if (!port)
		return HCA_SYND_FUNCTION;
	if (hca->p.roce)
		return HCA_SYND_NOT_IB;
	if (MLX5_GET(hca_vport_context, ctx, field_select) || select & ~PORT_CAPS_SETTABLE)
		return HCA_SYND_VPORT_FIELD;
	port->caps = (port->caps & ~select) |
		     (MLX5_GET(hca_vport_context, ctx, cap_mask1) & select);
	return HCA_OK;
}

/*
 * Decodes which of @count entries a table query wants, and checks that they fit: the output
 * has @head bytes, then entries of @size bytes.
 */
static enum hca_synd hca_vport_select_entries(const struct hca_cmd *c, u32 index, u32 head,
					      u32 size, u32 count, u32 *first, u32 *n)
{
	*first = index == ALL_ENTRIES ? 0 : index;
	*n = index == ALL_ENTRIES ? count : 1;
	if (*first >= count)
		return HCA_SYND_TABLE_INDEX;
	return c->outlen < head + *n * size ? HCA_SYND_OUTLEN : HCA_OK;
}

/* Entry 0 is the address of the port; the other entries are zero. */
enum hca_synd hca_cmd_query_vport_gid(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_port *port = hca_vport_port_of(hca, c);
	__be64 *gid = MLX5_ADDR_OF(query_hca_vport_gid_out, c->out, gid);
	enum hca_synd synd;
	u32 first, n;

	if (!port)
		return HCA_SYND_FUNCTION;
	if (hca->p.roce)
		return HCA_SYND_NOT_IB;
	synd = hca_vport_select_entries(c, MLX5_GET(query_hca_vport_gid_in, c->in, gid_index),
					MLX5_ST_SZ_BYTES(query_hca_vport_gid_out), 16,
					HCA_VPORT_GIDS, &first, &n);
	if (synd)
		return synd;
	MLX5_SET(query_hca_vport_gid_out, c->out, gids_num, n);
	if (!first) {
		gid[0] = cpu_to_be64(HCA_GID_PREFIX);
		gid[1] = cpu_to_be64(port->guid);
	}
	return HCA_OK;
}

enum hca_synd hca_cmd_query_vport_pkey(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_port *port = hca_vport_port_of(hca, c);
	void *pkey = MLX5_ADDR_OF(query_hca_vport_pkey_out, c->out, pkey);
	enum hca_synd synd;
	u32 first, n;

	if (!port)
		return HCA_SYND_FUNCTION;
	synd = hca_vport_select_entries(c, MLX5_GET(query_hca_vport_pkey_in, c->in, pkey_index),
					MLX5_ST_SZ_BYTES(query_hca_vport_pkey_out),
					MLX5_ST_SZ_BYTES(pkey), HCA_PKEYS, &first, &n);
	if (synd)
		return synd;
	if (!first)
		MLX5_SET(pkey, pkey, pkey, port->pkey);
	return HCA_OK;
}

/* ---- Counters ------------------------------------------------------------------- */

#define COUNTER(name, npackets, nbytes)	do {						\
	MLX5_SET64(query_vport_counter_out, c->out, name.packets, npackets);		\
	MLX5_SET64(query_vport_counter_out, c->out, name.octets, nbytes);		\
} while (0)

enum hca_synd hca_cmd_query_vport_counter(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_port *port = hca_vport_port_of(hca, c);
	struct hca_port_counters *n;

	if (!port)
		return HCA_SYND_FUNCTION;
	if (c->uid && MLX5_GET(query_vport_counter_in, c->in, clear))
		return HCA_SYND_PRIVILEGED;
	n = &port->count;
	/* The totals include multicast. */
	COUNTER(transmitted_ib_unicast, n->xmit_packets - n->mcast_xmit_packets,
		n->xmit_bytes - n->mcast_xmit_bytes);
	COUNTER(transmitted_ib_multicast, n->mcast_xmit_packets, n->mcast_xmit_bytes);
	COUNTER(received_ib_unicast, n->rcv_packets - n->mcast_rcv_packets,
		n->rcv_bytes - n->mcast_rcv_bytes);
	COUNTER(received_ib_multicast, n->mcast_rcv_packets, n->mcast_rcv_bytes);
	if (MLX5_GET(query_vport_counter_in, c->in, clear))
		memset(n, 0, sizeof(*n));
	return HCA_OK;
}

#undef PORT_CAPS_SETTABLE
#undef COUNTER
