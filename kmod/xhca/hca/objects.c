// SPDX-License-Identifier: GPL-2.0
/*
 * All objects of a function, and its reset.
 *
 * A reset frees every object that the driver left: users before what they use, so that
 * no object ever points to a freed one.
 */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "cmd.h"

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

void hca_tables_free(struct hca *hca)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		hca_table_free(hca_objects_table(hca, i));
}

int hca_tables_init(struct hca *hca)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(kinds) && !err; i++)
		err = hca_table_init(hca_objects_table(hca, i), kinds[i].first,
				     kinds[i].limit ?: hca->p.bar_pages);
	return err;
}

/* Numbers begin as after power-on. */
static void hca_objects_free(struct hca *hca)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		hca_table_for_each(hca_objects_table(hca, i),
				   kinds[i].free ?: hca_objects_domain_free, hca);
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		hca_table_reset(hca_objects_table(hca, i));
}

/* From an address of port 1 to that of port 2: more than there are functions */
#define PORT_STEP	0x100

void hca_addresses_reset(struct hca *hca)
{
	unsigned int i;

	memset(hca->gids, 0, sizeof(hca->gids));
	memcpy(hca->uc_mac, hca->p.mac, sizeof(hca->uc_mac));
	hca->roce_en = false;
	hca->vport_mtu = 1500;
	for (i = 0; i < HCA_MAX_PORTS; i++) {
		hca->port[i].lid = hca->p.lid + i * PORT_STEP;
		hca->port[i].guid = hca->p.node_guid + i * PORT_STEP;
		hca->port[i].pkey = 0xffff;
		hca->port[i].caps = 0;
	}
	hca_fabric_changed(hca->fabric);
}

void hca_reset(struct hca *hca)
{
	unsigned int i;

	/* From now on nothing is written to host memory. */
	hca->stage = HCA_OFF;
	hca_objects_free(hca);
	hca->issi = 0;
	hca->irq_pending = false;
	for (i = 0; i < HCA_MAX_PORTS; i++) {
		memset(&hca->port[i].count, 0, sizeof(hca->port[i].count));
		hca_sa_forget(&hca->port[i]);
	}
	memset(&hca->uncounted, 0, sizeof(hca->uncounted));
	hca_addresses_reset(hca);
	hca_caps_reset(hca);
}
