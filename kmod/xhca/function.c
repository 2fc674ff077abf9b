// SPDX-License-Identifier: GPL-2.0
/*
 * The functions: each has a slot of the virtual bus, with the memory of a BAR.
 *
 * A slot that is in use keeps its settings.  They change only while the function is
 * unplugged.  Plugging it in creates the adapter (hca/) and the PCI device; a driver then
 * binds to the device.  Unplugging removes both, as PCI hotplug does: the driver is removed
 * first.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/string.h>

#include "xhca.h"
#include "compat.h"

static const struct hca_ops hca_ops = {
	.dma_ptr	= xhca_dma_ptr,
	.raise_irq	= xhca_raise_irq,
	.frame_alloc	= xhca_frame_alloc,
	.frame_send	= xhca_frame_send,
	.frame_next	= xhca_frame_next,
};

static u64 function_guid(const struct xhca_function *fn)
{
	const u8 *m = fn->mac;

	return (u64)(m[0] ^ 2) << 56 | (u64)m[1] << 48 | (u64)m[2] << 40 | 0xfffeull << 24 |
	       m[3] << 16 | m[4] << 8 | m[5];
}

static void create_hca(void *arg)
{
	struct xhca_function *fn = arg;
	struct hca_params p = {
		.model = fn->model,
		.index = fn->index,
		.roce = fn->roce,
		.wired = *fn->uplink.name,
		.no_least_timeout = !fn->least_timeout,
		.num_ports = fn->num_ports,
		.node_guid = function_guid(fn),
		.lid = fn->index + 1,
		.num_vectors = HCA_MAX_VECTORS,
		.plain_uars = XHCA_PLAIN_UARS,
		.list_bytes = fn->xhca->list_bytes,
		.bar = xhca_bar_ptr(fn),
		.bar_pages = fn->xhca->bar.size >> HCA_PAGE_SHIFT,
	};

	memcpy(p.mac, fn->mac, ETH_ALEN);
	fn->hca = hca_create(fn->fabric->engine.fabric, &p, &hca_ops, fn);
	if (fn->hca)
		hca_strict(fn->hca, fn->strict);
}

static void stop_hca(void *arg)
{
	hca_unplug(((struct xhca_function *)arg)->hca);
}

static void reset_hca(void *arg)
{
	struct xhca_function *fn = arg;

	fn->is_reset = hca_reset_some(fn->hca);
}

static void destroy_hca(void *arg)
{
	struct xhca_function *fn = arg;

	hca_destroy(fn->hca);
	fn->hca = NULL;
	xhca_frames_discard(fn);
}

/* ---- Slots ---------------------------------------------------------------------------- */

/* A slot has the same address at every use. */
static void slot_mac(const struct xhca_function *fn, u8 mac[ETH_ALEN])
{
	const u8 slot[ETH_ALEN] = { 0x02, 'x', 'h', 'c', 'a', fn->index };

	memcpy(mac, slot, ETH_ALEN);
}

static void set_defaults(struct xhca_function *fn)
{
	fn->model = hca_model_find(HCA_DEFAULT_MODEL);
	fn->roce = true;
	fn->num_ports = 1;
	fn->least_timeout = true;
	fn->strict = false;
	slot_mac(fn, fn->mac);
	*fn->uplink.name = 0;
	fn->uplink.shared = false;
	*fn->fabric_name = 0;
	cpumask_clear(&fn->cpus);
}

struct xhca_function *xhca_function_new(struct xhca *x)
{
	struct xhca_function *fn = NULL;
	unsigned int i;

	mutex_lock(&x->lock);
	for (i = 0; i < x->bar.room && !fn; i++)
		if (!x->fn[i].used)
			fn = &x->fn[i];
	if (fn) {
		fn->used = true;
		set_defaults(fn);
	}
	mutex_unlock(&x->lock);
	if (fn)
		return fn;
	pr_err("no room for another function: all %u are in use\n", x->bar.room);
	return ERR_PTR(-ENOSPC);
}

void xhca_function_free(struct xhca_function *fn)
{
	xhca_function_unplug(fn);
	mutex_lock(&fn->xhca->lock);
	fn->used = false;
	mutex_unlock(&fn->xhca->lock);
}

/* ---- Settings ------------------------------------------------------------------------- */

static int settings_lock(struct xhca_function *fn)
{
	mutex_lock(&fn->xhca->lock);
	if (!fn->plugged)
		return 0;
	mutex_unlock(&fn->xhca->lock);
	pr_err("function %u is enabled: its settings cannot change\n", fn->index);
	return -EBUSY;
}

static void settings_unlock(struct xhca_function *fn)
{
	mutex_unlock(&fn->xhca->lock);
}

int xhca_function_set_link(struct xhca_function *fn, const char *link)
{
	bool roce = !strcmp(link, "roce");
	int err;

	if (!roce && strcmp(link, "ib")) {
		pr_err("link=%s: must be roce or ib\n", link);
		return -EINVAL;
	}
	err = settings_lock(fn);
	if (err)
		return err;
	fn->roce = roce;
	settings_unlock(fn);
	return 0;
}

int xhca_function_set_model(struct xhca_function *fn, const char *name)
{
	const struct hca_model *model = hca_model_find(name);
	int err;

	if (!model) {
		pr_err("model=%s: must be " HCA_MODELS "\n", name);
		return -EINVAL;
	}
	err = settings_lock(fn);
	if (err)
		return err;
	fn->model = model;
	settings_unlock(fn);
	return 0;
}

int xhca_function_set_mac(struct xhca_function *fn, const char *text)
{
	u8 mac[ETH_ALEN];
	int err;

	if (strlen(text) != 3 * ETH_ALEN - 1 || !mac_pton(text, mac) ||
	    !is_valid_ether_addr(mac)) {
		pr_err("mac=%s: must be the address of one host, as 02:00:00:00:00:01\n", text);
		return -EINVAL;
	}
	err = settings_lock(fn);
	if (err)
		return err;
	memcpy(fn->mac, mac, ETH_ALEN);
	settings_unlock(fn);
	return 0;
}

int xhca_function_set_ports(struct xhca_function *fn, unsigned int ports)
{
	int err;

	if (ports < 1 || ports > HCA_MAX_PORTS) {
		pr_err("ports=%u: must be 1 to %u\n", ports, HCA_MAX_PORTS);
		return -EINVAL;
	}
	err = settings_lock(fn);
	if (err)
		return err;
	fn->num_ports = ports;
	settings_unlock(fn);
	return 0;
}

int xhca_function_set_least_timeout(struct xhca_function *fn, bool on)
{
	int err = settings_lock(fn);

	if (err)
		return err;
	fn->least_timeout = on;
	settings_unlock(fn);
	return 0;
}

static void change_strict(void *arg)
{
	struct xhca_function *fn = arg;

	hca_strict(fn->hca, fn->strict);
}

int xhca_function_set_strict(struct xhca_function *fn, bool on)
{
	mutex_lock(&fn->xhca->lock);
	fn->strict = on;
	if (fn->plugged)
		xhca_engine_call(&fn->fabric->engine, change_strict, fn);
	mutex_unlock(&fn->xhca->lock);
	return 0;
}

/* Other hosts may have a function with the address of the same slot. */
static void make_mac_unique(struct xhca_function *fn)
{
	u8 slot[ETH_ALEN];

	slot_mac(fn, slot);
	if (ether_addr_equal_unaligned(fn->mac, slot))
		eth_random_addr(fn->mac);
}

int xhca_function_set_uplink(struct xhca_function *fn, const char *name)
{
	int err;

	if (*name && !dev_valid_name(name)) {
		pr_err("uplink=%s: must be the name of an interface\n", name);
		return -EINVAL;
	}
	err = settings_lock(fn);
	if (err)
		return err;
	strscpy(fn->uplink.name, name, sizeof(fn->uplink.name));
	if (*name)
		make_mac_unique(fn);
	settings_unlock(fn);
	return 0;
}

int xhca_function_set_shared(struct xhca_function *fn, bool on)
{
	int err = settings_lock(fn);

	if (err)
		return err;
	fn->uplink.shared = on;
	settings_unlock(fn);
	return 0;
}

int xhca_function_set_fabric(struct xhca_function *fn, const char *name)
{
	int err;

	if (*name && !xhca_fabric_is_name(name)) {
		pr_err("fabric=%s: letters, digits, '_', '-' and '.', at most %u\n", name,
		       XHCA_FABRIC_NAME - 1);
		return -EINVAL;
	}
	err = settings_lock(fn);
	if (err)
		return err;
	strscpy(fn->fabric_name, name, sizeof(fn->fabric_name));
	settings_unlock(fn);
	return 0;
}

static int set_cpus(struct xhca_function *fn, const struct cpumask *cpus)
{
	int err = settings_lock(fn);

	if (err)
		return err;
	cpumask_copy(&fn->cpus, cpus);
	settings_unlock(fn);
	return 0;
}

int xhca_function_set_cpus(struct xhca_function *fn, const char *list)
{
	cpumask_var_t cpus;
	int err;

	if (!alloc_cpumask_var(&cpus, GFP_KERNEL))
		return -ENOMEM;
	err = xhca_parse_cpus(list, cpus);
	if (!err)
		err = set_cpus(fn, cpus);
	free_cpumask_var(cpus);
	return err;
}

/* ---- Packets between local functions ---------------------------------------------------- */

struct packets_change {
	struct xhca_function *fn;
	bool capture;
	struct xhca_impairments impair;
	bool failed;
};

static void change_packets(void *arg)
{
	struct packets_change *c = arg;
	bool impaired = xhca_impair_is_any(&c->impair), packets = c->capture || impaired;
	struct xhca_function *fn = c->fn;

	c->failed = !hca_use_packets(fn->hca, packets);
	if (c->failed)
		return;
	fn->packets = packets;
	WRITE_ONCE(fn->capture, c->capture);
	fn->impair.settings = c->impair;
	fn->impair.active = impaired;
}

/* Needs xhca.lock. */
static int set_packets(struct xhca_function *fn, bool capture, const struct xhca_impairments *i)
{
	struct packets_change c = { .fn = fn, .capture = capture, .impair = *i };

	if (!fn->plugged || !fn->roce) {
		pr_err("function %u is not an enabled RoCE function\n", fn->index);
		return -EINVAL;
	}
	xhca_engine_call(&fn->fabric->engine, change_packets, &c);
	return c.failed ? -ENOMEM : 0;
}

int xhca_function_set_capture(struct xhca_function *fn, bool on)
{
	int err;

	mutex_lock(&fn->xhca->lock);
	err = set_packets(fn, on, &fn->impair.settings);
	mutex_unlock(&fn->xhca->lock);
	return err;
}

int xhca_function_set_impair(struct xhca_function *fn, const char *text)
{
	struct xhca_impairments i;
	int err = xhca_impair_parse(text, &i);

	if (err)
		return err;
	mutex_lock(&fn->xhca->lock);
	err = set_packets(fn, fn->capture, &i);
	mutex_unlock(&fn->xhca->lock);
	return err;
}

static bool mac_is_in_use(const struct xhca_function *fn)
{
	const struct xhca *x = fn->xhca;
	unsigned int i;

	for (i = 0; i < XHCA_MAX_FUNCTIONS; i++)
		if (x->fn[i].plugged && ether_addr_equal(x->fn[i].mac, fn->mac))
			return true;
	return false;
}

static int check_settings(const struct xhca_function *fn, struct net *net)
{
	/* The driver expects the second RoCE port of an adapter in a second function. */
	if (fn->roce && fn->num_ports > 1) {
		pr_err("ports=%u needs link=ib: a RoCE function has one port\n", fn->num_ports);
		return -EINVAL;
	}
	if (!fn->roce && !fn->model->infiniband) {
		pr_err("model=%s needs link=roce: its ports are Ethernet\n", fn->model->name);
		return -EINVAL;
	}
	if (mac_is_in_use(fn)) {
		pr_err("mac=%pM belongs to another function\n", fn->mac);
		return -EADDRINUSE;
	}
	return xhca_uplink_check(fn, net);
}

/* ---- Plugging ------------------------------------------------------------------------- */

static void wake(struct xhca_function *fn)
{
	xhca_engine_wake(&fn->fabric->engine);
}

static int plug(struct xhca_function *fn, struct net *net)
{
	int err = check_settings(fn, net);

	if (!err)
		err = xhca_fabric_join(fn);
	if (err)
		return err;
	err = xhca_frames_create(fn, wake);
	if (err)
		goto err_fabric;
	memset(xhca_bar_ptr(fn), 0, fn->xhca->bar.size);
	xhca_engine_call(&fn->fabric->engine, create_hca, fn);
	if (!fn->hca) {
		err = -ENOMEM;
		goto err_frames;
	}
	xhca_debugfs_add(fn);
	err = xhca_pci_plug(fn, net);
	if (err)
		goto err_hca;
	return 0;

err_hca:
	xhca_debugfs_del(fn);
	xhca_engine_call(&fn->fabric->engine, destroy_hca, fn);
err_frames:
	xhca_frames_destroy(fn);
err_fabric:
	xhca_fabric_leave(fn);
	return err;
}

int xhca_function_plug(struct xhca_function *fn, struct net *net)
{
	int err = 0;

	mutex_lock(&fn->xhca->lock);
	if (!fn->plugged) {
		err = plug(fn, net);
		fn->plugged = !err;
	}
	mutex_unlock(&fn->xhca->lock);
	return err;
}

/* The engine runs between two calls: the other functions do not wait until all is freed. */
static void free_objects(struct xhca_function *fn)
{
	xhca_engine_call(&fn->fabric->engine, stop_hca, fn);
	do
		xhca_engine_call(&fn->fabric->engine, reset_hca, fn);
	while (!fn->is_reset);
}

static void unplug(struct xhca_function *fn)
{
	xhca_pci_unplug(fn);
	xhca_debugfs_del(fn);
	free_objects(fn);
	xhca_engine_call(&fn->fabric->engine, destroy_hca, fn);
	xhca_frames_destroy(fn);
	xhca_fabric_leave(fn);
	fn->plugged = false;
}

void xhca_function_unplug(struct xhca_function *fn)
{
	mutex_lock(&fn->xhca->lock);
	if (fn->plugged)
		unplug(fn);
	mutex_unlock(&fn->xhca->lock);
}

void xhca_function_surprise_removal(struct xhca_function *fn)
{
	xhca_engine_call(&fn->fabric->engine, stop_hca, fn);
	xhca_pci_surprise_removal(fn);
	unplug(fn);
}

void xhca_functions_init(struct xhca *x)
{
	unsigned int i;

	mutex_init(&x->lock);
	for (i = 0; i < XHCA_MAX_FUNCTIONS; i++) {
		x->fn[i].xhca = x;
		x->fn[i].index = i;
	}
}

void xhca_functions_exit(struct xhca *x)
{
	unsigned int i;

	for (i = 0; i < XHCA_MAX_FUNCTIONS; i++)
		xhca_function_unplug(&x->fn[i]);
}
