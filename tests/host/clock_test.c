// SPDX-License-Identifier: GPL-2.0
/* The core clock: the register in the initialization segment, time stamps of completions. */
#include <string.h>
#include <linux/ktime.h>
#include "cmd/cmd.h"
#include "session.h"
#include "tap.h"

static struct session s;

static u64 reading(int func)
{
	const struct mlx5_init_seg *seg = s.hca[func]->p.bar;

	return be64_to_cpu(*(const volatile __be64 *)&seg->internal_timer_h);
}

static u64 frequency(void)
{
	u32 in[MLX5_ST_SZ_DW(query_hca_cap_in)] = {};
	static u32 out[MLX5_ST_SZ_DW(query_hca_cap_out)];

	MLX5_SET(query_hca_cap_in, in, opcode, MLX5_CMD_OP_QUERY_HCA_CAP);
	session_cmd(&s, 0, in, sizeof(in), out, sizeof(out));
	return MLX5_GET(query_hca_cap_out, out, capability.cmd_hca_cap.device_frequency_khz);
}

/* What the register shows at @ns */
static u64 ticks(u64 ns)
{
	return ns * 1000 / (1000000000 / frequency());
}

static void test_register(u32 khz)
{
	u64 before;

	tap_is(frequency(), khz, "%s: rate of the clock", session_model);
	session_settle(&s);
	before = reading(0);
	shim_time += 5 * NSEC_PER_MSEC;
	tap_is(reading(0), before, "without a pass the clock stands still");
	hca_fabric_poll(&s.fabric);
	tap_is(reading(0), ticks(shim_time), "a pass sets it to the time");
	shim_time += 5 * NSEC_PER_MSEC;
	hca_fabric_rung(&s.fabric);
	tap_is(reading(1), ticks(shim_time), "reading the doorbells, too, on every function");
	shim_time = 0;
}

/* The time between passes is not a divisor of the time between updates. */
static void test_age(void)
{
	u64 oldest = 0, updates = 0, last = reading(0);
	u32 i;
	int f;

	for (i = 0; i < 1000; i++) {
		shim_time += 3000;
		hca_fabric_poll(&s.fabric);
		for (f = 0; f < SESSION_FUNCS; f++)
			oldest = max(oldest, ticks(shim_time) - reading(f));
		updates += reading(0) != last;
		last = reading(0);
	}
	ok(oldest < ticks(10000), "after a pass no clock is 10 us old: %llu ticks", oldest);
	ok(updates <= 300, "not each pass stores to the register: %llu of 1000", updates);
}

static void test_stamps(void)
{
	struct session_mr mr = session_mr(&s, 0, 4096, MLX5R_MKEY_ACCESS_LR |
					  MLX5R_MKEY_ACCESS_LW | MLX5R_MKEY_ACCESS_RW);
	struct xv_sge sge = session_sge(&mr, 0, 64);
	u64 before, stamp, last = 0;
	u32 i, between = 0, grows = 0;
	struct session_qp q;
	struct xv_wc wc;

	session_qp(&s, 0, MLX5_QP_ST_RC, 4, 4, &q);
	session_connect(&q, &q);
	for (i = 0; i < 1000; i++) {
		u32 index = q.cq.ci & q.cq.mask;

		before = reading(0);
		xv_wr_write(&q.qp, 1, XV_SEND_SIGNALED, &sge, mr.addr + 128, mr.key);
		xv_commit_send(&q.qp);
		while (!xv_poll_cq(&q.cq, 1, &wc))
			hca_fabric_poll(&s.fabric);
		stamp = xv_cqe_timestamp((void *)(q.cq.buf + (index << q.cq.log_stride)));
		between += before <= stamp && stamp <= reading(0);
		grows += stamp > last;
		last = stamp;
	}
	tap_is(between, 1000, "time stamps are between two readings of the clock");
	tap_is(grows, 1000, "each time stamp is later than the previous one");
	session_qp_destroy(&q);
}

static void test_model(const char *name, u32 khz)
{
	session_model = name;
	shim_time = NSEC_PER_SEC;
	session_init(&s);
	test_register(khz);
	shim_time = 2 * NSEC_PER_SEC;
	test_age();
	shim_time = 0;
	test_stamps();
	session_free(&s);
}

int main(void)
{
	test_model("cx7", 1000000);
	test_model("cx5", 156250);
	return tap_done();
}
