// SPDX-License-Identifier: GPL-2.0
/*
 * debugfs/xverbs/N/resources, for the device with index N, has one line for each object
 * of a process: type, number, process ID, process name, bytes.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/string_helpers.h>

#include "xv.h"

/**
 * struct xv_resources - state of a reader
 * @dev: the device
 * @row: copy for the next line, because the object may be destroyed meanwhile
 */
struct xv_resources {
	struct xv_dev *dev;
	struct xv_resource row;
};

/* Finds the first object of @file with at least @handle. */
static bool xv_resources_find(struct xv_resources *r, struct xv_file *file,
			      unsigned long *handle)
{
	struct xv_obj *obj;

	/* An object leaves the table before it is freed. */
	xa_lock(&file->objs);
	obj = xa_find(&file->objs, handle, ULONG_MAX, XA_PRESENT);
	if (obj)
		r->row = obj->resource;
	xa_unlock(&file->objs);
	return obj;
}

/* A position consists of the number of a file and a handle. */
static void *xv_resources_from(struct xv_resources *r, loff_t *pos)
{
	u32 number = upper_32_bits(*pos);
	unsigned long handle = lower_32_bits(*pos);
	struct xv_file *file;
	bool found = false;

	mutex_lock(&r->dev->files_lock);
	list_for_each_entry(file, &r->dev->files, dev_node) {
		if (file->number < number)
			continue;
		if (file->number > number)
			handle = 0;
		found = xv_resources_find(r, file, &handle);
		if (found) {
			*pos = (u64)file->number << 32 | handle;
			break;
		}
	}
	mutex_unlock(&r->dev->files_lock);
	return found ? r : NULL;
}

static void *xv_resources_start(struct seq_file *m, loff_t *pos)
{
	return xv_resources_from(m->private, pos);
}

static void *xv_resources_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return xv_resources_from(m->private, pos);
}

static void xv_resources_stop(struct seq_file *m, void *v)
{
}

static int xv_resources_show(struct seq_file *m, void *v)
{
	const struct xv_resources *r = v;

	seq_printf(m, "%s%s 0x%x %d ", r->row.imported ? "imported-" : "",
		   r->row.word, r->row.number, r->row.pid);
	seq_escape(m, r->row.comm, " \t\n\\");
	seq_printf(m, " %llu\n", r->row.bytes);
	return 0;
}

static const struct seq_operations xv_resources_ops = {
	.start = xv_resources_start,
	.next = xv_resources_next,
	.stop = xv_resources_stop,
	.show = xv_resources_show,
};

static int xv_resources_open(struct inode *inode, struct file *filp)
{
	struct xv_resources *r;

	r = __seq_open_private(filp, &xv_resources_ops, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->dev = inode->i_private;
	return 0;
}

static const struct file_operations xv_resources_fops = {
	.owner = THIS_MODULE,
	.open = xv_resources_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = seq_release_private,
};

static struct dentry *xv_debugfs;

void xv_resources_add(struct xv_dev *dev)
{
	char name[16];

	snprintf(name, sizeof(name), "%u", dev->ib->index);
	dev->debugfs = debugfs_create_dir(name, xv_debugfs);
	debugfs_create_file("resources", 0400, dev->debugfs, dev,
			    &xv_resources_fops);
}

/* Waits for readers. */
void xv_resources_del(struct xv_dev *dev)
{
	debugfs_remove_recursive(dev->debugfs);
}

void xv_resources_init(void)
{
	xv_debugfs = debugfs_create_dir("xverbs", NULL);
}

void xv_resources_exit(void)
{
	debugfs_remove_recursive(xv_debugfs);
}

/* Records the calling process as the creator. */
void xv_resource_init(struct xv_resource *resource)
{
	resource->pid = task_tgid_nr(current);
	get_task_comm(resource->comm, current->group_leader);
}
