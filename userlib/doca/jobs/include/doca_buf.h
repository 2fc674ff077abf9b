/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Buffers, and references and lists with the names of DOCA 2.2.
 */
#ifndef XVDOCA_JOBS_BUF_H
#define XVDOCA_JOBS_BUF_H

#include_next <doca_buf.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As doca_buf_inc_refcount(), doca_buf_dec_refcount() and doca_buf_get_refcount() */
doca_error_t doca_buf_refcount_add(struct doca_buf *buf, uint16_t *refcount);
doca_error_t doca_buf_refcount_rm(struct doca_buf *buf, uint16_t *refcount);
doca_error_t doca_buf_refcount_get(const struct doca_buf *buf, uint16_t *refcount);

/* As doca_buf_chain_list(), doca_buf_unchain_list() and the functions with get and is */
doca_error_t doca_buf_list_chain(struct doca_buf *list1, struct doca_buf *list2);
doca_error_t doca_buf_list_unchain(struct doca_buf *list1, struct doca_buf *list2);
doca_error_t doca_buf_list_next(struct doca_buf *buf, struct doca_buf **next_buf);
doca_error_t doca_buf_list_last(struct doca_buf *buf, struct doca_buf **last_buf);
doca_error_t doca_buf_list_num_elements(const struct doca_buf *buf, uint32_t *num_elements);

#ifdef __cplusplus
}
#endif

#endif
