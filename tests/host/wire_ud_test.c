// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams across a wire.  Function 0 of host 0 sends the same ones to the other function of its
 * host and to host 1: both receivers must see the same, but for the addresses.
 */
#include <string.h>
#include "data/wire.h"
#include "sa/mad.h"
#include "tap.h"
#include "wire_link.h"

enum {
	HEADER		= 40,		/* before the data */
	SLOT		= 4096 + HEADER,
	SLOTS		= 32,
	BYTES		= 101,
	MAD_BYTES	= 256,
	CHECKSUM	= 30,		/* of an IPv4 header, in the area before the data */
};

enum { NEAR, FAR, RECEIVERS };

static struct wire w;
static struct session_qp from, to[RECEIVERS];
static struct session_mr data, mr[RECEIVERS];

static struct hca_qp *hw(const struct session_qp *q)
{
	return hca_qp_get(q->s->hca[q->func], q->qp.qp_num);
}

static struct hca_cq *hw_cq(const struct session_qp *q)
{
	return hca_table_get(&q->s->hca[q->func]->cqs, q->cqn);
}

static struct hca_port *port(const struct session_qp *q)
{
	return &q->s->hca[q->func]->port[0];
}

static void open_qp(struct session *s, int func, u8 st, struct session_qp *q)
{
	session_qp(s, func, st, 6, 6, q);
	session_connect(q, q);
}

static void begin(u8 st)
{
	u32 i;

	wire_init(&w, 1);
	open_qp(&w.s[0], 0, st, &from);
	open_qp(&w.s[0], 1, st, &to[NEAR]);
	open_qp(&w.s[1], 0, st, &to[FAR]);
	data = session_mr(&w.s[0], 0, SLOTS * SLOT, ALL_ACCESS);
	for (i = 0; i < SLOTS * SLOT; i++)
		data.ptr[i] = i * 7 + i / 4096;
	for (i = 0; i < RECEIVERS; i++) {
		mr[i] = session_mr(to[i].s, to[i].func, SLOTS * SLOT, ALL_ACCESS);
		memset(mr[i].ptr, 0x55, SLOTS * SLOT);
	}
}

static void end(void)
{
	session_qp_destroy(&from);
	session_qp_destroy(&to[NEAR]);
	session_qp_destroy(&to[FAR]);
	wire_free(&w);
}

static void receive(u32 i, u32 slot, u32 len)
{
	struct xv_sge sge = session_sge(&mr[i], slot * SLOT, len);

	xv_wr_recv(&to[i].qp, slot, &sge);
	xv_commit_recv(&to[i].qp);
}

static struct xv_ah address(u32 i)
{
	w.s[1].path.gid = w.s[0].path.gid;
	return session_ah(to[i].s, to[i].func);
}

static void settle(void)
{
	xv_commit_send(&from.qp);
	wire_settle(&w, NSEC_PER_SEC);
}

/* @imm: 0 if there is none */
static void send_to(u32 i, const struct xv_ah *ah, u32 len, u32 qkey, u32 imm, u32 flags)
{
	struct xv_sge sge = session_sge(&data, 0, len);

	flags |= XV_SEND_SIGNALED;
	if (imm)
		xv_wr_send_imm_ud(&from.qp, i, flags, &sge, ah, to[i].qp.qp_num, qkey,
				  cpu_to_be32(imm));
	else
		xv_wr_send_ud(&from.qp, i, flags, &sge, ah, to[i].qp.qp_num, qkey);
}

static void send(u32 i, u32 len)
{
	struct xv_ah ah = address(i);

	send_to(i, &ah, len, SESSION_QKEY, 0, 0);
	settle();
}

static bool sent(u32 n)
{
	struct xv_wc wc;
	u32 i, good = 0;

	for (i = 0; xv_poll_cq(&from.cq, 1, &wc) > 0; i++)
		good += wc.status == XV_WC_SUCCESS;
	return good == n && i == n;
}

static const struct mlx5r_cqe *last_cqe(const struct session_qp *q)
{
	struct hca_cq *cq = hw_cq(q);

	return hca_buf_at(&cq->buf, ((cq->pi - 1) & q->cq.mask) * 64ull);
}

static u32 arrived(u32 i)
{
	return hw_cq(&to[i])->pi;
}

/* ---- Contents and fields ----------------------------------------------------------- */

/* Without what depends on the receiver, and without the LID of the sender: RoCE has none. */
static struct mlx5r_cqe fields(u32 i)
{
	struct mlx5r_cqe cqe = *last_cqe(&to[i]);

	cqe.srqn_uidx = cqe.sop_drop_qpn = 0;
	cqe.timestamp = 0;
	cqe.slid = 0;
	return cqe;
}

static void print(const char *what, const void *at, u32 n)
{
	u32 i;

	printf("# %s", what);
	for (i = 0; i < n; i++)
		printf("%s%02x", i % 4 ? "" : " ", ((const u8 *)at)[i]);
	putchar('\n');
}

/* The addresses of IPv6 and of a GRH are the last 32 bytes. */
static void hide_addresses(u8 *header, enum session_gid gid)
{
	if (gid == SESSION_GID_IPV4 || gid == SESSION_GID_VLAN) {
		memset(header + HEADER - 8, 0, 8);
		memset(header + CHECKSUM, 0, 2);
	} else {
		memset(header + 8, 0, 32);
	}
}

static bool headers_are_same(enum session_gid gid, u32 slot)
{
	u8 header[RECEIVERS][HEADER];
	u32 i;

	for (i = 0; i < RECEIVERS; i++) {
		memcpy(header[i], mr[i].ptr + slot * SLOT, HEADER);
		hide_addresses(header[i], gid);
	}
	if (!memcmp(header[NEAR], header[FAR], HEADER))
		return true;
	print("near", header[NEAR], HEADER);
	print("far", header[FAR], HEADER);
	return false;
}

static bool addresses_are_good(u32 i, enum session_gid gid, u32 slot)
{
	const u8 *header = mr[i].ptr + slot * SLOT;
	const u8 *sgid = w.s[0].hca[0]->gids[gid].gid;
	const u8 *dgid = to[i].s->hca[to[i].func]->gids[gid].gid;
	u32 sum = 0, k;

	if (gid != SESSION_GID_IPV4 && gid != SESSION_GID_VLAN)
		return !memcmp(header + 8, sgid, 16) && !memcmp(header + 24, dgid, 16);
	for (k = 20; k < HEADER; k += 2)
		sum += header[k] << 8 | header[k + 1];
	return !memcmp(header + 32, sgid + 12, 4) && !memcmp(header + 36, dgid + 12, 4) &&
	       (sum >> 16) + (sum & 0xffff) == 0xffff;
}

static bool is_good(u32 i, enum session_gid gid, u32 slot, u32 len)
{
	const u8 *at = mr[i].ptr + slot * SLOT + HEADER;

	return addresses_are_good(i, gid, slot) && !memcmp(at, data.ptr, len) && at[len] == 0x55;
}

static void test_fields(enum session_gid gid, u32 len, u32 imm, u32 flags, u32 slot)
{
	struct mlx5r_cqe cqe[RECEIVERS];
	u32 i;

	w.s[0].path.gid = gid;
	for (i = 0; i < RECEIVERS; i++) {
		struct xv_ah ah = address(i);

		receive(i, slot, SLOT);
		send_to(i, &ah, len, SESSION_QKEY, imm, flags);
	}
	settle();
	wire_ok(&w, sent(2) && is_good(NEAR, gid, slot, len) && is_good(FAR, gid, slot, len),
		"GID %u, %u bytes, immediate %u, flags %u", gid, len, imm, flags);
	ok(headers_are_same(gid, slot), "the same header");
	for (i = 0; i < RECEIVERS; i++)
		cqe[i] = fields(i);
	if (ok(!memcmp(&cqe[NEAR], &cqe[FAR], sizeof(cqe[0])), "the same completion"))
		return;
	print("near", &cqe[NEAR], sizeof(cqe[0]));
	print("far", &cqe[FAR], sizeof(cqe[0]));
}

static void test_all_fields(void)
{
	u32 gid, slot = 0;

	begin(MLX5_QP_ST_UD);
	for (gid = 0; gid < SESSION_GIDS; gid++) {
		test_fields(gid, BYTES, 0, 0, slot++);
		test_fields(gid, 4096 - 1, 7, 0, slot++);
		test_fields(gid, 0, 0, XV_SEND_SOLICITED, slot++);
		test_fields(gid, 4, 9, XV_SEND_SOLICITED, slot++);
	}
	ok(session_turns_bounded(&w.s[1]), "no turn is above the limits");
	end();
}

/* ---- What is dropped, and what is counted ------------------------------------------- */

static void test_keys(void)
{
	struct xv_ah ah;
	u32 i;

	begin(MLX5_QP_ST_UD);
	for (i = 0; i < RECEIVERS; i++) {
		ah = address(i);
		receive(i, 0, SLOT);
		send_to(i, &ah, BYTES, SESSION_QKEY + 1, 0, 0);
		settle();
		ok(sent(1) && !arrived(i), "%s: another Q_Key", i ? "far" : "near");
		tap_is(port(&to[i])->qkey_violations, 1, "it is counted");
		port(&to[i])->pkey = 0x1234;
		send(i, BYTES);
		ok(sent(1) && !arrived(i), "another P_Key");
		tap_is(port(&to[i])->pkey_violations, 1, "it is counted");
		port(&to[i])->pkey = 0xffff;
		send_to(i, &ah, BYTES, 0x80000000, 0, 0);
		settle();
		ok(sent(1) && arrived(i) == 1, "the Q_Key of the sender");
		send(i, BYTES);
		ok(sent(1) && arrived(i) == 1, "no receive request");
		tap_is(hw(&to[i])->counter->out_of_buffer, 1, "it is counted");
	}
	end();
}

static void test_receivers(void)
{
	struct xv_ah ah;
	u32 i;

	begin(MLX5_QP_ST_UD);
	for (i = 0; i < RECEIVERS; i++) {
		receive(i, 0, SLOT);
		ah = address(i);
		ah.av.rmac[5] ^= 0x40;
		send_to(i, &ah, BYTES, SESSION_QKEY, 0, 0);
		ah = address(i);
		ah.av.rgid[15] ^= 0x40;
		send_to(i, &ah, BYTES, SESSION_QKEY, 0, 0);
		to[i].qp.qp_num += 5;
		ah = address(i);
		send_to(i, &ah, BYTES, SESSION_QKEY, 0, 0);
		to[i].qp.qp_num -= 5;
		settle();
		ok(sent(3) && !arrived(i), "%s: another MAC, GID or queue pair",
		   i ? "far" : "near");
		port(&to[i])->up = false;
		hca_route_changed(&to[i].s->fabric);
		send(i, BYTES);
		ok(sent(1) && !arrived(i), "the port is down");
		port(&to[i])->up = true;
		hca_route_changed(&to[i].s->fabric);
		session_qp_modify(&to[i], MLX5_CMD_OP_2RST_QP, NULL);
		send(i, BYTES);
		ok(sent(1) && !arrived(i), "the receiver is in RESET");
	}
	end();
}

static void test_lengths(void)
{
	u32 i;

	begin(MLX5_QP_ST_UD);
	for (i = 0; i < RECEIVERS; i++) {
		struct xv_wc wc;

		receive(i, 0, HEADER + BYTES - 1);
		receive(i, 1, SLOT);
		send(i, BYTES);
		ok(sent(1) && xv_poll_cq(&to[i].cq, 1, &wc) == 1 &&
		   wc.status == XV_WC_LOC_LEN_ERR && hw(&to[i])->state == MLX5_QP_STATE_ERR,
		   "%s: the receive request is too short", i ? "far" : "near");
		send(i, 4097);
		ok(xv_poll_cq(&from.cq, 1, &wc) == 1 && wc.status == XV_WC_LOC_LEN_ERR &&
		   hw(&from)->state == MLX5_QP_STATE_SQER, "a datagram of 4097 bytes");
		session_qp_modify(&from, MLX5_CMD_OP_SQERR2RTS_QP, NULL);
	}
	end();
}

/* The uplink has room for few frames: datagrams wait, and none is lost. */
static void test_room(void)
{
	struct xv_ah ah;
	u32 i;

	begin(MLX5_QP_ST_UD);
	w.room = 2;
	ah = address(FAR);
	for (i = 0; i < 16; i++)
		receive(FAR, i, SLOT);
	for (i = 0; i < 16; i++)
		send_to(FAR, &ah, 100 + i, SESSION_QKEY, 1 + i, 0);
	settle();
	ok(sent(16), "16 datagrams, with room for two frames");
	for (i = 0; i < 16; i++) {
		struct xv_wc wc;

		if (xv_poll_cq(&to[FAR].cq, 1, &wc) != 1 || wc.imm_data != cpu_to_be32(1 + i) ||
		    wc.byte_len != HEADER + 100 + i)
			break;
	}
	tap_is(i, 16, "arrive in order");
	end();
}

/* ---- Management datagrams --------------------------------------------------------------- */

static void test_mads(void)
{
	u32 i;

	begin(MLX5_QP_ST_QP1);
	hw(&from)->qkey = HCA_MAD_QKEY;
	for (i = 0; i < RECEIVERS; i++) {
		struct xv_ah ah = address(i);

		hw(&to[i])->qkey = HCA_MAD_QKEY;
		to[i].qp.qp_num = 1;
		receive(i, 0, HEADER + MAD_BYTES);
		send_to(i, &ah, MAD_BYTES, HCA_MAD_QKEY, 0, 0);
		to[i].qp.qp_num = port(&to[i])->qp1->qpn;
		settle();
		wire_ok(&w, sent(1) && arrived(i) == 1 &&
			(be32_to_cpu(last_cqe(&to[i])->flags_rqpn) & 0xffffff) == 1 &&
			!memcmp(mr[i].ptr + HEADER, data.ptr, MAD_BYTES),
			"%s: a MAD from QP1 to QP1", i ? "far" : "near");
	}
	end();
}

/* ---- Multicast ---------------------------------------------------------------------------- */

enum { MEMBERS = 5 };

/* RoCEv1 and IPv6 have a prefix of multicast; IPv4 has none. */
static const u8 groups[SESSION_GIDS][16] = {
	[SESSION_GID_IPV4] = { [10] = 0xff, [11] = 0xff, 239, 1, 2, 3 },
	[SESSION_GID_VLAN] = { [10] = 0xff, [11] = 0xff, 239, 1, 2, 3 },
	[SESSION_GID_IPV6] = { 0xff, 0x0e, [15] = 7 },
	[SESSION_GID_V1] = { 0xff, 0x0e, [10] = 0xff, [11] = 0xff, 239, 1, 2, 3 },
};

static struct session_qp member[MEMBERS];
static struct session_mr member_mr[MEMBERS];

/* Two on each function of host 1; one on the other function of host 0 */
static void make_members(const u8 *group)
{
	u32 i, k;

	for (i = 0; i < MEMBERS; i++) {
		struct session *s = &w.s[i != 4];
		int func = i < 2 ? 0 : 1;

		open_qp(s, func, MLX5_QP_ST_UD, &member[i]);
		session_join_group(&member[i], group);
		member_mr[i] = session_mr(s, func, SLOT, ALL_ACCESS);
		for (k = 0; k < 4; k++) {
			struct xv_sge sge = session_sge(&member_mr[i], k * 1024, 1024);

			xv_wr_recv(&member[i].qp, k, &sge);
		}
		xv_commit_recv(&member[i].qp);
	}
}

static void post_group(const u8 *group)
{
	static const u8 mac[6] = { 0x01, 0x00, 0x5e, 0x01, 0x02, 0x03 };
	struct xv_ah ah = session_ah(&w.s[0], 0);
	struct xv_sge sge = session_sge(&data, 0, BYTES);

	memcpy(ah.av.rgid, group, 16);
	memcpy(ah.av.rmac, mac, 6);
	xv_wr_send_ud(&from.qp, 9, XV_SEND_SIGNALED, &sge, &ah, HCA_MULTICAST_QPN, SESSION_QKEY);
}

static void send_group(const u8 *group)
{
	post_group(group);
	settle();
}

/* Members that have got @n datagrams; each member counts as a bit. */
static u32 members_with(u32 n)
{
	u32 i, bits = 0;

	for (i = 0; i < MEMBERS; i++)
		if (hw_cq(&member[i])->pi == n)
			bits |= 1 << i;
	return bits;
}

static void test_multicast(enum session_gid gid)
{
	const u8 *group = groups[gid];
	u32 own, i;

	begin(MLX5_QP_ST_UD);
	w.s[0].path.gid = gid;
	make_members(group);
	session_join_group(&from, group);
	send_group(group);
	tap_is(members_with(1), 0x1f, "GID %u: each member on both hosts gets it once", gid);
	ok(!memcmp(member_mr[0].ptr + HEADER, data.ptr, BYTES) &&
	   !memcmp(member_mr[4].ptr + HEADER, data.ptr, BYTES), "with its contents");
	tap_is(w.sent, 1, "one frame is on the wire");
	/* The sender has no receive request, which is counted if it is a receiver. */
	own = hw(&from)->counter->out_of_buffer;
	tap_is(own, 1, "the sender, too");
	MLX5_SET(qpc, hw(&from)->qpc, block_lb_mc, 1);
	send_group(group);
	tap_is(members_with(2), 0x1f, "again");
	tap_is(hw(&from)->counter->out_of_buffer, own, "without loopback the sender does not");
	w.s[1].hca[0]->gids[gid].valid = false;
	/* IPv4 and IPv6 are one network. */
	send_group(group);
	tap_is(members_with(3), gid == SESSION_GID_V1 || gid == SESSION_GID_VLAN ? 0x1c : 0x1f,
	       "a function without an address of that version and VLAN does not get it");
	ok(sent(3), "the sender has its completions");
	for (i = 0; i < MEMBERS; i++)
		session_qp_destroy(&member[i]);
	end();
}

/* Many multicasts arrive at once: a pass takes some of them. */
static void test_flood(void)
{
	const u8 *group = groups[SESSION_GID_IPV4];
	u64 units, most = 0;
	u32 i, n;

	begin(MLX5_QP_ST_UD);
	make_members(group);
	w.delay = NSEC_PER_MSEC;
	for (i = 0; i < 20; i++) {
		for (n = 0; n < 20; n++)
			post_group(group);
		xv_commit_send(&from.qp);
		for (n = 0; n < 100; n++)
			session_pass(&w.s[0]);
		sent(20);
	}
	tap_is(w.nflying[0], 400, "400 multicasts are on the way");
	shim_now += w.delay;
	for (n = 0; n < 1000; n++) {
		units = w.s[1].fabric.stat.units;
		session_pass(&w.s[1]);
		most = max(most, w.s[1].fabric.stat.units - units);
	}
	tap_is(hw(&member[0])->counter->out_of_buffer + hw(&member[2])->counter->out_of_buffer,
	       2 * 2 * (400 - 4), "all four members of the host get them");
	ok(most < 4 * HCA_TURN_UNITS, "a pass takes %u units", (u32)most);
	ok(session_turns_bounded(&w.s[1]), "no turn is above the limits");
	for (i = 0; i < MEMBERS; i++)
		session_qp_destroy(&member[i]);
	end();
}

int main(void)
{
	u32 gid;

	test_all_fields();
	test_keys();
	test_receivers();
	test_lengths();
	test_room();
	test_mads();
	for (gid = 0; gid < SESSION_GIDS; gid++)
		test_multicast(gid);
	test_flood();
	return tap_done();
}
