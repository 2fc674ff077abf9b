// SPDX-License-Identifier: GPL-2.0
/*
 * usage: clock DEVICE GID-INDEX
 *
 * The clock of the device, read with plain libibverbs: it runs at the rate that the device
 * reports, and time stamps of completions are between two readings of it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs.h>
#include "tap.h"

enum { ROUNDS = 200, LEN = 64 };
#define TOLERANCE_NS	20000000ll	/* for a machine with two busy CPUs */
#define RATE_NS		10000000ll	/* 5 % of the time of a comparison */
#define CHANGE_NS	10000000000ll	/* longest time between two changes of the clock */

static struct ibv_context *ctx;
static struct ibv_device_attr_ex attr;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_cq_ex *cq;
static struct ibv_qp *qp;
static bool has_wall;		/* completions have the wall clock time */
static char mem[2 * LEN] __attribute__((aligned(64)));

static void need(int good, const char *what)
{
	if (good)
		return;
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static uint64_t device_clock(void)
{
	struct ibv_values_ex v = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };

	need(!ibv_query_rt_values_ex(ctx, &v) && v.comp_mask & IBV_VALUES_MASK_RAW_CLOCK,
	     "ibv_query_rt_values_ex");
	return (uint64_t)v.raw_clock.tv_sec * 1000000000ull + (uint64_t)v.raw_clock.tv_nsec;
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **d = list;

	while (d && *d && strcmp(ibv_get_device_name(*d), name))
		d++;
	return d && *d ? ibv_open_device(*d) : NULL;
}

/* A queue pair connected to itself */
static void make_qp(int gid_index)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC,
		.send_cq = ibv_cq_ex_to_cq(cq), .recv_cq = ibv_cq_ex_to_cq(cq),
		.cap = { .max_send_wr = 4, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1 } };
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE };
	struct ibv_port_attr port;
	union ibv_gid gid;

	qp = ibv_create_qp(pd, &init);
	need(qp && !ibv_query_port(ctx, 1, &port) && !ibv_query_gid(ctx, 1, gid_index, &gid) &&
	     !ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			    IBV_QP_ACCESS_FLAGS), "queue pair");
	a = (struct ibv_qp_attr) { .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = qp->qp_num, .max_dest_rd_atomic = 1, .min_rnr_timer = 12,
		.ah_attr = { .is_global = port.link_layer == IBV_LINK_LAYER_ETHERNET,
			     .grh = { .dgid = gid, .sgid_index = gid_index, .hop_limit = 3 },
			     .dlid = port.lid, .port_num = 1 } };
	need(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			    IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			    IBV_QP_MIN_RNR_TIMER), "RTR");
	a = (struct ibv_qp_attr) { .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7,
		.rnr_retry = 7, .max_rd_atomic = 1 };
	need(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
			    IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC), "RTS");
}

static void post_write(void)
{
	struct ibv_sge sge = { .addr = (uintptr_t)mem, .length = LEN, .lkey = mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)mem + LEN, .rkey = mr->rkey } }, *bad;

	need(!ibv_post_send(qp, &wr, &bad), "ibv_post_send");
}

/* Time stamps of the next completion: clock of the device, and wall clock */
static void complete(uint64_t *ts, uint64_t *wall)
{
	struct ibv_poll_cq_attr poll = {};
	int64_t until = ns(CLOCK_MONOTONIC) + 10000000000ll;
	int err;

	do
		err = ibv_start_poll(cq, &poll);
	while (err == ENOENT && ns(CLOCK_MONOTONIC) < until);
	need(!err && cq->status == IBV_WC_SUCCESS, "completion");
	*ts = ibv_wc_read_completion_ts(cq);
	*wall = has_wall ? ibv_wc_read_completion_wallclock_ns(cq) : 0;
	ibv_end_poll(cq);
}

/* A change of the clock: its new value, and times before and after the change */
struct change {
	uint64_t clock;
	int64_t before, after;
};

static struct change next_change(void)
{
	struct change c = { .before = ns(CLOCK_MONOTONIC) };
	const uint64_t old = device_clock();
	const int64_t start = ns(CLOCK_MONOTONIC);
	int64_t last = start;

	for (;;) {
		c.clock = device_clock();
		c.after = ns(CLOCK_MONOTONIC);
		if (c.clock != old || c.after - start > CHANGE_NS)
			return c;
		c.before = last;
		last = c.after;
	}
}

/* However long this program or the adapter was interrupted, the clock agrees with the time. */
static void check_rate(const char *when, const struct change *from, const struct change *to)
{
	int64_t least = to->before - from->after, most = to->after - from->before;
	int64_t elapsed = (double)(to->clock - from->clock) * 1e6 / attr.hca_core_clock;

	ok(elapsed > least - RATE_NS && elapsed < most + RATE_NS,
	   "%s, it runs at its rate: %lld ns of %lld to %lld", when, (long long)elapsed,
	   (long long)least, (long long)most);
}

static void test_rate(void)
{
	struct change first = next_change(), second, third;
	uint64_t clock, last = first.clock;
	int backwards = 0, changes = 0;

	do {
		clock = device_clock();
		backwards += clock < last;
		changes += clock != last;
		last = clock;
	} while (ns(CLOCK_MONOTONIC) - first.after < 200000000);
	ok(!backwards && changes, "the clock never goes back, %d different values", changes);
	second = next_change();
	check_rate("busy", &first, &second);
	usleep(100000);
	third = next_change();
	check_rate("idle", &second, &third);
}

static void test_stamps(void)
{
	int between = 0, grows = 0, wall_ok = 0, i;
	uint64_t before, after, ts, wall, last = 0;
	int64_t wall0;

	for (i = 0; i < ROUNDS; i++) {
		if (i % 10 == 9)
			usleep(5000);
		before = device_clock();
		wall0 = ns(CLOCK_REALTIME);
		post_write();
		complete(&ts, &wall);
		after = device_clock();
		between += before <= ts && ts <= after;
		grows += ts > last;
		wall_ok += (int64_t)wall > wall0 - TOLERANCE_NS &&
			   (int64_t)wall < ns(CLOCK_REALTIME) + TOLERANCE_NS;
		last = ts;
	}
	ok(between == ROUNDS, "%d of %d time stamps are between two readings of the clock",
	   between, ROUNDS);
	ok(grows == ROUNDS, "%d time stamps are later than the previous one", grows);
	if (has_wall)
		ok(wall_ok == ROUNDS, "%d wall clock times are right", wall_ok);
}

/* mlx5_core supports wall clock times only if the kernel was built with PTP clocks. */
static void make_cq(void)
{
	struct ibv_cq_init_attr_ex init = { .cqe = 16,
		.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK };

	has_wall = !access("/sys/class/ptp", F_OK);
	cq = ibv_create_cq_ex(ctx, &init);
	if (!has_wall) {
		ok(!cq && errno == EOPNOTSUPP, "no wall clock time without PTP clocks");
		init.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
		cq = ibv_create_cq_ex(ctx, &init);
	}
	need(cq != NULL, "CQ with time stamps");
}

int main(int argc, char **argv)
{
	need(argc == 3, "usage: clock DEVICE GID-INDEX");
	ctx = open_device(argv[1]);
	need(ctx && !ibv_query_device_ex(ctx, NULL, &attr), argv[1]);
	if (!ok(attr.hca_core_clock && attr.completion_timestamp_mask,
		"the device has a clock of %llu kHz", (unsigned long long)attr.hca_core_clock))
		return tap_done();
	pd = ibv_alloc_pd(ctx);
	mr = pd ? ibv_reg_mr(pd, mem, sizeof(mem), IBV_ACCESS_LOCAL_WRITE |
			     IBV_ACCESS_REMOTE_WRITE) : NULL;
	need(mr != NULL, "memory region");
	make_cq();
	make_qp(atoi(argv[2]));
	test_rate();
	test_stamps();
	return tap_done();
}
