/* SPDX-License-Identifier: GPL-2.0 */
/* Protection domains */
#ifndef XV_PD_H
#define XV_PD_H

#include "xv.h"

/**
 * struct xv_pd_obj - a protection domain
 * @uverbs: open file of ib_uverbs to which an imported PD belongs, or NULL
 * @srq: SRQ that was made to read @pdn and could not be destroyed, or NULL
 * @kept: in xv_dev.kept_imports
 */
struct xv_pd_obj {
	struct xv_obj obj;
	struct ib_pd *ib;
	struct file *uverbs;
	struct ib_srq *srq;
	struct list_head kept;
	u32 pdn;
};

#define to_pd_obj(_obj)		container_of(_obj, struct xv_pd_obj, obj)

int xv_pd_make(struct xv_call *call, struct ib_pd **pd, u32 *pdn);
int xv_pd_free(struct ib_pd *pd);
void xv_pd_forget(struct ib_pd *pd);
void xv_import_drop(struct xv_pd_obj *pd);

/* import.c */
int xv_import_hold(struct ib_pd *pd, const void *ufile, u32 handle);
void xv_imports_exit(struct xv_dev *dev);

/* Handlers of the ioctls, and the function that destroys the object */
int xv_pd_alloc(struct xv_call *call);
int xv_pd_import(struct xv_call *call);
int xv_pd_destroy(struct xv_obj *obj, struct xv_call *call);
void xv_pd_leak(struct xv_obj *obj);

#endif
