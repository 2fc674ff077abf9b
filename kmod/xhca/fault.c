// SPDX-License-Identifier: GPL-2.0
/*
 * Faults of a function on request, for tests of drivers and programs.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/string.h>

#include "xhca.h"

static void firmware_fail(void *arg)
{
	hca_firmware_fail(((struct xhca_function *)arg)->hca);
}

static void set_ports(struct xhca_function *fn, bool up)
{
	unsigned int i;

	for (i = 1; i <= fn->num_ports; i++)
		hca_port_set(hca_port_find(fn->hca, i), up);
}

static void ports_down(void *fn)
{
	set_ports(fn, false);
}

static void ports_up(void *fn)
{
	set_ports(fn, true);
}

static void fault_firmware(struct xhca_function *fn)
{
	xhca_engine_call(&fn->fabric->engine, firmware_fail, fn);
}

static void fault_down(struct xhca_function *fn)
{
	if (fn->roce)
		xhca_netdev_cable(fn, false);
	else
		xhca_engine_call(&fn->fabric->engine, ports_down, fn);
}

static void fault_up(struct xhca_function *fn)
{
	if (fn->roce)
		xhca_netdev_cable(fn, true);
	else
		xhca_engine_call(&fn->fabric->engine, ports_up, fn);
}

static const struct {
	const char *name;
	void (*cause)(struct xhca_function *fn);
} faults[] = {
	{ "firmware", fault_firmware },
	{ "down", fault_down },
	{ "up", fault_up },
	{ "pci-error", xhca_pci_error },
	{ "unplug", xhca_function_surprise_removal },
};

int xhca_function_fault(struct xhca_function *fn, const char *name)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(faults); i++)
		if (!strcmp(faults[i].name, name))
			break;
	if (i == ARRAY_SIZE(faults)) {
		pr_err("fault=%s: must be firmware, down, up, pci-error or unplug\n", name);
		return -EINVAL;
	}
	mutex_lock(&fn->xhca->lock);
	if (fn->plugged) {
		faults[i].cause(fn);
	} else {
		pr_err("function %u is not enabled\n", fn->index);
		err = -ENODEV;
	}
	mutex_unlock(&fn->xhca->lock);
	return err;
}
