// SPDX-License-Identifier: GPL-2.0
/*
 * One function: created, destroyed, and its link and DMA switched on and off.
 */
#include <linux/slab.h>
#include <linux/mlx5/device.h>
#include "sa/sa.h"
#include "cmd/cmd.h"

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

static void hca_free(struct hca *hca)
{
	hca_cmd_free(hca);
	hca_tables_free(hca);
	hca_caps_free(hca);
	hca_heap_free(&hca->owners.queue);
	kvfree(hca);
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
	hca_ports_init(hca);
	hca->fail.status = MLX5_CMD_STAT_INT_ERR;
	INIT_LIST_HEAD(&hca->mcgs);
	INIT_LIST_HEAD(&hca->eq_list);
	if (hca_heap_join(&hca->owners.queue) || hca_caps_init(hca) ||
	    hca_tables_init(hca) || hca_cmd_init(hca) || hca_heap_join(&f->run.queue)) {
		hca_free(hca);
		return NULL;
	}
	hca_addresses_reset(hca);
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
	hca_heap_leave(&f->run.queue, &hca->share.place);
	list_del(&hca->entry);
	list_del(&hca->serial_entry);
	f->nfunctions--;
	hca_fabric_changed(f);
	hca_free(hca);
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
	hca_fabric_changed(port->hca->fabric);
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
	hca_fabric_changed(port->hca->fabric);
	hca_event_port(port, up ? MLX5_PORT_CHANGE_SUBTYPE_ACTIVE : MLX5_PORT_CHANGE_SUBTYPE_DOWN);
}
