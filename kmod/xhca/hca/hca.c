// SPDX-License-Identifier: GPL-2.0
/*
 * One function: made, started and stopped by commands, reset, destroyed.
 *
 * A reset frees every object whatever state the driver left it in: users before
 * what they use, so that nothing dangles meanwhile.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include "cmd.h"

static const struct {
	size_t table;			/* in struct hca */
	u32 first, limit;
	void (*free)(struct hca *hca, void *obj);
} kinds[] = {
#define TABLE(name)	offsetof(struct hca, name)
	/* In the order in which a reset frees them */
	{ TABLE(qps), 0x40, 1u << HCA_LOG_MAX_QP, hca_qp_free },
	{ TABLE(srqs), 0x10, 1u << HCA_LOG_MAX_SRQ, hca_srq_free },
	{ TABLE(cqs), 0x10, 1u << HCA_LOG_MAX_CQ, hca_cq_free },
	{ TABLE(eqs), 1, 1u << HCA_LOG_MAX_EQ, hca_eq_free },
	{ TABLE(mkeys), HCA_NULL_MKEY_INDEX, 1u << HCA_LOG_MAX_MKEY, hca_mkey_free },
	{ TABLE(counters), 1, HCA_MAX_COUNTERS + 1, hca_counter_free },
	{ TABLE(uars_by_index), HCA_FIRST_UAR, HCA_BAR_PAGES, hca_uar_free },
	{ TABLE(pds), 1, 1u << HCA_LOG_MAX_PD, NULL },
	{ TABLE(xrcds), 1, 1u << HCA_LOG_MAX_XRCD, NULL },
	{ TABLE(tds), 1, 1u << HCA_LOG_MAX_TD, NULL },
#undef TABLE
};

static struct hca_table *table_of(struct hca *hca, unsigned int i)
{
	return (void *)hca + kinds[i].table;
}

static void domain_free(struct hca *hca, void *obj)
{
	kfree(obj);
}

static void tables_free(struct hca *hca)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		hca_table_free(table_of(hca, i));
}

static int tables_init(struct hca *hca)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(kinds) && !err; i++)
		err = hca_table_init(table_of(hca, i), kinds[i].first, kinds[i].limit);
	return err;
}

/* Fresh tables, so that numbers too begin as after power-on. */
static int objects_free(struct hca *hca)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		hca_table_for_each(table_of(hca, i), kinds[i].free ?: domain_free, hca);
	tables_free(hca);
	return tables_init(hca);
}

/* From an address of port 1 to that of port 2: more than there are functions */
#define PORT_STEP	0x100

static void addresses_forget(struct hca *hca)
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
	int err = objects_free(hca);
	unsigned int i;

	hca->stage = HCA_OFF;
	hca->issi = 0;
	hca->irq_pending = false;
	for (i = 0; i < HCA_MAX_PORTS; i++)
		memset(&hca->port[i].count, 0, sizeof(hca->port[i].count));
	memset(&hca->uncounted, 0, sizeof(hca->uncounted));
	addresses_forget(hca);
	hca_caps_reset(hca);
	/* A function without its tables can hold no object: every creation fails. */
	if (err)
		tables_free(hca);
}

/* An InfiniBand port is up from the beginning. */
static void ports_init(struct hca *hca)
{
	unsigned int i;

	for (i = 0; i < HCA_MAX_PORTS; i++) {
		hca->port[i].hca = hca;
		hca->port[i].number = i + 1;
		hca->port[i].up = !hca->p.roce;
	}
}

struct hca *hca_create(struct hca_fabric *f, const struct hca_params *p,
		       const struct hca_ops *ops, void *ctx)
{
	struct hca *hca = kvzalloc(sizeof(*hca), GFP_KERNEL);

	if (!hca)
		return NULL;
	hca->fabric = f;
	hca->ops = ops;
	hca->ctx = ctx;
	hca->p = *p;
	ports_init(hca);
	hca->fail.status = MLX5_CMD_STAT_INT_ERR;
	INIT_LIST_HEAD(&hca->halted);
	hca_share_init(&hca->share);
	INIT_LIST_HEAD(&hca->mcgs);
	INIT_LIST_HEAD(&hca->eq_list);
	if (hca_caps_init(hca) || tables_init(hca) || hca_cmd_init(hca)) {
		tables_free(hca);
		hca_caps_free(hca);
		kvfree(hca);
		return NULL;
	}
	addresses_forget(hca);
	hca->serial = ++f->last_serial;
	list_add_tail(&hca->entry, &f->functions);
	list_add_tail(&hca->serial_entry, &f->by_serial);
	f->nfunctions++;
	hca_fabric_changed(f);
	return hca;
}

void hca_destroy(struct hca *hca)
{
	struct hca_fabric *f = hca->fabric;

	hca_reset(hca);
	list_del(&hca->share.entry);
	list_del(&hca->entry);
	list_del(&hca->serial_entry);
	f->nfunctions--;
	hca_fabric_changed(f);
	hca_cmd_free(hca);
	hca_caps_free(hca);
	tables_free(hca);
	kvfree(hca);
}

void hca_dma_enable(struct hca *hca, bool on)
{
	WRITE_ONCE(hca->no_dma, !on);
}

void hca_port_set(struct hca_port *port, bool up)
{
	if (port->up == up)
		return;
	port->up = up;
	hca_fabric_changed(port->hca->fabric);
	hca_event_port(port, up ? MLX5_PORT_CHANGE_SUBTYPE_ACTIVE : MLX5_PORT_CHANGE_SUBTYPE_DOWN);
}

/* ---- Start and stop ------------------------------------------------------------- */

enum hca_synd hca_cmd_enable_hca(struct hca *hca, const struct hca_cmd *c)
{
	if (MLX5_GET(enable_hca_in, c->in, function_id))
		return HCA_SYND_FUNCTION;
	hca->stage = HCA_ENABLED;
	return HCA_OK;
}

enum hca_synd hca_cmd_disable_hca(struct hca *hca, const struct hca_cmd *c)
{
	if (MLX5_GET(disable_hca_in, c->in, function_id))
		return HCA_SYND_FUNCTION;
	hca_reset(hca);
	return HCA_OK;
}

enum hca_synd hca_cmd_init_hca(struct hca *hca, const struct hca_cmd *c)
{
	if (hca_null_mkey_create(hca))
		return HCA_SYND_NO_MEMORY;
	hca->stage = HCA_RUNNING;
	return HCA_OK;
}

/* A graceful stop; the forced one is not announced. */
enum hca_synd hca_cmd_teardown_hca(struct hca *hca, const struct hca_cmd *c)
{
	if (MLX5_GET(teardown_hca_in, c->in, profile))
		return HCA_SYND_OPMOD;
	hca_reset(hca);
	hca->stage = HCA_ENABLED;
	return HCA_OK;
}

enum hca_synd hca_cmd_nop(struct hca *hca, const struct hca_cmd *c)
{
	return HCA_OK;
}

/* This firmware needs no memory of the host. */
enum hca_synd hca_cmd_query_pages(struct hca *hca, const struct hca_cmd *c)
{
	enum { BOOT = 1, INIT = 2, REGULAR = 3 };

	if (c->op_mod < BOOT || c->op_mod > REGULAR)
		return HCA_SYND_OPMOD;
	return HCA_OK;
}

enum hca_synd hca_cmd_manage_pages(struct hca *hca, const struct hca_cmd *c)
{
	enum { CANT_GIVE = 0, GIVE = 1, TAKE = 2 };

	if (c->op_mod > TAKE)
		return HCA_SYND_OPMOD;
	if (MLX5_GET(manage_pages_in, c->in, function_id))
		return HCA_SYND_FUNCTION;
	if (c->op_mod == GIVE && MLX5_GET(manage_pages_in, c->in, input_num_entries))
		return HCA_SYND_PAGES;
	return HCA_OK;
}

/* ---- What the function is --------------------------------------------------------- */

#define ISSI_SUPPORTED	(1u << 0 | 1u << 1)

enum hca_synd hca_cmd_query_issi(struct hca *hca, const struct hca_cmd *c)
{
	MLX5_SET(query_issi_out, c->out, current_issi, hca->issi);
	MLX5_SET(query_issi_out, c->out, supported_issi_dw0, ISSI_SUPPORTED);
	return HCA_OK;
}

enum hca_synd hca_cmd_set_issi(struct hca *hca, const struct hca_cmd *c)
{
	u16 issi = MLX5_GET(set_issi_in, c->in, current_issi);

	if (issi > 1)
		return HCA_SYND_ISSI;
	hca->issi = issi;
	return HCA_OK;
}

enum hca_synd hca_cmd_query_adapter(struct hca *hca, const struct hca_cmd *c)
{
	static const char psid[16] = "XHCA0000000001";
	void *adapter = MLX5_ADDR_OF(query_adapter_out, c->out, query_adapter_struct);

	MLX5_SET(query_adapter_param_block, adapter, ieee_vendor_id, 0x02c9);
	memcpy(MLX5_ADDR_OF(query_adapter_param_block, adapter, vsd_contd_psid), psid,
	       sizeof(psid));
	return HCA_OK;
}

enum hca_synd hca_cmd_query_special_contexts(struct hca *hca, const struct hca_cmd *c)
{
	MLX5_SET(query_special_contexts_out, c->out, null_mkey, HCA_NULL_MKEY_INDEX << 8);
	return HCA_OK;
}
