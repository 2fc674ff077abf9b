/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Firmware commands: syndromes, limits, and the functions of the command side by file.
 *
 * A handler gets flat mailboxes with at least the sizes in its row of cmd_table.c.  @out
 * is zeroed.  The handler returns a syndrome, which names the reason of a failure and
 * implies the status.  The numbers are consecutive and never change: users look them up.
 */
#ifndef _HCA_CMD_H
#define _HCA_CMD_H

#include <asm/byteorder.h>
#include "datapath.h"

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
	X(HCA_SYND_PD_BUSY, 0x580111, MLX5_CMD_STAT_RES_BUSY, "queues use the PD") \
	X(HCA_SYND_XRCD, 0x580112, MLX5_CMD_STAT_BAD_RES_ERR, "no such XRC domain") \
	X(HCA_SYND_XRCD_BUSY, 0x580113, MLX5_CMD_STAT_RES_BUSY, "queues use the XRC domain") \
	X(HCA_SYND_TD, 0x580114, MLX5_CMD_STAT_BAD_RES_ERR, "no such transport domain") \
	X(HCA_SYND_UMEM, 0x580115, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "a UMEM is not supported here, or is required") \
	X(HCA_SYND_PAGE_LIST, 0x580116, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "page list too short, or not memory") \
	X(HCA_SYND_DOORBELL, 0x580117, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "doorbell record misaligned, or not memory") \
	X(HCA_SYND_EQ, 0x580118, MLX5_CMD_STAT_BAD_RES_ERR, "no such EQ") \
	X(HCA_SYND_EQ_BUSY, 0x580119, MLX5_CMD_STAT_RES_BUSY, "CQs use the EQ") \
	X(HCA_SYND_EQ_SIZE, 0x58011a, MLX5_CMD_STAT_BAD_PARAM_ERR, "EQ size out of range") \
	X(HCA_SYND_EQ_VECTOR, 0x58011b, MLX5_CMD_STAT_IX_ERR, "no such interrupt vector") \
	X(HCA_SYND_EQ_EVENT, 0x58011c, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "another EQ has subscribed to the event") \
	X(HCA_SYND_CQ, 0x58011d, MLX5_CMD_STAT_BAD_RES_ERR, "no such CQ") \
	X(HCA_SYND_CQ_BUSY, 0x58011e, MLX5_CMD_STAT_RES_BUSY, "QPs or SRQs use the CQ") \
	X(HCA_SYND_CQ_SIZE, 0x58011f, MLX5_CMD_STAT_BAD_PARAM_ERR, "CQ size out of range") \
	X(HCA_SYND_CQ_FORMAT, 0x580120, MLX5_CMD_STAT_BAD_PARAM_ERR, "unsupported CQ format") \
	X(HCA_SYND_CQ_FIELD, 0x580121, MLX5_CMD_STAT_BAD_PARAM_ERR, "CQ field cannot be modified") \
	X(HCA_SYND_CQ_FULL, 0x580122, MLX5_CMD_STAT_BAD_SIZE_OUTS_CQES_ERR, \
	  "outstanding CQEs do not fit") \
	X(HCA_SYND_CQ_STATE, 0x580123, MLX5_CMD_STAT_BAD_RES_STATE_ERR, "CQ is in error") \
	X(HCA_SYND_SRQ, 0x580124, MLX5_CMD_STAT_BAD_RES_ERR, "no such SRQ") \
	X(HCA_SYND_SRQ_BUSY, 0x580125, MLX5_CMD_STAT_RES_BUSY, "QPs use the SRQ") \
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
	X(HCA_SYND_QP, 0x58012f, MLX5_CMD_STAT_BAD_RES_ERR, "no such QP") \
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
	X(HCA_SYND_COUNTER_BUSY, 0x580141, MLX5_CMD_STAT_RES_BUSY, "QPs use the counter set") \
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
	X(HCA_SYND_UCTX, 0x580152, MLX5_CMD_STAT_BAD_RES_ERR, "no such user context") \
	X(HCA_SYND_UCTX_BUSY, 0x580153, MLX5_CMD_STAT_RES_BUSY, "the user context has objects") \
	X(HCA_SYND_UMEM_NUMBER, 0x580154, MLX5_CMD_STAT_BAD_RES_ERR, "no such UMEM") \
	X(HCA_SYND_UMEM_BUSY, 0x580155, MLX5_CMD_STAT_RES_BUSY, "objects use the UMEM") \
	X(HCA_SYND_UMEM_RANGE, 0x580156, MLX5_CMD_STAT_BAD_PARAM_ERR, \
	  "not in the UMEM, misaligned there, or not writable") \
	X(HCA_SYND_MKEY_MEMORY, 0x580157, MLX5_CMD_STAT_NO_RES_ERR, \
	  "lists of mkeys would use too much memory")

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

static inline u64 hca_qword(const void *in, u32 bit)
{
	return be64_to_cpu(*(const __be64 *)(in + bit / 8));
}

/*
 * Enhanced connection establishment (ECE).  Bits 31:28 are a version, the other bits are options
 * of the vendor.  libmlx5 requests version 1 when it creates a QP.  The meaning of the options is
 * not public, so the adapter grants no option.  What adapters in hardware answer is not known.
 */
#define HCA_ECE_VERSION		(1u << 28)

static inline u32 hca_ece_grant(u32 wanted)
{
	return wanted >= HCA_ECE_VERSION ? HCA_ECE_VERSION : 0;
}

/* ---- Limits, as announced by caps.c ---------------------------------------- */

/* The version of the firmware: a ConnectX-5 of 2022 */
#define HCA_FW_MAJOR		16
#define HCA_FW_MINOR		35
#define HCA_FW_SUB		2000

#define HCA_LOG_MAX_QP		17
#define HCA_LOG_MAX_QP_SZ	15
#define HCA_LOG_MAX_CQ		17
#define HCA_LOG_MAX_CQ_SZ	22
#define HCA_LOG_MAX_EQ		7
#define HCA_LOG_MAX_EQ_SZ	20
#define HCA_LOG_MAX_SRQ		16
#define HCA_LOG_MAX_SRQ_SZ	15
#define HCA_LOG_MAX_MKEY	20
#define HCA_LOG_MAX_PD		16
#define HCA_LOG_MAX_XRCD	16
#define HCA_LOG_MAX_TD		10
#define HCA_LOG_MAX_UCTX	15
#define HCA_LOG_MAX_UMEM	17
#define HCA_MAX_COUNTERS	255
#define HCA_LOG_MAX_MSG		30
#define HCA_LOG_MAX_RD_ATOMIC	4
#define HCA_LOG_MAX_MCG		10
#define HCA_MAX_QP_MCG		240
#define HCA_MAX_SEND_WQE	1024	/* bytes; mlx5_ib's own queues have such */
#define HCA_MAX_RECV_WQE	512
#define HCA_CLOCK_KHZ		1000000
#define HCA_PKEYS		128
#define HCA_VPORT_GIDS		8
/* In early public headers of the driver, no longer in linux/mlx5/mlx5_ifc.h */
enum { HCA_CMD_OP_RTS2SQD_QP = 0x508, HCA_CMD_OP_SQD2SQD_QP = 0x511 };
#define HCA_NULL_MKEY_INDEX	8	/* made at reset; lower ones have meanings in lists (PRM) */

/* ---- cmd.c ------------------------------------------------------------------------- */

int hca_cmd_init(struct hca *hca);
void hca_cmd_free(struct hca *hca);
/* Reads the command doorbell and executes one command.  Returns the number executed. */
unsigned int hca_cmd_poll(struct hca *hca);
/* Would hca_cmd_poll() find something to do? */
bool hca_cmd_waits(const struct hca *hca);
/* Executes one command on flat mailboxes.  Writes status and syndrome into @out. */
__visible void hca_cmd_exec(struct hca *hca, const void *in, u32 inlen, void *out, u32 outlen);

/* ---- cmd_table.c ------------------------------------------------------------------- */

/* NULL: there is no such command. */
const struct hca_opcode *hca_opcode_find(u16 opcode);
const struct hca_opcode *hca_opcode_at(unsigned int i);
const char *hca_synd_text(enum hca_synd synd);
u8 hca_synd_status(enum hca_synd synd);

/* ---- devx.c ------------------------------------------------------------------------ */

/* May the sender of @c send such a command? */
enum hca_synd hca_devx_check(struct hca *hca, const struct hca_opcode *op,
			     const struct hca_cmd *c);
/* The object that a command queries, changes or uses, or NULL: its sender must own it. */
void *hca_devx_own(const struct hca_cmd *c, const struct hca_table *t, u32 number);
/* The same for an object that others may share */
void *hca_devx_use(const struct hca_cmd *c, const struct hca_table *t, u32 number);
struct hca_qp *hca_devx_qp(struct hca *hca, const struct hca_cmd *c, u32 qpn);
struct hca_qp *hca_devx_dct(struct hca *hca, const struct hca_cmd *c, u32 dctn);
/* Gives a new object its number, and makes the sender of @c its owner. */
enum hca_synd hca_devx_add(struct hca *hca, const struct hca_cmd *c, struct hca_table *t,
			   void *obj, u32 *number);
void hca_devx_del(struct hca *hca, struct hca_table *t, u32 number);
/* The user context with this uid, as the owner of queue pairs; NULL: the driver */
struct hca_owner *hca_devx_owner(struct hca *hca, u16 uid);
/* Charges memory for the list of @mkey to its owner; false: above the limit */
bool hca_devx_charge(struct hca_mkey *mkey, u64 bytes);
void hca_devx_uncharge(struct hca_mkey *mkey);
void hca_uctx_free(struct hca *hca, void *obj);
enum hca_synd hca_cmd_create_uctx(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_destroy_uctx(struct hca *hca, const struct hca_cmd *c);

/* ---- umem.c ------------------------------------------------------------------------ */

/* Where a ring or a doorbell record is: at a DMA address, or in a UMEM */
struct hca_place {
	bool in_umem;
	u32 umem;
	u64 at;				/* in the UMEM, or the address of the record */
};

/* A ring in host memory, as a command describes it */
struct hca_ring {
	u32 pas;			/* offset of its page list in the command */
	u32 log_page;			/* as in the context: 0 is 4 KiB */
	u32 page_offset;		/* in 64ths of a page */
	struct hca_place place;		/* if it is in a UMEM */
	u32 entry;			/* bytes of its largest entry, which crosses no page */
	u64 size;
	bool written;			/* by the adapter */
};

/* Each makes the object a user of the UMEM, until hca_umem_put(). */
enum hca_synd hca_umem_ring(struct hca *hca, const struct hca_cmd *c, struct hca_buf *b,
			    const struct hca_ring *ring);
enum hca_synd hca_umem_record(struct hca *hca, const struct hca_cmd *c,
			      const struct hca_place *place, u32 bytes, __be32 **record,
			      struct hca_umem **user);
enum hca_synd hca_umem_map(struct hca_mkey *mkey, const struct hca_cmd *c, u32 id, u64 at,
			   void ***page, u32 *n);
void hca_umem_put(struct hca_umem *umem);	/* NULL: nothing */
void hca_umem_free(struct hca *hca, void *obj);
enum hca_synd hca_cmd_create_umem(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_destroy_umem(struct hca *hca, const struct hca_cmd *c);

/* ---- buf.c ------------------------------------------------------------------------- */

enum hca_synd hca_ring_init(struct hca *hca, const struct hca_cmd *c, struct hca_buf *b,
			    const struct hca_ring *ring);
#define HCA_RECORD_BYTES	8
/* A doorbell record; sets *@umem if it is in one. */
enum hca_synd hca_record_find(struct hca *hca, const struct hca_cmd *c,
			      const struct hca_place *place, __be32 **record,
			      struct hca_umem **umem);

/* ---- objects.c --------------------------------------------------------------------- */

/* Begins a reset; @stage: of the function after it. */
void hca_reset_to(struct hca *hca, enum hca_stage stage);
int hca_tables_init(struct hca *hca);
void hca_tables_free(struct hca *hca);
void hca_addresses_reset(struct hca *hca);

/* ---- function.c -------------------------------------------------------------------- */

enum hca_synd hca_cmd_enable_hca(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_disable_hca(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_init_hca(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_teardown_hca(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_adapter(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_pages(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_manage_pages(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_issi(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_set_issi(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_special_contexts(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_nop(struct hca *hca, const struct hca_cmd *c);

/* ---- caps.c ------------------------------------------------------------------------ */

int hca_caps_init(struct hca *hca);
void hca_caps_reset(struct hca *hca);
void hca_caps_free(struct hca *hca);
enum hca_synd hca_cmd_query_hca_cap(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_set_hca_cap(struct hca *hca, const struct hca_cmd *c);

/* ---- reg.c ------------------------------------------------------------------------- */

enum hca_synd hca_cmd_access_reg(struct hca *hca, const struct hca_cmd *c);

/* ---- pd.c -------------------------------------------------------------------------- */

/* A PD, XRC domain or transport domain: a number, and how many queues use it */
struct hca_domain {
	u32 users;
};

enum hca_synd hca_cmd_alloc_pd(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_dealloc_pd(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_alloc_xrcd(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_dealloc_xrcd(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_alloc_td(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_dealloc_td(struct hca *hca, const struct hca_cmd *c);

/* ---- uar.c ------------------------------------------------------------------------- */

/* The doorbell page for a new queue, or NULL */
struct hca_uar *hca_uar_get(struct hca *hca, const struct hca_cmd *c, u32 index);
/* A queue has left the page: frees the page if it was the last and the driver released it. */
void hca_uar_put(struct hca_uar *uar);
void hca_uar_free(struct hca *hca, void *obj);
enum hca_synd hca_cmd_alloc_uar(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_dealloc_uar(struct hca *hca, const struct hca_cmd *c);

/* ---- mkey.c ------------------------------------------------------------------------ */

void hca_mkey_free(struct hca *hca, void *obj);
/* Prepares the list of a new mkey, for @max entries at most. */
enum hca_synd hca_mkey_alloc_xlt(struct hca_mkey *mkey, u64 max);
int hca_null_mkey_create(struct hca *hca);
enum hca_synd hca_cmd_create_mkey(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_mkey(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_destroy_mkey(struct hca *hca, const struct hca_cmd *c);

/* ---- eq.c -------------------------------------------------------------------------- */

void hca_eq_free(struct hca *hca, void *obj);
enum hca_synd hca_cmd_create_eq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_destroy_eq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_eq(struct hca *hca, const struct hca_cmd *c);

/* ---- cq.c -------------------------------------------------------------------------- */

void hca_cq_free(struct hca *hca, void *obj);
enum hca_synd hca_cmd_create_cq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_destroy_cq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_cq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_modify_cq(struct hca *hca, const struct hca_cmd *c);

/* ---- srq.c ------------------------------------------------------------------------- */

void hca_srq_free(struct hca *hca, void *obj);
enum hca_synd hca_cmd_create_srq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_destroy_srq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_srq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_arm_srq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_create_rmp(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_modify_rmp(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_rmp(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_create_xrc_srq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_xrc_srq(struct hca *hca, const struct hca_cmd *c);

/* ---- qp.c -------------------------------------------------------------------------- */

/* A new QP or SQ */
struct hca_qp *hca_qp_new(struct hca *hca);
/* Publishes the QP; frees it if @synd is not HCA_OK or there is no room. */
enum hca_synd hca_qp_finish(struct hca_qp *qp, const struct hca_cmd *c, enum hca_synd synd);
void hca_qp_free(struct hca *hca, void *obj);
enum hca_synd hca_cmd_create_qp(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_destroy_qp(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_qp(struct hca *hca, const struct hca_cmd *c);

/* ---- qp_state.c -------------------------------------------------------------------- */

/* If @qp is the QP0 or QP1 of a port, it no longer is. */
void hca_qp_special_leave(struct hca_qp *qp);
/* Has the context what only queues of the driver may have? */
bool hca_qp_privileged(const u32 *qpc);
enum hca_synd hca_cmd_modify_qp(struct hca *hca, const struct hca_cmd *c);

/* ---- sq.c -------------------------------------------------------------------------- */

enum hca_synd hca_cmd_create_sq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_modify_sq(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_destroy_sq(struct hca *hca, const struct hca_cmd *c);

/* ---- dct.c ------------------------------------------------------------------------- */

enum hca_synd hca_cmd_create_dct(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_destroy_dct(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_drain_dct(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_dct(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_arm_dct(struct hca *hca, const struct hca_cmd *c);

/* ---- counter.c --------------------------------------------------------------------- */

/* Counts @qp in counter set @set and no longer in the one before; 0: in none. */
void hca_counter_join(struct hca_qp *qp, u32 set);
void hca_counter_free(struct hca *hca, void *obj);
enum hca_synd hca_cmd_alloc_q_counter(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_dealloc_q_counter(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_q_counter(struct hca *hca, const struct hca_cmd *c);

/* ---- mcg.c ------------------------------------------------------------------------- */

enum hca_synd hca_cmd_mad_ifc(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_attach_mcg(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_detach_mcg(struct hca *hca, const struct hca_cmd *c);

/* ---- roce.c ------------------------------------------------------------------------ */

enum hca_synd hca_cmd_set_roce_address(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_roce_address(struct hca *hca, const struct hca_cmd *c);

/* ---- vport.c ----------------------------------------------------------------------- */

enum hca_synd hca_cmd_query_vport_state(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_nic_vport(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_modify_nic_vport(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_hca_vport(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_modify_hca_vport(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_vport_gid(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_vport_pkey(struct hca *hca, const struct hca_cmd *c);
enum hca_synd hca_cmd_query_vport_counter(struct hca *hca, const struct hca_cmd *c);

#endif
