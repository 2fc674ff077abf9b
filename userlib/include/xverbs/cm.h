/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libxvcm: connects queue pairs of libxverbs with librdmacm.
 *
 * A program uses librdmacm for event channels, ids, addresses, routes, listening and events.
 * The functions below replace those of librdmacm that need the queue pair of an id, such as
 * rdma_create_qp(), rdma_connect() and rdma_accept().  id->qp stays NULL.  The peer may be any
 * program of rdma_cm.
 *
 * Ownership: ids, events and queue pairs belong to the program.  No function keeps a pointer
 * after it has returned.
 *
 * Results and errors are as in libxverbs; xv_cm_last_error() has the text.
 *
 * Threads: any thread may call the functions, but only one thread at a time may use an id or
 * its queue pair.  There are no threads in the library.
 */
#ifndef XVERBS_CM_H
#define XVERBS_CM_H

#include <rdma/rdma_cma.h>
#include <xverbs/xverbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Opens the device of an id that is bound to one (id->verbs is not NULL), by its node GUID and
 * name.  All ids of a device have the same id->verbs, so one context is enough for all of them.
 * The caller closes it with xv_close().
 */
struct xv_context *xv_cm_open(const struct rdma_cm_id *id);

/*
 * Does what rdma_create_qp() does after the creation.  RC: moves the queue pair from RESET to
 * INIT, so that receives can be posted.  UD: moves it to RTS.
 */
int xv_cm_init_qp(struct rdma_cm_id *id, struct xv_qp *qp);

/*
 * Sends a connection request; UD: asks for the number of the peer's queue pair.  param may be
 * NULL; qp_num and srq in *param are ignored.  For an id with an event channel, the event
 * CONNECT_RESPONSE follows (UD: ESTABLISHED).  For an id without one, the function waits for
 * the response and calls xv_cm_establish().
 */
int xv_cm_connect(struct rdma_cm_id *id, struct xv_qp *qp, const struct rdma_conn_param *param);

/*
 * After CONNECT_RESPONSE: moves the queue pair to RTS and tells the peer that the connection
 * is established.  There is no event ESTABLISHED on this side.  After a failed transition or
 * message, the queue pair is in the error state, and the caller should destroy the id.
 */
int xv_cm_establish(struct rdma_cm_id *id, struct xv_qp *qp);

/*
 * After CONNECT_REQUEST: moves the queue pair to RTS and accepts the request.  ESTABLISHED
 * follows.  UD: sends the number of the queue pair, which is in RTS.  param as above; its
 * depths may be RDMA_MAX_RESP_RES and RDMA_MAX_INIT_DEPTH: those of the request, limited to
 * what the device can.  After an error, as in xv_cm_establish(), except that a UD queue pair
 * does not change.  To reject a request, call rdma_reject().
 */
int xv_cm_accept(struct rdma_cm_id *id, struct xv_qp *qp, const struct rdma_conn_param *param);

/*
 * As the two functions above.  rdma_cm lets the peer write, and read and execute atomics if depths
 * are agreed; of this, the queue pair allows what is in access, XV_ACCESS_REMOTE_*, from the first
 * packet on.  UD: access has no meaning.
 */
int xv_cm_establish_restricted(struct rdma_cm_id *id, struct xv_qp *qp, unsigned int access);
int xv_cm_accept_restricted(struct rdma_cm_id *id, struct xv_qp *qp,
			    const struct rdma_conn_param *param, unsigned int access);

/*
 * Moves the queue pair to the error state, which flushes its requests, and disconnects or
 * answers the disconnection of the peer.  qp may be NULL.
 */
int xv_cm_disconnect(struct rdma_cm_id *id, struct xv_qp *qp);

/*
 * The address in an event: ESTABLISHED of a UD id, or MULTICAST_JOIN.  It is for
 * xv_create_ah(); of a group, grh.dgid and dlid are also for xv_attach_mcast().
 */
int xv_cm_ah_attr_sz(const struct rdma_cm_event *event, struct xv_ah_attr *attr, size_t size);

static inline int xv_cm_ah_attr(const struct rdma_cm_event *event, struct xv_ah_attr *attr)
{
	return xv_cm_ah_attr_sz(event, attr, sizeof(*attr));
}

/* Text for the last failed call of this thread */
const char *xv_cm_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
