// SPDX-License-Identifier: GPL-2.0
/*
 * Benchmarks of the adapter at native speed.  One thread posts and polls with the data path of
 * the library, another runs the adapter.  For comparison: the round trip of a cache line
 * between two CPUs, and memcpy.  Then one thread does both, with few, many or idle queue pairs.
 *
 * With --guard it only checks that the adapter has not become slower, in TAP.
 *
 * Prints lines: bench NAME VALUE UNIT.  The value is the best of several runs, because other
 * load only makes a run slower.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <asm/byteorder.h>
#include <linux/ktime.h>
#include "hca_build.c"
#include "dc.h"
#include "tap.h"

#define TURNS		20
#define ROUNDS		5000u
#define MESSAGES	20000u
#define PACKETS		5000u
#define BATCH		32u
#define BIG		65536u
#define BIG_MESSAGES	500u
#define QPS		1000
#define IDLE_QPS	10000
#define PAGES		1000
#define WAITING_QPS	100000
#define LAST_QPS	10000
#define GROUP		1000u
#define LINKS		4u		/* queues of a chain */
#define STEPS		1000u
#define DCTS		64u		/* targets, of both functions in turn */

static struct session s;
static struct session_qp a[QPS], b[QPS];
static struct session_mr from, to;
static atomic_bool stop;

static void must(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "bench: %s\n", what);
		exit(1);
	}
}

static void report(const char *name, double value, const char *unit)
{
	printf("bench native.%s %.3f %s\n", name, value, unit);
}

/* One run of @fn: nanoseconds for each of @count */
static double once(void (*fn)(u32 size, u32 count), u32 size, u32 count)
{
	u64 t = ktime_get_ns();

	fn(size, count);
	return (double)(ktime_get_ns() - t) / count;
}

/* The shortest of several runs */
static double best(void (*fn)(u32 size, u32 count), u32 size, u32 count)
{
	double least = once(fn, size, count);
	int i;

	for (i = 1; i < TURNS; i++)
		least = min(least, once(fn, size, count));
	return least;
}

/* ---- The machine ---------------------------------------------------------------- */

static struct {
	atomic_uint ping __attribute__((aligned(128)));
	atomic_uint pong __attribute__((aligned(128)));
} line;

static void *echo(void *arg)
{
	unsigned int last = 0, now;

	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		now = atomic_load_explicit(&line.ping, memory_order_acquire);
		if (now != last)
			atomic_store_explicit(&line.pong, last = now, memory_order_release);
	}
	return arg;
}

static void round_trips(u32 size, u32 count)
{
	static unsigned int i;

	while (count--) {
		atomic_store_explicit(&line.ping, ++i, memory_order_release);
		while (atomic_load_explicit(&line.pong, memory_order_acquire) != i)
			;
	}
}

static void copies(u32 size, u32 count)
{
	while (count--) {
		memcpy(to.ptr, from.ptr, size);
		__asm__ volatile("" ::: "memory");
	}
}

/* ---- Two threads: one posts, one runs the adapter -------------------------------- */

static void *engine(void *arg)
{
	while (!atomic_load_explicit(&stop, memory_order_relaxed))
		hca_fabric_poll(&s.fabric);
	return arg;
}

static u32 reap(struct session_qp *q)
{
	struct xv_wc wc[BATCH];
	int i, n = xv_poll_cq(&q->cq, BATCH, wc);

	for (i = 0; i < n; i++)
		must(wc[i].status == XV_WC_SUCCESS, "a write failed");
	return n;
}

static int post(struct session_qp *q, u32 size)
{
	struct xv_sge sge = session_sge(&from, 0, size);

	return xv_wr_write(&q->qp, 0, XV_SEND_SIGNALED, &sge, to.addr, to.key);
}

/* From the post until the data is in memory */
static void writes_seen(u32 size, u32 count)
{
	volatile u64 *seen = (volatile u64 *)to.ptr;
	u64 *value = (u64 *)from.ptr;

	while (count--) {
		++*value;
		post(a, size);
		xv_commit_send(&a->qp);
		while (*seen != *value)
			;
		while (!reap(a))
			;
	}
}

static void writes_queued(u32 size, u32 count)
{
	u32 posted = 0, done = 0, i;

	while (done < count) {
		for (i = 0; i < BATCH && posted < count && !post(a, size); i++)
			posted++;
		xv_commit_send(&a->qp);
		done += reap(a);
	}
}

/* Runs @fn here while @other runs in another thread. */
static double beside(void *(*other)(void *), void (*fn)(u32 size, u32 count), u32 size, u32 count)
{
	pthread_t t;
	double ns;

	stop = false;
	must(!pthread_create(&t, NULL, other, NULL), "pthread_create");
	ns = best(fn, size, count);
	stop = true;
	pthread_join(t, NULL);
	return ns;
}

/* ---- One thread: time of a request ---------------------------------------------- */

/* One write on each of @count queue pairs */
static void writes_here(u32 size, u32 count)
{
	u64 end = s.fabric.stat.wqes + count;
	u32 i, left = count;

	for (i = 0; i < count; i++) {
		post(&a[i], size);
		xv_commit_send(&a[i].qp);
	}
	while (s.fabric.stat.wqes < end)
		hca_fabric_poll(&s.fabric);
	while (left) {
		hca_fabric_poll(&s.fabric);
		for (i = 0; i < count; i++)
			left -= reap(&a[i]);
	}
}

static void one_by_one(u32 size, u32 count)
{
	while (count--)
		writes_here(size, 1);
}

/* Runs the adapter until @n requests of @q, which are posted, are complete. */
static void finish(struct session_qp *q, u32 n)
{
	u64 end = s.fabric.stat.wqes + n;

	xv_commit_send(&q->qp);
	while (s.fabric.stat.wqes < end)
		hca_fabric_poll(&s.fabric);
	while (n)
		n -= reap(q);
}

static void batches(u32 size, u32 count)
{
	u32 n, i;

	for (; count; count -= n) {
		n = min(count, BATCH);
		for (i = 0; i < n; i++)
			must(!post(a, size), "no room for a batch");
		finish(a, n);
	}
}

/* ---- DC: the same writes ---------------------------------------------------------- */

static struct session_qp dci;
static union dc_wqe dc_writes[DCTS];

static void make_dc(void)
{
	struct dc_srq srq[2] = { dc_srq(&s, 0), dc_srq(&s, 1) };
	struct session_mr back = session_mr(&s, 0, 64, ALL_ACCESS), *into;
	struct dc_target t;
	struct dc_wr wr;
	u32 i, func;

	dc_initiator(&s, 0, 7, &dci);
	for (i = 0; i < DCTS; i++) {
		func = (i + 1) % 2;
		into = func ? &to : &back;
		t = dc_target(&s, func, &srq[func], func ? b[0].cqn : a[0].cqn);
		must(t.dctn, "no DCT");
		wr = (struct dc_wr) { .opcode = MLX5R_OP_RDMA_WRITE, .fm_ce_se = MLX5R_CE_ALWAYS,
			.nsge = 1, .sge = { session_sge(&from, 0, 64) }, .raddr = into->addr,
			.rkey = into->key };
		dc_prepare(&dc_writes[i], &t, &wr);
	}
}

static void dc_run(u32 count, u32 batch, u32 targets)
{
	u32 n, i, at = 0;

	for (; count; count -= n) {
		n = min(count, batch);
		for (i = 0; i < n; i++)
			must(!xv_wr_raw(&dci.qp, 0, &dc_writes[at++ % targets]), "no room for DC");
		finish(&dci, n);
	}
}

static void dc_one_by_one(u32 size, u32 count)
{
	dc_run(count, 1, 1);
}

static void dc_batches(u32 size, u32 count)
{
	dc_run(count, BATCH, 1);
}

static void dc_batches_to_all(u32 size, u32 count)
{
	dc_run(count, BATCH, DCTS);
}

static void report_dc(double rc_ns)
{
	double batch_ns = best(batches, 64, ROUNDS);

	make_dc();
	report("dc.1_by_1/rc", best(dc_one_by_one, 64, ROUNDS) / rc_ns, "ratio");
	report("dc.rate/rc", batch_ns / best(dc_batches, 64, ROUNDS), "ratio");
	report("dc.rate_64_targets/rc", batch_ns / best(dc_batches_to_all, 64, ROUNDS), "ratio");
}

/* ---- Loads of registers, which are not cached ------------------- */

static double loads_per_write(u32 count)
{
	u64 before = s.fabric.stat.loads;

	one_by_one(64, count);
	return (double)(s.fabric.stat.loads - before) / count;
}

static double loads_per_idle_pass(u32 count)
{
	u64 before;
	u32 i;

	for (i = 0; i < count; i++)
		hca_fabric_poll(&s.fabric);
	before = s.fabric.stat.loads;
	for (i = 0; i < count; i++)
		hca_fabric_poll(&s.fabric);
	return (double)(s.fabric.stat.loads - before) / count;
}

/* One queue pair on each of @n pages */
static void make_pages(u32 n)
{
	u32 first = s.uar[0];

	for (; n; n--) {
		s.uar[0] = session_uar(&s, 0);
		session_idle_qps(&s, 0, 1);
	}
	s.uar[0] = first;
}

/* ---- Creation ------------------------------------------------------------------------ */

static void create(u32 size, u32 count)
{
	session_idle_qps(&s, 0, count);
}

/* Creates @n idle queue pairs: the shortest time for one, in groups */
static double create_idle(u32 n)
{
	double least = 1e18;

	for (; n; n -= GROUP)
		least = min(least, once(create, 0, GROUP));
	return least;
}

/* What malloc() has given, also as mappings */
static size_t memory(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* From IDLE_QPS to WAITING_QPS; @before: the time of one with few */
static void create_many(double before)
{
	u32 first = WAITING_QPS - IDLE_QPS - PAGES - LAST_QPS;
	size_t used = memory();
	double ns;

	create_idle(first);
	ns = create_idle(LAST_QPS);
	report("create_qp.10000", before, "ns");
	report("create_qp.100000", ns, "ns");
	report("create_qp.100000/10000", ns / before, "ratio");
	report("idle_qp_and_cq", (double)(memory() - used) / (first + LAST_QPS), "bytes");
}

/* ---- Cross-channel ------------------------------------------------------------------ */

static struct session_qp chained[LINKS];

static struct hca_cq *cq_of(const struct session_qp *q)
{
	return hca_table_get(&s.hca[q->func]->cqs, q->cqn);
}

static void make_chain(void)
{
	u32 i;

	for (i = 0; i < LINKS; i++) {
		s.cross = SESSION_MASTER;
		session_qp(&s, 0, MLX5_QP_ST_RC, 10, 1, &chained[i]);
		s.cross = 0;
		session_connect(&chained[i], &chained[i]);
		cq_of(&chained[i])->overrun_ignore = true;
	}
}

static void post_wait(struct session_qp *q, const struct session_qp *on, u32 index)
{
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_wait wait;
	} w = {
		.ctrl.opmod_idx_opcode = cpu_to_be32(MLX5R_OP_WAIT),
		.ctrl.qpn_ds = cpu_to_be32(2),
		.wait.number = cpu_to_be32(on->cqn),
		.wait.index = cpu_to_be32(index & MLX5R_WAIT_INDEX_MASK),
	};

	must(!xv_wr_raw(&q->qp, 0, &w), "no room for a chain");
}

/* Each write waits for the one before, which is on another queue. */
static void chain(u32 size, u32 count)
{
	struct xv_sge sge = session_sge(&from, 0, size);
	u32 last[LINKS], i;

	for (i = 0; i < LINKS; i++) {
		last[i] = cq_of(&chained[i])->pi - 1;
		chained[i].qp.sq.ci = chained[i].qp.sq.limit = chained[i].qp.sq.pi;
	}
	for (i = 0; i < count; i++) {
		u32 n = i % LINKS, before = (i + LINKS - 1) % LINKS;

		if (i)
			post_wait(&chained[n], &chained[before], last[before]);
		xv_wr_write(&chained[n].qp, 0, XV_SEND_SIGNALED, &sge, from.addr + BIG / 2,
			    from.key);
		last[n]++;
	}
	for (i = LINKS; i--;)
		xv_commit_send(&chained[i].qp);
	while (cq_of(&chained[(count - 1) % LINKS])->pi != last[(count - 1) % LINKS] + 1)
		hca_fabric_poll(&s.fabric);
}

/* All idle queue pairs wait for entries of a CQ that is in use, far ahead. */
static void let_wait(void)
{
	struct hca_table *qps = &s.hca[0]->qps;
	static const struct hca_wqe_wait wait = { .nbb = 1 };
	struct hca_cq *cq = cq_of(&a[0]);
	u32 i, n = 0;

	for (i = qps->first; i < qps->used_end; i++) {
		struct hca_qp *qp = hca_table_get(qps, i);

		if (qp && qp->state == MLX5_QP_STATE_RTS && qp->sq.entries == 4)
			hca_wait_begin(qp, &wait, cq, cq->pi + (1 << 22) + n++ * 7919 % (1 << 20));
	}
	must(n >= WAITING_QPS, "too few queue pairs wait");
}

/* ---- The guard ------------------------------------------------------------------------ */

/*
 * The time of a write, divided by the time of operations that do not use the adapter; both are
 * measured in turns.  At the limit, a third of the speed is lost.
 *
 * A write of 64 bytes in one thread executes about 2,800 instructions.  No single operation takes
 * the same part of that time on every CPU: some copy fast, others calculate fast.  So there are
 * two such operations, and the slower one counts.  Between two CPUs, a write costs what it costs
 * in one thread, and cache lines travel: the round trip of one takes 55 ns if the CPUs share a
 * core, 120 ns if they share a cache, and 300 ns or more otherwise.
 */
#define COPIES		0.16	/* of 64 KiB, as long as a write of 64 bytes */
#define CHECKSUMS	0.67	/* of 4 streams, the same */
#define CROSSINGS	2	/* round trips */
#define STREAMS		4u
#define SUMMED		64u	/* bytes of a stream */

static u32 crc_table[256];
static volatile u32 checksum;	/* so that it is calculated */

static void make_crc_table(void)
{
	u32 i, bit;

	for (i = 0; i < ARRAY_SIZE(crc_table); i++) {
		crc_table[i] = i;
		for (bit = 0; bit < 8; bit++)
			crc_table[i] = crc_table[i] >> 1 ^ (crc_table[i] & 1 ? 0xedb88320 : 0);
	}
}

/* Several streams at once keep the CPU as busy as the code of the adapter does. */
static void checksums(u32 size, u32 count)
{
	u32 crc[STREAMS] = {}, i, j;

	while (count--) {
		for (i = 0; i < SUMMED; i++)
			for (j = 0; j < STREAMS; j++)
				crc[j] = crc_table[(u8)(crc[j] ^ from.ptr[j * SUMMED + i])] ^
					 crc[j] >> 8;
		checksum = crc[0] ^ crc[1] ^ crc[2] ^ crc[3];
	}
}

/* ---- Packets: a frame is built, read, and its data copied out ----------------------------- */

static u8 frame[HCA_FRAME_HEADERS + 4096 + 8] __attribute__((aligned(64)));

static void packets(u32 size, u32 count)
{
	struct hca_packet p = {
		.flow = { .l3 = HCA_L3_IPV4, .sport = 0xc000, .hop_limit = 64 },
		.opcode = HCA_BTH_RC | HCA_BTH_SEND_ONLY, .pkey = 0xffff, .length = size,
	}, q;

	memcpy(p.flow.sgid + 10, (u8[6]) { 0xff, 0xff, 10, 0, 0, 1 }, 6);
	memcpy(p.flow.dgid + 10, (u8[6]) { 0xff, 0xff, 10, 0, 0, 2 }, 6);
	for (; count; count--, p.psn++) {
		memcpy(hca_packet_write(&p, frame), from.ptr, size);
		hca_packet_seal(&p, frame);
		must(!hca_packet_read(&q, frame, hca_packet_bytes(&p)), "a packet is bad");
		memcpy(to.ptr, q.data, q.length);
	}
}

/* What these packets cannot do without: two copies and two sums of the data */
static void copies_and_sums(u32 size, u32 count)
{
	while (count--) {
		memcpy(frame, from.ptr, size);
		checksum = crc32_le(~0u, frame, size);
		checksum ^= crc32_le(~0u, frame, size);
		memcpy(to.ptr, frame, size);
		__asm__ volatile("" ::: "memory");
	}
}

static void report_packets(void)
{
	double packet_ns = best(packets, 4096, PACKETS), least_ns;

	least_ns = best(copies_and_sums, 4096, PACKETS);
	report("packet_64", best(packets, 64, PACKETS), "ns");
	report("packet_4k", packet_ns, "ns");
	report("packet_4k/copies_and_sums", packet_ns / least_ns, "ratio");
}

static double copy(void)
{
	return once(copies, BIG, 200);
}

static double calculate(void)
{
	return max(COPIES * copy(), CHECKSUMS * once(checksums, 0, 1000));
}

static double copy_and_calculate(void)
{
	return copy() + calculate();
}

static double calculate_and_cross(void)
{
	return calculate() + CROSSINGS * beside(echo, round_trips, 0, 500);
}

static double write_64k(void)
{
	return once(one_by_one, BIG, 200);
}

static double write_64(void)
{
	return once(one_by_one, 64, 1000);
}

static double write_64_between(void)
{
	return beside(engine, writes_seen, 64, 500);
}

static const struct guard {
	const char *name;
	double (*adapter)(void);
	double (*machine)(void);
	double reference;
} guards[] = {
	{ "64 KiB, as a copy and calculations", write_64k, copy_and_calculate, 1.2 },
	{ "64 bytes, as calculations", write_64, calculate, 1 },
	{ "64 bytes between two CPUs, as calculations and 2 round trips of a cache line",
	  write_64_between, calculate_and_cross, 0.85 },
};

#define GUARD_TURNS	25
#define GUARD_TRIES	40
#define GUARD_PAUSE_US	250000

/* The times of the last measurement, which explain a failure */
static double machine_ns, adapter_ns;

static double cost(const struct guard *g)
{
	int i;

	machine_ns = adapter_ns = 1e18;
	for (i = 0; i < GUARD_TURNS; i++) {
		machine_ns = min(machine_ns, g->machine());
		adapter_ns = min(adapter_ns, g->adapter());
	}
	return adapter_ns / machine_ns;
}

/* Other load may disturb measurements for seconds: one good measurement is enough. */
static void check_guard(const struct guard *g)
{
	double limit = g->reference * 1.5, least = cost(g);
	int i;

	for (i = 1; i < GUARD_TRIES && least > limit; i++) {
		usleep(GUARD_PAUSE_US);
		least = min(least, cost(g));
	}
	if (!ok(least <= limit, "a write of %s: %.2f, at most %.2f", g->name, least, limit))
		diag("last: a write %.0f ns, the operations without the adapter %.0f ns",
		     adapter_ns, machine_ns);
}

static int guard(void)
{
	u32 i;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		printf("1..0 # SKIP a cache line travels between two CPUs\n");
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(guards); i++)
		check_guard(&guards[i]);
	return tap_done();
}

int main(int argc, char **argv)
{
	double line_ns, copy_ns, write_ns, big_ns, one_ns, create_ns;
	int i;

	shim_step = 0;
	session_init(&s);
	from = session_mr(&s, 0, BIG, ALL_ACCESS);
	to = session_mr(&s, 1, BIG, ALL_ACCESS);
	for (i = 0; i < QPS; i++) {
		session_qp(&s, 0, MLX5_QP_ST_RC, 6, 1, &a[i]);
		session_qp(&s, 1, MLX5_QP_ST_RC, 1, 1, &b[i]);
		session_connect(&a[i], &b[i]);
	}

	make_crc_table();
	if (argc > 1 && !strcmp(argv[1], "--guard"))
		return guard();

	line_ns = beside(echo, round_trips, 0, ROUNDS);
	report("cache_line_round_trip", line_ns, "ns");
	write_ns = beside(engine, writes_seen, 8, ROUNDS);
	report("write_8", write_ns, "ns");
	report("write_8/cache_line_round_trip", write_ns / line_ns, "ratio");
	report("write_rate_64", 1e3 / beside(engine, writes_queued, 64, MESSAGES), "Mmsg/s");
	copy_ns = best(copies, BIG, BIG_MESSAGES);
	report("memcpy_64k", BIG / copy_ns, "GB/s");
	big_ns = beside(engine, writes_queued, BIG, BIG_MESSAGES);
	report("write_bw_64k", BIG / big_ns, "GB/s");
	report("write_bw_64k/memcpy_64k", copy_ns / big_ns, "ratio");

	report_packets();
	one_ns = best(one_by_one, 64, ROUNDS);
	report("one_thread.1_qp", one_ns, "ns/write");
	report_dc(one_ns);
	make_chain();
	report("one_thread.chain", best(chain, 64, STEPS), "ns/write");
	report("one_thread.1000_qps", best(writes_here, 64, QPS), "ns/write");
	report("loads_per_write", loads_per_write(ROUNDS), "loads");
	create_ns = create_idle(IDLE_QPS);
	report("idle_10000/none", best(one_by_one, 64, ROUNDS) / one_ns, "ratio");
	make_pages(PAGES);
	report("loads_per_idle_pass.1000_pages", loads_per_idle_pass(ROUNDS), "loads");
	report("loads_per_write.1000_pages", loads_per_write(ROUNDS), "loads");
	s.uar[0] = session_uar(&s, 0);
	create_many(create_ns);
	one_ns = best(one_by_one, 64, ROUNDS);
	let_wait();
	report("waiting_100000/none", best(one_by_one, 64, ROUNDS) / one_ns, "ratio");
	session_free(&s);
	return 0;
}
