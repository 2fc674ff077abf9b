// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion control between two hosts: marks, CNPs, rates, parameters and counters.
 *
 * wire_net_test.c has many hosts.
 */
#include <string.h>
#include "data/wire.h"
#include "dc.h"
#include "peers.h"
#include "tap.h"

#define MS	1000000ull
#define US	1000ull

enum { CNP = 0x81, LONG = 256 << 10 };

/* What the link has seen */
static struct {
	u32 cnps[2];			/* from each host */
	u64 time;			/* of the last one */
	u64 least;			/* between two */
	u8 frame[128];			/* the last one */
	u32 bytes;
	u32 capable, others;		/* frames that may be marked, that may not */
	u8 dscp;			/* of the last one */
} seen;

static u8 marked_host;			/* frames of this host are marked */
static u32 marks_left;

static bool opcode_is(const u8 *frame, u8 opcode)
{
	return frame[14 + 20 + 8] == opcode;
}

static bool watch(const u8 *frame, u32 bytes, u32 nth)
{
	u8 host = frame[6 + 4];

	if (opcode_is(frame, CNP)) {
		if (seen.cnps[host]++)
			seen.least = min(seen.least, shim_now - seen.time);
		seen.time = shim_now;
		seen.bytes = min_t(u32, bytes, sizeof(seen.frame));
		memcpy(seen.frame, frame, seen.bytes);
	}
	seen.dscp = frame[14 + 1] >> 2;
	if (frame[14 + 1] & 3)
		seen.capable++;
	else
		seen.others++;
	return false;
}

static bool mark(const u8 *frame, u32 bytes)
{
	return frame[6 + 4] == marked_host && marks_left && marks_left--;
}

static void begin(u8 st, u8 from, u32 marks)
{
	const struct peers_config c = { .wired = true, .st = st, .path.mtu = IB_MTU_4096 };

	peers_open(&c);
	memset(&seen, 0, sizeof(seen));
	seen.least = U64_MAX;
	marked_host = from;
	marks_left = marks;
	wire_script(&w, watch);
	w.mark = mark;
}

static struct hca_congestion *counts(u32 i)
{
	return &hca_of(i)->congestion;
}

static struct hca_rate *rate(u32 i)
{
	return &hw(i)->wire->rate;
}

static bool completed(u32 i, u64 wcs)
{
	struct peers_view *v = look(i);
	u64 n;

	for (n = 0; n < v->nwcs; n++)
		if (v->wc[n].status)
			return false;
	return v->nwcs == wcs;
}

/* ---- The notification point ---------------------------------------------------------- */

static void test_cnp(void)
{
	static const u8 zero[16];
	struct hca_packet p;

	begin(MLX5_QP_ST_RC, 0, 1);
	post_write(1, here(0, 0, 100), 0, peer[1].mr.key);
	commit(0);
	ok(peers_settle(NSEC_PER_SEC) && completed(0, 1), "a marked packet is executed");
	ok(seen.cnps[1] == 1 && !seen.cnps[0], "its receiver sends a CNP");
	ok(!hca_packet_read(&p, seen.frame, seen.bytes), "the CNP is a packet");
	tap_is(seen.bytes, 74, "its length");
	ok(p.dqpn == peer[0].q.qp.qp_num && !p.psn && p.becn && !p.migrated && !p.ack_request &&
	   p.pkey == 0xffff, "its BTH");
	ok(!memcmp(p.data - 16, zero, 16), "16 bytes of zeros follow");
	tap_is(p.flow.tclass, 48 << 2 | 2, "its DSCP, and ECT(0)");
	tap_is(p.flow.sport, 0, "its source port");
	ok(counts(1)->marked == 1 && counts(1)->cnps_sent == 1, "it is counted where it is sent");
	ok(counts(0)->cnps_handled == 1 && !counts(0)->cnps_ignored && !counts(0)->marked,
	   "and where it arrives");
	peers_close();
}

/* The target of DC answers as other responders do; the probe and the answers are not marked. */
static void test_dc(void)
{
	struct dc_wr wr = {
		.opcode = MLX5R_OP_RDMA_WRITE, .fm_ce_se = MLX5R_CE_ALWAYS, .nsge = 1,
	};
	struct session_qp dci;
	struct dc_target dct;
	struct dc_srq srq;
	struct xv_wc wc;

	begin(MLX5_QP_ST_RC, 0, UINT32_MAX);
	srq = dc_srq(peer[1].s, peer[1].func);
	dct = dc_target(peer[1].s, peer[1].func, &srq, peer[1].q.cqn);
	dc_initiator(peer[0].s, peer[0].func, 6, &dci);
	wr.sge[0] = here(0, 0, 5000);
	wr.raddr = peer[1].mr.addr;
	wr.rkey = peer[1].mr.key;
	dc_build(&dci, &dct, &wr);
	xv_commit_send(&dci.qp);
	ok(peers_settle(100 * NSEC_PER_SEC) && xv_poll_cq(&dci.cq, 1, &wc) == 1 && !wc.status,
	   "DC: marked packets are executed");
	ok(counts(1)->marked >= 2 && counts(1)->cnps_sent,
	   "DC: they are counted, and a CNP is sent");
	ok(counts(0)->cnps_handled == counts(1)->cnps_sent && !counts(0)->cnps_ignored,
	   "DC: the initiator takes it");
	session_qp_destroy(&dci);
	dc_simple(peer[1].s, peer[1].func, MLX5_CMD_OP_DRAIN_DCT, dct.dctn);
	dc_simple(peer[1].s, peer[1].func, MLX5_CMD_OP_DESTROY_DCT, dct.dctn);
	peers_close();
}

static void test_capable(void)
{
	begin(MLX5_QP_ST_RC, 0, 0);
	post_write(1, here(0, 0, 5000), 0, peer[1].mr.key);
	commit(0);
	ok(peers_settle(NSEC_PER_SEC) && seen.capable && !seen.others,
	   "all packets of a connection may be marked");
	tap_is(seen.dscp, peer[0].s->path.tclass >> 2, "they have the DSCP of the path");
	tap_is(seen.cnps[0] + seen.cnps[1] + counts(1)->marked, 0, "without marks, no CNP");
	peers_close();
}

/* At most one CNP in the time of the parameter */
static void test_spacing(void)
{
	begin(MLX5_QP_ST_RC, 0, 1000);
	counts(1)->param[HCA_NP_MIN_TIME] = 20;
	counts(0)->param[HCA_RP_FIRST_RATE] = 8000;
	post_write(1, here(0, 0, PEERS_BYTES), 0, peer[1].mr.key);
	commit(0);
	ok(peers_settle(NSEC_PER_SEC) && completed(0, 1), "a long message is marked");
	ok(seen.cnps[1] > 2 && seen.cnps[1] < counts(1)->marked, "%u CNPs for %llu marks",
	   seen.cnps[1], counts(1)->marked);
	ok(seen.least >= 20 * US, "two CNPs are %llu us apart", seen.least / US);
	ok(!memcmp(peer[0].mr.ptr, peer[1].mr.ptr, PEERS_BYTES), "the data is right");
	peers_close();
}

/* ---- The reaction point ---------------------------------------------------------------- */

static void cnp_to(u32 host, void (*change)(struct hca_packet *p))
{
	const u32 from = !host;
	struct hca_packet p = {
		.opcode = CNP, .becn = true, .pkey = 0xffff, .dqpn = peer[host].q.qp.qp_num,
	};

	hca_wire_find_flow(hw(from));
	p.flow = hw(from)->wire->flow;
	if (change)
		change(&p);
	hca_wire_send_bytes(&hca_of(from)->port[0], &p, (const u8 *)"");
	shim_now += 2 * w.delay;
	wire_deliver(&w);
	hca_fabric_time(&w.s[host].fabric);
	session_pass(&w.s[host]);
}

static void wrong_port(struct hca_packet *p)
{
	p->flow.sgid[15] ^= 1;
}

static void wrong_qp(struct hca_packet *p)
{
	p->dqpn += 100;
}

static void wrong_pkey(struct hca_packet *p)
{
	p->pkey = 0x1234;
}

static void test_strangers(void)
{
	begin(MLX5_QP_ST_RC, 0, 0);
	cnp_to(0, wrong_port);
	cnp_to(0, wrong_qp);
	cnp_to(0, wrong_pkey);
	ok(counts(0)->cnps_ignored == 3 && !counts(0)->cnps_handled && !rate(0)->limit,
	   "CNPs of strangers are ignored");
	cnp_to(0, NULL);
	ok(counts(0)->cnps_handled == 1 && rate(0)->limit, "that of the peer is not");
	tap_is(seen.cnps[0], 0, "none is answered");
	peers_close();
}

static void test_cut(void)
{
	u32 first, second;

	begin(MLX5_QP_ST_RC, 0, 0);
	counts(0)->param[HCA_RP_FIRST_RATE] = 8000;
	cnp_to(0, NULL);
	first = rate(0)->limit;
	ok(first > 4000000 && first < 4020000, "the first CNP halves the rate: %u kb/s", first);
	cnp_to(0, NULL);
	tap_is(rate(0)->limit, first, "the next one comes too early to count");
	shim_now += 100 * US;
	cnp_to(0, NULL);
	second = rate(0)->limit;
	ok(second < first && second >= first / 2, "then the next one cuts again: %u kb/s", second);
	counts(0)->param[HCA_RP_MIN_RATE] = 3000;
	shim_now += 100 * US;
	cnp_to(0, NULL);
	tap_is(rate(0)->limit, 3000000, "not below the minimum");
	peers_close();
}

static u64 duration(u32 bytes)
{
	const u64 since = shim_now;

	post_write(9, here(0, 0, bytes), 0, peer[1].mr.key);
	commit(0);
	while (!look(0)->nwcs && shim_now < since + NSEC_PER_SEC)
		peers_settle(shim_now < since + NSEC_PER_SEC ? MS : 0);
	return shim_now - since;
}

/* With a rate of 800 Mb/s, 1 MiB takes about 10 ms. */
static void test_pace(void)
{
	u64 ns;

	begin(MLX5_QP_ST_RC, 0, 0);
	counts(0)->param[HCA_RP_FIRST_RATE] = 1600;
	counts(0)->param[HCA_RP_TIME_RESET] = 0x1ffff;
	counts(0)->param[HCA_RP_BYTE_RESET] = 0x7fffffff;
	cnp_to(0, NULL);
	ns = duration(PEERS_BYTES);
	ok(ns > 9 * MS && ns < 13 * MS, "a message is sent at the rate: %llu us", ns / US);
	ok(!memcmp(peer[0].mr.ptr, peer[1].mr.ptr, PEERS_BYTES) && completed(0, 1),
	   "its data is right");
	peers_close();
}

/* A queue pair that has sent little has a low rate; the next long message need not wait for it. */
static void test_slow(void)
{
	u32 i;
	u64 ns;

	begin(MLX5_QP_ST_RC, 0, 0);
	for (i = 0; i < 4; i++) {
		post_write(i, here(0, 0, 8), 0, peer[1].mr.key);
		commit(0);
		peers_settle(NSEC_PER_SEC);
		look(0);
		shim_now += MS;
		hca_fabric_time(&w.s[0].fabric);
	}
	cnp_to(0, NULL);
	ok(rate(0)->limit >= 10000, "not below the minimum: %u kb/s", rate(0)->limit);
	peer[0].view.nwcs = 0;
	ns = duration(PEERS_BYTES);
	ok(ns < 100 * MS, "a long message takes %llu us", ns / US);
	peers_close();
}

static void test_recovery(void)
{
	u32 cut;

	begin(MLX5_QP_ST_RC, 0, 0);
	counts(0)->param[HCA_RP_FIRST_RATE] = 8000;
	cnp_to(0, NULL);
	cut = rate(0)->limit;
	shim_now += 100 * US;
	hca_fabric_time(&w.s[0].fabric);
	hca_rate_allows(hw(0));
	ok(rate(0)->limit > cut && rate(0)->limit < 8000000,
	   "after a step, half of the way to the rate before the cut: %u kb/s", rate(0)->limit);
	shim_now += 400 * US;
	hca_fabric_time(&w.s[0].fabric);
	hca_rate_allows(hw(0));
	ok(rate(0)->limit > 7800000 && rate(0)->limit <= 8000000,
	   "after five, nearly all of it: %u kb/s", rate(0)->limit);
	tap_is(rate(0)->target, 8000000, "the target has not changed");
	shim_now += 1000 * US;
	hca_fabric_time(&w.s[0].fabric);
	hca_rate_allows(hw(0));
	tap_is(rate(0)->target, 8000000 + 10 * 40000, "then it rises");
	peers_close();
}

/* A queue pair that has reached the speed of the port has no limit. */
static void test_end(void)
{
	begin(MLX5_QP_ST_RC, 0, 0);
	counts(0)->param[HCA_RP_AI_RATE] = 100000;
	cnp_to(0, NULL);
	shim_now += 64 * 100 * US;
	hca_fabric_time(&w.s[0].fabric);
	ok(hca_rate_allows(hw(0)) && !rate(0)->limit, "the limit ends");
	cnp_to(0, NULL);
	ok(rate(0)->limit, "another CNP sets one again");
	session_qp_modify(&peer[0].q, MLX5_CMD_OP_2ERR_QP, NULL);
	ok(!rate(0)->limit && !hca_timer_due(&rate(0)->timer), "an error ends it");
	peers_close();
}

/* The responder sends most packets: it gets the CNPs. */
static void test_read(void)
{
	begin(MLX5_QP_ST_RC, 1, 1000);
	counts(1)->param[HCA_RP_FIRST_RATE] = 1600;
	counts(1)->param[HCA_RP_MIN_RATE] = 800;
	post_read(1, here(0, 0, LONG), 0, peer[1].mr.key);
	commit(0);
	ok(peers_settle(NSEC_PER_SEC) && completed(0, 1), "answers of a READ are marked");
	ok(seen.cnps[0] && !seen.cnps[1] && counts(1)->cnps_handled == seen.cnps[0],
	   "the responder gets %u CNPs", seen.cnps[0]);
	ok(rate(1)->limit && !rate(0)->limit, "and sends at a lower rate");
	ok(!memcmp(peer[0].mr.ptr, peer[1].mr.ptr, LONG), "the data is right");
	peers_close();
}

static void test_uc(void)
{
	begin(MLX5_QP_ST_UC, 0, 1000);
	counts(0)->param[HCA_RP_FIRST_RATE] = 1600;
	post_write(1, here(0, 0, LONG), 0, peer[1].mr.key);
	commit(0);
	ok(peers_settle(NSEC_PER_SEC) && completed(0, 1), "UC sends");
	ok(seen.cnps[1] && counts(0)->cnps_handled == seen.cnps[1] && rate(0)->limit,
	   "and obeys %u CNPs", seen.cnps[1]);
	ok(!memcmp(peer[0].mr.ptr, peer[1].mr.ptr, LONG), "the data is right");
	peers_close();
}

/* ---- Commands --------------------------------------------------------------------------- */

enum { RP = 1, NP = 2 };

static u32 out[1024];

static u8 query(u32 protocol)
{
	u32 in[MLX5_ST_SZ_DW(query_cong_params_in)] = {};

	MLX5_SET(query_cong_params_in, in, opcode, MLX5_CMD_OP_QUERY_CONG_PARAMS);
	MLX5_SET(query_cong_params_in, in, cong_protocol, protocol);
	memset(out, 0, sizeof(out));
	return session_cmd(peer[0].s, 0, in, sizeof(in), out,
			   MLX5_ST_SZ_BYTES(query_cong_params_out));
}

static u8 modify(u32 protocol, u32 select, const u32 *params)
{
	u32 in[MLX5_ST_SZ_DW(modify_cong_params_in)] = {};
	u32 answer[MLX5_ST_SZ_DW(modify_cong_params_out)] = {};

	MLX5_SET(modify_cong_params_in, in, opcode, MLX5_CMD_OP_MODIFY_CONG_PARAMS);
	MLX5_SET(modify_cong_params_in, in, cong_protocol, protocol);
	MLX5_SET(modify_cong_params_in, in,
		 field_select.field_select_r_roce_rp.field_select_r_roce_rp, select);
	memcpy(MLX5_ADDR_OF(modify_cong_params_in, in, congestion_parameters), params,
	       MLX5_ST_SZ_BYTES(cong_control_r_roce_ecn_rp));
	return session_cmd(peer[0].s, 0, in, sizeof(in), answer, sizeof(answer));
}

static void test_parameters(void)
{
	u32 p[MLX5_ST_SZ_DW(cong_control_r_roce_ecn_rp)] = {};
	void *rp = MLX5_ADDR_OF(query_cong_params_out, out, congestion_parameters);

	begin(MLX5_QP_ST_RC, 0, 0);
	ok(!query(RP) && MLX5_GET(cong_control_r_roce_ecn_rp, rp, rpg_time_reset) == 100 &&
	   MLX5_GET(cong_control_r_roce_ecn_rp, rp, clamp_tgt_rate) == 1 &&
	   MLX5_GET(cong_control_r_roce_ecn_rp, rp, rpg_gd) == 11 &&
	   MLX5_GET(cong_control_r_roce_ecn_rp, rp, initial_alpha_value) == 1023,
	   "parameters of the reaction point");
	ok(!query(NP) && MLX5_GET(cong_control_r_roce_ecn_np, rp, min_time_between_cnps) == 100 &&
	   MLX5_GET(cong_control_r_roce_ecn_np, rp, cnp_dscp) == 48 &&
	   MLX5_GET(cong_control_r_roce_ecn_np, rp, cnp_802p_prio) == 6,
	   "parameters of the notification point");
	ok(query(0) && query(3), "other protocols are refused");
	MLX5_SET(cong_control_r_roce_ecn_rp, p, rpg_ai_rate, 77);
	MLX5_SET(cong_control_r_roce_ecn_rp, p, rpg_hai_rate, 88);
	ok(!modify(RP, 1 << 7, p), "one parameter is set");
	ok(counts(0)->param[HCA_RP_AI_RATE] == 77 && counts(0)->param[HCA_RP_HAI_RATE] == 200 &&
	   counts(0)->param[HCA_RP_TIME_RESET] == 100, "the others stay");
	ok(modify(RP, 1 << 7 | 1 << 3, p), "a time of 0 is refused");
	MLX5_SET(cong_control_r_roce_ecn_rp, p, rpg_ai_rate, 78);
	ok(modify(RP, 1 << 7 | 1 << 3, p) && counts(0)->param[HCA_RP_AI_RATE] == 77,
	   "and then nothing changes");
	memset(p, 0, sizeof(p));
	MLX5_SET(cong_control_r_roce_ecn_np, p, cnp_802p_prio, 3);
	MLX5_SET(cong_control_r_roce_ecn_np, p, cnp_dscp, 20);
	ok(!modify(NP, 1 << 4 | 1 << 3, p) && counts(0)->param[HCA_NP_PRIO] == 3 &&
	   counts(0)->param[HCA_NP_DSCP] == 20, "parameters of CNPs are set");
	peers_close();
}

/* Each value at its limits, and one beyond */
static void test_ranges(void)
{
	static const struct {
		u32 select, dword, least, most;
	} row[] = {
		{ 3, 5, 1, 0x1ffff }, { 4, 6, 1, 0x7fffffff }, { 5, 7, 1, 31 },
		{ 6, 8, 0, 100000 }, { 7, 9, 1, 100000 }, { 8, 10, 1, 100000 }, { 16, 11, 0, 15 },
		{ 9, 12, 0, 100 }, { 10, 13, 1, 100000 }, { 11, 21, 0, 100000 },
		{ 12, 22, 0, 1023 }, { 13, 23, 1, 0x1ffff }, { 14, 24, 1, 0x1ffff },
		{ 15, 26, 0, 1023 },
	};
	u32 i, good = 0, p[MLX5_ST_SZ_DW(cong_control_r_roce_ecn_rp)];

	begin(MLX5_QP_ST_RC, 0, 0);
	for (i = 0; i < ARRAY_SIZE(row); i++) {
		memset(p, 0, sizeof(p));
		p[row[i].dword] = cpu_to_be32(row[i].most);
		good += !modify(RP, 1u << row[i].select, p);
		p[row[i].dword] = cpu_to_be32(row[i].most + 1);
		good += !!modify(RP, 1u << row[i].select, p);
		p[row[i].dword] = cpu_to_be32(row[i].least);
		good += !modify(RP, 1u << row[i].select, p);
		p[row[i].dword] = cpu_to_be32(row[i].least - 1);
		good += !row[i].least || modify(RP, 1u << row[i].select, p);
	}
	tap_is(good, 4 * ARRAY_SIZE(row), "limits of the parameters");
	peers_close();
}

/* A counter is not aligned. */
static u64 statistic(u32 host, u32 bit, bool clear)
{
	u32 in[MLX5_ST_SZ_DW(query_cong_statistics_in)] = {};

	MLX5_SET(query_cong_statistics_in, in, opcode, MLX5_CMD_OP_QUERY_CONG_STATISTICS);
	MLX5_SET(query_cong_statistics_in, in, clear, clear);
	session_cmd(peer[host].s, 0, in, sizeof(in), out,
		    MLX5_ST_SZ_BYTES(query_cong_statistics_out));
	return (u64)be32_to_cpu(((__be32 *)out)[bit / 32]) << 32 |
	       be32_to_cpu(((__be32 *)out)[bit / 32 + 1]);
}

#define STATISTIC(name)	__mlx5_bit_off(query_cong_statistics_out, name##_high)

static void test_statistics(void)
{
	begin(MLX5_QP_ST_RC, 0, 3);
	post_write(1, here(0, 0, 3 * 4096), 0, peer[1].mr.key);
	commit(0);
	peers_settle(NSEC_PER_SEC);
	cnp_to(0, wrong_qp);
	tap_is(statistic(1, STATISTIC(np_ecn_marked_roce_packets), false), 3, "marked packets");
	tap_is(statistic(1, STATISTIC(np_cnp_sent), false), 1, "CNPs sent");
	tap_is(statistic(0, STATISTIC(rp_cnp_handled), false), 1, "CNPs handled");
	tap_is(statistic(0, STATISTIC(rp_cnp_ignored), true), 1, "CNPs ignored");
	tap_is(statistic(0, STATISTIC(rp_cnp_ignored), false) +
	       statistic(0, STATISTIC(rp_cnp_handled), false), 0, "they are cleared");
	peers_close();
}

int main(void)
{
	test_cnp();
	test_dc();
	test_capable();
	test_spacing();
	test_strangers();
	test_cut();
	test_pace();
	test_slow();
	test_recovery();
	test_end();
	test_read();
	test_uc();
	test_parameters();
	test_ranges();
	test_statistics();
	return tap_done();
}
