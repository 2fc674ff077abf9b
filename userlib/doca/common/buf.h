/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Buffers: the structure and accessors for the data path.
 *
 * A buffer is a part of a memory map, [head, head + len), with data in [data, data + data_len).
 * Buffers form lists by next.  The program owns the head of a list only.
 */
#ifndef XVDOCA_PRIVATE_BUF_H
#define XVDOCA_PRIVATE_BUF_H

#include <doca_buf.h>
#include "mmap.h"

struct doca_buf_inventory;

struct doca_buf {
	struct doca_mmap *mmap;
	char *head;
	size_t len;
	char *data;
	size_t data_len;
	struct doca_buf *next;		/* in the list, or in the free list of the inventory */
	struct doca_buf *last;		/* head of a list: its last buffer */
	struct doca_buf_inventory *inventory;
	uint16_t refcount;		/* 0: free; always 1 in buffers behind the head */
	bool behind;			/* in a list, but not its head */
};

/* The number of buffers in the list that begins here; 0 for NULL, which stands for no data */
static inline uint32_t xvd_buf_list_len(const struct doca_buf *buf)
{
	uint32_t n = 0;

	for (; buf; buf = buf->next)
		n++;
	return n;
}

/* All data of the list, in bytes */
static inline size_t xvd_buf_list_data_len(const struct doca_buf *buf)
{
	size_t n = 0;

	for (; buf; buf = buf->next)
		n += buf->data_len;
	return n;
}

/* The place behind the data, where a receive or read stores */
static inline char *xvd_buf_tail(const struct doca_buf *buf)
{
	return buf->data + buf->data_len;
}

/* Bytes of space behind the data */
static inline size_t xvd_buf_tailroom(const struct doca_buf *buf)
{
	return buf->head + buf->len - xvd_buf_tail(buf);
}

/* Adds n received bytes to the data of the list, in order; n must not exceed its space. */
static inline void xvd_buf_list_append(struct doca_buf *buf, size_t n)
{
	size_t part;

	if (xv_likely(buf && n <= xvd_buf_tailroom(buf))) {
		buf->data_len += n;
		return;
	}
	for (; buf && n; buf = buf->next) {
		part = xvd_buf_tailroom(buf) < n ? xvd_buf_tailroom(buf) : n;
		buf->data_len += part;
		n -= part;
	}
}

/* The keys of the buffer's memory on a device, or NULL */
static inline const struct xvd_mmap_dev *xvd_buf_dev(const struct doca_buf *buf,
						     const struct doca_dev *dev)
{
	return xvd_mmap_dev(buf->mmap, dev);
}

#endif
