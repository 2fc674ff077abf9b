/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * Queue formats of ConnectX adapters: work queue entries, completion queue
 * entries, doorbell records and the doorbell page.
 *
 * libxverbs, xverbs.ko and xhca.ko share this definition.  Names follow the PRM
 * (programmer's reference manual).  Values are those of
 * linux/mlx5/{qp,cq,device,doorbell}.h and of infiniband/mlx5dv.h, and are compared
 * with them at compile time.
 *
 * All multi-byte fields are big-endian.  The header needs only fixed-width types, so
 * that compilers for devices can include it.
 */
#ifndef _UAPI_RDMA_MLX5_RING_H
#define _UAPI_RDMA_MLX5_RING_H

#ifdef __KERNEL__
#include <linux/types.h>
typedef __be16 mlx5r_be16;
typedef __be32 mlx5r_be32;
typedef __be64 mlx5r_be64;
typedef __u8 mlx5r_u8;
#else
#include <stdint.h>
typedef uint16_t mlx5r_be16;
typedef uint32_t mlx5r_be32;
typedef uint64_t mlx5r_be64;
typedef uint8_t mlx5r_u8;
#endif

/* ---- Send work queue -------------------------------------------------- */

#define MLX5R_WQEBB		64	/* bytes in a WQE basic block */
#define MLX5R_DS		16	/* bytes in a data-segment unit */
#define MLX5R_MAX_DS		63	/* maximum of the ds field, which has six bits */
#define MLX5R_MAX_WQEBB		16	/* MLX5R_MAX_DS in WQEBBs, rounded up */

enum mlx5r_opcode {
	MLX5R_OP_NOP			= 0x00,
	MLX5R_OP_SEND_INVAL		= 0x01,
	MLX5R_OP_RDMA_WRITE		= 0x08,
	MLX5R_OP_RDMA_WRITE_IMM		= 0x09,
	MLX5R_OP_SEND			= 0x0a,
	MLX5R_OP_SEND_IMM		= 0x0b,
	MLX5R_OP_LSO			= 0x0e,
	MLX5R_OP_WAIT			= 0x0f,
	MLX5R_OP_RDMA_READ		= 0x10,
	MLX5R_OP_ATOMIC_CS		= 0x11,
	MLX5R_OP_ATOMIC_FA		= 0x12,
	MLX5R_OP_ATOMIC_MASKED_CS	= 0x14,
	MLX5R_OP_ATOMIC_MASKED_FA	= 0x15,
	MLX5R_OP_RECV_ENABLE		= 0x16,
	MLX5R_OP_SEND_ENABLE		= 0x17,
	MLX5R_OP_LOCAL_INVAL		= 0x1b,
	MLX5R_OP_UMR			= 0x25,
};

#define MLX5R_CTRL_OPMOD_SHIFT	24

/* opmod of WAIT */
enum mlx5r_wait_opmod {
	MLX5R_WAIT_CQ			= 0,	/* for an entry of a CQ: struct mlx5r_wait */
	MLX5R_WAIT_DATA			= 1,	/* for a value in memory: struct mlx5r_wait_data */
	MLX5R_WAIT_TIME			= 2,	/* for a time: struct mlx5r_wait_data */
};

/*
 * opmod of SEND, RDMA_WRITE (with and without immediate) and RDMA_READ with calculation.
 * 1 to 6: the data segments hold structures mlx5r_calc_operand one after another, the message is
 * their result.
 */
enum mlx5r_calc_opmod {
	MLX5R_CALC_ADD			= 1,	/* 64-bit integers, the sum wraps */
	MLX5R_CALC_ADD_DOUBLE		= 2,
	MLX5R_CALC_MAXLOC		= 3,	/* greatest unsigned value and its location */
	MLX5R_CALC_AND			= 4,
	MLX5R_CALC_OR			= 5,
	MLX5R_CALC_XOR			= 6,
	MLX5R_CALC_VECTOR		= 0xff,	/* struct mlx5r_vector_calc */
};

/* ctrl.fm_ce_se */
#define MLX5R_CE_ON_ERROR	(0 << 2)	/* CQE only if the WQE fails */
#define MLX5R_CE_ALWAYS		(2 << 2)
#define MLX5R_CE_MASK		(3 << 2)
#define MLX5R_SOLICITED		(1 << 1)
#define MLX5R_FM_NONE		(0 << 5)
#define MLX5R_FM_SMALL		(1 << 5)	/* after UMR, bind, invalidate */
#define MLX5R_FM_FENCE		(2 << 5)	/* after READ and atomics */
#define MLX5R_FM_STRONG		(3 << 5)
#define MLX5R_FM_SMALL_FENCE	(4 << 5)	/* small fence and fence */
#define MLX5R_FM_MASK		(7 << 5)

struct mlx5r_ctrl {
	mlx5r_be32 opmod_idx_opcode;	/* 31:24 opmod, 23:8 WQEBB index, 7:0 opcode */
	mlx5r_be32 qpn_ds;		/* 31:8 QPN, 5:0 length in DS */
	mlx5r_u8 signature;
	mlx5r_u8 dci_stream[2];
	mlx5r_u8 fm_ce_se;
	mlx5r_be32 imm;			/* immediate, rkey to invalidate, or mkey of UMR */
};

struct mlx5r_raddr {
	mlx5r_be64 addr;
	mlx5r_be32 rkey;
	mlx5r_be32 reserved_at_60;
};

struct mlx5r_atomic {
	mlx5r_be64 swap_add;
	mlx5r_be64 compare;
};

/*
 * opmod of ATOMIC_MASKED_CS and ATOMIC_MASKED_FA: MLX5R_ATOMIC_EXT | log2(operand bytes / 4).
 *
 * The arguments follow raddr, padded to MLX5R_DS: fields as long as the operand, in the order of
 * the structures below.  A longer field is an array of 64-bit numbers in the order of memory.
 */
#define MLX5R_ATOMIC_EXT	8
#define MLX5R_ATOMIC_LOG_MASK	7
#define MLX5R_ATOMIC_POINTER	7	/* instead of log2: the arguments are in memory */
#define MLX5R_ATOMIC_MIN	4u	/* operand bytes */
#define MLX5R_ATOMIC_MAX	256u

/*
 * ATOMIC_MASKED_CS: if memory and compare are equal in the bits of compare_mask, the bits of
 * swap_mask are replaced by those of swap.
 */
struct mlx5r_masked_cs4 {
	mlx5r_be32 swap;
	mlx5r_be32 compare;
	mlx5r_be32 swap_mask;
	mlx5r_be32 compare_mask;
};

struct mlx5r_masked_cs8 {
	mlx5r_be64 swap;
	mlx5r_be64 compare;
	mlx5r_be64 swap_mask;
	mlx5r_be64 compare_mask;
};

/* ATOMIC_MASKED_FA: no carry leaves a bit that is set in boundary, or bit 63. */
struct mlx5r_masked_fa4 {
	mlx5r_be32 add;
	mlx5r_be32 boundary;
	mlx5r_u8 reserved_at_40[8];
};

struct mlx5r_masked_fa8 {
	mlx5r_be64 add;
	mlx5r_be64 boundary;
};

struct mlx5r_xrc {
	mlx5r_be32 srqn;
	mlx5r_u8 reserved_at_20[12];
};

/* Pointer segment.  If bit 31 of byte_count is set, it is a struct mlx5r_inline. */
struct mlx5r_data {
	mlx5r_be32 byte_count;		/* 0 means 2^31 */
	mlx5r_be32 lkey;
	mlx5r_be64 addr;
};

#define MLX5R_INLINE		0x80000000u
#define MLX5R_INLINE_LEN_MASK	0x3ffu
#define MLX5R_LKEY_END		0x100u	/* ends a scatter list shorter than the WQE */

struct mlx5r_inline {
	mlx5r_be32 byte_count;		/* MLX5R_INLINE | length; data follow */
};

#define MLX5R_AV_EXT		0x80000000u	/* dqp_dct: 48-byte format */
#define MLX5R_AV_GRH		0x40000000u	/* grh_gid_fl: GRH present */

/* Address vector of UD (Q_Key) and DC (access key) requests */
struct mlx5r_av {
	__extension__ union {
		__extension__ struct {
			mlx5r_be32 qkey;
			mlx5r_be32 reserved;
		};
		mlx5r_be64 dc_key;
	};
	mlx5r_be32 dqp_dct;		/* MLX5R_AV_EXT | QPN or DCT number */
	mlx5r_u8 rate_sl;
	mlx5r_u8 fl_mlid;
	mlx5r_be16 rlid;		/* RoCE: UDP source port */
	mlx5r_u8 reserved_at_80[4];
	mlx5r_u8 rmac[6];
	mlx5r_u8 tclass;
	mlx5r_u8 hop_limit;
	mlx5r_be32 grh_gid_fl;		/* 30 GRH, 27:20 GID index, 19:0 flow label */
	mlx5r_u8 rgid[16];
};

#define MLX5R_AV_BASE_BYTES	16	/* format without MLX5R_AV_EXT */

/*
 * WAIT for a CQ, SEND_ENABLE and RECV_ENABLE.  The index is absolute.
 * WAIT: 24 bits, the index of the last entry waited for; the first entry of a CQ has index 0.
 * SEND_ENABLE: 16 bits, the WQEBB index up to which requests may run, exclusive.
 * RECV_ENABLE: 16 bits, the same for receive requests, each of which counts as one.
 */
struct mlx5r_wait {
	mlx5r_u8 reserved_at_0[8];
	mlx5r_be32 index;
	mlx5r_be32 number;		/* CQN, or QPN of the managed queue */
};

#define MLX5R_WAIT_INDEX_MASK	0xffffffu
#define MLX5R_ENABLE_INDEX_MASK	0xffffu

/*
 * op_inv of struct mlx5r_wait_data: the wait ends when "value OP memory" is true, or "value OP
 * time".  Cyclic: the sign of the difference, in the width of the mask.
 */
enum mlx5r_wait_op {
	MLX5R_WAIT_ALWAYS		= 0,
	MLX5R_WAIT_EQUAL		= 1,
	MLX5R_WAIT_BIGGER		= 2,
	MLX5R_WAIT_SMALLER		= 3,
	MLX5R_WAIT_CYCLIC_BIGGER	= 4,
	MLX5R_WAIT_CYCLIC_SMALLER	= 5,
};

#define MLX5R_WAIT_OP_MASK	0xfu
#define MLX5R_WAIT_INVERT	0x10u	/* in op_inv: the condition must be false */

/* Low bits of addr_fail: what to do while the condition is not met */
#define MLX5R_WAIT_RETRY	0u
#define MLX5R_WAIT_ERROR	1u
#define MLX5R_WAIT_FAIL_MASK	7u

/* WAIT for data or time.  Memory, value and mask are 64-bit big-endian integers. */
struct mlx5r_wait_data {
	mlx5r_be32 op_inv;
	mlx5r_be32 lkey;		/* time: 0 */
	mlx5r_be64 addr_fail;		/* aligned address | MLX5R_WAIT_RETRY...; time: 0 */
	mlx5r_be64 value;		/* time: time stamp, with MLX5R_WAIT_CYCLIC_SMALLER */
	mlx5r_be64 mask;		/* bits of both that are compared */
};

/* Operand and result of MLX5R_CALC_ADD to MLX5R_CALC_XOR */
struct mlx5r_calc_operand {
	mlx5r_be64 value;
	mlx5r_be64 location;		/* MLX5R_CALC_MAXLOC, otherwise not used */
};

enum mlx5r_vector_op {
	MLX5R_VECTOR_NONE		= 0,	/* ends the list of operations */
	MLX5R_VECTOR_ADD		= 1,
	MLX5R_VECTOR_MAX		= 2,
	MLX5R_VECTOR_AND		= 3,
	MLX5R_VECTOR_OR			= 4,
	MLX5R_VECTOR_XOR		= 5,
	MLX5R_VECTOR_MIN		= 6,
};

enum mlx5r_vector_type {
	MLX5R_VECTOR_INT32		= 0,
	MLX5R_VECTOR_UINT32		= 1,
	MLX5R_VECTOR_FLOAT32		= 2,
	MLX5R_VECTOR_INT64		= 4,
	MLX5R_VECTOR_UINT64		= 5,
	MLX5R_VECTOR_FLOAT64		= 6,
};

#define MLX5R_VECTOR_OPS		4
#define MLX5R_VECTOR_MATRIX		(1 << 7)	/* flags */
#define MLX5R_VECTOR_LITTLE_ENDIAN	(1 << 6)
#define MLX5R_VECTOR_MATRIX_8BIT	(1 << 4)
#define MLX5R_VECTOR_CHUNK_MASK		7		/* chunk of 64 << n bytes */
#define MLX5R_VECTOR_CHUNK_MIN		64

/* After ctrl (SEND) or raddr (RDMA_WRITE_IMM); a struct mlx5r_vector_data follows. */
struct mlx5r_vector_calc {
	mlx5r_u8 op[MLX5R_VECTOR_OPS];	/* one per output; without a matrix only the first */
	mlx5r_u8 reserved_at_20[8];
	mlx5r_u8 type;
	mlx5r_u8 flags;
	mlx5r_be16 count;		/* vectors */
	mlx5r_u8 reserved_at_80[4];
	mlx5r_be32 matrix_lkey;
	mlx5r_be64 matrix_addr;
};

/* The vectors of a vector calculation, back to back */
struct mlx5r_vector_data {
	mlx5r_be32 byte_count;		/* of one vector */
	mlx5r_be32 lkey;
	mlx5r_be64 addr;
};

/* UMR control segment; mkey_mask selects the fields of the mkey context to change */
#define MLX5R_UMR_INLINE		(1 << 7)
#define MLX5R_UMR_CHECK_NOT_FREE	(1 << 5)
#define MLX5R_UMR_CHECK_FREE		(2 << 5)
#define MLX5R_UMR_CHECK_MASK		(3 << 5)
#define MLX5R_UMR_XLT_OFFSET_EN		(1 << 4)
#define MLX5R_UMR_CHECK_QPN		(1 << 3)

#define MLX5R_MKEY_MASK_LEN		(1ull << 0)
#define MLX5R_MKEY_MASK_PAGE_SIZE	(1ull << 1)
#define MLX5R_MKEY_MASK_START_ADDR	(1ull << 6)
#define MLX5R_MKEY_MASK_PD		(1ull << 7)
#define MLX5R_MKEY_MASK_EN_RINVAL	(1ull << 8)
#define MLX5R_MKEY_MASK_EN_SIGERR	(1ull << 9)
#define MLX5R_MKEY_MASK_BSF_EN		(1ull << 12)
#define MLX5R_MKEY_MASK_KEY		(1ull << 13)
#define MLX5R_MKEY_MASK_QPN		(1ull << 14)
#define MLX5R_MKEY_MASK_LR		(1ull << 17)
#define MLX5R_MKEY_MASK_LW		(1ull << 18)
#define MLX5R_MKEY_MASK_RR		(1ull << 19)
#define MLX5R_MKEY_MASK_RW		(1ull << 20)
#define MLX5R_MKEY_MASK_A		(1ull << 21)
#define MLX5R_MKEY_MASK_SMALL_FENCE	(1ull << 23)
#define MLX5R_MKEY_MASK_RO_WRITE	(1ull << 25)
#define MLX5R_MKEY_MASK_FREE		(1ull << 29)
#define MLX5R_MKEY_MASK_RO_READ		(1ull << 47)

struct mlx5r_umr_ctrl {
	mlx5r_u8 flags;
	mlx5r_u8 reserved_at_8[3];
	mlx5r_be16 xlt_octowords;	/* 16-byte units, multiple of 4 */
	mlx5r_be16 xlt_offset;		/* or BSF octowords */
	mlx5r_be64 mkey_mask;
	mlx5r_be32 xlt_offset_47_16;
	mlx5r_u8 reserved_at_a0[28];
};

#define MLX5R_MKEY_FREE			(1 << 6)	/* status */
#define MLX5R_MKEY_ACCESS_LR		(1 << 2)	/* flags */
#define MLX5R_MKEY_ACCESS_LW		(1 << 3)
#define MLX5R_MKEY_ACCESS_RR		(1 << 4)
#define MLX5R_MKEY_ACCESS_RW		(1 << 5)
#define MLX5R_MKEY_ACCESS_A		(1 << 6)
#define MLX5R_MKEY_UMR_EN		(1 << 7)
#define MLX5R_MKEY_RO_WRITE		(1 << 2)	/* flags_23_16: relaxed ordering */
#define MLX5R_MKEY_RO_READ		(1 << 6)	/* log_page_size */
#define MLX5R_MKEY_MODE_PA		0
#define MLX5R_MKEY_MODE_MTT		1
#define MLX5R_MKEY_MODE_KLM		2
#define MLX5R_MKEY_MODE_KSM		3
#define MLX5R_MKEY_MODE_MASK		3

/* mkey context in a UMR WQE */
struct mlx5r_mkey {
	mlx5r_u8 status;
	mlx5r_u8 flags_23_16;		/* MLX5R_MKEY_RO_WRITE */
	mlx5r_u8 flags;
	mlx5r_u8 reserved_at_18;
	mlx5r_be32 qpn_mkey;		/* 31:8 QPN, 7:0 key */
	mlx5r_u8 reserved_at_40[4];
	mlx5r_be32 flags_pd;		/* 24 remote invalidate, 23:0 PD */
	mlx5r_be64 start_addr;
	mlx5r_be64 len;
	mlx5r_be32 bsf_octowords;
	mlx5r_u8 reserved_at_120[16];
	mlx5r_be32 xlt_octowords;
	mlx5r_u8 reserved_at_1c0[3];
	mlx5r_u8 log_page_size;		/* 6 MLX5R_MKEY_RO_READ, 4:0 log2 of the size */
	mlx5r_u8 reserved_at_1e0[4];
};

/* Entry of the list of an indirect mkey: MLX5R_MKEY_MODE_KLM; MODE_KSM has no byte_count. */
struct mlx5r_klm {
	mlx5r_be32 byte_count;
	mlx5r_be32 mkey;
	mlx5r_be64 addr;
};

/* In the first entry of a list, in the place of mkey: the list is a repeating block. */
#define MLX5R_KLM_REPEAT	0x400u

/*
 * A repeating block: this header, then num_entries of struct mlx5r_repeat_entry.  Repetition
 * r consists of byte_count bytes at addr + r * stride of each entry, in the order of entries.
 */
struct mlx5r_repeat {
	mlx5r_be32 byte_count;		/* of a repetition: the sum of its entries */
	mlx5r_be32 op;			/* MLX5R_KLM_REPEAT */
	mlx5r_be32 repeat_count;
	mlx5r_be16 reserved_at_60;
	mlx5r_be16 num_entries;
};

struct mlx5r_repeat_entry {
	mlx5r_be16 stride;
	mlx5r_be16 byte_count;
	mlx5r_be32 mkey;
	mlx5r_be64 addr;
};

/* ---- Receive work queue ----------------------------------------------- */

/* First segment of an entry of a linked-list SRQ, before the data segments */
struct mlx5r_srq_next {
	mlx5r_u8 reserved_at_0[2];
	mlx5r_be16 next_wqe_index;
	mlx5r_u8 signature;
	mlx5r_u8 reserved_at_28[11];
};

/* ---- Completion queue -------------------------------------------------- */

enum mlx5r_cqe_opcode {
	MLX5R_CQE_REQ			= 0,
	MLX5R_CQE_RESP_WR_IMM		= 1,
	MLX5R_CQE_RESP_SEND		= 2,
	MLX5R_CQE_RESP_SEND_IMM		= 3,
	MLX5R_CQE_RESP_SEND_INV		= 4,
	MLX5R_CQE_RESIZE		= 5,
	MLX5R_CQE_NO_PACKET		= 6,
	MLX5R_CQE_SIG_ERR		= 12,
	MLX5R_CQE_REQ_ERR		= 13,
	MLX5R_CQE_RESP_ERR		= 14,
	MLX5R_CQE_INVALID		= 15,
};

#define MLX5R_CQE_OWNER		0x01
#define MLX5R_CQE_SOLICITED	0x02
#define MLX5R_CQE_FORMAT_MASK	0x0c
#define MLX5R_CQE_INLINE_32	0x04	/* data in the first 32 bytes */
#define MLX5R_CQE_INLINE_64	0x08	/* data in the other half of a 128-byte CQE */
#define MLX5R_CQE_DATA_MIN	32	/* bytes of data with the first format */
#define MLX5R_CQE_DATA_MAX	64

/* In a 128-byte CQE these are the last 64 bytes. */
struct mlx5r_cqe {
	mlx5r_u8 reserved_at_0[2];
	mlx5r_be16 wqe_id;
	mlx5r_u8 reserved_at_20[13];
	mlx5r_u8 ml_path;
	mlx5r_u8 reserved_at_90[2];
	mlx5r_be16 checksum;
	mlx5r_be16 slid;
	mlx5r_be32 flags_rqpn;		/* 29:28 GRH, 27:24 SL or RoCE type, 23:0 QPN */
	mlx5r_u8 hds_ip_ext;
	mlx5r_u8 l4_hdr_type_etc;
	mlx5r_be16 vlan_info;
	mlx5r_be32 srqn_uidx;
	mlx5r_be32 imm_inval_pkey;
	mlx5r_u8 app;
	mlx5r_u8 app_op;
	mlx5r_be16 app_info;
	mlx5r_be32 byte_cnt;
	mlx5r_be64 timestamp;
	mlx5r_be32 sop_drop_qpn;	/* 31:24 send opcode, 23:0 QPN */
	mlx5r_be16 wqe_counter;
	mlx5r_u8 signature;
	mlx5r_u8 op_own;		/* 7:4 opcode, 3:2 format, 1 solicited, 0 owner */
};

struct mlx5r_err_cqe {
	mlx5r_u8 reserved_at_0[32];
	mlx5r_be32 srqn_uidx;
	mlx5r_u8 reserved_at_120[16];
	mlx5r_u8 hw_error_syndrome;
	mlx5r_u8 hw_syndrome_type;
	mlx5r_u8 vendor_err_synd;
	mlx5r_u8 syndrome;
	mlx5r_be32 sop_drop_qpn;
	mlx5r_be16 wqe_counter;
	mlx5r_u8 signature;
	mlx5r_u8 op_own;
};

enum mlx5r_cqe_syndrome {
	MLX5R_SYND_LOCAL_LENGTH		= 0x01,
	MLX5R_SYND_LOCAL_QP_OP		= 0x02,
	MLX5R_SYND_LOCAL_PROT		= 0x04,
	MLX5R_SYND_WR_FLUSH		= 0x05,
	MLX5R_SYND_MW_BIND		= 0x06,
	MLX5R_SYND_BAD_RESP		= 0x10,
	MLX5R_SYND_LOCAL_ACCESS		= 0x11,
	MLX5R_SYND_REMOTE_INVAL_REQ	= 0x12,
	MLX5R_SYND_REMOTE_ACCESS	= 0x13,
	MLX5R_SYND_REMOTE_OP		= 0x14,
	MLX5R_SYND_RETRY_EXC		= 0x15,
	MLX5R_SYND_RNR_EXC		= 0x16,
	MLX5R_SYND_REMOTE_ABORTED	= 0x22,
};

/* ---- Doorbells ---------------------------------------------------------- */

/* Doorbell record of a queue pair; an SRQ has only the first word */
#define MLX5R_DBR_RCV		0	/* receive WQE counter, 16 bits */
#define MLX5R_DBR_SND		1	/* send WQEBB producer index, 16 bits */

/* Doorbell record of a completion queue */
#define MLX5R_DBR_CQ_CI		0	/* consumer index, 24 bits */
#define MLX5R_DBR_CQ_ARM	1	/* 29:28 cmd_sn, 24 solicited only, 23:0 consumer index */
#define MLX5R_CQ_ARM_SN_SHIFT	28
#define MLX5R_CQ_ARM_SOLICITED	(1u << 24)
#define MLX5R_CQ_INDEX_MASK	0xffffffu

/* Registers of a doorbell page (UAR) */
#define MLX5R_UAR_CQ		0x20	/* arm word, CQN */
#define MLX5R_UAR_EQ_ARM	0x40	/* EQN << 24 | consumer index, arm */
#define MLX5R_UAR_EQ		0x48	/* same value, does not arm */
#define MLX5R_UAR_BF		0x800	/* first BlueFlame register */

#endif
