// SPDX-License-Identifier: GPL-2.0
/*
 * The gate: private packets go only to a peer that has answered a probe, and probes of strangers
 * get one answer and leave nothing.
 */
#include "cmd/cmd.h"
#include "masked.h"
#include "tap.h"
#include "peers.h"

#define SETTLE	(20 * NSEC_PER_SEC)

/* What was on the wire */
static struct {
	u32 probes, answers, others;	/* others: other private packets */
	u32 early;			/* those before the first answer */
	u32 probe_bytes, answer_bytes;
	bool silent;			/* no answer arrives */
} seen;

static bool watch(const u8 *frame, u32 bytes, u32 nth)
{
	struct hca_packet p;

	if (hca_packet_read(&p, frame, bytes) || !(hca_packet_flags(p.opcode) & HCA_OP_PRIVATE))
		return false;
	if (p.opcode != HCA_OPCODE_PROBE) {
		seen.others++;
		seen.early += !seen.answers;
		return false;
	}
	if (p.answer) {
		seen.answers++;
		seen.answer_bytes = bytes;
		return seen.silent;
	}
	seen.probes++;
	seen.probe_bytes = bytes;
	return false;
}

static void begin(void)
{
	const struct peers_config c = { .wired = true, .st = MLX5_QP_ST_RC };

	peers_open(&c);
	memset(&seen, 0, sizeof(seen));
	wire_script(&w, watch);
}

static void post(struct session_qp *q, u64 wr_id)
{
	struct masked m = {
		.add = true, .bytes = 8, .addr = peer[1].mr.addr, .key = peer[1].mr.key,
		.into = here(0, 0, 8),
	};

	m.args[7] = 1;
	masked_post(&q->qp, wr_id, false, &m);
	xv_commit_send(&q->qp);
}

static int status(u32 i)
{
	return look(0)->nwcs > i ? (int)peer[0].view.wc[i].status : -1;
}

static u32 gates(u32 host)
{
	const struct hca_gate *gate = hca_of(host)->gates;
	u32 i, n = 0;

	for (i = 0; i < HCA_GATES; i++)
		n += !!gate[i].until;
	return n;
}

/* ---- Own probes ---------------------------------------------------------------------- */

static void test_open(void)
{
	struct session_qp a, b;

	begin();
	memset(peer[1].mr.ptr, 0, 8);
	post(&peer[0].q, 1);
	wire_ok(&w, peers_settle(SETTLE) && !status(0), "a request behind the gate succeeds");
	ok(seen.probes == 1 && seen.answers == 1 && seen.others == 2 && !seen.early,
	   "one probe, one answer, then the request and its answer");
	tap_is(seen.answer_bytes, seen.probe_bytes, "the answer is as long as the probe");
	ok(gates(0) == 1 && !gates(1), "only the host that asked remembers the other one");
	wire_pair(&w, MLX5_QP_ST_RC, &a, &b);
	post(&a, 1);
	peers_settle(SETTLE);
	ok(seen.probes == 1 && seen.others == 4, "another queue pair does not ask again");
	shim_now += 61 * NSEC_PER_SEC;
	post(&a, 2);
	peers_settle(SETTLE);
	ok(seen.probes == 2 && seen.others == 6, "after a minute it does");
	tap_is(*(u64 *)peer[1].mr.ptr, 3, "all requests were executed");
	session_qp_destroy(&a);
	session_qp_destroy(&b);
	peers_close();
}

/* Other requests before and after the one that waits keep their order. */
static void test_order(void)
{
	begin();
	receive(1, 101, 0, 64);
	receive(1, 102, 64, 64);
	post_send(1, here(0, 0x1000, 64));
	post(&peer[0].q, 2);
	post_send(3, here(0, 0x1040, 64));
	commit(0);
	wire_ok(&w, peers_settle(SETTLE) && !status(0) && !status(1) && !status(2),
		"requests around it succeed");
	ok(peer[0].view.wc[0].wr_id == 1 && peer[0].view.wc[1].wr_id == 2 &&
	   peer[0].view.wc[2].wr_id == 3, "in their order");
	peers_close();
}

static void test_silent(void)
{
	u64 begun, ms;

	begin();
	seen.silent = true;
	post_write(1, here(0, 0x1000, 64), 0x1000, peer[1].mr.key);
	post(&peer[0].q, 2);
	begun = shim_now;
	peers_settle(SETTLE);
	ms = (shim_now - begun) / NSEC_PER_MSEC;
	ok(!status(0) && status(1) == XV_WC_RETRY_EXC_ERR,
	   "no answer: the request ends with \"transport retry counter exceeded\"");
	ok(ms > 3200 && ms < 4000, "after the time of all retries: %llu ms", ms);
	ok(seen.probes > 7 && !seen.others && !gates(0),
	   "%u probes, and no other private packet", seen.probes);
	peers_close();
}

static bool lose_probes(const u8 *frame, u32 bytes, u32 nth)
{
	watch(frame, bytes, nth);
	return nth < 3;
}

static void test_lost(void)
{
	begin();
	wire_script(&w, lose_probes);
	post(&peer[0].q, 1);
	wire_ok(&w, peers_settle(SETTLE) && !status(0), "lost probes are repeated");
	tap_is(seen.probes, 4, "until one is answered");
	peers_close();
}

/* The peer ends: a queue pair that gets no answers asks whether the host is still the same. */
static void test_gone(void)
{
	begin();
	post(&peer[0].q, 1);
	peers_settle(SETTLE);
	session_qp_modify(&peer[1].q, MLX5_CMD_OP_2ERR_QP, NULL);
	post(&peer[0].q, 2);
	peers_settle(SETTLE);
	tap_is(status(1), XV_WC_RETRY_EXC_ERR, "the peer has failed");
	ok(seen.probes > 1 && seen.probes < 10, "it was asked again: %u probes", seen.probes);
	peers_close();
}

/* ---- Answers that are not expected ------------------------------------------------------ */

static struct hca_packet probe(u32 from)
{
	struct hca_packet p = hca_wire_packet(hw(from), 0, 0);

	hca_wire_find_flow(hw(from));
	p.flow = hw(from)->wire->flow;
	p.opcode = HCA_OPCODE_PROBE;
	p.dqpn = peer[!from].q.qp.qp_num;
	p.sqpn = peer[from].q.qp.qp_num;
	p.token = 1;
	return p;
}

static void send_packet(u32 from, struct hca_packet *p)
{
	hca_wire_send_bytes(hw(from)->port, p, (const u8 *)"");
	peers_settle(NSEC_PER_MSEC);
}

static void test_forged(void)
{
	struct hca_packet p;

	begin();
	p = probe(1);
	p.answer = true;
	send_packet(1, &p);
	ok(!gates(0) && seen.answers == 1, "an answer without a probe does nothing");
	seen.silent = true;
	post(&peer[0].q, 1);
	peers_settle(NSEC_PER_MSEC);
	seen.silent = false;
	p.token = hw(0)->wire->gate.token + 1;
	send_packet(1, &p);
	p.token = hw(0)->wire->gate.token;
	p.flow.sgid[15] ^= 1;
	send_packet(1, &p);
	ok(!gates(0) && !seen.others, "nor with another token, or from another host");
	p.flow.sgid[15] ^= 1;
	send_packet(1, &p);
	ok(gates(0) == 1 && seen.others, "the right one opens the gate");
	peers_close();
}

/* ---- Probes of strangers ---------------------------------------------------------------- */

static void change_source_mac(struct hca_packet *p)
{
	p->flow.smac[0] |= 1;
}

static void change_source(struct hca_packet *p)
{
	p->flow.sgid[12] = 239;
}

static void change_source_zero(struct hca_packet *p)
{
	memset(p->flow.sgid + 12, 0, 4);
}

static void change_source_own(struct hca_packet *p)
{
	memcpy(p->flow.sgid, p->flow.dgid, 16);
	memcpy(p->flow.smac, p->flow.dmac, 6);
}

static void change_target(struct hca_packet *p)
{
	p->flow.dgid[15] ^= 1;
}

static void change_vlan(struct hca_packet *p)
{
	p->flow.tagged = true;
	p->flow.tci = 9;
}

static void change_pkey(struct hca_packet *p)
{
	p->pkey = 0x1234;
}

static void test_strangers(void)
{
	static const struct {
		const char *name;
		void (*change)(struct hca_packet *p);
	} cases[] = {
		{ "a multicast MAC", change_source_mac },
		{ "a multicast address", change_source },
		{ "no address", change_source_zero },
		{ "its own address", change_source_own },
		{ "an address to another host", change_target },
		{ "another VLAN", change_vlan },
		{ "another partition", change_pkey },
	};
	struct hca_packet p;
	u32 i;

	begin();
	for (i = 0; i < 1000; i++) {
		p = probe(0);
		p.flow.sgid[14] = i >> 8;
		p.flow.sgid[15] = i;
		p.flow.sgid[13] = 77;
		p.sqpn = i;
		send_packet(0, &p);
	}
	ok(seen.probes == 1000 && seen.answers == 1000, "a thousand strangers have an answer each");
	ok(!gates(1) && !hca_of(1)->fabric->timers.n, "and leave nothing");
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		p = probe(0);
		seen.answers = 0;
		cases[i].change(&p);
		send_packet(0, &p);
		tap_is(seen.answers, 0, "no answer: %s", cases[i].name);
	}
	peers_close();
}

int main(void)
{
	test_open();
	test_order();
	test_silent();
	test_lost();
	test_gone();
	test_forged();
	test_strangers();
	return tap_done();
}
