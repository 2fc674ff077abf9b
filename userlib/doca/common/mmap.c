// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory maps: configuration, and registration on the devices.
 */
#include <errno.h>
#include <stdlib.h>
#include "mmap.h"

#define DEFAULT_MAX_DEVS	64
#define ALL_FLAGS		(2u * DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING - 1)

EXPORT doca_error_t doca_mmap_create(struct doca_mmap **mmap)
{
	if (!mmap)
		return DOCA_ERROR_INVALID_VALUE;
	*mmap = calloc(1, sizeof(**mmap));
	if (!*mmap)
		return DOCA_ERROR_NO_MEMORY;
	(*mmap)->max_devs = DEFAULT_MAX_DEVS;
	(*mmap)->dmabuf_fd = -1;
	return DOCA_SUCCESS;
}

static bool has_bufs(const struct doca_mmap *mmap)
{
	return __atomic_load_n(&mmap->bufs, __ATOMIC_ACQUIRE) != 0;
}

/* Also makes the exports invalid. */
static void unregister(struct doca_mmap *mmap)
{
	uint32_t i;

	for (i = 0; i < mmap->num_devs; i++) {
		if (mmap->devs[i].mr)
			xv_dereg_mr(mmap->devs[i].mr);
		mmap->devs[i].mr = NULL;
		free(mmap->devs[i].blob);
		mmap->devs[i].blob = NULL;
	}
	mmap->started = false;
}

EXPORT doca_error_t doca_mmap_destroy(struct doca_mmap *mmap)
{
	uint32_t i;

	if (!mmap)
		return DOCA_ERROR_INVALID_VALUE;
	if (has_bufs(mmap))
		return DOCA_ERROR_IN_USE;
	unregister(mmap);
	for (i = 0; i < mmap->num_devs; i++)
		xvd_dev_put(mmap->devs[i].dev);
	if (mmap->free_cb && mmap->addr)
		mmap->free_cb(mmap->addr, mmap->len, mmap->free_cookie);
	free(mmap->devs);
	free(mmap);
	return DOCA_SUCCESS;
}

/* The flags of regions.  Those that let others write need the right to write here, too. */
static unsigned int region_access(uint32_t permissions)
{
	static const struct {
		uint32_t flag;
		unsigned int access;
	} map[] = {
		{ DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, XV_ACCESS_LOCAL_WRITE },
		{ DOCA_ACCESS_FLAG_RDMA_READ, XV_ACCESS_REMOTE_READ },
		{ DOCA_ACCESS_FLAG_RDMA_WRITE, XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE },
		{ DOCA_ACCESS_FLAG_RDMA_ATOMIC, XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_ATOMIC },
		{ DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING, XV_ACCESS_RELAXED_ORDERING },
	};
	unsigned int access = 0, i;

	for (i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		if (permissions & map[i].flag)
			access |= map[i].access;
	return access;
}

static doca_error_t register_on(struct doca_mmap *mmap, struct xvd_mmap_dev *d)
{
	unsigned int access = region_access(mmap->permissions);

	if (mmap->dmabuf_fd >= 0)
		d->mr = xv_reg_dmabuf_mr(d->dev->pd, mmap->dmabuf_offset, mmap->len,
					 (uintptr_t)mmap->addr, mmap->dmabuf_fd, access);
	else
		d->mr = xv_reg_mr(d->dev->pd, mmap->addr, mmap->len, access);
	if (!d->mr)
		return xvd_error(errno);
	d->lkey = d->mr->lkey;
	d->rkey = d->mr->rkey;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_mmap_start(struct doca_mmap *mmap)
{
	doca_error_t result;
	uint32_t i;

	if (!mmap)
		return DOCA_ERROR_INVALID_VALUE;
	if (mmap->started || mmap->remote || !mmap->addr)
		return DOCA_ERROR_BAD_STATE;
	for (i = 0; i < mmap->num_devs; i++) {
		result = register_on(mmap, &mmap->devs[i]);
		if (result != DOCA_SUCCESS) {
			unregister(mmap);
			return result;
		}
	}
	mmap->started = true;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_mmap_stop(struct doca_mmap *mmap)
{
	if (!mmap)
		return DOCA_ERROR_INVALID_VALUE;
	if (!mmap->started)
		return DOCA_ERROR_BAD_STATE;
	if (has_bufs(mmap))
		return DOCA_ERROR_IN_USE;
	unregister(mmap);
	return DOCA_SUCCESS;
}

/* For setters.  valid: the other arguments are valid. */
static doca_error_t check_config(const struct doca_mmap *mmap, bool valid)
{
	if (!mmap || !valid)
		return DOCA_ERROR_INVALID_VALUE;
	return mmap->started || mmap->remote ? DOCA_ERROR_BAD_STATE : DOCA_SUCCESS;
}

EXPORT doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev)
{
	doca_error_t result = check_config(mmap, dev != NULL);
	struct xvd_mmap_dev *devs;

	if (result != DOCA_SUCCESS)
		return result;
	if (xvd_mmap_dev(mmap, dev))
		return DOCA_ERROR_ALREADY_EXIST;
	if (mmap->num_devs >= mmap->max_devs)
		return DOCA_ERROR_FULL;
	devs = reallocarray(mmap->devs, mmap->num_devs + 1, sizeof(*devs));
	if (!devs)
		return DOCA_ERROR_NO_MEMORY;
	devs[mmap->num_devs] = (struct xvd_mmap_dev) { .dev = dev };
	mmap->devs = devs;
	mmap->num_devs++;
	xvd_dev_get(dev);
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_mmap_rm_dev(struct doca_mmap *mmap, struct doca_dev *dev)
{
	doca_error_t result = check_config(mmap, dev != NULL);
	uint32_t i;

	if (result != DOCA_SUCCESS)
		return result;
	for (i = 0; i < mmap->num_devs && mmap->devs[i].dev != dev; i++)
		;
	if (i == mmap->num_devs)
		return DOCA_ERROR_NOT_FOUND;
	mmap->devs[i] = mmap->devs[--mmap->num_devs];
	xvd_dev_put(dev);
	return DOCA_SUCCESS;
}

/* dmabuf_fd: -1 for memory of the process */
static doca_error_t set_range(struct doca_mmap *mmap, void *addr, size_t len, int dmabuf_fd,
			      size_t dmabuf_offset)
{
	doca_error_t result = check_config(mmap, addr && len && (uintptr_t)addr + len - 1 >=
					   (uintptr_t)addr);

	if (result != DOCA_SUCCESS)
		return result;
	mmap->addr = addr;
	mmap->len = len;
	mmap->dmabuf_fd = dmabuf_fd;
	mmap->dmabuf_offset = dmabuf_offset;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len)
{
	return set_range(mmap, addr, len, -1, 0);
}

EXPORT doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd,
						  void *addr, size_t dmabuf_offset, size_t len)
{
	if (dmabuf_fd < 0)
		return DOCA_ERROR_INVALID_VALUE;
	return set_range(mmap, addr, len, dmabuf_fd, dmabuf_offset);
}

EXPORT doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices)
{
	doca_error_t result = check_config(mmap, max_num_devices != 0);

	if (result != DOCA_SUCCESS)
		return result;
	if (max_num_devices < mmap->num_devs)
		return DOCA_ERROR_INVALID_VALUE;
	mmap->max_devs = max_num_devices;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask)
{
	doca_error_t result = check_config(mmap, !(access_mask & ~ALL_FLAGS));

	if (result == DOCA_SUCCESS)
		mmap->permissions = access_mask;
	return result;
}

EXPORT doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap,
					  doca_mmap_memrange_free_cb_t *free_cb, void *opaque)
{
	doca_error_t result = check_config(mmap, free_cb != NULL);

	if (result != DOCA_SUCCESS)
		return result;
	mmap->free_cb = free_cb;
	mmap->free_cookie = opaque;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_mmap_set_user_data(struct doca_mmap *mmap, union doca_data user_data)
{
	doca_error_t result = check_config(mmap, true);

	if (result == DOCA_SUCCESS)
		mmap->user_data = user_data;
	return result;
}

#define GETTER(name, type, value)						\
EXPORT doca_error_t doca_mmap_get_##name(const struct doca_mmap *mmap, type *name)	\
{										\
	if (!mmap || !name)							\
		return DOCA_ERROR_INVALID_VALUE;				\
	*name = (value);							\
	return DOCA_SUCCESS;							\
}

GETTER(max_num_devices, uint32_t, mmap->max_devs)
GETTER(num_bufs, uint32_t, __atomic_load_n(&mmap->bufs, __ATOMIC_RELAXED))
GETTER(user_data, union doca_data, mmap->user_data)

EXPORT doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr, size_t *len)
{
	if (!mmap || !addr || !len)
		return DOCA_ERROR_INVALID_VALUE;
	if (!mmap->addr)
		return DOCA_ERROR_BAD_STATE;
	*addr = mmap->addr;
	*len = mmap->len;
	return DOCA_SUCCESS;
}
