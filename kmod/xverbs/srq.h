/* SPDX-License-Identifier: GPL-2.0 */
/* Shared receive queues */
#ifndef XV_SRQ_H
#define XV_SRQ_H

#include "buf.h"

/* @xrc: XRC SRQ; otherwise the SRQ is an RMP (PRM) */
struct xv_srq_obj {
	struct xv_obj obj;
	struct xv_qmem mem;
	u32 srqn;
	bool xrc;
	u32 max_wr;
	u32 max_sge;
};

#define to_srq_obj(_obj)	container_of(_obj, struct xv_srq_obj, obj)

/* Handlers of the ioctls, and the function that destroys the object */
int xv_srq_create(struct xv_call *call);
int xv_srq_modify(struct xv_call *call);
int xv_srq_query(struct xv_call *call);
int xv_srq_destroy(struct xv_obj *obj, struct xv_call *call);
void xv_srq_leak(struct xv_obj *obj);

#endif
