// SPDX-License-Identifier: GPL-2.0
/*
 * Path migration across a wire: the primary path has IPv4 addresses, the alternate one IPv6.
 * apm_test.c has local peers.
 */
#include <string.h>
#include "data/wire.h"
#include "peers.h"
#include "tap.h"

#define MIGRATED	MLX5_QP_PM_MIGRATED
#define REARM		MLX5_QP_PM_REARM
#define ARMED		MLX5_QP_PM_ARMED

enum { SECONDS = 100 };

/* Loads an alternate path, which leads to the peer or elsewhere, and sets the state REARM. */
static u32 arm(u32 i, bool elsewhere)
{
	u32 in[MLX5_ST_SZ_DW(rst2init_qp_in)] = {}, out[MLX5_ST_SZ_DW(rst2init_qp_out)] = {};
	void *qpc = MLX5_ADDR_OF(rst2init_qp_in, in, qpc);
	void *ads = MLX5_ADDR_OF(qpc, qpc, secondary_address_path);
	u8 *gid = MLX5_ADDR_OF(ads, ads, rgid_rip);

	MLX5_SET(rst2init_qp_in, in, opcode, MLX5_CMD_OP_RTS2RTS_QP);
	MLX5_SET(rst2init_qp_in, in, qpn, peer[i].q.qp.qp_num);
	MLX5_SET(rst2init_qp_in, in, opt_param_mask,
		 MLX5_QP_OPTPAR_ALT_ADDR_PATH | MLX5_QP_OPTPAR_PM_STATE);
	MLX5_SET(qpc, qpc, pm_state, REARM);
	MLX5_SET(ads, ads, vhca_port_num, 1);
	MLX5_SET(ads, ads, src_addr_index, SESSION_GID_IPV6);
	MLX5_SET(ads, ads, ack_timeout, 14);
	MLX5_SET(ads, ads, hop_limit, 64);
	memcpy(gid, hca_of(!i)->gids[SESSION_GID_IPV6].gid, 16);
	gid[15] ^= elsewhere ? 0x40 : 0;
	memcpy(MLX5_ADDR_OF(ads, ads, rmac_47_32), hca_of(!i)->p.mac, 6);
	session_cmd(peer[i].s, peer[i].func, in, sizeof(in), out, sizeof(out));
	return be32_to_cpu(((__be32 *)out)[1]);
}

static u32 migrate(u32 i)
{
	u32 in[MLX5_ST_SZ_DW(rst2init_qp_in)] = {}, out[MLX5_ST_SZ_DW(rst2init_qp_out)] = {};

	MLX5_SET(rst2init_qp_in, in, opcode, MLX5_CMD_OP_RTS2RTS_QP);
	MLX5_SET(rst2init_qp_in, in, qpn, peer[i].q.qp.qp_num);
	MLX5_SET(rst2init_qp_in, in, opt_param_mask, MLX5_QP_OPTPAR_PM_STATE);
	MLX5_SET(rst2init_qp_in, in, qpc.pm_state, MIGRATED);
	session_cmd(peer[i].s, peer[i].func, in, sizeof(in), out, sizeof(out));
	return be32_to_cpu(((__be32 *)out)[1]);
}

static void begin(void)
{
	const struct peers_config c = {
		.wired = true, .st = MLX5_QP_ST_RC, .path.psn = 0xfffffa,
	};

	peers_open(&c);
}

static bool states(u8 a, u8 b)
{
	if (hw(0)->pm_state == a && hw(1)->pm_state == b)
		return true;
	diag("states %u and %u", hw(0)->pm_state, hw(1)->pm_state);
	return false;
}

/* A message from the first peer arrives. */
static bool message(u32 at)
{
	u64 before = look(0)->nwcs;

	memset(peer[1].mr.ptr + at, 0, 5000);
	post_write(at, here(0, at, 5000), at, peer[1].mr.key);
	commit(0);
	return peers_settle(SECONDS * NSEC_PER_SEC) && look(0)->nwcs == before + 1 &&
	       !peer[0].view.wc[before].status &&
	       !memcmp(peer[0].mr.ptr + at, peer[1].mr.ptr + at, 5000);
}

static u32 events(u32 i, u8 type)
{
	struct peers_view *v = look(i);
	u32 n = 0, k;

	for (k = 0; k < v->nevents; k++)
		n += v->event[k] == type;
	return n;
}

static bool one_event_each(u8 type)
{
	return events(0, type) == 1 && events(1, type) == 1;
}

static bool armed(void)
{
	return !arm(0, false) && !arm(1, false) && message(0) && states(ARMED, ARMED);
}

static void test_arm(void)
{
	begin();
	ok(!arm(0, false) && message(0) && states(REARM, MIGRATED), "one side alone is not armed");
	ok(!arm(1, false) && message(8192) && states(ARMED, ARMED), "both are");
	peers_close();
}

static void test_software(u32 side)
{
	begin();
	ok(armed(), "both sides are armed");
	ok(!migrate(side) && hw(side)->pm_state == MIGRATED, "software migrates side %u", side);
	ok(message(8192) && states(MIGRATED, MIGRATED), "the next message makes the other follow");
	ok(one_event_each(MLX5_EVENT_TYPE_PATH_MIG), "each has an event");
	ok(hw(0)->wire->flow.l3 == HCA_L3_IPV6 && message(0), "the alternate path is used");
	peers_close();
}

/* The primary path breaks. */
static bool drop_ipv4(const u8 *frame, u32 bytes, u32 nth)
{
	return frame[12] == 0x08 && !frame[13];
}

static void test_timeout(void)
{
	begin();
	ok(armed(), "both sides are armed");
	wire_script(&w, drop_ipv4);
	ok(message(8192) && states(MIGRATED, MIGRATED), "without answers they migrate");
	ok(one_event_each(MLX5_EVENT_TYPE_PATH_MIG), "each has an event");
	tap_is(hw(0)->retry_left, 7, "the retries begin again");
	peers_close();
}

static void test_mismatch(void)
{
	begin();
	ok(!arm(0, false) && !arm(1, true) && message(0) && states(ARMED, ARMED),
	   "armed with a path that leads elsewhere");
	migrate(0);
	post_write(7, here(0, 0, 100), 0, peer[1].mr.key);
	commit(0);
	peers_settle(SECONDS * NSEC_PER_SEC);
	ok(look(0)->nwcs == 2 && peer[0].view.wc[1].status == XV_WC_RETRY_EXC_ERR,
	   "the peer cannot follow: no answer");
	tap_is(events(1, MLX5_EVENT_TYPE_PATH_MIG_FAILED), 1, "it has an event, once");
	tap_is(hw(1)->pm_state, ARMED, "and stays armed");
	peers_close();
}

static void inject(u32 to, u8 operation, bool migrated, void (*change)(struct hca_packet *p))
{
	struct hca_packet p;

	hca_wire_find_flow(hw(!to));
	p = hca_wire_packet(hw(!to), operation, hw(to)->rq_psn);
	p.flow = hw(!to)->wire->flow;
	p.migrated = migrated;
	if (change)
		change(&p);
	hca_wire_send_bytes(&hca_of(!to)->port[0], &p, (const u8 *)"");
	shim_now += 2 * w.delay;
	wire_deliver(&w);
	session_pass(peer[to].s);
}

static void from_stranger(struct hca_packet *p)
{
	p->flow.sgid[15] ^= 0x20;
	p->flow.smac[5] ^= 0x20;
}

static void wrong_pkey(struct hca_packet *p)
{
	p->pkey = 0x1234;
}

static void make_cnp(struct hca_packet *p)
{
	p->opcode = HCA_BTH_CNP | HCA_CNP_OPERATION;
	p->becn = true;
}

static void test_strangers(void)
{
	begin();
	arm(1, false);
	inject(1, HCA_BTH_WRITE_ONLY, false, from_stranger);
	inject(1, HCA_BTH_WRITE_ONLY, false, wrong_pkey);
	inject(1, HCA_BTH_WRITE_ONLY, false, make_cnp);
	tap_is(hw(1)->pm_state, REARM, "strangers, other partitions and CNPs do not arm");
	arm(0, false);
	ok(message(0) && states(ARMED, ARMED), "the peer does");
	inject(1, HCA_BTH_WRITE_ONLY, true, from_stranger);
	inject(1, HCA_BTH_WRITE_ONLY, true, wrong_pkey);
	ok(states(ARMED, ARMED) && !events(1, MLX5_EVENT_TYPE_PATH_MIG) &&
	   !events(1, MLX5_EVENT_TYPE_PATH_MIG_FAILED), "a stranger does not make it migrate");
	peers_close();
}

int main(void)
{
	test_arm();
	test_software(0);
	test_software(1);
	test_timeout();
	test_mismatch();
	test_strangers();
	return tap_done();
}
