/* SPDX-License-Identifier: GPL-2.0 */
/* Doorbell pages (UARs) */
#ifndef XV_UAR_H
#define XV_UAR_H

#include "xv.h"

struct xv_uar_obj {
	struct xv_obj obj;
	struct xv_mapping map;
	u16 uid;		/* of the user context to which it belongs, or 0 */
	u32 index;
	void __iomem *iomem;
	bool write_combining;
};

#define to_uar_obj(_obj)	container_of(_obj, struct xv_uar_obj, obj)

void xv_uar_end(struct xv_file *file);

/* Handler of the ioctl, and the function that destroys the object */
int xv_uar_alloc(struct xv_call *call);
int xv_uar_destroy(struct xv_obj *obj, struct xv_call *call);
void xv_uar_leak(struct xv_obj *obj);

#endif
