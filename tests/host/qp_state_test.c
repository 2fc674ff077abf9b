// SPDX-License-Identifier: GPL-2.0
/*
 * Commands that modify a QP: every command in every state, the parameters that each sets, and
 * their values in a query.
 */
#include <stdlib.h>
#include <string.h>
#include "cmd/cmd.h"
#include "session.h"
#include "tap.h"

#define OPT(name)	MLX5_QP_OPTPAR_##name

static struct session s;

static const char *const state_name[] = {
	"RST", "INIT", "RTR", "RTS", "SQER", "SQD", "ERR", "SQ_DRAINING",
};

enum { RST, INIT, RTR, RTS, SQER, SQD, ERR, NSTATE };

/* From the PRM: command, states from which it is allowed, new state */
static const struct {
	u16 opcode;
	const char *name;
	u8 from;			/* bit per state */
	u8 to;
} commands[] = {
	{ MLX5_CMD_OP_RST2INIT_QP, "RST2INIT", 1 << RST, INIT },
	{ MLX5_CMD_OP_INIT2INIT_QP, "INIT2INIT", 1 << INIT, INIT },
	{ MLX5_CMD_OP_INIT2RTR_QP, "INIT2RTR", 1 << INIT, RTR },
	{ MLX5_CMD_OP_RTR2RTS_QP, "RTR2RTS", 1 << RTR, RTS },
	{ MLX5_CMD_OP_RTS2RTS_QP, "RTS2RTS", 1 << RTS, RTS },
	{ MLX5_CMD_OP_SQERR2RTS_QP, "SQERR2RTS", 1 << SQER, RTS },
	{ HCA_CMD_OP_RTS2SQD_QP, "RTS2SQD", 1 << RTS, SQD },
	{ MLX5_CMD_OP_SQD_RTS_QP, "SQD2RTS", 1 << SQD, RTS },
	{ HCA_CMD_OP_SQD2SQD_QP, "SQD2SQD", 1 << SQD, SQD },
	{ MLX5_CMD_OP_2ERR_QP, "2ERR", 0x7f, ERR },
	{ MLX5_CMD_OP_2RST_QP, "2RST", 0x7f, RST },
};

static u32 query(struct session_qp *q, u32 *qpc)
{
	u32 in[MLX5_ST_SZ_DW(query_qp_in)] = {};
	u32 out[MLX5_ST_SZ_DW(query_qp_out)] = {};

	MLX5_SET(query_qp_in, in, opcode, MLX5_CMD_OP_QUERY_QP);
	MLX5_SET(query_qp_in, in, qpn, q->qp.qp_num);
	if (session_cmd(&s, q->func, in, sizeof(in), out, sizeof(out)))
		return ~0u;
	memcpy(qpc, MLX5_ADDR_OF(query_qp_out, out, qpc), MLX5_ST_SZ_BYTES(qpc));
	return MLX5_GET(qpc, qpc, state);
}

static void lead_to(struct session_qp *q, struct session_qp *peer, int state)
{
	struct hca_qp *qp = hca_qp_get(s.hca[q->func], q->qp.qp_num);

	session_qp_modify(q, MLX5_CMD_OP_2RST_QP, NULL);
	if (state == ERR)
		session_qp_modify(q, MLX5_CMD_OP_2ERR_QP, NULL);
	if (state == RST || state == ERR)
		return;
	session_qp_modify(q, MLX5_CMD_OP_RST2INIT_QP, NULL);
	if (state >= RTR)
		session_qp_modify(q, MLX5_CMD_OP_INIT2RTR_QP, peer);
	if (state >= RTS)
		session_qp_modify(q, MLX5_CMD_OP_RTR2RTS_QP, peer);
	if (state == SQD)
		session_qp_modify(q, HCA_CMD_OP_RTS2SQD_QP, NULL);
	if (state == SQER)
		qp->state = MLX5_QP_STATE_SQER;
	session_settle(&s);
}

static void test_matrix(u8 st, const char *type)
{
	u32 qpc[MLX5_ST_SZ_DW(qpc)];
	struct session_qp a, b;
	unsigned int i, state;

	session_qp(&s, 0, st, 4, 4, &a);
	session_qp(&s, 1, st, 4, 4, &b);
	for (state = RST; state < NSTATE; state++) {
		for (i = 0; i < ARRAY_SIZE(commands); i++) {
			bool allowed = commands[i].from >> state & 1;
			u8 status, now;

			lead_to(&a, &b, state);
			status = session_qp_modify(&a, commands[i].opcode, &b);
			session_settle(&s);
			now = query(&a, qpc);
			ok(status == (allowed ? MLX5_CMD_STAT_OK :
						MLX5_CMD_STAT_BAD_QP_STATE_ERR) &&
			   now == (allowed ? commands[i].to : state),
			   "%s: %s in %s: status %#x, then %s", type, commands[i].name,
			   state_name[state], status, state_name[now & 7]);
		}
	}
	session_qp_destroy(&a);
	session_qp_destroy(&b);
}

/* One transition with the given context; returns its syndrome. */
static u32 modify(struct session_qp *q, u16 opcode, u32 opt, const u32 *qpc)
{
	u32 in[MLX5_ST_SZ_DW(rst2init_qp_in)] = {}, out[MLX5_ST_SZ_DW(rst2init_qp_out)] = {};

	MLX5_SET(rst2init_qp_in, in, opcode, opcode);
	MLX5_SET(rst2init_qp_in, in, qpn, q->qp.qp_num);
	MLX5_SET(rst2init_qp_in, in, opt_param_mask, opt);
	memcpy(MLX5_ADDR_OF(rst2init_qp_in, in, qpc), qpc, MLX5_ST_SZ_BYTES(qpc));
	session_cmd(&s, q->func, in, sizeof(in), out, sizeof(out));
	return be32_to_cpu(((__be32 *)out)[1]);
}

static void test_parameters(void)
{
	u32 qpc[MLX5_ST_SZ_DW(qpc)] = {}, got[MLX5_ST_SZ_DW(qpc)];
	struct session_qp q;

	session_qp(&s, 0, MLX5_QP_ST_RC, 4, 4, &q);
	MLX5_SET(qpc, qpc, pm_state, MLX5_QP_PM_MIGRATED);
	MLX5_SET(qpc, qpc, primary_address_path.vhca_port_num, 2);
	tap_is(modify(&q, MLX5_CMD_OP_RST2INIT_QP, 0, qpc), HCA_SYND_QP_PORT, "port 2");
	MLX5_SET(qpc, qpc, primary_address_path.vhca_port_num, 1);
	MLX5_SET(qpc, qpc, primary_address_path.pkey_index, 128);
	tap_is(modify(&q, MLX5_CMD_OP_RST2INIT_QP, 0, qpc), HCA_SYND_QP_PKEY, "P_Key 128");
	MLX5_SET(qpc, qpc, primary_address_path.pkey_index, 0);
	MLX5_SET(qpc, qpc, counter_set_id, 77);
	tap_is(modify(&q, MLX5_CMD_OP_RST2INIT_QP, 0, qpc), HCA_SYND_COUNTER, "counter set 77");
	MLX5_SET(qpc, qpc, counter_set_id, 0);
	tap_is(modify(&q, MLX5_CMD_OP_RST2INIT_QP, OPT(ALT_ADDR_PATH), qpc), HCA_SYND_QP_OPTPAR,
	       "no alternate path yet");
	tap_is(query(&q, got), MLX5_QP_STATE_RST, "refused commands do not change the state");
	MLX5_SET(qpc, qpc, mtu, 3);
	tap_is(modify(&q, MLX5_CMD_OP_RST2INIT_QP, 0, qpc), HCA_OK, "to INIT");

	MLX5_SET(qpc, qpc, mtu, 6);
	tap_is(modify(&q, MLX5_CMD_OP_INIT2RTR_QP, 0, qpc), HCA_SYND_QP_MTU, "MTU 6");
	MLX5_SET(qpc, qpc, mtu, 3);
	MLX5_SET(qpc, qpc, log_rra_max, 6);
	tap_is(modify(&q, MLX5_CMD_OP_INIT2RTR_QP, 0, qpc), HCA_SYND_QP_RD_ATOMIC, "64 reads");
	MLX5_SET(qpc, qpc, log_rra_max, 2);
	MLX5_SET(qpc, qpc, primary_address_path.src_addr_index, HCA_GIDS);
	tap_is(modify(&q, MLX5_CMD_OP_INIT2RTR_QP, 0, qpc), HCA_SYND_QP_GID, "GID index");
	MLX5_SET(qpc, qpc, primary_address_path.src_addr_index, 3);
	MLX5_SET(qpc, qpc, primary_address_path.ack_timeout, 9);
	MLX5_SET(qpc, qpc, next_rcv_psn, 0xabcdef);
	MLX5_SET(qpc, qpc, remote_qpn, 0x123456);
	MLX5_SET(qpc, qpc, retry_count, 5);
	MLX5_SET(qpc, qpc, rwe, 1);
	tap_is(modify(&q, MLX5_CMD_OP_INIT2RTR_QP, 0, qpc), HCA_OK, "to RTR");
	query(&q, got);
	ok(MLX5_GET(qpc, got, next_rcv_psn) == 0xabcdef && MLX5_GET(qpc, got, mtu) == 3 &&
	   MLX5_GET(qpc, got, remote_qpn) == 0x123456 && MLX5_GET(qpc, got, log_rra_max) == 2 &&
	   MLX5_GET(qpc, got, primary_address_path.src_addr_index) == 3,
	   "the parameters of the transition are set");
	ok(!MLX5_GET(qpc, got, retry_count) && !MLX5_GET(qpc, got, rwe) &&
	   !MLX5_GET(qpc, got, primary_address_path.ack_timeout),
	   "other parameters are not set");

	MLX5_SET(qpc, qpc, next_send_psn, 0x111111);
	MLX5_SET(qpc, qpc, remote_qpn, 0x654321);
	tap_is(modify(&q, MLX5_CMD_OP_RTR2RTS_QP, OPT(RWE), qpc), HCA_OK, "to RTS");
	query(&q, got);
	ok(MLX5_GET(qpc, got, next_send_psn) == 0x111111 && MLX5_GET(qpc, got, rwe) &&
	   MLX5_GET(qpc, got, retry_count) == 5 &&
	   MLX5_GET(qpc, got, primary_address_path.ack_timeout) == 9 &&
	   MLX5_GET(qpc, got, remote_qpn) == 0x123456, "the same for RTS");
	tap_is(modify(&q, MLX5_CMD_OP_RTS2RTS_QP, OPT(RETRY_COUNT), qpc), HCA_SYND_QP_OPTPAR,
	       "a retry count is not changed in RTS");
	session_qp_destroy(&q);
}

/* The table of the manual for DCIs, without path migration */
static void test_dci_parameters(void)
{
	u32 qpc[MLX5_ST_SZ_DW(qpc)] = {}, got[MLX5_ST_SZ_DW(qpc)];
	const u64 first = 0x1020304050607080ull, second = 0x8877665544332211ull;
	struct session_qp q;

	session_qp(&s, 0, MLX5_QP_ST_DCI, 4, 4, &q);
	MLX5_SET(qpc, qpc, pm_state, MLX5_QP_PM_MIGRATED);
	MLX5_SET(qpc, qpc, primary_address_path.vhca_port_num, 1);
	MLX5_SET64(qpc, qpc, dc_access_key, first);
	tap_is(modify(&q, MLX5_CMD_OP_RST2INIT_QP, 0, qpc), HCA_OK, "a DCI to INIT");
	query(&q, got);
	ok(MLX5_GET64(qpc, got, dc_access_key) == first, "its DC key is set");
	tap_is(modify(&q, MLX5_CMD_OP_INIT2INIT_QP, OPT(PRI_PORT) | OPT(RWE), qpc), HCA_OK,
	       "INIT to INIT");
	MLX5_SET(qpc, qpc, mtu, 3);
	MLX5_SET64(qpc, qpc, dc_access_key, second);
	tap_is(modify(&q, MLX5_CMD_OP_INIT2RTR_QP, OPT(ALT_ADDR_PATH), qpc), HCA_SYND_QP_OPTPAR,
	       "no alternate path");
	tap_is(modify(&q, MLX5_CMD_OP_INIT2RTR_QP, OPT(DC_KEY), qpc), HCA_OK, "to RTR");
	query(&q, got);
	ok(MLX5_GET64(qpc, got, dc_access_key) == second, "with another DC key");
	tap_is(modify(&q, MLX5_CMD_OP_RTR2RTS_QP, OPT(PM_STATE), qpc), HCA_SYND_QP_OPTPAR,
	       "no path migration");
	MLX5_SET(qpc, qpc, retry_count, 5);
	MLX5_SET(qpc, qpc, next_send_psn, 0x123456);
	tap_is(modify(&q, MLX5_CMD_OP_RTR2RTS_QP, OPT(RNR_TIMEOUT), qpc), HCA_OK, "to RTS");
	query(&q, got);
	ok(MLX5_GET(qpc, got, retry_count) == 5 && MLX5_GET(qpc, got, next_send_psn) == 0x123456,
	   "the parameters are set");
	session_qp_destroy(&q);
}

/* A drained send queue raises one event. */
static void test_sqd(void)
{
	u32 qpc[MLX5_ST_SZ_DW(qpc)];
	struct session_qp a, b;
	struct hca_qp *qp;

	session_qp(&s, 0, MLX5_QP_ST_RC, 4, 4, &a);
	session_qp(&s, 1, MLX5_QP_ST_RC, 4, 4, &b);
	session_connect(&a, &b);
	session_qp_modify(&a, HCA_CMD_OP_RTS2SQD_QP, NULL);
	session_settle(&s);
	tap_is(query(&a, qpc), MLX5_QP_STATE_SQD, "an empty queue is drained at once");
	MLX5_SET(qpc, qpc, retry_count, 6);
	MLX5_SET(qpc, qpc, primary_address_path.ack_timeout, 17);
	MLX5_SET(qpc, qpc, min_rnr_nak, 9);
	tap_is(modify(&a, HCA_CMD_OP_SQD2SQD_QP, OPT(RETRY_COUNT) | OPT(ACK_TIMEOUT), qpc), HCA_OK,
	       "attributes change in SQD");
	ok(query(&a, qpc) == MLX5_QP_STATE_SQD && MLX5_GET(qpc, qpc, retry_count) == 6 &&
	   MLX5_GET(qpc, qpc, primary_address_path.ack_timeout) == 17 &&
	   MLX5_GET(qpc, qpc, min_rnr_nak) == 1, "only those of the mask");
	qp = hca_qp_get(s.hca[0], a.qp.qp_num);
	qp->sq_drained_sent = false;
	tap_is(modify(&a, HCA_CMD_OP_SQD2SQD_QP, OPT(RETRY_COUNT), qpc), HCA_SYND_QP_STATE,
	       "not before the queue is drained");
	qp->sq_drained_sent = true;
	tap_is(session_qp_modify(&a, MLX5_CMD_OP_SQD_RTS_QP, &b), MLX5_CMD_STAT_OK, "SQD to RTS");
	tap_is(query(&a, qpc), MLX5_QP_STATE_RTS, "the state is RTS");
	session_qp_modify(&a, HCA_CMD_OP_RTS2SQD_QP, NULL);
	ok(!qp->sq_drained_sent, "in SQD again: it must drain again");
	session_settle(&s);
	tap_is(query(&a, qpc), MLX5_QP_STATE_SQD, "it is drained");
	session_qp_destroy(&a);
	session_qp_destroy(&b);
}

static void test_special(void)
{
	u32 in[MLX5_ST_SZ_DW(create_qp_in)] = {}, out[4] = {};
	struct session_qp a;

	session_qp(&s, 0, MLX5_QP_ST_QP1, 4, 4, &a);
	session_qp_modify(&a, MLX5_CMD_OP_RST2INIT_QP, NULL);
	ok(s.hca[0]->port[0].qp1 && s.hca[0]->port[0].qp1->qpn == a.qp.qp_num,
	   "QP1 is known");
	MLX5_SET(create_qp_in, in, opcode, MLX5_CMD_OP_CREATE_QP);
	MLX5_SET(create_qp_in, in, qpc.st, MLX5_QP_ST_QP1);
	MLX5_SET(create_qp_in, in, qpc.pd, s.pd[0]);
	MLX5_SET(create_qp_in, in, qpc.rq_type, MLX5_ZERO_LEN_RQ);
	MLX5_SET(create_qp_in, in, qpc.no_sq, 1);
	session_cmd(&s, 0, in, sizeof(in), out, sizeof(out));
	tap_is(be32_to_cpu(((__be32 *)out)[1]), HCA_SYND_SPECIAL_QP, "a port has only one QP1");
	session_qp_destroy(&a);
	ok(!s.hca[0]->port[0].qp1, "QP1 is destroyed");
}

static u32 granted(struct session_qp *q, u16 opcode, struct session_qp *peer, u32 wanted)
{
	s.ece = wanted;
	session_settle(&s);
	if (session_qp_modify(q, opcode, peer))
		return ~0u;
	return s.ece_granted;
}

/* The adapter supports version 1 of ECE, without any option. */
static void test_ece(void)
{
	u32 in[MLX5_ST_SZ_DW(query_qp_in)] = {}, out[MLX5_ST_SZ_DW(query_qp_out)] = {};
	const u32 version = 1u << 28;
	struct session_qp a, b;

	session_qp(&s, 0, MLX5_QP_ST_RC, 2, 2, &a);
	tap_is(s.ece_granted, 0, "creation asks for no options");
	s.ece = 3 * version | 7;
	session_qp(&s, 0, MLX5_QP_ST_RC, 2, 2, &b);
	tap_is(s.ece_granted, version, "creation asks for a later version: version 1");
	tap_is(granted(&b, MLX5_CMD_OP_RST2INIT_QP, NULL, 0), version, "RST2INIT asks for nothing");
	tap_is(granted(&b, MLX5_CMD_OP_INIT2INIT_QP, NULL, 7), 0, "options without a version");
	tap_is(granted(&b, MLX5_CMD_OP_INIT2RTR_QP, &b, version | 7), version, "INIT2RTR");
	tap_is(granted(&b, MLX5_CMD_OP_RTR2RTS_QP, &b, ~0u), version, "RTR2RTS");
	tap_is(granted(&b, MLX5_CMD_OP_RTS2RTS_QP, &b, 1), 0, "RTS2RTS");
	tap_is(granted(&b, MLX5_CMD_OP_RTS2RTS_QP, &b, version), version, "RTS2RTS again");
	tap_is(granted(&b, HCA_CMD_OP_RTS2SQD_QP, NULL, version), 0, "RTS2SQD has no such field");
	tap_is(granted(&b, MLX5_CMD_OP_SQD_RTS_QP, &b, version), 0, "SQD2RTS has no such field");
	MLX5_SET(query_qp_in, in, opcode, MLX5_CMD_OP_QUERY_QP);
	MLX5_SET(query_qp_in, in, qpn, b.qp.qp_num);
	session_cmd(&s, 0, in, sizeof(in), out, sizeof(out));
	tap_is(MLX5_GET(query_qp_out, out, ece), version, "a query returns what was granted");
	granted(&b, MLX5_CMD_OP_2RST_QP, NULL, 0);
	session_cmd(&s, 0, in, sizeof(in), out, sizeof(out));
	tap_is(MLX5_GET(query_qp_out, out, ece), 0, "none after a reset");
	s.ece = 0;
	session_qp_destroy(&a);
	session_qp_destroy(&b);
}

int main(void)
{
	session_init(&s);
	test_matrix(MLX5_QP_ST_RC, "RC");
	test_matrix(MLX5_QP_ST_UC, "UC");
	test_matrix(MLX5_QP_ST_UD, "UD");
	test_matrix(MLX5_QP_ST_DCI, "DCI");
	test_parameters();
	test_dci_parameters();
	test_sqd();
	test_special();
	test_ece();
	session_free(&s);
	return tap_done();
}
