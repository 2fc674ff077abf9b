// SPDX-License-Identifier: GPL-2.0
/*
 * User contexts: who may send which command, and whose objects it may name.
 *
 * Two users have one object of each kind.  Each command has rows in one of three tables: it is
 * the driver's only, it names no object, or it has fields that name objects.  For each such
 * field, a command of one user that is otherwise valid names the object of the other one.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include "cmd/cmd.h"
#include "session.h"
#include "tap.h"

#define UMEM_PAGES	4
#define RECORDS_AT	(2 * HCA_PAGE_SIZE)	/* pages 0 and 1: rings, 2: doorbell records */
#define DATA_AT		(3 * HCA_PAGE_SIZE)
#define CAN_READ	1
#define CAN_WRITE	2

static struct session s;

struct user {
	u32 uid;
	u64 memory;			/* of the UMEM */
	u32 umem, pd, xrcd, td, counter, uar, cqn, qpn, udqpn, rmpn, dctn, mkey;
};

static struct user users[2];
static u32 shared_eqn, shared_counter;
static u32 out[1024];

/* Returns the syndrome. */
static u32 run(u16 uid, u16 opcode, void *in, u32 inlen)
{
	MLX5_SET(alloc_pd_in, in, opcode, opcode);
	MLX5_SET(alloc_pd_in, in, uid, uid);
	session_cmd(&s, 0, in, inlen, out, sizeof(out));
	return be32_to_cpu(((__be32 *)out)[1]);
}

/* The number of a new object is at the same place in all answers. */
static u32 number(void)
{
	return be32_to_cpu(((__be32 *)out)[2]) & 0xffffff;
}

static u32 brief(u16 uid, u16 opcode, u32 value)
{
	u32 in[16] = { [2] = cpu_to_be32(value) };

	return run(uid, opcode, in, sizeof(in));
}

#define refused(call, name)	tap_is(call, HCA_SYND_##name, "%s: %s", #call,		\
				       hca_synd_text(HCA_SYND_##name))
#define accepted(call)		tap_is(call, HCA_OK, "%s", #call)

/* ---- Valid commands of a user ---------------------------------------------------- */

/* Fields for which the kernel's headers have no names, at bit offsets */
static void put32(void *in, u32 bit, u32 v)
{
	((__be32 *)in)[bit / 32] = cpu_to_be32(v);
}

static void put64(void *in, u32 bit, u64 v)
{
	__be64 be = cpu_to_be64(v);

	memcpy((u8 *)in + bit / 8, &be, sizeof(be));
}

static u32 create_umem(const struct user *u, u32 flags, u32 offset)
{
	u32 in[(MLX5_ST_SZ_BYTES(create_umem_in) + UMEM_PAGES * 8) / 4] = {};
	void *umem = MLX5_ADDR_OF(create_umem_in, in, umem);
	unsigned int i;

	put64(in, MLX5_BYTE_OFF(create_umem_in, umem.num_of_mtt) * 8, UMEM_PAGES);
	MLX5_SET(umem, umem, page_offset, offset);
	for (i = 0; i < UMEM_PAGES; i++)
		put64(MLX5_ADDR_OF(umem, umem, mtt), i * 64,
		      u->memory + i * HCA_PAGE_SIZE + flags);
	return run(u->uid, MLX5_CMD_OP_CREATE_UMEM, in, sizeof(in));
}

static void fill_cq(const struct user *u, void *in)
{
	void *cqc = MLX5_ADDR_OF(create_cq_in, in, cq_context);

	MLX5_SET(cqc, cqc, log_cq_size, 4);
	MLX5_SET(cqc, cqc, uar_page, u->uar);
	MLX5_SET(cqc, cqc, c_eqn_or_apu_element, shared_eqn);
	MLX5_SET(cqc, cqc, dbr_umem_valid, 1);
	MLX5_SET64(cqc, cqc, dbr_addr, RECORDS_AT);
	put32(cqc, 0x20, u->umem);
	MLX5_SET(create_cq_in, in, cq_umem_valid, 1);
	put32(in, 0x2c0, u->umem);
}

static void fill_resize(const struct user *u, void *in)
{
	fill_cq(u, in);
	MLX5_SET(modify_cq_in, in, op_mod, 1);
	MLX5_SET(modify_cq_in, in, cqn, u->cqn);
	put32(in, 0x60, 7);
}

static void fill_qp(const struct user *u, void *in)
{
	void *qpc = MLX5_ADDR_OF(create_qp_in, in, qpc);

	MLX5_SET(qpc, qpc, st, MLX5_QP_ST_RC);
	MLX5_SET(qpc, qpc, pm_state, MLX5_QP_PM_MIGRATED);
	MLX5_SET(qpc, qpc, pd, u->pd);
	MLX5_SET(qpc, qpc, uar_page, u->uar);
	MLX5_SET(qpc, qpc, log_sq_size, 2);
	MLX5_SET(qpc, qpc, rq_type, MLX5_ZERO_LEN_RQ);
	MLX5_SET(qpc, qpc, cqn_snd, u->cqn);
	MLX5_SET(qpc, qpc, cqn_rcv, u->cqn);
	MLX5_SET(qpc, qpc, dbr_umem_valid, 1);
	put64(MLX5_ADDR_OF(qpc, qpc, dbr_addr), 0, RECORDS_AT + 8);
	put32(qpc, 0x720, u->umem);
	MLX5_SET(create_qp_in, in, wq_umem_valid, 1);
	put64(in, 0x800, HCA_PAGE_SIZE);
	put32(in, 0x840, u->umem);
}

static void fill_udqp(const struct user *u, void *in)
{
	fill_qp(u, in);
	MLX5_SET(create_qp_in, in, qpc.st, MLX5_QP_ST_UD);
}

static void fill_srqp(const struct user *u, void *in)
{
	fill_qp(u, in);
	MLX5_SET(create_qp_in, in, qpc.rq_type, MLX5_SRQ_RQ);
	MLX5_SET(create_qp_in, in, qpc.srqn_rmpn_xrqn, u->rmpn);
}

static void fill_xrcqp(const struct user *u, void *in)
{
	fill_qp(u, in);
	MLX5_SET(create_qp_in, in, qpc.st, MLX5_QP_ST_XRC);
	MLX5_SET(create_qp_in, in, qpc.xrcd, u->xrcd);
}

static void fill_rmp(const struct user *u, void *in)
{
	void *rmpc = MLX5_ADDR_OF(create_rmp_in, in, ctx);
	void *wq = MLX5_ADDR_OF(rmpc, rmpc, wq);

	MLX5_SET(rmpc, rmpc, state, 1);
	MLX5_SET(wq, wq, pd, u->pd);
	MLX5_SET(wq, wq, log_wq_stride, 6);
	MLX5_SET(wq, wq, log_wq_sz, 3);
	MLX5_SET(wq, wq, dbr_umem_valid, 1);
	MLX5_SET(wq, wq, wq_umem_valid, 1);
	put64(MLX5_ADDR_OF(wq, wq, dbr_addr), 0, RECORDS_AT + 16);
	put32(wq, 0x140, u->umem);
	put32(wq, 0x160, u->umem);
	put64(wq, 0x180, HCA_PAGE_SIZE + 2048);
}

/* To its present state, without a new limit */
static void fill_modify_rmp(const struct user *u, void *in)
{
	MLX5_SET(modify_rmp_in, in, rmp_state, 1);
	MLX5_SET(modify_rmp_in, in, rmpn, u->rmpn);
	MLX5_SET(modify_rmp_in, in, ctx.state, 1);
}

static void fill_dct(const struct user *u, void *in)
{
	void *dctc = MLX5_ADDR_OF(create_dct_in, in, dct_context_entry);

	MLX5_SET(dctc, dctc, pd, u->pd);
	MLX5_SET(dctc, dctc, srqn_xrqn, u->rmpn);
	MLX5_SET(dctc, dctc, cqn, u->cqn);
	MLX5_SET(dctc, dctc, counter_set_id, u->counter);
	MLX5_SET(dctc, dctc, mtu, IB_MTU_1024);
	MLX5_SET(dctc, dctc, port, 1);
}

static void fill_mkey(const struct user *u, void *in)
{
	void *mkc = MLX5_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);

	MLX5_SET(mkc, mkc, access_mode_1_0, MLX5R_MKEY_MODE_MTT);
	MLX5_SET(mkc, mkc, lr, 1);
	MLX5_SET(mkc, mkc, lw, 1);
	MLX5_SET(mkc, mkc, rr, 1);
	MLX5_SET(mkc, mkc, rw, 1);
	MLX5_SET(mkc, mkc, qpn, HCA_ANY_QPN);
	MLX5_SET(mkc, mkc, pd, u->pd);
	put64(MLX5_ADDR_OF(mkc, mkc, start_addr), 0, 0x10008);
	put64(MLX5_ADDR_OF(mkc, mkc, len), 0, 256);
	MLX5_SET(create_mkey_in, in, mkey_umem_valid, 1);
	put32(in, 0x320, u->umem);
	put64(in, 0x340, DATA_AT);
}

static void fill_init(const struct user *u, void *in)
{
	void *qpc = MLX5_ADDR_OF(rst2init_qp_in, in, qpc);

	MLX5_SET(rst2init_qp_in, in, qpn, u->qpn);
	MLX5_SET(qpc, qpc, pm_state, MLX5_QP_PM_MIGRATED);
	MLX5_SET(qpc, qpc, primary_address_path.vhca_port_num, 1);
	MLX5_SET(qpc, qpc, counter_set_id, u->counter);
}

static void fill_mcg(const struct user *u, void *in)
{
	MLX5_SET(attach_to_mcg_in, in, qpn, u->udqpn);
	*(u8 *)MLX5_ADDR_OF(attach_to_mcg_in, in, multicast_gid) = 0xff;
}

/* ---- The rule of each command ---------------------------------------------------- */

/* Commands that only the driver may send */
static const u16 of_driver[] = {
	MLX5_CMD_OP_INIT_HCA, MLX5_CMD_OP_TEARDOWN_HCA, MLX5_CMD_OP_ENABLE_HCA,
	MLX5_CMD_OP_DISABLE_HCA, MLX5_CMD_OP_QUERY_PAGES, MLX5_CMD_OP_MANAGE_PAGES,
	MLX5_CMD_OP_SET_HCA_CAP, MLX5_CMD_OP_SET_ISSI, MLX5_CMD_OP_QUERY_SPECIAL_CONTEXTS,
	MLX5_CMD_OP_CREATE_EQ, MLX5_CMD_OP_DESTROY_EQ, MLX5_CMD_OP_QUERY_EQ,
	MLX5_CMD_OP_MAD_IFC, MLX5_CMD_OP_CREATE_SRQ, MLX5_CMD_OP_DESTROY_SRQ,
	MLX5_CMD_OP_QUERY_SRQ, MLX5_CMD_OP_ARM_RQ, MLX5_CMD_OP_CREATE_XRC_SRQ,
	MLX5_CMD_OP_DESTROY_XRC_SRQ, MLX5_CMD_OP_QUERY_XRC_SRQ, MLX5_CMD_OP_ARM_XRC_SRQ,
	MLX5_CMD_OP_MODIFY_NIC_VPORT_CONTEXT, MLX5_CMD_OP_SET_ROCE_ADDRESS,
	MLX5_CMD_OP_MODIFY_HCA_VPORT_CONTEXT, MLX5_CMD_OP_QUERY_HCA_VPORT_GID,
	MLX5_CMD_OP_QUERY_HCA_VPORT_PKEY, MLX5_CMD_OP_ACCESS_REG, MLX5_CMD_OP_QUERY_CONG_PARAMS,
	MLX5_CMD_OP_MODIFY_CONG_PARAMS, MLX5_CMD_OP_QUERY_CONG_STATISTICS, MLX5_CMD_OP_CREATE_SQ,
	MLX5_CMD_OP_MODIFY_SQ, MLX5_CMD_OP_DESTROY_SQ, MLX5_CMD_OP_CREATE_UCTX,
	MLX5_CMD_OP_DESTROY_UCTX,
};

/* Commands of users that name no object */
static const u16 general[] = {
	MLX5_CMD_OP_QUERY_HCA_CAP, MLX5_CMD_OP_QUERY_ADAPTER, MLX5_CMD_OP_QUERY_ISSI,
	MLX5_CMD_OP_QUERY_LAG,
	MLX5_CMD_OP_QUERY_VPORT_STATE, MLX5_CMD_OP_QUERY_NIC_VPORT_CONTEXT,
	MLX5_CMD_OP_QUERY_ROCE_ADDRESS, MLX5_CMD_OP_QUERY_HCA_VPORT_CONTEXT,
	MLX5_CMD_OP_QUERY_VPORT_COUNTER, MLX5_CMD_OP_NOP, MLX5_CMD_OP_ALLOC_PD,
	MLX5_CMD_OP_ALLOC_UAR, MLX5_CMD_OP_ALLOC_XRCD, MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN,
	MLX5_CMD_OP_ALLOC_Q_COUNTER, MLX5_CMD_OP_CREATE_UMEM,
};

typedef void fill_fn(const struct user *u, void *in);

/* A field that names an object */
static const struct name {
	u16 opcode;
	fill_fn *fill;			/* a valid command; NULL: only the field */
	u32 dw, shift, mask;		/* the field */
	u32 member;			/* of struct user: the object */
	u32 synd;
	const char *text;
} names[] = {
#define AT(op, fill, dw, shift, mask, member, synd)					\
	{ op, fill, dw, shift, mask, offsetof(struct user, member), HCA_SYND_##synd,	\
	  #op ": " #member }
#define IN(op, fill, typ, field, member, synd)						\
	AT(MLX5_CMD_OP_##op, fill, __mlx5_dw_off(typ, field), __mlx5_dw_bit_off(typ, field), \
	   __mlx5_mask(typ, field), member, synd)
#define RAW(op, fill, bit, member, synd)	AT(MLX5_CMD_OP_##op, fill, (bit) / 32, 0, ~0u, \
						   member, synd)
#define ONE(op, member, synd)	IN(op, NULL, destroy_qp_in, qpn, member, synd)
	IN(CREATE_MKEY, fill_mkey, create_mkey_in, memory_key_mkey_entry.pd, pd, PD),
	RAW(CREATE_MKEY, fill_mkey, 0x320, umem, UMEM_NUMBER),
	ONE(QUERY_MKEY, mkey, MKEY), ONE(DESTROY_MKEY, mkey, MKEY),
	IN(CREATE_CQ, fill_cq, create_cq_in, cq_context.uar_page, uar, UAR),
	RAW(CREATE_CQ, fill_cq, 0x80 + 0x20, umem, UMEM_NUMBER),
	RAW(CREATE_CQ, fill_cq, 0x2c0, umem, UMEM_NUMBER),
	IN(MODIFY_CQ, fill_resize, modify_cq_in, cqn, cqn, CQ),
	RAW(MODIFY_CQ, fill_resize, 0x2c0, umem, UMEM_NUMBER),
	ONE(QUERY_CQ, cqn, CQ), ONE(DESTROY_CQ, cqn, CQ),
	IN(CREATE_QP, fill_qp, create_qp_in, qpc.pd, pd, PD),
	IN(CREATE_QP, fill_qp, create_qp_in, qpc.uar_page, uar, UAR),
	IN(CREATE_QP, fill_qp, create_qp_in, qpc.cqn_snd, cqn, CQ),
	IN(CREATE_QP, fill_qp, create_qp_in, qpc.cqn_rcv, cqn, CQ),
	IN(CREATE_QP, fill_srqp, create_qp_in, qpc.srqn_rmpn_xrqn, rmpn, SRQ),
	IN(CREATE_QP, fill_xrcqp, create_qp_in, qpc.xrcd, xrcd, XRCD),
	RAW(CREATE_QP, fill_qp, 0xc0 + 0x720, umem, UMEM_NUMBER),
	RAW(CREATE_QP, fill_qp, 0x840, umem, UMEM_NUMBER),
	IN(RST2INIT_QP, fill_init, rst2init_qp_in, qpn, qpn, QP),
	IN(RST2INIT_QP, fill_init, rst2init_qp_in, qpc.counter_set_id, counter, COUNTER),
	ONE(INIT2INIT_QP, qpn, QP), ONE(INIT2RTR_QP, qpn, QP), ONE(RTR2RTS_QP, qpn, QP),
	ONE(RTS2RTS_QP, qpn, QP), ONE(SQERR2RTS_QP, qpn, QP), ONE(SQD_RTS_QP, qpn, QP),
	AT(HCA_CMD_OP_RTS2SQD_QP, NULL, 2, 0, 0xffffff, qpn, QP),
	AT(HCA_CMD_OP_SQD2SQD_QP, NULL, 2, 0, 0xffffff, qpn, QP),
	ONE(2ERR_QP, qpn, QP), ONE(2RST_QP, qpn, QP), ONE(QUERY_QP, qpn, QP),
	ONE(DESTROY_QP, qpn, QP),
	IN(CREATE_RMP, fill_rmp, create_rmp_in, ctx.wq.pd, pd, PD),
	RAW(CREATE_RMP, fill_rmp, 0x100 + 0x180 + 0x140, umem, UMEM_NUMBER),
	RAW(CREATE_RMP, fill_rmp, 0x100 + 0x180 + 0x160, umem, UMEM_NUMBER),
	IN(MODIFY_RMP, fill_modify_rmp, modify_rmp_in, rmpn, rmpn, SRQ),
	ONE(QUERY_RMP, rmpn, SRQ), ONE(DESTROY_RMP, rmpn, SRQ),
	IN(CREATE_DCT, fill_dct, create_dct_in, dct_context_entry.pd, pd, PD),
	IN(CREATE_DCT, fill_dct, create_dct_in, dct_context_entry.srqn_xrqn, rmpn, SRQ),
	IN(CREATE_DCT, fill_dct, create_dct_in, dct_context_entry.cqn, cqn, CQ),
	IN(CREATE_DCT, fill_dct, create_dct_in, dct_context_entry.counter_set_id, counter,
	   COUNTER),
	ONE(DRAIN_DCT, dctn, DCT), ONE(DESTROY_DCT, dctn, DCT), ONE(QUERY_DCT, dctn, DCT),
	ONE(ARM_DCT_FOR_KEY_VIOLATION, dctn, DCT),
	IN(QUERY_Q_COUNTER, NULL, query_q_counter_in, counter_set_id, counter, COUNTER),
	ONE(DEALLOC_Q_COUNTER, counter, COUNTER),
	IN(ATTACH_TO_MCG, fill_mcg, attach_to_mcg_in, qpn, udqpn, QP),
	IN(DETACH_FROM_MCG, fill_mcg, detach_from_mcg_in, qpn, udqpn, QP),
	ONE(DEALLOC_PD, pd, PD), ONE(DEALLOC_UAR, uar, UAR), ONE(DEALLOC_XRCD, xrcd, XRCD),
	ONE(DEALLOC_TRANSPORT_DOMAIN, td, TD), ONE(DESTROY_UMEM, umem, UMEM_NUMBER),
};

static bool has(const u16 *list, unsigned int n, u16 opcode)
{
	while (n--)
		if (list[n] == opcode)
			return true;
	return false;
}

static bool names_object(u16 opcode)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].opcode == opcode)
			return true;
	return false;
}

/* Each command is in one of the tables, and the adapter has the same opinion. */
static void test_rules(void)
{
	const struct hca_opcode *op;
	unsigned int i, rules, wrong = 0;
	u32 in[512] = {};
	bool only_driver;

	for (i = 0; (op = hca_opcode_at(i)); i++) {
		only_driver = has(of_driver, ARRAY_SIZE(of_driver), op->opcode);
		rules = only_driver + has(general, ARRAY_SIZE(general), op->opcode) +
			names_object(op->opcode);
		if (rules != 1)
			diag("%s is in %u tables", op->name, rules);
		if (only_driver == !!(op->users & HCA_FOR_USER))
			diag("%s: is it for users?", op->name);
		wrong += rules != 1 || only_driver == !!(op->users & HCA_FOR_USER);
		if (only_driver && op->stages & HCA_STAGE(HCA_RUNNING))
			wrong += run(users[0].uid, op->opcode, in, sizeof(in)) != HCA_SYND_UID;
	}
	tap_is(wrong, 0, "%u commands have a rule", i);
}

static u32 run_name(const struct name *n, const struct user *u, u32 value)
{
	u32 in[1024] = {}, word;

	if (n->fill)
		n->fill(u, in);
	word = be32_to_cpu(((__be32 *)in)[n->dw]) & ~(n->mask << n->shift);
	((__be32 *)in)[n->dw] = cpu_to_be32(word | (value & n->mask) << n->shift);
	return run(u->uid, n->opcode, in, hca_opcode_find(n->opcode)->min_in);
}

static u32 member(const struct user *u, const struct name *n)
{
	return *(const u32 *)((const u8 *)u + n->member);
}

/* What every query of the objects of a user answers */
static u32 snapshot(const struct user *u, u8 *all)
{
	static const struct {
		u16 opcode;
		u32 member;
	} queries[] = {
		{ MLX5_CMD_OP_QUERY_QP, offsetof(struct user, qpn) },
		{ MLX5_CMD_OP_QUERY_QP, offsetof(struct user, udqpn) },
		{ MLX5_CMD_OP_QUERY_CQ, offsetof(struct user, cqn) },
		{ MLX5_CMD_OP_QUERY_RMP, offsetof(struct user, rmpn) },
		{ MLX5_CMD_OP_QUERY_DCT, offsetof(struct user, dctn) },
		{ MLX5_CMD_OP_QUERY_MKEY, offsetof(struct user, mkey) },
	};
	unsigned int i;
	u32 failed = 0;

	for (i = 0; i < ARRAY_SIZE(queries); i++) {
		failed += !!brief(u->uid, queries[i].opcode,
				  *(const u32 *)((const u8 *)u + queries[i].member));
		memcpy(all + i * sizeof(out), out, sizeof(out));
	}
	return failed;
}

static void test_names(void)
{
	static u8 before[6 * sizeof(out)], after[6 * sizeof(out)];
	unsigned int i;

	tap_is(snapshot(&users[1], before), 0, "each user may query what it has");
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		tap_is(run_name(&names[i], &users[0], member(&users[1], &names[i])),
		       names[i].synd, "%s of another user", names[i].text);
		/* A valid command, so the name alone was the reason of the refusal. */
		if (names[i].fill && names[i].opcode != MLX5_CMD_OP_RST2INIT_QP)
			tap_is(run_name(&names[i], &users[0], member(&users[0], &names[i])),
			       HCA_OK, "%s of its own", names[i].text);
	}
	tap_is(snapshot(&users[1], after), 0, "the objects of the other user exist");
	ok(!memcmp(before, after, sizeof(before)), "the objects of the other user are the same");
}

/* ---- What the driver shares, and what it keeps ----------------------------------- */

static void test_shared(void)
{
	u16 uid = users[0].uid;
	u32 in[256] = {}, eqn;

	refused(brief(uid, MLX5_CMD_OP_DEALLOC_Q_COUNTER, shared_counter), COUNTER);
	MLX5_SET(query_q_counter_in, in, counter_set_id, shared_counter);
	refused(run(uid, MLX5_CMD_OP_QUERY_Q_COUNTER, in, sizeof(in)), COUNTER);
	accepted(run(0, MLX5_CMD_OP_QUERY_Q_COUNTER, in, sizeof(in)));

	memset(in, 0, sizeof(in));
	fill_init(&users[0], in);
	MLX5_SET(rst2init_qp_in, in, qpc.counter_set_id, shared_counter);
	accepted(run(uid, MLX5_CMD_OP_RST2INIT_QP, in, sizeof(in)));
	accepted(brief(uid, MLX5_CMD_OP_2RST_QP, users[0].qpn));

	/* The EQ of the session is the driver's own. */
	eqn = shared_eqn;
	shared_eqn = s.eqn[0];
	memset(in, 0, sizeof(in));
	fill_cq(&users[0], in);
	refused(run(uid, MLX5_CMD_OP_CREATE_CQ, in, hca_opcode_find(MLX5_CMD_OP_CREATE_CQ)->min_in),
		EQ);
	shared_eqn = eqn;
	refused(brief(HCA_SHARED_UID, MLX5_CMD_OP_ALLOC_PD, 0), UID);
	refused(brief(0x7ff0, MLX5_CMD_OP_ALLOC_PD, 0), UID);
}

/* Changes a valid command of the first user. */
static u32 with(u16 opcode, fill_fn *fill, void (*change)(void *in))
{
	u32 in[1024] = {};

	fill(&users[0], in);
	change(in);
	return run(users[0].uid, opcode, in, hca_opcode_find(opcode)->min_in + 16);
}

static void special_qp(void *in)	{ MLX5_SET(create_qp_in, in, qpc.st, MLX5_QP_ST_QP1); }
static void umr_qp(void *in)		{ MLX5_SET(create_qp_in, in, qpc.st, MLX5_QP_ST_REG_UMR); }
static void rlky_qp(void *in)		{ MLX5_SET(create_qp_in, in, qpc.rlky, 1); }
static void source_qpn(void *in)	{ MLX5_SET(create_qp_in, in, qpc.deth_sqpn, 1); }
static void rlky_dct(void *in)	{ MLX5_SET(create_dct_in, in, dct_context_entry.rlky, 1); }

static void pa_mkey(void *in)
{
	MLX5_SET(create_mkey_in, in, memory_key_mkey_entry.access_mode_1_0, MLX5R_MKEY_MODE_PA);
}

static void page_list_mkey(void *in)
{
	MLX5_SET(create_mkey_in, in, mkey_umem_valid, 0);
	MLX5_SET(create_mkey_in, in, translations_octword_actual_size, 1);
	MLX5_SET(create_mkey_in, in, memory_key_mkey_entry.translations_octword_size, 1);
	put64(MLX5_ADDR_OF(create_mkey_in, in, klm_pas_mtt), 0, users[1].memory);
}

static void test_privileges(void)
{
	u32 in[64] = {};

	refused(with(MLX5_CMD_OP_CREATE_QP, fill_qp, special_qp), PRIVILEGED);
	refused(with(MLX5_CMD_OP_CREATE_QP, fill_qp, umr_qp), PRIVILEGED);
	refused(with(MLX5_CMD_OP_CREATE_QP, fill_qp, rlky_qp), PRIVILEGED);
	refused(with(MLX5_CMD_OP_CREATE_QP, fill_udqp, source_qpn), PRIVILEGED);
	/* The context is at the same place in both commands. */
	refused(with(MLX5_CMD_OP_RST2INIT_QP, fill_init, rlky_qp), PRIVILEGED);
	refused(with(MLX5_CMD_OP_RST2INIT_QP, fill_init, source_qpn), PRIVILEGED);
	refused(with(MLX5_CMD_OP_CREATE_DCT, fill_dct, rlky_dct), PRIVILEGED);
	refused(with(MLX5_CMD_OP_CREATE_MKEY, fill_mkey, pa_mkey), PRIVILEGED);
	refused(with(MLX5_CMD_OP_CREATE_MKEY, fill_mkey, page_list_mkey), UMEM);
	MLX5_SET(query_vport_counter_in, in, clear, 1);
	refused(run(users[0].uid, MLX5_CMD_OP_QUERY_VPORT_COUNTER, in, sizeof(in)), PRIVILEGED);
	memset(in, 0, sizeof(in));
	MLX5_SET(create_uctx_in, in, uctx.cap, 1);
	refused(run(0, MLX5_CMD_OP_CREATE_UCTX, in, sizeof(in)), PRIVILEGED);
}

/* ---- UMEMs ----------------------------------------------------------------------- */

static void ring_beyond(void *in)	{ put64(in, 0x280, 4 * HCA_PAGE_SIZE - 64); }
static void ring_far(void *in)		{ put64(in, 0x280, ~0ull - 63); }
static void ring_misaligned(void *in)	{ put64(in, 0x280, 32); }
static void ring_offset(void *in)	{ MLX5_SET(create_cq_in, in, cq_context.page_offset, 1); }
static void record_misaligned(void *in)	{ put64(in, 0x80 + 0x1c0, RECORDS_AT + 4); }
static void record_beyond(void *in)	{ put64(in, 0x80 + 0x1c0, 4 * HCA_PAGE_SIZE); }
static void mkey_beyond(void *in)	{ put64(in, 0x340, 4 * HCA_PAGE_SIZE - 255); }
static void mkey_far(void *in)		{ put64(in, 0x340, ~0ull - 7); }
static void mkey_klm(void *in)
{
	MLX5_SET(create_mkey_in, in, memory_key_mkey_entry.access_mode_1_0, MLX5R_MKEY_MODE_KLM);
}

static void mkey_read_only(void *in)
{
	MLX5_SET(create_mkey_in, in, memory_key_mkey_entry.lw, 0);
	MLX5_SET(create_mkey_in, in, memory_key_mkey_entry.rw, 0);
}

static void no_change(void *in)
{
}

static void test_umem(void)
{
	struct user *u = &users[0];
	u32 umem = u->umem;

	refused(with(MLX5_CMD_OP_CREATE_CQ, fill_cq, ring_beyond), UMEM_RANGE);
	refused(with(MLX5_CMD_OP_CREATE_CQ, fill_cq, ring_far), UMEM_RANGE);
	refused(with(MLX5_CMD_OP_CREATE_CQ, fill_cq, ring_misaligned), UMEM_RANGE);
	refused(with(MLX5_CMD_OP_CREATE_CQ, fill_cq, ring_offset), PAGE_LIST);
	refused(with(MLX5_CMD_OP_CREATE_CQ, fill_cq, record_misaligned), UMEM_RANGE);
	refused(with(MLX5_CMD_OP_CREATE_CQ, fill_cq, record_beyond), UMEM_RANGE);
	refused(with(MLX5_CMD_OP_CREATE_MKEY, fill_mkey, mkey_beyond), UMEM_RANGE);
	refused(with(MLX5_CMD_OP_CREATE_MKEY, fill_mkey, mkey_far), UMEM_RANGE);
	refused(with(MLX5_CMD_OP_CREATE_MKEY, fill_mkey, mkey_klm), UMEM);
	refused(brief(u->uid, MLX5_CMD_OP_DESTROY_UMEM, umem), UMEM_BUSY);

	refused(create_umem(u, 0, 0), PAGE_LIST);
	refused(create_umem(u, CAN_READ, HCA_PAGE_SIZE), PAGE_LIST);
	accepted(create_umem(u, CAN_READ, 0));
	u->umem = number();
	refused(with(MLX5_CMD_OP_CREATE_CQ, fill_cq, no_change), UMEM_RANGE);
	accepted(with(MLX5_CMD_OP_CREATE_RMP, fill_rmp, no_change));
	accepted(brief(u->uid, MLX5_CMD_OP_DESTROY_RMP, number()));
	refused(with(MLX5_CMD_OP_CREATE_MKEY, fill_mkey, no_change), UMEM_RANGE);
	accepted(with(MLX5_CMD_OP_CREATE_MKEY, fill_mkey, mkey_read_only));
	accepted(brief(u->uid, MLX5_CMD_OP_DESTROY_MKEY, number()));
	accepted(brief(u->uid, MLX5_CMD_OP_DESTROY_UMEM, u->umem));
	u->umem = umem;
}

/* An entry must not cross a page: the driver takes the offset in the page from the process. */
static void test_entries(void)
{
	u32 in[(MLX5_ST_SZ_BYTES(create_cq_in) + 16) / 4] = {};
	void *cqc = MLX5_ADDR_OF(create_cq_in, in, cq_context);
	u64 pages = session_alloc(&s, 2 * HCA_PAGE_SIZE);

	MLX5_SET(cqc, cqc, log_cq_size, 5);
	MLX5_SET(cqc, cqc, cqe_sz, 1);
	MLX5_SET(cqc, cqc, page_offset, 1);
	MLX5_SET(cqc, cqc, uar_page, s.uar[0]);
	MLX5_SET(cqc, cqc, c_eqn_or_apu_element, s.eqn[0]);
	MLX5_SET64(cqc, cqc, dbr_addr, pages);
	put64(MLX5_ADDR_OF(create_cq_in, in, pas), 0, pages);
	put64(MLX5_ADDR_OF(create_cq_in, in, pas), 64, pages + HCA_PAGE_SIZE);
	refused(run(0, MLX5_CMD_OP_CREATE_CQ, in, sizeof(in)), PAGE_LIST);
	MLX5_SET(cqc, cqc, page_offset, 2);
	accepted(run(0, MLX5_CMD_OP_CREATE_CQ, in, sizeof(in)));
	accepted(brief(0, MLX5_CMD_OP_DESTROY_CQ, number()));
}

static void driver_uar(void *in)
{
	MLX5_SET(create_cq_in, in, cq_context.uar_page, s.uar[0]);
}

static void foreign_uar(void *in)
{
	MLX5_SET(create_cq_in, in, cq_context.uar_page, users[1].uar);
}

/* Old drivers allocate the pages of processes as their own. */
static void test_plain_uars(void)
{
	refused(with(MLX5_CMD_OP_CREATE_CQ, fill_cq, driver_uar), UAR);
	s.hca[0]->p.plain_uars = true;
	refused(with(MLX5_CMD_OP_CREATE_CQ, fill_cq, foreign_uar), UAR);
	refused(brief(users[0].uid, MLX5_CMD_OP_DEALLOC_UAR, s.uar[0]), UAR);
	accepted(with(MLX5_CMD_OP_CREATE_CQ, fill_cq, driver_uar));
	accepted(brief(users[0].uid, MLX5_CMD_OP_DESTROY_CQ, number()));
	s.hca[0]->p.plain_uars = false;
}

/* ---- Data ------------------------------------------------------------------------ */

/* An RDMA WRITE of the queue pair to itself: all rings and data are in the UMEM. */
static void test_data(void)
{
	struct user *u = &users[0];
	struct session_qp q = { .s = &s, .qp.qp_num = u->qpn };
	u8 *mem = session_ptr(&s, u->memory), *data = mem + DATA_AT;
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_raddr raddr;
		struct mlx5r_data data;
	} w = {
		.ctrl.opmod_idx_opcode = cpu_to_be32(MLX5R_OP_RDMA_WRITE),
		.ctrl.qpn_ds = cpu_to_be32(u->qpn << 8 | 3),
		.ctrl.fm_ce_se = MLX5_WQE_CTRL_CQ_UPDATE,
		.raddr.addr = cpu_to_be64(0x10008 + 64),
		.raddr.rkey = cpu_to_be32(u->mkey << 8),
		.data = { cpu_to_be32(40), cpu_to_be32(u->mkey << 8), cpu_to_be64(0x10008 + 7) },
	};
	const struct hca_cq *cq = hca_table_get(&s.hca[0]->cqs, u->cqn);
	u32 slot = cq->pi;		/* a resize has used the first one */
	unsigned int i;

	session_connect(&q, &q);
	for (i = 0; i < 256; i++)
		data[i] = i;
	memset(mem, 0xff, HCA_PAGE_SIZE);
	memcpy(mem + HCA_PAGE_SIZE, &w, sizeof(w));
	((__be32 *)(mem + RECORDS_AT + 8))[MLX5R_DBR_SND] = cpu_to_be32(1);
	hca_qp_read_record(hca_qp_get(s.hca[0], u->qpn));
	session_settle(&s);
	tap_is(mem[slot * 64 + 63] >> 4, MLX5R_CQE_REQ, "the write completes");
	ok(!memcmp(data + 64, data + 7, 40) && data[104] == 104 && data[63] == 63,
	   "the data is where the mkey begins in the UMEM");
	accepted(brief(u->uid, MLX5_CMD_OP_2RST_QP, u->qpn));
}

/* ---- The life of a context ------------------------------------------------------- */

static u32 make(u16 uid, u16 opcode, fill_fn *fill, const struct user *u)
{
	u32 in[1024] = {}, synd;

	if (fill)
		fill(u, in);
	synd = run(uid, opcode, in, hca_opcode_find(opcode)->min_in);
	if (synd) {
		fprintf(stderr, "opcode %#x: %s\n", opcode, hca_synd_text(synd));
		exit(99);
	}
	return number();
}

static void make_user(struct user *u)
{
	u->memory = session_alloc(&s, UMEM_PAGES * HCA_PAGE_SIZE);
	u->uid = make(0, MLX5_CMD_OP_CREATE_UCTX, NULL, u);
	create_umem(u, CAN_READ | CAN_WRITE, 0);
	u->umem = number();
	u->pd = make(u->uid, MLX5_CMD_OP_ALLOC_PD, NULL, u);
	u->xrcd = make(u->uid, MLX5_CMD_OP_ALLOC_XRCD, NULL, u);
	u->td = make(u->uid, MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN, NULL, u);
	u->counter = make(u->uid, MLX5_CMD_OP_ALLOC_Q_COUNTER, NULL, u);
	u->uar = make(u->uid, MLX5_CMD_OP_ALLOC_UAR, NULL, u);
	u->cqn = make(u->uid, MLX5_CMD_OP_CREATE_CQ, fill_cq, u);
	u->qpn = make(u->uid, MLX5_CMD_OP_CREATE_QP, fill_qp, u);
	u->udqpn = make(u->uid, MLX5_CMD_OP_CREATE_QP, fill_udqp, u);
	u->rmpn = make(u->uid, MLX5_CMD_OP_CREATE_RMP, fill_rmp, u);
	u->dctn = make(u->uid, MLX5_CMD_OP_CREATE_DCT, fill_dct, u);
	u->mkey = make(u->uid, MLX5_CMD_OP_CREATE_MKEY, fill_mkey, u);
}

/* CREATE_EQ and ALLOC_Q_COUNTER as the driver sends them */
static void make_shared(void)
{
	u32 in[(MLX5_ST_SZ_BYTES(create_eq_in) + 8) / 4] = {};
	void *eqc = MLX5_ADDR_OF(create_eq_in, in, eq_context_entry);

	MLX5_SET(eqc, eqc, log_eq_size, 6);
	MLX5_SET(eqc, eqc, uar_page, s.uar[0]);
	put64(MLX5_ADDR_OF(create_eq_in, in, pas), 0, session_alloc(&s, HCA_PAGE_SIZE));
	accepted(run(HCA_SHARED_UID, MLX5_CMD_OP_CREATE_EQ, in, sizeof(in)));
	shared_eqn = number();
	accepted(brief(HCA_SHARED_UID, MLX5_CMD_OP_ALLOC_Q_COUNTER, 0));
	shared_counter = number();
}

/* All that the second user has, users of objects before the objects */
static void test_end(void)
{
	struct user *u = &users[1];

	refused(brief(0, MLX5_CMD_OP_DESTROY_UCTX, u->uid), UCTX_BUSY);
	accepted(brief(u->uid, MLX5_CMD_OP_DESTROY_MKEY, u->mkey));
	accepted(brief(u->uid, MLX5_CMD_OP_DRAIN_DCT, u->dctn));
	session_settle(&s);
	accepted(brief(u->uid, MLX5_CMD_OP_DESTROY_DCT, u->dctn));
	accepted(brief(u->uid, MLX5_CMD_OP_DESTROY_QP, u->qpn));
	accepted(brief(u->uid, MLX5_CMD_OP_DESTROY_QP, u->udqpn));
	accepted(brief(u->uid, MLX5_CMD_OP_DESTROY_RMP, u->rmpn));
	accepted(brief(u->uid, MLX5_CMD_OP_DESTROY_CQ, u->cqn));
	accepted(brief(u->uid, MLX5_CMD_OP_DEALLOC_UAR, u->uar));
	accepted(brief(u->uid, MLX5_CMD_OP_DEALLOC_Q_COUNTER, u->counter));
	accepted(brief(u->uid, MLX5_CMD_OP_DEALLOC_TRANSPORT_DOMAIN, u->td));
	accepted(brief(u->uid, MLX5_CMD_OP_DEALLOC_XRCD, u->xrcd));
	accepted(brief(u->uid, MLX5_CMD_OP_DEALLOC_PD, u->pd));
	refused(brief(0, MLX5_CMD_OP_DESTROY_UCTX, u->uid), UCTX_BUSY);
	accepted(brief(u->uid, MLX5_CMD_OP_DESTROY_UMEM, u->umem));
	accepted(brief(0, MLX5_CMD_OP_DESTROY_UCTX, u->uid));
	refused(brief(0, MLX5_CMD_OP_DESTROY_UCTX, u->uid), UCTX);
	refused(brief(u->uid, MLX5_CMD_OP_ALLOC_PD, 0), UID);
}

/* An mkey of a user would give access to the next PD with the same number. */
static void test_pd(void)
{
	struct user u = users[0];

	u.pd = make(u.uid, MLX5_CMD_OP_ALLOC_PD, NULL, &u);
	u.mkey = make(u.uid, MLX5_CMD_OP_CREATE_MKEY, fill_mkey, &u);
	refused(brief(u.uid, MLX5_CMD_OP_DEALLOC_PD, u.pd), PD_BUSY);
	accepted(brief(u.uid, MLX5_CMD_OP_DESTROY_MKEY, u.mkey));
	accepted(brief(u.uid, MLX5_CMD_OP_DEALLOC_PD, u.pd));
}

/* ---- Memory of lists ---------------------------------------------------------------- */

static u32 create_list(u16 uid, u32 pd, u32 entries)
{
	u32 in[MLX5_ST_SZ_DW(create_mkey_in)] = {};
	void *mkc = MLX5_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);

	MLX5_SET(mkc, mkc, access_mode_1_0, MLX5R_MKEY_MODE_KLM);
	MLX5_SET(mkc, mkc, free, 1);
	MLX5_SET(mkc, mkc, umr_en, 1);
	MLX5_SET(mkc, mkc, qpn, HCA_ANY_QPN);
	MLX5_SET(mkc, mkc, pd, pd);
	MLX5_SET(mkc, mkc, translations_octword_size, entries);
	return run(uid, MLX5_CMD_OP_CREATE_MKEY, in, sizeof(in));
}

#define LIST_ENTRIES	65536u

/* Creates keys with long lists until one is refused; returns how many. */
static u32 create_lists(const struct user *u, u32 *key)
{
	u32 n = 0;

	while (n < 100 && !create_list(u->uid, u->pd, LIST_ENTRIES))
		key[n++] = number();
	return n;
}

/* All entries of a list can be set, also if no further list is possible. */
static bool can_fill(u32 key)
{
	static struct mlx5r_klm klm[LIST_ENTRIES];

	return !hca_mkey_set_klms(hca_mkey_get(s.hca[0], key << 8), 0, LIST_ENTRIES, klm, true);
}

static void test_lists(void)
{
	enum { USERS = 5 };
	static u32 key[USERS + 1][100];
	struct user u[USERS], driver = { .pd = s.pd[0] };
	u64 memory = s.hca[0]->list_bytes.processes;
	u32 n[USERS + 1], i, all = 0;

	for (i = 0; i < USERS; i++) {
		u[i].uid = make(0, MLX5_CMD_OP_CREATE_UCTX, NULL, &u[i]);
		u[i].pd = make(u[i].uid, MLX5_CMD_OP_ALLOC_PD, NULL, &u[i]);
		n[i] = create_lists(&u[i], key[i]);
		all += n[i];
	}
	ok(n[0] && n[0] * LIST_ENTRIES * sizeof(struct hca_klm) <= SESSION_LIST_BYTES / 4,
	   "a context has %u long lists", n[0]);
	ok(n[1] == n[0] && n[4] < n[0] &&
	   all * LIST_ENTRIES * sizeof(struct hca_klm) <= SESSION_LIST_BYTES,
	   "all contexts have %u", all);
	refused(create_list(u[0].uid, u[0].pd, LIST_ENTRIES), MKEY_MEMORY);
	tap_is(hca_synd_status(HCA_SYND_MKEY_MEMORY), MLX5_CMD_STAT_NO_RES_ERR, "its status");
	ok(can_fill(key[0][0]), "a list that exists can be filled");
	n[USERS] = create_lists(&driver, key[USERS]);
	ok(n[USERS] > n[0], "the driver has %u of its own", n[USERS]);
	accepted(create_list(0, s.pd[0], 4));
	accepted(brief(0, MLX5_CMD_OP_DESTROY_MKEY, number()));
	accepted(brief(u[0].uid, MLX5_CMD_OP_DESTROY_MKEY, key[0][--n[0]]));
	accepted(create_list(u[0].uid, u[0].pd, LIST_ENTRIES));
	key[0][n[0]++] = number();
	for (i = 0; i < USERS; i++)
		while (n[i])
			brief(u[i].uid, MLX5_CMD_OP_DESTROY_MKEY, key[i][--n[i]]);
	while (n[USERS])
		brief(0, MLX5_CMD_OP_DESTROY_MKEY, key[USERS][--n[USERS]]);
	ok(s.hca[0]->list_bytes.processes == memory && !s.hca[0]->list_bytes.driver,
	   "destroyed keys are not charged");
	for (i = 0; i < USERS; i++) {
		accepted(brief(u[i].uid, MLX5_CMD_OP_DEALLOC_PD, u[i].pd));
		accepted(brief(0, MLX5_CMD_OP_DESTROY_UCTX, u[i].uid));
	}
}

/* A process may create many keys with the pages of one UMEM. */
static void test_umem_lists(void)
{
	struct user *u = &users[0];
	u32 n = 0, synd, key[100];

	/* Room for ten keys in a context, which has some already */
	s.hca[0]->p.list_bytes = 4 * hca_mkey_get(s.hca[0], u->mkey << 8)->list_bytes * 10;
	do {
		u32 in[MLX5_ST_SZ_DW(create_mkey_in)] = {};

		fill_mkey(u, in);
		synd = run(u->uid, MLX5_CMD_OP_CREATE_MKEY, in, sizeof(in));
		key[n] = number();
	} while (!synd && ++n < 100);
	tap_is(synd, HCA_SYND_MKEY_MEMORY, "keys of a UMEM: %s", hca_synd_text(synd));
	ok(n && n < 10, "a context has %u more", n);
	while (n)
		brief(u->uid, MLX5_CMD_OP_DESTROY_MKEY, key[--n]);
	s.hca[0]->p.list_bytes = SESSION_LIST_BYTES;
}

/* The driver names all objects, whoever has them. */
static void test_driver(void)
{
	accepted(brief(0, MLX5_CMD_OP_QUERY_QP, users[0].qpn));
	accepted(brief(0, MLX5_CMD_OP_QUERY_MKEY, users[0].mkey));
	accepted(brief(0, MLX5_CMD_OP_DEALLOC_TRANSPORT_DOMAIN, users[0].td));
	accepted(brief(0, MLX5_CMD_OP_TEARDOWN_HCA, 0));
	tap_is(s.hca[0]->uctxs.count + s.hca[0]->umems.count, 0, "teardown frees everything");
}

int main(void)
{
	session_init(&s);
	make_shared();
	make_user(&users[0]);
	make_user(&users[1]);
	test_rules();
	test_names();
	test_shared();
	test_privileges();
	test_umem();
	test_entries();
	test_plain_uars();
	test_data();
	test_pd();
	test_lists();
	test_umem_lists();
	test_end();
	test_driver();
	session_free(&s);
	return tap_done();
}
