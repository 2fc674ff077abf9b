/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory maps: memory that devices can use, here or in another process.  Compatible with the header
 * of the same name of DOCA 2.2.
 *
 * Results: DOCA_ERROR_INVALID_VALUE for a null pointer or an invalid value, DOCA_ERROR_BAD_STATE if
 * the map must be stopped or started for the call.
 *
 * Threads: one thread at a time may use a map.
 */
#ifndef XVDOCA_JOBS_MMAP_H
#define XVDOCA_JOBS_MMAP_H

#include <stddef.h>
#include <stdint.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_mmap;

/*
 * user_data may be NULL.  Destroy stops the map first; both return DOCA_ERROR_IN_USE while buffers
 * of the map exist.
 */
doca_error_t doca_mmap_create(const union doca_data *user_data, struct doca_mmap **mmap);
doca_error_t doca_mmap_destroy(struct doca_mmap *mmap);

/* Start needs a range and registers it on all devices of the map. */
doca_error_t doca_mmap_start(struct doca_mmap *mmap);
doca_error_t doca_mmap_stop(struct doca_mmap *mmap);

/* Configuration, while the map is stopped */
doca_error_t doca_mmap_dev_add(struct doca_mmap *mmap, struct doca_dev *dev);
doca_error_t doca_mmap_dev_rm(struct doca_mmap *mmap, struct doca_dev *dev);
doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices);

/* The memory stays the caller's. */
doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len);

/* access_mask: enum doca_access_flags; default: DOCA_ACCESS_LOCAL_READ_ONLY */
doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask);

/* In any state.  DOCA_ERROR_BAD_STATE: no range was set. */
doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr, size_t *len);
doca_error_t doca_mmap_get_user_data(const struct doca_mmap *mmap, union doca_data *user_data);

/*
 * A description of a started map for the peer.  It belongs to the map and is valid until it is
 * stopped.  Permissions must allow an RDMA operation, else DOCA_ERROR_NOT_PERMITTED.
 * DOCA_ERROR_NOT_FOUND: dev was not added.
 */
doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev,
				   const void **export_desc, size_t *export_desc_len);

/*
 * A started map with the addresses of the peer, for RDMA operations on dev.  user_data may be NULL.
 */
doca_error_t doca_mmap_create_from_export(const union doca_data *user_data,
					  const void *export_desc, size_t export_desc_len,
					  struct doca_dev *dev, struct doca_mmap **mmap);

#ifdef __cplusplus
}
#endif

#endif
