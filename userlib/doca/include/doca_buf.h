/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Buffers: parts of memory maps that tasks work on.  Compatible with the header of the same name of
 * the DOCA SDK.
 *
 * A buffer is the range [head, head + len) with data in [data, data + data_len).  Tasks that read
 * take the data, tasks that write append to it.  Buffers can be chained to a list; tasks take its
 * head.
 *
 * Results: DOCA_ERROR_INVALID_VALUE for a null pointer or an invalid value.
 *
 * Threads: one thread at a time may use the buffers of an inventory.
 */
#ifndef XVDOCA_BUF_H
#define XVDOCA_BUF_H

#include <stddef.h>
#include <stdint.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;

/*
 * The number of references; *refcount gets the new one, refcount may be NULL for the first two.  At
 * 0 the buffer goes back to its inventory, with all buffers behind it.  Only the head of a list has
 * references of the program: for others, changes return DOCA_ERROR_NOT_PERMITTED.
 */
doca_error_t doca_buf_inc_refcount(struct doca_buf *buf, uint16_t *refcount);
doca_error_t doca_buf_dec_refcount(struct doca_buf *buf, uint16_t *refcount);
doca_error_t doca_buf_get_refcount(const struct doca_buf *buf, uint16_t *refcount);

/* The range */
doca_error_t doca_buf_get_head(const struct doca_buf *buf, void **head);
doca_error_t doca_buf_get_len(const struct doca_buf *buf, size_t *len);

/* The data.  It must be in the range of the buffer, else DOCA_ERROR_INVALID_VALUE. */
doca_error_t doca_buf_get_data(const struct doca_buf *buf, void **data);
doca_error_t doca_buf_get_data_len(const struct doca_buf *buf, size_t *data_len);
doca_error_t doca_buf_set_data(struct doca_buf *buf, void *data, size_t data_len);
doca_error_t doca_buf_set_data_len(struct doca_buf *buf, size_t data_len);

/* No data, at the same address */
doca_error_t doca_buf_reset_data_len(struct doca_buf *buf);

/*
 * Chain: appends list2, of which the program has the only reference, to list1; that reference
 * belongs to the list then.  Both must be heads.  Unchain: list2 is a buffer behind the head list1
 * and becomes the head of the rest, with one reference of the program.
 */
doca_error_t doca_buf_chain_list(struct doca_buf *list1, struct doca_buf *list2);
doca_error_t doca_buf_unchain_list(struct doca_buf *list1, struct doca_buf *list2);

/* The next buffer, NULL behind the last one; the last buffer */
doca_error_t doca_buf_get_next_in_list(struct doca_buf *buf, struct doca_buf **next_buf);
doca_error_t doca_buf_get_last_in_list(struct doca_buf *buf, struct doca_buf **last_buf);

/* 1 or 0.  A buffer that was not chained is the first and the last one, and in no list. */
doca_error_t doca_buf_is_last_in_list(const struct doca_buf *buf, uint8_t *is_last);
doca_error_t doca_buf_is_first_in_list(const struct doca_buf *buf, uint8_t *is_first);
doca_error_t doca_buf_is_in_list(const struct doca_buf *buf, uint8_t *is_in_list);

/* The number of buffers from this one to the last */
doca_error_t doca_buf_get_list_len(const struct doca_buf *buf, uint32_t *num_elements);

#ifdef __cplusplus
}
#endif

#endif
