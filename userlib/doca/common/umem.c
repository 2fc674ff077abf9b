// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * UMEM: memory of the program that holds rings and doorbell records of queues.
 */
#include <errno.h>
#include <stdlib.h>
#include <doca_umem.h>
#include "internal.h"

/* umem is NULL if it could not be registered; then errno is set. */
static doca_error_t umem_new(struct doca_dev *dev, struct xv_umem *xv, struct doca_umem **umem)
{
	struct doca_umem *new;

	if (!xv)
		return xvd_error(errno);
	new = calloc(1, sizeof(*new));
	if (!new) {
		xv_dereg_umem(xv);
		return DOCA_ERROR_NO_MEMORY;
	}
	new->dev = dev;
	new->xv = xv;
	xvd_dev_get(dev);
	*umem = new;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_umem_create(struct doca_dev *dev, void *address, size_t size,
				     uint32_t access_flags, struct doca_umem **umem)
{
	const uint32_t known = DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING * 2 - 1;

	if (!dev || !address || !size || access_flags & ~known || !umem)
		return DOCA_ERROR_INVALID_VALUE;
	return umem_new(dev, xv_reg_umem(dev->ctx, address, size), umem);
}

EXPORT doca_error_t xvd_umem_create_dmabuf(struct doca_dev *dev, void *addr, size_t size, int fd,
					   uint64_t offset, struct doca_umem **umem)
{
	return umem_new(dev, xv_reg_dmabuf_umem(dev->ctx, addr, offset, size, fd), umem);
}

EXPORT doca_error_t doca_umem_gpu_create(struct doca_gpu *gpu, struct doca_dev *dev, void *address,
					 size_t size, uint32_t access_flags,
					 struct doca_umem **umem)
{
	(void)access_flags;
	if (!gpu || !dev || !address || !size || !umem)
		return DOCA_ERROR_INVALID_VALUE;
	return DOCA_ERROR_NOT_SUPPORTED;
}

EXPORT doca_error_t doca_umem_destroy(struct doca_umem *umem)
{
	int err;

	if (!umem)
		return DOCA_ERROR_INVALID_VALUE;
	err = xv_dereg_umem(umem->xv);
	if (err)
		return xvd_error(err);
	xvd_dev_put(umem->dev);
	free(umem);
	return DOCA_SUCCESS;
}

#define GET(name, type, member)								\
EXPORT doca_error_t doca_umem_get_##name(const struct doca_umem *umem, type *value)	\
{											\
	if (!umem || !value)								\
		return DOCA_ERROR_INVALID_VALUE;					\
	*value = umem->xv->member;							\
	return DOCA_SUCCESS;								\
}

GET(id, uint32_t, handle)
GET(size, size_t, length)
GET(address, void *, addr)
