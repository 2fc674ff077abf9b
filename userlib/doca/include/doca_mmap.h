/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory maps: memory that devices can use, here or in another process.  Compatible with the header
 * of the same name of the DOCA SDK.
 *
 * Results: DOCA_ERROR_INVALID_VALUE for a null pointer or an invalid value, DOCA_ERROR_BAD_STATE if
 * the map must be stopped or started for the call.
 *
 * Threads: one thread at a time may use a map, but several may take buffers from a started one,
 * each from an inventory of its own.
 */
#ifndef XVDOCA_MMAP_H
#define XVDOCA_MMAP_H

#include <stddef.h>
#include <stdint.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_mmap;

/* Called by doca_mmap_destroy() with the range and the cookie of doca_mmap_set_free_cb() */
typedef void doca_mmap_memrange_free_cb_t(void *addr, size_t len, void *cookie);

/*
 * doca_mmap_destroy() stops a map first.  Both return DOCA_ERROR_IN_USE while buffers of the map
 * exist.
 */
doca_error_t doca_mmap_create(struct doca_mmap **mmap);
doca_error_t doca_mmap_destroy(struct doca_mmap *mmap);

/*
 * Start needs a range and registers it on all devices of the map.  Stop makes all exports invalid.
 * A map that is started or stopped already returns DOCA_ERROR_BAD_STATE; one from an export is
 * always started until it is stopped for ever.
 */
doca_error_t doca_mmap_start(struct doca_mmap *mmap);
doca_error_t doca_mmap_stop(struct doca_mmap *mmap);

/* ---- Configuration, while the map is stopped --------------------------------------------- */

/* DOCA_ERROR_FULL: there are as many devices as doca_mmap_set_max_num_devices() allows. */
doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev);
doca_error_t doca_mmap_rm_dev(struct doca_mmap *mmap, struct doca_dev *dev);

/* Default: 64.  Not less than the number of devices that were added. */
doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices);
doca_error_t doca_mmap_get_max_num_devices(const struct doca_mmap *mmap,
					   uint32_t *max_num_devices);

/* The memory stays the caller's, see doca_mmap_set_free_cb(). */
doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len);

/* A part of a dma-buf, addr: its address in this process, or what buffers call it */
doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, void *addr,
					   size_t dmabuf_offset, size_t len);

/* access_mask: enum doca_access_flag; default: DOCA_ACCESS_FLAG_LOCAL_READ_ONLY */
doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask);
doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap, doca_mmap_memrange_free_cb_t *free_cb,
				   void *opaque);
doca_error_t doca_mmap_set_user_data(struct doca_mmap *mmap, union doca_data user_data);

doca_error_t doca_mmap_get_user_data(const struct doca_mmap *mmap, union doca_data *user_data);

/* ---- The range, in any state ---------------------------------------------------------- */

/* DOCA_ERROR_BAD_STATE: no range was set. */
doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr, size_t *len);
doca_error_t doca_mmap_get_num_bufs(const struct doca_mmap *mmap, uint32_t *num_bufs);

/* ---- Maps of other processes ----------------------------------------------------------- */

/*
 * A description of a started map for doca_mmap_create_from_export() in a peer.  It belongs to the
 * map and is valid until it is stopped.  Permissions must allow an RDMA operation, else
 * DOCA_ERROR_NOT_PERMITTED.  DOCA_ERROR_NOT_FOUND: dev was not added.
 */
doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev,
				   const void **export_desc, size_t *export_desc_len);

/* DOCA_ERROR_NOT_SUPPORTED: memory of a host cannot be mapped through its PCI function. */
doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev,
				  const void **export_desc, size_t *export_desc_len);

/*
 * A started map with the addresses of the peer, for RDMA operations on dev.  user_data may be NULL.
 * DOCA_ERROR_INVALID_VALUE: the description is damaged.  DOCA_ERROR_UNSUPPORTED_VERSION: it comes
 * from another version.
 */
doca_error_t doca_mmap_create_from_export(const union doca_data *user_data,
					  const void *export_desc, size_t export_desc_len,
					  struct doca_dev *dev, struct doca_mmap **mmap);

#ifdef __cplusplus
}
#endif

#endif
