// SPDX-License-Identifier: GPL-2.0
/*
 * Two hosts on a wire: what happens to the frames of the adapter, and queue pairs that are
 * connected across the wire.
 */
#include <string.h>
#include "data/data.h"
#include "tap.h"
#include "wire/packet.h"
#include "wire_link.h"

enum { FRAMES = 1000 };

static struct wire w;

static void start(u64 seed)
{
	wire_init(&w, seed);
}

static void end(void)
{
	wire_free(&w);
}

/* ---- The link: frames by hand, while the adapters do not run ------------------------- */

static const u8 *mac_of(u8 host, int func)
{
	return w.s[host].hca[func]->p.mac;
}

static struct hca_packet packet(const u8 *dmac, u32 psn, u32 length)
{
	struct hca_packet p = {
		.flow = { .l3 = HCA_L3_IPV6, .hop_limit = 64, .sport = 0xc000 },
		.opcode = HCA_BTH_RC | HCA_BTH_SEND_ONLY,
		.pkey = 0xffff,
		.psn = psn,
		.length = length,
	};

	memcpy(p.flow.dmac, dmac, 6);
	return p;
}

/* False if there is no room */
static bool send(u8 host, const u8 *dmac, u32 psn, u32 length)
{
	const struct hca_packet p = packet(dmac, psn, length);
	u8 *frame = w.s[host].ops->frame_alloc(w.s[host].ctx[0], hca_packet_bytes(&p));

	if (!frame)
		return false;
	memset(hca_packet_write(&p, frame), 0x77, length);
	hca_packet_seal(&p, frame);
	w.s[host].ops->frame_send(w.s[host].ctx[0]);
	return true;
}

static bool get(u8 host, int func, struct hca_packet *p, u32 *bytes)
{
	bool local;
	const void *frame = w.s[host].ops->frame_next(w.s[host].ctx[func], bytes, &local);

	return frame && !hca_packet_read(p, frame, *bytes);
}

/* How many frames arrive at a function until now, also damaged ones */
static u32 count(u8 host, int func)
{
	u32 n = 0, bytes;
	bool local;

	while (w.s[host].ops->frame_next(w.s[host].ctx[func], &bytes, &local))
		n++;
	return n;
}

static void test_frame(void)
{
	struct hca_packet p;
	u32 bytes;

	start(1);
	shim_now = 2 * NSEC_PER_SEC;
	ok(send(0, mac_of(1, 1), 5, 300), "a frame is sent");
	shim_now += w.delay - 1;
	ok(!get(1, 1, &p, &bytes), "it takes some time");
	shim_now++;
	ok(get(1, 1, &p, &bytes) && p.psn == 5 && p.length == 300 && p.data[299] == 0x77,
	   "it arrives");
	tap_is(bytes, hca_packet_bytes(&p), "with its length");
	ok(!get(1, 1, &p, &bytes), "once");
	tap_is(count(1, 0) + count(0, 0) + count(0, 1), 0, "nobody else gets it");
	send(1, mac_of(0, 0), 6, 0);
	send(1, mac_of(0, 0), 7, 0);
	shim_now += w.delay;
	ok(get(0, 0, &p, &bytes) && p.psn == 6 && bytes == 78, "another way, the first frame");
	ok(get(0, 0, &p, &bytes) && p.psn == 7, "the second one");
	tap_is(w.sent + w.lost + w.bad, 3, "all were good, none was lost");
	end();
}

static void test_addresses(void)
{
	static const u8 group[6] = { 0x33, 0x33, 0, 0, 0, 1 }, nobody[6] = { 2, 9 };

	start(1);
	send(0, group, 1, 0);
	send(0, nobody, 2, 0);
	send(0, mac_of(0, 1), 3, 0);
	shim_now += w.delay;
	tap_is(count(1, 0), 1, "a function gets a multicast");
	tap_is(count(1, 1), 1, "the other one, too");
	tap_is(count(0, 0), 0, "the own host gets no multicast");
	tap_is(count(0, 1), 1, "but a frame that is for another function of it");
	tap_is(w.lost, 1, "a frame for nobody is lost");
	memcpy(w.s[1].hca[1]->gids[1].mac, nobody, 6);
	send(0, nobody, 2, 0);
	shim_now += w.delay;
	tap_is(count(1, 1), 1, "the address of a GID entry counts");
	end();
}

static void test_short(void)
{
	struct hca_packet p;
	u8 *frame;
	u32 bytes;

	start(1);
	p = packet(mac_of(1, 0), 1, 0);
	p.flow.l3 = HCA_L3_IPV4;
	frame = w.s[0].ops->frame_alloc(w.s[0].ctx[0], hca_packet_bytes(&p));
	hca_packet_write(&p, frame);
	hca_packet_seal(&p, frame);
	w.s[0].ops->frame_send(w.s[0].ctx[0]);
	shim_now += w.delay;
	ok(get(1, 0, &p, &bytes) && bytes == 60, "a short frame is padded");
	frame = w.s[0].ops->frame_alloc(w.s[0].ctx[0], 60);
	memset(frame, 0, 60);
	w.s[0].ops->frame_send(w.s[0].ctx[0]);
	tap_is(w.bad, 1, "a frame that is no packet is counted");
	end();
}

static void test_room(void)
{
	u32 n = 0;

	start(1);
	w.room = 3;
	while (n < 10 && send(0, mac_of(1, 0), n, 0))
		n++;
	tap_is(n, 3, "there is room for some frames");
	ok(send(1, mac_of(0, 0), 0, 0), "the other host has its own");
	shim_now += w.delay;
	tap_is(count(1, 0), 3, "they arrive");
	ok(send(0, mac_of(1, 0), n, 0), "there is room again");
	end();
}

/* Sends many frames and waits for all; the result has a bit for each that arrives. */
static u32 send_many(u64 seed, enum wire_fault fault, u32 per_mille, u8 *arrived, u32 *swapped)
{
	struct hca_packet p;
	u32 n, bytes, total = 0, last = 0;

	start(seed);
	if (fault < WIRE_FAULTS)
		w.per_mille[fault] = per_mille;
	memset(arrived, 0, FRAMES);
	*swapped = 0;
	for (n = 0; n < FRAMES; n++, shim_now += w.delay) {
		send(0, mac_of(1, 0), n, 50);
		for (; get(1, 0, &p, &bytes); total++, last = p.psn) {
			arrived[p.psn]++;
			*swapped += p.psn < last;
		}
	}
	shim_now += 100 * w.delay;
	for (; get(1, 0, &p, &bytes); total++)
		arrived[p.psn]++;
	end();
	return total;
}

static void test_faults(void)
{
	static u8 a[FRAMES], b[FRAMES];
	u32 n, swapped;

	tap_is(send_many(1, WIRE_LOSS, 0, a, &swapped), FRAMES, "without faults all arrive");
	tap_is(swapped, 0, "in order");
	n = send_many(1, WIRE_LOSS, 200, a, &swapped);
	ok(n > 700 && n < 900, "a fifth is lost: %u arrive", n);
	ok(!swapped && memchr(a, 0, FRAMES) && !memchr(a, 2, FRAMES), "in order, none twice");
	send_many(1, WIRE_LOSS, 200, b, &swapped);
	ok(!memcmp(a, b, FRAMES), "the same seed loses the same frames");
	send_many(2, WIRE_LOSS, 200, b, &swapped);
	ok(memcmp(a, b, FRAMES), "another seed does not");
	n = send_many(1, WIRE_DUPLICATE, 200, a, &swapped);
	ok(n > 1100 && n < 1300, "a fifth arrives twice: %u", n);
	ok(swapped && memchr(a, 2, FRAMES) && !memchr(a, 0, FRAMES), "later, none is lost");
	n = send_many(1, WIRE_REORDER, 200, a, &swapped);
	ok(n == FRAMES && swapped > 100, "some frames are late: %u times", swapped);
	ok(!memchr(a, 0, FRAMES) && !memchr(a, 2, FRAMES), "each arrives once");
	tap_is(send_many(1, WIRE_LOSS, 1000, a, &swapped), 0, "all may be lost");
}

static void test_damage(void)
{
	u32 n, bytes, good = 0, damaged = 0;
	const void *frame;
	struct hca_packet p;
	bool local;

	start(1);
	w.per_mille[WIRE_CORRUPT] = 500;
	for (n = 0; n < FRAMES; n++)
		send(0, mac_of(1, 0), n, 1000);
	shim_now += w.delay;
	while ((frame = w.s[1].ops->frame_next(w.s[1].ctx[0], &bytes, &local)))
		if (hca_packet_read(&p, frame, bytes))
			damaged++;
		else
			good++;
	tap_is(good + damaged, FRAMES, "damaged frames arrive");
	ok(damaged > 400 && damaged < 600, "half of them are damaged: %u", damaged);
	end();
}

static bool drop_second(const u8 *frame, u32 bytes, u32 nth)
{
	struct hca_packet p;

	return !hca_packet_read(&p, frame, bytes) && nth == 1;
}

static void test_script(void)
{
	struct hca_packet p;
	u32 bytes;

	start(1);
	send(0, mac_of(1, 0), 0, 0);
	wire_script(&w, drop_second);
	send(0, mac_of(1, 0), 1, 0);
	send(1, mac_of(0, 0), 2, 0);
	send(0, mac_of(1, 0), 3, 0);
	shim_now += w.delay;
	ok(get(1, 0, &p, &bytes) && p.psn == 0 && get(1, 0, &p, &bytes) && p.psn == 1 &&
	   get(1, 0, &p, &bytes) && p.psn == 3, "a script lets frames pass");
	ok(!get(0, 0, &p, &bytes) && w.lost == 1, "and drops the second one after its start");
	wire_script(&w, NULL);
	send(1, mac_of(0, 0), 4, 0);
	send(1, mac_of(0, 0), 5, 0);
	shim_now += w.delay;
	tap_is(count(0, 0), 2, "without a script, none is dropped");
	end();
}

/* ---- Hosts --------------------------------------------------------------------------- */

static void test_hosts(void)
{
	struct session_mr a, b;

	start(1);
	a = session_mr(&w.s[0], 0, 4096, ALL_ACCESS);
	b = session_mr(&w.s[1], 0, 4096, ALL_ACCESS);
	ok(session_dma_ptr(&w.s[0], a.addr, 4096) == a.ptr, "a host has its memory");
	ok(session_dma_ptr(&w.s[1], b.addr, 4096) == b.ptr, "the other one, too");
	ok(!session_dma_ptr(&w.s[0], b.addr, 1) && !session_dma_ptr(&w.s[1], a.addr, 1),
	   "none reaches that of the other");
	ok(__XV_DATA_PTR(a.addr) == a.ptr && __XV_DATA_PTR(b.addr) == b.ptr,
	   "the library finds both");
	ok(memcmp(mac_of(0, 0), mac_of(1, 0), 6) && memcmp(mac_of(0, 1), mac_of(1, 1), 6),
	   "all have their own address");
	ok(w.s[0].hca[0]->p.wired && w.s[1].hca[1]->p.wired, "they know that there is a wire");
	end();
}

static struct hca_qp *hw(const struct session_qp *q)
{
	return hca_qp_get(q->s->hca[q->func], q->qp.qp_num);
}

static bool is_connected(const struct session_qp *q, const struct session_qp *peer)
{
	const struct hca *there = peer->s->hca[peer->func];
	const struct hca_path *path = &hw(q)->path;
	const enum session_gid gid = q->s->path.gid;

	return hw(q)->state == MLX5_QP_STATE_RTS && hw(q)->mtu == 1024 &&
	       hw(q)->remote_qpn == peer->qp.qp_num && hw(q)->sq_psn == q->s->path.psn &&
	       hw(q)->rq_psn == peer->s->path.psn && path->sgid_index == gid &&
	       !memcmp(path->rmac, there->p.mac, 6) &&
	       !memcmp(path->rgid, there->gids[gid].gid, 16) &&
	       path->tclass == q->s->path.tclass && path->sl == q->s->path.sl &&
	       path->udp_sport >= 0xc000;
}

static void test_pair(u8 st, const char *name)
{
	struct session_qp a, b;
	u32 gid;

	start(1);
	for (gid = 0; gid < SESSION_GIDS; gid++) {
		w.s[0].path.gid = w.s[1].path.gid = gid;
		wire_pair(&w, st, &a, &b);
		ok(is_connected(&a, &b) && is_connected(&b, &a), "%s, GID %u: connected", name,
		   gid);
		tap_is(hw(&a)->path.udp_sport, hw(&b)->path.udp_sport, "both have one port");
		session_qp_destroy(&a);
		session_qp_destroy(&b);
	}
	end();
}

/* A datagram has its address in the request. */
static void test_ud(void)
{
	struct session_qp a, b;
	struct xv_ah ah;

	start(1);
	wire_pair(&w, MLX5_QP_ST_UD, &a, &b);
	ok(hw(&a)->state == MLX5_QP_STATE_RTS && hw(&b)->state == MLX5_QP_STATE_RTS,
	   "UD: both can send");
	w.s[1].path.gid = SESSION_GID_V1;
	ah = session_ah(&w.s[1], 1);
	ok(be32_to_cpu(ah.av.grh_gid_fl) >> 20 == (MLX5R_AV_GRH >> 20 | SESSION_GID_V1) &&
	   !memcmp(ah.av.rgid, w.s[1].hca[1]->gids[SESSION_GID_V1].gid, 16) &&
	   !memcmp(ah.av.rmac, mac_of(1, 1), 6), "an address has the GID of the path");
	session_qp_destroy(&a);
	session_qp_destroy(&b);
	end();
}

/* ---- Both run ------------------------------------------------------------------------ */

static void test_settle(void)
{
	u64 begin;

	start(1);
	begin = shim_now;
	ok(wire_settle(&w, NSEC_PER_SEC), "without work, both are idle at once");
	ok(shim_now - begin < NSEC_PER_MSEC, "the time does not advance to the limit");
	end();
}

static void test_write(void)
{
	struct session_mr from, to;
	struct session_qp a, b;
	struct xv_sge sge;
	struct xv_wc wc;

	start(1);
	from = session_mr(&w.s[0], 0, 4096, ALL_ACCESS);
	to = session_mr(&w.s[1], 0, 4096, ALL_ACCESS);
	sge = session_sge(&from, 0, 64);
	wire_pair(&w, MLX5_QP_ST_RC, &a, &b);
	xv_wr_write(&a.qp, 1, XV_SEND_SIGNALED, &sge, to.addr, to.key);
	xv_commit_send(&a.qp);
	wire_ok(&w, !wire_settle(&w, 1), "work and time are limited");
	wire_ok(&w, wire_settle(&w, 60 * NSEC_PER_SEC), "a write ends");
	tap_is(xv_poll_cq(&a.cq, 1, &wc), 1, "it has a completion");
	session_qp_destroy(&a);
	session_qp_destroy(&b);
	end();
}

int main(void)
{
	test_frame();
	test_addresses();
	test_short();
	test_room();
	test_faults();
	test_damage();
	test_script();
	test_hosts();
	test_pair(MLX5_QP_ST_RC, "RC");
	test_pair(MLX5_QP_ST_UC, "UC");
	test_pair(MLX5_QP_ST_XRC, "XRC");
	test_ud();
	test_settle();
	test_write();
	return tap_done();
}
