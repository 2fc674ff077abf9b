/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations shared by the files of queue pairs */
#ifndef XV_QP_H
#define XV_QP_H

#include <rdma/mlx5_ring.h>

#include "xv.h"

#define XV_DATA_BYTES	((u8)sizeof(struct mlx5r_data))	/* of a data segment */

/**
 * struct xv_qp_kind - properties of a type of queue pairs
 * @st: service type (PRM)
 * @sq_header: bytes of a send WQE before its data segments
 * @sq_min: minimum bytes of a send WQE; includes atomics if the type has them
 * @sq: has a send queue
 * @rq: has a receive queue or an SRQ
 * @xrcd: belongs to an XRC domain
 * @inl_recv: data may be in the CQE of a receive
 * @inl_resp: data may be in the CQE of a read or an atomic
 * @cross_channel: can have requests that wait, and managed queues
 */
struct xv_qp_kind {
	u8 st;
	u8 sq_header;
	u8 sq_min;
	bool sq;
	bool rq;
	bool xrcd;
	bool cross_channel;
	bool inl_recv;
	bool inl_resp;
};

/*
 * Calls @fn for the queue pair of @handle, with qp->lock held; call->init has the
 * attributes of creation.
 */
int xv_qp_call(struct xv_call *call, u32 handle,
	       int (*fn)(struct xv_call *call, struct xv_dev_qp *qp));

/*
 * Reads the QP context from the adapter.  If the adapter has migrated to the
 * alternate path, updates qp->attrs.
 */
int xv_qp_refresh(struct xv_call *call, struct xv_dev_qp *qp, void *qpc);

/* Returns NULL for an unknown type. */
const struct xv_qp_kind *xv_qp_kind(u32 type);

/* Ports of a bond take turns.  0: there is no bond. */
u8 xv_lag_turn(struct xv_dev *dev, u32 ports);

/*
 * The port of a bond on which a queue sends.  0: the adapter decides, or there is no
 * bond.
 */
u8 xv_qp_lag_port(struct xv_dev *dev);

/* Function of xv_dev_qp.deliver */
void xv_qp_deliver_events(struct work_struct *work);

/* Gives an event to the handles, if the queue pair is in xv_dev.qps. */
void xv_qp_event(struct xv_dev_qp *qp, int type);

void xv_qp_migrated(struct xv_dev_qp *qp, struct xv_qp_attrs *attrs);
void xv_qp_put_sgids(struct xv_dev_qp *qp);

#endif
