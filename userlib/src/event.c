// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Acknowledgement of events.  Destroying an object returns only when each
 * event that was read for it has been acknowledged, so that nobody is left
 * holding an event that points to freed memory.
 */
#include "internal.h"

void xv_events_init(struct event_count *ev)
{
	pthread_mutex_init(&ev->lock, NULL);
	pthread_cond_init(&ev->changed, NULL);
}

void xv_events_destroy(struct event_count *ev)
{
	pthread_cond_destroy(&ev->changed);
	pthread_mutex_destroy(&ev->lock);
}

void xv_events_wait(struct event_count *ev, const struct xverbs_destroy *reply)
{
	pthread_mutex_lock(&ev->lock);
	while (ev->comp_acked < reply->out_comp_events ||
	       ev->async_acked < reply->out_async_events)
		pthread_cond_wait(&ev->changed, &ev->lock);
	pthread_mutex_unlock(&ev->lock);
}

static void events_ack(struct event_count *ev, uint32_t comp, uint32_t async)
{
	pthread_mutex_lock(&ev->lock);
	ev->comp_acked += comp;
	ev->async_acked += async;
	pthread_cond_broadcast(&ev->changed);
	pthread_mutex_unlock(&ev->lock);
}

XV_EXPORT void xv_ack_cq_events(struct xv_cq *cq, unsigned int n)
{
	events_ack(&to_cq(cq)->events, n, 0);
}

XV_EXPORT void xv_ack_async_event(struct xv_async_event *event)
{
	switch (event->event_type) {
	case XV_EVENT_CQ_ERR:
		events_ack(&to_cq(event->element.cq)->events, 0, 1);
		break;
	case XV_EVENT_QP_FATAL:
	case XV_EVENT_QP_REQ_ERR:
	case XV_EVENT_QP_ACCESS_ERR:
	case XV_EVENT_COMM_EST:
	case XV_EVENT_SQ_DRAINED:
	case XV_EVENT_PATH_MIG:
	case XV_EVENT_PATH_MIG_ERR:
	case XV_EVENT_QP_LAST_WQE_REACHED:
		events_ack(&to_qp(event->element.qp)->events, 0, 1);
		break;
	case XV_EVENT_SRQ_ERR:
	case XV_EVENT_SRQ_LIMIT_REACHED:
		events_ack(&to_srq(event->element.srq)->events, 0, 1);
		break;
	default:
		break;
	}
}
