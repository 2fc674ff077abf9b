// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queue pairs.
 */
#include "verbs.h"

static bool lacks_cq(const struct doca_verbs_qp_init_attr *a)
{
	return (a->sq_wr && !a->send_cq) || ((a->rq_wr || a->srq) && !a->receive_cq) ||
	       (!a->send_cq && !a->receive_cq);
}

static doca_error_t check(const struct doca_verbs_context *ctx,
			  const struct doca_verbs_qp_init_attr *a)
{
	if (!a->pd || a->pd->xv->context != ctx->xv || lacks_cq(a) ||
	    half_external(&a->external_umem, &a->external_dbr_umem))
		return DOCA_ERROR_INVALID_VALUE;
	if (a->user_index || a->send_dbr_mode != DOCA_VERBS_QP_SEND_DBR_MODE_DBR_VALID ||
	    a->emulate_no_dbr_ext ||
	    a->ordering_semantic != DOCA_VERBS_QP_ORDERING_SEMANTIC_IBTA ||
	    (a->core_direct_master && !can_wait(ctx)) ||
	    (a->cqe_inline && !ctx->attr.inline_recv_sz))
		return DOCA_ERROR_NOT_SUPPORTED;
	return DOCA_SUCCESS;
}

/* Data in a completion: the first half of an entry */
static uint32_t inline_bytes(const struct doca_verbs_qp_init_attr *a)
{
	return a->cqe_inline && a->receive_cq ? 1u << (a->receive_cq->xv->log_stride - 1) : 0;
}

/* The adapter needs two; a queue without entries never completes anything. */
static struct xv_cq *cq_of(const struct doca_verbs_cq *cq, const struct doca_verbs_cq *other)
{
	return cq ? cq->xv : other->xv;
}

static struct xv_qp_init_attr to_xv(const struct doca_verbs_context *ctx,
				    const struct doca_verbs_qp_init_attr *a)
{
	return (struct xv_qp_init_attr) {
		.send_cq = cq_of(a->send_cq, a->receive_cq),
		.recv_cq = cq_of(a->receive_cq, a->send_cq),
		.srq = a->srq ? a->srq->xv : NULL,
		.cap = {
			.max_send_wr = a->sq_wr,
			.max_recv_wr = a->rq_wr,
			.max_send_sge = a->send_max_sges,
			.max_recv_sge = a->receive_max_sges,
			.max_inline_data = a->max_inline_data,
		},
		.qp_type = a->qp_type == DOCA_VERBS_QP_TYPE_UC ? XV_QPT_UC : XV_QPT_RC,
		.sq_sig_all = a->sq_sig_all,
		.flags = (can_wait(ctx) && a->sq_wr ? XV_QP_CROSS_CHANNEL : 0) |
			 (a->external_datapath_en ? XV_QP_EXTERNAL_DATAPATH : 0),
		.external = external_of(&a->external_umem, &a->external_dbr_umem, a->external_uar),
		.max_inl_recv = inline_bytes(a),
	};
}

EXPORT doca_error_t doca_verbs_qp_create(struct doca_verbs_context *verbs_context,
					 struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
					 struct doca_verbs_qp **verbs_qp)
{
	struct xv_qp_init_attr a;
	struct doca_verbs_qp *qp;
	doca_error_t result;

	if (!verbs_context || !verbs_qp_init_attr || !verbs_qp)
		return DOCA_ERROR_INVALID_VALUE;
	result = check(verbs_context, verbs_qp_init_attr);
	if (result != DOCA_SUCCESS)
		return result;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return DOCA_ERROR_NO_MEMORY;
	a = to_xv(verbs_context, verbs_qp_init_attr);
	qp->xv = xv_create_qp(verbs_qp_init_attr->pd->xv, &a);
	if (!qp->xv) {
		free(qp);
		return xvd_error(errno);
	}
	qp->init = *verbs_qp_init_attr;
	qp->ctx = verbs_context;
	queue_add(&qp->queue, qp->xv, qp);
	count(&qp->ctx->users, 1);
	count(&qp->init.pd->users, 1);
	*verbs_qp = qp;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_verbs_qp_destroy(struct doca_verbs_qp *verbs_qp)
{
	int err;

	if (!verbs_qp)
		return DOCA_ERROR_INVALID_VALUE;
	err = xv_destroy_qp(verbs_qp->xv);
	if (err)
		return xvd_error(err);
	queue_del(&verbs_qp->queue);
	count(&verbs_qp->init.pd->users, -1);
	count(&verbs_qp->ctx->users, -1);
	free(verbs_qp);
	return DOCA_SUCCESS;
}

EXPORT uint32_t doca_verbs_qp_get_qpn(const struct doca_verbs_qp *verbs_qp)
{
	return verbs_qp ? verbs_qp->xv->qp_num : 0;
}

EXPORT void doca_verbs_qp_get_wq(const struct doca_verbs_qp *verbs_qp, void **sq_buf,
				 uint32_t *sq_num_entries, void **rq_buf, uint32_t *rq_num_entries,
				 uint32_t *rwqe_size_bytes)
{
	const struct xv_qp *xv = verbs_qp ? verbs_qp->xv : NULL;

	if (!xv || !sq_buf || !sq_num_entries || !rq_buf || !rq_num_entries || !rwqe_size_bytes)
		return;
	/* A queue pair without a queue has no bookkeeping for it. */
	*sq_buf = xv->sq.entry ? xv->sq.buf : NULL;
	*sq_num_entries = xv->sq.entry ? xv->sq.mask + 1 : 0;
	*rq_buf = xv->rq.wr_id ? xv->rq.buf : NULL;
	*rq_num_entries = xv->rq.wr_id ? xv->rq.mask + 1 : 0;
	*rwqe_size_bytes = xv->rq.wr_id ? 1u << xv->rq.log_stride : 0;
}

EXPORT void *doca_verbs_qp_get_dbr_addr(const struct doca_verbs_qp *verbs_qp)
{
	return verbs_qp ? (void *)verbs_qp->xv->sq.dbrec : NULL;
}

EXPORT void *doca_verbs_qp_get_uar_addr(const struct doca_verbs_qp *verbs_qp)
{
	return verbs_qp ? (void *)verbs_qp->xv->sq.doorbell : NULL;
}

/* No other modes are supported. */

EXPORT enum doca_verbs_qp_send_dbr_mode
doca_verbs_qp_get_send_dbr_mode(const struct doca_verbs_qp *verbs_qp)
{
	(void)verbs_qp;
	return DOCA_VERBS_QP_SEND_DBR_MODE_DBR_VALID;
}

EXPORT bool doca_verbs_qp_get_emulate_no_dbr_ext(const struct doca_verbs_qp *verbs_qp)
{
	(void)verbs_qp;
	return false;
}
