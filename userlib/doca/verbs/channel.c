// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion channels and their events.
 */
#include "verbs.h"

EXPORT doca_error_t
doca_verbs_comp_channel_create(struct doca_verbs_context *verbs_context,
			       struct doca_verbs_comp_channel **verbs_comp_channel)
{
	struct doca_verbs_comp_channel *channel;

	if (!verbs_context || !verbs_comp_channel)
		return DOCA_ERROR_INVALID_VALUE;
	channel = calloc(1, sizeof(*channel));
	if (!channel)
		return DOCA_ERROR_NO_MEMORY;
	channel->xv = xv_create_comp_channel(verbs_context->xv);
	if (!channel->xv) {
		free(channel);
		return xvd_error(errno);
	}
	channel->ctx = verbs_context;
	count(&channel->ctx->users, 1);
	*verbs_comp_channel = channel;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t
doca_verbs_comp_channel_destroy(struct doca_verbs_comp_channel *verbs_comp_channel)
{
	int err;

	if (!verbs_comp_channel)
		return DOCA_ERROR_INVALID_VALUE;
	err = xv_destroy_comp_channel(verbs_comp_channel->xv);
	if (err)
		return xvd_error(err);
	count(&verbs_comp_channel->ctx->users, -1);
	free(verbs_comp_channel);
	return DOCA_SUCCESS;
}

EXPORT doca_event_handle_t
doca_verbs_comp_channel_get_handle(struct doca_verbs_comp_channel *verbs_comp_channel)
{
	return verbs_comp_channel ? verbs_comp_channel->xv->fd : doca_event_invalid_handle;
}

/* The queue is armed before the caller polls it, so no completion is missed. */
EXPORT doca_error_t doca_verbs_get_cq_event(struct doca_verbs_comp_channel *verbs_comp_channel,
					    struct doca_verbs_cq **verbs_cq, void **cq_context)
{
	struct doca_verbs_cq *cq;
	struct xv_cq *xv;
	void *context;
	int err;

	if (!verbs_comp_channel || !verbs_cq || !cq_context)
		return DOCA_ERROR_INVALID_VALUE;
	err = xv_get_cq_event(verbs_comp_channel->xv, &xv, &context);
	if (err)
		return xvd_error(err);
	cq = queue_owner(xv);
	if (cq->armed)
		xv_req_notify(xv, 0);
	*verbs_cq = cq;
	*cq_context = cq->cq_context;
	return DOCA_SUCCESS;
}

EXPORT void doca_verbs_ack_cq_events(struct doca_verbs_cq *verbs_cq, unsigned int nevents)
{
	if (verbs_cq)
		xv_ack_cq_events(verbs_cq->xv, nevents);
}
