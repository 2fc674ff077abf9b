// SPDX-License-Identifier: GPL-2.0
/*
 * Event queues: asynchronous events of the bound file, completion events of channels.
 *
 * Completion events are counted in their source, which is in the list of the queue while
 * it has unread events.  Asynchronous events have a log, which keeps their order; while it
 * is full, they are stored in their sources, too.  So raising an event allocates no memory,
 * and the memory for unread events is bounded.
 */
#include <linux/fs.h>
#include <linux/poll.h>

#include "xv.h"

static void xv_evq_wake(struct work_struct *work)
{
	struct xv_evq *q = container_of(work, struct xv_evq, wake);

	wake_up_interruptible_poll(&q->wait, EPOLLIN | EPOLLRDNORM);
}

void xv_evq_init(struct xv_evq *q, u32 event_size, struct xv_logged *log)
{
	spin_lock_init(&q->lock);
	q->event_size = event_size;
	q->log = log;
	q->first = 0;
	q->n_logged = 0;
	INIT_LIST_HEAD(&q->pending);
	init_waitqueue_head(&q->wait);
	INIT_WORK(&q->wake, xv_evq_wake);
	q->dead = false;
}

/* Called when nothing raises events any more. */
void xv_evq_exit(struct xv_evq *q)
{
	cancel_work_sync(&q->wake);
}

/* Checks the record size of a program; 0 means the size of the @first version. */
int xv_event_size(struct xv_call *call, u32 wanted, u32 first, u32 *size)
{
	*size = wanted ? wanted : first;
	if (*size < first || *size > XVERBS_EVENT_SIZE_MAX || *size % 8)
		return xv_fail(call, -EINVAL,
			       "event size %u is not a multiple of 8 in %u..%u",
			       wanted, first, XVERBS_EVENT_SIZE_MAX);
	return 0;
}

void xv_evsrc_init(struct xv_evsrc *src)
{
	INIT_LIST_HEAD(&src->node);
}

static void xv_evsrc_queue(struct xv_evq *q, struct xv_evsrc *src)
{
	lockdep_assert_held(&q->lock);
	if (list_empty(&src->node))
		list_add_tail(&src->node, &q->pending);
}

/* @first is a free-running counter: so that it can overflow, the size is a power of two. */
static_assert((XVERBS_EVENT_LOG & (XVERBS_EVENT_LOG - 1)) == 0);

static struct xv_logged *xv_log_at(struct xv_evq *q, u32 i)
{
	return &q->log[(q->first + i) % XVERBS_EVENT_LOG];
}

static bool xv_log_ends_with(struct xv_evq *q, struct xv_logged event)
{
	struct xv_logged *last = xv_log_at(q, q->n_logged - 1);

	return q->n_logged && last->src == event.src && last->type == event.type;
}

/* Events in sources are later than those of the log, so new events follow them there. */
static void xv_async_add(struct xv_evq *q, struct xv_evsrc *src, u32 type)
{
	struct xv_logged event = { .src = src, .type = type };

	lockdep_assert_held(&q->lock);
	if (list_empty(&q->pending)) {
		if (xv_log_ends_with(q, event))
			return;
		if (q->n_logged < XVERBS_EVENT_LOG) {
			*xv_log_at(q, q->n_logged++) = event;
			return;
		}
	}
	src->unread |= BIT_ULL(type);
	src->latest = type;
	xv_evsrc_queue(q, src);
}

/* Removes the events of @src. */
static void xv_log_drop(struct xv_evq *q, const struct xv_evsrc *src)
{
	u32 i, kept = 0;

	for (i = 0; i < q->n_logged; i++)
		if (xv_log_at(q, i)->src != src)
			*xv_log_at(q, kept++) = *xv_log_at(q, i);
	q->n_logged = kept;
}

/*
 * May be called in interrupts.  A process can make as many waiters as it wants (epoll), so
 * a work item wakes them.
 */
void xv_event_async(struct xv_evq *q, struct xv_evsrc *src, unsigned int type)
{
	unsigned long irq;

	spin_lock_irqsave(&q->lock, irq);
	xv_async_add(q, src, type);
	spin_unlock_irqrestore(&q->lock, irq);
	xv_compat_queue_work(&q->wake);
}

/*
 * Readers get the pending events, then DEVICE_FATAL of @last unless it is NULL; after
 * that, reads return -ENODEV.
 */
void xv_evq_kill(struct xv_evq *q, struct xv_evsrc *last)
{
	spin_lock_irq(&q->lock);
	if (last)
		xv_async_add(q, last, XVERBS_EVENT_DEVICE_FATAL);
	q->dead = true;
	spin_unlock_irq(&q->lock);
	wake_up_all(&q->wait);
}

/* Called in the tasklet of mlx5_core, which limits its time. */
void xv_event_comp(struct xv_evq *q, struct xv_evsrc *src)
{
	unsigned long irq;

	spin_lock_irqsave(&q->lock, irq);
	if (src->unread < U32_MAX)
		src->unread++;
	xv_evsrc_queue(q, src);
	spin_unlock_irqrestore(&q->lock, irq);
	wake_up_interruptible_poll(&q->wait, EPOLLIN | EPOLLRDNORM);
}

/* Drops unread events; returns the number of events that were read. */
u32 xv_evsrc_stop(struct xv_evq *q, struct xv_evsrc *src)
{
	u32 delivered;

	spin_lock_irq(&q->lock);
	xv_log_drop(q, src);
	list_del_init(&src->node);
	src->unread = 0;
	delivered = src->delivered;
	spin_unlock_irq(&q->lock);
	return delivered;
}

/* One event of @src was read; the next reader gets one of another source. */
static void xv_evsrc_taken(struct xv_evq *q, struct xv_evsrc *src)
{
	src->delivered++;
	if (src->unread)
		list_move_tail(&src->node, &q->pending);
	else
		list_del_init(&src->node);
}

static struct xv_logged xv_log_take(struct xv_evq *q)
{
	struct xv_logged event = *xv_log_at(q, 0);

	q->first++;
	q->n_logged--;
	event.src->delivered++;
	return event;
}

/*
 * A source does not know the order of its events, except for the latest one, which is returned
 * last: "link down" and "link up" have been raised, and the latest one is the present state.
 */
static struct xv_logged xv_source_take(struct xv_evq *q)
{
	struct xv_evsrc *src = list_first_entry(&q->pending, struct xv_evsrc, node);
	u64 earlier = src->unread & ~BIT_ULL(src->latest);
	u32 type = earlier ? __ffs64(earlier) : src->latest;

	src->unread &= ~BIT_ULL(type);
	xv_evsrc_taken(q, src);
	return (struct xv_logged) { .src = src, .type = type };
}

static bool xv_evq_has_events(const struct xv_evq *q)
{
	return READ_ONCE(q->n_logged) || !list_empty(&q->pending);
}

bool xv_evq_pop_async(struct xv_evq *q, void *record)
{
	struct xv_logged event = {};

	spin_lock_irq(&q->lock);
	if (xv_evq_has_events(q)) {
		event = q->n_logged ? xv_log_take(q) : xv_source_take(q);
		*(struct xverbs_async_event *)record = (struct xverbs_async_event) {
			.type = event.type,
			.handle = event.src->handle,
			.user_data = event.src->user_data,
			.port = event.src->port,
		};
	}
	spin_unlock_irq(&q->lock);
	return event.src;
}

bool xv_evq_pop_comp(struct xv_evq *q, void *record)
{
	struct xverbs_comp_event *event = record;
	struct xv_evsrc *src;

	spin_lock_irq(&q->lock);
	src = list_first_entry_or_null(&q->pending, struct xv_evsrc, node);
	if (src) {
		event->user_data = src->user_data;
		src->unread--;
		xv_evsrc_taken(q, src);
	}
	spin_unlock_irq(&q->lock);
	return src;
}

/* Sleeps until there is an event; another reader may take it first. */
static int xv_evq_wait(struct xv_evq *q, bool nonblock)
{
	bool dead;

	dead = READ_ONCE(q->dead);
	/* Events raised before @dead was set are read before -ENODEV. */
	smp_rmb();
	if (xv_evq_has_events(q))
		return 0;
	if (dead)
		return -ENODEV;
	if (nonblock)
		return -EAGAIN;
	return wait_event_interruptible(q->wait, xv_evq_has_events(q) ||
						 READ_ONCE(q->dead));
}

__poll_t xv_evq_poll(struct xv_evq *q, struct file *filp, poll_table *wait)
{
	__poll_t events = 0;

	poll_wait(filp, &q->wait, wait);
	spin_lock_irq(&q->lock);
	if (xv_evq_has_events(q))
		events |= EPOLLIN | EPOLLRDNORM;
	if (q->dead)
		events |= EPOLLHUP | EPOLLERR;
	spin_unlock_irq(&q->lock);
	return events;
}

/*
 * read() of all event files: returns whole records, sleeps if there is none.  @pop
 * takes one event from the queue and writes a record of @bytes.
 */
ssize_t xv_evq_read(struct xv_evq *q, char __user *buf, size_t len, bool nonblock,
		    bool (*pop)(struct xv_evq *q, void *record), size_t bytes)
{
	union {
		struct xverbs_async_event async;
		struct xverbs_comp_event comp;
	} record;
	u32 size = READ_ONCE(q->event_size);
	ssize_t done = 0;
	int err;

	if (len < size)
		return -EINVAL;
	while (len - done >= size) {
		if (!pop(q, &record)) {
			if (done)
				break;
			err = xv_evq_wait(q, nonblock);
			if (err)
				return err;
			continue;
		}
		if (xv_copy_entry(buf + done, size, &record, bytes))
			return done ? done : -EFAULT;
		done += size;
	}
	return done;
}
