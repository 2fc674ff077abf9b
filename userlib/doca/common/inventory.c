// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Inventories of buffers.
 */
#include <stdlib.h>
#include "inventory.h"

/* The buffers of one allocation */
struct chunk {
	struct chunk *next;
	struct doca_buf bufs[];
};

struct doca_buf_inventory {
	struct doca_buf *free;
	uint32_t num_bufs;
	uint32_t num_free;
	bool started;
	struct chunk *chunks;
	union doca_data user_data;
};

static doca_error_t grow(struct doca_buf_inventory *inventory, size_t n)
{
	struct chunk *chunk;
	size_t i;

	if (!n || n > UINT32_MAX - inventory->num_bufs)
		return DOCA_ERROR_INVALID_VALUE;
	chunk = calloc(1, sizeof(*chunk) + n * sizeof(chunk->bufs[0]));
	if (!chunk)
		return DOCA_ERROR_NO_MEMORY;
	chunk->next = inventory->chunks;
	inventory->chunks = chunk;
	for (i = n; i--;) {
		chunk->bufs[i].inventory = inventory;
		chunk->bufs[i].next = inventory->free;
		inventory->free = &chunk->bufs[i];
	}
	inventory->num_bufs += n;
	inventory->num_free += n;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_buf_inventory_create(size_t num_elements,
					      struct doca_buf_inventory **inventory)
{
	struct doca_buf_inventory *new;
	doca_error_t result;

	if (!inventory)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	result = grow(new, num_elements);
	if (result != DOCA_SUCCESS) {
		free(new);
		return result;
	}
	*inventory = new;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inventory)
{
	if (!inventory)
		return DOCA_ERROR_INVALID_VALUE;
	inventory->started = true;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inventory)
{
	if (!inventory)
		return DOCA_ERROR_INVALID_VALUE;
	if (inventory->num_free != inventory->num_bufs)
		return DOCA_ERROR_IN_USE;
	inventory->started = false;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory)
{
	doca_error_t result = doca_buf_inventory_stop(inventory);
	struct chunk *chunk;

	if (result != DOCA_SUCCESS)
		return result;
	while (inventory->chunks) {
		chunk = inventory->chunks;
		inventory->chunks = chunk->next;
		free(chunk);
	}
	free(inventory);
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_buf_inventory_expand(struct doca_buf_inventory *inventory,
					      uint32_t num_elements)
{
	return inventory ? grow(inventory, num_elements) : DOCA_ERROR_INVALID_VALUE;
}

EXPORT doca_error_t doca_buf_inventory_buf_get_by_args(struct doca_buf_inventory *inventory,
						       struct doca_mmap *mmap, void *addr,
						       size_t len, void *data, size_t data_len,
						       struct doca_buf **buf)
{
	struct doca_buf *new;

	if (!inventory || !mmap || !buf || !xvd_range_has(mmap->addr, mmap->len, addr, len) ||
	    !xvd_range_has(addr, len, data, data_len))
		return DOCA_ERROR_INVALID_VALUE;
	if (!inventory->started || !mmap->started)
		return DOCA_ERROR_BAD_STATE;
	new = inventory->free;
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	inventory->free = new->next;
	inventory->num_free--;
	__atomic_add_fetch(&mmap->bufs, 1, __ATOMIC_RELAXED);
	*new = (struct doca_buf) {
		.mmap = mmap,
		.head = addr,
		.len = len,
		.data = data,
		.data_len = data_len,
		.last = new,
		.inventory = inventory,
		.refcount = 1,
	};
	*buf = new;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_buf_inventory_buf_get_by_addr(struct doca_buf_inventory *inventory,
						       struct doca_mmap *mmap, void *addr,
						       size_t len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_args(inventory, mmap, addr, len, addr, 0, buf);
}

EXPORT doca_error_t doca_buf_inventory_buf_get_by_data(struct doca_buf_inventory *inventory,
						       struct doca_mmap *mmap, void *data,
						       size_t data_len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_args(inventory, mmap, data, data_len, data, data_len,
						  buf);
}

EXPORT doca_error_t doca_buf_inventory_buf_dup(struct doca_buf_inventory *inventory,
					       const struct doca_buf *src_buf,
					       struct doca_buf **dst_buf)
{
	if (!src_buf || !src_buf->refcount)
		return DOCA_ERROR_INVALID_VALUE;
	return doca_buf_inventory_buf_get_by_args(inventory, src_buf->mmap, src_buf->head,
						  src_buf->len, src_buf->data, src_buf->data_len,
						  dst_buf);
}

void xvd_buf_list_put(struct doca_buf *buf)
{
	struct doca_buf *next;

	for (; buf; buf = next) {
		next = buf->next;
		buf->refcount = 0;
		buf->next = buf->inventory->free;
		buf->inventory->free = buf;
		buf->inventory->num_free++;
		__atomic_sub_fetch(&buf->mmap->bufs, 1, __ATOMIC_RELEASE);
	}
}

#define GETTER(name, type, value)						\
EXPORT doca_error_t doca_buf_inventory_get_##name(				\
	const struct doca_buf_inventory *inventory, type *result)		\
{										\
	if (!inventory || !result)						\
		return DOCA_ERROR_INVALID_VALUE;				\
	*result = (value);							\
	return DOCA_SUCCESS;							\
}

GETTER(num_elements, uint32_t, inventory->num_bufs)
GETTER(num_free_elements, uint32_t, inventory->num_free)
GETTER(user_data, union doca_data, inventory->user_data)

EXPORT doca_error_t doca_buf_inventory_set_user_data(struct doca_buf_inventory *inventory,
						     union doca_data user_data)
{
	if (!inventory)
		return DOCA_ERROR_INVALID_VALUE;
	if (inventory->started)
		return DOCA_ERROR_BAD_STATE;
	inventory->user_data = user_data;
	return DOCA_SUCCESS;
}
