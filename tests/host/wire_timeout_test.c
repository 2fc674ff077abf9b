// SPDX-License-Identifier: GPL-2.0
/*
 * How long a queue pair waits for acknowledgements that do not come, with the least timeout of
 * adapters and without it, and the register that turns it off.
 */
#include "cmd/cmd.h"
#include "tap.h"
#include "peers.h"

enum { LONG = 5000 };			/* bytes: some packets */

/* Virtual time until the first completion of the sender, in ms */
static u64 completion_ms(void)
{
	const u64 begin = shim_now;

	commit(0);
	while (!look(0)->nwcs && shim_now - begin < 60 * NSEC_PER_SEC)
		if (!peers_settle(NSEC_PER_MSEC))
			shim_now += NSEC_PER_MSEC;
	return (shim_now - begin) / NSEC_PER_MSEC;
}

enum { ADP_RETRANS = 1 << 0, NO_LEAST = 1 << 4 };

/* Reads or writes the register ROCE_ACCL; returns the status. */
static u8 accl(u32 op_mod, u32 select, u32 *set)
{
	u32 in[MLX5_ST_SZ_DW(access_register_in) + 0x20] = {}, out[ARRAY_SIZE(in)] = {};
	__be32 *reg = MLX5_ADDR_OF(access_register_in, in, register_data);

	MLX5_SET(access_register_in, in, opcode, MLX5_CMD_OP_ACCESS_REG);
	MLX5_SET(access_register_in, in, op_mod, op_mod);
	MLX5_SET(access_register_in, in, register_id, 0x402c);
	reg[0] = cpu_to_be32(select);
	reg[1] = cpu_to_be32(*set);
	session_cmd(peer[0].s, peer[0].func, in, sizeof(in), out, sizeof(out));
	reg = MLX5_ADDR_OF(access_register_out, out, register_data);
	if (op_mod && reg[0] != cpu_to_be32(NO_LEAST))
		return 0xff;
	*set = be32_to_cpu(reg[1]);
	return MLX5_GET(access_register_out, out, status);
}

static void test_register(void)
{
	const struct peers_config c = { .wired = true, .st = MLX5_QP_ST_RC };
	u32 set = 0;

	peers_open(&c);
	ok(!accl(1, 0, &set) && set == ADP_RETRANS, "at first there are short timeouts");
	set = NO_LEAST;
	ok(!accl(0, 0, &set) && !hca_of(0)->no_least_timeout, "what is not selected is not set");
	set = NO_LEAST;
	ok(!accl(0, NO_LEAST, &set) && !accl(1, 0, &set) && set == NO_LEAST,
	   "the least timeout is off");
	set = 0;
	tap_is(accl(0, ADP_RETRANS | NO_LEAST, &set), MLX5_CMD_STAT_BAD_PARAM_ERR,
	       "a mode that cannot be set");
	ok(hca_of(0)->no_least_timeout, "nothing has changed");
	ok(!accl(0, NO_LEAST, &set) && !accl(1, 0, &set) && set == ADP_RETRANS,
	   "the least timeout is on again");
	peers_close();
}

/* The times and the numbers of timeouts are those that were measured on adapters. */
static void test_retry_time(void)
{
	static const struct {
		u8 timeout, retries;
		bool no_least;
		u32 least, most, counted;
	} t[] = {
		{ 8, 7, false, 3200, 4000, 6 },
		{ 14, 7, false, 3200, 4000, 6 },
		{ 17, 7, false, 7000, 8000, 6 },
		{ 14, 3, false, 1400, 1800, 2 },
		{ 14, 1, false, 400, 800, 0 },
		{ 8, 1, true, 3, 4, 3 },
		{ 8, 7, true, 9, 10, 9 },
		{ 12, 7, true, 140, 160, 9 },
		{ 14, 7, true, 570, 610, 9 },
		{ 17, 3, true, 2500, 2800, 5 },
	};
	u32 i, ms;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		struct peers_config c = {
			.wired = true, .st = MLX5_QP_ST_RC,
			.path = { .ack_timeout = t[i].timeout, .retry_count = t[i].retries },
		};

		peers_open(&c);
		hca_of(0)->no_least_timeout = t[i].no_least;
		session_qp_modify(&peer[1].q, MLX5_CMD_OP_2ERR_QP, NULL);
		post_write(3, here(0, 0, LONG), 0, peer[1].mr.key);
		ms = completion_ms();
		ok(ms >= t[i].least && ms <= t[i].most, "timeout %u, %u retries%s: %u ms",
		   t[i].timeout, t[i].retries, t[i].no_least ? ", no least time" : "", ms);
		tap_is(peer[0].view.wc[0].status, XV_WC_RETRY_EXC_ERR, "then the request fails");
		tap_is(counter(0)->timeouts, t[i].counted, "its timeouts are counted");
		peers_close();
	}
}

int main(void)
{
	test_register();
	test_retry_time();
	return tap_done();
}
