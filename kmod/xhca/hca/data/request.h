/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests: what is copied out of the rings, and the buffers of the one that is executed.
 */
#ifndef _HCA_REQUEST_H
#define _HCA_REQUEST_H

#include "base/objects.h"

/* The result of a request: 0, a completion syndrome, or one of these */
enum hca_result {
	HCA_DONE = 0,
	/* MLX5R_SYND_* are the values between. */
	HCA_AGAIN = 0x100,		/* the message continues in the next turn */
	HCA_RNR,			/* receiver not ready */
	HCA_LOST,			/* no peer answered */
	HCA_POSTED,			/* on the wire: it completes later */
};

struct hca_sge {
	u64 addr;
	u64 len;
	u32 lkey;
	const void *data;		/* the bytes themselves (inline data), or NULL */
};

/* Who uses a key: the PD and QP number that the key must belong to, and the access */
struct hca_key_user {
	struct hca *hca;
	u32 pd, qpn;
	u8 access;
};

/* The calculation of a request (calc.c), and the part of its result that is ready */
struct hca_calc {
	u8 opmod;			/* MLX5R_CALC_* */
	u8 op, type;			/* of vectors: MLX5R_VECTOR_* */
	bool little;			/* little-endian numbers */
	u32 count;			/* operands */
	u32 size;			/* bytes of an operand and of the result */
	u32 nsge;
	struct hca_sge sge[HCA_MAX_SGE];	/* operands one after another; or all vectors */
	u64 at;				/* offset of the part */
	u32 ready;			/* its bytes */
	struct hca_calc_progress *progress;
	bool again;			/* the part continues in the next turn */
};

/* A list of segments and a position in it */
struct hca_sgl {
	struct hca_key_user user;
	struct hca_calc *calc;		/* data segments are the result of this, or NULL */
	const struct hca_sge *sge;
	u32 n, i;
	u64 off;
};

/* The condition of WAIT for data or time */
struct hca_wait_data {
	u8 op;				/* MLX5R_WAIT_ALWAYS... */
	bool invert;
	u8 fail;			/* MLX5R_WAIT_RETRY or MLX5R_WAIT_ERROR */
	u32 lkey;
	u64 addr, value, mask;
};

/*
 * A send request, copied out of its ring.  The ring is not read again, so software may
 * overwrite it at any time.
 */
struct hca_wqe {
	u8 opcode, opmod, fm_ce_se;
	u8 ds, nbb;
	u16 index;
	u32 imm;			/* value of the WQE field, host order */
	const struct mlx5r_av *av;
	bool av_ext;
	u32 xrc_srqn;
	u64 raddr;
	u32 rkey;
	const u8 *args;			/* atomics: the arguments, as in the format */
	u32 operand;			/* atomics: bytes */
	u32 object, object_index;	/* WAIT for a CQ, ENABLE: number and index */
	struct hca_wait_data wait;	/* WAIT for data or time */
	const void *body;		/* UMR: what follows the control segment */
	u32 body_len;
	u64 length;			/* of the message */
	u32 packets;			/* that the message takes, on connected transports */
	u32 nsge;
	struct hca_sge sge[HCA_MAX_SGE];
	bool has_calc;
	struct hca_calc calc;
	struct hca_sge rsge;		/* the remote address as a segment */
	u8 in_cqe;			/* MLX5R_CQE_INLINE_*: the data is in cqe_data */
	u8 cqe_data[HCA_CQE_INLINE];
	struct hca_sge cqe_sge;		/* cqe_data as a segment */
	union {
		struct mlx5r_ctrl ctrl;
		u8 raw[MLX5R_MAX_WQEBB * MLX5R_WQEBB];
	};
};

static inline bool hca_wqe_is_xchan(const struct hca_wqe *w)
{
	return w->opcode >= MLX5R_OP_WAIT &&
	       (w->opcode == MLX5R_OP_WAIT || w->opcode == MLX5R_OP_SEND_ENABLE ||
		w->opcode == MLX5R_OP_RECV_ENABLE);
}

/* Bytes of the arguments of an atomic request */
static inline u32 hca_wqe_arg_bytes(const struct hca_wqe *w)
{
	return (w->opcode == MLX5R_OP_ATOMIC_MASKED_CS ? 4 : 2) * w->operand;
}

static inline bool hca_wqe_flags_signalled(u8 fm_ce_se)
{
	return (fm_ce_se & MLX5R_CE_MASK) >= MLX5R_CE_ALWAYS;
}

static inline bool hca_wqe_signalled(const struct hca_wqe *w)
{
	return hca_wqe_flags_signalled(w->fm_ce_se);
}

/* A WAIT for the entry @index of a CQ */
struct hca_wqe_wait {
	u32 cqn, index;
	u8 nbb;				/* basic blocks of the request */
	bool signalled;
};

/* A receive request */
struct hca_rwqe {
	u32 index;			/* for the CQE's wqe_counter */
	u64 length;			/* room in all segments */
	u32 nsge;
	struct hca_sge sge[HCA_MAX_SGE];
};

#define HCA_UMR_CHUNK	256	/* bytes of a translation list read at once; each may be a piece */
#define HCA_CALC_BYTES	4096	/* room for operands */
#define HCA_CALC_MESSAGE (1u << 31)	/* bytes of the operands of CORE-Direct */
#define HCA_CALC_VECTORS	255	/* of a calculation: max_vec_count has 8 bits */
#define HCA_UD_MTU	4096
#define HCA_GRH_BYTES	40	/* of network header before the data of a datagram */

/* A datagram that takes several turns (ud_long.c) */
struct hca_long_datagram {
	struct hca_qp *src;		/* NULL: there is none */
	struct hca_qp *dst;		/* the receiver that has got a part, or NULL */
	u32 gathered, scattered;	/* bytes */
	u8 bytes[HCA_GRH_BYTES + HCA_UD_MTU];
};

/* Buffers of the request that is executed; only one is executed at a time. */
struct hca_scratch {
	struct hca_long_datagram long_datagram;
	struct hca_wqe wqe;
	struct hca_rwqe rwqe;
	u8 umr[HCA_UMR_CHUNK] __aligned(8);
	u8 calc[HCA_CALC_BYTES] __aligned(8);
	u8 datagram[HCA_GRH_BYTES + HCA_UD_MTU];
	u8 answer[HCA_GRH_BYTES + 256];	/* of the subnet manager */
	u8 sink[HCA_PAGE_SIZE] __aligned(8);	/* what is written with a null mkey */
};

#endif
