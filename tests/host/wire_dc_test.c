// SPDX-License-Identifier: GPL-2.0
/*
 * Dynamically connected transport across a wire: initiators of one host send to targets of another
 * one and of their own, in turn.  Each message arrives once and whole, whatever the wire does to
 * the frames.
 */
#include <string.h>
#include "data/wire.h"
#include "dc.h"
#include "wire_kinds.h"

enum {
	DCIS		= 3,
	TARGETS		= 4,		/* the last one is local */
	MESSAGES	= 24,		/* of a DCI in a round */
	LONGEST		= 6000,
	AREA		= DCIS * MESSAGES * LONGEST,
	LIMIT_S		= 600,
};

enum op { SEND, SEND_IMM, WRITE, WRITE_IMM, READ, ADD, SWAP, MASKED_ADD, OPS };

static struct wire w;

static struct session_qp dci[DCIS];
static struct session_mr data, got;	/* of the initiators: what is sent; results */

/* Those of a function share a receive queue, and have one CQ. */
static struct target {
	struct session *s;
	int func;
	struct dc_target dct;
	struct dc_srq srq;
	struct session_qp owner;	/* only for its CQ */
	struct session_mr room, area, word;
	u32 seen, posted;
	u64 added;
} target[TARGETS];

static struct {
	enum op op;
	u32 len, to;
	bool arrived;
	u64 before;			/* the sum of ADDs of this DCI when it was posted */
} message[DCIS][MESSAGES];

static u32 number(u32 d, u32 i)
{
	return d * MESSAGES + i;
}

static struct hca_cq *cq_of(const struct target *t)
{
	return hca_table_get(&t->s->hca[t->func]->cqs, t->owner.cqn);
}

static struct hca_qp *hw(u32 d)
{
	return hca_qp_get(w.s[0].hca[0], dci[d].qp.qp_num);
}

static void make_target(u32 i, struct session *s, int func)
{
	struct target *t = &target[i];

	memset(t, 0, sizeof(*t));
	t->s = s;
	t->func = func;
	session_qp(s, func, MLX5_QP_ST_RC, 8, 4, &t->owner);
	t->srq = dc_srq(s, func);
	t->dct = dc_target(s, func, &t->srq, t->owner.cqn);
	t->room = session_mr(s, func, DCIS * MESSAGES * LONGEST, ALL_ACCESS);
	t->area = session_mr(s, func, AREA, ALL_ACCESS);
	t->word = session_mr(s, func, 16, ALL_ACCESS);
}

static void start(u64 seed)
{
	u32 i;

	wire_init(&w, seed);
	for (i = 0; i < DCIS; i++)
		dc_initiator(&w.s[0], 0, 8, &dci[i]);
	make_target(0, &w.s[1], 0);
	make_target(1, &w.s[1], 0);
	make_target(2, &w.s[1], 1);
	make_target(3, &w.s[0], 1);
	data = session_mr(&w.s[0], 0, AREA, ALL_ACCESS);
	got = session_mr(&w.s[0], 0, AREA, ALL_ACCESS);
}

static void end(void)
{
	u32 i;

	for (i = 0; i < DCIS; i++)
		session_qp_destroy(&dci[i]);
	for (i = 0; i < TARGETS; i++) {
		dc_simple(target[i].s, target[i].func, MLX5_CMD_OP_DRAIN_DCT, target[i].dct.dctn);
		dc_simple(target[i].s, target[i].func, MLX5_CMD_OP_DESTROY_DCT,
			  target[i].dct.dctn);
		session_qp_destroy(&target[i].owner);
	}
	wire_free(&w);
}

/* ---- A round ------------------------------------------------------------------------------ */

static bool is_received(enum op op)
{
	return op == SEND || op == SEND_IMM || op == WRITE_IMM;
}

static void fill(u32 d, u32 i)
{
	const u32 at = number(d, i) * LONGEST;
	u32 n;

	for (n = 0; n < LONGEST; n++)
		data.ptr[at + n] = random64() >> 24;
	/* A receiver knows the message by its first bytes. */
	data.ptr[at] = d;
	data.ptr[at + 1] = i;
}

static void post_receive(struct target *t)
{
	struct xv_sge sge = {
		.addr = t->room.addr + t->posted * LONGEST, .length = LONGEST, .lkey = t->room.key,
	};

	memset(t->room.ptr + t->posted++ * LONGEST, 0, LONGEST);
	dc_receive(t->s, &t->srq, &sge);
}

static void post(u32 d, u32 i)
{
	static const u8 opcode[] = {
		[SEND] = MLX5R_OP_SEND, [SEND_IMM] = MLX5R_OP_SEND_IMM,
		[WRITE] = MLX5R_OP_RDMA_WRITE, [WRITE_IMM] = MLX5R_OP_RDMA_WRITE_IMM,
		[READ] = MLX5R_OP_RDMA_READ, [ADD] = MLX5R_OP_ATOMIC_FA,
		[SWAP] = MLX5R_OP_ATOMIC_CS, [MASKED_ADD] = MLX5R_OP_ATOMIC_MASKED_FA,
	};
	struct target *t = &target[message[d][i].to];
	const u32 at = number(d, i) * LONGEST;
	const enum op op = message[d][i].op;
	struct dc_wr wr = {
		.opcode = opcode[op], .fm_ce_se = MLX5R_CE_ALWAYS, .imm = cpu_to_be32(number(d, i)),
		.raddr = op >= ADD ? t->word.addr : t->area.addr + at,
		.rkey = op >= ADD ? t->word.key : t->area.key, .nsge = 1,
		.sge = { session_sge(op >= READ ? &got : &data, at, message[d][i].len) },
	};

	if (op == ADD || op == MASKED_ADD)
		wr.arg[0] = 1;
	wr.opmod = op == MASKED_ADD ? 9 : 0;
	/* The words are never equal. */
	wr.arg[1] = op == SWAP ? ~0ull : 0;
	if (dc_build(&dci[d], &t->dct, &wr))
		ok(false, "the send queue has room");
}

static void prepare(u32 d, u32 i)
{
	enum op op = random64() % OPS;
	u32 len = random64() % 2 ? 2 + random64() % 100 : 2 + random64() % (LONGEST - 1);

	message[d][i].op = op;
	message[d][i].len = op >= ADD ? 8 : len;
	/* Some messages in sequence have one target. */
	message[d][i].to = i && random64() % 3 ? message[d][i - 1].to : random64() % TARGETS;
	message[d][i].arrived = false;
	fill(d, i);
}

/* Completion @n of a target; true if it is that of a message that has not arrived before */
static bool receive_is_good(struct target *t, u32 n)
{
	const struct mlx5r_cqe *cqe = hca_buf_at(&cq_of(t)->buf, (n & t->owner.cq.mask) * 64ull);
	u32 op = cqe->op_own >> 4, slot = be16_to_cpu(cqe->wqe_counter) % (1 << DC_LOG_SRQ), d, i;
	const u8 *room = session_ptr(t->s, be64_to_cpu(((struct mlx5r_data *)
			session_ptr(t->s, t->srq.ring + slot * 16ull))->addr));

	d = room[0];
	i = room[1];
	if (op == MLX5R_CQE_RESP_WR_IMM || op == MLX5R_CQE_RESP_SEND_IMM) {
		d = be32_to_cpu(cqe->imm_inval_pkey) / MESSAGES;
		i = be32_to_cpu(cqe->imm_inval_pkey) % MESSAGES;
	}
	if (d >= DCIS || i >= MESSAGES || message[d][i].arrived ||
	    &target[message[d][i].to] != t || !is_received(message[d][i].op) ||
	    be32_to_cpu(cqe->byte_cnt) != message[d][i].len)
		return false;
	message[d][i].arrived = true;
	if (message[d][i].op == WRITE_IMM)
		return true;
	return !memcmp(room, data.ptr + number(d, i) * LONGEST, message[d][i].len);
}

static bool message_is_good(u32 d, u32 i)
{
	const struct target *t = &target[message[d][i].to];
	const u32 at = number(d, i) * LONGEST, len = message[d][i].len;

	switch (message[d][i].op) {
	case SEND:
	case SEND_IMM:
		return message[d][i].arrived;
	case WRITE_IMM:
		return message[d][i].arrived && !memcmp(t->area.ptr + at, data.ptr + at, len);
	case WRITE:
		return !memcmp(t->area.ptr + at, data.ptr + at, len);
	case READ:
		return !memcmp(t->area.ptr + at, got.ptr + at, len);
	default:
		return *(u64 *)(got.ptr + at) <= t->added;
	}
}

static u32 sum_of(const struct target *t)
{
	u32 d, i, n = 0;

	for (d = 0; d < DCIS; d++)
		for (i = 0; i < MESSAGES; i++)
			n += &target[message[d][i].to] == t &&
			     (message[d][i].op == ADD || message[d][i].op == MASKED_ADD);
	return n;
}

static bool target_is_good(struct target *t)
{
	u32 bad = 0;

	for (; t->seen != cq_of(t)->pi; t->seen++)
		bad += !receive_is_good(t, t->seen);
	t->owner.cq.dbrec[MLX5R_DBR_CQ_CI] = cpu_to_be32(t->seen & 0xffffff);
	t->added += sum_of(t);
	return !bad && *(u64 *)t->word.ptr == t->added &&
	       hca_dct_get(t->s->hca[t->func], t->dct.dctn)->state == MLX5_QP_STATE_RTS;
}

static bool dci_is_good(u32 d)
{
	u32 sent = 0, bad = 0;
	struct xv_wc wc;

	for (; xv_poll_cq(&dci[d].cq, 1, &wc) > 0; sent++)
		bad += wc.status != XV_WC_SUCCESS;
	return sent == MESSAGES && !bad && hw(d)->state == MLX5_QP_STATE_RTS;
}

static bool round_is_good(void)
{
	u32 d, i, bad = 0;

	for (i = 0; i < TARGETS; i++) {
		target[i].posted = 0;
		memset(target[i].area.ptr, i + 1, AREA);
	}
	memset(got.ptr, 0, AREA);
	for (d = 0; d < DCIS; d++)
		for (i = 0; i < MESSAGES; i++) {
			prepare(d, i);
			if (is_received(message[d][i].op))
				post_receive(&target[message[d][i].to]);
		}
	for (d = 0; d < DCIS; d++) {
		for (i = 0; i < MESSAGES; i++)
			post(d, i);
		xv_commit_send(&dci[d].qp);
	}
	bad += !wire_settle(&w, LIMIT_S * NSEC_PER_SEC);
	for (i = 0; i < TARGETS; i++)
		bad += !target_is_good(&target[i]);
	for (d = 0; d < DCIS; d++) {
		bad += !dci_is_good(d);
		for (i = 0; i < MESSAGES; i++)
			bad += !message_is_good(d, i);
	}
	return !bad;
}

static const struct wire_kind wires[] = {
	{ "a good wire" },
	{ "a slow wire", .delay = 10 * NSEC_PER_MSEC },
	{ "1 % loss", { [WIRE_LOSS] = 10 } },
	{ "10 % loss", { [WIRE_LOSS] = 100 } },
	{ "10 % loss and a delay", { [WIRE_LOSS] = 100 }, NSEC_PER_MSEC },
	{ "10 % twice", { [WIRE_DUPLICATE] = 100 } },
	{ "10 % late", { [WIRE_REORDER] = 100 } },
	{ "5 % damaged", { [WIRE_CORRUPT] = 50 } },
	{ "3 % of each fault", { 30, 30, 30, 30 } },
	{ "3 % of each fault and a delay", { 30, 30, 30, 30 }, NSEC_PER_MSEC },
};

static const struct wire_rounds rounds = {
	.w = &w,
	.start = start,
	.round = round_is_good,
	.end = end,
};

int main(int argc, char **argv)
{
	wire_test_kinds(argc, argv, &rounds, wires, ARRAY_SIZE(wires));
	return tap_done();
}
