/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations shared by the files of DC targets */
#ifndef XV_DCT_H
#define XV_DCT_H

#include "xv.h"

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

#endif
