// SPDX-License-Identifier: GPL-2.0
/*
 * The scheduler: doorbells that were overwritten, hostile processes, shares, timers.  The
 * tests count work (passes, requests, bytes) and loads, not time.
 */
#include <stdlib.h>
#include <string.h>
#include <asm/byteorder.h>
#include "cmd/cmd.h"
#include "session.h"
#include "tap.h"

#define IDLE		10000u
#define SWEEP_STEPS	16u		/* sweep.c */
#define FEW		8u		/* passes */
#define CROWD		200u
#define LONG_QUEUE	1000u
#define MAX_STEP	8192u		/* units: a page of a write, and its request */

static struct session s;
static struct session_mr from, to;

static void connect(struct session_qp *a, struct session_qp *b)
{
	session_qp(&s, 0, MLX5_QP_ST_RC, 6, 1, a);
	session_qp(&s, 1, MLX5_QP_ST_RC, 1, 1, b);
	session_connect(a, b);
}

static void disconnect(struct session_qp *a, struct session_qp *b)
{
	session_qp_destroy(a);
	session_qp_destroy(b);
}

static void post(struct session_qp *q, u32 size)
{
	struct xv_sge sge = session_sge(&from, 0, size);

	xv_wr_write(&q->qp, 0, XV_SEND_SIGNALED, &sge, to.addr, to.key);
}

static void write_on(struct session_qp *q)
{
	post(q, 8);
	xv_commit_send(&q->qp);
}

static int done(struct session_qp *q)
{
	struct xv_wc wc[64];
	int i, n = xv_poll_cq(&q->cq, 64, wc), good = 0;

	for (i = 0; i < n; i++)
		good += wc[i].status == XV_WC_SUCCESS;
	return good;
}

static u64 *page(u32 uar)
{
	return s.hca[0]->p.bar + uar * HCA_PAGE_SIZE;
}

static u64 steps(void)
{
	return s.fabric.stat.polls + s.fabric.stat.units / HCA_REQUEST_UNITS;
}

/* Writes random values and numbers of other pages' queues to every register. */
static void ring_rubbish(u32 uar)
{
	u32 i;

	for (i = 0; i < HCA_PAGE_SIZE / 8; i++)
		page(uar)[i] = i & 1 ? ~0ull : cpu_to_be64((u64)i << 8);
}

/*
 * Steps of work until a request of @victim is complete.  A doorbell of @busy overwrites its
 * doorbell, and @busy posts one write in each pass.  Page @hostile gets invalid doorbells.
 */
static u64 wait_for_lost(struct session_qp *victim, struct session_qp *busy, u32 hostile)
{
	u64 start;
	int i;

	session_settle(&s);
	for (i = 0; i < 200; i++) {
		write_on(busy);
		hca_fabric_poll(&s.fabric);
		done(busy);
	}
	start = steps();
	write_on(victim);
	do {
		if (hostile)
			ring_rubbish(hostile);
		write_on(busy);
		hca_fabric_poll(&s.fabric);
		done(busy);
	} while (!done(victim) && steps() - start < 100 * IDLE * SWEEP_STEPS);
	return steps() - start;
}

static void test_lost_doorbells(void)
{
	u32 own = s.uar[0], other = session_uar(&s, 0);
	u64 bound = (IDLE + 8) * SWEEP_STEPS, n;
	struct session_qp busy[2], victim[2];

	connect(&victim[0], &victim[1]);
	session_idle_qps(&s, 0, IDLE);
	connect(&busy[0], &busy[1]);
	n = wait_for_lost(&victim[0], &busy[0], 0);
	ok(n <= bound, "%u idle queues on the page: a lost doorbell is found after %llu steps",
	   IDLE, (unsigned long long)n);
	n = wait_for_lost(&victim[0], &busy[0], 0);
	ok(n <= 2 * FEW, "the next lost doorbell of this queue is found after %llu steps",
	   (unsigned long long)n);

	s.uar[0] = other;
	session_idle_qps(&s, 0, IDLE);
	s.uar[0] = own;
	disconnect(&victim[0], &victim[1]);
	connect(&victim[0], &victim[1]);
	n = wait_for_lost(&victim[0], &busy[0], other);
	ok(n <= bound, "a hostile page with %u idle queues: it is found after %llu steps", IDLE,
	   (unsigned long long)n);
	n = wait_for_lost(&victim[0], &busy[0], other);
	ok(n <= 2 * FEW, "a hostile page, active queue: it is found after %llu steps",
	   (unsigned long long)n);
	memset(page(other), 0, HCA_PAGE_SIZE);
	disconnect(&victim[0], &victim[1]);
	disconnect(&busy[0], &busy[1]);
}

/* Invalid doorbells are no work: the engine may sleep. */
static void test_random_bytes_are_no_work(void)
{
	u32 own = s.uar[0], n, i;

	s.uar[0] = session_uar(&s, 0);
	session_idle_qps(&s, 0, 4);
	/* The records of these CQs are 0, so the first CQ doorbell may be a request of each. */
	ring_rubbish(s.uar[0]);
	session_settle(&s);
	for (i = 0, n = 0; i < 1000; i++) {
		ring_rubbish(s.uar[0]);
		hca_fabric_poll(&s.fabric);
		n += !s.fabric.pass.idle;
	}
	tap_is(n, 0, "passes that count invalid doorbells as work");
	memset(page(s.uar[0]), 0, HCA_PAGE_SIZE);
	s.uar[0] = own;
	session_settle(&s);
}

static void test_loads(void)
{
	enum { PAGES = 1000, PASSES = 20000, WRITES = 2000 };
	struct session_qp a, b, cold[2];
	u32 own = s.uar[0], i, most = 0;
	u64 before, start;

	connect(&a, &b);
	for (i = 0; i < PAGES; i++) {
		s.uar[0] = session_uar(&s, 0);
		session_idle_qps(&s, 0, 1);
	}
	connect(&cold[0], &cold[1]);
	s.uar[0] = own;

	session_settle(&s);
	before = s.fabric.stat.loads;
	for (i = 0; i < PASSES; i++)
		hca_fabric_poll(&s.fabric);
	ok(s.fabric.stat.loads - before < 8 * PASSES, "register reads of an idle pass: %.1f",
	   (double)(s.fabric.stat.loads - before) / PASSES);

	write_on(&a);
	session_settle(&s);
	done(&a);
	before = s.fabric.stat.loads;
	for (i = 0; i < WRITES; i++) {
		write_on(&a);
		while (!done(&a))
			hca_fabric_poll(&s.fabric);
	}
	ok(s.fabric.stat.loads - before < 2 * WRITES, "register reads of a write: %.1f",
	   (double)(s.fabric.stat.loads - before) / WRITES);

	session_settle(&s);
	write_on(&cold[0]);
	for (i = 0; !hca_fabric_rung(&s.fabric) && i < PASSES; i++)
		;
	ok(i < PASSES, "asleep: a doorbell on one of %u pages is seen at check %u", PAGES, i);
	start = s.fabric.stat.polls;
	while (!done(&cold[0]))
		hca_fabric_poll(&s.fabric);
	ok(s.fabric.stat.polls - start <= FEW, "the adapter finds it within %u passes", FEW);
	session_settle(&s);
	for (i = 0; i < 1000; i++) {
		before = s.fabric.stat.loads;
		if (hca_fabric_rung(&s.fabric))
			break;
		if (s.fabric.stat.loads - before > most)
			most = s.fabric.stat.loads - before;
	}
	ok(i == 1000 && most <= 40, "register reads of a check while asleep: %u", most);
	write_on(&a);
	ok(hca_fabric_rung(&s.fabric), "an active queue is seen at once");
	session_settle(&s);
	disconnect(&a, &b);
	disconnect(&cold[0], &cold[1]);
}

/* ---- Shares --------------------------------------------------------------------- */

static struct session_qp crowd[CROWD];

static u64 refill(struct session_qp *q, u32 *posted, u32 limit, u32 size)
{
	u32 n, all = 0;

	while ((n = done(q)))
		all += n;
	for (*posted -= all; *posted < limit; ++*posted)
		post(q, size);
	xv_commit_send(&q->qp);
	return all;
}

/* One queue on a page of its own, many queues on another page: bytes of each page */
static void test_shares(u32 size)
{
	static u32 posted[CROWD];
	u64 alone = 0, many = 0, start;
	u32 own = s.uar[0], one = 0, i;
	struct session_qp a;

	memset(posted, 0, sizeof(posted));
	s.uar[0] = session_uar(&s, 0);
	session_qp(&s, 0, MLX5_QP_ST_RC, 8, 1, &a);
	session_connect(&a, &a);
	s.uar[0] = own;
	start = s.fabric.stat.polls;
	while (s.fabric.stat.polls - start < 5000) {
		alone += refill(&a, &one, 200, size);
		for (i = 0; i < CROWD; i++)
			many += refill(&crowd[i], &posted[i], 8, size);
		hca_fabric_poll(&s.fabric);
	}
	ok(alone * 10 >= many * 9, "requests of %u bytes: %llu of one queue, %llu of %u on "
	   "another page", size, (unsigned long long)alone, (unsigned long long)many, CROWD);
	session_settle(&s);
	done(&a);
	for (i = 0; i < CROWD; i++)
		done(&crowd[i]);
	session_qp_destroy(&a);
}

/* A process with many pages and one with one page: each has half of the time. */
static void test_many_pages(void)
{
	enum { PAGES = 8 };
	u16 uid[2] = { session_uctx(&s, 0), session_uctx(&s, 0) };
	u32 own = s.uar[0], posted[PAGES + 1] = {}, i;
	struct session_qp q[PAGES + 1];
	u64 start, one = 0, many = 0;

	for (i = 0; i <= PAGES; i++) {
		s.uar[0] = session_uar_of(&s, 0, uid[!i]);
		session_qp(&s, 0, MLX5_QP_ST_RC, 8, 1, &q[i]);
		session_connect(&q[i], &q[i]);
	}
	s.uar[0] = own;
	start = s.fabric.stat.polls;
	while (s.fabric.stat.polls - start < 5000) {
		one += refill(&q[0], &posted[0], 200, 4096);
		for (i = 1; i <= PAGES; i++)
			many += refill(&q[i], &posted[i], 200, 4096);
		hca_fabric_poll(&s.fabric);
	}
	ok(one * 10 >= many * 9 && many * 10 >= one * 9,
	   "requests of two processes: %llu with one page, %llu with %u pages",
	   (unsigned long long)one, (unsigned long long)many, PAGES);
	session_settle(&s);
	for (i = 0; i <= PAGES; i++) {
		done(&q[i]);
		session_qp_destroy(&q[i]);
	}
}

/* Each queue of a page has one short request: several queues share a turn, up to a limit. */
static void test_short_turns(void)
{
	u64 *largest = s.fabric.stat.largest;
	u32 i, good = 0;

	memset(largest, 0, sizeof(s.fabric.stat.largest));
	for (i = 0; i < CROWD; i++)
		write_on(&crowd[i]);
	session_settle(&s);
	for (i = 0; i < CROWD; i++)
		good += done(&crowd[i]);
	ok(good == CROWD, "%u of %u queues have written", good, CROWD);
	ok(largest[HCA_REQUESTS] >= 8 && largest[HCA_REQUESTS] <= 16,
	   "a turn has up to %llu of their requests", (unsigned long long)largest[HCA_REQUESTS]);
}

/* Pages of function 0 are busy all the time.  A request of another page waits for two turns. */
static void test_wait(int func)
{
	enum { PAGES = 8, ROUNDS = 200 };
	u64 start, wait, longest = 0;
	struct session_mr mr = session_mr(&s, func, 4096, ALL_ACCESS);
	struct xv_sge sge = session_sge(&mr, 0, 8);
	struct session_qp busy[PAGES], a;
	u32 posted[PAGES] = {}, own = s.uar[0], i, n;

	for (i = 0; i < PAGES; i++) {
		s.uar[0] = session_uar(&s, 0);
		session_qp(&s, 0, MLX5_QP_ST_RC, 6, 1, &busy[i]);
		session_connect(&busy[i], &busy[i]);
	}
	s.uar[0] = session_uar(&s, 0);
	session_qp(&s, func, MLX5_QP_ST_RC, 4, 1, &a);
	session_connect(&a, &a);
	s.uar[0] = own;
	for (n = 0; n < ROUNDS; n++) {
		/* Other numbers of passes, so that the request meets another state of the round */
		for (i = 0; i < 30 + n % 16; i++) {
			refill(&busy[i % PAGES], &posted[i % PAGES], 32, 65536);
			hca_fabric_poll(&s.fabric);
		}
		start = s.fabric.stat.units;
		xv_wr_write(&a.qp, 0, XV_SEND_SIGNALED, &sge, mr.addr, mr.key);
		xv_commit_send(&a.qp);
		while (!done(&a))
			hca_fabric_poll(&s.fabric);
		wait = s.fabric.stat.units - start;
		/* The first doorbell is found in a register, the others in an active record. */
		if (n)
			longest = max(longest, wait);
	}
	ok(longest <= 2 * (HCA_TURN_UNITS + MAX_STEP), "function %d: a request beside %u "
	       "busy pages waits for %llu units at most", func, PAGES, (unsigned long long)longest);
	session_settle(&s);
	session_qp_destroy(&a);
	for (i = 0; i < PAGES; i++) {
		done(&busy[i]);
		session_qp_destroy(&busy[i]);
	}
}

/* ---- Timers ----------------------------------------------------------------------- */

/* All timers expire in order, while others are cleared. */
static void test_timers(void)
{
	enum { N = 100000 };
	struct hca_heap_entry *entry = calloc(N, sizeof(*entry)), *e;
	struct hca_heap heap = {};
	u64 last = 0;
	u32 i, seed = 1, n = 0, wrong = 0;

	for (i = 0; i < N; i++)
		wrong += hca_heap_join(&heap) != 0;
	for (i = 0; i < N; i++) {
		seed = seed * 1103515245 + 12345;
		hca_heap_set(&heap, &entry[i], 1 + (seed >> 8));
	}
	for (i = 0; i < N; i += 3)
		hca_heap_clear(&heap, &entry[i]);
	while ((e = hca_heap_first(&heap))) {
		wrong += e->key < last || (e - entry) % 3 == 0;
		last = e->key;
		hca_heap_clear(&heap, e);
		n++;
	}
	ok(n == N - (N + 2) / 3 && !wrong, "%u of %u timers expire in order", n, N);
	for (i = 0; i < N; i++)
		hca_heap_leave(&heap, &entry[i]);
	hca_heap_free(&heap);
	free(entry);
}

static struct hca_qp *hca_qp_of(const struct session_qp *q)
{
	return hca_table_get(&s.hca[q->func]->qps, q->qp.qp_num);
}

/* QPs in ERR: their records are read rarely, and new requests are flushed. */
static void test_flush(void)
{
	struct session_qp a, b;
	struct xv_sge sge = session_sge(&from, 0, 8);
	struct xv_wc wc = { .status = 255 };
	u32 looks = 0, i;
	u64 last;

	connect(&a, &b);
	hca_qp_enter(hca_qp_of(&a), MLX5_QP_STATE_ERR);
	last = hca_qp_of(&a)->flush.key;
	for (i = 0; i < 100000; i++) {
		hca_fabric_poll(&s.fabric);
		looks += hca_qp_of(&a)->flush.key != last;
		last = hca_qp_of(&a)->flush.key;
	}
	ok(looks && looks <= 40, "ERR: the record is read %u times in %u passes", looks, i);
	ok(hca_fabric_deadline(&s.fabric) == U64_MAX, "ERR: no timer wakes the adapter");
	xv_wr_recv(&a.qp, 1, &sge);
	xv_commit_recv(&a.qp);
	last = s.fabric.now;
	while (!xv_poll_cq(&a.cq, 1, &wc) && s.fabric.now - last < 2 * NSEC_PER_SEC)
		hca_fabric_poll(&s.fabric);
	tap_is(wc.status, XV_WC_WR_FLUSH_ERR, "a receive posted in ERR is flushed");
	disconnect(&a, &b);
}

static u32 polled(struct session_qp *q)
{
	struct xv_wc wc[64];
	u32 n = 0;
	int got;

	while ((got = xv_poll_cq(&q->cq, ARRAY_SIZE(wc), wc)) > 0)
		while (got)
			n += wc[--got].status == XV_WC_WR_FLUSH_ERR;
	return n;
}

/* A long queue is flushed in parts, between which other queues run. */
static void test_long_flush(void)
{
	struct xv_sge sge = session_sge(&from, 0, 8);
	u32 largest, total, n, i;
	struct session_qp a, b;

	session_qp(&s, 0, MLX5_QP_ST_RC, 12, 12, &a);
	session_qp(&s, 1, MLX5_QP_ST_RC, 1, 1, &b);
	session_connect(&a, &b);
	for (i = 0; i < LONG_QUEUE; i++) {
		xv_wr_write(&a.qp, 0, XV_SEND_SIGNALED, &sge, to.addr, to.key);
		xv_wr_recv(&a.qp, 1, &sge);
	}
	xv_commit_recv(&a.qp);
	xv_commit_send(&a.qp);
	hca_qp_enter(hca_qp_of(&a), MLX5_QP_STATE_ERR);
	total = largest = polled(&a);
	for (i = 0; i < 100000 && total < 2 * LONG_QUEUE; i++) {
		hca_fabric_poll(&s.fabric);
		n = polled(&a);
		total += n;
		largest = max(largest, n);
	}
	tap_is(total, 2 * LONG_QUEUE, "all requests of a long queue are flushed");
	ok(largest <= 2 * HCA_FLUSH_REQUESTS, "at most %u requests are flushed in a pass", largest);
	disconnect(&a, &b);
}

/* Queues in ERR whose process goes on posting receives get no more time than its share. */
static void test_flush_share(void)
{
	enum { QPS = 8, PASSES = 3000 };
	u32 own = s.uar[0], posted = 0, flushed = 0, writes = 0, i, n;
	struct session_qp a, q[QPS];

	from = to = session_mr(&s, 0, 4096, ALL_ACCESS);
	session_qp(&s, 0, MLX5_QP_ST_RC, 8, 1, &a);
	session_connect(&a, &a);
	s.uar[0] = session_uar(&s, 0);
	for (i = 0; i < QPS; i++) {
		session_qp(&s, 0, MLX5_QP_ST_RC, 1, 10, &q[i]);
		session_connect(&q[i], &q[i]);
		hca_qp_of(&q[i])->rcq->overrun_ignore = true;
		hca_qp_enter(hca_qp_of(&q[i]), MLX5_QP_STATE_ERR);
	}
	s.uar[0] = own;
	for (n = 0; n < PASSES; n++) {
		writes += refill(&a, &posted, 200, 8);
		for (i = 0; i < QPS; i++) {
			struct hca_qp *qp = hca_qp_of(&q[i]);

			flushed += (u16)(qp->rq.ci + 1000 - be32_to_cpu(qp->dbr[MLX5R_DBR_RCV]));
			qp->dbr[MLX5R_DBR_RCV] = cpu_to_be32((u16)(qp->rq.ci + 1000));
		}
		hca_fabric_poll(&s.fabric);
	}
	ok(flushed > 1000 && flushed < 2 * writes, "%u receives are flushed, and %u writes of "
	   "another page are executed", flushed, writes);
	session_settle(&s);
	session_qp_destroy(&a);
	for (i = 0; i < QPS; i++)
		session_qp_destroy(&q[i]);
}

/* The same if the queue is ready again before it is flushed; then new requests run. */
static void test_long_flush_in_rts(void)
{
	struct session_qp q, peer;
	u32 total, n, i;

	session_qp(&s, 0, MLX5_QP_ST_UC, 12, 1, &q);
	session_qp(&s, 1, MLX5_QP_ST_UC, 1, 1, &peer);
	session_connect(&q, &peer);
	hca_qp_enter(hca_qp_of(&q), MLX5_QP_STATE_SQER);
	for (i = 0; i < LONG_QUEUE; i++)
		post(&q, 8);
	xv_commit_send(&q.qp);
	session_qp_modify(&q, MLX5_CMD_OP_SQERR2RTS_QP, NULL);
	total = polled(&q);
	ok(total <= 2 * HCA_FLUSH_REQUESTS, "SQER to RTS: %u requests are flushed at once", total);
	write_on(&q);
	session_qp_modify(&q, HCA_CMD_OP_RTS2SQD_QP, NULL);
	for (i = 0; i < 100 && total < LONG_QUEUE; i++, total += n) {
		hca_fabric_poll(&s.fabric);
		n = polled(&q);
	}
	tap_is(total, LONG_QUEUE, "all that were posted in SQER are flushed in several passes");
	session_settle(&s);
	ok(hca_qp_of(&q)->sq_drained_sent, "then the queue is drained");
	session_qp_modify(&q, MLX5_CMD_OP_SQD_RTS_QP, &peer);
	session_settle(&s);
	tap_is(done(&q), 1, "the request that was posted in RTS is executed");
	disconnect(&q, &peer);
}

static void begin(void)
{
	session_init(&s);
	from = session_mr(&s, 0, 65536, ALL_ACCESS);
	to = session_mr(&s, 1, 65536, ALL_ACCESS);
}

/* The reset of a function with many objects takes many passes, and others run meanwhile. */
static void test_reset(void)
{
	u32 before, now, most = 0, passes = 0, writes = 0, posted = 0;
	struct hca *hca = s.hca[0];
	struct session_qp a;

	from = to = session_mr(&s, 1, 4096, ALL_ACCESS);
	session_qp(&s, 1, MLX5_QP_ST_RC, 6, 1, &a);
	session_connect(&a, &a);
	session_idle_qps(&s, 0, 20000);
	hca_function_reset(hca);
	for (now = hca->qps.count; hca_function_in_reset(hca); passes++) {
		before = now;
		writes += refill(&a, &posted, 8, 8);
		hca_fabric_poll(&s.fabric);
		now = hca->qps.count;
		most = max(most, before - now);
	}
	ok(passes > 4 && most <= 4096, "a reset takes %u passes, and frees up to %u queue pairs in "
	   "one", passes, most);
	ok(writes >= passes, "another function executes %u requests meanwhile", writes);
	tap_is(hca->qps.count + hca->cqs.count + hca->mkeys.count, 0, "all objects are freed");
	session_settle(&s);
	session_qp_destroy(&a);
}

int main(void)
{
	u32 i;

	begin();
	test_lost_doorbells();
	test_random_bytes_are_no_work();
	test_loads();
	session_free(&s);

	begin();
	to = session_mr(&s, 0, 65536, ALL_ACCESS);
	test_wait(1);
	test_wait(0);
	for (i = 0; i < CROWD; i++) {
		session_qp(&s, 0, MLX5_QP_ST_RC, 4, 1, &crowd[i]);
		session_connect(&crowd[i], &crowd[i]);
	}
	test_shares(8);
	test_shares(4096);
	test_many_pages();
	test_short_turns();
	session_free(&s);

	begin();
	test_timers();
	test_flush();
	test_long_flush();
	test_long_flush_in_rts();
	test_flush_share();
	test_reset();
	session_free(&s);
	return tap_done();
}
