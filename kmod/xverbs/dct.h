/* SPDX-License-Identifier: GPL-2.0 */
/* DC targets */
#ifndef XV_DCT_H
#define XV_DCT_H

#include <linux/completion.h>

#include "xv.h"

/**
 * struct xv_dct_obj - a DC target
 * @init: arguments of creation
 * @port: its port
 * @pkey_index: index of its P_Key
 * @label: of the process that created it, for the right to its P_Key
 * @sl: its service level
 * @arm_lock: serialises arming
 * @arm_state: XVERBS_DCT_*, of the event of key violations; while it is armed, an entry of
 *	the event queue is reserved
 * @drain_end: when to stop waiting until it is drained; 0 before draining begins
 * @drained: the adapter has raised the event of the end
 * @sgid: referenced source GID
 */
struct xv_dct_obj {
	struct xv_obj obj;
	struct xverbs_dct_create init;
	u32 dctn;
	u32 port;
	u16 pkey_index;
	u8 sl;
	void *label;
	u32 ece;
	struct mutex arm_lock;
	u32 arm_state;
	u64 drain_end;
	struct completion drained;
	const struct ib_gid_attr *sgid;
};

#define to_dct_obj(_obj)	container_of(_obj, struct xv_dct_obj, obj)

/* dct_common.c */

/* Asks the adapter to drain the target, if it has not been asked yet. */
int xv_dct_begin_drain(struct xv_dev *dev, struct xv_call *call,
		       struct xv_dct_obj *dct);

/* Delivers a firmware event of the DC target with the number @dctn. */
void xv_dct_event(struct xv_dev *dev, u32 dctn, unsigned long fw_type);

/* The entry of the event queue that an armed target had reserved is free again. */
void xv_dct_eq_release(struct xv_dev *dev);

/*
 * dct_eq.c: mlx5_core does not ask the adapter for events of key violations.  So a
 * device has an event queue for them, created at first use.
 */
#define XV_DCT_MAX_ARMED	8192	/* DC targets of a device */

/* Reserves the entry of a target that is being armed; creates the queue. */
int xv_dct_eq_reserve(struct xv_call *call);
void xv_dct_eq_exit(struct xv_dev *dev);

/* Handlers of the ioctls, and the function that destroys the object */
int xv_dct_create(struct xv_call *call);
int xv_dct_query(struct xv_call *call);
int xv_dct_arm(struct xv_call *call);
int xv_dct_destroy(struct xv_obj *obj, struct xv_call *call);
void xv_dct_leak(struct xv_obj *obj);
void xv_dct_drain(struct xv_obj *obj);

#endif
