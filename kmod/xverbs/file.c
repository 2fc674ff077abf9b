// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/xverbs: open, read, poll, release, and the end of a file when its device is
 * removed.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "charge.h"
#include "device.h"
#include "file.h"
#include "uar.h"

static int xv_fops_open(struct inode *inode, struct file *filp)
{
	struct xv_file *file;
	int err;

	file = kzalloc(sizeof(*file), XV_GFP);
	if (!file)
		return -ENOMEM;
	file->inode = xv_inode_new();
	if (IS_ERR(file->inode)) {
		err = PTR_ERR(file->inode);
		kfree(file);
		return err;
	}
	kref_init(&file->ref);
	init_rwsem(&file->sem);
	INIT_LIST_HEAD(&file->dev_node);
	xa_init_flags(&file->objs, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	mutex_init(&file->map_lock);
	xa_init_flags(&file->maps, XA_FLAGS_ACCOUNT);
	mutex_init(&file->dbr_lock);
	mutex_init(&file->clock_lock);
	mutex_init(&file->uid_lock);
	INIT_LIST_HEAD(&file->dbr_pages);
	spin_lock_init(&file->pins_lock);
	INIT_LIST_HEAD(&file->pins);
	xv_evq_init(&file->async, sizeof(struct xverbs_async_event), file->log);

	filp->private_data = file;
	filp->f_mapping = file->inode->i_mapping;
	return stream_open(inode, filp);
}

static void xv_file_free(struct kref *ref)
{
	struct xv_file *file = container_of(ref, struct xv_file, ref);

	xv_evq_exit(&file->async);
	xa_destroy(&file->objs);
	xa_destroy(&file->maps);
	kfree(file->sources);
	xv_inode_put(file->inode);
	kfree(file);
}

void xv_file_put(struct xv_file *file)
{
	kref_put(&file->ref, xv_file_free);
}

/* Allocates the event sources of the device and its ports. */
int xv_file_init_sources(struct xv_file *file, u32 n_ports)
{
	u32 i;

	file->sources = kcalloc(n_ports + 1, sizeof(*file->sources), XV_GFP);
	if (!file->sources)
		return -ENOMEM;
	file->n_sources = n_ports + 1;
	for (i = 0; i < file->n_sources; i++) {
		xv_evsrc_init(&file->sources[i]);
		file->sources[i].port = i;
	}
	return 0;
}

void xv_file_free_sources(struct xv_file *file)
{
	kfree(file->sources);
	file->sources = NULL;
	file->n_sources = 0;
}

/* Destroys all objects and unbinds the file. */
static void xv_file_teardown(struct xv_file *file)
{
	struct xv_dev *dev = file->dev;

	lockdep_assert_held_write(&file->sem);
	if (!dev)
		return;
	xv_objs_destroy_all(file);
	xv_uar_end(file);
	xv_clock_unmap(file);
	xv_alive_unmap(file);
	xv_cgroup_uncharge(dev, &file->cgroup, RDMACG_RESOURCE_HCA_HANDLE);
	xv_dev_unbind(dev, file);
	file->dev = NULL;
	xv_dev_put(dev);
}

/* Work that kills processes which wait for user memory during device removal */
struct xv_pins_end {
	struct delayed_work work;
	struct xv_file *file;
};

static void xv_pins_kill(struct work_struct *work)
{
	struct xv_pins_end *end = container_of(work, struct xv_pins_end,
					       work.work);
	struct xv_file *file = end->file;
	struct xv_call *call;

	spin_lock(&file->pins_lock);
	list_for_each_entry(call, &file->pins, pin_node) {
		dev_warn_ratelimited(&call->dev->ib->dev,
				     "xverbs: device removal kills process %d (%s), which waits for memory that it registers\n",
				     task_tgid_nr(call->task),
				     call->task->comm);
		send_sig(SIGKILL, call->task, 1);
	}
	spin_unlock(&file->pins_lock);
	schedule_delayed_work(&end->work, XV_REMOVE_TIMEOUT);
}

/*
 * Waits until no call is in flight.  A call that pins user memory waits for page faults,
 * and their handler (userfaultfd, FUSE) may never answer.  So at @deadline the process
 * is killed.
 *
 * Linux before 6.3 waits for a FUSE server without checking for signals here, so that
 * killing does not help.  The message then names the process.
 */
static void xv_file_lock_remove(struct xv_file *file, unsigned long deadline)
{
	struct xv_pins_end end = { .file = file };
	unsigned long now = jiffies;

	INIT_DELAYED_WORK_ONSTACK(&end.work, xv_pins_kill);
	schedule_delayed_work(&end.work,
			      time_after(deadline, now) ? deadline - now : 0);
	down_write(&file->sem);
	cancel_delayed_work_sync(&end.work);
	destroy_delayed_work_on_stack(&end.work);
}

/* The device is being removed: after this, the file can only be closed. */
void xv_file_disassociate(struct xv_file *file, unsigned long deadline)
{
	xv_file_lock_remove(file, deadline);
	if (file->dev) {
		xv_file_teardown(file);
		file->gone = true;
		xv_evq_kill(&file->async, &file->sources[0]);
	}
	up_write(&file->sem);
}

static int xv_fops_release(struct inode *inode, struct file *filp)
{
	struct xv_file *file = filp->private_data;

	down_write(&file->sem);
	xv_file_teardown(file);
	up_write(&file->sem);
	if (file->dummy)
		__free_page(file->dummy);
	xv_file_put(file);
	return 0;
}

static ssize_t xv_fops_read(struct file *filp, char __user *buf, size_t len,
			    loff_t *pos)
{
	struct xv_file *file = filp->private_data;

	return xv_evq_read(&file->async, buf, len, filp->f_flags & O_NONBLOCK,
			   xv_evq_pop_async, sizeof(struct xverbs_async_event));
}

static __poll_t xv_fops_poll(struct file *filp, poll_table *wait)
{
	struct xv_file *file = filp->private_data;

	return xv_evq_poll(&file->async, filp, wait);
}

static const struct file_operations xv_fops = {
	.owner = THIS_MODULE,
	.open = xv_fops_open,
	.release = xv_fops_release,
	.unlocked_ioctl = xv_fops_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = xv_fops_mmap,
	.read = xv_fops_read,
	.poll = xv_fops_poll,
	.llseek = noop_llseek,
};

static struct miscdevice xv_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "xverbs",
	.nodename = "xverbs",
	.fops = &xv_fops,
	.mode = 0666,
};

int xv_files_init(void)
{
	return misc_register(&xv_misc);
}

void xv_files_exit(void)
{
	misc_deregister(&xv_misc);
}
