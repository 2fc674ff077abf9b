// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reading and acknowledging events.  An event has a pointer to its object, so
 * destroying an object waits until all events that were read for it have been
 * acknowledged.  The kernel counts what was read.  After the removal of the device it does not
 * tell, so the library counts too.
 */
#include <unistd.h>
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

static bool is_behind(uint32_t acked, uint32_t counted)
{
	return (int32_t)(acked - counted) < 0;
}

void xv_events_wait(struct event_count *ev, const struct xverbs_destroy *reply)
{
	pthread_mutex_lock(&ev->lock);
	while (is_behind(ev->comp_acked, reply->out_comp_events) ||
	       is_behind(ev->async_acked, reply->out_async_events) ||
	       is_behind(ev->comp_acked, __atomic_load_n(&ev->comp_read, __ATOMIC_ACQUIRE)) ||
	       is_behind(ev->async_acked, __atomic_load_n(&ev->async_read, __ATOMIC_ACQUIRE)))
		pthread_cond_wait(&ev->changed, &ev->lock);
	pthread_mutex_unlock(&ev->lock);
}

/* Reads exactly one event. */
static int read_event(int fd, void *event, size_t size, const char *what)
{
	ssize_t n = read(fd, event, size);

	if (n == (ssize_t)size)
		return 0;
	if (n < 0)
		return xv_set_error(errno, "%s: %s", what, xv_strerror(errno));
	return xv_set_error(EIO, "%s: short read", what);
}

XV_EXPORT int xv_get_cq_event(struct xv_comp_channel *ch, struct xv_cq **cq, void **cq_context)
{
	struct xverbs_comp_event event;
	int err = read_event(ch->fd, &event, sizeof(event), "completion event");

	if (err)
		return err;
	*cq = (struct xv_cq *)(uintptr_t)event.user_data;
	__atomic_fetch_add(&to_cq(*cq)->events.comp_read, 1, __ATOMIC_RELEASE);
	if (cq_context)
		*cq_context = (*cq)->cq_context;
	__atomic_fetch_add(&(*cq)->arm_sn, 1, __ATOMIC_RELAXED);
	return 0;
}

/* The events of the object that @event names; NULL: it names a port or the device. */
static struct event_count *events_of(const struct xv_async_event *event)
{
	switch (event->event_type) {
	case XV_EVENT_CQ_ERR:
		return &to_cq(event->element.cq)->events;
	case XV_EVENT_QP_FATAL:
	case XV_EVENT_QP_REQ_ERR:
	case XV_EVENT_QP_ACCESS_ERR:
	case XV_EVENT_COMM_EST:
	case XV_EVENT_SQ_DRAINED:
	case XV_EVENT_PATH_MIG:
	case XV_EVENT_PATH_MIG_ERR:
	case XV_EVENT_QP_LAST_WQE_REACHED:
		return &to_qp(event->element.qp)->events;
	case XV_EVENT_DCT_KEY_VIOLATION:
	case XV_EVENT_DCT_ACCESS_ERR:
	case XV_EVENT_DCT_REQ_ERR:
		return &to_dct(event->element.dct)->events;
	case XV_EVENT_SRQ_ERR:
	case XV_EVENT_SRQ_LIMIT_REACHED:
		return &to_srq(event->element.srq)->events;
	default:
		return NULL;
	}
}

XV_EXPORT int xv_get_async_event(struct xv_context *ctx, struct xv_async_event *out)
{
	struct xverbs_async_event event;
	struct event_count *ev = NULL;
	int err = read_event(ctx->fd, &event, sizeof(event), "asynchronous event");

	if (err)
		return err;
	memset(out, 0, sizeof(*out));
	out->event_type = (enum xv_event_type)event.type;
	if (event.handle) {
		out->element.qp = (struct xv_qp *)(uintptr_t)event.user_data;
		ev = events_of(out);
	} else {
		out->element.port_num = event.port;
	}
	if (ev)
		__atomic_fetch_add(&ev->async_read, 1, __ATOMIC_RELEASE);
	return 0;
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
	struct event_count *ev = events_of(event);

	if (ev)
		events_ack(ev, 0, 1);
}
