/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Queues for RDMA.  Compatible with the header of the same name of the DOCA SDK; the values are
 * those of the open header of gpunetio.  doca-verbs(7) says which functions of libxverbs do the
 * work.
 *
 * Results: DOCA_ERROR_INVALID_VALUE for a null pointer or a value out of range, DOCA_ERROR_IN_USE
 * for an object that others use, DOCA_ERROR_NO_MEMORY, DOCA_ERROR_NOT_SUPPORTED, and what functions
 * of libxverbs report; xv_last_error() returns their reason.  A getter without a result
 * returns 0 or NULL for a null pointer.
 *
 * Attribute objects belong to the program.  Creating a queue copies them, so they may be changed
 * or destroyed at once.  The objects that they name must exist as long as the queue.
 *
 * Threads: any thread may create, modify and destroy objects, but none may destroy an object or
 * change an attribute object that another one uses.
 */
#ifndef XVDOCA_VERBS_H
#define XVDOCA_VERBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_types.h>
#include <doca_uar.h>
#include <doca_umem.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_verbs_ah_attr;
struct doca_verbs_comp_channel;
struct doca_verbs_context;
struct doca_verbs_cq;
struct doca_verbs_cq_attr;
struct doca_verbs_device_attr;
struct doca_verbs_pd;
struct doca_verbs_qp;
struct doca_verbs_qp_attr;
struct doca_verbs_qp_init_attr;
struct doca_verbs_srq;
struct doca_verbs_srq_init_attr;

/* Types of queue pairs */
#define DOCA_VERBS_QP_TYPE_RC	0x0
#define DOCA_VERBS_QP_TYPE_UC	0x1

enum doca_verbs_context_create_flags {
	DOCA_VERBS_CONTEXT_CREATE_FLAGS_NONE	= 0,
};

enum doca_verbs_qp_state {
	DOCA_VERBS_QP_STATE_RST		= 0,
	DOCA_VERBS_QP_STATE_INIT	= 1,
	DOCA_VERBS_QP_STATE_RTR		= 2,
	DOCA_VERBS_QP_STATE_RTS		= 3,
	DOCA_VERBS_QP_STATE_ERR		= 4,
};

/* RoCE uses the first two.  On InfiniBand an address has a GID and a LID, or a LID only. */
enum doca_verbs_addr_type {
	DOCA_VERBS_ADDR_TYPE_IPv4,
	DOCA_VERBS_ADDR_TYPE_IPv6,
	DOCA_VERBS_ADDR_TYPE_IB_GRH,
	DOCA_VERBS_ADDR_TYPE_IB_NO_GRH,
};

enum doca_verbs_cq_overrun {
	DOCA_VERBS_CQ_DISABLE_OVERRUN	= 0,
	DOCA_VERBS_CQ_ENABLE_OVERRUN	= 1,
};

enum doca_verbs_cq_entry_size {
	DOCA_VERBS_CQ_ENTRY_SIZE_64,
	DOCA_VERBS_CQ_ENTRY_SIZE_128,
};

enum doca_verbs_srq_type {
	DOCA_VERBS_SRQ_TYPE_LINKED_LIST,
	DOCA_VERBS_SRQ_TYPE_CONTIGUOUS,	/* only for an external data path */
};

/* Atomics of more than 8 bytes are not supported. */
enum doca_verbs_qp_atomic_mode {
	DOCA_VERBS_QP_ATOMIC_MODE_NONE			= 0,
	DOCA_VERBS_QP_ATOMIC_MODE_IB_SPEC		= 1,
	DOCA_VERBS_QP_ATOMIC_MODE_ONLY_8BYTES		= 2,
	DOCA_VERBS_QP_ATOMIC_MODE_UP_TO_8BYTES		= 3,
	DOCA_VERBS_QP_ATOMIC_MODE_UP_TO_16BYTES		= 4,
	DOCA_VERBS_QP_ATOMIC_MODE_UP_TO_32BYTES		= 5,
	DOCA_VERBS_QP_ATOMIC_MODE_UP_TO_64BYTES		= 6,
	DOCA_VERBS_QP_ATOMIC_MODE_UP_TO_128BYTES	= 7,
	DOCA_VERBS_QP_ATOMIC_MODE_UP_TO_256BYTES	= 8,
};

/* Sends without doorbell record are not supported. */
enum doca_verbs_qp_send_dbr_mode {
	DOCA_VERBS_QP_SEND_DBR_MODE_DBR_VALID	= 0,
	DOCA_VERBS_QP_SEND_DBR_MODE_NO_DBR_EXT	= 1,
};

/* Data out of order is not supported. */
enum doca_verbs_qp_ordering_semantic {
	DOCA_VERBS_QP_ORDERING_SEMANTIC_IBTA	= 0,
	DOCA_VERBS_QP_ORDERING_SEMANTIC_OOO_RW	= 1,
	DOCA_VERBS_QP_ORDERING_SEMANTIC_OOO_ALL	= 2,
};

/* Bits of the mask of doca_verbs_qp_modify() and doca_verbs_qp_query() */
#define DOCA_VERBS_QP_ATTR_ALLOW_REMOTE_WRITE	(1 << 0)
#define DOCA_VERBS_QP_ATTR_ALLOW_REMOTE_READ	(1 << 1)
#define DOCA_VERBS_QP_ATTR_PKEY_INDEX		(1 << 2)
#define DOCA_VERBS_QP_ATTR_MIN_RNR_TIMER	(1 << 3)
#define DOCA_VERBS_QP_ATTR_PORT_NUM		(1 << 4)
#define DOCA_VERBS_QP_ATTR_NEXT_STATE		(1 << 5)
#define DOCA_VERBS_QP_ATTR_CURRENT_STATE	(1 << 6)
#define DOCA_VERBS_QP_ATTR_PATH_MTU		(1 << 7)
#define DOCA_VERBS_QP_ATTR_RQ_PSN		(1 << 8)
#define DOCA_VERBS_QP_ATTR_SQ_PSN		(1 << 9)
#define DOCA_VERBS_QP_ATTR_DEST_QP_NUM		(1 << 10)
#define DOCA_VERBS_QP_ATTR_ACK_TIMEOUT		(1 << 11)
#define DOCA_VERBS_QP_ATTR_RETRY_CNT		(1 << 12)
#define DOCA_VERBS_QP_ATTR_RNR_RETRY		(1 << 13)
#define DOCA_VERBS_QP_ATTR_AH_ATTR		(1 << 14)
#define DOCA_VERBS_QP_ATTR_ATOMIC_MODE		(1 << 15)
#define DOCA_VERBS_QP_ATTR_MAX_QP_RD_ATOMIC	(1 << 16)
#define DOCA_VERBS_QP_ATTR_MAX_DEST_RD_ATOMIC	(1 << 17)

/* Network byte order */
struct doca_verbs_gid {
	uint8_t raw[DOCA_GID_BYTE_LENGTH];
};

/* ---- Contexts and protection domains ------------------------------------------------------ */

/* flags: enum doca_verbs_context_create_flags.  The list of devices may be destroyed afterwards. */
doca_error_t doca_verbs_context_create(struct doca_devinfo *devinfo, uint32_t flags,
				       struct doca_verbs_context **verbs_context);
doca_error_t doca_verbs_context_destroy(struct doca_verbs_context *verbs_context);

doca_error_t doca_verbs_pd_create(struct doca_verbs_context *verbs_context,
				  struct doca_verbs_pd **verbs_pd);

/* DOCA_ERROR_IN_USE also if memory is registered in it */
doca_error_t doca_verbs_pd_destroy(struct doca_verbs_pd *verbs_pd);

/* A device that uses the protection domain and its context.  The caller closes it first. */
doca_error_t doca_verbs_pd_as_doca_dev(struct doca_verbs_pd *verbs_pd, struct doca_dev **dev);

/* ---- Properties of a device --------------------------------------------------------------- */

/* The caller frees the result. */
doca_error_t doca_verbs_query_device(struct doca_verbs_context *verbs_context,
				     struct doca_verbs_device_attr **verbs_device_attr);
doca_error_t doca_verbs_device_attr_free(struct doca_verbs_device_attr *verbs_device_attr);

/* Greatest numbers and sizes */
uint32_t doca_verbs_device_attr_get_max_qp(const struct doca_verbs_device_attr *verbs_device_attr);
uint32_t
doca_verbs_device_attr_get_max_qp_wr(const struct doca_verbs_device_attr *verbs_device_attr);
uint32_t doca_verbs_device_attr_get_max_sge(const struct doca_verbs_device_attr *verbs_device_attr);
uint32_t doca_verbs_device_attr_get_max_cq(const struct doca_verbs_device_attr *verbs_device_attr);
uint32_t doca_verbs_device_attr_get_max_cqe(const struct doca_verbs_device_attr *verbs_device_attr);
uint32_t doca_verbs_device_attr_get_max_mr(const struct doca_verbs_device_attr *verbs_device_attr);
uint32_t doca_verbs_device_attr_get_max_pd(const struct doca_verbs_device_attr *verbs_device_attr);
uint32_t doca_verbs_device_attr_get_max_ah(const struct doca_verbs_device_attr *verbs_device_attr);
uint32_t doca_verbs_device_attr_get_max_srq(const struct doca_verbs_device_attr *verbs_device_attr);
uint32_t
doca_verbs_device_attr_get_max_srq_wr(const struct doca_verbs_device_attr *verbs_device_attr);
uint32_t
doca_verbs_device_attr_get_max_srq_sge(const struct doca_verbs_device_attr *verbs_device_attr);
uint16_t
doca_verbs_device_attr_get_max_pkeys(const struct doca_verbs_device_attr *verbs_device_attr);

/* Reads and atomics in flight to a queue pair and from one */
uint8_t
doca_verbs_device_attr_get_max_qp_rd_atom(const struct doca_verbs_device_attr *verbs_device_attr);
uint8_t doca_verbs_device_attr_get_max_qp_init_rd_atom(
	const struct doca_verbs_device_attr *verbs_device_attr);

/* DOCA_SUCCESS or DOCA_ERROR_NOT_SUPPORTED */
doca_error_t doca_verbs_device_attr_get_is_qp_type_supported(
	const struct doca_verbs_device_attr *verbs_device_attr, uint32_t qp_type);
doca_error_t doca_verbs_device_attr_get_is_cqe_inline_supported(
	const struct doca_verbs_device_attr *verbs_device_attr);
doca_error_t doca_verbs_device_attr_get_is_send_dbr_mode_supported(
	const struct doca_verbs_device_attr *verbs_device_attr,
	enum doca_verbs_qp_send_dbr_mode send_dbr_mode);

/* 1 or 0 */
uint8_t doca_verbs_device_attr_get_send_dbr_mode_no_dbr_ext(
	const struct doca_verbs_device_attr *verbs_device_attr);

/* ---- Addresses ---------------------------------------------------------------------------- */

doca_error_t doca_verbs_ah_attr_create(struct doca_verbs_context *verbs_context,
				       struct doca_verbs_ah_attr **verbs_ah_attr);
doca_error_t doca_verbs_ah_attr_destroy(struct doca_verbs_ah_attr *verbs_ah_attr);

/* static_rate: enum ibv_rate */
doca_error_t doca_verbs_ah_attr_set_addr_type(struct doca_verbs_ah_attr *verbs_ah_attr,
					      enum doca_verbs_addr_type addr_type);
doca_error_t doca_verbs_ah_attr_set_gid(struct doca_verbs_ah_attr *verbs_ah_attr,
					struct doca_verbs_gid gid);
doca_error_t doca_verbs_ah_attr_set_dlid(struct doca_verbs_ah_attr *verbs_ah_attr, uint32_t dlid);
doca_error_t doca_verbs_ah_attr_set_sl(struct doca_verbs_ah_attr *verbs_ah_attr, uint8_t sl);
doca_error_t doca_verbs_ah_attr_set_sgid_index(struct doca_verbs_ah_attr *verbs_ah_attr,
					       uint8_t sgid_index);
doca_error_t doca_verbs_ah_attr_set_static_rate(struct doca_verbs_ah_attr *verbs_ah_attr,
						uint8_t static_rate);
doca_error_t doca_verbs_ah_attr_set_hop_limit(struct doca_verbs_ah_attr *verbs_ah_attr,
					      uint8_t hop_limit);
doca_error_t doca_verbs_ah_attr_set_traffic_class(struct doca_verbs_ah_attr *verbs_ah_attr,
						  uint8_t traffic_class);

enum doca_verbs_addr_type
doca_verbs_ah_get_addr_type(const struct doca_verbs_ah_attr *verbs_ah_attr);
struct doca_verbs_gid doca_verbs_ah_get_gid(const struct doca_verbs_ah_attr *verbs_ah_attr);
uint32_t doca_verbs_ah_get_dlid(const struct doca_verbs_ah_attr *verbs_ah_attr);
uint8_t doca_verbs_ah_get_sl(const struct doca_verbs_ah_attr *verbs_ah_attr);
uint8_t doca_verbs_ah_get_sgid_index(const struct doca_verbs_ah_attr *verbs_ah_attr);
uint8_t doca_verbs_ah_get_static_rate(const struct doca_verbs_ah_attr *verbs_ah_attr);
uint8_t doca_verbs_ah_get_hop_limit(const struct doca_verbs_ah_attr *verbs_ah_attr);
uint8_t doca_verbs_ah_get_traffic_class(const struct doca_verbs_ah_attr *verbs_ah_attr);

/* ---- Completion channels ------------------------------------------------------------------ */

doca_error_t doca_verbs_comp_channel_create(struct doca_verbs_context *verbs_context,
					    struct doca_verbs_comp_channel **verbs_comp_channel);
doca_error_t doca_verbs_comp_channel_destroy(struct doca_verbs_comp_channel *verbs_comp_channel);

/* The file descriptor, which is readable if an event is pending; it belongs to the channel */
doca_event_handle_t
doca_verbs_comp_channel_get_handle(struct doca_verbs_comp_channel *verbs_comp_channel);

/*
 * The next event.  If there is none, it sleeps, or returns DOCA_ERROR_AGAIN if the descriptor has
 * O_NONBLOCK.  A completion queue with a channel raises an event for the first completion after its
 * creation and for the first one after each event was read.  So poll it until it is empty after
 * each event.  An event may come without a new completion.
 *
 * Each event must be acknowledged; destroying the completion queue waits for that.
 */
doca_error_t doca_verbs_get_cq_event(struct doca_verbs_comp_channel *verbs_comp_channel,
				     struct doca_verbs_cq **verbs_cq, void **cq_context);
void doca_verbs_ack_cq_events(struct doca_verbs_cq *verbs_cq, unsigned int nevents);

/* ---- Completion queues -------------------------------------------------------------------- */

doca_error_t doca_verbs_cq_attr_create(struct doca_verbs_cq_attr **verbs_cq_attr);
doca_error_t doca_verbs_cq_attr_destroy(struct doca_verbs_cq_attr *verbs_cq_attr);

/* cq_size: entries; the adapter rounds it up. */
doca_error_t doca_verbs_cq_attr_set_cq_size(struct doca_verbs_cq_attr *cq_attr, uint32_t cq_size);
doca_error_t doca_verbs_cq_attr_set_cq_context(struct doca_verbs_cq_attr *cq_attr,
					       void *cq_context);
doca_error_t doca_verbs_cq_attr_set_entry_size(struct doca_verbs_cq_attr *cq_attr,
					       enum doca_verbs_cq_entry_size entry_size);
doca_error_t doca_verbs_cq_attr_set_comp_channel(struct doca_verbs_cq_attr *cq_attr,
						 struct doca_verbs_comp_channel *comp_channel);

/* Not 0: the adapter does not look whether an entry is free (enum doca_verbs_cq_overrun). */
doca_error_t doca_verbs_cq_attr_set_cq_overrun(struct doca_verbs_cq_attr *cq_attr, uint8_t overrun);

/* Not 0: the adapter writes all completions into the first entry. */
doca_error_t doca_verbs_cq_attr_set_cq_collapsed(struct doca_verbs_cq_attr *cq_attr, uint8_t cc);

/*
 * Not 0: the program drives the queue; the functions of the bridge and of channels must not be
 * called for it.
 */
doca_error_t doca_verbs_cq_attr_set_external_datapath_en(struct doca_verbs_cq_attr *cq_attr,
							 uint8_t external_datapath_en);

/*
 * The ring is at the offset in the UMEM, a multiple of the page size, and the doorbell record
 * behind it.  The number of entries is then cq_size, rounded up to a power of 2.  With an external
 * data path the program initialises them: each entry with 0xff in its last byte, the record with 0.
 */
doca_error_t doca_verbs_cq_attr_set_external_umem(struct doca_verbs_cq_attr *cq_attr,
						  struct doca_umem *external_umem,
						  uint64_t external_umem_offset);
doca_error_t doca_verbs_cq_attr_set_external_uar(struct doca_verbs_cq_attr *cq_attr,
						 struct doca_uar *external_uar);

doca_error_t doca_verbs_cq_create(struct doca_verbs_context *verbs_context,
				  struct doca_verbs_cq_attr *cq_attr,
				  struct doca_verbs_cq **verbs_cq);

/* Waits until its events are acknowledged. */
doca_error_t doca_verbs_cq_destroy(struct doca_verbs_cq *verbs_cq);

uint32_t doca_verbs_cq_get_cqn(const struct doca_verbs_cq *verbs_cq);

/* Addresses and sizes for an external data path.  *cq_entry_size is in bytes. */
void doca_verbs_cq_get_wq(struct doca_verbs_cq *verbs_cq, void **cq_buf, uint32_t *cq_num_entries,
			  uint8_t *cq_entry_size);
void doca_verbs_cq_get_dbr_addr(struct doca_verbs_cq *verbs_cq, uint64_t **uar_db_reg,
				uint32_t **ci_dbr, uint32_t **arm_dbr);

/* ---- Shared receive queues ---------------------------------------------------------------- */

doca_error_t doca_verbs_srq_init_attr_create(struct doca_verbs_srq_init_attr **verbs_srq_init_attr);
doca_error_t doca_verbs_srq_init_attr_destroy(struct doca_verbs_srq_init_attr *verbs_srq_init_attr);

doca_error_t doca_verbs_srq_init_attr_set_pd(struct doca_verbs_srq_init_attr *verbs_srq_init_attr,
					     struct doca_verbs_pd *pd);
doca_error_t
doca_verbs_srq_init_attr_set_srq_wr(struct doca_verbs_srq_init_attr *verbs_srq_init_attr,
				    uint32_t srq_wr);
doca_error_t
doca_verbs_srq_init_attr_set_receive_max_sges(struct doca_verbs_srq_init_attr *verbs_srq_init_attr,
					      uint32_t receive_max_sges);
doca_error_t doca_verbs_srq_init_attr_set_type(struct doca_verbs_srq_init_attr *verbs_srq_init_attr,
					       enum doca_verbs_srq_type srq_type);
doca_error_t doca_verbs_srq_init_attr_set_external_datapath_en(
	struct doca_verbs_srq_init_attr *verbs_srq_init_attr, uint8_t external_datapath_en);

/*
 * Both UMEMs or none, as those of a queue pair.  With an external data path the program initialises
 * both places: see xv_reg_umem(3).
 */
doca_error_t
doca_verbs_srq_init_attr_set_external_umem(struct doca_verbs_srq_init_attr *verbs_srq_init_attr,
					   struct doca_umem *external_umem,
					   uint64_t external_umem_offset);
doca_error_t
doca_verbs_srq_init_attr_set_external_dbr_umem(struct doca_verbs_srq_init_attr *verbs_srq_init_attr,
					       struct doca_umem *external_dbr_umem,
					       uint64_t external_dbr_umem_offset);

struct doca_verbs_pd *
doca_verbs_srq_init_attr_get_pd(const struct doca_verbs_srq_init_attr *verbs_srq_init_attr);
uint32_t
doca_verbs_srq_init_attr_get_srq_wr(const struct doca_verbs_srq_init_attr *verbs_srq_init_attr);
uint32_t doca_verbs_srq_init_attr_get_receive_max_sges(
	const struct doca_verbs_srq_init_attr *verbs_srq_init_attr);
enum doca_verbs_srq_type
doca_verbs_srq_init_attr_get_type(const struct doca_verbs_srq_init_attr *verbs_srq_init_attr);
doca_error_t doca_verbs_srq_init_attr_get_external_umem(
	const struct doca_verbs_srq_init_attr *verbs_srq_init_attr,
	struct doca_umem **external_umem, uint64_t *external_umem_offset);

/* A contiguous queue without external data path is DOCA_ERROR_NOT_SUPPORTED. */
doca_error_t doca_verbs_srq_create(struct doca_verbs_context *verbs_context,
				   struct doca_verbs_srq_init_attr *verbs_srq_init_attr,
				   struct doca_verbs_srq **verbs_srq);
doca_error_t doca_verbs_srq_destroy(struct doca_verbs_srq *verbs_srq);

/* The attributes, with the actual sizes */
doca_error_t doca_verbs_srq_query(struct doca_verbs_srq *verbs_srq,
				  struct doca_verbs_srq_init_attr *verbs_srq_init_attr);

uint32_t doca_verbs_srq_get_srqn(const struct doca_verbs_srq *verbs_srq);
void doca_verbs_srq_get_wq(const struct doca_verbs_srq *verbs_srq, void **srq_buf,
			   uint32_t *srq_num_entries, uint32_t *rwqe_size_bytes);
void *doca_verbs_srq_get_dbr_addr(const struct doca_verbs_srq *verbs_srq);

/* ---- Queue pairs: attributes of creation -------------------------------------------------- */

doca_error_t doca_verbs_qp_init_attr_create(struct doca_verbs_qp_init_attr **verbs_qp_init_attr);
doca_error_t doca_verbs_qp_init_attr_destroy(struct doca_verbs_qp_init_attr *verbs_qp_init_attr);

/*
 * The protection domain is required, and a completion queue for each queue that has entries.  The
 * others have the defaults of libxverbs: type RC, sizes and flags 0.  user_index is chosen by the
 * library, so only 0 is supported.  core_direct_master: requests that wait are possible with 0,
 * too, if the adapter supports them.  cqe_inline: short messages come in the completion; the data
 * path of the bridge copies them to the buffers.
 */
doca_error_t doca_verbs_qp_init_attr_set_pd(struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
					    struct doca_verbs_pd *pd);
doca_error_t doca_verbs_qp_init_attr_set_send_cq(struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
						 struct doca_verbs_cq *send_cq);
doca_error_t
doca_verbs_qp_init_attr_set_receive_cq(struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
				       struct doca_verbs_cq *receive_cq);
doca_error_t doca_verbs_qp_init_attr_set_srq(struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
					     struct doca_verbs_srq *srq);
doca_error_t
doca_verbs_qp_init_attr_set_qp_context(struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
				       void *qp_context);
doca_error_t doca_verbs_qp_init_attr_set_qp_type(struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
						 uint32_t qp_type);
doca_error_t
doca_verbs_qp_init_attr_set_sq_sig_all(struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
				       int sq_sig_all);
doca_error_t doca_verbs_qp_init_attr_set_sq_wr(struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
					       uint32_t sq_wr);
doca_error_t doca_verbs_qp_init_attr_set_rq_wr(struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
					       uint32_t rq_wr);
doca_error_t
doca_verbs_qp_init_attr_set_send_max_sges(struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
					  uint32_t send_max_sges);
doca_error_t
doca_verbs_qp_init_attr_set_receive_max_sges(struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
					     uint32_t receive_max_sges);
doca_error_t
doca_verbs_qp_init_attr_set_max_inline_data(struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
					    uint32_t max_inline_data);
doca_error_t
doca_verbs_qp_init_attr_set_user_index(struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
				       uint32_t user_index);
doca_error_t
doca_verbs_qp_init_attr_set_core_direct_master(struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
					       uint8_t core_direct_master);
doca_error_t
doca_verbs_qp_init_attr_set_cqe_inline(struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
				       uint8_t cqe_inline);
doca_error_t
doca_verbs_qp_init_attr_set_send_dbr_mode(struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
					  enum doca_verbs_qp_send_dbr_mode send_dbr_mode);
doca_error_t
doca_verbs_qp_init_attr_set_emulate_no_dbr_ext(struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
					       bool emulate_no_dbr_ext);
doca_error_t doca_verbs_qp_init_attr_set_ordering_semantic(
	struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
	enum doca_verbs_qp_ordering_semantic ordering_semantic);

/*
 * As those of a completion queue, with both UMEMs or none: one for the rings, one for the doorbell
 * record, at an offset that is a multiple of 64.  Both may be the same.
 */
doca_error_t doca_verbs_qp_init_attr_set_external_datapath_en(
	struct doca_verbs_qp_init_attr *verbs_qp_init_attr, uint8_t external_datapath_en);
doca_error_t
doca_verbs_qp_init_attr_set_external_umem(struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
					  struct doca_umem *external_umem,
					  uint64_t external_umem_offset);
doca_error_t
doca_verbs_qp_init_attr_set_external_dbr_umem(struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
					      struct doca_umem *external_dbr_umem,
					      uint64_t external_dbr_umem_offset);
doca_error_t
doca_verbs_qp_init_attr_set_external_uar(struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
					 struct doca_uar *external_uar);

struct doca_verbs_pd *
doca_verbs_qp_init_attr_get_pd(const struct doca_verbs_qp_init_attr *verbs_qp_init_attr);
struct doca_verbs_cq *
doca_verbs_qp_init_attr_get_send_cq(const struct doca_verbs_qp_init_attr *verbs_qp_init_attr);
struct doca_verbs_cq *
doca_verbs_qp_init_attr_get_receive_cq(const struct doca_verbs_qp_init_attr *verbs_qp_init_attr);
struct doca_verbs_srq *
doca_verbs_qp_init_attr_get_srq(const struct doca_verbs_qp_init_attr *verbs_qp_init_attr);
void *
doca_verbs_qp_init_attr_get_qp_context(const struct doca_verbs_qp_init_attr *verbs_qp_init_attr);
uint32_t
doca_verbs_qp_init_attr_get_qp_type(const struct doca_verbs_qp_init_attr *verbs_qp_init_attr);
int doca_verbs_qp_init_attr_get_sq_sig_all(
	const struct doca_verbs_qp_init_attr *verbs_qp_init_attr);
uint32_t
doca_verbs_qp_init_attr_get_sq_wr(const struct doca_verbs_qp_init_attr *verbs_qp_init_attr);
uint32_t
doca_verbs_qp_init_attr_get_rq_wr(const struct doca_verbs_qp_init_attr *verbs_qp_init_attr);
uint32_t
doca_verbs_qp_init_attr_get_send_max_sges(const struct doca_verbs_qp_init_attr *verbs_qp_init_attr);
uint32_t doca_verbs_qp_init_attr_get_receive_max_sges(
	const struct doca_verbs_qp_init_attr *verbs_qp_init_attr);
uint32_t doca_verbs_qp_init_attr_get_max_inline_data(
	const struct doca_verbs_qp_init_attr *verbs_qp_init_attr);
uint32_t
doca_verbs_qp_init_attr_get_user_index(const struct doca_verbs_qp_init_attr *verbs_qp_init_attr);
uint8_t doca_verbs_qp_init_attr_get_core_direct_master(
	const struct doca_verbs_qp_init_attr *verbs_qp_init_attr);
uint8_t
doca_verbs_qp_init_attr_get_cqe_inline(const struct doca_verbs_qp_init_attr *verbs_qp_init_attr);
enum doca_verbs_qp_send_dbr_mode
doca_verbs_qp_init_attr_get_send_dbr_mode(const struct doca_verbs_qp_init_attr *verbs_qp_init_attr);
bool doca_verbs_qp_init_attr_get_emulate_no_dbr_ext(
	const struct doca_verbs_qp_init_attr *verbs_qp_init_attr);
enum doca_verbs_qp_ordering_semantic doca_verbs_qp_init_attr_get_ordering_semantic(
	const struct doca_verbs_qp_init_attr *verbs_qp_init_attr);
uint8_t doca_verbs_qp_init_attr_get_external_datapath_en(
	const struct doca_verbs_qp_init_attr *verbs_qp_init_attr);
doca_error_t
doca_verbs_qp_init_attr_get_external_umem(const struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
					  struct doca_umem **external_umem,
					  uint64_t *external_umem_offset);
doca_error_t doca_verbs_qp_init_attr_get_external_dbr_umem(
	const struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
	struct doca_umem **external_dbr_umem, uint64_t *external_dbr_umem_offset);
doca_error_t
doca_verbs_qp_init_attr_get_external_uar(const struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
					 struct doca_uar **external_uar);

/* ---- Queue pairs: attributes of their state ----------------------------------------------- */

doca_error_t doca_verbs_qp_attr_create(struct doca_verbs_qp_attr **verbs_qp_attr);
doca_error_t doca_verbs_qp_attr_destroy(struct doca_verbs_qp_attr *verbs_qp_attr);

/* Units and values are those of libibverbs, except for the enumerations.  ah_attr is copied. */
doca_error_t doca_verbs_qp_attr_set_next_state(struct doca_verbs_qp_attr *verbs_qp_attr,
					       enum doca_verbs_qp_state next_state);
doca_error_t doca_verbs_qp_attr_set_current_state(struct doca_verbs_qp_attr *verbs_qp_attr,
						  enum doca_verbs_qp_state current_state);
doca_error_t doca_verbs_qp_attr_set_path_mtu(struct doca_verbs_qp_attr *verbs_qp_attr,
					     enum doca_mtu_size path_mtu);
doca_error_t doca_verbs_qp_attr_set_rq_psn(struct doca_verbs_qp_attr *verbs_qp_attr,
					   uint32_t rq_psn);
doca_error_t doca_verbs_qp_attr_set_sq_psn(struct doca_verbs_qp_attr *verbs_qp_attr,
					   uint32_t sq_psn);
doca_error_t doca_verbs_qp_attr_set_dest_qp_num(struct doca_verbs_qp_attr *verbs_qp_attr,
						uint32_t dest_qp_num);
doca_error_t doca_verbs_qp_attr_set_allow_remote_write(struct doca_verbs_qp_attr *verbs_qp_attr,
						       int allow_remote_write);
doca_error_t doca_verbs_qp_attr_set_allow_remote_read(struct doca_verbs_qp_attr *verbs_qp_attr,
						      int allow_remote_read);
doca_error_t doca_verbs_qp_attr_set_atomic_mode(struct doca_verbs_qp_attr *verbs_qp_attr,
						enum doca_verbs_qp_atomic_mode atomic_mode);
doca_error_t doca_verbs_qp_attr_set_ah_attr(struct doca_verbs_qp_attr *verbs_qp_attr,
					    struct doca_verbs_ah_attr *ah_attr);
doca_error_t doca_verbs_qp_attr_set_pkey_index(struct doca_verbs_qp_attr *verbs_qp_attr,
					       uint16_t pkey_index);
doca_error_t doca_verbs_qp_attr_set_port_num(struct doca_verbs_qp_attr *verbs_qp_attr,
					     uint16_t port_num);
doca_error_t doca_verbs_qp_attr_set_ack_timeout(struct doca_verbs_qp_attr *verbs_qp_attr,
						uint16_t ack_timeout);
doca_error_t doca_verbs_qp_attr_set_retry_cnt(struct doca_verbs_qp_attr *verbs_qp_attr,
					      uint16_t retry_cnt);
doca_error_t doca_verbs_qp_attr_set_rnr_retry(struct doca_verbs_qp_attr *verbs_qp_attr,
					      uint16_t rnr_retry);
doca_error_t doca_verbs_qp_attr_set_min_rnr_timer(struct doca_verbs_qp_attr *verbs_qp_attr,
						  uint16_t min_rnr_timer);
doca_error_t doca_verbs_qp_attr_set_max_rd_atomic(struct doca_verbs_qp_attr *verbs_qp_attr,
						  uint8_t max_rd_atomic);
doca_error_t doca_verbs_qp_attr_set_max_dest_rd_atomic(struct doca_verbs_qp_attr *verbs_qp_attr,
						       uint8_t max_dest_rd_atomic);

/* The address belongs to the attribute object. */
enum doca_verbs_qp_state
doca_verbs_qp_attr_get_next_state(const struct doca_verbs_qp_attr *verbs_qp_attr);
enum doca_verbs_qp_state
doca_verbs_qp_attr_get_current_state(const struct doca_verbs_qp_attr *verbs_qp_attr);
enum doca_mtu_size
doca_verbs_qp_attr_get_path_mtu(const struct doca_verbs_qp_attr *verbs_qp_attr);
uint32_t doca_verbs_qp_attr_get_rq_psn(const struct doca_verbs_qp_attr *verbs_qp_attr);
uint32_t doca_verbs_qp_attr_get_sq_psn(const struct doca_verbs_qp_attr *verbs_qp_attr);
uint32_t doca_verbs_qp_attr_get_dest_qp_num(const struct doca_verbs_qp_attr *verbs_qp_attr);
int doca_verbs_qp_attr_get_allow_remote_write(const struct doca_verbs_qp_attr *verbs_qp_attr);
int doca_verbs_qp_attr_get_allow_remote_read(const struct doca_verbs_qp_attr *verbs_qp_attr);
enum doca_verbs_qp_atomic_mode
doca_verbs_qp_attr_get_atomic_mode(const struct doca_verbs_qp_attr *verbs_qp_attr);
struct doca_verbs_ah_attr *
doca_verbs_qp_attr_get_ah_attr(const struct doca_verbs_qp_attr *verbs_qp_attr);
uint16_t doca_verbs_qp_attr_get_pkey_index(const struct doca_verbs_qp_attr *verbs_qp_attr);
uint16_t doca_verbs_qp_attr_get_port_num(const struct doca_verbs_qp_attr *verbs_qp_attr);
uint16_t doca_verbs_qp_attr_get_ack_timeout(const struct doca_verbs_qp_attr *verbs_qp_attr);
uint16_t doca_verbs_qp_attr_get_retry_cnt(const struct doca_verbs_qp_attr *verbs_qp_attr);
uint16_t doca_verbs_qp_attr_get_rnr_retry(const struct doca_verbs_qp_attr *verbs_qp_attr);
uint16_t doca_verbs_qp_attr_get_min_rnr_timer(const struct doca_verbs_qp_attr *verbs_qp_attr);
uint8_t doca_verbs_qp_attr_get_max_rd_atomic(const struct doca_verbs_qp_attr *verbs_qp_attr);
uint8_t doca_verbs_qp_attr_get_max_dest_rd_atomic(const struct doca_verbs_qp_attr *verbs_qp_attr);

/* ---- Queue pairs -------------------------------------------------------------------------- */

/* The protection domain must belong to the context. */
doca_error_t doca_verbs_qp_create(struct doca_verbs_context *verbs_context,
				  struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
				  struct doca_verbs_qp **verbs_qp);
doca_error_t doca_verbs_qp_destroy(struct doca_verbs_qp *verbs_qp);

/*
 * Modifies what attr_mask names.  The masks of RST to INIT, INIT to RTR and RTR to RTS need not
 * name the partition key index, the access rights, the number of reads and atomics in flight, and
 * the timer of the receiver: then they are 0, what they were, the greatest that the device has, and
 * 0. DOCA_ERROR_INVALID_VALUE: the transition is impossible, or lacks or does not know an
 * attribute.  After an error nothing is modified.
 */
doca_error_t doca_verbs_qp_modify(struct doca_verbs_qp *verbs_qp,
				  struct doca_verbs_qp_attr *verbs_qp_attr, int attr_mask);

/* Stores all attributes, with the actual sizes, and the bits of all in *attr_mask. */
doca_error_t doca_verbs_qp_query(struct doca_verbs_qp *verbs_qp,
				 struct doca_verbs_qp_attr *verbs_qp_attr,
				 struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
				 int *attr_mask);

uint32_t doca_verbs_qp_get_qpn(const struct doca_verbs_qp *verbs_qp);

/*
 * Addresses and sizes for an external data path.  A send queue has entries of 64 bytes.  The
 * doorbell record has two numbers of 32 bits: that of the receive queue, and that of the send
 * queue.
 */
void doca_verbs_qp_get_wq(const struct doca_verbs_qp *verbs_qp, void **sq_buf,
			  uint32_t *sq_num_entries, void **rq_buf, uint32_t *rq_num_entries,
			  uint32_t *rwqe_size_bytes);
void *doca_verbs_qp_get_dbr_addr(const struct doca_verbs_qp *verbs_qp);
void *doca_verbs_qp_get_uar_addr(const struct doca_verbs_qp *verbs_qp);
enum doca_verbs_qp_send_dbr_mode
doca_verbs_qp_get_send_dbr_mode(const struct doca_verbs_qp *verbs_qp);
bool doca_verbs_qp_get_emulate_no_dbr_ext(const struct doca_verbs_qp *verbs_qp);

/* ---- Asynchronous events ------------------------------------------------------------------ */

/* event_type: the values of enum ibv_event_type, which say what member of element is valid */
struct doca_verbs_async_event {
	union {
		struct doca_verbs_cq *cq;
		struct doca_verbs_qp *qp;
		struct doca_verbs_srq *srq;
		int port_num;
	} element;
	int event_type;
};

/* The file descriptor, which is readable if an event is pending; it belongs to the context */
doca_event_handle_t doca_verbs_context_get_handle(struct doca_verbs_context *verbs_context);

/*
 * The next event; sleeps as doca_verbs_get_cq_event().  Each event must be acknowledged; destroying
 * its object waits for that.  On a context that was imported, events of objects of others are
 * dropped.
 */
doca_error_t doca_verbs_get_async_event(struct doca_verbs_context *verbs_context,
					struct doca_verbs_async_event *async_event);
void doca_verbs_ack_async_event(struct doca_verbs_async_event *async_event);

/* ---- Names of the open header of gpunetio ------------------------------------------------- */

#define DOCA_VERBS_GID_BYTE_LENGTH	DOCA_GID_BYTE_LENGTH
#define DOCA_VERBS_DMABUF_INVALID_FD	0xffffffff

struct ibv_pd;

/* doca_rdma_bridge_open_dev_from_pd(), doca_dev_close() */
doca_error_t doca_verbs_dev_open(struct ibv_pd *verbs_pd, struct doca_dev **dev);
doca_error_t doca_verbs_dev_close(struct doca_dev *dev);

/*
 * doca_umem_create(), or the part of the dma-buf dmabuf_id that begins at dmabuf_offset if that is
 * not DOCA_VERBS_DMABUF_INVALID_FD.  Then address may be one that only a GPU knows.  gpu is not
 * used.
 */
doca_error_t doca_verbs_umem_create(struct doca_dev *dev, struct doca_gpu *gpu, void *address,
				    size_t size, uint32_t access_flags, int dmabuf_id,
				    size_t dmabuf_offset, struct doca_umem **umem);
doca_error_t doca_verbs_umem_destroy(struct doca_umem *umem);
doca_error_t doca_verbs_umem_get_id(const struct doca_umem *umem, uint32_t *umem_id);
doca_error_t doca_verbs_umem_get_size(const struct doca_umem *umem, size_t *umem_size);
doca_error_t doca_verbs_umem_get_address(const struct doca_umem *umem, void **umem_address);

/* The functions of doca_uar.h */
doca_error_t doca_verbs_uar_create(struct doca_dev *dev,
				   enum doca_uar_allocation_type allocation_type,
				   struct doca_uar **uar);
doca_error_t doca_verbs_uar_destroy(struct doca_uar *uar);
doca_error_t doca_verbs_uar_id_get(const struct doca_uar *uar, uint32_t *id);
doca_error_t doca_verbs_uar_reg_addr_get(const struct doca_uar *uar, void **reg_addr);
doca_error_t doca_verbs_uar_dbr_less_addr_get(const struct doca_uar *uar, void **dbr_less_addr);

/* doca_verbs_qp_init_attr_set_external_dbr_umem() */
doca_error_t
doca_verbs_qp_init_attr_set_external_umem_dbr(struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
					      struct doca_umem *external_dbr_umem,
					      uint64_t external_dbr_umem_offset);

#ifdef __cplusplus
}
#endif

#endif
