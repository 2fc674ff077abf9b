// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Devices: the list, and open ones.  An open device has a context and a PD of libxverbs.
 */
#include <errno.h>
#include <stdlib.h>
#include "internal.h"

EXPORT doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs)
{
	struct doca_devinfo **list, *entry;
	struct xv_device **devices, **d;
	int n = 0, i = 0;

	if (!dev_list || !nb_devs)
		return DOCA_ERROR_INVALID_VALUE;
	devices = xv_get_device_list(&n);
	if (!devices)
		return xvd_error(errno);
	/* The entries are behind the array, so that free() of the array frees all. */
	list = calloc(1, (n + 1) * sizeof(*list) + n * sizeof(*entry));
	if (list) {
		entry = (struct doca_devinfo *)(list + n + 1);
		for (d = devices; *d; d++) {
			if (!(*d)->available)
				continue;
			entry[i].xv = **d;
			list[i] = &entry[i];
			i++;
		}
		*dev_list = list;
		*nb_devs = i;
	}
	xv_free_device_list(devices);
	return list ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

EXPORT doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list)
{
	if (!dev_list)
		return DOCA_ERROR_INVALID_VALUE;
	free(dev_list);
	return DOCA_SUCCESS;
}

static doca_error_t close_unused(struct doca_dev *dev)
{
	/* Memory that libibverbs registered uses the PD, and xv_close() would not refuse. */
	int err = dev->borrowed ? 0 : xv_dealloc_pd(dev->pd);

	if (err)
		return xvd_error(err);
	xvd_ibv_free(&dev->ibv);
	if (!dev->borrowed)
		xv_close(dev->ctx);
	if (dev->closed)
		dev->closed(dev->owner);
	free(dev);
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev)
{
	struct doca_dev *new;
	int err;

	if (!devinfo || !dev)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	new->info = *devinfo;
	new->ctx = xv_open_device(&devinfo->xv);
	if (new->ctx)
		new->pd = xv_alloc_pd(new->ctx);
	if (!new->pd) {
		err = errno;
		if (new->ctx)
			xv_close(new->ctx);
		free(new);
		return xvd_error(err);
	}
	*dev = new;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_dev_close(struct doca_dev *dev)
{
	if (!dev)
		return DOCA_ERROR_INVALID_VALUE;
	if (__atomic_load_n(&dev->users, __ATOMIC_ACQUIRE))
		return DOCA_ERROR_IN_USE;
	return close_unused(dev);
}

EXPORT struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev)
{
	return dev ? (struct doca_devinfo *)&dev->info : NULL;
}
