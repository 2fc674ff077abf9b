// SPDX-License-Identifier: GPL-2.0
/*
 * P_Keys: ports communicate if they are in one partition and at least one of them is a full member.
 * A port counts what it drops for a wrong P_Key or Q_Key.
 */
#include <string.h>
#include "cmd/cmd.h"
#include "sa/sa.h"
#include "session.h"
#include "tap.h"

#define BYTES		4096
#define GRH_BYTES	40
#define QP1_QKEY	0x80010000u

static struct session s;
static struct session_mr from, to;

static const u8 group[16] = { 0xff, 0x12, 0x40, 0x1b, [15] = 9 };

static struct hca_port *port(int func)
{
	return &s.hca[func]->port[0];
}

static void set_pkeys(u16 a, u16 b)
{
	hca_port_set_pkey(port(0), a);
	hca_port_set_pkey(port(1), b);
}

/* ---- Counters ------------------------------------------------------------------------- */

struct violations {
	u32 pkey, qkey;
};

static struct violations violations(int func)
{
	u32 in[MLX5_ST_SZ_DW(query_hca_vport_context_in)] = {};
	u32 out[MLX5_ST_SZ_DW(query_hca_vport_context_out)] = {};
	const void *ctx = MLX5_ADDR_OF(query_hca_vport_context_out, out, hca_vport_context);

	MLX5_SET(query_hca_vport_context_in, in, opcode, MLX5_CMD_OP_QUERY_HCA_VPORT_CONTEXT);
	MLX5_SET(query_hca_vport_context_in, in, port_num, 1);
	session_cmd(&s, func, in, sizeof(in), out, sizeof(out));
	return (struct violations) {
		.pkey = MLX5_GET(hca_vport_context, ctx, pkey_violation_counter),
		.qkey = MLX5_GET(hca_vport_context, ctx, qkey_violation_counter),
	};
}

/* The port of function 1 has counted packets with a wrong P_Key, and no others. */
static void counted(struct violations before, bool some, const char *what)
{
	struct violations now = violations(1), own = violations(0);

	ok(some == (now.pkey > before.pkey) && now.qkey == before.qkey && !own.pkey && !own.qkey,
	   "%s: %s", what, some ? "the receiver counts violations" : "no violation");
}

/* ---- Traffic from function 0 to function 1 ----------------------------------------------- */

static bool change(struct session_qp *q, const struct session_qp *peer, u16 opcode, u32 pkey_index)
{
	u32 in[MLX5_ST_SZ_DW(rst2init_qp_in)] = {}, out[MLX5_ST_SZ_DW(rst2init_qp_out)] = {};
	void *qpc = MLX5_ADDR_OF(rst2init_qp_in, in, qpc);
	void *ads = MLX5_ADDR_OF(qpc, qpc, primary_address_path);

	MLX5_SET(rst2init_qp_in, in, opcode, opcode);
	MLX5_SET(rst2init_qp_in, in, qpn, q->qp.qp_num);
	MLX5_SET(qpc, qpc, pm_state, MLX5_QP_PM_MIGRATED);
	MLX5_SET(qpc, qpc, mtu, IB_MTU_4096);
	MLX5_SET(qpc, qpc, log_msg_max, 30);
	MLX5_SET(qpc, qpc, remote_qpn, peer->qp.qp_num);
	MLX5_SET(qpc, qpc, retry_count, 2);
	MLX5_SET(qpc, qpc, rwe, 1);
	MLX5_SET(qpc, qpc, q_key, SESSION_QKEY);
	MLX5_SET(ads, ads, vhca_port_num, 1);
	MLX5_SET(ads, ads, rlid, port(peer->func)->lid);
	MLX5_SET(ads, ads, pkey_index, pkey_index);
	MLX5_SET(ads, ads, ack_timeout, 1);
	return !session_cmd(&s, q->func, in, sizeof(in), out, sizeof(out));
}

static void connect(struct session_qp *q, const struct session_qp *peer, u32 pkey_index)
{
	static const u16 steps[] = {
		MLX5_CMD_OP_RST2INIT_QP, MLX5_CMD_OP_INIT2RTR_QP, MLX5_CMD_OP_RTR2RTS_QP,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(steps); i++)
		if (!change(q, peer, steps[i], pkey_index))
			bail_out("cannot connect");
}

/* P_Key indexes of the sender and of the receiver */
static bool write_arrives(u8 st, u32 a_index, u32 b_index)
{
	struct xv_sge sge = session_sge(&from, 0, 64);
	struct session_qp a, b;
	struct xv_wc wc;
	bool done;

	session_qp(&s, 0, st, 2, 2, &a);
	session_qp(&s, 1, st, 2, 2, &b);
	connect(&a, &b, a_index);
	connect(&b, &a, b_index);
	memset(to.ptr, 0, 64);
	xv_wr_write(&a.qp, 1, XV_SEND_SIGNALED, &sge, to.addr, to.key);
	xv_commit_send(&a.qp);
	while (!xv_poll_cq(&a.cq, 1, &wc))
		hca_fabric_poll(&s.fabric);
	done = !memcmp(from.ptr, to.ptr, 64);
	/* A sender on UC does not learn what arrived. */
	ok(wc.status == (done || st == MLX5_QP_ST_UC ? XV_WC_SUCCESS : XV_WC_RETRY_EXC_ERR),
	   "status %u", wc.status);
	session_qp_destroy(&a);
	session_qp_destroy(&b);
	return done;
}

enum what { UNICAST, MULTICAST, GENERAL_SERVICES, WRONG_QKEY };

static bool datagram_arrives(enum what what)
{
	struct xv_sge sge = session_sge(&from, 0, 64), room = session_sge(&to, 0, GRH_BYTES + 64);
	struct xv_ah ah = { .av.rlid = cpu_to_be16(port(1)->lid) };
	u8 st = what == GENERAL_SERVICES ? MLX5_QP_ST_QP1 : MLX5_QP_ST_UD;
	u32 qpn, qkey = what == WRONG_QKEY ? SESSION_QKEY + 1 : SESSION_QKEY;
	struct session_qp a, b;
	struct xv_wc wc;
	bool done;

	session_qp(&s, 0, st, 2, 2, &a);
	session_qp(&s, 1, st, 2, 2, &b);
	connect(&a, &a, 0);
	connect(&b, &b, 0);
	qpn = what == GENERAL_SERVICES ? 1 : b.qp.qp_num;
	if (what == MULTICAST) {
		session_join_group(&b, group);
		qpn = 0xffffff;
		ah.av.rlid = cpu_to_be16(0xc001);
		ah.av.grh_gid_fl = cpu_to_be32(MLX5R_AV_GRH);
		memcpy(ah.av.rgid, group, sizeof(group));
	}
	xv_wr_recv(&b.qp, 1, &room);
	xv_commit_recv(&b.qp);
	xv_wr_send_ud(&a.qp, 1, XV_SEND_SIGNALED, &sge, &ah, qpn, qkey);
	xv_commit_send(&a.qp);
	session_settle(&s);
	done = xv_poll_cq(&b.cq, 1, &wc) == 1 && !wc.status &&
	       !memcmp(from.ptr, to.ptr + GRH_BYTES, 64);
	session_qp_destroy(&a);
	session_qp_destroy(&b);
	return done;
}

/* ---- Management by QP1 ------------------------------------------------------------------ */

/* Does the manager (SA), or the port of function 1 (counters), answer a request of QP1? */
static bool is_answered(u8 mgmt_class, u8 version, u16 lid, u16 attr)
{
	struct session_mr own = session_mr(&s, 0, BYTES, ALL_ACCESS);
	const struct hca_mad *answer = (void *)(own.ptr + GRH_BYTES);
	struct hca_mad *mad = (void *)(from.ptr + 1024);
	struct xv_sge sge = session_sge(&from, 1024, sizeof(*mad));
	struct xv_sge room = session_sge(&own, 0, GRH_BYTES + sizeof(*mad));
	struct xv_ah ah = { .av.rlid = cpu_to_be16(lid) };
	bool done = false;
	struct session_qp q;
	struct xv_wc wc;

	*mad = (struct hca_mad) {
		.base_version = 1, .mgmt_class = mgmt_class, .class_version = version,
		.method = HCA_METHOD_GET, .attr_id = cpu_to_be16(attr),
	};
	session_qp(&s, 0, MLX5_QP_ST_QP1, 2, 2, &q);
	connect(&q, &q, 0);
	hca_qp_get(s.hca[0], q.qp.qp_num)->qkey = QP1_QKEY;
	xv_wr_recv(&q.qp, 1, &room);
	xv_commit_recv(&q.qp);
	xv_wr_send_ud(&q.qp, 1, XV_SEND_SIGNALED, &sge, &ah, 1, QP1_QKEY);
	xv_commit_send(&q.qp);
	session_settle(&s);
	while (xv_poll_cq(&q.cq, 1, &wc) == 1)
		done = done || (!wc.status && wc.opcode == XV_WC_RECV &&
				answer->method == (HCA_METHOD_GET | HCA_MAD_RESPONSE));
	session_qp_destroy(&q);
	return done;
}

static void test_management(void)
{
	enum { SA = 3, SA_VERSION = 2, PMA = 4, PMA_VERSION = 1, CLASS_PORT_INFO = 1 };
	u16 lid = port(1)->lid;

	set_pkeys(0x7fff, 0xffff);
	ok(is_answered(SA, SA_VERSION, HCA_SM_LID, CLASS_PORT_INFO),
	   "the manager answers a limited member");
	ok(is_answered(PMA, PMA_VERSION, lid, CLASS_PORT_INFO), "a full member answers it, too");
	set_pkeys(0x7fff, 0x7fff);
	ok(!is_answered(PMA, PMA_VERSION, lid, CLASS_PORT_INFO), "a limited member does not");
	set_pkeys(0x8005, 0x8005);
	ok(is_answered(PMA, PMA_VERSION, lid, CLASS_PORT_INFO), "another partition");
	ok(!is_answered(SA, SA_VERSION, HCA_SM_LID, CLASS_PORT_INFO), "the manager is not in it");
	set_pkeys(0xffff, 0xffff);
}

/* ---- Tests --------------------------------------------------------------------------------- */

static void test_pairs(void)
{
	static const struct {
		u16 a, b;
		bool talk;
	} t[] = {
		{ 0xffff, 0xffff, true }, { 0x7fff, 0xffff, true }, { 0xffff, 0x7fff, true },
		{ 0x7fff, 0x7fff, false }, { 0x8005, 0xffff, false }, { 0x8005, 0x8005, true },
		{ 0x8005, 0x0005, true }, { 0x0005, 0x0005, false }, { 0x8005, 0x8006, false },
	};
	struct violations before;
	char name[64];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		set_pkeys(t[i].a, t[i].b);
		snprintf(name, sizeof(name), "P_Keys %#06x and %#06x", t[i].a, t[i].b);
#define TRY(call, what) do {							\
	before = violations(1);							\
	tap_is(call, t[i].talk, "%s: %s", name, what);				\
	counted(before, !t[i].talk, name);					\
} while (0)
		TRY(write_arrives(MLX5_QP_ST_RC, 0, 0), "RC");
		TRY(write_arrives(MLX5_QP_ST_UC, 0, 0), "UC");
		TRY(datagram_arrives(UNICAST), "datagram");
		TRY(datagram_arrives(MULTICAST), "multicast");
		TRY(datagram_arrives(GENERAL_SERVICES), "QP1");
#undef TRY
	}
	set_pkeys(0xffff, 0xffff);
}

/* The other entries of the table have no P_Key. */
static void test_index(void)
{
	struct violations before = violations(1);

	ok(!write_arrives(MLX5_QP_ST_RC, 7, 0), "a queue pair without a P_Key sends nothing");
	counted(before, false, "index 7 of the sender");
	ok(!write_arrives(MLX5_QP_ST_RC, 0, 7), "and receives nothing");
	counted(before, true, "index 7 of the receiver");
}

static void test_qkey(void)
{
	struct violations before = violations(1), now;

	ok(!datagram_arrives(WRONG_QKEY), "a datagram with a wrong Q_Key is dropped");
	now = violations(1);
	ok(now.pkey == before.pkey && now.qkey == before.qkey + 1, "the port counts it");
}

static void test_port_info(void)
{
	const struct violations v = violations(1);
	struct hca_port_info info = hca_sa_port(port(1)).info;

	ok(be16_to_cpu(info.pkey_violations) == v.pkey && v.pkey &&
	   be16_to_cpu(info.qkey_violations) == v.qkey && v.qkey, "PortInfo has both counters");
	port(1)->pkey_violations = 0xffff;
	set_pkeys(0xffff, 0x8005);
	datagram_arrives(UNICAST);
	tap_is(violations(1).pkey, 0xffff, "a counter stays at its greatest value");
	set_pkeys(0xffff, 0xffff);
	session_restart(&s, 1);
	ok(!violations(1).pkey && !violations(1).qkey, "a reset clears them");
}

int main(void)
{
	u32 i;

	session_init_ib(&s, 1);
	from = session_mr(&s, 0, BYTES, ALL_ACCESS);
	to = session_mr(&s, 1, BYTES, ALL_ACCESS);
	for (i = 0; i < 64; i++)
		from.ptr[i] = i + 1;
	test_pairs();
	test_index();
	test_qkey();
	test_management();
	test_port_info();
	session_free(&s);
	return tap_done();
}
