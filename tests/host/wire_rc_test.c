// SPDX-License-Identifier: GPL-2.0
/*
 * Reliable connections across a wire: each message arrives once, in order and whole, whatever the
 * wire does to the frames.
 *
 * Both hosts send random messages at the same time.  Each message has bytes of its own in the
 * memory of both hosts, so what is lost, doubled or wrong shows in the contents.
 */
#include <string.h>
#include "data/wire.h"
#include "wire_kinds.h"

enum {
	MESSAGES	= 40,		/* of a host in a round */
	LONGEST		= 150000,
	AREA		= MESSAGES * LONGEST,
	LIMIT_S		= 600,		/* virtual time of a round */
};

enum op { SEND, SEND_IMM, WRITE, WRITE_IMM, READ, ADD, OPS };

static struct wire w;

/* What a host has, and what it sends in a round */
static struct host {
	struct session_qp q;
	struct session_mr from, to, got, word;	/* sent; arrives; READ into; atomics */
	struct {
		enum op op;
		u32 len;
		bool received;		/* it takes a receive request of the peer */
	} message[MESSAGES];
	u32 sent, received;		/* completions of this round */
	u32 expected;			/* receive completions */
	u64 added, sum;			/* to the word of the peer; results are kept in @got */
	u32 bad;			/* completions that are not as expected */
} host[2];

static struct xv_sge area(const struct session_mr *mr, u32 i, u32 len)
{
	return session_sge(mr, i * LONGEST, len);
}

static void start(u64 seed)
{
	u32 h, i;

	wire_init(&w, seed);
	wire_pair(&w, MLX5_QP_ST_RC, &host[0].q, &host[1].q);
	for (h = 0; h < 2; h++) {
		struct host *me = &host[h];

		me->from = session_mr(&w.s[h], 0, AREA, ALL_ACCESS);
		me->to = session_mr(&w.s[h], 0, AREA, ALL_ACCESS);
		me->got = session_mr(&w.s[h], 0, AREA, ALL_ACCESS);
		me->word = session_mr(&w.s[h], 0, 8, ALL_ACCESS);
		me->added = 0;
		for (i = 0; i < AREA; i++)
			me->from.ptr[i] = random64();
	}
}

static void end(void)
{
	session_qp_destroy(&host[0].q);
	session_qp_destroy(&host[1].q);
	wire_free(&w);
}

/* ---- A round -------------------------------------------------------------------- */

static void post_receives(struct host *me, const struct host *peer)
{
	struct xv_sge sge;
	u32 i, n = 0;

	for (i = 0; i < MESSAGES; i++) {
		if (!peer->message[i].received)
			continue;
		sge = area(&me->to, i, LONGEST);
		xv_wr_recv(&me->q.qp, i, &sge);
		n++;
	}
	me->expected = n;
	xv_commit_recv(&me->q.qp);
}

static void post(struct host *me, const struct host *peer, u32 i)
{
	const u32 len = me->message[i].len, flags = XV_SEND_SIGNALED;
	struct xv_sge sge = area(&me->from, i, len), got = area(&me->got, i, len);
	const u64 at = peer->to.addr + i * LONGEST;
	struct xv_qp *qp = &me->q.qp;

	switch (me->message[i].op) {
	case SEND:
		xv_wr_send(qp, i, flags, &sge);
		break;
	case SEND_IMM:
		xv_wr_send_imm(qp, i, flags, &sge, cpu_to_be32(i));
		break;
	case WRITE:
		xv_wr_write(qp, i, flags, &sge, at, peer->to.key);
		break;
	case WRITE_IMM:
		xv_wr_write_imm(qp, i, flags, &sge, at, peer->to.key, cpu_to_be32(i));
		break;
	case READ:
		xv_wr_read(qp, i, flags, &got, peer->from.addr + i * LONGEST, peer->from.key);
		break;
	default:
		xv_wr_atomic_fa(qp, i, flags, &got, peer->word.addr, peer->word.key, i + 1);
	}
}

static void prepare(struct host *me)
{
	u32 i;

	me->sent = me->received = me->bad = 0;
	memset(me->to.ptr, 0, AREA);
	memset(me->got.ptr, 0, AREA);
	for (i = 0; i < MESSAGES; i++) {
		enum op op = random64() % OPS;
		u32 len = random64() % 4 ? random64() % 300 : random64() % (LONGEST + 1);

		me->message[i].op = op;
		me->message[i].len = op == ADD ? 8 : len;
		me->message[i].received = op == SEND || op == SEND_IMM || op == WRITE_IMM;
	}
}

/* The next message of the peer that takes a receive request, after @i of them */
static u32 nth_received(const struct host *peer, u32 n)
{
	u32 i;

	for (i = 0; i < MESSAGES; i++)
		if (peer->message[i].received && !n--)
			return i;
	return MESSAGES;
}

static bool receive_is_good(const struct host *me, const struct host *peer, const struct xv_wc *wc)
{
	u32 i = nth_received(peer, me->received);
	bool imm, write;

	if (i == MESSAGES)
		return false;
	imm = peer->message[i].op != SEND;
	write = peer->message[i].op == WRITE_IMM;
	return wc->status == XV_WC_SUCCESS && wc->wr_id == i &&
	       wc->byte_len == peer->message[i].len &&
	       wc->opcode == (write ? XV_WC_RECV_RDMA_WITH_IMM : XV_WC_RECV) &&
	       !(wc->wc_flags & XV_WC_WITH_IMM) == !imm &&
	       (!imm || wc->imm_data == cpu_to_be32(i));
}

static void poll(struct host *me, const struct host *peer)
{
	struct xv_wc wc;

	while (xv_poll_cq(&me->q.cq, 1, &wc) > 0) {
		if (wc.status == XV_WC_SUCCESS && wc.opcode & XV_WC_RECV) {
			me->bad += !receive_is_good(me, peer, &wc);
			me->received++;
		} else {
			me->bad += wc.status != XV_WC_SUCCESS || wc.wr_id != me->sent;
			me->sent++;
		}
	}
}

static bool message_is_good(struct host *me, const struct host *peer, u32 i)
{
	const u32 len = me->message[i].len, at = i * LONGEST;
	const u8 *from = me->from.ptr, *to = peer->to.ptr;
	u64 old;

	switch (me->message[i].op) {
	case READ:
		from = peer->from.ptr;
		to = me->got.ptr;
		break;
	case ADD:
		memcpy(&old, me->got.ptr + at, 8);
		me->added += i + 1;
		return old == me->added - (i + 1);
	default:
		break;
	}
	return !memcmp(from + at, to + at, len) && (len == LONGEST || !to[at + len]);
}

static u32 wrong_messages(struct host *me, const struct host *peer)
{
	u32 i, wrong = 0;

	for (i = 0; i < MESSAGES; i++)
		wrong += !message_is_good(me, peer, i);
	return wrong + (*(u64 *)peer->word.ptr != me->added);
}

static bool round_is_good(void)
{
	bool ended;
	u32 h, i;

	for (h = 0; h < 2; h++)
		prepare(&host[h]);
	for (h = 0; h < 2; h++)
		post_receives(&host[h], &host[!h]);
	for (i = 0; i < MESSAGES; i++)
		for (h = 0; h < 2; h++)
			post(&host[h], &host[!h], i);
	for (h = 0; h < 2; h++)
		xv_commit_send(&host[h].q.qp);
	ended = wire_settle(&w, LIMIT_S * NSEC_PER_SEC);
	for (h = 0; h < 2; h++) {
		poll(&host[h], &host[!h]);
		ended &= host[h].sent == MESSAGES && host[h].received == host[h].expected &&
			 !host[h].bad && !wrong_messages(&host[h], &host[!h]);
	}
	return ended;
}

/* ---- Wires ------------------------------------------------------------------------ */

static const struct wire_kind wires[] = {
	{ "a good wire" },
	{ "a slow wire", .delay = 10 * NSEC_PER_MSEC },
	{ "0.1 % loss", { [WIRE_LOSS] = 1 } },
	{ "1 % loss", { [WIRE_LOSS] = 10 } },
	{ "10 % loss", { [WIRE_LOSS] = 100 } },
	{ "10 % loss and a delay", { [WIRE_LOSS] = 100 }, NSEC_PER_MSEC },
	{ "5 % twice", { [WIRE_DUPLICATE] = 50 } },
	{ "5 % late", { [WIRE_REORDER] = 50 } },
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
