/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Firmware commands: what handlers share.
 *
 * A handler gets flat mailboxes whose sizes the table (table of cmd_table.c)
 * guarantees, an @out full of zeros, and answers with one of the syndromes
 * below.  The syndrome names the reason and implies the status.
 */
#ifndef _HCA_CMD_H
#define _HCA_CMD_H

#include "hca.h"

#define HCA_SYNDROMES(X) \
	X(OPCODE,	BAD_OP_ERR,	"no such command") \
	X(INLEN,	BAD_INP_LEN_ERR, "input too short") \
	X(OUTLEN,	BAD_OUTP_LEN_ERR, "output too short") \
	X(STAGE,	BAD_SYS_STATE_ERR, "function not started, or started already") \
	X(UID,		BAD_PARAM_ERR,	"user contexts are not supported") \
	X(OPMOD,	BAD_PARAM_ERR,	"bad op_mod") \
	X(FUNCTION,	BAD_PARAM_ERR,	"no such other function, vport or port") \
	X(NO_MEMORY,	NO_RES_ERR,	"out of memory") \
	X(LIMIT,	LIM_ERR,	"all objects of this kind are in use") \
	X(ISSI,		BAD_PARAM_ERR,	"unsupported ISSI") \
	X(PAGES,	BAD_PARAM_ERR,	"no pages were asked for") \
	X(CAP_TYPE,	BAD_PARAM_ERR,	"no such capability page") \
	X(CAP_VALUE,	BAD_PARAM_ERR,	"capability cannot be set to this") \
	X(REGISTER,	BAD_PARAM_ERR,	"no such register") \
	X(REGISTER_VALUE, BAD_PARAM_ERR, "register cannot be set to this") \
	X(UAR,		BAD_RES_ERR,	"no such UAR") \
	X(PD,		BAD_RES_ERR,	"no such PD") \
	X(PD_BUSY,	RES_BUSY,	"queues use the PD") \
	X(XRCD,		BAD_RES_ERR,	"no such XRC domain") \
	X(XRCD_BUSY,	RES_BUSY,	"queues use the XRC domain") \
	X(TD,		BAD_RES_ERR,	"no such transport domain") \
	X(UMEM,		BAD_PARAM_ERR,	"UMEM objects are not supported") \
	X(PAGE_LIST,	BAD_PARAM_ERR,	"page list too short, or not memory") \
	X(DOORBELL,	BAD_PARAM_ERR,	"doorbell record misaligned, or not memory") \
	X(EQ,		BAD_RES_ERR,	"no such EQ") \
	X(EQ_BUSY,	RES_BUSY,	"CQs use the EQ") \
	X(EQ_SIZE,	BAD_PARAM_ERR,	"EQ size out of range") \
	X(EQ_VECTOR,	IX_ERR,		"no such interrupt vector") \
	X(EQ_EVENT,	BAD_PARAM_ERR,	"another EQ has subscribed to the event") \
	X(CQ,		BAD_RES_ERR,	"no such CQ") \
	X(CQ_BUSY,	RES_BUSY,	"QPs or SRQs use the CQ") \
	X(CQ_SIZE,	BAD_PARAM_ERR,	"CQ size out of range") \
	X(CQ_FORMAT,	BAD_PARAM_ERR,	"unsupported CQ format") \
	X(CQ_FIELD,	BAD_PARAM_ERR,	"CQ field cannot be modified") \
	X(CQ_FULL,	BAD_SIZE_OUTS_CQES_ERR, "outstanding CQEs do not fit") \
	X(CQ_STATE,	BAD_RES_STATE_ERR, "CQ is in error") \
	X(SRQ,		BAD_RES_ERR,	"no such SRQ") \
	X(SRQ_BUSY,	RES_BUSY,	"QPs use the SRQ") \
	X(SRQ_SIZE,	BAD_PARAM_ERR,	"SRQ size or stride out of range") \
	X(SRQ_FORMAT,	BAD_PARAM_ERR,	"unsupported SRQ format") \
	X(SRQ_LIMIT,	BAD_PARAM_ERR,	"SRQ limit out of range") \
	X(SRQ_STATE,	BAD_RES_STATE_ERR, "SRQ is not in this state") \
	X(MKEY,		BAD_RES_ERR,	"no such mkey") \
	X(MKEY_MODE,	BAD_PARAM_ERR,	"unsupported translation mode") \
	X(MKEY_FIELD,	BAD_PARAM_ERR,	"unsupported mkey field") \
	X(MKEY_SIZE,	BAD_PARAM_ERR,	"translation size out of range") \
	X(MKEY_LIST,	BAD_PARAM_ERR,	"bad translation list") \
	X(QP,		BAD_RES_ERR,	"no such QP") \
	X(QP_TYPE,	BAD_PARAM_ERR,	"unsupported service type") \
	X(QP_FIELD,	BAD_PARAM_ERR,	"unsupported QP field") \
	X(QP_SIZE,	BAD_PARAM_ERR,	"queue size or stride out of range") \
	X(QP_STATE,	BAD_QP_STATE_ERR, "no such transition from this state") \
	X(QP_OPTPAR,	BAD_PARAM_ERR,	"optional parameter not allowed here") \
	X(QP_MTU,	BAD_PARAM_ERR,	"MTU or message size out of range") \
	X(QP_PKEY,	IX_ERR,		"P_Key index out of range") \
	X(QP_GID,	IX_ERR,		"GID index out of range") \
	X(QP_PORT,	BAD_PARAM_ERR,	"no such port") \
	X(QP_MIGRATION,	BAD_PARAM_ERR,	"no such change of the path migration state") \
	X(QP_ATOMIC,	BAD_PARAM_ERR,	"unsupported atomic mode") \
	X(QP_RD_ATOMIC,	BAD_PARAM_ERR,	"more outstanding reads than supported") \
	X(SQ,		BAD_RES_ERR,	"no such SQ") \
	X(SQ_FIELD,	BAD_PARAM_ERR,	"unsupported SQ field") \
	X(SQ_STATE,	BAD_RES_STATE_ERR, "no such transition of the SQ") \
	X(SPECIAL_QP,	RES_BUSY,	"the port has this special QP already") \
	X(COUNTER,	BAD_RES_ERR,	"no such counter set") \
	X(COUNTER_BUSY,	RES_BUSY,	"QPs use the counter set") \
	X(ROCE_INDEX,	IX_ERR,		"RoCE address index out of range") \
	X(ROCE_ADDRESS,	BAD_PARAM_ERR,	"unsupported RoCE version or address") \
	X(NOT_ROCE,	BAD_PARAM_ERR,	"not a RoCE port") \
	X(NOT_IB,	BAD_PARAM_ERR,	"not an InfiniBand port") \
	X(TABLE_INDEX,	IX_ERR,		"GID or P_Key index out of range") \
	X(VPORT_FIELD,	BAD_PARAM_ERR,	"vport field cannot be set") \
	X(MCG_GID,	BAD_PARAM_ERR,	"not a multicast GID") \
	X(MCG_FULL,	LIM_ERR,	"multicast group or table is full") \
	X(MCG_TYPE,	BAD_PARAM_ERR,	"only UD QPs take part in multicast") \
	X(MCG_MEMBER,	BAD_RES_ERR,	"not a member of the group") \
	X(ORDERED,	INT_ERR,	"failed as ordered in debugfs")

#define HCA_SYND_FIRST	0x580100	/* where our numbers begin */

enum hca_synd {
	HCA_OK,
	HCA_SYND_BASE = HCA_SYND_FIRST - 1,
#define X(name, status, text)	HCA_SYND_##name,
	HCA_SYNDROMES(X)
#undef X
	HCA_SYND_END
};

struct hca_cmd {
	const void *in;
	void *out;
	u32 inlen, outlen;
	u16 opcode, op_mod;
};

typedef enum hca_synd hca_cmd_fn(struct hca *hca, const struct hca_cmd *c);

enum hca_stage { HCA_OFF, HCA_ENABLED, HCA_RUNNING };

#define HCA_STAGE(s)		(1u << (s))
#define HCA_ANY_STAGE		(HCA_STAGE(HCA_OFF) | HCA_STAGE(HCA_ENABLED) | \
				 HCA_STAGE(HCA_RUNNING))

struct hca_opcode {
	u16 opcode;
	u16 stages;			/* HCA_STAGE() bits */
	u16 min_in, min_out;		/* bytes */
	bool op_mods;			/* the handler checks op_mod, else it is 0 */
	hca_cmd_fn *fn;
	const char *name;
};

/* cmd_table.c; NULL where there is no such command */
const struct hca_opcode *hca_opcode_find(u16 opcode);
const struct hca_opcode *hca_opcode_at(unsigned int i);
const char *hca_synd_text(enum hca_synd synd);
u8 hca_synd_status(enum hca_synd synd);

#define HCA_HANDLERS(X) \
	X(enable_hca) X(disable_hca) X(init_hca) X(teardown_hca) \
	X(query_hca_cap) X(set_hca_cap) X(query_adapter) X(query_pages) X(manage_pages) \
	X(query_issi) X(set_issi) X(query_special_contexts) X(nop) \
	X(create_mkey) X(query_mkey) X(destroy_mkey) \
	X(create_eq) X(destroy_eq) X(query_eq) \
	X(create_cq) X(destroy_cq) X(query_cq) X(modify_cq) \
	X(create_qp) X(destroy_qp) X(query_qp) X(modify_qp) \
	X(create_sq) X(modify_sq) X(destroy_sq) \
	X(create_srq) X(destroy_srq) X(query_srq) X(arm_srq) X(create_rmp) X(modify_rmp) \
	X(query_rmp) X(create_xrc_srq) X(query_xrc_srq) \
	X(alloc_pd) X(dealloc_pd) X(alloc_xrcd) X(dealloc_xrcd) X(alloc_td) X(dealloc_td) \
	X(alloc_uar) X(dealloc_uar) X(access_reg) \
	X(query_vport_state) X(query_nic_vport) X(modify_nic_vport) X(query_hca_vport) X(modify_hca_vport) \
	X(query_vport_gid) X(query_vport_pkey) X(query_vport_counter) \
	X(set_roce_address) X(query_roce_address) X(attach_mcg) X(detach_mcg) \
	X(alloc_q_counter) X(dealloc_q_counter) X(query_q_counter)

#define X(name) enum hca_synd hca_cmd_##name(struct hca *hca, const struct hca_cmd *c);
HCA_HANDLERS(X)
#undef X

/* ---- Limits, as announced by caps.c ---------------------------------------- */

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
#define HCA_MAX_COUNTERS	255
#define HCA_LOG_MAX_MSG		30
#define HCA_LOG_MAX_RD_ATOMIC	4
#define HCA_LOG_MAX_MCG		10
#define HCA_MAX_QP_MCG		240
#define HCA_MAX_SEND_WQE	1024	/* bytes; mlx5_ib's own queues have such */
#define HCA_MAX_RECV_WQE	512
#define HCA_PKEYS		128
#define HCA_VPORT_GIDS		8
/* In early public headers of the driver, no longer in linux/mlx5/mlx5_ifc.h */
#define HCA_CMD_OP_RTS2SQD_QP	0x508
#define HCA_CMD_OP_SQD2SQD_QP	0x511
#define HCA_NULL_MKEY_INDEX	1	/* made at reset, before any other */

/* ---- Helpers ------------------------------------------------------------------ */

/* PDs, XRC and transport domains: a number and who uses it */
struct hca_domain {
	u32 users;
};

int hca_caps_init(struct hca *hca);
void hca_caps_reset(struct hca *hca);
void hca_caps_free(struct hca *hca);

/* Doorbell record of @bytes at @addr, or NULL */
__be32 *hca_dbr(struct hca *hca, u64 addr, u32 bytes);

/*
 * A ring of @size bytes from a context's page list: @log_page above 4 KiB,
 * @page_offset in 64ths of a page.
 */
enum hca_synd hca_ring_init(struct hca *hca, const struct hca_cmd *c, struct hca_buf *b,
			    u32 pas_offset, u32 log_page, u32 page_offset, u64 size);

/* Number of a new object, its syndrome where there is none */
enum hca_synd hca_number(struct hca_table *t, void *obj, u32 *number);

/* How hca_reset() frees what the driver left */
void hca_qp_free(struct hca *hca, void *obj);
void hca_srq_free(struct hca *hca, void *obj);
void hca_cq_free(struct hca *hca, void *obj);
void hca_eq_free(struct hca *hca, void *obj);
void hca_mkey_free(struct hca *hca, void *obj);
void hca_uar_free(struct hca *hca, void *obj);
void hca_counter_free(struct hca *hca, void *obj);

/* A new QP or SQ; published when it is complete, or freed if @synd says so */
struct hca_qp *hca_qp_new(struct hca *hca);
enum hca_synd hca_qp_finish(struct hca_qp *qp, enum hca_synd synd);

/* A page for a new queue, or NULL; and one that a queue has just left */
struct hca_uar *hca_uar_get(struct hca *hca, u32 index);
void hca_uar_put(struct hca_uar *uar);

/* Counts @qp in @set instead of the one it was in; 0: in none. */
void hca_counter_join(struct hca_qp *qp, u32 set);
int hca_null_mkey_create(struct hca *hca);

/* Posts the completion of command slots to the EQ that has subscribed to them. */
void hca_event_cmd(struct hca *hca, u32 slots);

#endif
