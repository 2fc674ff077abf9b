// SPDX-License-Identifier: GPL-2.0
/*
 * Subnet administration: the records that follow from the ports of the subnet.
 *
 * All ports reach each other directly, on one path, at one speed.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include "base/limits.h"
#include "sa/sa.h"

enum {
	CLASS_RESPONSE_TIME	= 10,	/* 4.096 us * 2^10 */
	REVERSIBLE		= 0x80,
	SL_MASK			= 0x000f,
	NODE_CA			= 1,
	MANAGER_DEVICE		= 0x1017,
	WIDTH_4X		= 2,
	SPEED_SDR_TO_QDR	= 7,
	SPEED_QDR		= 4,	/* the highest without extension */
	SPEED_EXT_EDR		= 2,
	SUBNET_TIMEOUT		= 18,
};

#define VENDOR_BYTES		{ 0x00, 0x02, 0xc9 }
#define PORT_EXTENDED_SPEEDS	(1u << 14)

#define EQ(bits)	{ HCA_MATCH_EQUAL, bits }
#define ANY(bits)	{ HCA_MATCH_ANY, bits }

const struct hca_component hca_path_components[] = {
	ANY(32), ANY(32),				/* service */
	EQ(128), EQ(128), EQ(16), EQ(16),		/* GIDs, LIDs: destination, source */
	EQ(1), ANY(3), ANY(20), ANY(8), ANY(8),		/* raw, -, flow, hops, class */
	ANY(1), ANY(7), { HCA_MATCH_PKEY, 16 },		/* reversible, number, P_Key */
	ANY(12), ANY(4),				/* QoS class, SL */
	{ HCA_MATCH_SELECTOR, 2 }, { HCA_MATCH_VALUE, 6 },	/* MTU */
	{ HCA_MATCH_SELECTOR, 2 }, { HCA_MATCH_RATE, 6 },
	{ HCA_MATCH_SELECTOR, 2 }, { HCA_MATCH_VALUE, 6 },	/* packet life time */
	ANY(8),						/* preference */
};

const struct hca_component hca_node_components[] = {
	EQ(16), ANY(16), EQ(8), EQ(8), EQ(8), EQ(8),	/* LID, -, versions, type, ports */
	EQ(64), EQ(64), EQ(64), EQ(16), EQ(16), EQ(32),	/* GUIDs, P_Keys, device, revision */
	EQ(8), EQ(24), EQ(512),				/* number, vendor, description */
};

const struct hca_component hca_port_components[] = {
	EQ(16), EQ(8), ANY(8), EQ(64), EQ(64), EQ(16), EQ(16),	/* LID, number, ... SM LID */
	EQ(32), EQ(16), EQ(16), EQ(8), EQ(8), EQ(8), EQ(8),	/* capabilities ... active width */
	EQ(4), EQ(4), EQ(4), EQ(4), EQ(2), ANY(3), EQ(3),	/* speed, states ... LMC */
	EQ(4), EQ(4), EQ(4), EQ(4), EQ(4), EQ(4), EQ(8),	/* speeds, MTU ... lanes */
	EQ(8), EQ(8), EQ(4), EQ(4), EQ(3), EQ(5), EQ(4),
	EQ(1), EQ(1), EQ(1), EQ(1), EQ(16), EQ(16), EQ(16), EQ(8),	/* ... number of GUIDs */
};

static bool hca_sa_has_port(const struct hca *hca, const struct hca_port *port)
{
	return !hca->p.roce && port->up;
}

struct hca_port *hca_sa_next_port(struct hca_fabric *f, struct hca_port *port)
{
	struct list_head *all = &f->functions.by_serial;
	struct hca *hca = list_first_entry_or_null(all, struct hca, serial_entry);
	u32 i = 0;

	if (!port)
		return &f->sa.manager;
	if (port != &f->sa.manager) {
		hca = port->hca;
		i = port->number;
	}
	if (!hca)
		return NULL;
	list_for_each_entry_from(hca, &f->functions.by_serial, serial_entry) {
		for (; i < hca->p.num_ports; i++)
			if (hca_sa_has_port(hca, &hca->port[i]))
				return &hca->port[i];
		i = 0;
	}
	return NULL;
}

void hca_sa_gid(const struct hca_port *port, u8 *gid)
{
	__be64 halves[2] = { cpu_to_be64(HCA_GID_PREFIX), cpu_to_be64(port->guid) };

	memcpy(gid, halves, sizeof(halves));
}

/* ClassPortInfo is no record; there is one for the class. */
void hca_sa_find_class(struct hca_sa_query *q)
{
	struct hca_class_port_info info = {
		.base_version = HCA_MAD_BASE_VERSION,
		.class_version = HCA_SA_VERSION,
		.cap_mask = cpu_to_be16(HCA_SA_CAP_RECORDS | HCA_SA_CAP_UD_MULTICAST |
					HCA_SA_CAP_MATCH_CAPS),
		.cap_mask2_resp_time = cpu_to_be32(HCA_SA_CAP2_SENDONLY_FULL << 5 |
						   CLASS_RESPONSE_TIME),
	};

	hca_sa_add(q, &info);
}

/* Fields that the path does not determine are those of the request. */
static bool hca_sa_add_path(struct hca_sa_query *q, const struct hca_port *from,
			    const struct hca_port *to)
{
	const struct hca_path_record *wanted = (const void *)q->in->data;
	struct hca_path_record r = {
		.dlid = cpu_to_be16(to->lid),
		.slid = cpu_to_be16(from->lid),
		.reversible_numb = REVERSIBLE,
		.pkey = cpu_to_be16(to->pkey),
		.mtu = HCA_SELECTED(HCA_SA_MTU),
		.rate = HCA_SELECTED(HCA_SA_RATE),
		.life = HCA_SELECTED(HCA_SA_LIFE),
	};

	hca_sa_gid(to, r.dgid);
	hca_sa_gid(from, r.sgid);
	if (q->mask & HCA_PATH_SERVICE)
		r.service_id = wanted->service_id;
	if (q->mask & HCA_PATH_TCLASS)
		r.tclass = wanted->tclass;
	if (q->mask & HCA_PATH_SL)
		r.qos_sl = wanted->qos_sl & cpu_to_be16(SL_MASK);
	return hca_sa_add(q, &r);
}

/* Compares the source before the paths are made: there are as many as pairs of ports. */
static bool hca_sa_is_source(const struct hca_sa_query *q, const struct hca_port *port)
{
	const struct hca_path_record *wanted = (const void *)q->in->data;
	u8 gid[16];

	hca_sa_gid(port, gid);
	return !(q->mask & HCA_PATH_SGID && memcmp(wanted->sgid, gid, sizeof(gid))) &&
	       !(q->mask & HCA_PATH_SLID && wanted->slid != cpu_to_be16(port->lid));
}

void hca_sa_find_paths(struct hca_sa_query *q)
{
	struct hca_port *from, *to;

	for (from = hca_sa_next_port(q->f, NULL); from; from = hca_sa_next_port(q->f, from)) {
		hca_charge(q->f, HCA_ENTRIES, 1);
		if (!hca_sa_is_source(q, from))
			continue;
		for (to = hca_sa_next_port(q->f, NULL); to; to = hca_sa_next_port(q->f, to))
			if (hca_pkeys_match(from->pkey, to->pkey) &&
			    !hca_sa_add_path(q, from, to))
				return;
	}
}

/* ---- Nodes and ports ------------------------------------------------------------------- */

struct hca_node_record hca_sa_node(const struct hca_port *port)
{
	const struct hca *hca = port->hca;
	u64 guid = hca ? hca->p.node_guid : port->guid;
	struct hca_node_record r = {
		.lid = cpu_to_be16(port->lid),
		.info = {
			.base_version = HCA_MAD_BASE_VERSION,
			.class_version = HCA_SMP_VERSION,
			.type = NODE_CA,
			.ports = hca ? hca->p.num_ports : 1,
			.system_guid = cpu_to_be64(guid),
			.node_guid = cpu_to_be64(guid),
			.port_guid = cpu_to_be64(port->guid),
			.pkeys = cpu_to_be16(HCA_PKEYS),
			.device = cpu_to_be16(hca ? hca->p.model->device_id : MANAGER_DEVICE),
			.number = port->number,
			.vendor = VENDOR_BYTES,
		},
		.description = "xhca subnet manager",
	};

	if (hca)
		memcpy(r.description, hca->node_desc, sizeof(r.description));
	return r;
}

struct hca_port_info_record hca_sa_port(const struct hca_port *port)
{
	return (struct hca_port_info_record) {
		.lid = cpu_to_be16(port->lid),
		.number = port->number,
		.info = {
			.gid_prefix = cpu_to_be64(HCA_GID_PREFIX),
			.lid = cpu_to_be16(port->lid),
			.sm_lid = cpu_to_be16(HCA_SM_LID),
			.caps = cpu_to_be32(port->caps | PORT_EXTENDED_SPEEDS),
			.number = port->number,
			.width_enabled = WIDTH_4X,
			.width_supported = WIDTH_4X,
			.width_active = WIDTH_4X,
			.speed_state = SPEED_SDR_TO_QDR << 4 | HCA_PORT_ACTIVE,
			.phys_state = HCA_PHYS_LINK_UP << 4 | HCA_PHYS_POLLING,
			.speed_active = SPEED_QDR << 4 | SPEED_SDR_TO_QDR,
			.mtu_sm_sl = HCA_SA_MTU << 4,
			.vl_init = 1 << 4,
			.mtu_cap = HCA_SA_MTU,
			.vl_enforce = 1 << 4,
			.pkey_violations = cpu_to_be16(port->pkey_violations),
			.qkey_violations = cpu_to_be16(port->qkey_violations),
			.guid_cap = HCA_VPORT_GIDS,
			.timeout = SUBNET_TIMEOUT,
			.speed_ext = SPEED_EXT_EDR << 4 | SPEED_EXT_EDR,
			.speed_ext_enabled = SPEED_EXT_EDR,
		},
	};
}

void hca_sa_find_nodes(struct hca_sa_query *q)
{
	struct hca_node_record r;
	struct hca_port *port;

	for (port = hca_sa_next_port(q->f, NULL); port; port = hca_sa_next_port(q->f, port)) {
		r = hca_sa_node(port);
		if (!hca_sa_add(q, &r))
			return;
	}
}

/* The request may name capabilities that the ports need to have, among others. */
void hca_sa_find_ports(struct hca_sa_query *q)
{
	const struct hca_port_info_record *wanted = (const void *)q->in->data;
	__be32 needed = 0;
	struct hca_port_info_record r;
	struct hca_port *port;

	if (q->in->attr_mod & cpu_to_be32(HCA_MATCH_CAPS) && q->mask & HCA_PORT_CAPS) {
		q->mask &= ~HCA_PORT_CAPS;
		needed = wanted->info.caps;
	}
	for (port = hca_sa_next_port(q->f, NULL); port; port = hca_sa_next_port(q->f, port)) {
		r = hca_sa_port(port);
		if ((r.info.caps & needed) == needed && !hca_sa_add(q, &r))
			return;
	}
}

#undef EQ
#undef ANY
#undef VENDOR_BYTES
#undef PORT_EXTENDED_SPEEDS
