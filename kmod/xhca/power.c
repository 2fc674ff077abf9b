// SPDX-License-Identifier: GPL-2.0
/*
 * Hibernation is refused while the module is loaded: the image would not contain the BARs,
 * which are no RAM of the kernel.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/suspend.h>

#include "xhca.h"

static int power_event(struct notifier_block *nb, unsigned long event, void *data)
{
	if (event != PM_HIBERNATION_PREPARE)
		return NOTIFY_OK;
	pr_err("hibernation is not possible while the module is loaded\n");
	return notifier_from_errno(-EBUSY);
}

int xhca_power_init(struct xhca *x)
{
	x->power.notifier_call = power_event;
	return register_pm_notifier(&x->power);
}

void xhca_power_exit(struct xhca *x)
{
	unregister_pm_notifier(&x->power);
}
