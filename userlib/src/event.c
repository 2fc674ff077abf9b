// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reading and acknowledging events.  An event has a pointer to its object, so
 * destroying an object waits until all events that were read for it have been
 * acknowledged.  The kernel counts what was read.  After the removal of the device it does not
 * tell, so the library counts too, and waits for threads that have read an event and have not
 * counted it yet.
 */
#include <sched.h>
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

/* After the removal of the device no thread sleeps in read().  A child process has no readers. */
void xv_readers_wait(struct context *ctx)
{
	while (ctx->owner == getpid() && __atomic_load_n(&ctx->readers, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void reader_end(void *readers)
{
	__atomic_fetch_sub((uint32_t *)readers, 1, __ATOMIC_RELEASE);
}

/* Reads exactly one event, and calls @count with it.  The thread may be cancelled in read(). */
static int read_event(struct xv_context *ctx, int fd, void *event, size_t size,
		      void (*count)(const void *event), const char *what)
{
	uint32_t *readers = &to_ctx(ctx)->readers;
	int before = errno, err;
	ssize_t n;

	__atomic_fetch_add(readers, 1, __ATOMIC_SEQ_CST);
	pthread_cleanup_push(reader_end, readers);
	n = read(fd, event, size);
	err = errno;
	if (n == (ssize_t)size)
		count(event);
	pthread_cleanup_pop(1);
	errno = before;
	if (n == (ssize_t)size)
		return 0;
	if (n < 0 && err == EAGAIN) {	/* no event: the usual end of a loop */
		errno = err;
		return -err;
	}
	if (n < 0)
		return xv_set_error(err, "%s: %s", what, xv_strerror(err));
	return xv_set_error(EIO, "%s: short read", what);
}

static void count_completion(const void *event)
{
	const struct xverbs_comp_event *e = event;
	struct cq *cq = (struct cq *)(uintptr_t)e->user_data;

	__atomic_fetch_add(&cq->events.comp_read, 1, __ATOMIC_RELEASE);
}

XV_EXPORT int xv_get_cq_event(struct xv_comp_channel *ch, struct xv_cq **cq, void **cq_context)
{
	struct xverbs_comp_event event;
	int err = read_event(ch->context, ch->fd, &event, sizeof(event), count_completion,
			     "completion event");

	if (err)
		return err;
	*cq = (struct xv_cq *)(uintptr_t)event.user_data;
	if (cq_context)
		*cq_context = (*cq)->cq_context;
	__atomic_fetch_add(&(*cq)->arm_sn, 1, __ATOMIC_RELAXED);
	return 0;
}

/* The events of an object; NULL: an event of this type names a port or the device. */
static struct event_count *events_of(uint32_t type, void *object)
{
	switch (type) {
	case XV_EVENT_CQ_ERR:
		return &((struct cq *)object)->events;
	case XV_EVENT_QP_FATAL:
	case XV_EVENT_QP_REQ_ERR:
	case XV_EVENT_QP_ACCESS_ERR:
	case XV_EVENT_COMM_EST:
	case XV_EVENT_SQ_DRAINED:
	case XV_EVENT_PATH_MIG:
	case XV_EVENT_PATH_MIG_ERR:
	case XV_EVENT_QP_LAST_WQE_REACHED:
		return &((struct qp *)object)->events;
	case XV_EVENT_DCT_KEY_VIOLATION:
	case XV_EVENT_DCT_ACCESS_ERR:
	case XV_EVENT_DCT_REQ_ERR:
		return &((struct dct *)object)->events;
	case XV_EVENT_SRQ_ERR:
	case XV_EVENT_SRQ_LIMIT_REACHED:
		return &((struct srq *)object)->events;
	default:
		return NULL;
	}
}

static void count_async(const void *event)
{
	const struct xverbs_async_event *e = event;
	struct event_count *ev = events_of(e->type, (void *)(uintptr_t)e->user_data);

	if (e->handle && ev)
		__atomic_fetch_add(&ev->async_read, 1, __ATOMIC_RELEASE);
}

XV_EXPORT int xv_get_async_event_sz(struct xv_context *ctx, struct xv_async_event *out,
				    size_t size)
{
	struct xv_async_event own = { .element = { 0 } };
	struct xverbs_async_event event;
	int err = read_event(ctx, ctx->fd, &event, sizeof(event), count_async,
			     "asynchronous event");

	if (err)
		return err;
	own.event_type = (enum xv_event_type)event.type;
	if (event.handle)
		own.element.qp = (struct xv_qp *)(uintptr_t)event.user_data;
	else
		own.element.port_num = event.port;
	xv_attr_out(out, size, &own, sizeof(own));
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
	struct event_count *ev = events_of(event->event_type, event->element.qp);

	if (ev)
		events_ack(ev, 0, 1);
}
