/* SPDX-License-Identifier: GPL-2.0 */
/* Indirect keys and memory windows */
#ifndef XV_MKEY_H
#define XV_MKEY_H

#include "xv.h"

struct xv_pinned;

/**
 * struct xv_mkey_obj - an indirect key
 * @pinned: charge for a long list, or NULL
 */
struct xv_mkey_obj {
	struct xv_obj obj;
	u32 key;
	struct xv_pinned *pinned;
};

struct xv_mw_obj {
	struct xv_obj obj;
	u32 mkey;
};

#define to_mkey_obj(_obj)	container_of(_obj, struct xv_mkey_obj, obj)
#define to_mw_obj(_obj)		container_of(_obj, struct xv_mw_obj, obj)

#define XV_MKEY_LIST_UNIT	4	/* a list is a multiple of four entries (PRM) */

u32 xv_mkey_max_entries(const struct xv_dev *dev);
void xv_mkey_context(void *mkc, u32 pdn, u32 entries, bool remote_invalidate);

/* Handlers of the ioctls, and the functions that destroy the objects */
int xv_mkey_create(struct xv_call *call);
int xv_mkey_query(struct xv_call *call);
int xv_mkey_destroy(struct xv_obj *obj, struct xv_call *call);
int xv_mw_alloc(struct xv_call *call);
int xv_mw_destroy(struct xv_obj *obj, struct xv_call *call);

#endif
