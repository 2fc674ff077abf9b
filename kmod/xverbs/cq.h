/* SPDX-License-Identifier: GPL-2.0 */
/* Completion queues and channels */
#ifndef XV_CQ_H
#define XV_CQ_H

#include <linux/mlx5/cq.h>

#include "buf.h"

struct xv_channel_obj {
	struct xv_obj obj;
	struct xv_chan_queue *queue;
};

/**
 * struct xv_cq_obj - a completion queue
 * @lock: serialises resizing; protects @mem.ring
 */
struct xv_cq_obj {
	struct xv_obj obj;
	struct mlx5_core_cq mcq;
	struct xv_channel_obj *channel;
	struct xv_evsrc comp;
	struct mutex lock;
	struct xv_qmem mem;
	u32 cqe_bytes;
};

#define to_channel_obj(_obj)	container_of(_obj, struct xv_channel_obj, obj)
#define to_cq_obj(_obj)		container_of(_obj, struct xv_cq_obj, obj)

/* channel.c */
void xv_channel_event(struct xv_channel_obj *channel, struct xv_evsrc *src);
u32 xv_channel_stop(struct xv_channel_obj *channel, struct xv_evsrc *src);

/* Handlers of the ioctls, and the functions that destroy the objects */
int xv_channel_alloc(struct xv_call *call);
int xv_channel_destroy(struct xv_obj *obj, struct xv_call *call);
void xv_channel_leak(struct xv_obj *obj);
int xv_cq_create(struct xv_call *call);
int xv_cq_modify(struct xv_call *call);
int xv_cq_resize(struct xv_call *call);
int xv_cq_destroy(struct xv_obj *obj, struct xv_call *call);
void xv_cq_leak(struct xv_obj *obj);

#endif
