// SPDX-License-Identifier: GPL-2.0
/*
 * xhca: a ConnectX adapter in software.  This file has the parameters, and the order in which
 * the parts start and stop.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/slab.h>

#include "xhca.h"

static unsigned int functions = 2;
module_param(functions, uint, 0444);
MODULE_PARM_DESC(functions, "number of PCI functions, 1 to 16 (2)");

static char *link = "roce";
module_param(link, charp, 0444);
MODULE_PARM_DESC(link, "link layer of the ports: roce or ib (roce)");

static unsigned int ports = 1;
module_param(ports, uint, 0444);
MODULE_PARM_DESC(ports, "number of ports of a function, 2 only with link=ib (1)");

static ulong bar;
module_param(bar, ulong, 0444);
MODULE_PARM_DESC(bar,
		 "physical address of reserved memory for BARs, 8 MiB per function (0: find it)");

static ulong block = 2048;
module_param(block, ulong, 0444);
MODULE_PARM_DESC(block,
		 "most memory, in MiB, to take from the kernel for BARs if none is reserved (2048)");

static char *cpus = "";
module_param(cpus, charp, 0444);
MODULE_PARM_DESC(cpus, "list of CPUs to run on, for instance 0-3,8 (all that are not isolated)");

static struct xhca *xhca;

static const struct hca_ops hca_ops = {
	.dma_ptr	= xhca_dma_ptr,
	.raise_irq	= xhca_raise_irq,
};

/* A function has the same addresses at every load. */
static void function_init(struct xhca *x, unsigned int index)
{
	const u8 mac[ETH_ALEN] = { 0x02, 'x', 'h', 'c', 'a', index };
	struct xhca_function *fn = &x->fn[index];

	fn->xhca = x;
	fn->index = index;
	memcpy(fn->mac, mac, ETH_ALEN);
}

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
		.index = fn->index,
		.roce = fn->xhca->roce,
		.num_ports = ports,
		.node_guid = function_guid(fn),
		.lid = fn->index + 1,
		.num_vectors = HCA_MAX_VECTORS,
		.bar = xhca_bar_ptr(fn),
	};

	memcpy(p.mac, fn->mac, ETH_ALEN);
	fn->hca = hca_create(&fn->xhca->engine.fabric, &p, &hca_ops, fn);
}

static void destroy_hca(void *arg)
{
	struct xhca_function *fn = arg;

	if (fn->hca)
		hca_destroy(fn->hca);
	fn->hca = NULL;
}

static void destroy_hcas(struct xhca *x)
{
	unsigned int i;

	for (i = 0; i < x->nfunctions; i++)
		xhca_engine_call(x, destroy_hca, &x->fn[i]);
}

static int create_hcas(struct xhca *x)
{
	unsigned int i;

	for (i = 0; i < x->nfunctions; i++) {
		function_init(x, i);
		xhca_engine_call(x, create_hca, &x->fn[i]);
		if (!x->fn[i].hca) {
			destroy_hcas(x);
			return -ENOMEM;
		}
	}
	return 0;
}

static int check_parameters(bool *roce)
{
	if (functions < 1 || functions > XHCA_MAX_FUNCTIONS) {
		pr_err("functions=%u: must be 1 to %u\n", functions, XHCA_MAX_FUNCTIONS);
		return -EINVAL;
	}
	*roce = !strcmp(link, "roce");
	if (!*roce && strcmp(link, "ib")) {
		pr_err("link=%s: must be roce or ib\n", link);
		return -EINVAL;
	}
	if (ports < 1 || ports > HCA_MAX_PORTS) {
		pr_err("ports=%u: must be 1 to %u\n", ports, HCA_MAX_PORTS);
		return -EINVAL;
	}
	/* The driver expects the second RoCE port of an adapter in a second function. */
	if (ports > 1 && *roce) {
		pr_err("ports=%u needs link=ib: a RoCE function has one port\n", ports);
		return -EINVAL;
	}
	return 0;
}

static int start(struct xhca *x)
{
	int err;

	err = xhca_power_init(x);
	if (err)
		return err;
	err = xhca_bar_init(x, bar, (u64)block << 20);
	if (err)
		goto err_power;
	err = xhca_engine_init(x, cpus);
	if (err)
		goto err_bar;
	err = xhca_dma_init(x);
	if (err)
		goto err_engine;
	err = create_hcas(x);
	if (err)
		goto err_dma;
	xhca_debugfs_init(x);
	err = xhca_pci_init(x);
	if (err)
		goto err_hcas;
	return 0;

err_hcas:
	xhca_debugfs_exit(x);
	destroy_hcas(x);
err_dma:
	xhca_dma_exit(x);
err_engine:
	xhca_engine_exit(x);
err_bar:
	xhca_bar_exit(x);
err_power:
	xhca_power_exit(x);
	return err;
}

static int __init xhca_init(void)
{
	bool roce;
	int err;

	err = check_parameters(&roce);
	if (err)
		return err;
	xhca = kvzalloc(struct_size(xhca, fn, functions), GFP_KERNEL);
	if (!xhca)
		return -ENOMEM;
	xhca->roce = roce;
	xhca->nfunctions = functions;
	err = start(xhca);
	if (err)
		kvfree(xhca);
	else
		pr_info("%u %s function%s at %pa\n", functions, roce ? "RoCE" : "InfiniBand",
			functions > 1 ? "s" : "", &xhca->bar.res.start);
	return err;
}

static void __exit xhca_exit(void)
{
	xhca_pci_exit(xhca);
	xhca_debugfs_exit(xhca);
	destroy_hcas(xhca);
	xhca_dma_exit(xhca);
	xhca_engine_exit(xhca);
	xhca_bar_exit(xhca);
	xhca_power_exit(xhca);
	kvfree(xhca);
}

module_init(xhca_init);
module_exit(xhca_exit);
MODULE_DESCRIPTION("A ConnectX adapter in software");
MODULE_LICENSE("GPL");
