// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzes firmware commands.
 *
 * The input is a list of commands. Each has an opcode, a length and pieces of the mailbox. A
 * piece is raw bytes, or a value that exists (the number of an object, a page, a doorbell
 * record), so that commands can succeed. Commands go to one of several functions, whose
 * objects have the same numbers. Some commands go through the command queue of the first
 * function, with flaws. On each function a queue waits for a CQ that no queue uses.
 *
 * A part of the commands is from a process with a user context (hostile.h). It changes no object
 * of others, and its objects use no memory but its own.
 *
 * The adapter answers each command with success, or with an error status and a syndrome of
 * this status. Its reference counts stay right, and at the end it frees all objects.
 */
#include <stdlib.h>
#include <string.h>
#include "cmd/cmd.h"
#include "cmd_queue.h"
#include "hostile.h"
#include "waiters.h"

#define MAX_IN		CMD_QUEUE_IN
#define MAX_OUT		CMD_QUEUE_OUT

#define QPS		5u		/* queue pairs of a function, one of them destroyed */
#define HOSTILE_QPS	2u		/* of the process */

static struct session s;
static u64 page, record;
static int func;			/* target of the command */
static struct hostile hostiles[SESSION_FUNCS];
static const struct hostile *by;	/* who sends the command; NULL: the driver */

static void check(bool good, const char *what, u16 opcode)
{
	if (good)
		return;
	fprintf(stderr, "%#x: %s\n", opcode, what);
	abort();
}

/* A number that is probably in use */
static u32 real_number(u8 kind, u8 which)
{
	const struct hca_table *const tables[] = {
		&s.hca[func]->pds, &s.hca[func]->uars_by_index, &s.hca[func]->eqs,
		&s.hca[func]->cqs, &s.hca[func]->qps, &s.hca[func]->srqs,
		&s.hca[func]->mkeys, &s.hca[func]->xrcds, &s.hca[func]->counters,
		&s.hca[func]->umems, &s.hca[func]->uctxs,
	};
	const struct hca_table *t = tables[kind % ARRAY_SIZE(tables)];

	return t->first + which % (t->used_end - t->first + 1);
}

struct piece {
	u8 at_lo, at_hi, kind, a, b, c;
} __attribute__((packed));

/* Writes a piece to an aligned dword of the mailbox. */
static void apply(u8 *in, u32 inlen, const struct piece *p)
{
	u32 at = (p->at_lo | p->at_hi << 8) % MAX_IN & ~3u;
	u64 addr;
	u32 v;

	if (at + 8 > inlen)
		return;
	switch (p->kind % 4) {
	case 0:					/* three raw bytes */
		memcpy(in + at + 1, &p->a, 3);
		break;
	case 1:					/* one byte of the dword */
		in[at + p->a % 4] = p->b;
		break;
	case 2:					/* a number in the low 24 bits */
		v = real_number(p->a, p->b);
		in[at + 1] = v >> 16;
		in[at + 2] = v >> 8;
		in[at + 3] = v;
		break;
	case 3:					/* a 64-bit address */
		addr = p->a & 1 ? record : page;
		v = cpu_to_be32(addr >> 32);
		memcpy(in + at, &v, 4);
		v = cpu_to_be32((u32)addr);
		memcpy(in + at + 4, &v, 4);
		break;
	}
}

static void check_users(u16 opcode)
{
	u32 n = 0, i;
	struct hca_cq *cq;
	struct hca_qp *qp;
	struct hca_srq *srq;

	for (i = s.hca[func]->cqs.first; i < s.hca[func]->cqs.used_end; i++) {
		cq = hca_table_get(&s.hca[func]->cqs, i);
		n += cq ? cq->users : 0;
	}
	for (i = s.hca[func]->qps.first; i < s.hca[func]->qps.used_end; i++) {
		qp = hca_table_get(&s.hca[func]->qps, i);
		n -= qp ? !!qp->scq + !!qp->rcq : 0;
	}
	for (i = s.hca[func]->srqs.first; i < s.hca[func]->srqs.used_end; i++) {
		srq = hca_table_get(&s.hca[func]->srqs, i);
		n -= srq ? srq->kind == HCA_XRC_SRQ : 0;
	}
	check(!n, "the counts of users of CQs are wrong", opcode);
}

/* ---- Valid commands ------------------------------------------------- */

static void put(u8 *at, u64 addr)
{
	__be64 v = cpu_to_be64(addr);

	memcpy(at, &v, 8);
}

/* Objects of the sender */
static u32 pd(void)
{
	return by ? by->pd : s.pd[func];
}

static u32 uar(void)
{
	return by ? by->uar : s.uar[func];
}

static u32 cqn(void)
{
	return by ? by->cqn : s.hca[func]->cqs.first;
}

static u32 srqn(void)
{
	/* The first one is that of the process. */
	return by ? by->srqn : s.hca[func]->srqs.first + 1;
}

/* A record: at an address, or in the UMEM whose number is at the bit offset @umem */
static void put_record(u8 *at, u8 *in, u32 umem)
{
	put(at, by ? HOSTILE_RECORD : record);
	if (by)
		*(__be32 *)(in + umem / 8) = cpu_to_be32(by->umem);
}

/* A ring: its page list, or the UMEM */
static void put_ring(u8 *pas, u8 *in, u32 umem)
{
	put(pas, page);
	if (by)
		*(__be32 *)(in + umem / 8) = cpu_to_be32(by->umem);
}

static void valid_eq(u8 *in)
{
	void *eqc = MLX5_ADDR_OF(create_eq_in, in, eq_context_entry);

	MLX5_SET(eqc, eqc, log_eq_size, 5);
	MLX5_SET(eqc, eqc, uar_page, s.uar[func]);
	put(MLX5_ADDR_OF(create_eq_in, in, pas), page);
}

static void valid_cq(u8 *in)
{
	void *cqc = MLX5_ADDR_OF(create_cq_in, in, cq_context);

	MLX5_SET(cqc, cqc, log_cq_size, 4);
	MLX5_SET(cqc, cqc, uar_page, uar());
	MLX5_SET(cqc, cqc, c_eqn_or_apu_element, by ? by->eqn : s.eqn[func]);
	put_record(MLX5_ADDR_OF(cqc, cqc, dbr_addr), cqc, 0x20);
	put_ring(MLX5_ADDR_OF(create_cq_in, in, pas), in, 0x2c0);
}

/* With all flags of cross-channel, which a piece may clear */
static void valid_qp(u8 *in)
{
	void *qpc = MLX5_ADDR_OF(create_qp_in, in, qpc);

	MLX5_SET(qpc, qpc, pd, pd());
	MLX5_SET(qpc, qpc, uar_page, uar());
	MLX5_SET(qpc, qpc, log_rq_stride, 2);
	MLX5_SET(qpc, qpc, log_sq_size, 2);
	MLX5_SET(qpc, qpc, cd_master, 1);
	MLX5_SET(qpc, qpc, cd_slave_send, 1);
	MLX5_SET(qpc, qpc, cd_slave_receive, 1);
	MLX5_SET(qpc, qpc, cqn_snd, cqn());
	MLX5_SET(qpc, qpc, cqn_rcv, cqn());
	put_record(MLX5_ADDR_OF(qpc, qpc, dbr_addr), qpc, 0x720);
	put_ring(MLX5_ADDR_OF(create_qp_in, in, pas), in, 0x840);
}

static void valid_modify_qp(u8 *in)
{
	void *qpc = MLX5_ADDR_OF(rst2init_qp_in, in, qpc);

	MLX5_SET(rst2init_qp_in, in, qpn, by ? by->qpn : s.hca[func]->qps.first);
	MLX5_SET(qpc, qpc, pm_state, MLX5_QP_PM_MIGRATED);
	MLX5_SET(qpc, qpc, mtu, 3);
	MLX5_SET(qpc, qpc, primary_address_path.vhca_port_num, 1);
}

static void valid_sq(u8 *in)
{
	void *sqc = MLX5_ADDR_OF(create_sq_in, in, ctx), *wq = MLX5_ADDR_OF(sqc, sqc, wq);

	MLX5_SET(sqc, sqc, cqn, cqn());
	MLX5_SET(wq, wq, wq_type, MLX5_WQ_TYPE_CYCLIC);
	MLX5_SET(wq, wq, uar_page, uar());
	MLX5_SET(wq, wq, log_wq_stride, 6);
	MLX5_SET(wq, wq, log_wq_sz, 2);
	put(MLX5_ADDR_OF(wq, wq, dbr_addr), record);
	put(MLX5_ADDR_OF(wq, wq, pas), page);
}

/* To ready: the first SQ, whose number follows those of the QPs of the session */
static void valid_modify_sq(u8 *in)
{
	MLX5_SET(modify_sq_in, in, sqn, s.hca[func]->qps.first + QPS + HOSTILE_QPS);
	MLX5_SET(modify_sq_in, in, ctx.state, MLX5_SQC_STATE_RDY);
}

static void valid_rmp(u8 *in)
{
	void *rmpc = MLX5_ADDR_OF(create_rmp_in, in, ctx);
	void *wq = MLX5_ADDR_OF(rmpc, rmpc, wq);

	MLX5_SET(rmpc, rmpc, state, 1);
	MLX5_SET(wq, wq, pd, pd());
	MLX5_SET(wq, wq, log_wq_stride, 6);
	MLX5_SET(wq, wq, log_wq_sz, 3);
	put_record(MLX5_ADDR_OF(wq, wq, dbr_addr), wq, 0x140);
	put_ring(MLX5_ADDR_OF(wq, wq, pas), wq, 0x160);
}

static void valid_xrc_srq(u8 *in)
{
	void *srqc = MLX5_ADDR_OF(create_xrc_srq_in, in, xrc_srq_context_entry);

	MLX5_SET(xrc_srqc, srqc, log_xrc_srq_size, 3);
	MLX5_SET(xrc_srqc, srqc, log_rq_stride, 2);
	MLX5_SET(xrc_srqc, srqc, pd, pd());
	MLX5_SET(xrc_srqc, srqc, xrcd, s.hca[func]->xrcds.first);
	MLX5_SET(xrc_srqc, srqc, cqn, cqn());
	put(MLX5_ADDR_OF(xrc_srqc, srqc, db_record_addr_h), record);
	put(MLX5_ADDR_OF(create_xrc_srq_in, in, pas), page);
}

/* Creates a DCT with the first shared receive queue, which another command has created. */
static void valid_dct(u8 *in)
{
	void *dctc = MLX5_ADDR_OF(create_dct_in, in, dct_context_entry);

	MLX5_SET(dctc, dctc, pd, pd());
	MLX5_SET(dctc, dctc, srqn_xrqn, srqn());
	MLX5_SET(dctc, dctc, cqn, cqn());
	MLX5_SET(dctc, dctc, mtu, IB_MTU_1024);
	MLX5_SET(dctc, dctc, port, 1);
}

/* The first DCT, whose number follows those of the QPs of the session */
static void valid_dctn(u8 *in)
{
	MLX5_SET(drain_dct_in, in, dctn, s.hca[func]->qps.first + QPS + HOSTILE_QPS);
}

static void valid_srq(u8 *in)
{
	void *srqc = MLX5_ADDR_OF(create_srq_in, in, srq_context_entry);

	MLX5_SET(srqc, srqc, log_srq_size, 3);
	MLX5_SET(srqc, srqc, log_rq_stride, 2);
	MLX5_SET(srqc, srqc, pd, pd());
	put(MLX5_ADDR_OF(srqc, srqc, dbr_addr), record);
	put(MLX5_ADDR_OF(create_srq_in, in, pas), page);
}

static void valid_mkey(u8 *in)
{
	void *mkc = MLX5_ADDR_OF(create_mkey_in, in, memory_key_mkey_entry);

	MLX5_SET(create_mkey_in, in, translations_octword_actual_size, 1);
	MLX5_SET(mkc, mkc, access_mode_1_0, MLX5R_MKEY_MODE_MTT);
	MLX5_SET(mkc, mkc, qpn, 0xffffff);
	MLX5_SET(mkc, mkc, pd, pd());
	MLX5_SET(mkc, mkc, log_page_size, HCA_PAGE_SHIFT);
	MLX5_SET(mkc, mkc, translations_octword_size, 4);
	put(MLX5_ADDR_OF(mkc, mkc, start_addr), page);
	put(MLX5_ADDR_OF(mkc, mkc, len), HCA_PAGE_SIZE);
	put_ring(MLX5_ADDR_OF(create_mkey_in, in, klm_pas_mtt), in, 0x320);
}

static void valid_resize(u8 *in)
{
	void *cqc = MLX5_ADDR_OF(modify_cq_in, in, cq_context);

	MLX5_SET(modify_cq_in, in, op_mod, 1);
	MLX5_SET(modify_cq_in, in, cqn, cqn());
	in[MLX5_BYTE_OFF(modify_cq_in, modify_field_select_resize_field_select) + 3] = 7;
	MLX5_SET(cqc, cqc, log_cq_size, 5);
	put_ring(MLX5_ADDR_OF(modify_cq_in, in, pas), in, 0x2c0);
}

static void valid_mcg(u8 *in)
{
	MLX5_SET(attach_to_mcg_in, in, qpn, by ? by->udqpn : s.hca[func]->qps.first + 1);
	*(u8 *)MLX5_ADDR_OF(attach_to_mcg_in, in, multicast_gid) = 0xff;
}

/* Reads the MTU. The numbers of other registers differ in one byte. */
static void valid_reg(u8 *in)
{
	MLX5_SET(access_register_in, in, op_mod, 1);
	MLX5_SET(access_register_in, in, register_id, 0x5003);
}

static void make_valid(u16 opcode, u8 *in)
{
	static const struct {
		u16 opcode;
		void (*fill)(u8 *in);
	} valid[] = {
		{ MLX5_CMD_OP_CREATE_EQ, valid_eq }, { MLX5_CMD_OP_CREATE_CQ, valid_cq },
		{ MLX5_CMD_OP_CREATE_QP, valid_qp }, { MLX5_CMD_OP_CREATE_RMP, valid_rmp },
		{ MLX5_CMD_OP_CREATE_SQ, valid_sq }, { MLX5_CMD_OP_MODIFY_SQ, valid_modify_sq },
		{ MLX5_CMD_OP_CREATE_XRC_SRQ, valid_xrc_srq },
		{ MLX5_CMD_OP_CREATE_SRQ, valid_srq },
		{ MLX5_CMD_OP_CREATE_MKEY, valid_mkey }, { MLX5_CMD_OP_MODIFY_CQ, valid_resize },
		{ MLX5_CMD_OP_CREATE_DCT, valid_dct }, { MLX5_CMD_OP_DESTROY_DCT, valid_dctn },
		{ MLX5_CMD_OP_DRAIN_DCT, valid_dctn }, { MLX5_CMD_OP_QUERY_DCT, valid_dctn },
		{ MLX5_CMD_OP_ARM_DCT_FOR_KEY_VIOLATION, valid_dctn },
		{ MLX5_CMD_OP_RST2INIT_QP, valid_modify_qp },
		{ MLX5_CMD_OP_INIT2RTR_QP, valid_modify_qp },
		{ MLX5_CMD_OP_RTR2RTS_QP, valid_modify_qp },
		{ MLX5_CMD_OP_RTS2RTS_QP, valid_modify_qp },
		{ MLX5_CMD_OP_ATTACH_TO_MCG, valid_mcg },
		{ MLX5_CMD_OP_DETACH_FROM_MCG, valid_mcg },
		{ MLX5_CMD_OP_ACCESS_REG, valid_reg },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(valid); i++)
		if (valid[i].opcode == opcode)
			valid[i].fill(in);
}

/* The head of a command in the input; pieces and flaws follow. */
struct head {
	u8 op, length, pieces, how;
} __attribute__((packed));

#define SHORT		0x80		/* in pieces */
#define SHORT_ANSWER	0x40
#define VALID		0x01		/* in how */
#define QUEUED		0x02
#define FLAWS(how)	((how) >> 2 & 3)
#define WAY(how)	((how) >> 4)		/* through the queue */
#define FUNCTION(how)	((how) >> 4 & 3)	/* otherwise */
#define HOSTILE		0x40			/* otherwise: from the process */

static u32 length(const struct hca_opcode *op, const struct head *h)
{
	u32 n = op->min_in + h->length % 64 * 4u;

	if (h->pieces & SHORT)
		n = op->min_in - h->length % op->min_in;
	return n < 8 ? 8 : n > MAX_IN ? MAX_IN : n;
}

static void check_answer(const u8 *out, u16 opcode)
{
	u32 synd = be32_to_cpu(((__be32 *)out)[1]);

	check(!out[0] == !synd, "status and syndrome disagree", opcode);
	check(!synd || (synd >= HCA_SYND_FIRST && synd < HCA_SYND_END &&
			out[0] == hca_synd_status(synd)), "unknown syndrome", opcode);
}

static void exec(u16 opcode, u8 *in, u32 inlen, u8 *out, u32 outlen)
{
	bool good = false;
	u64 others = 0;

	if (by && !hostile_command(by, opcode, in))
		return;
	if (by) {
		others = hostile_others(&s, func, by);
		/* The driver may have given its queues other memory. */
		good = hostile_memory_good(&s, func, by);
	}
	hca_cmd_exec(s.hca[func], in, inlen, out, outlen);
	while (!hca_reset_some(s.hca[func]))
		;
	check_answer(out, opcode);
	if (!by)
		return;
	check(others == hostile_others(&s, func, by), "an object of another has changed", opcode);
	check(!good || hostile_memory_good(&s, func, by), "an object uses memory of another",
	      opcode);
}

static const u8 *one_command(const u8 *data, const u8 *end)
{
	static u8 in[MAX_IN] __aligned(8), out[MAX_OUT] __aligned(8);
	const struct head *h = (const struct head *)data;
	unsigned int nops = 0, npieces = h->pieces & 0x3f, nflaws = FLAWS(h->how);
	const struct hca_opcode *op;
	u32 inlen, outlen = h->pieces & SHORT_ANSWER ? 16 : MAX_OUT;

	func = h->how & QUEUED ? 0 : FUNCTION(h->how) % SESSION_FUNCS;
	by = (h->how & (QUEUED | HOSTILE)) == HOSTILE ? &hostiles[func] : NULL;
	while (hca_opcode_at(nops))
		nops++;
	op = hca_opcode_at(h->op % nops);
	inlen = length(op, h);
	memset(in, 0, sizeof(in));
	if (h->how & VALID)
		make_valid(op->opcode, in);
	data += sizeof(*h);
	for (; npieces && end - data >= (long)sizeof(struct piece); npieces--) {
		apply(in, inlen, (const struct piece *)data);
		data += sizeof(struct piece);
	}
	if (op->opcode == MLX5_CMD_OP_TEARDOWN_HCA || op->opcode == MLX5_CMD_OP_DISABLE_HCA)
		in[12] |= 1;			/* an invalid command: the function stays enabled */
	in[0] = op->opcode >> 8;
	in[1] = op->opcode;
	if (!(h->how & QUEUED)) {
		exec(op->opcode, in, inlen, out, outlen);
		return data;
	}
	if (end - data < (long)(nflaws * sizeof(struct flaw)))
		nflaws = 0;
	if (cmd_queue_exec(&s, in, inlen, out, outlen, (const struct flaw *)data, nflaws,
			   WAY(h->how)))
		check_answer(out, op->opcode);
	return data + nflaws * sizeof(struct flaw);
}

static void begin_queues(struct session_qp q[QPS])
{
	static const u8 st[QPS] = {
		[1] = MLX5_QP_ST_UD, [3] = MLX5_QP_ST_DCI, [0] = MLX5_QP_ST_RC,
		[2] = MLX5_QP_ST_RC, [4] = MLX5_QP_ST_RC,
	};
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_wait wait;
	} w = {
		.ctrl.opmod_idx_opcode = cpu_to_be32(MLX5R_OP_WAIT),
		.ctrl.qpn_ds = cpu_to_be32(2),
		.wait.index = cpu_to_be32(1),
	};
	u32 i;

	for (i = 0; i < QPS; i++) {
		s.cross = i == 2 ? SESSION_MASTER : 0;
		session_qp(&s, func, st[i], 2, 2, &q[i]);
	}
	session_qp_destroy(&q[QPS - 1]);
	w.wait.number = cpu_to_be32(q[QPS - 1].cqn);
	session_connect(&q[2], &q[2]);
	xv_wr_raw(&q[2].qp, 1, &w);
	xv_commit_send(&q[2].qp);
	hca_qp_read_record(hca_table_get(&s.hca[func]->qps, q[2].qp.qp_num));
}

/* The process and its first queues */
static void begin_hostile(struct hostile *h)
{
	static const u16 creates[] = {
		MLX5_CMD_OP_CREATE_CQ, MLX5_CMD_OP_CREATE_QP, MLX5_CMD_OP_CREATE_QP,
		MLX5_CMD_OP_CREATE_RMP,
	};
	u32 *const numbers[] = { &h->cqn, &h->qpn, &h->udqpn, &h->srqn };
	static u8 in[MAX_IN] __aligned(8), out[MAX_OUT] __aligned(8);
	unsigned int i;

	hostile_begin(&s, func, h);
	by = h;
	for (i = 0; i < ARRAY_SIZE(creates); i++) {
		memset(in, 0, sizeof(in));
		make_valid(creates[i], in);
		MLX5_SET(alloc_pd_in, in, opcode, creates[i]);
		if (numbers[i] == &h->udqpn) {
			MLX5_SET(create_qp_in, in, qpc.st, MLX5_QP_ST_UD);
			MLX5_SET(create_qp_in, in, qpc.cd_master, 0);
			MLX5_SET(create_qp_in, in, qpc.cd_slave_send, 0);
			MLX5_SET(create_qp_in, in, qpc.cd_slave_receive, 0);
		}
		exec(creates[i], in, hca_opcode_find(creates[i])->min_in, out, MAX_OUT);
		check(!out[0], "the process cannot create an object", creates[i]);
		*numbers[i] = be32_to_cpu(((__be32 *)out)[2]) & 0xffffff;
	}
}

/*
 * Each function begins as it did for the first input: the same objects, in the same state.  With
 * FUZZ_CHECK in the environment only, because it takes as long as an input.
 */
static void check_clean(void)
{
	static u64 first[SESSION_FUNCS];
	static int wanted = -1;
	u64 state;

	if (wanted < 0)
		wanted = !!getenv("FUZZ_CHECK");
	for (func = 0; wanted && func < SESSION_FUNCS; func++) {
		state = hostile_others(&s, func, NULL);
		check(!first[func] || first[func] == state, "the reset has left something", 0);
		first[func] = state;
	}
}

static void end_queues(struct session_qp q[QPS])
{
	u32 i;

	for (i = 0; i < QPS - 1; i++) {
		free(q[i].qp.rq.wr_id);
		free(q[i].qp.sq.entry);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const u8 *end = data + size;
	static size_t used;
	struct session_qp q[SESSION_FUNCS][QPS];
	u32 n;

	if (!used) {
		shim_step = 0;
		session_init(&s);
		used = s.used;
	}
	s.used = used;
	s.last_index = 0;
	cmd_queue_attach(&s);
	for (func = 0; func < SESSION_FUNCS; func++)
		session_restart(&s, func);
	page = session_alloc(&s, 4 * HCA_PAGE_SIZE);
	record = session_alloc(&s, HCA_PAGE_SIZE);
	by = NULL;
	for (func = 0; func < SESSION_FUNCS; func++)
		begin_queues(q[func]);
	for (func = 0; func < SESSION_FUNCS; func++)
		begin_hostile(&hostiles[func]);
	check_clean();
	hca_fabric_poll(&s.fabric);
	for (n = 0; end - data > 4 && n < 200; n++) {
		data = one_command(data, end);
		check(waiters_good(&s), "a waiting queue is in no heap", 0);
		hca_fabric_poll(&s.fabric);
	}
	check(session_turns_bounded(&s), "a turn is above the limits", 0);
	for (func = 0; func < SESSION_FUNCS; func++)
		check_users(0);
	if (end - data == sizeof(struct head))
		cmd_queue_register(&s, data[0], (u32)data[1] << 24 | data[2] << 8 | data[3]);
	for (func = 0; func < SESSION_FUNCS; func++) {
		end_queues(q[func]);
		hca_reset(s.hca[func]);
	}
	return 0;
}
