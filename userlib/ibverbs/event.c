// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion channels, completion events and asynchronous events.
 */
#include "ibv.h"

EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *ctx)
{
	struct channel *ch = calloc(1, sizeof(*ch));

	if (!ch)
		return NULL;
	ch->xv = xv_create_comp_channel(xv_of(ctx));
	if (!ch->xv) {
		free(ch);
		return iv_null();
	}
	ch->pub.context = ctx;
	ch->pub.fd = ch->xv->fd;
	return &ch->pub;
}

EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *pub)
{
	struct channel *ch = TO(channel, pub);
	int err = xv_destroy_comp_channel(ch->xv);

	if (!err)
		free(ch);
	return iv_result(err);
}

EXPORT int ibv_get_cq_event(struct ibv_comp_channel *ch, struct ibv_cq **cq, void **cq_context)
{
	struct xv_cq *xv;
	void *context;
	int err = xv_get_cq_event(TO(channel, ch)->xv, &xv, &context);

	if (err) {
		errno = -err;
		return -1;
	}
	*cq = context;
	*cq_context = (*cq)->cq_context;
	return 0;
}

EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	xv_ack_cq_events(TO(cq, cq)->xv, n);
}

enum element { ELEMENT_PORT, ELEMENT_CQ, ELEMENT_QP, ELEMENT_SRQ, ELEMENT_DCT };

static enum element element_of(int type)
{
	switch (type) {
	case IBV_EVENT_CQ_ERR:
		return ELEMENT_CQ;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return ELEMENT_QP;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return ELEMENT_SRQ;
	case XV_EVENT_DCT_KEY_VIOLATION:
	case XV_EVENT_DCT_ACCESS_ERR:
	case XV_EVENT_DCT_REQ_ERR:
		return ELEMENT_DCT;
	default:
		return ELEMENT_PORT;
	}
}

EXPORT int ibv_get_async_event(struct ibv_context *ctx, struct ibv_async_event *event)
{
	struct xv_async_event x;
	int err = xv_get_async_event(xv_of(ctx), &x);

	if (err) {
		errno = -err;
		return -1;
	}
	event->event_type = (enum ibv_event_type)x.event_type;
	switch (element_of(event->event_type)) {
	case ELEMENT_CQ:
		event->element.cq = x.element.cq->cq_context;
		break;
	case ELEMENT_QP:
		event->element.qp = x.element.qp->qp_context;
		break;
	case ELEMENT_SRQ:
		event->element.srq = x.element.srq->srq_context;
		break;
	case ELEMENT_DCT:	/* libibverbs has no member for it */
		event->element.qp = x.element.dct->dct_context;
		break;
	case ELEMENT_PORT:
		event->element.port_num = (int)x.element.port_num;
	}
	return 0;
}

EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
	struct xv_async_event x = { .event_type = (enum xv_event_type)event->event_type };

	switch (element_of(event->event_type)) {
	case ELEMENT_CQ:
		x.element.cq = TO(cq, event->element.cq)->xv;
		break;
	case ELEMENT_QP:
		x.element.qp = TO(qp, event->element.qp)->xv;
		break;
	case ELEMENT_SRQ:
		x.element.srq = TO(srq, event->element.srq)->xv;
		break;
	case ELEMENT_DCT:
		x.element.dct = TO(dct_head, event->element.qp)->xv;
		break;
	case ELEMENT_PORT:
		return;
	}
	xv_ack_async_event(&x);
}
