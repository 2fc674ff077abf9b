// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams: the network header, and which queue pairs receive them.
 */
#include <string.h>
#include "cmd/cmd.h"
#include "session.h"
#include "tap.h"

#define QKEY		SESSION_QKEY
#define GRH_BYTES	40
#define BYTES		100
#define SLOT		256		/* bytes of receive memory for a datagram */
#define MEMBERS		40		/* of a multicast group, on both functions */

static struct session s;
static struct session_mr mr[2], data;
static struct session_qp from, member[MEMBERS];

static const u8 group[16] = { 0xff, 0x0e, [10] = 0xff, [11] = 0xff, 239, 1, 2, 3 };

static void make(int func, struct session_qp *q)
{
	session_qp(&s, func, MLX5_QP_ST_UD, 4, 4, q);
	session_connect(q, q);
}

static void receive(struct session_qp *q, u32 slot)
{
	struct xv_sge sge = session_sge(&mr[q->func], slot * SLOT, GRH_BYTES + BYTES);

	xv_wr_recv(&q->qp, slot, &sge);
	xv_commit_recv(&q->qp);
}

/* Sends one datagram to a QP at a GID.  The adapter does not run yet. */
static void post(struct session_qp *q, const u8 *gid, const u8 *mac, u32 qpn, u32 qkey)
{
	u16 index = be32_to_cpu(q->qp.sq.dbrec[MLX5R_DBR_SND]);
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_av av;
		struct mlx5r_data data;
	} wqe = {
		.ctrl = {
			.opmod_idx_opcode = cpu_to_be32(index << 8 | MLX5R_OP_SEND),
			.qpn_ds = cpu_to_be32(q->qp.qp_num << 8 | sizeof(wqe) / MLX5R_DS),
		},
		.av = {
			.qkey = cpu_to_be32(qkey),
			.dqp_dct = cpu_to_be32(MLX5R_AV_EXT | qpn),
			.hop_limit = 7,
		},
		.data = {
			.byte_count = cpu_to_be32(BYTES),
			.lkey = cpu_to_be32(data.key),
			.addr = cpu_to_be64(data.addr),
		},
	};
	memcpy(wqe.av.rgid, gid, 16);
	memcpy(wqe.av.rmac, mac, 6);
	memcpy(q->qp.sq.buf + (index & q->qp.sq.mask) * MLX5R_WQEBB, &wqe, MLX5R_WQEBB);
	memcpy(q->qp.sq.buf + ((index + 1) & q->qp.sq.mask) * MLX5R_WQEBB,
	       (u8 *)&wqe + MLX5R_WQEBB, sizeof(wqe) - MLX5R_WQEBB);
	q->qp.sq.dbrec[MLX5R_DBR_SND] = cpu_to_be32((u16)(index + 2));
	*(__be64 *)q->qp.sq.doorbell = cpu_to_be64((u64)q->qp.qp_num << 8);
}

/* Sends it and runs the adapter until there is no work. */
static void send(const u8 *gid, const u8 *mac, u32 qpn, u32 qkey)
{
	post(&from, gid, mac, qpn, qkey);
	session_settle(&s);
}

/* Number of members that received the complete datagram into their slot */
static u32 arrived(u32 members)
{
	u32 i, n = 0;

	for (i = 0; i < members; i++) {
		u8 *slot = mr[member[i].func].ptr + i * SLOT;
		struct xv_wc wc;

		n += xv_poll_cq(&member[i].cq, 1, &wc) == 1 && !wc.status && wc.wr_id == i &&
		     wc.byte_len == GRH_BYTES + BYTES && wc.src_qp == from.qp.qp_num &&
		     !memcmp(slot + GRH_BYTES, data.ptr, BYTES);
		memset(slot, 0, SLOT);
	}
	return n;
}

static void test_unicast(void)
{
	const u8 *gid = s.hca[1]->gids[0].gid, *mac = s.hca[1]->p.mac;
	const u8 *grh = mr[1].ptr + GRH_BYTES - 20;
	const struct hca_counter *n = &s.hca[1]->uncounted;
	u64 before = n->out_of_buffer;
	u8 other[16];
	u32 qpn;

	make(1, &member[0]);
	qpn = member[0].qp.qp_num;
	receive(&member[0], 0);
	send(gid, mac, qpn, QKEY + 1);
	tap_is(arrived(1), 0, "another Q_Key");
	memcpy(other, gid, 16);
	other[15] ^= 0x80;
	send(other, mac, qpn, QKEY);
	tap_is(arrived(1), 0, "another GID");
	send(gid, mac, qpn + 1, QKEY);
	tap_is(arrived(1), 0, "another queue pair");
	send(gid, mac, qpn, QKEY);
	ok(grh[0] == 0x45 && grh[8] == 7 && !memcmp(grh + 16, gid + 12, 4) &&
	   !memcmp(grh + 12, s.hca[0]->gids[0].gid + 12, 4), "an IPv4 header");
	tap_is(arrived(1), 1, "the data follows the header");
	send(gid, mac, qpn, QKEY);
	tap_is(arrived(1), 0, "the next one finds no receive request");
	tap_is(n->out_of_buffer - before, 1, "out_of_buffer counts that one only");
	receive(&member[0], 0);
	send(gid, mac, qpn, QKEY);
	tap_is(arrived(1), 1, "the one after it arrives");
	session_qp_destroy(&member[0]);
}

/* The lengths in the network header include the immediate and the pad. */
static void test_lengths(void)
{
	static const struct {
		u32 bytes;
		bool imm;
		u32 ip;			/* total length of the IPv4 packet */
	} t[] = {
		{ 0, false, 52 }, { 1, false, 56 }, { 4, false, 56 }, { 5, true, 64 },
		{ 4093, false, 4148 }, { 4096, true, 4152 },
	};
	struct session_mr all = session_mr(&s, 0, 4096, ALL_ACCESS);
	struct session_mr room = session_mr(&s, 1, 8192, ALL_ACCESS);
	struct xv_sge to = session_sge(&room, 0, 8192);
	const u8 *ip = room.ptr + GRH_BYTES - 20;
	struct xv_ah ah = session_ah(&s, 1);
	struct session_qp src;
	u32 i, sum, at;
	struct xv_wc wc;

	make(0, &src);
	make(1, &member[0]);
	src.qp.qp_type = XV_QPT_UD;
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct xv_sge sge = session_sge(&all, 0, t[i].bytes);
		struct xv_send_wr *bad, wr = {
			.sg_list = &sge, .num_sge = 1, .send_flags = XV_SEND_SIGNALED,
			.opcode = t[i].imm ? XV_WR_SEND_WITH_IMM : XV_WR_SEND,
			.wr.ud = { &ah, member[0].qp.qp_num, QKEY },
		};

		xv_wr_recv(&member[0].qp, 1, &to);
		xv_commit_recv(&member[0].qp);
		xv_post_send(&src.qp, &wr, &bad);
		session_settle(&s);
		ok(xv_poll_cq(&src.cq, 1, &wc) == 1 && xv_poll_cq(&member[0].cq, 1, &wc) == 1 &&
		   wc.byte_len == GRH_BYTES + t[i].bytes, "%u bytes arrive", t[i].bytes);
		tap_is(ip[2] << 8 | ip[3], t[i].ip, "total length of the packet");
		for (sum = at = 0; at < 20; at += 2)
			sum += ip[at] << 8 | ip[at + 1];
		tap_is((sum & 0xffff) + (sum >> 16), 0xffff, "the checksum is right");
	}
	session_qp_destroy(&src);
	session_qp_destroy(&member[0]);
}

static u8 attach(u16 opcode, const struct session_qp *q)
{
	u32 in[MLX5_ST_SZ_DW(attach_to_mcg_in)] = {}, out[4];

	MLX5_SET(attach_to_mcg_in, in, opcode, opcode);
	MLX5_SET(attach_to_mcg_in, in, qpn, q->qp.qp_num);
	memcpy(MLX5_ADDR_OF(attach_to_mcg_in, in, multicast_gid), group, 16);
	return session_cmd(&s, q->func, in, sizeof(in), out, sizeof(out));
}

/* Members on both functions */
static void test_multicast(void)
{
	static const u8 mac[6] = { 0x01, 0x00, 0x5e, 1, 2, 3 };
	const struct hca_counter *n = &s.hca[1]->uncounted;
	u64 before = n->out_of_buffer;
	u32 i, bad = 0;

	for (i = 0; i < MEMBERS; i++) {
		make(i & 1, &member[i]);
		bad += attach(MLX5_CMD_OP_ATTACH_TO_MCG, &member[i]);
		receive(&member[i], i);
	}
	tap_is(bad, 0, "%u members", MEMBERS);
	send(group, mac, 0xffffff, QKEY);
	tap_is(arrived(MEMBERS), MEMBERS, "each member receives it");
	for (i = 0; i < MEMBERS; i++) {
		if (i % 4 == 0)
			bad += attach(MLX5_CMD_OP_DETACH_FROM_MCG, &member[i]);
		if (i % 4 != 1)
			receive(&member[i], i);
	}
	send(group, mac, 0xffffff, QKEY);
	tap_is(arrived(MEMBERS), MEMBERS / 2, "without those that left or posted no receive");
	tap_is(n->out_of_buffer - before, MEMBERS / 4, "out_of_buffer counts the latter");
	for (i = 0; i < MEMBERS; i++)
		bad += session_qp_destroy(&member[i]);
	ok(!bad && !s.hca[0]->nmcgs && !s.hca[1]->nmcgs, "the last member deletes the group");
}

/* mckey posts datagrams and then destroys its queue pair without a wait for completions. */
static void test_before_end(const char *what, u8 (*end)(struct session_qp *q))
{
	const u8 *gid = s.hca[1]->gids[0].gid, *mac = s.hca[1]->p.mac;
	struct session_qp last;
	struct xv_wc wc;
	u32 i, n = 0;

	make(0, &last);
	make(1, &member[0]);
	for (i = 0; i < 8; i++) {
		receive(&member[0], i);
		post(&last, gid, mac, member[0].qp.qp_num, QKEY);
	}
	ok(!end(&last), "%s with 8 requests", what);
	while (xv_poll_cq(&member[0].cq, 1, &wc) == 1)
		n += !wc.status && wc.wr_id == n;
	tap_is(n, 8, "%s: all have been sent", what);
	session_qp_destroy(&member[0]);
}

static u8 reset(struct session_qp *q)
{
	u8 status = session_qp_modify(q, MLX5_CMD_OP_2RST_QP, NULL);

	return status ? status : session_qp_destroy(q);
}

int main(void)
{
	u32 i;

	session_init(&s);
	mr[0] = session_mr(&s, 0, MEMBERS * SLOT, ALL_ACCESS);
	mr[1] = session_mr(&s, 1, MEMBERS * SLOT, ALL_ACCESS);
	data = session_mr(&s, 0, BYTES, ALL_ACCESS);
	make(0, &from);
	for (i = 0; i < BYTES; i++)
		data.ptr[i] = i + 1;
	test_unicast();
	test_lengths();
	test_multicast();
	test_before_end("reset", reset);
	test_before_end("destroy", session_qp_destroy);
	session_free(&s);
	return tap_done();
}
