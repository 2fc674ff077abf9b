/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * UMEM: memory of the program that holds rings and doorbell records of queues.  Compatible with the
 * header of the same name of the DOCA SDK.
 *
 * Results: DOCA_ERROR_INVALID_VALUE for a null pointer or a wrong value, and those of each
 * function.
 *
 * Threads: any thread may call these functions, but none may destroy an object that another uses.
 */
#ifndef XVDOCA_UMEM_H
#define XVDOCA_UMEM_H

#include <stddef.h>
#include <stdint.h>
#include <doca_dev.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_gpu;
struct doca_umem;

/*
 * address must be a multiple of the page size; access_flags are those of enum doca_access_flag.
 * The memory belongs to the program, which frees it after doca_umem_destroy().
 */
doca_error_t doca_umem_create(struct doca_dev *dev, void *address, size_t size,
			      uint32_t access_flags, struct doca_umem **umem);

/*
 * DOCA_ERROR_NOT_SUPPORTED: it needs the library of the GPU.  doca_verbs_umem_create() takes a
 * dma-buf of GPU memory.
 */
doca_error_t doca_umem_gpu_create(struct doca_gpu *gpu, struct doca_dev *dev, void *address,
				  size_t size, uint32_t access_flags, struct doca_umem **umem);

/* DOCA_ERROR_IN_USE: a queue uses it. */
doca_error_t doca_umem_destroy(struct doca_umem *umem);

/* The number is unique in the context of the device.  The address is NULL if it is not mapped. */
doca_error_t doca_umem_get_id(const struct doca_umem *umem, uint32_t *umem_id);
doca_error_t doca_umem_get_size(const struct doca_umem *umem, size_t *umem_size);
doca_error_t doca_umem_get_address(const struct doca_umem *umem, void **umem_address);

#ifdef __cplusplus
}
#endif

#endif
