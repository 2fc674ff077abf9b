// SPDX-License-Identifier: GPL-2.0
/*
 * Devices: the list, open and close.
 */
#include <stddef.h>
#include <doca_dev.h>
#include "tap.h"

int main(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t n = 0;

	tap_is(doca_devinfo_create_list(NULL, &n), DOCA_ERROR_INVALID_VALUE, "no list");
	tap_is(doca_devinfo_create_list(&list, &n), DOCA_SUCCESS, "the list of devices");
	ok(n && !list[n], "%u devices, and the list ends with NULL", n);
	tap_is(doca_dev_open(list[0], &dev), DOCA_SUCCESS, "the first one is opened");
	tap_is(doca_devinfo_destroy_list(list), DOCA_SUCCESS, "the list is destroyed");
	ok(doca_dev_as_devinfo(dev) != NULL, "the properties of the open device");
	tap_is(doca_dev_close(dev), DOCA_SUCCESS, "the device is closed");
	tap_is(doca_dev_close(NULL), DOCA_ERROR_INVALID_VALUE, "no device");
	return tap_done();
}
