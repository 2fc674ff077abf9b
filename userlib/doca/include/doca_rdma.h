/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * RDMA: messages, and access to the memory of peers, by tasks.  Compatible with the header of the
 * same name of the DOCA SDK; doca-rdma(7) has the functions that are missing here, with reasons.
 *
 * A struct doca_rdma is a context (doca_ctx.h) with a number of connections.  Its receives belong
 * to the context: each one takes the next message of any connection.
 *
 * Results: DOCA_ERROR_INVALID_VALUE for a null pointer or an invalid value, DOCA_ERROR_BAD_STATE
 * in the wrong state, DOCA_ERROR_NO_MEMORY.  Functions that return no result give NULL or 0 for
 * NULL.
 *
 * Threads: one thread at a time may use a context, its connections, its tasks and its progress
 * engine.
 */
#ifndef XVDOCA_RDMA_H
#define XVDOCA_RDMA_H

#include <stddef.h>
#include <stdint.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_rdma;
struct doca_rdma_addr;
struct doca_rdma_connection;
struct doca_sync_event_remote_net;
struct doca_task;

enum doca_rdma_transport_type {
	DOCA_RDMA_TRANSPORT_TYPE_RC,
	DOCA_RDMA_TRANSPORT_TYPE_DC,
};

enum doca_rdma_addr_type {
	DOCA_RDMA_ADDR_TYPE_IPv4,
	DOCA_RDMA_ADDR_TYPE_IPv6,
	DOCA_RDMA_ADDR_TYPE_GID,
};

/* What the peer of a receive has done */
enum doca_rdma_opcode {
	DOCA_RDMA_OPCODE_RECV_SEND,
	DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM,
	DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM,
};

struct doca_rdma_gid {
	uint8_t raw[DOCA_GID_BYTE_LENGTH];
};

/* ---- Capabilities of a device ------------------------------------------------------------ */

/* DOCA_SUCCESS or DOCA_ERROR_NOT_SUPPORTED */
doca_error_t doca_rdma_cap_task_receive_is_supported(const struct doca_devinfo *devinfo);
doca_error_t doca_rdma_cap_task_send_is_supported(const struct doca_devinfo *devinfo);
doca_error_t doca_rdma_cap_task_send_imm_is_supported(const struct doca_devinfo *devinfo);
doca_error_t doca_rdma_cap_task_read_is_supported(const struct doca_devinfo *devinfo);
doca_error_t doca_rdma_cap_task_write_is_supported(const struct doca_devinfo *devinfo);
doca_error_t doca_rdma_cap_task_write_imm_is_supported(const struct doca_devinfo *devinfo);
doca_error_t doca_rdma_cap_task_atomic_cmp_swp_is_supported(const struct doca_devinfo *devinfo);
doca_error_t doca_rdma_cap_task_atomic_fetch_add_is_supported(const struct doca_devinfo *devinfo);
doca_error_t doca_rdma_cap_task_remote_net_sync_event_get_is_supported(
	const struct doca_devinfo *devinfo);
doca_error_t doca_rdma_cap_task_remote_net_sync_event_notify_set_is_supported(
	const struct doca_devinfo *devinfo);
doca_error_t doca_rdma_cap_task_remote_net_sync_event_notify_add_is_supported(
	const struct doca_devinfo *devinfo);
doca_error_t doca_rdma_cap_transport_type_is_supported(const struct doca_devinfo *devinfo,
						       enum doca_rdma_transport_type type);

/* Tasks in a queue */
doca_error_t doca_rdma_cap_get_max_send_queue_size(const struct doca_devinfo *devinfo,
						   uint32_t *max_send_queue_size);
doca_error_t doca_rdma_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo,
						   uint32_t *max_recv_queue_size);

/* Buffers in the list of a task */
doca_error_t doca_rdma_cap_get_max_send_buf_list_len(const struct doca_devinfo *devinfo,
						     uint32_t *max_send_buf_list_len);
doca_error_t doca_rdma_cap_task_receive_get_max_dst_buf_list_len(
	const struct doca_devinfo *devinfo, enum doca_rdma_transport_type transport_type,
	uint32_t *max_buf_list_len);

/* Bytes of a message, less than 2^31 */
doca_error_t doca_rdma_cap_get_max_message_size(const struct doca_devinfo *devinfo,
						uint32_t *max_message_size);

/* Entries of the GID table; num_entries are copied from it, from the first one. */
doca_error_t doca_rdma_cap_get_gid_table_size(const struct doca_devinfo *devinfo,
					      uint32_t *gid_table_size);
doca_error_t doca_rdma_cap_get_gid(const struct doca_devinfo *devinfo, uint32_t start_index,
				   uint32_t num_entries, struct doca_rdma_gid *gid_array);

/* ---- Objects ----------------------------------------------------------------------------- */

/* doca_rdma_destroy(): DOCA_ERROR_IN_USE: the context is not idle. */
doca_error_t doca_rdma_create(struct doca_dev *dev, struct doca_rdma **rdma);
doca_error_t doca_rdma_destroy(struct doca_rdma *rdma);
struct doca_ctx *doca_rdma_as_ctx(struct doca_rdma *rdma);

/* ---- Configuration, while the context is idle --------------------------------------------------
 *
 * A value that the device does not have makes the setter return DOCA_ERROR_NOT_SUPPORTED.
 */

/*
 * What peers may do: DOCA_ACCESS_FLAG_RDMA_*, other bits do not matter.  The memory map must allow
 * it, too.  Default: 0.
 */
doca_error_t doca_rdma_set_permissions(struct doca_rdma *rdma, uint32_t permissions);
doca_error_t doca_rdma_get_permissions(const struct doca_rdma *rdma, uint32_t *permissions);

/*
 * Tasks of a connection and receive tasks of the context for which there is space; there may be
 * space for more.  Default: 128
 */
doca_error_t doca_rdma_set_send_queue_size(struct doca_rdma *rdma, uint32_t send_queue_size);
doca_error_t doca_rdma_get_send_queue_size(const struct doca_rdma *rdma,
					   uint32_t *send_queue_size);
doca_error_t doca_rdma_set_recv_queue_size(struct doca_rdma *rdma, uint32_t recv_queue_size);
doca_error_t doca_rdma_get_recv_queue_size(const struct doca_rdma *rdma,
					   uint32_t *recv_queue_size);

/* Buffers in the local list of all tasks but receives; default: 4 */
doca_error_t doca_rdma_set_max_send_buf_list_len(struct doca_rdma *rdma,
						 uint32_t max_send_buf_list_len);
doca_error_t doca_rdma_get_max_send_buf_list_len(const struct doca_rdma *rdma,
						 uint32_t *max_send_buf_list_len);

/* Default: RC.  Both sides must use the same one. */
doca_error_t doca_rdma_set_transport_type(struct doca_rdma *rdma,
					  enum doca_rdma_transport_type transport_type);
doca_error_t doca_rdma_get_transport_type(const struct doca_rdma *rdma,
					  enum doca_rdma_transport_type *transport_type);

/*
 * Default: that of the port.  A connection uses the smaller one of both sides; one by rdma_cm uses
 * that of its path, whatever is set here.
 */
doca_error_t doca_rdma_set_mtu(struct doca_rdma *rdma, enum doca_mtu_size mtu);
doca_error_t doca_rdma_get_mtu(const struct doca_rdma *rdma, enum doca_mtu_size *mtu);

/* Default: RoCE v2 with an IPv4 address, if there is one */
doca_error_t doca_rdma_set_gid_index(struct doca_rdma *rdma, uint32_t gid_index);
doca_error_t doca_rdma_get_gid_index(const struct doca_rdma *rdma, uint32_t *gid_index);

/* Global route header on InfiniBand, default: 0; RoCE always has one. */
doca_error_t doca_rdma_set_grh_enabled(struct doca_rdma *rdma, uint8_t grh_enabled);
doca_error_t doca_rdma_get_grh_enabled(const struct doca_rdma *rdma, uint8_t *grh_enabled);

/*
 * Service level (0 to 15), traffic class of the global route header; default: 0.  A connection by
 * rdma_cm has the service level of its path; its traffic class is that of the side that connects.
 */
doca_error_t doca_rdma_set_sl(struct doca_rdma *rdma, uint32_t sl);
doca_error_t doca_rdma_get_sl(const struct doca_rdma *rdma, uint32_t *sl);
doca_error_t doca_rdma_set_traffic_class(struct doca_rdma *rdma, uint8_t traffic_class);
doca_error_t doca_rdma_get_traffic_class(const struct doca_rdma *rdma, uint8_t *traffic_class);

/* How often a message is sent again if the peer has no receive: 0 to 7, 7 (default): without end */
doca_error_t doca_rdma_set_rnr_retry_count(struct doca_rdma *rdma, uint8_t rnr_retry_count);
doca_error_t doca_rdma_get_rnr_retry_count(const struct doca_rdma *rdma,
					   uint8_t *rnr_retry_count);

/* Connections that exist at the same time; default: 1 */
doca_error_t doca_rdma_set_max_num_connections(struct doca_rdma *rdma,
					       uint16_t max_num_connections);
doca_error_t doca_rdma_get_max_num_connections(const struct doca_rdma *rdma,
					       uint16_t *max_num_connections);

/* ---- Connections by descriptions, while the context is running --------------------------- */

/*
 * A new connection, and its description for doca_rdma_connect() of the peer.  Both belong to the
 * context and are valid until it is stopped.  With DC, the side that only receives needs no
 * doca_rdma_connect(), and the other one can do without giving its description away.
 * DOCA_ERROR_FULL: there are as many connections as the configuration allows.
 */
doca_error_t doca_rdma_export(struct doca_rdma *rdma, const void **local_rdma_conn_details,
			      size_t *local_rdma_conn_details_size,
			      struct doca_rdma_connection **rdma_connection);

/*
 * Connects a connection that was exported before.  DOCA_ERROR_INVALID_VALUE: the description is
 * damaged or does not fit, such as one for the other transport or link layer.
 * DOCA_ERROR_UNSUPPORTED_VERSION: it comes from another version.
 */
doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *remote_rdma_conn_details,
			       size_t remote_rdma_conn_details_size,
			       struct doca_rdma_connection *rdma_connection);

/* The number of the connection in its context, from 0 */
doca_error_t doca_rdma_connection_get_id(const struct doca_rdma_connection *rdma_connection,
					 uint32_t *connection_id);

/* What the callbacks of the connection get */
doca_error_t doca_rdma_connection_set_user_data(struct doca_rdma_connection *rdma_connection,
						union doca_data connection_user_data);
doca_error_t doca_rdma_connection_get_user_data(
	const struct doca_rdma_connection *rdma_connection,
	union doca_data *connection_user_data);

/* ---- Connections by rdma_cm, RC only ----------------------------------------------------------
 *
 * The four callbacks are called by doca_pe_progress().  A connection belongs to the context.  It
 * exists from the first callback that gets it until the return of the callback for failure or
 * disconnection, or until the context is stopped.  All its tasks are complete before that callback.
 */

typedef void (*doca_rdma_connection_request_cb_t)(struct doca_rdma_connection *rdma_connection,
						  union doca_data ctx_user_data);
typedef void (*doca_rdma_connection_established_cb_t)(struct doca_rdma_connection *rdma_connection,
						      union doca_data connection_user_data,
						      union doca_data ctx_user_data);
typedef void (*doca_rdma_connection_failure_cb_t)(struct doca_rdma_connection *rdma_connection,
						  union doca_data connection_user_data,
						  union doca_data ctx_user_data);
typedef void (*doca_rdma_connection_disconnection_cb_t)(
	struct doca_rdma_connection *rdma_connection, union doca_data connection_user_data,
	union doca_data ctx_user_data);

/*
 * While the context is idle; needed for the functions below.  Request: a peer wants to connect.
 * Disconnection: the peer has disconnected, or the disconnection of this side is done.
 */
doca_error_t doca_rdma_set_connection_state_callbacks(
	struct doca_rdma *rdma, doca_rdma_connection_request_cb_t request_cb,
	doca_rdma_connection_established_cb_t established_cb,
	doca_rdma_connection_failure_cb_t failure_cb,
	doca_rdma_connection_disconnection_cb_t disconnection_cb);

/*
 * An address of a peer: a text such as "192.168.1.2" or "fe80::1", for GIDs also in the form of an
 * IPv6 address.  port: 1 to 65535
 */
doca_error_t doca_rdma_addr_create(enum doca_rdma_addr_type addr_type, const char *address,
				   uint16_t port, struct doca_rdma_addr **addr);
doca_error_t doca_rdma_addr_destroy(struct doca_rdma_addr *addr);

/* Begins to connect.  The address is not needed any more after the call. */
doca_error_t doca_rdma_connect_to_addr(struct doca_rdma *rdma, struct doca_rdma_addr *addr,
				       union doca_data connection_user_data);

/*
 * Listens on the port for all addresses; requests for other devices are rejected.
 * DOCA_ERROR_IN_USE: somebody listens on it.  Stop: established connections stay.
 */
doca_error_t doca_rdma_start_listen_to_port(struct doca_rdma *rdma, uint16_t port);
doca_error_t doca_rdma_stop_listen_to_port(struct doca_rdma *rdma, uint16_t port);

/*
 * Answer a request, in its callback or later.  private_data: at most 196 bytes for the peer, may be
 * NULL.  A connection that was rejected, or whose acceptance failed, is gone.
 */
doca_error_t doca_rdma_connection_accept(struct doca_rdma_connection *rdma_connection,
					 void *private_data, uint8_t private_data_len);
doca_error_t doca_rdma_connection_reject(struct doca_rdma_connection *rdma_connection);

/*
 * Ends an established connection, or answers the disconnection of the peer.  Its tasks in flight
 * fail.  Does nothing more if the disconnection has begun or ended.
 */
doca_error_t doca_rdma_connection_disconnect(struct doca_rdma_connection *rdma_connection);

/* ---- Tasks --------------------------------------------------------------------------------
 *
 * ..._set_conf(), while the context is idle: the callbacks and the number of tasks, see the
 * definition of their types below.  ..._allocate_init(): a task with its arguments, which setters
 * can change; the context must be running.  ..._as_task(): for doca_task_submit() and
 * doca_task_free().
 *
 * Buffers.  A task reads the data of its local source buffer and appends to the data of its
 * destination buffer, which gets longer when the task succeeds.  Local buffers can be lists,
 * remote ones not.  NULL is a buffer without data.  The map of each local buffer needs
 * DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, also if a task only reads the buffer.  All buffers must exist
 * until the callback.
 *
 * doca_task_submit(): DOCA_ERROR_AGAIN: the queue is full.  DOCA_ERROR_INVALID_VALUE: a buffer is
 * too small, misaligned, too long a list, or not on the device.  DOCA_ERROR_TOO_BIG: the message is
 * longer than the device can send.  DOCA_ERROR_NOT_PERMITTED: a map lacks it.
 * DOCA_ERROR_BAD_STATE: the connection is not established or has failed.
 *
 * When a task fails, its connection fails with all tasks on it: DOCA_ERROR_CONNECTION_ABORTED.
 * To connect again, stop and start the context.
 */

/* ---- Receive: takes the next message, or a write with immediate, from any connection ----- */

struct doca_rdma_task_receive;

typedef void (*doca_rdma_task_receive_completion_cb_t)(struct doca_rdma_task_receive *task,
						       union doca_data task_user_data,
						       union doca_data ctx_user_data);

doca_error_t doca_rdma_task_receive_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_receive_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_receive_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/* Buffers in the list of a receive; default: 3 */
doca_error_t doca_rdma_task_receive_set_dst_buf_list_len(struct doca_rdma *rdma,
							 uint32_t dst_buf_list_len);
doca_error_t doca_rdma_task_receive_get_dst_buf_list_len(const struct doca_rdma *rdma,
							 uint32_t *dst_buf_list_len);

doca_error_t doca_rdma_task_receive_allocate_init(struct doca_rdma *rdma, struct doca_buf *dst_buf,
						  union doca_data user_data,
						  struct doca_rdma_task_receive **task);
struct doca_task *doca_rdma_task_receive_as_task(struct doca_rdma_task_receive *task);
void doca_rdma_task_receive_set_dst_buf(struct doca_rdma_task_receive *task,
					struct doca_buf *dst_buf);
struct doca_buf *doca_rdma_task_receive_get_dst_buf(const struct doca_rdma_task_receive *task);

/*
 * Of a task that succeeded.  Length: bytes of the message; those of a write with immediate are not
 * in dst_buf.  Immediate: valid with the two opcodes for it.  Connection: NULL with DC.
 */
enum doca_rdma_opcode doca_rdma_task_receive_get_result_opcode(
	const struct doca_rdma_task_receive *task);
uint32_t doca_rdma_task_receive_get_result_len(const struct doca_rdma_task_receive *task);
doca_be32_t doca_rdma_task_receive_get_result_immediate_data(
	const struct doca_rdma_task_receive *task);
const struct doca_rdma_connection *doca_rdma_task_receive_get_result_rdma_connection(
	const struct doca_rdma_task_receive *task);

/* ---- Tasks of a connection --------------------------------------------------------------- */

/*
 * The functions that all of them have.  Arguments of ..._allocate_init(): context, connection, what
 * ... stands for, user data, and where the task is stored.
 */
#define XVDOCA_RDMA_TASK(name, ...)								\
struct doca_rdma_task_##name;									\
typedef void (*doca_rdma_task_##name##_completion_cb_t)(struct doca_rdma_task_##name *task,	\
							union doca_data task_user_data,		\
							union doca_data ctx_user_data);		\
doca_error_t doca_rdma_task_##name##_set_conf(							\
	struct doca_rdma *rdma,									\
	doca_rdma_task_##name##_completion_cb_t successful_task_completion_cb,			\
	doca_rdma_task_##name##_completion_cb_t error_task_completion_cb, uint32_t num_tasks);	\
doca_error_t doca_rdma_task_##name##_allocate_init(						\
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection, __VA_ARGS__,	\
	union doca_data user_data, struct doca_rdma_task_##name **task);			\
struct doca_task *doca_rdma_task_##name##_as_task(struct doca_rdma_task_##name *task);		\
void doca_rdma_task_##name##_set_rdma_connection(						\
	struct doca_rdma_task_##name *task, struct doca_rdma_connection *rdma_connection);	\
const struct doca_rdma_connection *doca_rdma_task_##name##_get_rdma_connection(			\
	const struct doca_rdma_task_##name *task)

/* A setter and a getter of an argument */
#define XVDOCA_RDMA_FIELD(name, field, type)							\
void doca_rdma_task_##name##_set_##field(struct doca_rdma_task_##name *task, type field);	\
type doca_rdma_task_##name##_get_##field(const struct doca_rdma_task_##name *task)

/* Send: the peer needs a receive that is large enough.  Immediate data are big-endian. */
XVDOCA_RDMA_TASK(send, const struct doca_buf *src_buf);
XVDOCA_RDMA_FIELD(send, src_buf, const struct doca_buf *);

XVDOCA_RDMA_TASK(send_imm, const struct doca_buf *src_buf, doca_be32_t immediate_data);
XVDOCA_RDMA_FIELD(send_imm, src_buf, const struct doca_buf *);
XVDOCA_RDMA_FIELD(send_imm, immediate_data, doca_be32_t);

/*
 * Read from the remote src_buf.  If dst_buf has less space than the data, only so much is read: the
 * result_len of a task that succeeded.
 */
XVDOCA_RDMA_TASK(read, const struct doca_buf *src_buf, struct doca_buf *dst_buf);
XVDOCA_RDMA_FIELD(read, src_buf, const struct doca_buf *);
XVDOCA_RDMA_FIELD(read, dst_buf, struct doca_buf *);
uint32_t doca_rdma_task_read_get_result_len(const struct doca_rdma_task_read *task);

/* Write to the remote dst_buf.  With immediate data, the peer needs a receive. */
XVDOCA_RDMA_TASK(write, const struct doca_buf *src_buf, struct doca_buf *dst_buf);
XVDOCA_RDMA_FIELD(write, src_buf, const struct doca_buf *);
XVDOCA_RDMA_FIELD(write, dst_buf, struct doca_buf *);

XVDOCA_RDMA_TASK(write_imm, const struct doca_buf *src_buf, struct doca_buf *dst_buf,
		 doca_be32_t immediate_data);
XVDOCA_RDMA_FIELD(write_imm, src_buf, const struct doca_buf *);
XVDOCA_RDMA_FIELD(write_imm, dst_buf, struct doca_buf *);
XVDOCA_RDMA_FIELD(write_imm, immediate_data, doca_be32_t);

/*
 * Atomic operations on the 8 bytes at the data address of the remote dst_buf, which is a multiple
 * of 8.  The value before is stored at the data address of the local result_buf, whose data are at
 * least these 8 bytes then.  Values are in the byte order of their hosts.
 */
XVDOCA_RDMA_TASK(atomic_cmp_swp, struct doca_buf *dst_buf, struct doca_buf *result_buf,
		 uint64_t cmp_data, uint64_t swap_data);
XVDOCA_RDMA_FIELD(atomic_cmp_swp, dst_buf, struct doca_buf *);
XVDOCA_RDMA_FIELD(atomic_cmp_swp, result_buf, struct doca_buf *);
XVDOCA_RDMA_FIELD(atomic_cmp_swp, cmp_data, uint64_t);
XVDOCA_RDMA_FIELD(atomic_cmp_swp, swap_data, uint64_t);

XVDOCA_RDMA_TASK(atomic_fetch_add, struct doca_buf *dst_buf, struct doca_buf *result_buf,
		 uint64_t add_data);
XVDOCA_RDMA_FIELD(atomic_fetch_add, dst_buf, struct doca_buf *);
XVDOCA_RDMA_FIELD(atomic_fetch_add, result_buf, struct doca_buf *);
XVDOCA_RDMA_FIELD(atomic_fetch_add, add_data, uint64_t);

/*
 * Sync events of the peer: read the value (appended to dst_buf), set it to the first 8 bytes of
 * src_buf, increase it; then the value before is the result, as with atomics.
 */
XVDOCA_RDMA_TASK(remote_net_sync_event_get, const struct doca_sync_event_remote_net *event,
		 struct doca_buf *dst_buf);
XVDOCA_RDMA_FIELD(remote_net_sync_event_get, sync_event, const struct doca_sync_event_remote_net *);
XVDOCA_RDMA_FIELD(remote_net_sync_event_get, dst_buf, struct doca_buf *);

XVDOCA_RDMA_TASK(remote_net_sync_event_notify_set, const struct doca_sync_event_remote_net *event,
		 const struct doca_buf *src_buf);
XVDOCA_RDMA_FIELD(remote_net_sync_event_notify_set, sync_event,
		  const struct doca_sync_event_remote_net *);
XVDOCA_RDMA_FIELD(remote_net_sync_event_notify_set, src_buf, const struct doca_buf *);

XVDOCA_RDMA_TASK(remote_net_sync_event_notify_add, const struct doca_sync_event_remote_net *event,
		 struct doca_buf *result_buf, uint64_t add_data);
XVDOCA_RDMA_FIELD(remote_net_sync_event_notify_add, sync_event,
		  const struct doca_sync_event_remote_net *);
XVDOCA_RDMA_FIELD(remote_net_sync_event_notify_add, result_buf, struct doca_buf *);
XVDOCA_RDMA_FIELD(remote_net_sync_event_notify_add, add_data, uint64_t);

#undef XVDOCA_RDMA_TASK
#undef XVDOCA_RDMA_FIELD

#ifdef __cplusplus
}
#endif

#endif
