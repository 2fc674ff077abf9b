// SPDX-License-Identifier: GPL-2.0
/*
 * The local fabric: finds the port at the other end of a path.
 *
 * Ports of the functions of one host find each other by LID, or by GID, MAC, RoCE version and
 * VLAN.  The result is cached until an address of any function changes: for connected queue pairs
 * in the queue pair, for address vectors of requests in a small table.
 */
#include <linux/string.h>
#include <asm/byteorder.h>
#include "datapath.h"

void hca_fabric_changed(struct hca_fabric *f)
{
	f->epoch++;
}

/* Do @from and @to have the same RoCE version and VLAN? */
static bool hca_fabric_same_network(const struct hca_gid *from, const struct hca_gid *to)
{
	return from->version == to->version && from->vlan_valid == to->vlan_valid &&
	       (!from->vlan_valid || from->vlan_id == to->vlan_id);
}

static bool hca_fabric_has_gid(const struct hca *hca, const u8 *gid, const u8 *mac,
			       const struct hca_gid *from)
{
	int i;

	for (i = 0; i < HCA_GIDS; i++) {
		const struct hca_gid *g = &hca->gids[i];

		if (g->valid && !memcmp(g->gid, gid, sizeof(g->gid)) &&
		    !memcmp(g->mac, mac, sizeof(g->mac)) &&
		    (!from->valid || hca_fabric_same_network(from, g)))
			return true;
	}
	return false;
}

struct hca_port *hca_fabric_by_gid(struct hca_fabric *f, const u8 *gid, const u8 *mac,
				   const struct hca_gid *from)
{
	struct hca *hca;

	list_for_each_entry(hca, &f->functions, entry)
		if (hca->p.roce && hca->port[0].up && hca_fabric_has_gid(hca, gid, mac, from))
			return &hca->port[0];
	return NULL;
}

struct hca_port *hca_fabric_by_lid(struct hca_fabric *f, u16 lid)
{
	struct hca_port *port;
	struct hca *hca;

	list_for_each_entry(hca, &f->functions, entry)
		for (port = hca->port; port < hca->port + hca->p.num_ports; port++)
			if (!hca->p.roce && port->up && port->lid == lid)
				return port;
	return NULL;
}

struct hca_port *hca_fabric_find(struct hca *hca, const struct hca_path *path)
{
	if (!hca->p.roce)
		return hca_fabric_by_lid(hca->fabric, path->rlid);
	return hca_fabric_by_gid(hca->fabric, path->rgid, path->rmac,
				 &hca->gids[path->sgid_index % HCA_GIDS]);
}

const struct hca_gid *hca_fabric_source(const struct hca *hca, const struct mlx5r_av *av)
{
	u32 index = be32_to_cpu(av->grh_gid_fl) >> 20 & 0xff;

	return index < HCA_GIDS && hca->gids[index].valid ? &hca->gids[index] : NULL;
}

/* Finds the table entry of a route.  Returns false if the entry has another route or is stale. */
static bool hca_fabric_cached(struct hca_fabric *f, const struct hca_route *r,
			      struct hca_route **entry)
{
	u64 hash = (r->to[0] ^ r->to[1] ^ r->to[2] ^ (unsigned long)r->from) * 0x9e3779b97f4a7c15;
	struct hca_route *e = *entry = &f->routes[hash >> (64 - HCA_LOG_ROUTES)];

	return e->epoch == f->epoch && e->from == r->from && e->to[0] == r->to[0] &&
	       e->to[1] == r->to[1] && e->to[2] == r->to[2];
}

struct hca_port *hca_fabric_by_av(struct hca *hca, const struct mlx5r_av *av)
{
	const struct hca_gid *gid = hca->p.roce ? hca_fabric_source(hca, av) : NULL;
	struct hca_fabric *f = hca->fabric;
	struct hca_route route = { .from = hca, .epoch = f->epoch }, *entry;
	u16 lid = be16_to_cpu(av->rlid);

	if (hca->p.roce) {
		if (!gid)
			return NULL;
		route.from = gid;
		memcpy(route.to, av->rgid, sizeof(av->rgid));
		memcpy(&route.to[2], av->rmac, sizeof(av->rmac));
	} else {
		route.to[0] = lid;
	}
	if (!hca_fabric_cached(f, &route, &entry)) {
		route.port = gid ? hca_fabric_by_gid(f, av->rgid, av->rmac, gid) :
				   hca_fabric_by_lid(f, lid);
		*entry = route;
	}
	return entry->port;
}

void hca_fabric_find_remote(struct hca_qp *qp)
{
	qp->remote = hca_fabric_find(qp->hca, &qp->path);
	qp->peer_epoch = qp->hca->fabric->epoch;
}
