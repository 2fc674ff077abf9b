// SPDX-License-Identifier: GPL-2.0
/*
 * Routes: the port at the other end of a path, in the local fabric.
 *
 * Ports of the functions of one host find each other by LID, or by GID, MAC, RoCE version and
 * VLAN.  The result is cached until an address of any function changes.  A connected queue pair
 * has its result; a small table has the results for the address vectors of requests.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include "data/data.h"

bool hca_gid_is_ipv4(const u8 *gid)
{
	static const u8 prefix[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid, prefix, sizeof(prefix));
}

void hca_route_changed(struct hca_fabric *f)
{
	f->route.epoch++;
}

/* Do @from and @to have the same RoCE version and VLAN? */
static bool hca_route_same_network(const struct hca_gid *from, const struct hca_gid *to)
{
	return from->version == to->version && from->vlan_valid == to->vlan_valid &&
	       (!from->vlan_valid || from->vlan_id == to->vlan_id);
}

bool hca_route_is_on(const struct hca *hca, const struct hca_gid *from)
{
	u32 i;

	for (i = 0; i < hca->gids_end; i++)
		if (hca->gids[i].valid && hca_route_same_network(from, &hca->gids[i]))
			return true;
	return false;
}

int hca_route_gid_index(const struct hca *hca, const u8 *gid, const u8 *mac,
			const struct hca_gid *from)
{
	u32 i;

	for (i = 0; i < hca->gids_end; i++) {
		const struct hca_gid *g = &hca->gids[i];

		if (g->valid && !memcmp(g->gid, gid, sizeof(g->gid)) &&
		    !memcmp(g->mac, mac, sizeof(g->mac)) &&
		    (!from->valid || hca_route_same_network(from, g)))
			return i;
	}
	return -1;
}

bool hca_route_has_gid(const struct hca *hca, const u8 *gid, const u8 *mac,
		       const struct hca_gid *from)
{
	return hca_route_gid_index(hca, gid, mac, from) >= 0;
}

struct hca_port *hca_route_by_gid(struct hca_fabric *f, const u8 *gid, const u8 *mac,
				   const struct hca_gid *from)
{
	struct hca *hca;

	list_for_each_entry(hca, &f->functions.list, entry)
		if (hca->p.roce && hca->port[0].up && hca_route_has_gid(hca, gid, mac, from))
			return &hca->port[0];
	return NULL;
}

struct hca_port *hca_route_by_lid(struct hca_fabric *f, u16 lid)
{
	struct hca_port *port;
	struct hca *hca;

	list_for_each_entry(hca, &f->functions.list, entry)
		for (port = hca->port; port < hca->port + hca->p.num_ports; port++)
			if (!hca->p.roce && port->up && port->lid == lid)
				return port;
	return NULL;
}

struct hca_port *hca_route_find(struct hca *hca, const struct hca_path *path)
{
	if (!hca->p.roce)
		return hca_route_by_lid(hca->fabric, path->rlid);
	return hca_route_by_gid(hca->fabric, path->rgid, path->rmac,
				 &hca->gids[path->sgid_index % HCA_GIDS]);
}

const struct hca_gid *hca_route_source(const struct hca *hca, const struct mlx5r_av *av)
{
	u32 index = be32_to_cpu(av->grh_gid_fl) >> 20 & 0xff;

	return index < HCA_GIDS && hca->gids[index].valid ? &hca->gids[index] : NULL;
}

/* On RoCE, the last words of an address vector have the MAC, the own GID index and the GID. */
static struct hca_route hca_route_of(const struct hca *hca, const struct mlx5r_av *av)
{
	struct hca_route r = { .from = hca, .epoch = hca->fabric->route.epoch };
	const u64 *words = (const u64 *)(av + 1) - ARRAY_SIZE(r.to);

	if (!hca->p.roce) {
		r.to[0] = be16_to_cpu(av->rlid);
		return r;
	}
	r.to[0] = words[0];
	r.to[1] = words[1];
	r.to[2] = words[2];
	r.to[3] = words[3];
	return r;
}

static bool hca_route_is_same(const struct hca_route *a, const struct hca_route *b)
{
	return a->epoch == b->epoch && a->from == b->from && a->to[0] == b->to[0] &&
	       a->to[1] == b->to[1] && a->to[2] == b->to[2] && a->to[3] == b->to[3];
}

/* Rare, so it is not inlined: the caller then needs few registers. */
static noinline struct hca_port *hca_route_find_av(struct hca *hca, const struct mlx5r_av *av,
						    struct hca_route *entry)
{
	const struct hca_gid *from = hca->p.roce ? hca_route_source(hca, av) : NULL;

	*entry = hca_route_of(hca, av);
	if (!hca->p.roce)
		entry->port = hca_route_by_lid(hca->fabric, be16_to_cpu(av->rlid));
	else if (from)
		entry->port = hca_route_by_gid(hca->fabric, av->rgid, av->rmac, from);
	return entry->port;
}

struct hca_port *hca_route_by_av(struct hca *hca, const struct mlx5r_av *av)
{
	struct hca_route r = hca_route_of(hca, av);
	u64 mix = r.to[0] ^ r.to[1] ^ r.to[2] ^ r.to[3] ^ (unsigned long)r.from;
	u32 index = mix * 0x9e3779b97f4a7c15 >> (64 - HCA_LOG_ROUTES);
	struct hca_route *entry = &hca->fabric->route.cache[index];

	return hca_route_is_same(entry, &r) ? entry->port :
						  hca_route_find_av(hca, av, entry);
}

bool hca_pkey_check(struct hca_port *to, u16 own, u16 pkey)
{
	if (hca_pkeys_match(own, pkey))
		return true;
	/* Without a P_Key nothing is sent. */
	if (pkey & HCA_PKEY_BITS && to->pkey_violations < U16_MAX)
		to->pkey_violations++;
	return false;
}

void hca_route_find_remote(struct hca_qp *qp)
{
	qp->remote = hca_route_find(qp->hca, &qp->path);
	qp->in_partition = qp->remote && hca_pkeys_match(hca_qp_pkey(qp), qp->remote->pkey);
	qp->peer_epoch = qp->hca->fabric->route.epoch;
}
