/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * RDMA: messages, and access to the memory of a peer, by jobs.  Compatible with the header of the
 * same name of DOCA 2.2; see doca-jobs(7).
 *
 * A struct doca_rdma is a context (doca_ctx.h) with one connection.
 *
 * Results: DOCA_ERROR_INVALID_VALUE for a null pointer or an invalid value, DOCA_ERROR_BAD_STATE in
 * the wrong state, DOCA_ERROR_NO_MEMORY.
 *
 * Threads: one thread at a time may use a context and its work queue.
 */
#ifndef XVDOCA_JOBS_RDMA_H
#define XVDOCA_JOBS_RDMA_H

#include <stddef.h>
#include <stdint.h>
#include <doca_ctx.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_devinfo;
struct doca_rdma;
struct doca_rdma_addr;

enum doca_rdma_state {
	DOCA_RDMA_STATE_RESET = 0,	/* not started */
	DOCA_RDMA_STATE_INIT,		/* started, not connected */
	DOCA_RDMA_STATE_CONNECTED,	/* takes jobs */
	DOCA_RDMA_STATE_ERROR,		/* a job has failed; only a stop helps */
};

enum doca_rdma_transport_type {
	DOCA_RDMA_TRANSPORT_RC,
	DOCA_RDMA_TRANSPORT_DC,		/* not supported */
};

/* ---- Jobs --------------------------------------------------------------------------------
 *
 * base.type says which one it is.  A job reads the data of its local source buffer and appends to
 * the data of its destination buffer, which gets longer when the job succeeds.  Local buffers can
 * be lists, remote ones not.  NULL is a buffer without data.  A message has at most
 * doca_rdma_get_max_message_size() bytes.  rdma_peer_addr is not used.
 *
 * doca_workq_submit(): DOCA_ERROR_BAD_STATE: the instance is not connected, or has failed.
 * DOCA_ERROR_INVALID_VALUE: flags, or a buffer that is too small, misaligned, not on the device, or
 * in too long a list.  DOCA_ERROR_TOO_BIG: the message is too long.  DOCA_ERROR_NOT_PERMITTED: the
 * map of a local buffer lacks DOCA_ACCESS_LOCAL_READ_WRITE.
 */

enum doca_rdma_job_types {
	DOCA_RDMA_JOB_RECV = 10 * DOCA_ACTION_TYPE_STEP + 1,
	DOCA_RDMA_JOB_SEND,
	DOCA_RDMA_JOB_SEND_IMM,
	DOCA_RDMA_JOB_READ,
	DOCA_RDMA_JOB_WRITE,
	DOCA_RDMA_JOB_WRITE_IMM,
	DOCA_RDMA_JOB_ATOMIC_CMP_SWP,
	DOCA_RDMA_JOB_ATOMIC_FETCH_ADD,
};

/*
 * Takes the next message of the peer, or the next write with immediate.  The buffer may be NULL
 * for a write with immediate or an empty message.
 */
struct doca_rdma_job_recv {
	struct doca_job base;
	struct doca_buf *dst_buff;
};

/* The peer needs a receive that is large enough.  Immediate data are big-endian. */
struct doca_rdma_job_send {
	struct doca_job base;
	struct doca_buf const *src_buff;
	doca_be32_t immediate_data;
	struct doca_rdma_addr const *rdma_peer_addr;
};

/*
 * Read: src_buff is remote; what dst_buff has no space for is not read.  Write: dst_buff is remote;
 * with immediate data, the peer needs a receive.
 */
struct doca_rdma_job_read_write {
	struct doca_job base;
	struct doca_buf *dst_buff;
	struct doca_buf const *src_buff;
	doca_be32_t immediate_data;
	struct doca_rdma_addr const *rdma_peer_addr;
};

/*
 * Changes the 8 bytes at the data address of the remote buffer, which is a multiple of 8.  The
 * value before is stored at the data address of result_buff.
 */
struct doca_rdma_job_atomic {
	struct doca_job base;
	struct doca_buf *cmp_or_add_dest_buff;
	struct doca_buf *result_buff;
	uint64_t swap_or_add_data;
	uint64_t cmp_data;		/* for compare and swap */
	struct doca_rdma_addr const *rdma_peer_addr;
};

/* What the peer of a receive has done */
enum doca_rdma_opcode_t {
	DOCA_RDMA_OPCODE_RECV_SEND = 0,
	DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM,
	DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM,
};

/* What event->result.ptr points to.  opcode and immediate_data are those of a receive. */
struct doca_rdma_result {
	doca_error_t result;
	enum doca_rdma_opcode_t opcode;
	struct doca_rdma_addr *rdma_peer_addr;	/* NULL */
	doca_be32_t immediate_data;		/* with the two opcodes for it */
};

/* ---- Capabilities of a device ------------------------------------------------------------ */

/* DOCA_SUCCESS or DOCA_ERROR_NOT_SUPPORTED */
doca_error_t doca_rdma_job_get_supported(const struct doca_devinfo *devinfo,
					 enum doca_rdma_job_types job_type);
doca_error_t doca_rdma_get_transport_type_supported(const struct doca_devinfo *devinfo,
						    enum doca_rdma_transport_type type);

/* Jobs in a queue */
doca_error_t doca_rdma_get_max_send_queue_size(const struct doca_devinfo *devinfo,
					       uint32_t *max_send_queue_size);
doca_error_t doca_rdma_get_max_recv_queue_size(const struct doca_devinfo *devinfo,
					       uint32_t *max_recv_queue_size);

/* Buffers in the list of a receive */
doca_error_t doca_rdma_get_max_recv_buf_chain_len(const struct doca_devinfo *devinfo,
						  uint32_t *max_recv_buf_chain_len);

/* Bytes of a message */
doca_error_t doca_rdma_get_max_message_size(const struct doca_devinfo *devinfo,
					    uint32_t *max_message_size);
doca_error_t doca_rdma_get_gid_table_size(const struct doca_devinfo *devinfo,
					  uint32_t *gid_table_size);

/* ---- Objects ----------------------------------------------------------------------------- */

/* doca_rdma_destroy(): DOCA_ERROR_IN_USE: the context is started. */
doca_error_t doca_rdma_create(struct doca_rdma **rdma);
doca_error_t doca_rdma_destroy(struct doca_rdma *rdma);
struct doca_ctx *doca_rdma_as_ctx(struct doca_rdma *rdma);

/* In any state */
doca_error_t doca_rdma_get_state(const struct doca_rdma *rdma, enum doca_rdma_state *state);

/* ---- Properties, which can be set before the start --------------------------------------------
 *
 * A value that the device does not have makes the setter return DOCA_ERROR_NOT_SUPPORTED; before
 * the context has a device, doca_ctx_dev_add() returns it.
 */

/* What the peer may do: DOCA_ACCESS_RDMA_*.  The memory map must allow it, too.  Default: 0 */
doca_error_t doca_rdma_set_permissions(struct doca_rdma *rdma, uint32_t permissions);
doca_error_t doca_rdma_get_permissions(const struct doca_rdma *rdma, uint32_t *permissions);

/* Jobs that are submitted and not retrieved: all but receives, and receives; default: 128 */
doca_error_t doca_rdma_set_send_queue_size(struct doca_rdma *rdma, uint32_t send_queue_size);
doca_error_t doca_rdma_get_send_queue_size(const struct doca_rdma *rdma,
					   uint32_t *send_queue_size);
doca_error_t doca_rdma_set_recv_queue_size(struct doca_rdma *rdma, uint32_t recv_queue_size);
doca_error_t doca_rdma_get_recv_queue_size(const struct doca_rdma *rdma,
					   uint32_t *recv_queue_size);

/* Buffers in the list of a receive; default: 3 */
doca_error_t doca_rdma_set_recv_buf_chain_len(struct doca_rdma *rdma,
					      uint32_t recv_buf_chain_len);
doca_error_t doca_rdma_get_recv_buf_chain_len(const struct doca_rdma *rdma,
					      uint32_t *recv_buf_chain_len);

/* DOCA_RDMA_TRANSPORT_RC */
doca_error_t doca_rdma_set_transport_type(struct doca_rdma *rdma,
					  enum doca_rdma_transport_type transport_type);
doca_error_t doca_rdma_get_transport_type(const struct doca_rdma *rdma,
					  enum doca_rdma_transport_type *transport_type);

/* Default: that of the port, which can be read once the context has a device */
doca_error_t doca_rdma_set_mtu(struct doca_rdma *rdma, enum doca_mtu_size mtu);
doca_error_t doca_rdma_get_mtu(const struct doca_rdma *rdma, enum doca_mtu_size *mtu);

/* Default: RoCE v2 with an IPv4 address, if there is one; as with the MTU */
doca_error_t doca_rdma_set_gid_index(struct doca_rdma *rdma, uint32_t gid_index);
doca_error_t doca_rdma_get_gid_index(const struct doca_rdma *rdma, uint32_t *gid_index);

/* Global route header on InfiniBand, default: 0; RoCE always has one.  Service level: 0 to 15 */
doca_error_t doca_rdma_set_grh_enabled(struct doca_rdma *rdma, uint8_t grh_enabled);
doca_error_t doca_rdma_get_grh_enabled(const struct doca_rdma *rdma, uint8_t *grh_enabled);
doca_error_t doca_rdma_set_sl(struct doca_rdma *rdma, uint32_t sl);
doca_error_t doca_rdma_get_sl(const struct doca_rdma *rdma, uint32_t *sl);

/* ---- Connection, while the context is started -------------------------------------------- */

/*
 * The description of this side for doca_rdma_connect() of the peer; it belongs to the context and
 * is valid until it is stopped.
 */
doca_error_t doca_rdma_export(struct doca_rdma *rdma, const void **conn_details,
			      size_t *conn_details_size);

/* DOCA_ERROR_INVALID_VALUE: the description is damaged, or the peer has another link layer. */
doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *remote_conn_details,
			       size_t remote_conn_details_size);

#ifdef __cplusplus
}
#endif

#endif
