/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Inventories, for buffers
 */
#ifndef XVDOCA_PRIVATE_INVENTORY_H
#define XVDOCA_PRIVATE_INVENTORY_H

#include <doca_buf_inventory.h>
#include "buf.h"

/* Gives the buffers of a list without references back to their inventories. */
void xvd_buf_list_put(struct doca_buf *buf);

/* The n bytes at p are in the len bytes at start. */
static inline bool xvd_range_has(const char *start, size_t len, const char *p, size_t n)
{
	return p >= start && (size_t)(p - start) <= len && n <= len - (size_t)(p - start);
}

#endif
