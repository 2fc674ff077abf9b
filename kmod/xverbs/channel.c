// SPDX-License-Identifier: GPL-2.0
/*
 * Completion channels: file descriptors that deliver completion events.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include "cq.h"

/* Exists until the channel is destroyed and its file descriptor is closed. */
struct xv_chan_queue {
	struct kref ref;
	struct xv_evq q;
};

static void xv_chan_free(struct kref *ref)
{
	struct xv_chan_queue *queue = container_of(ref, struct xv_chan_queue, ref);

	xv_evq_exit(&queue->q);
	kfree(queue);
}

static ssize_t xv_chan_read(struct file *filp, char __user *buf, size_t len,
			    loff_t *pos)
{
	struct xv_chan_queue *queue = filp->private_data;

	return xv_evq_read(&queue->q, buf, len, filp->f_flags & O_NONBLOCK,
			   xv_evq_pop_comp, sizeof(struct xverbs_comp_event));
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

/* Reserves the file descriptor; the dispatcher installs the file after the reply. */
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
	channel->queue = kzalloc(sizeof(*channel->queue), XV_GFP);
	if (!channel->queue) {
		err = -ENOMEM;
		goto err_obj;
	}
	kref_init(&channel->queue->ref);
	xv_evq_init(&channel->queue->q, event_size, NULL);

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

/* Wakes the readers.  Completion queues that cannot be destroyed hold a reference. */
void xv_channel_leak(struct xv_obj *obj)
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
