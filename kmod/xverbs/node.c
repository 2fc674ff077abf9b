// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/infiniband/xverbsN: a device node for each RDMA device.
 *
 * An open descriptor of the node is the right to bind files of /dev/xverbs to the
 * device.  So the permissions of the node, device cgroups and security modules decide
 * which devices a process can use.  The node has no other operations.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/module.h>

#include "device.h"

#define XV_NODES	1024

static dev_t xv_node_base;
static DEFINE_IDA(xv_node_numbers);

/*
 * The open file holds the character device, which holds its parent, xv_dev.node.  So
 * private_data stays valid, also after the removal of the device.
 */
static int xv_node_open(struct inode *inode, struct file *filp)
{
	struct xv_dev *dev = container_of(inode->i_cdev, struct xv_dev, cdev);
	int err = 0;

	mutex_lock(&dev->files_lock);
	if (dev->gone)
		err = -ENODEV;
	else if (!xv_dev_visible(dev))
		err = -EPERM;
	mutex_unlock(&dev->files_lock);
	filp->private_data = dev;
	return err;
}

static const struct file_operations xv_node_fops = {
	.owner = THIS_MODULE,
	.open = xv_node_open,
	.llseek = noop_llseek,
};

/* Returns the device of an open node, with a reference. */
struct xv_dev *xv_node_get_dev(struct xv_call *call, int fd)
{
	const fmode_t both = FMODE_READ | FMODE_WRITE;
	struct file *filp = fget(fd);
	struct xv_dev *dev;

	if (!filp)
		return ERR_PTR(xv_fail(call, -EBADF, "fd %d is not open", fd));
	if (filp->f_op != &xv_node_fops) {
		dev = ERR_PTR(xv_fail(call, -EINVAL,
				      "fd %d is not a node /dev/infiniband/xverbsN",
				      fd));
	} else if ((filp->f_mode & both) != both) {
		dev = ERR_PTR(xv_fail(call, -EACCES,
				      "fd %d is not open for reading and writing",
				      fd));
	} else {
		dev = filp->private_data;
		xv_dev_get(dev);
	}
	fput(filp);
	return dev;
}

/* ---- The nodes -------------------------------------------------------------------- */

static ssize_t ibdev_show(struct device *node, struct device_attribute *attr,
			  char *buf)
{
	struct xv_dev *dev = container_of(node, struct xv_dev, node);
	char name[XVERBS_NAME_MAX];

	xv_dev_name(dev, name);
	return sysfs_emit(buf, "%s\n", name);
}
static DEVICE_ATTR_RO(ibdev);

static struct attribute *xv_node_attrs[] = {
	&dev_attr_ibdev.attr,
	NULL,
};
ATTRIBUTE_GROUPS(xv_node);

/* Path and mode for devtmpfs and udev */
static char *xv_node_devnode(XV_COMPAT_DEVNODE_CONST struct device *node,
			     umode_t *mode)
{
	if (mode)
		*mode = 0666;
	return kasprintf(GFP_KERNEL, "infiniband/%s", dev_name(node));
}

static struct class xv_node_class = {
	.name = "xverbs",
	.dev_groups = xv_node_groups,
	.devnode = xv_node_devnode,
};

/* Makes the reference count of @dev; the last reference calls @release. */
void xv_node_init(struct xv_dev *dev, void (*release)(struct device *node))
{
	device_initialize(&dev->node);
	dev->node.class = &xv_node_class;
	dev->node.release = release;
}

int xv_node_add(struct xv_dev *dev)
{
	int n, err;

	n = ida_alloc_max(&xv_node_numbers, XV_NODES - 1, GFP_KERNEL);
	if (n < 0)
		return n;
	dev->node.devt = MKDEV(MAJOR(xv_node_base), MINOR(xv_node_base) + n);
	cdev_init(&dev->cdev, &xv_node_fops);
	dev->cdev.owner = THIS_MODULE;
	err = dev_set_name(&dev->node, "xverbs%d", n);
	if (!err)
		err = cdev_device_add(&dev->cdev, &dev->node);
	if (err)
		ida_free(&xv_node_numbers, n);
	return err;
}

/* Waits for readers of the attributes.  Open files stay. */
void xv_node_del(struct xv_dev *dev)
{
	cdev_device_del(&dev->cdev, &dev->node);
	ida_free(&xv_node_numbers,
		 MINOR(dev->node.devt) - MINOR(xv_node_base));
}

int xv_nodes_init(void)
{
	int err;

	err = alloc_chrdev_region(&xv_node_base, 0, XV_NODES, "xverbs");
	if (err)
		return err;
	err = class_register(&xv_node_class);
	if (err)
		unregister_chrdev_region(xv_node_base, XV_NODES);
	return err;
}

void xv_nodes_exit(void)
{
	class_unregister(&xv_node_class);
	unregister_chrdev_region(xv_node_base, XV_NODES);
}
