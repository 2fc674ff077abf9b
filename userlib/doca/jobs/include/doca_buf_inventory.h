/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Inventories, which buffers come from.  Compatible with the header of the same name of DOCA 2.2.
 *
 * Results: DOCA_ERROR_INVALID_VALUE for a null pointer or an invalid value, DOCA_ERROR_BAD_STATE in
 * the wrong state.
 *
 * Threads: one thread at a time may use an inventory and its buffers.
 */
#ifndef XVDOCA_JOBS_BUF_INVENTORY_H
#define XVDOCA_JOBS_BUF_INVENTORY_H

#include <stddef.h>
#include <stdint.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_buf_inventory;
struct doca_mmap;

/* No other extension is supported; lists of buffers need none. */
enum doca_buf_extension {
	DOCA_BUF_EXTENSION_NONE	= 0,
};

/*
 * Allocates num_elements buffers.  user_data may be NULL.  DOCA_ERROR_NOT_SUPPORTED: extensions is
 * not DOCA_BUF_EXTENSION_NONE.  Destroy stops the inventory first; both return DOCA_ERROR_IN_USE
 * while the program has buffers.
 */
doca_error_t doca_buf_inventory_create(const union doca_data *user_data, size_t num_elements,
				       uint32_t extensions,
				       struct doca_buf_inventory **buf_inventory);
doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory);
doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inventory);
doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inventory);

/*
 * Take a buffer, which has one reference; doca_buf_refcount_rm() gives it back.  The range must be
 * in that of the started map.  by_addr: the buffer has no data; by_data: it is full.
 * DOCA_ERROR_NO_MEMORY: all buffers are in use.
 */
doca_error_t doca_buf_inventory_buf_by_args(struct doca_buf_inventory *inventory,
					    struct doca_mmap *mmap, void *addr, size_t len,
					    void *data, size_t data_len, struct doca_buf **buf);
doca_error_t doca_buf_inventory_buf_by_addr(struct doca_buf_inventory *inventory,
					    struct doca_mmap *mmap, void *addr, size_t len,
					    struct doca_buf **buf);
doca_error_t doca_buf_inventory_buf_by_data(struct doca_buf_inventory *inventory,
					    struct doca_mmap *mmap, void *data, size_t data_len,
					    struct doca_buf **buf);

/* A buffer, not a list, for the same memory and data */
doca_error_t doca_buf_inventory_buf_dup(struct doca_buf_inventory *inventory,
					const struct doca_buf *src_buf,
					struct doca_buf **dst_buf);

#ifdef __cplusplus
}
#endif

#endif
