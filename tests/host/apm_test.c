// SPDX-License-Identifier: GPL-2.0
/*
 * Automatic path migration: which states software may set, how two sides become armed, how
 * they migrate, and what happens if one side cannot.
 */
#include <stdlib.h>
#include <string.h>
#include "cmd/cmd.h"
#include "session.h"
#include "tap.h"

#define MIGRATED	MLX5_QP_PM_MIGRATED
#define REARM		MLX5_QP_PM_REARM
#define ARMED		MLX5_QP_PM_ARMED
#define ALT		MLX5_QP_OPTPAR_ALT_ADDR_PATH
#define STATE		MLX5_QP_OPTPAR_PM_STATE
#define MR_BYTES	(1u << 20)	/* takes several turns */
#define RETRIES		2		/* set by the session */
#define NOWHERE		9		/* an address that no port has */

static struct session s;
static struct session_mr mr[2];
static struct session_qp q[2];

static void connect(u8 st)
{
	session_qp(&s, 0, st, 4, 4, &q[0]);
	session_qp(&s, 1, st, 4, 4, &q[1]);
	session_connect(&q[0], &q[1]);
}

static void disconnect(void)
{
	session_qp_destroy(&q[0]);
	session_qp_destroy(&q[1]);
}

static struct hca_qp *qp(int side)
{
	return hca_qp_get(s.hca[side], q[side].qp.qp_num);
}

/* Each function has a second address, for alternate paths: 10.0.1.x next to 10.0.0.x. */
static void address(u8 *gid, int func, u8 net)
{
	memcpy(gid, s.hca[func]->gids[0].gid, 16);
	gid[14] = net;
}

static void add_addresses(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		s.hca[i]->gids[1] = s.hca[i]->gids[0];
		s.hca[i]->gids_end = 2;
		address(s.hca[i]->gids[1].gid, i, 1);
	}
	hca_route_changed(&s.fabric);
}

static void set_address(int func, int index, bool valid)
{
	s.hca[func]->gids[index].valid = valid;
	hca_route_changed(&s.fabric);
}

/* RTS2RTS: an alternate path to the peer's address in @net, a migration state */
static u32 modify(int side, u32 opt, u8 state, u8 net)
{
	u32 in[MLX5_ST_SZ_DW(rst2init_qp_in)] = {}, out[MLX5_ST_SZ_DW(rst2init_qp_out)] = {};
	void *qpc = MLX5_ADDR_OF(rst2init_qp_in, in, qpc);
	void *ads = MLX5_ADDR_OF(qpc, qpc, secondary_address_path);

	MLX5_SET(rst2init_qp_in, in, opcode, MLX5_CMD_OP_RTS2RTS_QP);
	MLX5_SET(rst2init_qp_in, in, qpn, q[side].qp.qp_num);
	MLX5_SET(rst2init_qp_in, in, opt_param_mask, opt);
	MLX5_SET(qpc, qpc, pm_state, state);
	MLX5_SET(ads, ads, vhca_port_num, 1);
	MLX5_SET(ads, ads, src_addr_index, 1);
	MLX5_SET(ads, ads, ack_timeout, 2);
	address(MLX5_ADDR_OF(ads, ads, rgid_rip), !side, net);
	memcpy(MLX5_ADDR_OF(ads, ads, rmac_47_32), s.hca[!side]->p.mac, 6);
	session_cmd(&s, side, in, sizeof(in), out, sizeof(out));
	return be32_to_cpu(((__be32 *)out)[1]);
}

static u32 query(int side, u32 *qpc)
{
	u32 in[MLX5_ST_SZ_DW(query_qp_in)] = {}, out[MLX5_ST_SZ_DW(query_qp_out)] = {};

	MLX5_SET(query_qp_in, in, opcode, MLX5_CMD_OP_QUERY_QP);
	MLX5_SET(query_qp_in, in, qpn, q[side].qp.qp_num);
	session_cmd(&s, side, in, sizeof(in), out, sizeof(out));
	memcpy(qpc, MLX5_ADDR_OF(query_qp_out, out, qpc), MLX5_ST_SZ_BYTES(qpc));
	return MLX5_GET(qpc, qpc, pm_state);
}

static void in_states(u8 a, u8 b, const char *what)
{
	u32 qpc[MLX5_ST_SZ_DW(qpc)];

	ok(query(0, qpc) == a && query(1, qpc) == b, "%s: states %u and %u", what, a, b);
}

/* ---- Events ------------------------------------------------------------------------ */

static struct hca_eq *eq(int side)
{
	return hca_table_get(&s.hca[side]->eqs, s.eqn[side]);
}

/* Number of new events of the QP of a side; all must be of @type. */
static u32 events(int side, u8 type)
{
	u32 n = 0;

	for (; eq(side)->ci != eq(side)->pi; n++) {
		u8 *e = hca_buf_at(&eq(side)->buf,
				   (eq(side)->ci++ & ((1u << eq(side)->log_size) - 1)) * 64ull);

		if (e[1] != type || be32_to_cpu(*(__be32 *)(e + 0x38)) != q[side].qp.qp_num)
			return ~0u;
	}
	return n;
}

static void both_migrated(const char *what)
{
	ok(events(0, MLX5_EVENT_TYPE_PATH_MIG) == 1 &&
	   events(1, MLX5_EVENT_TYPE_PATH_MIG) == 1, "%s: one event on each side", what);
	in_states(MIGRATED, MIGRATED, what);
}

/* ---- Messages ----------------------------------------------------------------------- */

static void post(int side, u32 bytes)
{
	struct xv_sge from = session_sge(&mr[side], 0, bytes);
	struct xv_sge to = session_sge(&mr[!side], 0, bytes);

	memset(mr[side].ptr, 0x5a, bytes);
	memset(mr[!side].ptr, 0, bytes);
	xv_wr_recv(&q[!side].qp, 7, &to);
	xv_commit_recv(&q[!side].qp);
	xv_wr_send(&q[side].qp, 3, XV_SEND_SIGNALED, &from);
	xv_commit_send(&q[side].qp);
}

/* Status of the next completion; -1: none, and no timer is set */
static int next(int side)
{
	struct xv_wc wc;
	int idle = 0;

	while (idle < 1000) {
		if (xv_poll_cq(&q[side].cq, 1, &wc))
			return wc.status;
		idle = hca_fabric_poll(&s.fabric) ||
		       hca_fabric_deadline(&s.fabric) != U64_MAX ? 0 : idle + 1;
	}
	return -1;
}

static bool arrived(int side, u32 bytes)
{
	return next(side) == XV_WC_SUCCESS && next(!side) == XV_WC_SUCCESS &&
	       !memcmp(mr[0].ptr, mr[1].ptr, bytes) && mr[0].ptr[bytes - 1] == 0x5a;
}

static bool transfer(int side)
{
	post(side, 64);
	return arrived(side, 64);
}

/* Gives both sides an alternate path and arms them with a message. */
static void connect_armed(u8 st, u8 net0, u8 net1)
{
	connect(st);
	if (modify(0, ALT | STATE, REARM, net0) || modify(1, ALT | STATE, REARM, net1) ||
	    !transfer(0))
		ok(false, "cannot arm");
	in_states(ARMED, ARMED, "armed");
}

/* ---- Tests ------------------------------------------------------------------------------ */

static void test_requests(void)
{
	static const struct {
		const char *what;
		u32 opt;
		u8 state;
		u32 synd;
		u8 after;
	} t[] = {
		{ "MIGRATED, as it is", STATE, MIGRATED, HCA_OK, MIGRATED },
		{ "REARM with no alternate path", STATE, REARM, HCA_SYND_QP_MIGRATION, MIGRATED },
		{ "ARMED", STATE, ARMED, HCA_SYND_QP_MIGRATION, MIGRATED },
		{ "an alternate path", ALT, ARMED, HCA_OK, MIGRATED },
		{ "ARMED with a path", STATE, ARMED, HCA_SYND_QP_MIGRATION, MIGRATED },
		{ "REARM", STATE, REARM, HCA_OK, REARM },
		{ "REARM again, with another path", ALT | STATE, REARM, HCA_OK, REARM },
		{ "MIGRATED from REARM", STATE, MIGRATED, HCA_SYND_QP_MIGRATION, REARM },
		{ "ARMED from REARM", STATE, ARMED, HCA_SYND_QP_MIGRATION, REARM },
	};
	u32 qpc[MLX5_ST_SZ_DW(qpc)];
	unsigned int i;

	connect(MLX5_QP_ST_RC);
	for (i = 0; i < ARRAY_SIZE(t); i++)
		ok(modify(0, t[i].opt, t[i].state, 1) == t[i].synd &&
		   query(0, qpc) == t[i].after, "%s: syndrome %#x", t[i].what, t[i].synd);
	session_qp_modify(&q[0], MLX5_CMD_OP_2RST_QP, NULL);
	tap_is(query(0, qpc), MIGRATED, "RESET clears the state");
	session_qp_modify(&q[1], MLX5_CMD_OP_2RST_QP, NULL);
	session_connect(&q[0], &q[1]);
	tap_is(modify(0, STATE, REARM, 1), HCA_SYND_QP_MIGRATION,
	       "RESET clears the alternate path");
	disconnect();

	session_qp(&s, 0, MLX5_QP_ST_UD, 4, 4, &q[0]);
	session_qp(&s, 1, MLX5_QP_ST_UD, 4, 4, &q[1]);
	session_connect(&q[0], &q[1]);
	tap_is(modify(0, ALT, MIGRATED, 1), HCA_SYND_QP_OPTPAR, "datagrams have no path");
	disconnect();
}

static void test_arm(void)
{
	connect(MLX5_QP_ST_RC);
	modify(0, ALT | STATE, REARM, 1);
	ok(transfer(0) && transfer(1), "messages in both directions");
	in_states(REARM, MIGRATED, "one side in REARM stays there");
	modify(1, ALT | STATE, REARM, 1);
	in_states(REARM, REARM, "both in REARM stay there until a message");
	ok(transfer(1), "a message");
	in_states(ARMED, ARMED, "arms both");
	tap_is(modify(0, STATE, REARM, 1), HCA_SYND_QP_MIGRATION, "REARM from ARMED");
	ok(transfer(0) && transfer(1), "messages do not change the state");
	in_states(ARMED, ARMED, "armed");
	ok(!events(0, 0) && !events(1, 0), "no events");
	disconnect();
}

/* Side 0 migrates by command, side 1 with the next message from either side. */
static void test_software(u8 st, int sender)
{
	u32 before[MLX5_ST_SZ_DW(qpc)], after[MLX5_ST_SZ_DW(qpc)];
	void *alternate = MLX5_ADDR_OF(qpc, before, secondary_address_path);
	void *primary = MLX5_ADDR_OF(qpc, after, primary_address_path);

	connect_armed(st, 1, 1);
	query(0, before);
	tap_is(modify(0, STATE, MIGRATED, 1), HCA_OK, "software migrates");
	in_states(MIGRATED, ARMED, "side 0 has migrated");
	ok(transfer(sender), "a message from side %d", sender);
	both_migrated("software");
	query(0, after);
	ok(!memcmp(primary, alternate, MLX5_ST_SZ_BYTES(ads)) &&
	   !MLX5_GET(qpc, after, secondary_address_path.vhca_port_num),
	   "the alternate path is the primary one");
	tap_is(qp(0)->ack_timeout, 2, "its timeout is set");
	tap_is(modify(0, STATE, REARM, 1), HCA_SYND_QP_MIGRATION,
	       "REARM without an alternate path");
	ok(!modify(0, ALT | STATE, REARM, 0) && !modify(1, ALT | STATE, REARM, 0) &&
	   transfer(0), "a new alternate path is loaded");
	in_states(ARMED, ARMED, "armed again");
	disconnect();
}

/* The primary path fails: the message uses the alternate path. */
static void test_failover(int gone, int sender, u32 bytes)
{
	struct hca_counter *n = &s.hca[sender]->uncounted;
	u64 before;

	connect_armed(MLX5_QP_ST_RC, 1, 1);
	before = n->timeouts;
	post(sender, bytes);
	if (bytes > 64) {
		while (!qp(sender)->done)
			hca_fabric_poll(&s.fabric);
		ok(qp(sender)->done && qp(sender)->done < bytes,
		   "a part of the message is done");
	}
	set_address(gone, 0, false);
	ok(arrived(sender, bytes), "address of side %d gone: %u bytes from side %d arrive",
	   gone, bytes, sender);
	tap_is(n->timeouts - before, 1 + RETRIES, "all retries were used");
	both_migrated("failover");
	ok(transfer(0) && transfer(1), "next messages in both directions");
	tap_is(n->timeouts - before, 1 + RETRIES, "no retry for them");
	set_address(gone, 0, true);
	disconnect();
}

/* A side that cannot migrate drops the requests; the requester uses all retries again. */
static void test_failed(void)
{
	static const struct {
		const char *what;
		u8 net0, net1;
		bool arm;
		u32 migrated, failed, timeouts;
	} t[] = {
		{ "the peer's alternate path leads nowhere", 1, NOWHERE, true, 1, 1, 2 },
		{ "the alternate path leads nowhere", NOWHERE, 1, true, 1, 0, 2 },
		{ "not armed", 1, 1, false, 0, 0, 1 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct hca_counter *n = &s.hca[0]->uncounted;
		u64 before;

		if (t[i].arm) {
			connect_armed(MLX5_QP_ST_RC, t[i].net0, t[i].net1);
		} else {
			connect(MLX5_QP_ST_RC);
			modify(0, ALT | STATE, REARM, t[i].net0);
			modify(1, ALT | STATE, REARM, t[i].net1);
		}
		before = n->timeouts;
		set_address(1, 0, false);
		post(0, 64);
		ok(next(0) == XV_WC_RETRY_EXC_ERR && next(1) == -1, "%s: retries run out",
		   t[i].what);
		tap_is(n->timeouts - before, t[i].timeouts * (1 + RETRIES), "timeouts");
		tap_is(events(0, MLX5_EVENT_TYPE_PATH_MIG), t[i].migrated, "path migrated");
		tap_is(events(1, MLX5_EVENT_TYPE_PATH_MIG_FAILED), t[i].failed, "failed");
		in_states(t[i].arm ? MIGRATED : REARM, t[i].arm ? ARMED : REARM, t[i].what);
		set_address(1, 0, true);
		disconnect();
	}
}

/* UC messages are dropped without an answer, and with one event in all. */
static void test_one_event_per_migration(void)
{
	int i;

	connect_armed(MLX5_QP_ST_UC, 1, NOWHERE);
	ok(!modify(0, STATE, MIGRATED, 1) && events(0, MLX5_EVENT_TYPE_PATH_MIG) == 1,
	   "side 0 migrates");
	for (i = 0; i < 5; i++) {
		post(0, 64);
		ok(next(0) == XV_WC_SUCCESS && next(1) == -1, "message %d is dropped", i);
	}
	tap_is(events(1, MLX5_EVENT_TYPE_PATH_MIG_FAILED), 1, "one event");
	ok(!modify(1, ALT, ARMED, 1) && transfer(0), "with a path the next message arrives");
	tap_is(events(1, MLX5_EVENT_TYPE_PATH_MIG), 1, "side 1 has migrated");
	in_states(MIGRATED, MIGRATED, "late");
	disconnect();
}

/* Another QP with the number of the peer, on a function to which no path leads */
static void test_qp_number_of_peer(void)
{
	struct xv_sge sge = session_sge(&mr[1], 0, 8);
	struct session_qp spare, stranger;

	session_qp(&s, 0, MLX5_QP_ST_UC, 4, 4, &spare);
	connect_armed(MLX5_QP_ST_UC, 1, 1);
	session_qp(&s, 1, MLX5_QP_ST_UC, 4, 4, &stranger);
	tap_is(stranger.qp.qp_num, q[0].qp.qp_num, "another QP has the number of the peer");
	session_qp_modify(&stranger, MLX5_CMD_OP_RST2INIT_QP, &q[1]);
	session_qp_modify(&stranger, MLX5_CMD_OP_INIT2RTR_QP, &q[1]);
	session_qp_modify(&stranger, MLX5_CMD_OP_RTR2RTS_QP, &q[1]);
	xv_wr_send(&stranger.qp, 3, XV_SEND_SIGNALED, &sge);
	xv_commit_send(&stranger.qp);
	tap_is(next(1), -1, "its message does not arrive");
	in_states(ARMED, ARMED, "a stranger");
	tap_is(events(1, MLX5_EVENT_TYPE_PATH_MIG_FAILED), 0, "no event");
	session_qp_destroy(&stranger);
	disconnect();
	session_qp_destroy(&spare);
}

int main(void)
{
	int i;

	session_init(&s);
	for (i = 0; i < 2; i++) {
		mr[i] = session_mr(&s, i, MR_BYTES, MLX5R_MKEY_ACCESS_LR | MLX5R_MKEY_ACCESS_LW);
		s.hca[i]->async_eq[MLX5_EVENT_TYPE_PATH_MIG] = eq(i);
		s.hca[i]->async_eq[MLX5_EVENT_TYPE_PATH_MIG_FAILED] = eq(i);
	}
	add_addresses();
	test_requests();
	test_arm();
	for (i = 0; i < 2; i++) {
		test_software(MLX5_QP_ST_RC, i);
		test_software(MLX5_QP_ST_UC, i);
		test_failover(0, i, 64);
		test_failover(1, i, 64);
		test_failover(1, i, MR_BYTES);
	}
	test_failed();
	test_one_event_per_migration();
	test_qp_number_of_peer();
	session_free(&s);
	return tap_done();
}
