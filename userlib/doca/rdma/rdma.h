/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Contexts of libdoca_rdma, their connections and tasks.
 *
 * All connections of a context share a completion queue for sends, and one for receives with a
 * shared receive queue.  RC: a connection has a queue pair.  DC: a connection has an initiator, and
 * the context has a target.
 *
 * A queue pair is destroyed in progress() or stop() only, because destroying it removes its
 * completions.  xvd_rdma_close_qp() completes the tasks that are left.
 */
#ifndef XVDOCA_PRIVATE_RDMA_H
#define XVDOCA_PRIVATE_RDMA_H

#include <stdbool.h>
#include <time.h>
#include <xverbs/xverbs.h>
#include <doca_rdma.h>
#include "blob.h"
#include "buf.h"
#include "ctx.h"
#include "sync_event.h"
#include "task.h"

#define XVD_RDMA_PORT		1	/* of the device */
#define XVD_RDMA_MAX_SGE	30	/* in a list that the library builds on its stack */
#define XVD_RDMA_MAX_MESSAGE	((1u << 31) - 1)	/* what an element of a list can name */
#define XVD_RDMA_ATOMIC_SIZE	8
#define XVD_RDMA_RETRY_COUNT	7	/* without an answer */

struct rdma_cm_id;
struct rdma_event_channel;
struct xvd_rdma_listener;

enum xvd_rdma_task_kind {
	XVD_RDMA_RECEIVE,
	XVD_RDMA_SEND,
	XVD_RDMA_SEND_IMM,
	XVD_RDMA_READ,
	XVD_RDMA_WRITE,
	XVD_RDMA_WRITE_IMM,
	XVD_RDMA_CMP_SWP,
	XVD_RDMA_FETCH_ADD,
	XVD_RDMA_EVENT_GET,
	XVD_RDMA_EVENT_SET,
	XVD_RDMA_EVENT_ADD,
	XVD_RDMA_KINDS,
};

enum xvd_rdma_conn_state {
	XVD_RDMA_FREE,
	XVD_RDMA_EXPORTED,
	XVD_RDMA_CONNECTED,
	XVD_RDMA_FAILED,
	/* The others are of rdma_cm only. */
	XVD_RDMA_RESOLVING,		/* the address or the route */
	XVD_RDMA_REQUESTING,		/* the peer has not answered */
	XVD_RDMA_REQUESTED,		/* by the peer */
	XVD_RDMA_ACCEPTED,		/* the peer has not established it */
	XVD_RDMA_DISCONNECTING,
	XVD_RDMA_DISCONNECTED,
};

/* What a side tells its peer, little-endian */
struct xvd_rdma_blob {
	struct xvd_blob header;
	uint32_t qpn;			/* DC: number of the target */
	uint32_t psn;
	uint64_t dc_key;
	uint8_t gid[16];
	uint16_t lid;
	uint8_t transport;		/* enum doca_rdma_transport_type */
	uint8_t link_layer;		/* enum xv_link_layer */
	uint8_t mtu;			/* enum xv_mtu */
	uint8_t rd_atomic;		/* reads and atomics in flight that it can serve */
	uint16_t reserved;		/* 0 */
};

struct doca_rdma_connection {
	struct doca_rdma *rdma;
	struct xv_qp *qp;		/* or NULL */
	enum xvd_rdma_conn_state state;
	bool dirty;			/* in the list of the context */
	struct doca_rdma_connection *next_dirty;
	struct xv_dc *target;		/* DC: where it sends, or NULL */
	struct xv_dc dc;
	uint32_t psn;
	struct rdma_cm_id *cm_id;	/* or NULL */
	union doca_data user_data;
	struct xvd_rdma_blob blob;	/* the export */
};

struct xvd_rdma_config {
	uint32_t permissions;
	uint32_t send_queue_size;
	uint32_t recv_queue_size;
	uint32_t send_list_len;
	uint32_t recv_list_len;
	enum doca_rdma_transport_type transport;
	enum xv_mtu mtu;		/* 0: that of the port */
	int gid_index;			/* -1: the default of the device */
	uint32_t sl;
	uint16_t max_conns;
	uint8_t grh;
	uint8_t traffic_class;
	uint8_t rnr_retry;
};

/* What the device can, for checks of the configuration */
struct xvd_rdma_limits {
	uint32_t send_queue_size;
	uint32_t recv_queue_size;
	uint32_t send_list_len;
	uint32_t recv_list_len;
	uint32_t message_size;
	uint32_t gid_table_size;
	uint32_t rd_atomic;		/* as the responder */
	uint32_t init_rd_atomic;
	enum xv_mtu max_mtu;
	enum xv_mtu active_mtu;
	bool atomics;
	bool dc;
};

/* The port at the time of the start */
struct xvd_rdma_port {
	enum xv_mtu mtu;
	enum xv_link_layer link_layer;
	uint16_t lid;
	uint8_t gid_index;
	union xv_gid gid;
	uint32_t ifindex;
};

/* All that rdma_cm needs; exists from the first listening or connecting to the stop */
struct xvd_rdma_cm {
	struct rdma_event_channel *channel;	/* or NULL */
	struct xvd_rdma_listener *listeners;
	uint32_t pending;		/* connections that wait for an event */
	bool check;			/* there may be events */
	struct timespec checked;	/* the clock at the last look at the channel */
};

struct doca_rdma {
	struct doca_ctx ctx;		/* must be first */
	struct xvd_rdma_config config;
	struct xvd_rdma_limits limits;
	struct xvd_task_type types[XVD_RDMA_KINDS];
	doca_rdma_connection_request_cb_t request_cb;
	doca_rdma_connection_established_cb_t established_cb;
	doca_rdma_connection_failure_cb_t failure_cb;
	doca_rdma_connection_disconnection_cb_t disconnection_cb;

	/* From start to stop */
	struct xv_cq *send_cq;
	struct xv_cq *recv_cq;
	struct xv_srq *srq;
	struct xv_dct *dct;
	struct xv_comp_channel *channel;
	struct doca_rdma_connection *conns;	/* config.max_conns */
	struct doca_rdma_connection *dirty;	/* list of those with requests without doorbell */
	struct xvd_rdma_port port;
	uint64_t dc_key;
	struct xvd_rdma_cm cm;
	int epoll_fd;
};

/* One structure for all kinds of tasks; each kind has a type of its own in the interface. */
struct xvd_rdma_task {
	struct doca_task base;		/* must be first */
	struct doca_rdma_connection *conn;
	const struct doca_buf *src;
	struct doca_buf *dst;		/* of the peer: atomics */
	struct doca_buf *result;
	const struct doca_sync_event_remote_net *event;
	uint64_t swap_add;
	uint64_t compare;
	doca_be32_t imm;
	uint32_t bytes;			/* that appended gets when the task succeeds */
	struct doca_buf *appended;	/* or NULL */
	const struct doca_rdma_connection *from;	/* result of a receive, also below */
	enum doca_rdma_opcode opcode;
	uint32_t received;
};

static inline struct doca_rdma *xvd_rdma_of(const struct doca_ctx *ctx)
{
	return (struct doca_rdma *)ctx;
}

static inline struct xvd_rdma_task *xvd_rdma_task(const struct doca_task *task)
{
	return (struct xvd_rdma_task *)task;
}

/* The device was removed. */
static inline bool xvd_rdma_is_lost(const struct doca_ctx *ctx)
{
	return xv_device_removed(ctx->dev->ctx);
}

extern const struct xvd_ctx_ops xvd_rdma_ctx_ops;

doca_error_t xvd_rdma_query_limits(struct xv_context *ctx, struct xvd_rdma_limits *limits);

/* ---- Data path --------------------------------------------------------------------------- */

extern const struct xvd_task_ops xvd_rdma_task_ops[XVD_RDMA_KINDS];

unsigned int xvd_rdma_progress(struct doca_ctx *ctx);
void xvd_rdma_flush(struct doca_ctx *ctx);

/* Completes all that is in the queues. */
unsigned int xvd_rdma_drain(struct doca_rdma *rdma);

/* Completes the tasks of the queue pair that are left with an error, and destroys it. */
void xvd_rdma_close_qp(struct doca_rdma_connection *conn);

/* ---- Connections ------------------------------------------------------------------------- */

/* DOCA_ERROR_FULL: all are in use */
doca_error_t xvd_rdma_new_conn(struct doca_rdma *rdma, struct doca_rdma_connection **conn);
int xvd_rdma_create_qp(struct doca_rdma_connection *conn);	/* in RESET */

/* Its tasks fail.  The queue pair stays. */
void xvd_rdma_fail_conn(struct doca_rdma_connection *conn);

/* Destroys queue pair and id, and makes the connection free. */
void xvd_rdma_free_conn(struct doca_rdma_connection *conn);

doca_error_t xvd_rdma_create_target(struct doca_rdma *rdma);
unsigned int xvd_rdma_access(const struct doca_rdma *rdma);

/* ---- rdma_cm ----------------------------------------------------------------------------- */

/* Handles events.  Makes no system call most of the times if no connection waits for one. */
unsigned int xvd_rdma_cm_progress(struct doca_rdma *rdma);
void xvd_rdma_cm_stop(struct doca_rdma *rdma);

/* Destroys the id of a connection that has one. */
void xvd_rdma_free_id(struct doca_rdma_connection *conn);

#endif
