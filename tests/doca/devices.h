/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The devices of a test, which needs two.
 */
#ifndef TESTS_DOCA_DEVICES_H
#define TESTS_DOCA_DEVICES_H

#include <doca_dev.h>
#include "tap.h"

static void open_devices(struct doca_dev **first, struct doca_dev **second)
{
	struct doca_devinfo **list;
	uint32_t n;

	if (doca_devinfo_create_list(&list, &n) != DOCA_SUCCESS || n < 2)
		bail_out("the test needs two devices");
	if (doca_dev_open(list[0], first) != DOCA_SUCCESS ||
	    doca_dev_open(list[1], second) != DOCA_SUCCESS)
		bail_out("doca_dev_open() failed");
	doca_devinfo_destroy_list(list);
}

#endif
