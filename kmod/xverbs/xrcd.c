// SPDX-License-Identifier: GPL-2.0
/*
 * XRC domains.  One that is named by a file (Manual 3.4.8) is shared by all
 * who open it with the same inode, and goes with the last of them.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/slab.h>

#include "fw.h"

static void xv_xrc_domain_free(struct xv_xrc_domain *domain)
{
	if (domain->inode)
		iput(domain->inode);
	kfree(domain);
}

/* Takes over the reference to @inode, on failure too. */
static struct xv_xrc_domain *xv_xrc_domain_new(struct xv_call *call,
					       struct inode *inode)
{
	struct xv_xrc_domain *domain;
	int err = -ENOMEM;

	domain = kzalloc(sizeof(*domain), GFP_KERNEL_ACCOUNT);
	if (!domain)
		goto err_inode;
	domain->inode = inode;
	INIT_LIST_HEAD(&domain->targets);
	err = xv_fw_alloc_xrcd(call->dev, call, &domain->xrcdn);
	if (err)
		goto err_domain;
	list_add(&domain->node, &call->dev->xrc_domains);
	return domain;

err_domain:
	kfree(domain);
err_inode:
	if (inode)
		iput(inode);
	return ERR_PTR(err);
}

static struct xv_xrc_domain *xv_xrc_domain_find(struct xv_dev *dev,
						const struct inode *inode)
{
	struct xv_xrc_domain *domain;

	list_for_each_entry(domain, &dev->xrc_domains, node)
		if (domain->inode == inode)
			return domain;
	return NULL;
}

/* The domain that the file behind a descriptor names, or a new one */
static struct xv_xrc_domain *xv_xrc_domain_shared(struct xv_call *call)
{
	const struct xverbs_xrcd_open *arg = &call->arg.xrcd_open;
	struct xv_xrc_domain *domain;
	struct inode *inode;
	struct file *filp;

	filp = fget(arg->fd);
	if (!filp)
		return ERR_PTR(xv_fail(call, -EBADF, "XRCD: no file %d",
				       arg->fd));
	inode = file_inode(filp);
	domain = xv_xrc_domain_find(call->dev, inode);
	if (domain) {
		if (arg->hdr.flags & XVERBS_XRCD_EXCLUSIVE)
			domain = ERR_PTR(xv_fail(call, -EEXIST,
						 "XRCD: the domain exists"));
	} else if (arg->hdr.flags & XVERBS_XRCD_CREATE) {
		ihold(inode);
		domain = xv_xrc_domain_new(call, inode);
	} else {
		domain = ERR_PTR(xv_fail(call, -ENOENT,
					 "XRCD: no domain of this file"));
	}
	fput(filp);
	return domain;
}

static int xv_xrc_domain_open(struct xv_call *call, struct xv_xrcd *xrcd)
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
		return xv_fail(call, -EOPNOTSUPP, "the device has no XRC");
	obj = xv_obj_alloc(call, XV_OBJ_XRCD, sizeof(struct xv_xrcd));
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	err = xv_xrc_domain_open(call, xv_to(xrcd, obj));
	if (err) {
		xv_obj_abort(obj);
		return err;
	}
	arg->out_handle = obj->handle;
	arg->out_xrcdn = xv_to(xrcd, obj)->domain->xrcdn;
	call->new_obj = obj;
	return 0;
}

/* Under xv_dev.xrc_lock */
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
		xv_xrc_domain_free(domain);
	} else {
		domain->users--;
	}
	return 0;
}

int xv_xrcd_destroy(struct xv_obj *obj, struct xv_call *call)
{
	struct xv_dev *dev = obj->file->dev;
	int err;

	mutex_lock(&dev->xrc_lock);
	err = xv_xrc_domain_put(dev, call, xv_to(xrcd, obj)->domain);
	mutex_unlock(&dev->xrc_lock);
	return err;
}
