/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Structures of work requests and completions.  Names, values and meaning are
 * those of ibverbs.
 */
#ifndef XVERBS_DP_WR_H
#define XVERBS_DP_WR_H

#include <stdint.h>

/* Error numbers of the data path, equal to ENOMEM and EINVAL of errno.h */
#define XV_ENOMEM	12
#define XV_EINVAL	22

enum xv_wr_opcode {
	XV_WR_RDMA_WRITE,
	XV_WR_RDMA_WRITE_WITH_IMM,
	XV_WR_SEND,
	XV_WR_SEND_WITH_IMM,
	XV_WR_RDMA_READ,
	XV_WR_ATOMIC_CMP_AND_SWP,
	XV_WR_ATOMIC_FETCH_AND_ADD,
	XV_WR_LOCAL_INV,
	XV_WR_BIND_MW,
	XV_WR_SEND_WITH_INV,

	/* The first five have the values of ibv_exp_wr_opcode. */
	XV_WR_SEND_ENABLE		= 0x60,
	XV_WR_RECV_ENABLE,
	XV_WR_CQE_WAIT,
	XV_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP,
	XV_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD,
	XV_WR_UMR_FILL			= 0x66,
	XV_WR_UMR_INVALIDATE,
	XV_WR_WAIT_CQ_PI		= 0x70,
	XV_WR_WAIT_DATA,
	XV_WR_WAIT_TIME,
};

enum xv_send_flags {
	XV_SEND_FENCE		= 1 << 0,
	XV_SEND_SIGNALED	= 1 << 1,
	XV_SEND_SOLICITED	= 1 << 2,
	XV_SEND_INLINE		= 1 << 3,
	XV_SEND_WITH_CALC	= 1 << 5,
	XV_SEND_WAIT_EN_LAST	= 1 << 6,
	XV_SEND_WITH_VECTOR_CALC = 1 << 7,
	XV_SEND_EXT_ATOMIC_INLINE = 1 << 8,	/* the arguments are in the request */
};

enum xv_wc_status {
	XV_WC_SUCCESS,
	XV_WC_LOC_LEN_ERR,
	XV_WC_LOC_QP_OP_ERR,
	XV_WC_LOC_EEC_OP_ERR,
	XV_WC_LOC_PROT_ERR,
	XV_WC_WR_FLUSH_ERR,
	XV_WC_MW_BIND_ERR,
	XV_WC_BAD_RESP_ERR,
	XV_WC_LOC_ACCESS_ERR,
	XV_WC_REM_INV_REQ_ERR,
	XV_WC_REM_ACCESS_ERR,
	XV_WC_REM_OP_ERR,
	XV_WC_RETRY_EXC_ERR,
	XV_WC_RNR_RETRY_EXC_ERR,
	XV_WC_LOC_RDD_VIOL_ERR,
	XV_WC_REM_INV_RD_REQ_ERR,
	XV_WC_REM_ABORT_ERR,
	XV_WC_INV_EECN_ERR,
	XV_WC_INV_EEC_STATE_ERR,
	XV_WC_FATAL_ERR,
	XV_WC_RESP_TIMEOUT_ERR,
	XV_WC_GENERAL_ERR,
};

enum xv_wc_opcode {
	XV_WC_SEND,
	XV_WC_RDMA_WRITE,
	XV_WC_RDMA_READ,
	XV_WC_COMP_SWAP,
	XV_WC_FETCH_ADD,
	XV_WC_BIND_MW,
	XV_WC_LOCAL_INV,
	XV_WC_MASKED_COMP_SWAP		= 9,		/* values of ibv_exp_wc_opcode */
	XV_WC_MASKED_FETCH_ADD,
	XV_WC_RECV			= 1 << 7,	/* bit set in all receive opcodes */
	XV_WC_RECV_RDMA_WITH_IMM,
	XV_WC_DRIVER1			= 135,		/* wait, enable and UMR requests */
	XV_WC_DRIVER2			= 136,		/* xv_wr_raw() */
};

enum xv_wc_flags {
	XV_WC_GRH	= 1 << 0,
	XV_WC_WITH_IMM	= 1 << 1,
	XV_WC_WITH_INV	= 1 << 3,
};

struct xv_sge {
	uint64_t addr;
	uint32_t length;
	uint32_t lkey;
};

/* Calculation; names and values are those of ibv_exp_calc_* */
enum xv_calc_op {
	XV_CALC_OP_ADD,
	XV_CALC_OP_MAXLOC,
	XV_CALC_OP_BAND,
	XV_CALC_OP_BXOR,
	XV_CALC_OP_BOR,
};

enum xv_calc_data_type {
	XV_CALC_DATA_TYPE_INT,
	XV_CALC_DATA_TYPE_UINT,
	XV_CALC_DATA_TYPE_FLOAT,
};

enum xv_calc_data_size {
	XV_CALC_DATA_SIZE_64_BIT,
};

struct xv_calc {
	enum xv_calc_op calc_op;
	enum xv_calc_data_type data_type;
	enum xv_calc_data_size data_size;
};

/* One operand, and the result; both members big-endian */
struct xv_calc_operand {
	uint64_t value;
	uint64_t location;		/* XV_CALC_OP_MAXLOC */
};

enum xv_vector_op {
	XV_VECTOR_ADD = 1,
	XV_VECTOR_MAX,
	XV_VECTOR_AND,
	XV_VECTOR_OR,
	XV_VECTOR_XOR,
	XV_VECTOR_MIN,
};

enum xv_vector_type {
	XV_VECTOR_INT32,
	XV_VECTOR_UINT32,
	XV_VECTOR_FLOAT32,
	XV_VECTOR_INT64		= 4,
	XV_VECTOR_UINT64,
	XV_VECTOR_FLOAT64,
};

struct xv_vector_calc {
	enum xv_vector_op op;
	enum xv_vector_type type;
	uint32_t chunk;			/* bytes: 64, 128 ... 8192 */
	uint16_t count;			/* vectors, back to back in memory */
	uint16_t little_endian;		/* 0: the elements are big-endian */
};

/* When a wait ends: "value CONDITION memory", or "value CONDITION time" */
enum xv_wait_condition {
	XV_WAIT_ALWAYS,
	XV_WAIT_EQUAL,
	XV_WAIT_BIGGER,
	XV_WAIT_SMALLER,
	XV_WAIT_CYCLIC_BIGGER,
	XV_WAIT_CYCLIC_SMALLER,
	XV_WAIT_INVERT		= 1 << 4,	/* bit: the condition must be false */
	XV_WAIT_OR_FAIL		= 1 << 5,	/* bit: an error, if not met at once */
};

struct xv_wait_data {
	uint64_t addr;			/* of 8 bytes, aligned, read as a big-endian number */
	uint32_t lkey;
	uint32_t condition;		/* enum xv_wait_condition */
	uint64_t value;
	uint64_t mask;			/* bits of both that are compared */
};

/*
 * Arguments of masked atomics, as ibv_exp_cmp_swap and ibv_exp_fetch_add.  Up to 8 bytes they
 * are values; above, addresses of arrays of 64-bit numbers.  Host byte order.
 */
struct xv_cmp_swap {
	uint64_t compare_mask;
	uint64_t compare_val;
	uint64_t swap_val;
	uint64_t swap_mask;
};

struct xv_fetch_add {
	uint64_t add_val;
	uint64_t field_boundary;
};

struct xv_ah;
struct xv_cq;
struct xv_mkey;
struct xv_mw;
struct xv_mr;
struct xv_qp;

/* The DC target of a request; names are those of ibv_exp_send_wr.dc */
struct xv_dc {
	struct xv_ah *ah;
	uint64_t dct_access_key;
	uint32_t dct_number;
};

struct xv_mw_bind_info {
	struct xv_mr *mr;
	uint64_t addr;
	uint64_t length;
	uint32_t mw_access_flags;
};

/* Argument of xv_bind_mw() */
struct xv_mw_bind {
	uint64_t wr_id;
	unsigned int send_flags;
	struct xv_mw_bind_info bind_info;
};

/* A part of a repeating block: byte_count bytes at addr, at addr + stride, ... */
struct xv_repeat_block {
	uint64_t addr;
	uint32_t lkey;
	uint32_t byte_count;		/* less than 64 KiB, like stride */
	uint32_t stride;
};

/*
 * What an indirect key contains: the regions one after another; or, if blocks is not null, the
 * parts of the block one after another, repeat_count times.
 */
struct xv_umr {
	const struct xv_mkey *mkey;
	uint64_t base_addr;		/* address of its first byte */
	uint32_t access;		/* enum xv_access_flags */
	uint32_t num;			/* regions or blocks */
	const struct xv_sge *regions;
	const struct xv_repeat_block *blocks;
	uint32_t repeat_count;
	uint32_t list_lkey;
	uint64_t list_addr;		/* of the list in requests that use list_lkey */
	void *list;			/* registered, for the entries; null: in the request */
};

struct xv_send_wr {
	uint64_t wr_id;
	struct xv_send_wr *next;
	struct xv_sge *sg_list;
	int num_sge;
	enum xv_wr_opcode opcode;
	unsigned int send_flags;
	__extension__ union {
		uint32_t imm_data;		/* network byte order */
		uint32_t invalidate_rkey;
	};
	union {
		struct {
			uint64_t remote_addr;
			uint32_t rkey;
		} rdma;
		struct {
			uint64_t remote_addr;
			uint64_t compare_add;
			uint64_t swap;
			uint32_t rkey;
		} atomic;
		struct {
			uint64_t remote_addr;
			uint32_t rkey;
			uint32_t log_arg_sz;	/* bytes of the operand; arguments: op */
		} masked_atomics;
		struct {
			struct xv_ah *ah;
			uint32_t remote_qpn;
			uint32_t remote_qkey;
		} ud;
		struct {
			struct xv_cq *cq;
			int32_t cq_count;
		} cqe_wait;
		struct {
			struct xv_qp *qp;
			int32_t wqe_count;	/* 0: all that are posted */
		} wqe_enable;
		struct {
			struct xv_cq *cq;
			uint32_t index;
		} wait_cq_pi;
		struct xv_wait_data wait_data;
		struct {
			uint64_t time;
		} wait_time;
	} wr;
	union {
		struct {
			uint32_t remote_srqn;
		} xrc;
	} qp_type;
	__extension__ union {
		struct {
			struct xv_mw *mw;
			uint32_t rkey;
			struct xv_mw_bind_info bind_info;
		} bind_mw;
		const struct xv_umr *umr;
		union {
			struct xv_calc calc;
			struct xv_vector_calc vector_calc;
			struct xv_cmp_swap cmp_swap;
			struct xv_fetch_add fetch_add;
		} op;
	};
	struct xv_dc dc;			/* DCI */
};

struct xv_recv_wr {
	uint64_t wr_id;
	struct xv_recv_wr *next;
	struct xv_sge *sg_list;
	int num_sge;
};

struct xv_wc {
	uint64_t wr_id;
	enum xv_wc_status status;
	enum xv_wc_opcode opcode;	/* valid if status is XV_WC_SUCCESS */
	uint32_t vendor_err;
	uint32_t byte_len;
	__extension__ union {
		uint32_t imm_data;		/* network byte order */
		uint32_t invalidated_rkey;
	};
	uint32_t qp_num;
	uint32_t src_qp;
	unsigned int wc_flags;
	uint16_t pkey_index;
	uint16_t slid;
	uint8_t sl;
	uint8_t dlid_path_bits;
};

#endif
