// SPDX-License-Identifier: GPL-2.0
/*
 * XRC across a wire: one target queue pair, and two shared receive queues, each with a CQ of its
 * own.  Messages arrive once and in order, in the queue that they name.
 */
#include <string.h>
#include "data/wire.h"
#include "wire_kinds.h"

enum {
	MESSAGES	= 24,		/* of a round */
	ROOM		= 16,		/* receive requests of a queue */
	LONGEST		= 5000,
	QUEUES		= 2,
	AREA		= MESSAGES * LONGEST,
};

enum op { SEND, WRITE, WRITE_IMM, READ, OPS };

static struct wire w;
static struct session_qp from, to, owner[QUEUES];	/* owners: only for their CQs */
static struct session_mr data, got, room, target;
static struct session_srq srq[QUEUES];
static u32 seen[QUEUES];		/* completions */

static struct {
	enum op op;
	u32 queue, len, nth;		/* nth: receive request of the queue, in the round */
} message[MESSAGES];

static struct hca_cq *cq_of(const struct session_qp *q)
{
	return hca_table_get(&q->s->hca[q->func]->cqs, q->cqn);
}

static struct hca_qp *hw(const struct session_qp *q)
{
	return hca_qp_get(q->s->hca[q->func], q->qp.qp_num);
}

static void start(u64 seed)
{
	u32 i;

	wire_init(&w, seed);
	session_qp(&w.s[0], 0, MLX5_QP_ST_XRC, 6, 6, &from);
	session_qp(&w.s[1], 0, MLX5_QP_ST_XRC, 6, 6, &to);
	for (i = 0; i < QUEUES; i++) {
		session_qp(&w.s[1], 0, MLX5_QP_ST_RC, 6, 6, &owner[i]);
		srq[i] = session_xrc_srq(&owner[i], NULL);
		seen[i] = 0;
	}
	session_connect(&from, &to);
	data = session_mr(&w.s[0], 0, AREA, ALL_ACCESS);
	got = session_mr(&w.s[0], 0, AREA, ALL_ACCESS);
	room = session_mr(&w.s[1], 0, QUEUES * ROOM * LONGEST, ALL_ACCESS);
	target = session_mr(&w.s[1], 0, AREA, ALL_ACCESS);
	for (i = 0; i < AREA; i++)
		data.ptr[i] = random64();
}

static void end(void)
{
	session_qp_destroy(&from);
	session_qp_destroy(&to);
	session_qp_destroy(&owner[0]);
	session_qp_destroy(&owner[1]);
	wire_free(&w);
}

static u8 *slot(u32 queue, u32 nth)
{
	return room.ptr + (queue * ROOM + nth) * LONGEST;
}

static bool is_received(enum op op)
{
	return op == SEND || op == WRITE_IMM;
}

static void post_receives(u32 queue, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		struct xv_sge sge = {
			.addr = room.addr + (queue * ROOM + i) * LONGEST,
			.length = LONGEST, .lkey = room.key,
		};

		memset(slot(queue, i), 0, LONGEST);
		session_srq_post(&w.s[1], &srq[queue], &sge);
	}
}

static void post(u32 i)
{
	const u32 len = message[i].len, srqn = srq[message[i].queue].srqn;
	struct xv_sge sge = session_sge(&data, i * LONGEST, len);
	struct xv_sge into = session_sge(&got, i * LONGEST, len);
	const u64 at = target.addr + i * LONGEST;

	switch (message[i].op) {
	case SEND:
		xv_wr_send_imm_xrc(&from.qp, i, XV_SEND_SIGNALED, &sge, srqn, cpu_to_be32(i));
		break;
	case WRITE:
		xv_wr_write_xrc(&from.qp, i, XV_SEND_SIGNALED, &sge, at, target.key, srqn);
		break;
	case WRITE_IMM:
		xv_wr_write_imm_xrc(&from.qp, i, XV_SEND_SIGNALED, &sge, at, target.key, srqn,
				    cpu_to_be32(i));
		break;
	default:
		xv_wr_read_xrc(&from.qp, i, XV_SEND_SIGNALED, &into, at, target.key, srqn);
	}
}

/* The SRQs are rings, so the receive requests of a round are all used. */
static void begin_round(u32 n[QUEUES])
{
	u32 i, k;

	memset(n, 0, QUEUES * sizeof(*n));
	for (i = 0; i < AREA; i++)
		target.ptr[i] = i * 5;
	memset(got.ptr, 0, AREA);
	for (i = 0; i < MESSAGES; i++) {
		enum op op = random64() % OPS;

		k = random64() % QUEUES;
		if (is_received(op) && n[k] == ROOM)
			op = WRITE;
		message[i].op = op;
		message[i].queue = k;
		message[i].len = random64() % 2 ? random64() % 100 : random64() % (LONGEST + 1);
		message[i].nth = is_received(op) ? n[k]++ : 0;
	}
	for (k = 0; k < QUEUES; k++)
		post_receives(k, n[k]);
	for (i = 0; i < MESSAGES; i++)
		post(i);
	xv_commit_send(&from.qp);
}

/* The completion of the next message that names the queue */
static bool receive_is_good(u32 i)
{
	const u32 k = message[i].queue;
	const struct mlx5r_cqe *cqe;

	if (!is_received(message[i].op))
		return true;
	cqe = hca_buf_at(&cq_of(&owner[k])->buf, (seen[k]++ & owner[k].cq.mask) * 64ull);
	return be32_to_cpu(cqe->imm_inval_pkey) == i &&
	       be32_to_cpu(cqe->byte_cnt) == message[i].len &&
	       cqe->op_own >> 4 == (message[i].op == SEND ? MLX5R_CQE_RESP_SEND_IMM :
							    MLX5R_CQE_RESP_WR_IMM);
}

static bool contents_are_good(u32 i)
{
	const u32 at = i * LONGEST, len = message[i].len;

	switch (message[i].op) {
	case SEND:
		return !memcmp(slot(message[i].queue, message[i].nth), data.ptr + at, len);
	case READ:
		return !memcmp(got.ptr + at, target.ptr + at, len);
	default:
		return !memcmp(target.ptr + at, data.ptr + at, len);
	}
}

static bool round_is_good(void)
{
	u32 n[QUEUES], sent = 0, bad = 0, i;
	struct xv_wc wc;

	begin_round(n);
	if (!wire_settle(&w, 600 * NSEC_PER_SEC))
		return false;
	for (; xv_poll_cq(&from.cq, 1, &wc) > 0; sent++)
		bad += wc.status != XV_WC_SUCCESS || wc.wr_id != sent;
	for (i = 0; i < MESSAGES; i++)
		bad += !receive_is_good(i) || !contents_are_good(i);
	for (i = 0; i < QUEUES; i++) {
		bad += cq_of(&owner[i])->pi != seen[i];
		/* As if software had read them */
		*owner[i].cq.dbrec = cpu_to_be32(seen[i] & 0xffffff);
	}
	return sent == MESSAGES && !bad && hw(&to)->state == MLX5_QP_STATE_RTS;
}

static const struct wire_kind wires[] = {
	{ "a good wire" },
	{ "5 % loss", { [WIRE_LOSS] = 50 } },
	{ "5 % twice", { [WIRE_DUPLICATE] = 50 } },
	{ "5 % late", { [WIRE_REORDER] = 50 } },
	{ "3 % of each fault", { 30, 30, 30, 30 } },
};

static const struct wire_rounds rounds = {
	.w = &w,
	.start = start,
	.round = round_is_good,
	.end = end,
};

/* ---- Packets that no requester sends ---------------------------------------------------- */

static void send_packet(u8 operation, u32 n, u32 srqn, u32 len)
{
	static u8 bytes[4096];
	struct hca_qp *qp = hw(&from);
	struct hca_packet p = hca_wire_packet(qp, operation, qp->sq_psn + n);

	memset(bytes, 0x77, sizeof(bytes));
	hca_wire_find_flow(qp);
	p.flow = qp->wire->flow;
	p.srqn = srqn;
	p.ack_request = true;
	p.length = len;
	hca_wire_send_bytes(qp->port, &p, bytes);
	wire_settle(&w, NSEC_PER_SEC);
}

/* A message names one queue in its first packet, and another one in its last. */
static void test_two_queues(void)
{
	start(1);
	post_receives(0, 2);
	post_receives(1, 2);
	send_packet(HCA_BTH_SEND_FIRST, 0, srq[0].srqn, 1024);
	send_packet(HCA_BTH_SEND_LAST, 1, srq[1].srqn, 1024);
	tap_is(hw(&to)->state, MLX5_QP_STATE_ERR, "a message for two queues is refused");
	ok(slot(0, 0)[0] == 0x77 && !slot(1, 0)[0] && !slot(1, 0)[1024],
	   "the second queue gets nothing");
	tap_is(cq_of(&owner[1])->pi, 0, "and no completion");
	tap_is(cq_of(&owner[0])->pi, 1, "the request of the first one is flushed");
	end();
}

static void test_no_queue(void)
{
	start(1);
	send_packet(HCA_BTH_SEND_ONLY, 0, srq[1].srqn + 5, 10);
	tap_is(hw(&to)->state, MLX5_QP_STATE_ERR, "a message for no queue is refused");
	end();
}

int main(int argc, char **argv)
{
	wire_test_kinds(argc, argv, &rounds, wires, ARRAY_SIZE(wires));
	test_two_queues();
	test_no_queue();
	return tap_done();
}
