// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Values that name devices.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "argp.h"

/* The text begins with the PCI address of the device, with its domain or without, and a comma. */
static bool has_address(const struct doca_devinfo *info, const char *text)
{
	size_t len = strcspn(text, ",");
	char link[sizeof(info->xv.ibdev_path) + 8], path[PATH_MAX], *address;

	snprintf(link, sizeof(link), "%s/device", info->xv.ibdev_path);
	if (!realpath(link, path))
		return false;
	address = strrchr(path, '/') + 1;
	if (len == strlen("08:00.0") && !strncmp(address, "0000:", 5))
		address += 5;
	return len == strlen(address) && !strncasecmp(address, text, len);
}

doca_error_t argp_open_device(const char *value, struct doca_argp_device_ctx *device)
{
	doca_error_t result = DOCA_ERROR_NOT_FOUND, listed;
	struct doca_devinfo **list;
	uint32_t count, i;

	if (strncmp(value, "pci/", 4))
		return DOCA_ERROR_INVALID_VALUE;
	value += 4;
	listed = doca_devinfo_create_list(&list, &count);
	if (listed)
		return listed;
	for (i = 0; i < count && result == DOCA_ERROR_NOT_FOUND; i++)
		if (has_address(list[i], value))
			result = doca_dev_open(list[i], &device->dev);
	doca_devinfo_destroy_list(list);
	value = strchr(value, ',');
	device->devargs = value ? value + 1 : NULL;
	return result;
}
