/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Inventories, which buffers come from.  Compatible with the header of the same name of the DOCA
 * SDK.
 *
 * Results: DOCA_ERROR_INVALID_VALUE for a null pointer or an invalid value, DOCA_ERROR_BAD_STATE in
 * the wrong state.
 *
 * Threads: one thread at a time may use an inventory and its buffers.
 */
#ifndef XVDOCA_BUF_INVENTORY_H
#define XVDOCA_BUF_INVENTORY_H

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

/*
 * Allocates all buffers.  doca_buf_inventory_destroy() stops the inventory first.  Both return
 * DOCA_ERROR_IN_USE while the program has buffers of the inventory.
 */
doca_error_t doca_buf_inventory_create(size_t num_elements, struct doca_buf_inventory **inventory);
doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory);

/* A started one has buffers.  Start and stop do nothing if there is nothing to change. */
doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inventory);
doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inventory);

/* Allocates more buffers, in any state. */
doca_error_t doca_buf_inventory_expand(struct doca_buf_inventory *inventory,
				       uint32_t num_elements);

/*
 * Take a buffer, which has one reference; allocate nothing.  The range must be in that of the
 * started map, and the data in the range.  by_addr: the buffer has no data; by_data: it is full.
 * doca_buf_dec_refcount() gives the buffer back.  DOCA_ERROR_NO_MEMORY: all buffers are in use.
 */
doca_error_t doca_buf_inventory_buf_get_by_args(struct doca_buf_inventory *inventory,
						struct doca_mmap *mmap, void *addr, size_t len,
						void *data, size_t data_len, struct doca_buf **buf);
doca_error_t doca_buf_inventory_buf_get_by_addr(struct doca_buf_inventory *inventory,
						struct doca_mmap *mmap, void *addr, size_t len,
						struct doca_buf **buf);
doca_error_t doca_buf_inventory_buf_get_by_data(struct doca_buf_inventory *inventory,
						struct doca_mmap *mmap, void *data,
						size_t data_len, struct doca_buf **buf);

/* A buffer, not a list, for the same memory and data */
doca_error_t doca_buf_inventory_buf_dup(struct doca_buf_inventory *inventory,
					const struct doca_buf *src_buf,
					struct doca_buf **dst_buf);

/* All buffers, and those that are not in use */
doca_error_t doca_buf_inventory_get_num_elements(const struct doca_buf_inventory *inventory,
						 uint32_t *num_of_elements);
doca_error_t doca_buf_inventory_get_num_free_elements(const struct doca_buf_inventory *inventory,
						      uint32_t *num_of_free_elements);

/* The inventory must be stopped for the first one. */
doca_error_t doca_buf_inventory_set_user_data(struct doca_buf_inventory *inventory,
					      union doca_data user_data);
doca_error_t doca_buf_inventory_get_user_data(const struct doca_buf_inventory *inventory,
					      union doca_data *user_data);

#ifdef __cplusplus
}
#endif

#endif
