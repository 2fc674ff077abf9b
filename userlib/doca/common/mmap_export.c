// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory maps of other processes: export, and creation from an export.
 */
#include <endian.h>
#include <stdlib.h>
#include "blob.h"
#include "mmap.h"

#define RDMA_FLAGS	(DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE |	\
			 DOCA_ACCESS_FLAG_RDMA_ATOMIC)

struct mmap_blob {
	struct xvd_blob header;
	uint64_t addr;
	uint64_t len;
	uint32_t rkey;
	uint32_t permissions;
};

EXPORT doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev,
					  const void **export_desc, size_t *export_desc_len)
{
	struct xvd_mmap_dev *d;
	struct mmap_blob *blob;

	if (!mmap || !dev || !export_desc || !export_desc_len)
		return DOCA_ERROR_INVALID_VALUE;
	if (!mmap->started)
		return DOCA_ERROR_BAD_STATE;
	if (mmap->remote || !(mmap->permissions & RDMA_FLAGS))
		return DOCA_ERROR_NOT_PERMITTED;
	d = (struct xvd_mmap_dev *)xvd_mmap_dev(mmap, dev);
	if (!d)
		return DOCA_ERROR_NOT_FOUND;
	if (!d->blob) {
		d->blob = calloc(1, sizeof(*blob));
		if (!d->blob)
			return DOCA_ERROR_NO_MEMORY;
	}
	blob = d->blob;
	blob->addr = htole64((uintptr_t)mmap->addr);
	blob->len = htole64(mmap->len);
	blob->rkey = htole32(d->rkey);
	blob->permissions = htole32(mmap->permissions & RDMA_FLAGS);
	xvd_blob_seal(&blob->header, XVD_BLOB_MMAP, sizeof(*blob));
	*export_desc = blob;
	*export_desc_len = sizeof(*blob);
	return DOCA_SUCCESS;
}

/* Maps through a PCI function need a DPU whose firmware reaches the memory of its host. */
EXPORT doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev,
					 const void **export_desc, size_t *export_desc_len)
{
	if (!mmap || !dev || !export_desc || !export_desc_len)
		return DOCA_ERROR_INVALID_VALUE;
	return DOCA_ERROR_NOT_SUPPORTED;
}

/* A checksum does not keep a peer from sending nonsense. */
static doca_error_t open_blob(struct mmap_blob *blob, const void *data, size_t len)
{
	doca_error_t result = xvd_blob_open(&blob->header, XVD_BLOB_MMAP, sizeof(*blob), data, len);

	if (result != DOCA_SUCCESS)
		return result;
	blob->addr = le64toh(blob->addr);
	blob->len = le64toh(blob->len);
	blob->rkey = le32toh(blob->rkey);
	blob->permissions = le32toh(blob->permissions);
	if (!blob->addr || !blob->len || blob->addr + blob->len - 1 < blob->addr ||
	    blob->permissions & ~RDMA_FLAGS || !blob->permissions)
		return DOCA_ERROR_INVALID_VALUE;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_mmap_create_from_export(const union doca_data *user_data,
						 const void *export_desc, size_t export_desc_len,
						 struct doca_dev *dev, struct doca_mmap **mmap)
{
	struct doca_mmap *new = NULL;
	struct mmap_blob blob;
	doca_error_t result;

	if (!export_desc || !dev || !mmap)
		return DOCA_ERROR_INVALID_VALUE;
	result = open_blob(&blob, export_desc, export_desc_len);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_create(&new);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_add_dev(new, dev);
	if (result != DOCA_SUCCESS) {
		doca_mmap_destroy(new);
		return result;
	}
	new->addr = (char *)(uintptr_t)blob.addr;
	new->len = blob.len;
	new->permissions = blob.permissions;
	new->devs[0].rkey = blob.rkey;
	new->remote = true;
	new->started = true;
	if (user_data)
		new->user_data = *user_data;
	*mmap = new;
	return DOCA_SUCCESS;
}
