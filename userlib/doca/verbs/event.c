// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Asynchronous events.
 */
#include "verbs.h"

enum element { ELEMENT_PORT, ELEMENT_CQ, ELEMENT_QP, ELEMENT_SRQ, ELEMENT_OTHER };

static enum element element_of(int type)
{
	switch (type) {
	case XV_EVENT_CQ_ERR:
		return ELEMENT_CQ;
	case XV_EVENT_QP_FATAL:
	case XV_EVENT_QP_REQ_ERR:
	case XV_EVENT_QP_ACCESS_ERR:
	case XV_EVENT_COMM_EST:
	case XV_EVENT_SQ_DRAINED:
	case XV_EVENT_PATH_MIG:
	case XV_EVENT_PATH_MIG_ERR:
	case XV_EVENT_QP_LAST_WQE_REACHED:
		return ELEMENT_QP;
	case XV_EVENT_SRQ_ERR:
	case XV_EVENT_SRQ_LIMIT_REACHED:
		return ELEMENT_SRQ;
	case XV_EVENT_DCT_KEY_VIOLATION:
	case XV_EVENT_DCT_ACCESS_ERR:
	case XV_EVENT_DCT_REQ_ERR:
		return ELEMENT_OTHER;
	default:
		return ELEMENT_PORT;
	}
}

/* False if the event is about an object of others */
static bool translate(const struct xv_async_event *xv, struct doca_verbs_async_event *event)
{
	event->event_type = (int)xv->event_type;
	switch (element_of(event->event_type)) {
	case ELEMENT_CQ:
		event->element.cq = queue_owner(xv->element.cq);
		return event->element.cq;
	case ELEMENT_QP:
		event->element.qp = queue_owner(xv->element.qp);
		return event->element.qp;
	case ELEMENT_SRQ:
		event->element.srq = queue_owner(xv->element.srq);
		return event->element.srq;
	case ELEMENT_PORT:
		event->element.port_num = (int)xv->element.port_num;
		return true;
	default:
		return false;
	}
}

EXPORT doca_error_t doca_verbs_get_async_event(struct doca_verbs_context *verbs_context,
					       struct doca_verbs_async_event *async_event)
{
	struct xv_async_event xv;
	int err;

	if (!verbs_context || !async_event)
		return DOCA_ERROR_INVALID_VALUE;
	for (;;) {
		err = xv_get_async_event(verbs_context->xv, &xv);
		if (err)
			return xvd_error(err);
		if (translate(&xv, async_event))
			return DOCA_SUCCESS;
		xv_ack_async_event(&xv);
	}
}

EXPORT void doca_verbs_ack_async_event(struct doca_verbs_async_event *async_event)
{
	struct xv_async_event xv = { 0 };

	if (!async_event)
		return;
	xv.event_type = (enum xv_event_type)async_event->event_type;
	switch (element_of(async_event->event_type)) {
	case ELEMENT_CQ:
		xv.element.cq = async_event->element.cq->xv;
		break;
	case ELEMENT_QP:
		xv.element.qp = async_event->element.qp->xv;
		break;
	case ELEMENT_SRQ:
		xv.element.srq = async_event->element.srq->xv;
		break;
	default:
		xv.element.port_num = (uint32_t)async_event->element.port_num;
	}
	xv_ack_async_event(&xv);
}
