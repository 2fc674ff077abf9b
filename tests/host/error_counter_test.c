// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of errors (hw_counters), as they were measured on adapters: each completion with an
 * error counts where it is written, and the counters of errors of the responder stay zero.
 */
#include <string.h>
#include "data/wire.h"
#include "cmd/cmd.h"
#include "peers.h"
#include "tap.h"

enum { SECONDS = 100 };

/* Of QUERY_Q_COUNTER, by bit offset */
enum {
	RNR_NAKS = 0x240, TIMEOUTS = 0x300, RNR_EXCEEDED = 0x380, RESP_CQE = 0x480, REQ_CQE = 0x4a0,
	REQ_INVALID = 0x500, RESP_INVALID = 0x520, REQ_ACCESS = 0x540, RESP_ACCESS = 0x560,
	RETRIES_EXCEEDED = 0x5a0, REQ_FLUSH = 0x600, ADP_RETRANS = 0x640, ADP_RETRANS_TO = 0x660,
};

static u32 set[2], out[64];

static void open_counted(bool on_wire, bool fail_on_rnr)
{
	const struct peers_config c = {
		.wired = on_wire, .st = MLX5_QP_ST_RC, .fail_on_rnr = fail_on_rnr,
	};
	u32 in[MLX5_ST_SZ_DW(alloc_q_counter_in)] = {}, i;

	peers_open(&c);
	MLX5_SET(alloc_q_counter_in, in, opcode, MLX5_CMD_OP_ALLOC_Q_COUNTER);
	for (i = 0; i < 2; i++) {
		session_cmd(peer[i].s, peer[i].func, in, sizeof(in), out, sizeof(out));
		set[i] = MLX5_GET(alloc_q_counter_out, out, counter_set_id);
		hca_counter_join(hw(i), set[i]);
	}
}

static void query(u32 i)
{
	u32 in[MLX5_ST_SZ_DW(query_q_counter_in)] = {};

	memset(out, 0, sizeof(out));
	MLX5_SET(query_q_counter_in, in, opcode, MLX5_CMD_OP_QUERY_Q_COUNTER);
	MLX5_SET(query_q_counter_in, in, counter_set_id, set[i]);
	session_cmd(peer[i].s, peer[i].func, in, sizeof(in), out, sizeof(out));
}

static u32 count(u32 i, u32 bit)
{
	query(i);
	return be32_to_cpu(((__be32 *)out)[bit / 32]);
}

/* All counters of errors of the responder */
static u32 responder_errors(void)
{
	return count(1, RESP_CQE) + count(1, RESP_INVALID) + count(1, RESP_ACCESS) +
	       count(1, REQ_CQE);
}

static const char *where(void)
{
	return wired ? "wire" : "local";
}

static void settle(void)
{
	commit(0);
	peers_settle(SECONDS * NSEC_PER_SEC);
}

static void test_access(bool on_wire)
{
	open_counted(on_wire, false);
	post_write(1, here(0, 0, 100), 0, peer[1].mr.key + 1);
	settle();
	tap_is(count(0, REQ_CQE), 1, "%s, wrong key: an error", where());
	tap_is(count(0, REQ_ACCESS), 1, "of access");
	tap_is(count(0, REQ_INVALID) + responder_errors(), 0, "and no other");
	peers_close();
}

static void test_invalid(bool on_wire)
{
	open_counted(on_wire, false);
	receive(1, 1, 0, 10);
	post_send(1, here(0, 0, 100));
	settle();
	tap_is(count(0, REQ_CQE), 1, "%s, receive too short: an error", where());
	tap_is(count(0, REQ_INVALID), 1, "an invalid request");
	tap_is(count(0, REQ_ACCESS) + responder_errors(), 0, "and no other");
	peers_close();
}

static void test_rnr(bool on_wire)
{
	open_counted(on_wire, true);
	post_send(1, here(0, 0, 100));
	settle();
	tap_is(count(0, REQ_CQE), 1, "%s, receiver not ready: an error", where());
	tap_is(count(0, RNR_EXCEEDED), 1, "too many retries");
	tap_is(count(0, RETRIES_EXCEEDED) + responder_errors(), 0, "and no other");
	ok(count(0, RNR_NAKS) > 0, "RNR NAKs are counted");
	peers_close();
}

static void test_flush(bool on_wire)
{
	open_counted(on_wire, false);
	session_qp_modify(&peer[0].q, MLX5_CMD_OP_2ERR_QP, NULL);
	post_send(1, here(0, 0, 100));
	settle();
	tap_is(count(0, REQ_CQE), 1, "%s, in the error state: an error", where());
	tap_is(count(0, REQ_FLUSH), 0, "no flush");
	peers_close();
}

static bool drop_all(const u8 *frame, u32 bytes, u32 nth)
{
	return true;
}

static void test_timeouts(void)
{
	open_counted(true, false);
	wire_script(&w, drop_all);
	post_send(1, here(0, 0, 100));
	settle();
	tap_is(count(0, REQ_CQE), 1, "no answer: an error");
	tap_is(count(0, RETRIES_EXCEEDED), 1, "too many retries");
	tap_is(count(0, TIMEOUTS), 6, "with 7 retries, 6 timeouts");
	tap_is(count(0, ADP_RETRANS), 4, "after 4 short ones");
	tap_is(count(0, ADP_RETRANS_TO), 1, "which did not help");
	peers_close();
}

static u64 icrc_errors(void)
{
	u32 in[(MLX5_ST_SZ_BYTES(access_register_in) + MLX5_ST_SZ_BYTES(ppcnt_reg)) / 4] = {};
	u32 answer[ARRAY_SIZE(in)] = {};
	void *reg = MLX5_ADDR_OF(access_register_in, in, register_data);

	MLX5_SET(access_register_in, in, opcode, MLX5_CMD_OP_ACCESS_REG);
	MLX5_SET(access_register_in, in, op_mod, 1);
	MLX5_SET(access_register_in, in, register_id, 0x5008);
	MLX5_SET(ppcnt_reg, reg, local_port, 1);
	MLX5_SET(ppcnt_reg, reg, grp, 0x5);
	session_cmd(peer[1].s, peer[1].func, in, sizeof(in), answer, sizeof(answer));
	reg = MLX5_ADDR_OF(access_register_out, answer, register_data);
	return MLX5_GET(ppcnt_reg, reg, counter_set.eth_extended_cntrs_grp_data_layout
			.rx_icrc_encapsulated_low);
}

static void test_icrc(void)
{
	u64 n;

	open_counted(true, false);
	tap_is(icrc_errors(), 0, "no packet is damaged");
	w.per_mille[WIRE_CORRUPT] = 300;
	post_write(1, here(0, 0, 100000), 0, peer[1].mr.key);
	settle();
	n = icrc_errors();
	ok(n > 5 && n < w.sent, "%llu damaged packets of %u", n, w.sent);
	ok(look(0)->nwcs == 1 && !look(0)->wc[0].status &&
	   !memcmp(peer[0].mr.ptr, peer[1].mr.ptr, 100000), "the message has arrived");
	peers_close();
}

int main(void)
{
	int on_wire;

	for (on_wire = 0; on_wire < 2; on_wire++) {
		test_access(on_wire);
		test_invalid(on_wire);
		test_rnr(on_wire);
		test_flush(on_wire);
	}
	test_timeouts();
	test_icrc();
	return tap_done();
}
