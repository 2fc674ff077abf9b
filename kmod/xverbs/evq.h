/* SPDX-License-Identifier: GPL-2.0 */
/* Event queues: of a file, and of completion channels */
#ifndef XV_EVQ_H
#define XV_EVQ_H

#include <linux/list.h>
#include <linux/poll.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

struct xv_call;

/* An unread asynchronous event */
struct xv_logged {
	struct xv_evsrc *src;
	u32 type;
};

/**
 * struct xv_evq - event queue
 * @lock: protects the queue and the sources in it; taken in interrupts
 * @log: ring of XVERBS_EVENT_LOG asynchronous events in the order of time
 * @first: the oldest of them
 * @n_logged: their number
 * @pending: sources with unread events that are not in @log
 * @wait: waiting readers
 * @wake: work that wakes them after an asynchronous event
 * @event_size: bytes of each record that read() returns
 * @dead: no more events; after the pending ones, reads return -ENODEV
 */
struct xv_evq {
	spinlock_t lock;
	u32 event_size;
	struct xv_logged *log;
	u32 first;
	u32 n_logged;
	struct list_head pending;
	wait_queue_head_t wait;
	struct work_struct wake;
	bool dead;
};

/**
 * struct xv_evsrc - source of events
 * @node: in xv_evq.pending while @unread is not zero
 * @unread: asynchronous events that are not in the log: mask of their types; completions:
 *	their number
 * @latest: the type in @unread that was raised last
 * @delivered: number of events that were read
 */
struct xv_evsrc {
	struct list_head node;
	u64 unread;
	u32 latest;
	u32 delivered;
	u32 handle;
	u32 port;
	u64 user_data;
};

void xv_evq_init(struct xv_evq *q, u32 event_size, struct xv_logged *log);
void xv_evq_exit(struct xv_evq *q);
int xv_event_size(struct xv_call *call, u32 wanted, u32 first, u32 *size);
void xv_evq_kill(struct xv_evq *q, struct xv_evsrc *last);
void xv_evsrc_init(struct xv_evsrc *src);
void xv_event_async(struct xv_evq *q, struct xv_evsrc *src, unsigned int type);
void xv_event_comp(struct xv_evq *q, struct xv_evsrc *src);
u32 xv_evsrc_stop(struct xv_evq *q, struct xv_evsrc *src);
bool xv_evq_pop_async(struct xv_evq *q, void *record);
bool xv_evq_pop_comp(struct xv_evq *q, void *record);
ssize_t xv_evq_read(struct xv_evq *q, char __user *buf, size_t len, bool nonblock,
		    bool (*pop)(struct xv_evq *q, void *record), size_t bytes);
__poll_t xv_evq_poll(struct xv_evq *q, struct file *filp, poll_table *wait);

#endif
