// SPDX-License-Identifier: GPL-2.0
/*
 * XRC domains.  A domain that a file identifies (Manual 3.4.8) is shared by all users
 * that open it with the same inode; the last user frees it.  The domain holds the path
 * of the file, as an open file does, because an inode must not outlive its mount.  It
 * does not hold the open file: if that were /dev/xverbs itself, it would never be
 * released.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/path.h>
#include <linux/slab.h>

#include "fw.h"
#include "xrcd.h"

/* Called without xv_dev.xrc_lock: dropping the last reference to a mount may take long. */
static void xv_xrc_domain_free(struct xv_xrc_domain *domain)
{
	path_put(&domain->path);
	kfree(domain);
}

/* @path: path of the file that identifies the domain, NULL for a private domain */
static struct xv_xrc_domain *xv_xrc_domain_new(struct xv_call *call,
					       const struct path *path)
{
	struct xv_xrc_domain *domain;
	int err;

	domain = kzalloc(sizeof(*domain), XV_GFP);
	if (!domain)
		return ERR_PTR(-ENOMEM);
	err = xv_fw_alloc_xrcd(call->dev, call, &domain->xrcdn);
	if (err) {
		kfree(domain);
		return ERR_PTR(err);
	}
	if (path) {
		domain->path = *path;
		path_get(&domain->path);
	}
	list_add(&domain->node, &call->dev->xrc_domains);
	return domain;
}

static struct xv_xrc_domain *xv_xrc_domain_find(struct xv_dev *dev,
						const struct inode *inode)
{
	struct xv_xrc_domain *domain;

	list_for_each_entry(domain, &dev->xrc_domains, node)
		if (domain->path.dentry &&
		    d_inode(domain->path.dentry) == inode)
			return domain;
	return NULL;
}

/*
 * All eventfds, epoll instances and the like of all users have the same inode, and some
 * kernels say that it is of a regular file.  Devices are shared by all users, too.
 */
static bool xv_xrc_identifies(const struct inode *inode)
{
	return S_ISREG(inode->i_mode) &&
	       inode->i_sb->s_magic != ANON_INODE_FS_MAGIC;
}

/* The domain that the file of a descriptor identifies, or a new domain */
static struct xv_xrc_domain *xv_xrc_domain_shared(struct xv_call *call)
{
	const struct xverbs_xrcd_open *arg = &call->arg.xrcd_open;
	struct xv_xrc_domain *domain;
	struct inode *inode;
	struct file *filp;

	filp = fget(arg->fd);
	if (!filp)
		return ERR_PTR(xv_fail(call, -EBADF, "XRCD: fd %d is not an open file",
				       arg->fd));
	inode = d_inode(filp->f_path.dentry);
	if (!xv_xrc_identifies(inode)) {
		domain = ERR_PTR(xv_fail(call, -EINVAL,
					 "XRCD: fd %d is not a regular file or a memfd",
					 arg->fd));
		goto out;
	}
	domain = xv_xrc_domain_find(call->dev, inode);
	if (domain) {
		if (arg->hdr.flags & XVERBS_XRCD_EXCLUSIVE)
			domain = ERR_PTR(xv_fail(call, -EEXIST,
						 "XRCD: the domain exists already"));
	} else if (arg->hdr.flags & XVERBS_XRCD_CREATE) {
		domain = xv_xrc_domain_new(call, &filp->f_path);
	} else {
		domain = ERR_PTR(xv_fail(call, -ENOENT,
					 "XRCD: no domain of this file"));
	}
out:
	fput(filp);
	return domain;
}

static int xv_xrc_domain_open(struct xv_call *call, struct xv_xrcd_obj *xrcd)
{
	struct xv_xrc_domain *domain;

	mutex_lock(&call->dev->xrc_lock);
	if (call->arg.hdr.flags & XVERBS_XRCD_SHARED)
		domain = xv_xrc_domain_shared(call);
	else
		domain = xv_xrc_domain_new(call, NULL);
	if (!IS_ERR(domain))
		domain->users++;
	mutex_unlock(&call->dev->xrc_lock);
	if (IS_ERR(domain))
		return PTR_ERR(domain);
	xrcd->domain = domain;
	return 0;
}

int xv_xrcd_open(struct xv_call *call)
{
	struct xverbs_xrcd_open *arg = &call->arg.xrcd_open;
	struct xv_obj *obj;
	int err;

	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	if (!MLX5_CAP_GEN(call->dev->mdev, xrc))
		return xv_fail(call, -EOPNOTSUPP, "the device does not support XRC");
	obj = xv_obj_alloc(call, XV_OBJ_XRCD, sizeof(struct xv_xrcd_obj));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	err = xv_xrc_domain_open(call, to_xrcd_obj(obj));
	if (err) {
		xv_obj_abort(obj);
		return err;
	}
	arg->out_handle = obj->handle;
	arg->out_xrcdn = to_xrcd_obj(obj)->domain->xrcdn;
	obj->resource.number = arg->out_xrcdn;
	call->new_obj = obj;
	return 0;
}

/* If this drops the last user, the caller frees the domain after it releases the lock. */
int xv_xrc_domain_put(struct xv_dev *dev, struct xv_call *call,
		      struct xv_xrc_domain *domain)
{
	int err;

	lockdep_assert_held(&dev->xrc_lock);
	if (domain->users == 1) {
		err = xv_fw_dealloc_xrcd(dev, call, domain->xrcdn);
		if (err)
			return err;
		list_del(&domain->node);
	}
	domain->users--;
	return 0;
}

int xv_xrcd_destroy(struct xv_obj *obj, struct xv_call *call)
{
	struct xv_xrc_domain *domain = to_xrcd_obj(obj)->domain;
	struct xv_dev *dev = obj->file->dev;
	bool last;
	int err;

	mutex_lock(&dev->xrc_lock);
	err = xv_xrc_domain_put(dev, call, domain);
	last = !domain->users;
	mutex_unlock(&dev->xrc_lock);
	if (last)
		xv_xrc_domain_free(domain);
	return err;
}
