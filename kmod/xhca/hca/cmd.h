/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Firmware commands: what handlers share.
 *
 * A handler gets flat mailboxes whose sizes the table (table of cmd_table.c)
 * guarantees, an @out full of zeros, and answers with one of the syndromes
 * below.  The syndrome names the reason and implies the status.  The numbers
 * are consecutive and never change: users look them up.
 */
#ifndef _HCA_CMD_H
#define _HCA_CMD_H

#include "hca.h"

#define HCA_SYNDROMES(X) \
	X(0x580100, OPCODE,	BAD_OP_ERR,	"no such command") \
	X(0x580101, INLEN,	BAD_INP_LEN_ERR, "input too short") \
	X(0x580102, OUTLEN,	BAD_OUTP_LEN_ERR, "output too short") \
	X(0x580103, STAGE,	BAD_SYS_STATE_ERR, "function not started, or started already") \
	X(0x580104, UID,	BAD_PARAM_ERR,	"user contexts are not supported") \
	X(0x580105, OPMOD,	BAD_PARAM_ERR,	"bad op_mod") \
	X(0x580106, FUNCTION,	BAD_PARAM_ERR,	"no such other function, vport or port") \
	X(0x580107, NO_MEMORY,	NO_RES_ERR,	"out of memory") \
	X(0x580108, LIMIT,	LIM_ERR,	"all objects of this kind are in use") \
	X(0x580109, ISSI,	BAD_PARAM_ERR,	"unsupported ISSI") \
	X(0x58010a, PAGES,	BAD_PARAM_ERR,	"no pages were asked for") \
	X(0x58010b, CAP_TYPE,	BAD_PARAM_ERR,	"no such capability page") \
	X(0x58010c, CAP_VALUE,	BAD_PARAM_ERR,	"capability cannot be set to this") \
	X(0x58010d, REGISTER,	BAD_PARAM_ERR,	"no such register") \
	X(0x58010e, REGISTER_VALUE, BAD_PARAM_ERR, "register cannot be set to this") \
	X(0x58010f, UAR,	BAD_RES_ERR,	"no such UAR") \
	X(0x580110, PD,		BAD_RES_ERR,	"no such PD") \
	X(0x580111, PD_BUSY,	RES_BUSY,	"queues use the PD") \
	X(0x580112, XRCD,	BAD_RES_ERR,	"no such XRC domain") \
	X(0x580113, XRCD_BUSY,	RES_BUSY,	"queues use the XRC domain") \
	X(0x580114, TD,		BAD_RES_ERR,	"no such transport domain") \
	X(0x580115, UMEM,	BAD_PARAM_ERR,	"UMEM objects are not supported") \
	X(0x580116, PAGE_LIST,	BAD_PARAM_ERR,	"page list too short, or not memory") \
	X(0x580117, DOORBELL,	BAD_PARAM_ERR,	"doorbell record misaligned, or not memory") \
	X(0x580118, EQ,		BAD_RES_ERR,	"no such EQ") \
	X(0x580119, EQ_BUSY,	RES_BUSY,	"CQs use the EQ") \
	X(0x58011a, EQ_SIZE,	BAD_PARAM_ERR,	"EQ size out of range") \
	X(0x58011b, EQ_VECTOR,	IX_ERR,		"no such interrupt vector") \
	X(0x58011c, EQ_EVENT,	BAD_PARAM_ERR,	"another EQ has subscribed to the event") \
	X(0x58011d, CQ,		BAD_RES_ERR,	"no such CQ") \
	X(0x58011e, CQ_BUSY,	RES_BUSY,	"QPs or SRQs use the CQ") \
	X(0x58011f, CQ_SIZE,	BAD_PARAM_ERR,	"CQ size out of range") \
	X(0x580120, CQ_FORMAT,	BAD_PARAM_ERR,	"unsupported CQ format") \
	X(0x580121, CQ_FIELD,	BAD_PARAM_ERR,	"CQ field cannot be modified") \
	X(0x580122, CQ_FULL,	BAD_SIZE_OUTS_CQES_ERR, "outstanding CQEs do not fit") \
	X(0x580123, CQ_STATE,	BAD_RES_STATE_ERR, "CQ is in error") \
	X(0x580124, SRQ,	BAD_RES_ERR,	"no such SRQ") \
	X(0x580125, SRQ_BUSY,	RES_BUSY,	"QPs use the SRQ") \
	X(0x580126, SRQ_SIZE,	BAD_PARAM_ERR,	"SRQ size or stride out of range") \
	X(0x580127, SRQ_FORMAT,	BAD_PARAM_ERR,	"unsupported SRQ format") \
	X(0x580128, SRQ_LIMIT,	BAD_PARAM_ERR,	"SRQ limit out of range") \
	X(0x580129, SRQ_STATE,	BAD_RES_STATE_ERR, "SRQ is not in this state") \
	X(0x58012a, MKEY,	BAD_RES_ERR,	"no such mkey") \
	X(0x58012b, MKEY_MODE,	BAD_PARAM_ERR,	"unsupported translation mode") \
	X(0x58012c, MKEY_FIELD,	BAD_PARAM_ERR,	"unsupported mkey field") \
	X(0x58012d, MKEY_SIZE,	BAD_PARAM_ERR,	"translation size out of range") \
	X(0x58012e, MKEY_LIST,	BAD_PARAM_ERR,	"bad translation list") \
	X(0x58012f, QP,		BAD_RES_ERR,	"no such QP") \
	X(0x580130, QP_TYPE,	BAD_PARAM_ERR,	"unsupported service type") \
	X(0x580131, QP_FIELD,	BAD_PARAM_ERR,	"unsupported QP field") \
	X(0x580132, QP_SIZE,	BAD_PARAM_ERR,	"queue size or stride out of range") \
	X(0x580133, QP_STATE,	BAD_QP_STATE_ERR, "no such transition from this state") \
	X(0x580134, QP_OPTPAR,	BAD_PARAM_ERR,	"optional parameter not allowed here") \
	X(0x580135, QP_MTU,	BAD_PARAM_ERR,	"MTU or message size out of range") \
	X(0x580136, QP_PKEY,	IX_ERR,		"P_Key index out of range") \
	X(0x580137, QP_GID,	IX_ERR,		"GID index out of range") \
	X(0x580138, QP_PORT,	BAD_PARAM_ERR,	"no such port") \
	X(0x580139, QP_MIGRATION,	BAD_PARAM_ERR, "no such change of the path migration state") \
	X(0x58013a, QP_ATOMIC,	BAD_PARAM_ERR,	"unsupported atomic mode") \
	X(0x58013b, QP_RD_ATOMIC,	BAD_PARAM_ERR,	"more outstanding reads than supported") \
	X(0x58013c, SQ,		BAD_RES_ERR,	"no such SQ") \
	X(0x58013d, SQ_FIELD,	BAD_PARAM_ERR,	"unsupported SQ field") \
	X(0x58013e, SQ_STATE,	BAD_RES_STATE_ERR, "no such transition of the SQ") \
	X(0x58013f, SPECIAL_QP,	RES_BUSY,	"the port has this special QP already") \
	X(0x580140, COUNTER,	BAD_RES_ERR,	"no such counter set") \
	X(0x580141, COUNTER_BUSY,	RES_BUSY,	"QPs use the counter set") \
	X(0x580142, ROCE_INDEX,	IX_ERR,		"RoCE address index out of range") \
	X(0x580143, ROCE_ADDRESS,	BAD_PARAM_ERR,	"unsupported RoCE version or address") \
	X(0x580144, NOT_ROCE,	BAD_PARAM_ERR,	"not a RoCE port") \
	X(0x580145, NOT_IB,	BAD_PARAM_ERR,	"not an InfiniBand port") \
	X(0x580146, TABLE_INDEX,	IX_ERR,		"GID or P_Key index out of range") \
	X(0x580147, VPORT_FIELD,	BAD_PARAM_ERR,	"vport field cannot be set") \
	X(0x580148, MCG_GID,	BAD_PARAM_ERR,	"not a multicast GID") \
	X(0x580149, MCG_FULL,	LIM_ERR,	"multicast group or table is full") \
	X(0x58014a, MCG_TYPE,	BAD_PARAM_ERR,	"only UD QPs take part in multicast") \
	X(0x58014b, MCG_MEMBER,	BAD_RES_ERR,	"not a member of the group") \
	X(0x58014c, ORDERED,	INT_ERR,	"failed as ordered in debugfs")

#define HCA_SYND_FIRST	0x580100

enum hca_synd {
	HCA_OK,
#define X(number, name, status, text)	HCA_SYND_##name = (number),
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

/* objects.c */
int hca_tables_init(struct hca *hca);
void hca_tables_free(struct hca *hca);
void hca_addresses_reset(struct hca *hca);

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
