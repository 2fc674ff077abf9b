/* SPDX-License-Identifier: GPL-2.0 */
/* Queue pairs */
#ifndef XV_QP_H
#define XV_QP_H

#include <rdma/mlx5_ring.h>

#include "buf.h"

struct xv_xrc_domain;

/**
 * struct xv_qp_obj - handle of a queue pair
 * @qp: the queue pair; handles can share one of type XRC_RECV
 * @node: in xv_dev_qp.handles
 * @init: attributes of creation
 * @label: of the process that created it, for rights to P_Keys
 */
struct xv_qp_obj {
	struct xv_obj obj;
	struct xv_dev_qp *qp;
	struct list_head node;
	void *label;
	struct xverbs_qp_init init;
};

enum { XV_PATH_PRIMARY, XV_PATH_ALTERNATE, XV_PATHS };

/**
 * struct xv_dev_qp - a queue pair
 * @handle: the only handle, which gets the events, if it has no @domain; NULL if the object
 *	was leaked.  Under the lock of xv_dev.qps or xv_dev.security.sem.
 * @handles: struct xv_qp_obj that need the right to its P_Keys and, if it has a @domain, get
 *	its events.  They are added under @lock or before others know the queue pair.
 * @handles_lock: protects @handles
 * @raised: mask of the types of events that its handles have not yet got
 * @deliver: work that gives them to the handles
 * @domain: XRC domain if the type is XRC_RECV, else NULL
 * @users: number of handles; under xv_dev.xrc_lock if it has a @domain
 * @lock: serialises calls; protects @attrs, @sgid, @mcast, @n_mcast
 * @cqn_snd: CQ number for sends, or 0
 * @cqn_rcv: CQ number for receives, or 0
 * @want_drained: raise XVERBS_EVENT_SQ_DRAINED
 * @attrs: attributes as last set; qp_state is the last state that software set
 * @sgid: referenced source GIDs of both paths, or NULL
 * @mcast: its multicast groups
 */
struct xv_dev_qp {
	struct xv_qp_obj *handle;
	struct list_head handles;
	struct mutex handles_lock;
	unsigned long raised;
	struct work_struct deliver;
	struct xv_xrc_domain *domain;
	u32 users;
	struct mutex lock;
	u32 qpn;
	u32 type;
	u32 pdn;
	struct ib_pd *ib_pd;
	u32 uar_page;
	u32 cqn_snd;
	u32 cqn_rcv;
	u32 srqn;
	u32 xrcdn;
	bool want_drained;
	struct xv_qmem mem;
	struct xverbs_qp_cap cap;
	struct xv_qp_attrs attrs;
	const struct ib_gid_attr *sgid[XV_PATHS];
	struct list_head mcast;
	u32 n_mcast;
};

#define to_qp_obj(_obj)		container_of(_obj, struct xv_qp_obj, obj)

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

/* xv_dev_qp.deliver points to it. */
void xv_qp_deliver_events(struct work_struct *work);

/* Gives an event to the handles, if the queue pair is in xv_dev.qps. */
void xv_qp_event(struct xv_dev_qp *qp, int type);

void xv_qp_migrated(struct xv_dev_qp *qp, struct xv_qp_attrs *attrs);
void xv_qp_put_sgids(struct xv_dev_qp *qp);

/* mcast.c */
int xv_mcast_detach_all(struct xv_dev *dev, struct xv_call *call,
			struct xv_dev_qp *qp);

/* Handlers of the ioctls, and the function that destroys the object */
int xv_qp_create(struct xv_call *call);
int xv_qp_modify(struct xv_call *call);
int xv_qp_query(struct xv_call *call);
int xv_qp_open(struct xv_call *call);
int xv_mcast_attach(struct xv_call *call);
int xv_mcast_detach(struct xv_call *call);
int xv_qp_destroy(struct xv_obj *obj, struct xv_call *call);
void xv_qp_leak(struct xv_obj *obj);

#endif
