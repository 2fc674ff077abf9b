// SPDX-License-Identifier: GPL-2.0
/*
 * Events and the file descriptors that deliver them: asynchronous events on
 * the bound file, completion events on channels.
 *
 * An event lives in its source, which is in the queue's list as long as it
 * has unread ones.  Nothing is allocated when an event is raised.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "xv.h"

void xv_evq_init(struct xv_evq *q, u32 event_size)
{
	spin_lock_init(&q->lock);
	q->event_size = event_size;
	INIT_LIST_HEAD(&q->pending);
	init_waitqueue_head(&q->wait);
	q->dead = false;
}

/* The size of records that a program asks for; 0 is that of the @first version. */
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

void xv_event_async(struct xv_evq *q, struct xv_evsrc *src, unsigned int type)
{
	unsigned long irq;

	spin_lock_irqsave(&q->lock, irq);
	src->unread |= BIT(type);
	xv_evsrc_queue(q, src);
	spin_unlock_irqrestore(&q->lock, irq);
	wake_up_interruptible_poll(&q->wait, EPOLLIN | EPOLLRDNORM);
}

/*
 * Readers get what is pending, the event DEVICE_FATAL of @last if there is
 * one, and then ENODEV; who has read that event finds the queue dead.
 */
void xv_evq_kill(struct xv_evq *q, struct xv_evsrc *last)
{
	spin_lock_irq(&q->lock);
	if (last) {
		last->unread |= BIT(XVERBS_EVENT_DEVICE_FATAL);
		xv_evsrc_queue(q, last);
	}
	q->dead = true;
	spin_unlock_irq(&q->lock);
	wake_up_all(&q->wait);
}

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

/* Drops what is unread; returns how many events were read. */
u32 xv_evsrc_stop(struct xv_evq *q, struct xv_evsrc *src)
{
	u32 delivered;

	spin_lock_irq(&q->lock);
	list_del_init(&src->node);
	src->unread = 0;
	delivered = src->delivered;
	spin_unlock_irq(&q->lock);
	return delivered;
}

/* Takes one event off @src; the sources take turns. */
static void xv_evsrc_taken(struct xv_evq *q, struct xv_evsrc *src)
{
	src->delivered++;
	if (src->unread)
		list_move_tail(&src->node, &q->pending);
	else
		list_del_init(&src->node);
}

bool xv_evq_pop_async(struct xv_evq *q, struct xverbs_async_event *event)
{
	struct xv_evsrc *src;

	spin_lock_irq(&q->lock);
	src = list_first_entry_or_null(&q->pending, struct xv_evsrc, node);
	if (src) {
		*event = (struct xverbs_async_event) {
			.type = __ffs(src->unread),
			.handle = src->handle,
			.user_data = src->user_data,
			.port = src->port,
		};
		src->unread &= src->unread - 1;
		xv_evsrc_taken(q, src);
	}
	spin_unlock_irq(&q->lock);
	return src;
}

static bool xv_evq_pop_comp(struct xv_evq *q, struct xverbs_comp_event *event)
{
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

/* Sleeps until there is an event.  Another reader may still take it. */
static int xv_evq_wait(struct xv_evq *q, bool nonblock)
{
	bool dead;

	dead = READ_ONCE(q->dead);
	/* An event raised before death is read before ENODEV. */
	smp_rmb();
	if (!list_empty(&q->pending))
		return 0;
	if (dead)
		return -ENODEV;
	if (nonblock)
		return -EAGAIN;
	return wait_event_interruptible(q->wait, !list_empty(&q->pending) ||
						 READ_ONCE(q->dead));
}

__poll_t xv_evq_poll(struct xv_evq *q, struct file *filp, poll_table *wait)
{
	__poll_t events = 0;

	poll_wait(filp, &q->wait, wait);
	spin_lock_irq(&q->lock);
	if (!list_empty(&q->pending))
		events |= EPOLLIN | EPOLLRDNORM;
	if (q->dead)
		events |= EPOLLHUP | EPOLLERR;
	spin_unlock_irq(&q->lock);
	return events;
}

ssize_t xv_async_read(struct xv_file *file, char __user *buf, size_t len,
		      bool nonblock)
{
	u32 size = READ_ONCE(file->async.event_size);
	struct xverbs_async_event event;
	ssize_t done = 0;
	int err;

	if (len < size)
		return -EINVAL;
	while (len - done >= size) {
		if (!xv_evq_pop_async(&file->async, &event)) {
			if (done)
				break;
			err = xv_evq_wait(&file->async, nonblock);
			if (err)
				return err;
			continue;
		}
		if (xv_copy_entry(buf + done, size, &event, sizeof(event)))
			return done ? done : -EFAULT;
		done += size;
	}
	return done;
}

/* ---- Completion channels ---------------------------------------------------- */

/* Outlives the channel while its descriptor is open. */
struct xv_chan_queue {
	struct kref ref;
	struct xv_evq q;
};

static void xv_chan_free(struct kref *ref)
{
	kfree(container_of(ref, struct xv_chan_queue, ref));
}

static ssize_t xv_chan_read(struct file *filp, char __user *buf, size_t len,
			    loff_t *pos)
{
	struct xv_chan_queue *queue = filp->private_data;
	struct xverbs_comp_event event;
	u32 size = queue->q.event_size;
	ssize_t done = 0;
	int err;

	if (len < size)
		return -EINVAL;
	while (len - done >= size) {
		if (!xv_evq_pop_comp(&queue->q, &event)) {
			if (done)
				break;
			err = xv_evq_wait(&queue->q,
					  filp->f_flags & O_NONBLOCK);
			if (err)
				return err;
			continue;
		}
		if (xv_copy_entry(buf + done, size, &event, sizeof(event)))
			return done ? done : -EFAULT;
		done += size;
	}
	return done;
}

static __poll_t xv_chan_poll(struct file *filp, poll_table *wait)
{
	struct xv_chan_queue *queue = filp->private_data;

	return xv_evq_poll(&queue->q, filp, wait);
}

static int xv_chan_release(struct inode *inode, struct file *filp)
{
	struct xv_chan_queue *queue = filp->private_data;

	kref_put(&queue->ref, xv_chan_free);
	return 0;
}

static const struct file_operations xv_chan_fops = {
	.owner = THIS_MODULE,
	.read = xv_chan_read,
	.poll = xv_chan_poll,
	.release = xv_chan_release,
	.llseek = noop_llseek,
};

/* Makes the descriptor; the dispatcher installs it after the reply. */
static int xv_chan_make_fd(struct xv_call *call, struct xv_chan_queue *queue)
{
	int flags = O_RDONLY | O_CLOEXEC;
	struct file *filp;
	int fd;

	if (call->arg.hdr.flags & XVERBS_CHANNEL_NONBLOCK)
		flags |= O_NONBLOCK;
	fd = get_unused_fd_flags(flags);
	if (fd < 0)
		return xv_fail(call, fd, "channel: no free file descriptor");
	filp = anon_inode_getfile("[xverbs-channel]", &xv_chan_fops, queue,
				  flags);
	if (IS_ERR(filp)) {
		put_unused_fd(fd);
		return PTR_ERR(filp);
	}
	kref_get(&queue->ref);
	call->new_file = filp;
	call->new_fd = fd;
	return 0;
}

int xv_channel_alloc(struct xv_call *call)
{
	struct xverbs_channel_alloc *arg = &call->arg.channel_alloc;
	struct xv_channel_obj *channel;
	struct xv_obj *obj;
	u32 event_size;
	int err;

	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	err = xv_event_size(call, arg->event_size,
			    offsetofend(struct xverbs_comp_event, user_data),
			    &event_size);
	if (err)
		return err;
	obj = xv_obj_alloc(call, XV_OBJ_CHANNEL, sizeof(*channel));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	channel = to_channel_obj(obj);
	channel->queue = kzalloc(sizeof(*channel->queue), GFP_KERNEL_ACCOUNT);
	if (!channel->queue) {
		err = -ENOMEM;
		goto err_obj;
	}
	kref_init(&channel->queue->ref);
	xv_evq_init(&channel->queue->q, event_size);

	err = xv_chan_make_fd(call, channel->queue);
	if (err)
		goto err_queue;

	arg->out_handle = obj->handle;
	arg->out_fd = call->new_fd;
	call->new_obj = obj;
	return 0;

err_queue:
	kref_put(&channel->queue->ref, xv_chan_free);
err_obj:
	xv_obj_abort(obj);
	return err;
}

int xv_channel_destroy(struct xv_obj *obj, struct xv_call *call)
{
	struct xv_channel_obj *channel = to_channel_obj(obj);

	xv_evq_kill(&channel->queue->q, NULL);
	kref_put(&channel->queue->ref, xv_chan_free);
	return 0;
}

/* Whoever sleeps on it wakes; completion queues keep it in memory. */
void xv_channel_lose(struct xv_obj *obj)
{
	xv_evq_kill(&to_channel_obj(obj)->queue->q, NULL);
}

void xv_channel_event(struct xv_channel_obj *channel, struct xv_evsrc *src)
{
	xv_event_comp(&channel->queue->q, src);
}

u32 xv_channel_stop(struct xv_channel_obj *channel, struct xv_evsrc *src)
{
	return xv_evsrc_stop(&channel->queue->q, src);
}
