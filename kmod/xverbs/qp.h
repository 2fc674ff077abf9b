/* SPDX-License-Identifier: GPL-2.0 */
/* What creation and modification of queue pairs share */
#ifndef XV_QP_H
#define XV_QP_H

#include "xv.h"

/**
 * struct xv_qp_kind - what differs between the types of queue pairs
 * @st: service type (PRM)
 * @sq_header: bytes of a send WQE before its data segments
 * @sq_min: bytes of the smallest useful send WQE: some have atomics
 * @sq: has a send queue
 * @rq: has a receive queue, own or shared
 * @xrcd: belongs to an XRC domain
 */
struct xv_qp_kind {
	u8 st;
	u8 sq_header;
	u8 sq_min;
	bool sq;
	bool rq;
	bool xrcd;
};

/*
 * Runs @fn, under its lock, on the queue pair that @handle names; call->init
 * says how the file made it.
 */
int xv_qp_call(struct xv_call *call, u32 handle,
	       int (*fn)(struct xv_call *call, struct xv_dev_qp *qp));

/*
 * Reads the QP context; where the adapter has migrated by itself, qp->attr
 * follows.
 */
int xv_qp_refresh(struct xv_call *call, struct xv_dev_qp *qp, void *qpc);

/* NULL for a type that does not exist */
const struct xv_qp_kind *xv_qp_kind(u32 type);

void xv_qp_migrated(struct xv_dev_qp *qp, struct xv_qp_attrs *attrs);
void xv_qp_put_sgids(struct xv_dev_qp *qp);

#endif
