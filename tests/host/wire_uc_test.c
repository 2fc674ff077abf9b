// SPDX-License-Identifier: GPL-2.0
/*
 * Unreliable connections across a wire: a message arrives whole or not at all, and no receive
 * request has parts of two messages.
 */
#include <string.h>
#include "data/wire.h"
#include "wire_kinds.h"

enum {
	MESSAGES	= 48,		/* of a round */
	LONGEST		= 9000,
	AREA		= MESSAGES * LONGEST,
};

static struct wire w;
static struct session_qp from, to;
static struct session_mr data, room, target;	/* sent; receive requests; written */

static struct {
	bool write;
	u32 len, arrived;
} message[MESSAGES];

static u32 posted, completed;		/* receive requests of all rounds */
static u32 arrived;			/* messages, in all rounds */

static void start(u64 seed)
{
	u32 i;

	wire_init(&w, seed);
	session_qp(&w.s[0], 0, MLX5_QP_ST_UC, 6, 6, &from);
	session_qp(&w.s[1], 0, MLX5_QP_ST_UC, 6, 6, &to);
	session_connect(&from, &to);
	data = session_mr(&w.s[0], 0, AREA, ALL_ACCESS);
	room = session_mr(&w.s[1], 0, AREA, ALL_ACCESS);
	target = session_mr(&w.s[1], 0, AREA, ALL_ACCESS);
	for (i = 0; i < AREA; i++)
		data.ptr[i] = random64();
	posted = completed = arrived = 0;
}

static void end(void)
{
	session_qp_destroy(&from);
	session_qp_destroy(&to);
	wire_free(&w);
}

/* There is always room for a message in each slot that is posted. */
static void post_receives(void)
{
	struct xv_sge sge;

	for (; posted - completed < MESSAGES; posted++) {
		sge = session_sge(&room, posted % MESSAGES * LONGEST, LONGEST);
		memset(room.ptr + posted % MESSAGES * LONGEST, 0, LONGEST);
		xv_wr_recv(&to.qp, posted % MESSAGES, &sge);
	}
	xv_commit_recv(&to.qp);
}

static void post_messages(void)
{
	u32 i;

	memset(message, 0, sizeof(message));
	memset(target.ptr, 0, AREA);
	for (i = 0; i < MESSAGES; i++) {
		const u64 at = target.addr + i * LONGEST;
		struct xv_sge sge;

		message[i].write = random64() % 2;
		message[i].len = random64() % 3 ? random64() % 500 : random64() % (LONGEST + 1);
		sge = session_sge(&data, i * LONGEST, message[i].len);
		if (message[i].write)
			xv_wr_write_imm(&from.qp, i, XV_SEND_SIGNALED, &sge, at, target.key,
					cpu_to_be32(i));
		else
			xv_wr_send_imm(&from.qp, i, XV_SEND_SIGNALED, &sge, cpu_to_be32(i));
	}
	xv_commit_send(&from.qp);
}

static bool is_whole(const struct xv_wc *wc)
{
	u32 i = be32_to_cpu(wc->imm_data);
	const u8 *at;

	if (wc->status != XV_WC_SUCCESS || !(wc->wc_flags & XV_WC_WITH_IMM) || i >= MESSAGES)
		return false;
	message[i].arrived++;
	at = message[i].write ? target.ptr + i * LONGEST : room.ptr + wc->wr_id * LONGEST;
	return wc->byte_len == message[i].len &&
	       (wc->opcode == XV_WC_RECV_RDMA_WITH_IMM) == message[i].write &&
	       !memcmp(at, data.ptr + i * LONGEST, message[i].len);
}

static bool round_is_good(void)
{
	u32 i, sent = 0, bad = 0;
	struct xv_wc wc;

	post_receives();
	post_messages();
	if (!wire_settle(&w, NSEC_PER_SEC))
		return false;
	for (; xv_poll_cq(&from.cq, 1, &wc) > 0; sent++)
		bad += wc.status != XV_WC_SUCCESS || wc.wr_id != sent;
	for (; xv_poll_cq(&to.cq, 1, &wc) > 0; completed++)
		bad += !is_whole(&wc);
	for (i = 0; i < MESSAGES; i++)
		arrived += !!message[i].arrived;
	return sent == MESSAGES && !bad;
}

static const struct wire_kind wires[] = {
	{ "a good wire", .least = 100 },
	{ "2 % loss", { [WIRE_LOSS] = 20 }, .least = 80 },
	{ "20 % loss", { [WIRE_LOSS] = 200 }, .least = 20 },
	{ "20 % twice", { [WIRE_DUPLICATE] = 200 }, .least = 30 },
	{ "5 % late", { [WIRE_REORDER] = 50 }, .least = 50 },
	{ "10 % damaged", { [WIRE_CORRUPT] = 100 }, .least = 40 },
	{ "3 % of each fault", { 30, 30, 30, 30 }, .least = 40 },
};

static bool enough(const struct wire_kind *kind, u32 rounds)
{
	return arrived * 100 >= kind->least * MESSAGES * rounds;
}

static const struct wire_rounds rounds = {
	.w = &w,
	.start = start,
	.round = round_is_good,
	.enough = enough,
	.end = end,
};

int main(int argc, char **argv)
{
	wire_test_kinds(argc, argv, &rounds, wires, ARRAY_SIZE(wires));
	return tap_done();
}
