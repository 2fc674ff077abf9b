/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a firmware command is: its mailboxes, its row in the table, and its syndromes.
 *
 * A handler gets flat mailboxes with at least the sizes in its row of cmd_table.c.  @out
 * is zeroed.  The handler returns a syndrome, which names the reason of a failure and
 * implies the status.  The numbers are consecutive and never change: users look them up.
 *
 * Statuses are those of adapters where public records show them: an object in use, a QP or CQ that
 * does not exist, and a table without room for a QP.
 */
#ifndef _HCA_COMMAND_H
#define _HCA_COMMAND_H

#include <linux/types.h>
#include <linux/mlx5/device.h>
#include <asm/byteorder.h>

struct hca;

#define HCA_SYNDROMES(X) \
	X(HCA_SYND_OPCODE, 0x580100, MLX5_CMD_STAT_BAD_OP_ERR, "no such command") \
	X(HCA_SYND_INLEN, 0x580101, MLX5_CMD_STAT_BAD_INP_LEN_ERR, "input too short") \
	X(HCA_SYND_OUTLEN, 0x580102, MLX5_CMD_STAT_BAD_OUTP_LEN_ERR, "output too short") \
	X(HCA_SYND_STAGE, 0x580103, MLX5_CMD_STAT_BAD_SYS_STATE_ERR, \
	  "function not started, or started already") \
	X(HCA_SYND_UID, 0x580104, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "no such user context, or a command of the driver only") \
	X(HCA_SYND_OPMOD, 0x580105, MLX5_CMD_STAT_BAD_PARAM_ERR, "bad op_mod") \
	X(HCA_SYND_FUNCTION, 0x580106, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "no such other function, vport or port") \
	X(HCA_SYND_NO_MEMORY, 0x580107, MLX5_CMD_STAT_NO_RES_ERR, "out of memory") \
	X(HCA_SYND_LIMIT, 0x580108, MLX5_CMD_STAT_LIM_ERR, "all objects of this kind are in use") \
	X(HCA_SYND_ISSI, 0x580109, MLX5_CMD_STAT_BAD_PARAM_ERR, "unsupported ISSI") \
	X(HCA_SYND_PAGES, 0x58010a, MLX5_CMD_STAT_BAD_PARAM_ERR, "no pages were asked for") \
	X(HCA_SYND_CAP_TYPE, 0x58010b, MLX5_CMD_STAT_BAD_PARAM_ERR, "no such capability page") \
	X(HCA_SYND_CAP_VALUE, 0x58010c, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "capability cannot be set to this") \
	X(HCA_SYND_REGISTER, 0x58010d, MLX5_CMD_STAT_BAD_PARAM_ERR, "no such register") \
	X(HCA_SYND_REGISTER_VALUE, 0x58010e, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "register cannot be set to this") \
	X(HCA_SYND_UAR, 0x58010f, MLX5_CMD_STAT_BAD_RES_ERR, "no such UAR") \
	X(HCA_SYND_PD, 0x580110, MLX5_CMD_STAT_BAD_RES_ERR, "no such PD") \
	X(HCA_SYND_PD_BUSY, 0x580111, MLX5_CMD_STAT_BAD_RES_STATE_ERR, "queues use the PD") \
	X(HCA_SYND_XRCD, 0x580112, MLX5_CMD_STAT_BAD_RES_ERR, "no such XRC domain") \
	X(HCA_SYND_XRCD_BUSY, 0x580113, MLX5_CMD_STAT_BAD_RES_STATE_ERR, \
	  "queues use the XRC domain") \
	X(HCA_SYND_TD, 0x580114, MLX5_CMD_STAT_BAD_RES_ERR, "no such transport domain") \
	X(HCA_SYND_UMEM, 0x580115, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "a UMEM is not supported here, or is required") \
	X(HCA_SYND_PAGE_LIST, 0x580116, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "page list too short, or not memory") \
	X(HCA_SYND_DOORBELL, 0x580117, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "doorbell record misaligned, or not memory") \
	X(HCA_SYND_EQ, 0x580118, MLX5_CMD_STAT_BAD_RES_ERR, "no such EQ") \
	X(HCA_SYND_EQ_BUSY, 0x580119, MLX5_CMD_STAT_BAD_RES_STATE_ERR, "CQs use the EQ") \
	X(HCA_SYND_EQ_SIZE, 0x58011a, MLX5_CMD_STAT_BAD_PARAM_ERR, "EQ size out of range") \
	X(HCA_SYND_EQ_VECTOR, 0x58011b, MLX5_CMD_STAT_IX_ERR, "no such interrupt vector") \
	X(HCA_SYND_EQ_EVENT, 0x58011c, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "another EQ has subscribed to the event") \
	X(HCA_SYND_CQ, 0x58011d, MLX5_CMD_STAT_BAD_RES_STATE_ERR, "no such CQ") \
	X(HCA_SYND_CQ_BUSY, 0x58011e, MLX5_CMD_STAT_BAD_RES_STATE_ERR, \
	  "QPs or SRQs use the CQ") \
	X(HCA_SYND_CQ_SIZE, 0x58011f, MLX5_CMD_STAT_BAD_PARAM_ERR, "CQ size out of range") \
	X(HCA_SYND_CQ_FORMAT, 0x580120, MLX5_CMD_STAT_BAD_PARAM_ERR, "unsupported CQ format") \
	X(HCA_SYND_CQ_FIELD, 0x580121, MLX5_CMD_STAT_BAD_PARAM_ERR, "CQ field cannot be modified") \
	X(HCA_SYND_CQ_FULL, 0x580122, MLX5_CMD_STAT_BAD_SIZE_OUTS_CQES_ERR, \
	  "outstanding CQEs do not fit") \
	X(HCA_SYND_CQ_STATE, 0x580123, MLX5_CMD_STAT_BAD_RES_STATE_ERR, "CQ is in error") \
	X(HCA_SYND_SRQ, 0x580124, MLX5_CMD_STAT_BAD_RES_ERR, "no such SRQ") \
	X(HCA_SYND_SRQ_BUSY, 0x580125, MLX5_CMD_STAT_BAD_RES_STATE_ERR, "QPs use the SRQ") \
	X(HCA_SYND_SRQ_SIZE, 0x580126, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "SRQ size or stride out of range") \
	X(HCA_SYND_SRQ_FORMAT, 0x580127, MLX5_CMD_STAT_BAD_PARAM_ERR, "unsupported SRQ format") \
	X(HCA_SYND_SRQ_LIMIT, 0x580128, MLX5_CMD_STAT_BAD_PARAM_ERR, "SRQ limit out of range") \
	X(HCA_SYND_SRQ_STATE, 0x580129, MLX5_CMD_STAT_BAD_RES_STATE_ERR, \
	  "SRQ is not in this state") \
	X(HCA_SYND_MKEY, 0x58012a, MLX5_CMD_STAT_BAD_RES_ERR, "no such mkey") \
	X(HCA_SYND_MKEY_MODE, 0x58012b, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "unsupported translation mode") \
	X(HCA_SYND_MKEY_FIELD, 0x58012c, MLX5_CMD_STAT_BAD_PARAM_ERR, "unsupported mkey field") \
	X(HCA_SYND_MKEY_SIZE, 0x58012d, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "translation size out of range") \
	X(HCA_SYND_MKEY_LIST, 0x58012e, MLX5_CMD_STAT_BAD_PARAM_ERR, "bad translation list") \
	X(HCA_SYND_QP, 0x58012f, MLX5_CMD_STAT_BAD_RES_STATE_ERR, "no such QP") \
	X(HCA_SYND_QP_TYPE, 0x580130, MLX5_CMD_STAT_BAD_PARAM_ERR, "unsupported service type") \
	X(HCA_SYND_QP_FIELD, 0x580131, MLX5_CMD_STAT_BAD_PARAM_ERR, "unsupported QP field") \
	X(HCA_SYND_QP_SIZE, 0x580132, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "queue size or stride out of range") \
	X(HCA_SYND_QP_STATE, 0x580133, MLX5_CMD_STAT_BAD_QP_STATE_ERR, \
	  "no such transition from this state") \
	X(HCA_SYND_QP_OPTPAR, 0x580134, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "optional parameter not allowed here") \
	X(HCA_SYND_QP_MTU, 0x580135, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "MTU or message size out of range") \
	X(HCA_SYND_QP_PKEY, 0x580136, MLX5_CMD_STAT_IX_ERR, "P_Key index out of range") \
	X(HCA_SYND_QP_GID, 0x580137, MLX5_CMD_STAT_IX_ERR, "GID index out of range") \
	X(HCA_SYND_QP_PORT, 0x580138, MLX5_CMD_STAT_BAD_PARAM_ERR, "no such port") \
	X(HCA_SYND_QP_MIGRATION, 0x580139, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "no such change of the path migration state") \
	X(HCA_SYND_QP_ATOMIC, 0x58013a, MLX5_CMD_STAT_BAD_PARAM_ERR, "unsupported atomic mode") \
	X(HCA_SYND_QP_RD_ATOMIC, 0x58013b, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "more outstanding reads than supported") \
	X(HCA_SYND_SQ, 0x58013c, MLX5_CMD_STAT_BAD_RES_ERR, "no such SQ") \
	X(HCA_SYND_SQ_FIELD, 0x58013d, MLX5_CMD_STAT_BAD_PARAM_ERR, "unsupported SQ field") \
	X(HCA_SYND_SQ_STATE, 0x58013e, MLX5_CMD_STAT_BAD_RES_STATE_ERR, \
	  "no such transition of the SQ") \
	X(HCA_SYND_SPECIAL_QP, 0x58013f, MLX5_CMD_STAT_RES_BUSY, \
	  "the port has this special QP already") \
	X(HCA_SYND_COUNTER, 0x580140, MLX5_CMD_STAT_BAD_RES_ERR, "no such counter set") \
	X(HCA_SYND_COUNTER_BUSY, 0x580141, MLX5_CMD_STAT_BAD_RES_STATE_ERR, \
	  "QPs use the counter set") \
	X(HCA_SYND_ROCE_INDEX, 0x580142, MLX5_CMD_STAT_IX_ERR, "RoCE address index out of range") \
	X(HCA_SYND_ROCE_ADDRESS, 0x580143, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "unsupported RoCE version or address") \
	X(HCA_SYND_NOT_ROCE, 0x580144, MLX5_CMD_STAT_BAD_PARAM_ERR, "not a RoCE port") \
	X(HCA_SYND_NOT_IB, 0x580145, MLX5_CMD_STAT_BAD_PARAM_ERR, "not an InfiniBand port") \
	X(HCA_SYND_TABLE_INDEX, 0x580146, MLX5_CMD_STAT_IX_ERR, "GID or P_Key index out of range") \
	X(HCA_SYND_VPORT_FIELD, 0x580147, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "vport field cannot be set") \
	X(HCA_SYND_MCG_GID, 0x580148, MLX5_CMD_STAT_BAD_PARAM_ERR, "not a multicast GID") \
	X(HCA_SYND_MCG_FULL, 0x580149, MLX5_CMD_STAT_LIM_ERR, "multicast group or table is full") \
	X(HCA_SYND_MCG_TYPE, 0x58014a, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "only UD QPs take part in multicast") \
	X(HCA_SYND_MCG_MEMBER, 0x58014b, MLX5_CMD_STAT_BAD_RES_ERR, "not a member of the group") \
	X(HCA_SYND_INJECTED, 0x58014c, MLX5_CMD_STAT_INT_ERR, "failure injected through debugfs") \
	X(HCA_SYND_DCT, 0x58014d, MLX5_CMD_STAT_BAD_RES_ERR, "no such DCT") \
	X(HCA_SYND_DCT_FIELD, 0x58014e, MLX5_CMD_STAT_BAD_PARAM_ERR, "unsupported DCT field") \
	X(HCA_SYND_DCT_STATE, 0x58014f, MLX5_CMD_STAT_BAD_RES_STATE_ERR, \
	  "DCT is not in this state") \
	X(HCA_SYND_MAD, 0x580150, MLX5_CMD_STAT_BAD_PKT_ERR, "MAD not supported") \
	X(HCA_SYND_PRIVILEGED, 0x580151, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "a user context may not have or set this") \
	X(HCA_SYND_UCTX, 0x580152, MLX5_CMD_STAT_BAD_PARAM_ERR, "no such user context") \
	X(HCA_SYND_UCTX_BUSY, 0x580153, MLX5_CMD_STAT_BAD_RES_STATE_ERR, \
	  "the user context has objects") \
	X(HCA_SYND_UMEM_NUMBER, 0x580154, MLX5_CMD_STAT_BAD_RES_ERR, "no such UMEM") \
	X(HCA_SYND_UMEM_BUSY, 0x580155, MLX5_CMD_STAT_BAD_RES_STATE_ERR, "objects use the UMEM") \
	X(HCA_SYND_UMEM_RANGE, 0x580156, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "not in the UMEM, misaligned there, or not writable") \
	X(HCA_SYND_MKEY_MEMORY, 0x580157, MLX5_CMD_STAT_NO_RES_ERR, \
	  "lists of mkeys would use too much memory") \
	X(HCA_SYND_CONG_PROTOCOL, 0x580158, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "no such protocol of congestion control") \
	X(HCA_SYND_CONG_VALUE, 0x580159, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "parameter of congestion control cannot be set to this") \
	X(HCA_SYND_QP_LIMIT, 0x58015a, MLX5_CMD_STAT_BAD_RES_ERR, "all QPs are in use")

#define HCA_SYND_FIRST	0x580100

enum hca_synd {
	HCA_OK,
#define X(name, number, status, text)	name = (number),
	HCA_SYNDROMES(X)
#undef X
	HCA_SYND_END
};

struct hca_cmd {
	const void *in;
	void *out;
	u32 inlen, outlen;
	u16 opcode, op_mod;
	u16 uid;			/* 0: of the driver (devx.c) */
};

typedef enum hca_synd hca_cmd_fn(struct hca *hca, const struct hca_cmd *c);

enum hca_stage { HCA_OFF, HCA_ENABLED, HCA_RUNNING };

/* Besides the driver itself: who may send a command (devx.c) */
enum {
	HCA_FOR_USER	= 1,		/* a user context */
	HCA_FOR_ALL	= 2,		/* the driver, to create an object that all may use */
};
#define HCA_SHARED_UID		MLX5_SHARED_RESOURCE_UID

#define HCA_STAGE(s)		(1u << (s))
#define HCA_ANY_STAGE		(HCA_STAGE(HCA_OFF) | HCA_STAGE(HCA_ENABLED) | \
				 HCA_STAGE(HCA_RUNNING))

struct hca_opcode {
	u16 opcode;
	u16 stages;			/* HCA_STAGE() bits */
	u16 min_in, min_out;		/* bytes */
	bool op_mods;			/* the handler checks op_mod, else it is 0 */
	u8 users;			/* HCA_FOR_* */
	hca_cmd_fn *fn;
	const char *name;
};

/* A field of a mailbox by its bit offset, where the kernel's headers have no name for it */
static inline u32 hca_dword(const void *in, u32 bit)
{
	return be32_to_cpu(*(const __be32 *)(in + bit / 8));
}

/* The same for a field of less than 32 bits in one dword */
static inline u32 hca_field(const void *in, u32 bit, u32 bits)
{
	return hca_dword(in, bit & ~31u) >> (32 - bit % 32 - bits) & ((1u << bits) - 1);
}

static inline u64 hca_qword(const void *in, u32 bit)
{
	return be64_to_cpu(*(const __be64 *)(in + bit / 8));
}

/* In early public headers of the driver, no longer in linux/mlx5/mlx5_ifc.h */
enum { HCA_CMD_OP_RTS2SQD_QP = 0x508, HCA_CMD_OP_SQD2SQD_QP = 0x511 };

#endif
