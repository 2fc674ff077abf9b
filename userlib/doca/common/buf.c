// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Buffers: references, data and lists.
 */
#include "buf.h"
#include "inventory.h"

EXPORT doca_error_t doca_buf_inc_refcount(struct doca_buf *buf, uint16_t *refcount)
{
	if (!buf || !buf->refcount)
		return DOCA_ERROR_INVALID_VALUE;
	if (buf->behind)
		return DOCA_ERROR_NOT_PERMITTED;
	if (buf->refcount == UINT16_MAX)
		return DOCA_ERROR_TOO_BIG;
	buf->refcount++;
	if (refcount)
		*refcount = buf->refcount;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_buf_dec_refcount(struct doca_buf *buf, uint16_t *refcount)
{
	uint16_t left;

	if (!buf || !buf->refcount)
		return DOCA_ERROR_INVALID_VALUE;
	if (buf->behind)
		return DOCA_ERROR_NOT_PERMITTED;
	left = --buf->refcount;
	if (!left)
		xvd_buf_list_put(buf);
	if (refcount)
		*refcount = left;
	return DOCA_SUCCESS;
}

#define GETTER(name, type, value)						\
EXPORT doca_error_t doca_buf_##name(const struct doca_buf *buf, type *result)	\
{										\
	if (!buf || !result)							\
		return DOCA_ERROR_INVALID_VALUE;				\
	*result = (value);							\
	return DOCA_SUCCESS;							\
}

GETTER(get_refcount, uint16_t, buf->refcount)
GETTER(get_head, void *, buf->head)
GETTER(get_len, size_t, buf->len)
GETTER(get_data, void *, buf->data)
GETTER(get_data_len, size_t, buf->data_len)
GETTER(is_last_in_list, uint8_t, !buf->next)
GETTER(is_first_in_list, uint8_t, !buf->behind)
GETTER(is_in_list, uint8_t, buf->behind || buf->next)
GETTER(get_list_len, uint32_t, xvd_buf_list_len(buf))

EXPORT doca_error_t doca_buf_set_data(struct doca_buf *buf, void *data, size_t data_len)
{
	if (!buf || !xvd_range_has(buf->head, buf->len, data, data_len))
		return DOCA_ERROR_INVALID_VALUE;
	buf->data = data;
	buf->data_len = data_len;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_buf_set_data_len(struct doca_buf *buf, size_t data_len)
{
	return buf ? doca_buf_set_data(buf, buf->data, data_len) : DOCA_ERROR_INVALID_VALUE;
}

EXPORT doca_error_t doca_buf_reset_data_len(struct doca_buf *buf)
{
	return doca_buf_set_data_len(buf, 0);
}

static bool is_head(const struct doca_buf *buf)
{
	return buf && buf->refcount && !buf->behind;
}

EXPORT doca_error_t doca_buf_chain_list(struct doca_buf *list1, struct doca_buf *list2)
{
	if (!is_head(list1) || !is_head(list2) || list1 == list2)
		return DOCA_ERROR_INVALID_VALUE;
	if (list2->refcount != 1)
		return DOCA_ERROR_NOT_PERMITTED;
	list1->last->next = list2;
	list1->last = list2->last;
	list2->behind = true;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_buf_unchain_list(struct doca_buf *list1, struct doca_buf *list2)
{
	struct doca_buf *prev;

	if (!is_head(list1) || !list2)
		return DOCA_ERROR_INVALID_VALUE;
	for (prev = list1; prev && prev->next != list2; prev = prev->next)
		;
	if (!prev)
		return DOCA_ERROR_INVALID_VALUE;
	prev->next = NULL;
	list2->last = list1->last;
	list2->behind = false;
	list1->last = prev;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_buf_get_next_in_list(struct doca_buf *buf, struct doca_buf **next_buf)
{
	if (!buf || !next_buf)
		return DOCA_ERROR_INVALID_VALUE;
	*next_buf = buf->next;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_buf_get_last_in_list(struct doca_buf *buf, struct doca_buf **last_buf)
{
	if (!buf || !last_buf)
		return DOCA_ERROR_INVALID_VALUE;
	while (buf->next)
		buf = buf->next;
	*last_buf = buf;
	return DOCA_SUCCESS;
}
