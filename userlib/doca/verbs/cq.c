// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues.
 */
#include "verbs.h"

enum { MAX_CQ_SIZE = 1 << 24 };

ATTR_OBJECT(cq_attr)
SET_IF(cq_attr, cq_size, uint32_t, value && value <= MAX_CQ_SIZE)
SET(cq_attr, cq_context, void *)
SET_MAX(cq_attr, entry_size, enum doca_verbs_cq_entry_size, DOCA_VERBS_CQ_ENTRY_SIZE_128)
SET_OBJECT(cq_attr, comp_channel, struct doca_verbs_comp_channel *)
SET(cq_attr, cq_overrun, uint8_t)
SET(cq_attr, cq_collapsed, uint8_t)
SET(cq_attr, external_datapath_en, uint8_t)
SET_PLACE(cq_attr, external_umem)
SET_OBJECT(cq_attr, external_uar, struct doca_uar *)

static uint32_t entries_of(const struct doca_verbs_cq_attr *a)
{
	uint32_t n = 2;

	while (n < a->cq_size)
		n *= 2;
	return n;
}

/* libxverbs makes a ring with one entry more, because its data path keeps one free. */
static struct xv_cq_init_attr to_xv(const struct doca_verbs_context *ctx,
				    const struct doca_verbs_cq_attr *a)
{
	bool whole_ring = a->external_datapath_en || a->external_umem.umem;
	uint32_t size = a->entry_size == DOCA_VERBS_CQ_ENTRY_SIZE_128 ? 128 : 64;
	struct place dbr = a->external_umem;

	dbr.offset += (uint64_t)entries_of(a) * size;
	return (struct xv_cq_init_attr) {
		.cqe = whole_ring ? entries_of(a) - 1 : a->cq_size,
		.cqe_size = size,
		.channel = a->comp_channel ? a->comp_channel->xv : NULL,
		.flags = (a->cq_overrun ? XV_CQ_IGNORE_OVERRUN : 0) |
			 (a->cq_collapsed ? XV_CQ_COLLAPSED : 0) |
			 (a->external_datapath_en ? XV_CQ_EXTERNAL_DATAPATH : 0) |
			 (can_wait(ctx) ? XV_CQ_CROSS_CHANNEL : 0),
		.external = external_of(&a->external_umem, &dbr, a->external_uar),
	};
}

EXPORT doca_error_t doca_verbs_cq_create(struct doca_verbs_context *verbs_context,
					 struct doca_verbs_cq_attr *cq_attr,
					 struct doca_verbs_cq **verbs_cq)
{
	struct xv_cq_init_attr a;
	struct doca_verbs_cq *cq;

	if (!verbs_context || !cq_attr || !cq_attr->cq_size || !verbs_cq)
		return DOCA_ERROR_INVALID_VALUE;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return DOCA_ERROR_NO_MEMORY;
	a = to_xv(verbs_context, cq_attr);
	cq->xv = xv_create_cq(verbs_context->xv, &a);
	if (!cq->xv) {
		free(cq);
		return xvd_error(errno);
	}
	cq->ctx = verbs_context;
	cq->cq_context = cq_attr->cq_context;
	cq->armed = cq_attr->comp_channel && !cq_attr->external_datapath_en;
	if (cq->armed)
		xv_req_notify(cq->xv, 0);
	queue_add(&cq->queue, cq->xv, cq);
	count(&cq->ctx->users, 1);
	*verbs_cq = cq;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_verbs_cq_destroy(struct doca_verbs_cq *verbs_cq)
{
	int err;

	if (!verbs_cq)
		return DOCA_ERROR_INVALID_VALUE;
	err = xv_destroy_cq(verbs_cq->xv);
	if (err)
		return xvd_error(err);
	queue_del(&verbs_cq->queue);
	count(&verbs_cq->ctx->users, -1);
	free(verbs_cq);
	return DOCA_SUCCESS;
}

EXPORT uint32_t doca_verbs_cq_get_cqn(const struct doca_verbs_cq *verbs_cq)
{
	return verbs_cq ? verbs_cq->xv->cqn : 0;
}

EXPORT void doca_verbs_cq_get_wq(struct doca_verbs_cq *verbs_cq, void **cq_buf,
				 uint32_t *cq_num_entries, uint8_t *cq_entry_size)
{
	if (!verbs_cq || !cq_buf || !cq_num_entries || !cq_entry_size)
		return;
	*cq_buf = verbs_cq->xv->buf;
	*cq_num_entries = verbs_cq->xv->mask + 1;
	*cq_entry_size = (uint8_t)(1 << verbs_cq->xv->log_stride);
}

EXPORT void doca_verbs_cq_get_dbr_addr(struct doca_verbs_cq *verbs_cq, uint64_t **uar_db_reg,
				       uint32_t **ci_dbr, uint32_t **arm_dbr)
{
	if (!verbs_cq || !uar_db_reg || !ci_dbr || !arm_dbr)
		return;
	*uar_db_reg = (uint64_t *)verbs_cq->xv->doorbell;
	*ci_dbr = (uint32_t *)&verbs_cq->xv->dbrec[MLX5R_DBR_CQ_CI];
	*arm_dbr = (uint32_t *)&verbs_cq->xv->dbrec[MLX5R_DBR_CQ_ARM];
}
