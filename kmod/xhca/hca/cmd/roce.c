// SPDX-License-Identifier: GPL-2.0
/*
 * RoCE addresses: the GID table of an Ethernet port, which the driver sets.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include "cmd/cmd.h"

enum { ROCE_V1 = 0, ROCE_V2 = 2 };		/* roce_version */

static bool hca_roce_kind_ok(const struct hca_gid *g)
{
	switch (g->version) {
	case ROCE_V1:
		return true;
	case ROCE_V2:
		return g->l3_type == MLX5_ROCE_L3_TYPE_IPV4 || g->l3_type == MLX5_ROCE_L3_TYPE_IPV6;
	default:
		return false;
	}
}

/* A zero address deletes the entry. */
enum hca_synd hca_cmd_set_roce_address(struct hca *hca, const struct hca_cmd *c)
{
	static const u8 none[16];
	u32 index = MLX5_GET(set_roce_address_in, c->in, roce_address_index);
	const void *addr = MLX5_ADDR_OF(set_roce_address_in, c->in, roce_address);
	struct hca_gid g = {};

	if (!hca->p.roce)
		return HCA_SYND_NOT_ROCE;
	if (MLX5_GET(set_roce_address_in, c->in, vhca_port_num) > 1)
		return HCA_SYND_FUNCTION;
	if (index >= HCA_GIDS)
		return HCA_SYND_ROCE_INDEX;
	memcpy(g.gid, MLX5_ADDR_OF(roce_addr_layout, addr, source_l3_address), sizeof(g.gid));
	g.valid = memcmp(g.gid, none, sizeof(none));
	if (g.valid) {
		memcpy(g.mac, MLX5_ADDR_OF(roce_addr_layout, addr, source_mac_47_32),
		       sizeof(g.mac));
		g.version = MLX5_GET(roce_addr_layout, addr, roce_version);
		g.l3_type = MLX5_GET(roce_addr_layout, addr, roce_l3_type);
		g.vlan_valid = MLX5_GET(roce_addr_layout, addr, vlan_valid);
		g.vlan_id = MLX5_GET(roce_addr_layout, addr, vlan_id);
		if (!hca_roce_kind_ok(&g) || g.mac[0] & 1)
			return HCA_SYND_ROCE_ADDRESS;
	}
	hca->gids[index] = g;
	if (g.valid)
		hca->gids_end = max(hca->gids_end, index + 1);
	while (hca->gids_end && !hca->gids[hca->gids_end - 1].valid)
		hca->gids_end--;
	hca_route_changed(hca->fabric);
	return HCA_OK;
}

enum hca_synd hca_cmd_query_roce_address(struct hca *hca, const struct hca_cmd *c)
{
	u32 index = MLX5_GET(query_roce_address_in, c->in, roce_address_index);
	void *addr = MLX5_ADDR_OF(query_roce_address_out, c->out, roce_address);
	const struct hca_gid *g;

	if (!hca->p.roce)
		return HCA_SYND_NOT_ROCE;
	if (index >= HCA_GIDS)
		return HCA_SYND_ROCE_INDEX;
	g = &hca->gids[index];
	memcpy(MLX5_ADDR_OF(roce_addr_layout, addr, source_l3_address), g->gid, sizeof(g->gid));
	memcpy(MLX5_ADDR_OF(roce_addr_layout, addr, source_mac_47_32), g->mac, sizeof(g->mac));
	MLX5_SET(roce_addr_layout, addr, roce_version, g->version);
	MLX5_SET(roce_addr_layout, addr, roce_l3_type, g->l3_type);
	MLX5_SET(roce_addr_layout, addr, vlan_valid, g->vlan_valid);
	MLX5_SET(roce_addr_layout, addr, vlan_id, g->vlan_id);
	return HCA_OK;
}
