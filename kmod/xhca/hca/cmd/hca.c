// SPDX-License-Identifier: GPL-2.0
/*
 * A function: its objects, addresses and ports, its reset, and its link and DMA, which are
 * switched on and off.
 *
 * A reset frees every object that the driver left: users before what they use, so that
 * no object ever points to a freed one.  There may be millions, so it takes many passes.
 */
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include "sa/sa.h"
#include "data/wire.h"
#include "cmd/cmd.h"

enum {
	RESET_NS	= 50000,	/* of a pass, for a part of a reset */
	RESET_NUMBERS	= 4096,		/* numbers of objects, used or not, in a part of a reset */
};

/* ---- Objects -------------------------------------------------------------------------- */

static const struct {
	size_t table;			/* in struct hca */
	u32 first, limit;		/* limit 0: the pages of the BAR */
	void (*free)(struct hca *hca, void *obj);
} kinds[] = {
#define TABLE(name)	offsetof(struct hca, name)
	/* In the order in which a reset frees them */
	{ TABLE(qps), 0x40, 1u << HCA_LOG_MAX_QP, hca_qp_free },
	{ TABLE(srqs), 0x10, 1u << HCA_LOG_MAX_SRQ, hca_srq_free },
	{ TABLE(cqs), 0x10, 1u << HCA_LOG_MAX_CQ, hca_cq_free },
	{ TABLE(eqs), 1, 1u << HCA_LOG_MAX_EQ, hca_eq_free },
	{ TABLE(mkeys), HCA_NULL_MKEY_INDEX, 1u << HCA_LOG_MAX_MKEY, hca_mkey_free },
	{ TABLE(umems), 1, 1u << HCA_LOG_MAX_UMEM, hca_umem_free },
	{ TABLE(counters), 1, HCA_MAX_COUNTERS + 1, hca_counter_free },
	{ TABLE(uars_by_index), HCA_FIRST_UAR, 0, hca_uar_free },
	{ TABLE(pds), 1, 1u << HCA_LOG_MAX_PD, NULL },
	{ TABLE(xrcds), 1, 1u << HCA_LOG_MAX_XRCD, NULL },
	{ TABLE(tds), 1, 1u << HCA_LOG_MAX_TD, NULL },
	{ TABLE(uctxs), 1, 1u << HCA_LOG_MAX_UCTX, hca_uctx_free },
#undef TABLE
};

static struct hca_table *hca_objects_table(struct hca *hca, unsigned int i)
{
	return (void *)hca + kinds[i].table;
}

static void hca_objects_domain_free(struct hca *hca, void *obj)
{
	kfree(obj);
}

static void hca_tables_free(struct hca *hca)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		hca_table_free(hca_objects_table(hca, i));
}

static int hca_tables_init(struct hca *hca)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(kinds) && !err; i++)
		err = hca_table_init(hca_objects_table(hca, i), kinds[i].first,
				     kinds[i].limit ?: hca->p.bar_pages);
	return err;
}

/* False if there are more of kind @i. */
static bool hca_objects_free_kind(struct hca *hca, unsigned int i, u64 end, u32 *left)
{
	struct hca_table *t = hca_objects_table(hca, i);
	void *obj;

	for (; t->count && hca->reset.number < t->used_end; hca->reset.number++) {
		if (!(*left)--)
			return false;
		obj = hca_table_get(t, hca->reset.number);
		if (!obj)
			continue;
		if (ktime_get_ns() >= end)
			return false;
		(kinds[i].free ?: hca_objects_domain_free)(hca, obj);
	}
	return true;
}

/* False if there are more. */
static bool hca_objects_free_some(struct hca *hca)
{
	u64 end = ktime_get_ns() + RESET_NS;
	u32 left = RESET_NUMBERS;

	for (; hca->reset.kind < ARRAY_SIZE(kinds); hca->reset.kind++, hca->reset.number = 0)
		if (!hca_objects_free_kind(hca, hca->reset.kind, end, &left))
			return false;
	return true;
}

bool hca_object_count(const struct hca *hca, unsigned int kind, const char **name, u32 *count)
{
	const struct {
		const char *name;
		const struct hca_table *table;
	} kind_table[] = {
		{ "uars", &hca->uars_by_index }, { "eqs", &hca->eqs }, { "cqs", &hca->cqs },
		{ "qps", &hca->qps }, { "srqs", &hca->srqs }, { "mkeys", &hca->mkeys },
		{ "pds", &hca->pds }, { "xrcds", &hca->xrcds }, { "tds", &hca->tds },
		{ "counters", &hca->counters }, { "umems", &hca->umems }, { "uctxs", &hca->uctxs },
	};

	if (kind >= ARRAY_SIZE(kind_table))
		return false;
	*name = kind_table[kind].name;
	*count = READ_ONCE(kind_table[kind].table->count);
	return true;
}

/* ---- Addresses ------------------------------------------------------------------------ */

/* From an address of port 1 to that of port 2: more than there are functions */
enum { PORT_STEP = 0x100 };

static void hca_addresses_reset(struct hca *hca)
{
	unsigned int i;

	memset(hca->gids, 0, sizeof(hca->gids));
	hca->gids_end = 0;
	memcpy(hca->uc_mac, hca->p.mac, sizeof(hca->uc_mac));
	hca->roce_en = false;
	hca->vport_mtu = 1500;
	for (i = 0; i < HCA_MAX_PORTS; i++) {
		hca->port[i].lid = hca->p.lid + i * PORT_STEP;
		hca->port[i].guid = hca->p.node_guid + i * PORT_STEP;
		hca->port[i].pkey = 0xffff;
		hca->port[i].caps = 0;
	}
	hca_route_changed(hca->fabric);
}

/* ---- Creation and removal, by fabric.c ------------------------------------------------ */

/* The link of an InfiniBand port is up at creation. */
static void hca_ports_init(struct hca *hca)
{
	unsigned int i;

	for (i = 0; i < HCA_MAX_PORTS; i++) {
		hca->port[i].hca = hca;
		hca->port[i].number = i + 1;
		hca->port[i].up = !hca->p.roce;
	}
}

int hca_init(struct hca *hca)
{
	hca_ports_init(hca);
	hca->fail.status = MLX5_CMD_STAT_INT_ERR;
	INIT_LIST_HEAD(&hca->mcgs);
	INIT_LIST_HEAD(&hca->eq_list);
	if (hca_heap_join(&hca->owners.queue) || hca_caps_init(hca) || hca_tables_init(hca))
		return -ENOMEM;
	hca_addresses_reset(hca);
	hca_congestion_reset(hca);
	hca->no_least_timeout = hca->p.no_least_timeout;
	return 0;
}

void hca_exit(struct hca *hca)
{
	hca_tables_free(hca);
	hca_caps_free(hca);
	hca_heap_free(&hca->owners.queue);
}

/* ---- Reset ---------------------------------------------------------------------------- */

void hca_reset_to(struct hca *hca, enum hca_stage stage)
{
	/* From now on nothing is written to host memory. */
	if (!(hca->stopped & HCA_RESETTING)) {
		memset(&hca->reset, 0, sizeof(hca->reset));
		hca->fabric->resets++;
	}
	hca->stopped |= HCA_RESETTING;
	hca->stage = HCA_OFF;
	hca->reset.stage = stage;
}

void hca_reset_begin(struct hca *hca)
{
	hca_reset_to(hca, HCA_OFF);
}

static void hca_reset_end(struct hca *hca)
{
	unsigned int i;

	/* Numbers begin as after power-on. */
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		hca_table_reset(hca_objects_table(hca, i));
	hca->issi = 0;
	hca->irq_pending = false;
	for (i = 0; i < HCA_MAX_PORTS; i++) {
		memset(&hca->port[i].count, 0, sizeof(hca->port[i].count));
		hca->port[i].pkey_violations = 0;
		hca->port[i].qkey_violations = 0;
		hca_sa_forget(&hca->port[i]);
	}
	memset(&hca->uncounted, 0, sizeof(hca->uncounted));
	hca_addresses_reset(hca);
	hca_congestion_reset(hca);
	hca->no_least_timeout = hca->p.no_least_timeout;
	hca_wire_gate_reset(hca);
	hca_wire_dct_reset(hca);
	hca_caps_reset(hca);
	hca->stage = hca->reset.stage;
	hca->stopped &= ~HCA_RESETTING;
	hca->fabric->resets--;
}

bool hca_reset_some(struct hca *hca)
{
	if (!(hca->stopped & HCA_RESETTING))
		return true;
	if (!hca_objects_free_some(hca))
		return false;
	hca_reset_end(hca);
	return true;
}

void hca_reset(struct hca *hca)
{
	hca_reset_begin(hca);
	while (!hca_reset_some(hca))
		;
}

/* ---- What others see and change ---------------------------------------------------------- */

struct hca_command_failure *hca_command_failure(struct hca *hca)
{
	return &hca->fail;
}

struct hca_port *hca_port_find(struct hca *hca, u32 number)
{
	return hca_port_get(hca, number);
}

void hca_dma_enable(struct hca *hca, bool on)
{
	WRITE_ONCE(hca->no_dma, !on);
}

void hca_unplug(struct hca *hca)
{
	hca->gone = true;
	hca->stopped |= HCA_FAILED;
	hca_reset_begin(hca);
}

void hca_port_set_pkey(struct hca_port *port, u16 pkey)
{
	port->pkey = pkey;
	hca_route_changed(port->hca->fabric);
	hca_event_port(port, MLX5_PORT_CHANGE_SUBTYPE_PKEY);
}

void hca_port_reregister(struct hca_port *port)
{
	hca_sa_forget(port);
	hca_event_port(port, MLX5_PORT_CHANGE_SUBTYPE_CLIENT_REREG);
}

void hca_port_set(struct hca_port *port, bool up)
{
	if (port->up == up)
		return;
	port->up = up;
	hca_sa_forget(port);
	hca_route_changed(port->hca->fabric);
	hca_event_port(port, up ? MLX5_PORT_CHANGE_SUBTYPE_ACTIVE : MLX5_PORT_CHANGE_SUBTYPE_DOWN);
}
