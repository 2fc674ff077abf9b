/* SPDX-License-Identifier: GPL-2.0 */
/* XRC domains */
#ifndef XV_XRCD_H
#define XV_XRCD_H

#include <linux/path.h>

#include "xv.h"

/**
 * struct xv_xrc_domain - an XRC domain
 * @node: in xv_dev.xrc_domains
 * @path: of the file that identifies it, empty if the domain is private
 * @users: number of handles and of queue pairs of type XRC_RECV, under xv_dev.xrc_lock
 */
struct xv_xrc_domain {
	struct list_head node;
	struct path path;
	u32 users;
	u32 xrcdn;
};

/* Handle of an XRC domain, which files can share */
struct xv_xrcd_obj {
	struct xv_obj obj;
	struct xv_xrc_domain *domain;
};

#define to_xrcd_obj(_obj)	container_of(_obj, struct xv_xrcd_obj, obj)

int xv_xrc_domain_put(struct xv_dev *dev, struct xv_call *call,
		      struct xv_xrc_domain *domain);

/* Handler of the ioctl, and the function that destroys the object */
int xv_xrcd_open(struct xv_call *call);
int xv_xrcd_destroy(struct xv_obj *obj, struct xv_call *call);

#endif
