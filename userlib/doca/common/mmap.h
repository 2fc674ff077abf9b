/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory maps: the structure, and its keys for the data path.
 */
#ifndef XVDOCA_PRIVATE_MMAP_H
#define XVDOCA_PRIVATE_MMAP_H

#include <doca_mmap.h>
#include "internal.h"

/* The memory on one device.  A map from an export has no region, and only rkey is valid. */
struct xvd_mmap_dev {
	struct doca_dev *dev;
	uint32_t lkey;
	uint32_t rkey;
	struct xv_mr *mr;
	void *blob;			/* the last export, owned by the map */
};

struct doca_mmap {
	char *addr;
	size_t len;
	uint32_t num_devs;
	uint32_t permissions;		/* enum doca_access_flag; those of the exporter */
	struct xvd_mmap_dev *devs;
	bool started;
	bool remote;			/* from an export: addresses of another process */
	unsigned int bufs;		/* buffers in the map; atomic */
	uint32_t max_devs;
	int dmabuf_fd;			/* or -1 */
	size_t dmabuf_offset;
	doca_mmap_memrange_free_cb_t *free_cb;
	void *free_cookie;
	union doca_data user_data;
};

/* The keys for a device, or NULL if the device was not added.  Most maps have one device. */
static inline const struct xvd_mmap_dev *xvd_mmap_dev(const struct doca_mmap *mmap,
						      const struct doca_dev *dev)
{
	uint32_t i;

	for (i = 0; i < mmap->num_devs; i++)
		if (mmap->devs[i].dev == dev)
			return &mmap->devs[i];
	return NULL;
}

#endif
