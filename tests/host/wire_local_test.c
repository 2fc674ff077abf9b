// SPDX-License-Identifier: GPL-2.0
/*
 * Two functions of one host that exchange packets.  Messages go as on a wire while one of them
 * wants that, and are executed at once otherwise; a change loses and doubles nothing.
 */
#include <string.h>
#include "dc.h"
#include "peers.h"
#include "tap.h"

enum { MTU = 1024, SECONDS = 100, OLD = 0x55, LONG = 300000, MESSAGES = 40 };

static u8 kept[2048];			/* the first frame that was sent */
static u32 kept_bytes;

static bool keep_first(const u8 *frame, u32 bytes, u32 nth)
{
	if (!kept_bytes && bytes <= sizeof(kept)) {
		memcpy(kept, frame, bytes);
		kept_bytes = bytes;
	}
	return false;
}

static bool use_packets(u32 i, bool on)
{
	return hca_use_packets(hca_of(i), on);
}

static void begin(u8 st)
{
	const struct peers_config c = { .wired = true, .one_host = true, .st = st };

	peers_open(&c);
	w.room = 64;
}

static bool settle(void)
{
	commit(0);
	return peers_settle(SECONDS * NSEC_PER_SEC);
}

static bool succeeded(u32 i, u64 n)
{
	const struct peers_view *v = look(i);
	u64 k;

	for (k = 0; k < v->nwcs && k < PEERS_WCS; k++)
		if (v->wc[k].status)
			return false;
	return v->nwcs == n && v->state == MLX5_QP_STATE_RTS;
}

static bool has_arrived(u32 at, u32 from, u32 len)
{
	return !memcmp(peer[1].mr.ptr + at, peer[0].mr.ptr + from, len) &&
	       peer[1].mr.ptr[at + len] == OLD;
}

/* ---- Connected queue pairs ------------------------------------------------------------- */

static void test_each(u8 st, const char *name)
{
	bool rc = st == MLX5_QP_ST_RC;
	u64 sum;

	begin(st);
	post_write(1, here(0, 0, 5000), 0, peer[1].mr.key);
	wire_ok(&w, settle() && succeeded(0, 1) && has_arrived(0, 0, 5000) && !w.sent,
		"%s: without packets, a WRITE is executed at once", name);
	ok(use_packets(1, true), "the receiver wants packets");
	post_write(2, here(0, 100, 5000), 6000, peer[1].mr.key);
	wire_ok(&w, settle() && succeeded(0, 2) && has_arrived(6000, 100, 5000) && w.sent >= 5,
		"%s: a WRITE in %u frames", name, w.sent);
	receive(1, 3, 12000, 4000);
	post_send(3, here(0, 200, 3000));
	wire_ok(&w, settle() && succeeded(0, 3) && succeeded(1, 1) && has_arrived(12000, 200, 3000),
		"%s: a SEND", name);
	if (rc) {
		post_read(4, here(0, 20000, 3000), 6000, peer[1].mr.key);
		memset(peer[1].mr.ptr + 16000, 0, 8);
		post_add(5, here(0, 24000, 8), 16000, peer[1].mr.key, 7);
		ok(settle() && succeeded(0, 5), "READ and FETCH_ADD");
		memcpy(&sum, peer[1].mr.ptr + 16000, sizeof(sum));
		ok(!memcmp(peer[0].mr.ptr + 20000, peer[0].mr.ptr + 100, 3000) &&
		   sum == 7, "with the right results");
	}
	ok(!w.bad && use_packets(1, false), "no packets any more");
	w.sent = 0;
	post_write(6, here(0, 300, 5000), 30000, peer[1].mr.key);
	wire_ok(&w, settle() && succeeded(0, rc ? 6 : 4) && has_arrived(30000, 300, 5000) &&
		!w.sent, "%s: at once again", name);
	peers_close();
}

/* Queue pairs of functions that never had a wire get what packets need. */
static void test_without_wire(void)
{
	struct peers_config c = { .st = MLX5_QP_ST_RC };
	struct session_qp late;

	peers_open(&c);
	ok(!hca_of(0)->p.wired && !hw(0)->wire, "functions without a wire");
	ok(use_packets(0, true) && hca_of(1)->p.wired && hw(0)->wire && hw(1)->wire,
	   "one wants packets: both can have them");
	session_qp(&local, 1, MLX5_QP_ST_RC, 4, 4, &late);
	ok(!!hca_qp_get(local.hca[1], late.qp.qp_num)->wire, "a new queue pair, too");
	ok(use_packets(0, false) && use_packets(0, false) && !local.fabric.functions.packets,
	   "no more packets");
	post_write(1, here(0, 0, 100), 0, peer[1].mr.key);
	ok(settle() && succeeded(0, 1) && has_arrived(0, 0, 100), "a WRITE is executed at once");
	session_qp_destroy(&late);
	peers_close();
}

/* Changes in the middle of messages, while frames are lost and late */
static void test_changes(u64 seed)
{
	u32 i, from, at;

	begin(MLX5_QP_ST_RC);
	w.per_mille[WIRE_LOSS] = w.per_mille[WIRE_DUPLICATE] = w.per_mille[WIRE_REORDER] = 20;
	w.seed[WIRE_LOSS] += seed;
	memset(peer[1].mr.ptr + 16, 0, 8);
	for (i = 0; i < MESSAGES; i++) {
		from = i * 1013 % (PEERS_BYTES - LONG);
		at = 1000 + i * 13;
		if (i % 3)
			post_write(i, here(0, from, LONG), at, peer[1].mr.key);
		else
			post_add(i, here(0, PEERS_BYTES - 8, 8), 16, peer[1].mr.key, 1);
		commit(0);
		use_packets((seed + i) % 2, (seed + i) % 5 < 3);
		for (at = 0; at < 7 * (i + seed) % 50; at++)
			peers_pass();
		if (i % 8 == 7)
			peers_settle(SECONDS * NSEC_PER_SEC);
	}
	use_packets(0, false);
	use_packets(1, false);
	i -= 2;				/* the last WRITE */
	wire_ok(&w, settle() && succeeded(0, MESSAGES),
		"changes of the way, %u frames of which %u are lost: all succeed", w.sent, w.lost);
	from = i * 1013 % (PEERS_BYTES - LONG);
	ok(!memcmp(peer[1].mr.ptr + 1000 + i * 13, peer[0].mr.ptr + from, LONG),
	   "the last one is there");
	ok(peer[1].mr.ptr[16] == (MESSAGES + 2) / 3, "each FETCH_ADD was executed once");
	peers_close();
}

/* What a local peer has sent is not taken from another host. */
static void test_stranger(void)
{
	u8 *frame;

	begin(MLX5_QP_ST_RC);
	use_packets(0, true);
	kept_bytes = 0;
	wire_script(&w, keep_first);
	post_write(1, here(0, 0, 500), 0, peer[1].mr.key);
	ok(settle() && succeeded(0, 1) && kept_bytes, "a WRITE in a packet");
	memset(peer[1].mr.ptr, OLD, 500);
	hw(1)->rq_psn = (hw(1)->rq_psn - 1) & HCA_PSN_MASK;
	frame = w.s[1].ops->frame_alloc(w.s[1].ctx[0], kept_bytes);
	memcpy(frame, kept, kept_bytes);
	w.s[1].ops->frame_send(w.s[1].ctx[0]);
	ok(settle() && peer[1].mr.ptr[0] == OLD, "the same packet from another host: dropped");
	frame = w.s[0].ops->frame_alloc(w.s[0].ctx[0], kept_bytes);
	memcpy(frame, kept, kept_bytes);
	w.s[0].ops->frame_send(w.s[0].ctx[0]);
	ok(settle() && peer[1].mr.ptr[0] != OLD, "and from the local peer: taken");
	peers_close();
}

/* ---- Datagrams -------------------------------------------------------------------------- */

static const u8 group[16] = { [10] = 0xff, [11] = 0xff, 239, 1, 2, 3 };

static void post_datagram(u32 qpn, const struct xv_ah *ah)
{
	struct xv_sge sge = here(0, 0, 100);

	xv_wr_send_ud(&peer[0].q.qp, 1, XV_SEND_SIGNALED, &sge, ah, qpn, SESSION_QKEY);
}

static void test_datagrams(void)
{
	struct xv_ah ah, all;

	begin(MLX5_QP_ST_UD);
	ah = session_ah(peer[1].s, peer[1].func);
	all = ah;
	memcpy(all.av.rmac, (u8[]) { 0x01, 0x00, 0x5e, 1, 2, 3 }, 6);
	memcpy(all.av.rgid, group, sizeof(group));
	session_join_group(&peer[1].q, group);
	receive(1, 1, 0, 200);
	post_datagram(peer[1].q.qp.qp_num, &ah);
	ok(settle() && succeeded(0, 1) && succeeded(1, 1) && !w.sent, "a datagram without packets");
	use_packets(0, true);
	receive(1, 2, 1000, 200);
	post_datagram(peer[1].q.qp.qp_num, &ah);
	wire_ok(&w, settle() && succeeded(0, 2) && succeeded(1, 2) && w.sent == 1,
		"a datagram as a packet");
	ok(!memcmp(peer[1].mr.ptr + 1040, peer[0].mr.ptr, 100), "with its data");
	receive(1, 3, 2000, 200);
	receive(1, 4, 3000, 200);
	post_datagram(0xffffff, &all);
	wire_ok(&w, settle() && succeeded(0, 3) && succeeded(1, 3) && w.sent == 2,
		"a multicast as a packet arrives once");
	peers_close();
}

/* ---- DC ----------------------------------------------------------------------------------- */

static void test_dc(void)
{
	const struct peers_config c = { .wired = true, .one_host = true, .st = MLX5_QP_ST_RC };
	struct session_qp dci;
	struct dc_target dct;
	struct dc_srq srq;
	struct xv_wc wc;
	struct dc_wr wr = {
		.opcode = MLX5R_OP_RDMA_WRITE, .fm_ce_se = MLX5R_CE_ALWAYS, .nsge = 1,
	};
	u32 i;

	peers_open(&c);
	srq = dc_srq(&w.s[0], 1);
	dct = dc_target(&w.s[0], 1, &srq, peer[1].q.cqn);
	dc_initiator(&w.s[0], 0, 6, &dci);
	wr.rkey = peer[1].mr.key;
	for (i = 0; i < 3; i++) {
		w.sent = 0;
		use_packets(1, i == 1);
		wr.sge[0] = here(0, i * 100, 3000);
		wr.raddr = peer[1].mr.addr + i * 4000;
		dc_build(&dci, &dct, &wr);
		xv_commit_send(&dci.qp);
		ok(peers_settle(SECONDS * NSEC_PER_SEC) &&
		   xv_poll_cq(&dci.cq, 1, &wc) == 1 && !wc.status &&
		   has_arrived(i * 4000, i * 100, 3000), "DC: a WRITE to a local target");
		ok(!w.sent == (i != 1), "in %u frames", w.sent);
	}
	session_qp_destroy(&dci);
	dc_simple(&w.s[0], 1, MLX5_CMD_OP_DRAIN_DCT, dct.dctn);
	dc_simple(&w.s[0], 1, MLX5_CMD_OP_DESTROY_DCT, dct.dctn);
	peers_close();
}

int main(void)
{
	u64 seed;

	test_each(MLX5_QP_ST_RC, "RC");
	test_each(MLX5_QP_ST_UC, "UC");
	test_without_wire();
	for (seed = 0; seed < 12; seed++)
		test_changes(seed);
	test_stranger();
	test_datagrams();
	test_dc();
	return tap_done();
}
