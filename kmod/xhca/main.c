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
MODULE_PARM_DESC(functions, "number of PCI functions that exist after load, 0 to 16 (2)");

static char *link = "roce";
module_param(link, charp, 0444);
MODULE_PARM_DESC(link, "link layer of their ports: roce or ib (roce)");

static char *model = HCA_DEFAULT_MODEL;
module_param(model, charp, 0444);
MODULE_PARM_DESC(model, "generation of adapters that they are: " HCA_MODELS " (cx5)");

static bool strict;
module_param(strict, bool, 0444);
MODULE_PARM_DESC(strict, "they execute nothing without a doorbell, as adapters (no)");

static unsigned int ports = 1;
module_param(ports, uint, 0444);
MODULE_PARM_DESC(ports, "number of their ports, 2 only with link=ib (1)");

static char *uplink = "";
module_param(uplink, charp, 0444);
MODULE_PARM_DESC(uplink, "interface to which the RoCE port of the first function is connected");

static bool shared;
module_param(shared, bool, 0444);
MODULE_PARM_DESC(shared, "its port has the addresses of that interface (no)");

static ulong bar;
module_param(bar, ulong, 0444);
MODULE_PARM_DESC(bar,
		 "physical address of reserved memory for BARs, 8 MiB per function (0: find it)");

static uint bar_size;
module_param(bar_size, uint, 0444);
MODULE_PARM_DESC(bar_size,
		 "MiB of a BAR, 8, 16 or 32 (0: as much as there is for 16 functions, 8 at least)");

static ulong block = 2048;
module_param(block, ulong, 0444);
MODULE_PARM_DESC(block,
		 "most memory, in MiB, to take from the kernel for BARs if none is reserved (2048)");

static uint lists = 128;
module_param(lists, uint, 0444);
MODULE_PARM_DESC(lists,
		 "most memory, in MiB, for lists of memory keys of a function's processes (128)");

static char *cpus = "";
module_param(cpus, charp, 0444);
MODULE_PARM_DESC(cpus, "list of CPUs to run on, for instance 0-3,8 (all that are not isolated)");

static struct xhca *xhca;

static int create_function(struct xhca *x)
{
	struct xhca_function *fn = xhca_function_new(x);
	int err;

	if (IS_ERR(fn))
		return PTR_ERR(fn);
	err = xhca_function_set_link(fn, link);
	if (!err)
		err = xhca_function_set_model(fn, model);
	if (!err)
		err = xhca_function_set_ports(fn, ports);
	if (!err)
		err = xhca_function_set_strict(fn, strict);
	if (!err && !fn->index)
		err = xhca_function_set_uplink(fn, uplink);
	if (!err && !fn->index)
		err = xhca_function_set_shared(fn, shared);
	if (!err)
		err = xhca_function_plug(fn, &init_net);
	return err;
}

static int create_functions(struct xhca *x)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < functions && !err; i++)
		err = create_function(x);
	if (err)
		xhca_functions_exit(x);
	return err;
}

static int start(struct xhca *x)
{
	int err;

	x->list_bytes = (u64)lists << 20;
	xhca_functions_init(x);
	err = xhca_power_init(x);
	if (err)
		return err;
	err = xhca_bar_init(x, bar, (u64)block << 20, (u64)bar_size << 20, functions);
	if (err)
		goto err_power;
	xhca_debugfs_init(x);
	err = xhca_fabrics_init(x, cpus);
	if (err)
		goto err_debugfs;
	err = xhca_dma_init(x);
	if (err)
		goto err_fabrics;
	err = xhca_uplink_init(x);
	if (err)
		goto err_dma;
	err = xhca_pci_init(x);
	if (err)
		goto err_uplink;
	err = create_functions(x);
	if (err)
		goto err_pci;
	err = xhca_config_init(x, functions);
	if (err)
		goto err_functions;
	return 0;

err_functions:
	xhca_functions_exit(x);
err_pci:
	xhca_pci_exit(x);
err_uplink:
	xhca_uplink_exit(x);
err_dma:
	xhca_dma_exit(x);
err_fabrics:
	xhca_fabrics_exit(x);
err_debugfs:
	xhca_debugfs_exit(x);
	xhca_bar_exit(x);
err_power:
	xhca_power_exit(x);
	return err;
}

static int __init xhca_init(void)
{
	int err;

	if (functions > XHCA_MAX_FUNCTIONS) {
		pr_err("functions=%u: must be 0 to %u\n", functions, XHCA_MAX_FUNCTIONS);
		return -EINVAL;
	}
	xhca = kvzalloc(sizeof(*xhca), GFP_KERNEL);
	if (!xhca)
		return -ENOMEM;
	xhca_crc_init();
	err = start(xhca);
	if (err) {
		xhca_crc_exit();
		kvfree(xhca);
	} else {
		pr_info("%u %s function%s at %pa, room for %u\n", functions,
			strcmp(link, "ib") ? "RoCE" : "InfiniBand", functions == 1 ? "" : "s",
			&xhca->bar.res.start, xhca->bar.room);
	}
	return err;
}

static void __exit xhca_exit(void)
{
	xhca_config_exit();
	xhca_functions_exit(xhca);
	xhca_pci_exit(xhca);
	xhca_uplink_exit(xhca);
	xhca_dma_exit(xhca);
	xhca_fabrics_exit(xhca);
	xhca_debugfs_exit(xhca);
	xhca_bar_exit(xhca);
	xhca_power_exit(xhca);
	xhca_crc_exit();
	kvfree(xhca);
}

module_init(xhca_init);
module_exit(xhca_exit);
MODULE_DESCRIPTION("A ConnectX adapter in software");
MODULE_LICENSE("GPL");
