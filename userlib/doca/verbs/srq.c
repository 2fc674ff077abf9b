// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Shared receive queues.
 */
#include "verbs.h"

ATTR_OBJECT(srq_init_attr)
SET_GET_OBJECT(srq_init_attr, pd, struct doca_verbs_pd *)
SET_GET(srq_init_attr, srq_wr, uint32_t)
SET_GET(srq_init_attr, receive_max_sges, uint32_t)
SET_GET_MAX(srq_init_attr, type, enum doca_verbs_srq_type, DOCA_VERBS_SRQ_TYPE_CONTIGUOUS)
SET(srq_init_attr, external_datapath_en, uint8_t)
SET_GET_PLACE(srq_init_attr, external_umem)
SET_PLACE(srq_init_attr, external_dbr_umem)

static doca_error_t check(const struct doca_verbs_context *ctx,
			  const struct doca_verbs_srq_init_attr *a)
{
	if (!a->pd || a->pd->xv->context != ctx->xv || !a->srq_wr ||
	    half_external(&a->external_umem, &a->external_dbr_umem))
		return DOCA_ERROR_INVALID_VALUE;
	if (a->type == DOCA_VERBS_SRQ_TYPE_CONTIGUOUS && !a->external_datapath_en)
		return DOCA_ERROR_NOT_SUPPORTED;
	return DOCA_SUCCESS;
}

/* On success, the attributes have the actual sizes. */
static struct xv_srq *create(struct doca_verbs_srq_init_attr *a)
{
	struct xv_srq_init_attr xa = {
		.attr = { .max_wr = a->srq_wr, .max_sge = a->receive_max_sges },
		.layout = a->type == DOCA_VERBS_SRQ_TYPE_CONTIGUOUS ? XV_SRQ_CONTIGUOUS :
								      XV_SRQ_LINKED_LIST,
		.flags = a->external_datapath_en ? XV_SRQ_EXTERNAL_DATAPATH : 0,
		.external = external_of(&a->external_umem, &a->external_dbr_umem, NULL),
	};
	struct xv_srq *xv = xv_create_srq(a->pd->xv, &xa);

	if (xv) {
		a->srq_wr = xa.attr.max_wr;
		a->receive_max_sges = xa.attr.max_sge;
	}
	return xv;
}

EXPORT doca_error_t doca_verbs_srq_create(struct doca_verbs_context *verbs_context,
					  struct doca_verbs_srq_init_attr *verbs_srq_init_attr,
					  struct doca_verbs_srq **verbs_srq)
{
	struct doca_verbs_srq *srq;
	doca_error_t result;

	if (!verbs_context || !verbs_srq_init_attr || !verbs_srq)
		return DOCA_ERROR_INVALID_VALUE;
	result = check(verbs_context, verbs_srq_init_attr);
	if (result != DOCA_SUCCESS)
		return result;
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return DOCA_ERROR_NO_MEMORY;
	srq->init = *verbs_srq_init_attr;
	srq->xv = create(&srq->init);
	if (!srq->xv) {
		free(srq);
		return xvd_error(errno);
	}
	srq->ctx = verbs_context;
	queue_add(&srq->queue, srq->xv, srq);
	count(&srq->ctx->users, 1);
	count(&srq->init.pd->users, 1);
	*verbs_srq = srq;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_verbs_srq_destroy(struct doca_verbs_srq *verbs_srq)
{
	int err;

	if (!verbs_srq)
		return DOCA_ERROR_INVALID_VALUE;
	err = xv_destroy_srq(verbs_srq->xv);
	if (err)
		return xvd_error(err);
	queue_del(&verbs_srq->queue);
	count(&verbs_srq->init.pd->users, -1);
	count(&verbs_srq->ctx->users, -1);
	free(verbs_srq);
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_verbs_srq_query(struct doca_verbs_srq *verbs_srq,
					 struct doca_verbs_srq_init_attr *verbs_srq_init_attr)
{
	if (!verbs_srq || !verbs_srq_init_attr)
		return DOCA_ERROR_INVALID_VALUE;
	*verbs_srq_init_attr = verbs_srq->init;
	return DOCA_SUCCESS;
}

EXPORT uint32_t doca_verbs_srq_get_srqn(const struct doca_verbs_srq *verbs_srq)
{
	return verbs_srq ? verbs_srq->xv->srq_num : 0;
}

EXPORT void doca_verbs_srq_get_wq(const struct doca_verbs_srq *verbs_srq, void **srq_buf,
				  uint32_t *srq_num_entries, uint32_t *rwqe_size_bytes)
{
	if (!verbs_srq || !srq_buf || !srq_num_entries || !rwqe_size_bytes)
		return;
	*srq_buf = verbs_srq->xv->buf;
	*srq_num_entries = verbs_srq->xv->mask + 1;
	*rwqe_size_bytes = 1u << verbs_srq->xv->log_stride;
}

EXPORT void *doca_verbs_srq_get_dbr_addr(const struct doca_verbs_srq *verbs_srq)
{
	return verbs_srq ? (void *)verbs_srq->xv->dbrec : NULL;
}
