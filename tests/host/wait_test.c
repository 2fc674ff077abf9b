// SPDX-License-Identifier: GPL-2.0
/*
 * WAIT for a CQ, for data, for a time; what ends a wait; many waits; chains.
 */
#include <stdlib.h>
#include "cmd/cmd.h"
#include "session.h"
#include "tap.h"
#include "xchan.h"

/* ---- WAIT for a CQ ---------------------------------------------------------------------- */

static void test_wait(void)
{
	struct pair m, w;

	open_pair(&m, MLX5_QP_ST_RC, MASTER, 4);
	open_pair(&w, MLX5_QP_ST_RC, 0, 4);
	xchan_wait(&m.q, &w.q, 1);
	write_word(&m.q, 0, 0);
	go(&m.q);
	ok(xchan_hw(&m.q)->waiting && !xchan_hw(&m.q)->share &&
	   hca_fabric_deadline(&s.fabric) == U64_MAX, "a waiting queue has no work, no timer");
	write_word(&w.q, 0, 0);
	go(&w.q);
	tap_is(xchan_count(&m.q, 0), 0, "entry 0 does not end a wait for entry 1");
	write_word(&w.q, 0, 0);
	go(&w.q);
	tap_is(xchan_count(&m.q, 0), 2, "entry 1 ends it: WAIT and the next write complete");
	xchan_wait(&m.q, &w.q, 0);
	xchan_wait(&m.q, &w.q, 0x800002);
	go(&m.q);
	tap_is(xchan_count(&m.q, 0), 2, "a wait for entries that exist ends at once");
	xchan_wait(&m.q, &w.q, 0x800001);
	go(&m.q);
	ok(xchan_hw(&m.q)->waiting, "a wait for an entry half the index range ahead");
	xchan_cq(&w.q)->pi = 0x800001;
	xchan_cq(&w.q)->overrun_ignore = true;
	write_word(&w.q, 0, 0);
	go(&w.q);
	tap_is(xchan_count(&m.q, 0), 1, "the wait ends when this entry is written");

	/* The 24 bits of the index end. */
	xchan_cq(&w.q)->pi = 0xffffff;
	xchan_wait(&m.q, &w.q, 0xffffff);
	xchan_wait(&m.q, &w.q, 0);
	go(&m.q);
	write_word(&w.q, 0, 0);
	go(&w.q);
	tap_is(xchan_count(&m.q, 0), 1, "a wait for the last index");
	write_word(&w.q, 0, 0);
	go(&w.q);
	tap_is(xchan_count(&m.q, 0), 1, "a wait for the index after the wrap");
	close_pair(&m);
	close_pair(&w);
}

/* The request is not read from the ring again when its wait ends. */
static void test_wait_fetched(void)
{
	struct pair m, w;

	open_pair(&m, MLX5_QP_ST_RC, MASTER, 4);
	open_pair(&w, MLX5_QP_ST_RC, 0, 4);
	xchan_wait(&m.q, &w.q, 0);
	go(&m.q);
	memset(m.q.qp.sq.buf, 0xff, MLX5R_WQEBB);
	write_word(&w.q, 0, 0);
	go(&w.q);
	tap_is(xchan_count(&m.q, 0), 1, "a WAIT that is overwritten while it waits");
	xchan_wait(&m.q, &w.q, 1);
	go(&m.q);
	xchan_cq(&w.q)->pi++;
	hca_wait_wake(xchan_cq(&w.q));
	session_qp_modify(&m.q, MLX5_CMD_OP_2ERR_QP, NULL);
	tap_is(xchan_count(&m.q, XV_WC_WR_FLUSH_ERR), 1,
	       "ERR flushes a WAIT that is over but has not completed");
	close_pair(&m);
	close_pair(&w);
}

/* The queue waits for its own completions, in a CQ that ignores overrun. */
static void test_wait_own(void)
{
	struct pair m;

	open_pair(&m, MLX5_QP_ST_RC, MASTER, 4);
	write_word(&m.q, 0, 0);
	xchan_wait(&m.q, &m.q, 0);
	xchan_wait(&m.q, &m.q, 1);
	go(&m.q);
	tap_is(xchan_count(&m.q, 0), 3, "a queue waits for its own completions");
	close_pair(&m);
}

/* What ends a wait that is not met */
static void test_wait_ends(void)
{
	struct session_qp cq;
	struct pair m, u;

	open_pair(&m, MLX5_QP_ST_RC, MASTER, 4);
	open_pair(&u, MLX5_QP_ST_UC, MASTER, 4);
	session_qp(&s, 0, MLX5_QP_ST_RC, 1, 1, &cq);
	session_qp_destroy(&cq);
	xchan_wait(&m.q, &cq, 5);
	write_word(&m.q, 0, 0);
	xchan_wait(&u.q, &cq, 5);
	go(&m.q);
	go(&u.q);
	tap_is(session_cq_destroy(&cq), 0, "a CQ can be destroyed while queues wait for it");
	session_settle(&s);
	tap_is(xchan_count(&m.q, XV_WC_WR_FLUSH_ERR), 2, "their requests are flushed");
	ok(xchan_hw(&m.q)->state == MLX5_QP_STATE_ERR &&
	   xchan_hw(&u.q)->state == MLX5_QP_STATE_SQER, "RC: state ERR, UC: SQER");
	tap_is(xchan_count(&u.q, XV_WC_WR_FLUSH_ERR), 1, "UC: flushed too");

	session_qp_modify(&m.q, MLX5_CMD_OP_2RST_QP, NULL);
	session_qp_modify(&m.peer, MLX5_CMD_OP_2RST_QP, NULL);
	m.q.qp.sq.pi = m.q.qp.sq.ci = m.q.qp.sq.limit = 0;
	session_connect(&m.q, &m.peer);
	xchan_wait(&m.q, &cq, 5);
	go(&m.q);
	tap_is(xchan_status(&m.q), XV_WC_LOC_QP_OP_ERR, "a CQ that does not exist");
	close_pair(&m);
	close_pair(&u);

	open_pair(&m, MLX5_QP_ST_RC, MASTER, 4);
	open_pair(&u, MLX5_QP_ST_RC, 0, 4);
	xchan_wait(&m.q, &u.q, 5);
	go(&m.q);
	session_qp_modify(&m.q, MLX5_CMD_OP_2ERR_QP, NULL);
	tap_is(xchan_count(&m.q, XV_WC_WR_FLUSH_ERR), 1, "ERR flushes a wait");
	ok(!xchan_cq(&u.q)->waiters, "ERR: no queue waits for the CQ");
	close_pair(&m);
	open_pair(&m, MLX5_QP_ST_RC, MASTER, 4);
	xchan_wait(&m.q, &u.q, 5);
	go(&m.q);
	session_qp_modify(&m.q, MLX5_CMD_OP_2RST_QP, NULL);
	ok(!xchan_count(&m.q, 0) && !xchan_cq(&u.q)->waiters, "RESET ends a wait");
	close_pair(&m);
	open_pair(&m, MLX5_QP_ST_RC, MASTER, 4);
	xchan_wait(&m.q, &u.q, 5);
	go(&m.q);
	session_qp_destroy(&m.q);
	ok(!xchan_cq(&u.q)->waiters, "destruction of the queue ends a wait");
	session_qp_destroy(&m.peer);
	close_pair(&u);
}

/* Flushing writes completions, so it must wait until the function has DMA again. */
static void test_wait_halted(void)
{
	struct session_qp cq;
	struct pair m;
	u32 i;

	open_pair(&m, MLX5_QP_ST_RC, MASTER, 4);
	session_qp(&s, 0, MLX5_QP_ST_RC, 1, 1, &cq);
	session_qp_destroy(&cq);
	xchan_wait(&m.q, &cq, 5);
	go(&m.q);
	session_cq_destroy(&cq);
	hca_dma_enable(s.hca[0], false);
	for (i = 0; i < 1000; i++)
		hca_fabric_poll(&s.fabric);
	tap_is(xchan_count(&m.q, 0), 0, "the CQ is destroyed, no DMA: no completion is written");
	hca_dma_enable(s.hca[0], true);
	session_settle(&s);
	tap_is(xchan_status(&m.q), XV_WC_LOC_QP_OP_ERR, "with DMA the wait fails");
	close_pair(&m);
}

static void test_wait_overrun(void)
{
	struct pair m, w;
	u32 i;

	open_pair(&m, MLX5_QP_ST_RC, MASTER, 4);
	open_pair(&w, MLX5_QP_ST_RC, 0, 1);
	xchan_wait(&m.q, &w.q, 100);
	go(&m.q);
	/* The record is not written, so the CQ of 8 entries overruns. */
	for (i = 0; i < 9; i++) {
		w.q.qp.sq.ci = w.q.qp.sq.limit = w.q.qp.sq.pi;
		write_word(&w.q, 0, 0);
		go(&w.q);
	}
	tap_is(xchan_status(&m.q), XV_WC_WR_FLUSH_ERR, "an overrun CQ ends waits for it");
	close_pair(&m);
	open_pair(&m, MLX5_QP_ST_RC, MASTER, 4);
	xchan_wait(&m.q, &w.q, 100);
	go(&m.q);
	tap_is(xchan_status(&m.q), XV_WC_LOC_QP_OP_ERR, "a new wait for an overrun CQ fails");
	close_pair(&m);
	close_pair(&w);
}

/* A queue that is drained does not wait meanwhile. */
static void test_wait_drain(void)
{
	struct pair m, w;

	open_pair(&m, MLX5_QP_ST_RC, MASTER, 4);
	open_pair(&w, MLX5_QP_ST_RC, 0, 4);
	xchan_wait(&m.q, &w.q, 0);
	go(&m.q);
	session_qp_modify(&m.q, HCA_CMD_OP_RTS2SQD_QP, NULL);
	session_settle(&s);
	ok(xchan_hw(&m.q)->sq_drained_sent, "a waiting queue is drained at once");
	write_word(&w.q, 0, 0);
	go(&w.q);
	tap_is(xchan_count(&m.q, 0), 0, "the wait does not end in SQD");
	session_qp_modify(&m.q, MLX5_CMD_OP_SQD_RTS_QP, NULL);
	session_settle(&s);
	tap_is(xchan_count(&m.q, 0), 1, "the wait ends in RTS");
	close_pair(&m);
	close_pair(&w);
}

/* ---- The heap ----------------------------------------------------------------------------- */

#define WAITERS	3000u

/* All wait for random entries; some leave; the others wake exactly in time. */
static void test_heap(void)
{
	static const struct hca_wqe_wait wait;
	static struct hca_qp qp[WAITERS];
	struct hca_cq *cq;
	u32 i, left = 0, wrong = 0, seed = 3;
	struct pair w;

	open_pair(&w, MLX5_QP_ST_RC, 0, 4);
	cq = xchan_cq(&w.q);
	cq->pi = 0xfffff000;		/* the free-running index wraps */
	for (i = 0; i < WAITERS; i++) {
		seed = seed * 1103515245 + 12345;
		qp[i] = (struct hca_qp) { .hca = s.hca[0], .record.uar = cq->record.uar };
		hca_wait_begin(&qp[i], &wait, cq, cq->pi + 1 + (seed >> 8) % 20000);
	}
	for (i = 0; i < WAITERS; i += 3)
		hca_wait_end(&qp[(i * 7) % WAITERS]);
	for (i = 0; i < WAITERS; i++)
		left += qp[i].waiting;
	while (left && cq->pi != 0xfffff000 + 20001) {
		cq->pi++;
		while (hca_wait_due(cq))
			hca_wait_wake(cq);
		for (i = 0; i < WAITERS; i++) {
			bool woken = qp[i].share;

			wrong += woken && qp[i].waiter.pi != cq->pi;
			left -= woken;
			hca_share_del(&qp[i]);
		}
	}
	ok(!left && !wrong && !cq->waiters, "%u waits end in time", WAITERS);
	close_pair(&w);
}

/* Many queues wait for one entry: they wake in parts. */
/* Work of the adapter for some writes of a queue */
static u64 work_of(struct pair *p)
{
	u64 before = s.fabric.stat.units;
	u32 i;

	for (i = 0; i < 100; i++) {
		write_word(&p->q, 0, 0);
		xv_commit_send(&p->q.qp);
		while (!xchan_count(&p->q, 0))
			hca_fabric_poll(&s.fabric);
	}
	return s.fabric.stat.units - before;
}

static void test_many_waiters(void)
{
	enum { CROWD = 300, AT_ONCE = 72 };
	static struct pair m[CROWD];
	u32 i, n, woken = 0, passes = 0, most = 0;
	struct pair w, other;
	u64 alone;

	open_pair(&w, MLX5_QP_ST_RC, 0, 4);
	open_pair(&other, MLX5_QP_ST_RC, 0, 4);
	alone = work_of(&other);
	for (i = 0; i < CROWD; i++) {
		open_pair(&m[i], MLX5_QP_ST_RC, MASTER, 2);
		xchan_wait(&m[i].q, &w.q, 0);
		go(&m[i].q);
	}
	tap_is(work_of(&other), alone, "they cost another queue nothing while they wait");
	close_pair(&other);
	write_word(&w.q, 0, 0);
	xv_commit_send(&w.q.qp);
	while (woken < CROWD && passes < 1000) {
		hca_fabric_poll(&s.fabric);
		for (i = n = 0; i < CROWD; i++)
			n += !xchan_hw(&m[i].q)->waiting;
		most = max(most, n - woken);
		woken = n;
		passes++;
	}
	session_settle(&s);
	for (i = n = 0; i < CROWD; i++)
		n += xchan_count(&m[i].q, 0);
	ok(n == CROWD && most <= AT_ONCE, "%u queues wait for one entry: %u wake at once", CROWD,
	   most);

	/* When their CQ is destroyed, each pass fails only some of them. */
	for (i = 0; i < CROWD; i++) {
		xchan_wait(&m[i].q, &w.q, 10);
		go(&m[i].q);
	}
	session_qp_destroy(&w.q);
	session_cq_destroy(&w.q);
	hca_fabric_poll(&s.fabric);
	for (i = n = 0; i < CROWD; i++)
		n += xchan_hw(&m[i].q)->state == MLX5_QP_STATE_ERR;
	ok(n && n <= 16, "the CQ is destroyed: %u fail at once", n);
	session_qp_destroy(&m[CROWD - 1].q);
	session_settle(&s);
	for (i = n = 0; i < CROWD - 1; i++)
		n += xchan_count(&m[i].q, XV_WC_WR_FLUSH_ERR);
	tap_is(n, CROWD - 1, "at the end all are flushed, except the destroyed one");
	for (i = 0; i < CROWD; i++) {
		if (i < CROWD - 1)
			session_qp_destroy(&m[i].q);
		session_qp_destroy(&m[i].peer);
	}
	session_qp_destroy(&w.peer);
}

/* ---- WAIT for data and time ---------------------------------------------------------------- */

static struct mlx5r_wait_data condition(u32 op, u64 value, u64 mask)
{
	return (struct mlx5r_wait_data) {
		.op_inv = cpu_to_be32(op),
		.lkey = cpu_to_be32(mr[0].key),
		.addr_fail = cpu_to_be64(mr[0].addr + 128),
		.value = cpu_to_be64(value),
		.mask = cpu_to_be64(mask),
	};
}

static u32 wait_status(const struct mlx5r_wait_data *d, u8 opmod)
{
	struct pair m;
	u32 status;

	open_pair(&m, MLX5_QP_ST_RC, MASTER, 2);
	xchan_condition(&m.q, opmod, d);
	xv_commit_send(&m.q.qp);
	session_settle(&s);
	status = xchan_status(&m.q);
	close_pair(&m);
	return status;
}

#define INVERT	MLX5R_WAIT_INVERT
#define TOP	(1ull << 63)

/* value OP memory */
static const struct {
	u32 op;
	u64 value, memory, mask;
	bool met;
} conditions[] = {
	{ MLX5R_WAIT_ALWAYS, 1, 2, ~0ull, true },
	{ MLX5R_WAIT_ALWAYS | INVERT, 1, 2, ~0ull, false },
	{ MLX5R_WAIT_EQUAL, 5, 5, ~0ull, true },
	{ MLX5R_WAIT_EQUAL, 5, 6, ~0ull, false },
	{ MLX5R_WAIT_EQUAL, 0x15, 0x25, 0xf, true },
	{ MLX5R_WAIT_EQUAL, 1, 2, 0, true },
	{ MLX5R_WAIT_EQUAL | INVERT, 5, 5, ~0ull, false },
	{ MLX5R_WAIT_EQUAL | INVERT, 5, 6, ~0ull, true },
	{ MLX5R_WAIT_BIGGER, 6, 5, ~0ull, true },
	{ MLX5R_WAIT_BIGGER, 5, 5, ~0ull, false },
	{ MLX5R_WAIT_BIGGER, TOP, 5, ~0ull, true },
	{ MLX5R_WAIT_SMALLER, 5, 6, ~0ull, true },
	{ MLX5R_WAIT_SMALLER, 5, 5, ~0ull, false },
	{ MLX5R_WAIT_SMALLER, TOP, 5, ~0ull, false },
	{ MLX5R_WAIT_SMALLER, 0xf5, 0x16, 0xf, true },
	{ MLX5R_WAIT_CYCLIC_BIGGER, 1, ~0ull, ~0ull, true },
	{ MLX5R_WAIT_CYCLIC_BIGGER, ~0ull, 1, ~0ull, false },
	{ MLX5R_WAIT_CYCLIC_BIGGER, 7, 7, ~0ull, false },
	{ MLX5R_WAIT_CYCLIC_SMALLER, ~0ull, 1, ~0ull, true },
	{ MLX5R_WAIT_CYCLIC_SMALLER, 1, ~0ull, ~0ull, false },
	{ MLX5R_WAIT_CYCLIC_SMALLER, 0xfffe, 0x10001, 0xffff, true },
	{ MLX5R_WAIT_CYCLIC_SMALLER, 0x10001, 0xfffe, 0xffff, false },
	{ MLX5R_WAIT_CYCLIC_SMALLER, 0xfffe, 0x10001, 0xfffff, true },
	{ MLX5R_WAIT_CYCLIC_SMALLER | INVERT, 7, 7, ~0ull, true },
};

/* With the action "error" the result is known at once. */
static void test_conditions(void)
{
	u32 i, good = 0;

	for (i = 0; i < ARRAY_SIZE(conditions); i++) {
		struct mlx5r_wait_data d = condition(conditions[i].op, conditions[i].value,
						     conditions[i].mask);
		u32 want = conditions[i].met ? XV_WC_SUCCESS : XV_WC_LOC_QP_OP_ERR, got;

		d.addr_fail |= cpu_to_be64(MLX5R_WAIT_ERROR);
		*(__be64 *)word(0, 16) = cpu_to_be64(conditions[i].memory);
		got = wait_status(&d, MLX5R_WAIT_DATA);
		good += got == want;
		if (got != want)
			diag("condition %u: %u, not %u", i, got, want);
	}
	tap_is(good, ARRAY_SIZE(conditions), "conditions on data");
}

static void test_wait_data(void)
{
	struct mlx5r_wait_data d = condition(MLX5R_WAIT_EQUAL, 42, ~0ull);
	struct pair m[3];
	u32 i, reads = 0;
	u64 start, last;

	*word(0, 16) = 0;
	for (i = 0; i < 3; i++) {
		open_pair(&m[i], MLX5_QP_ST_RC, MASTER, 4);
		xchan_condition(&m[i].q, MLX5R_WAIT_DATA, &d);
		write_word(&m[i].q, 16, 20 + i);
		xv_commit_send(&m[i].q.qp);
	}
	start = s.fabric.now;
	last = 0;
	for (shim_time = start; shim_time < start + 20 * NSEC_PER_MSEC; shim_time += 1000) {
		hca_fabric_poll(&s.fabric);
		reads += hca_timer_due(&xchan_hw(&m[0].q)->timer) != last;
		last = hca_timer_due(&xchan_hw(&m[0].q)->timer);
	}
	ok(!xchan_count(&m[0].q, 0) && reads > 20 && reads < 1000,
	   "a queue that waits for data reads it %u times in 20 ms", reads);
	tap_is(s.hca[0]->qps.count ? xchan_hw(&m[0].q)->record.uar->owner->npolling : 0, 3,
	       "three queues of the owner do so");
	*(__be64 *)word(0, 16) = cpu_to_be64(42);
	start = shim_time;
	for (; xchan_hw(&m[0].q)->sq.ci != 2 && shim_time < start + NSEC_PER_SEC; shim_time += 1000)
		hca_fabric_poll(&s.fabric);
	ok(shim_time - start < 10 * NSEC_PER_MSEC, "sees the data after %llu us",
	   (unsigned long long)(shim_time - start) / 1000);
	shim_time = 0;
	tap_is(xchan_count(&m[0].q, 0), 2, "the queue continues");
	tap_is(be64_to_cpu(*(__be64 *)word(1, 20)), 42, "it uses the new data");
	session_qp_modify(&m[1].q, MLX5_CMD_OP_2ERR_QP, NULL);
	session_qp_modify(&m[2].q, MLX5_CMD_OP_2RST_QP, NULL);
	tap_is(xchan_hw(&m[0].q)->record.uar->owner->npolling, 0,
	       "no queue polls memory after ERR and RESET");
	for (i = 0; i < 3; i++)
		close_pair(&m[i]);
}

/*
 * @q retries a request in vain: nothing else is to be done, so most of the time no pass has
 * work, and after some time the retries are rare.
 */
static void retried_in_vain(struct session_qp *q, const char *what)
{
	const u64 start = s.fabric.now, step = 20 * NSEC_PER_USEC;
	u32 retries = 0, work = 0;
	u64 last = 0;

	for (shim_time = start; shim_time < start + NSEC_PER_SEC; shim_time += step) {
		work += hca_fabric_poll(&s.fabric);
		if (shim_time > start + NSEC_PER_SEC / 2)
			retries += hca_timer_due(&xchan_hw(q)->timer) != last;
		last = hca_timer_due(&xchan_hw(q)->timer);
	}
	shim_time = 0;
	ok(work < 200, "%s: %u passes with work in 1 s", what, work);
	ok(retries > 50 && retries < 200, "%u retries in the last 500 ms", retries);
}

static void test_retries_are_no_work(void)
{
	struct mlx5r_wait_data d = condition(MLX5R_WAIT_EQUAL, 42, ~0ull);
	struct pair m;

	*word(0, 16) = 0;
	open_pair(&m, MLX5_QP_ST_RC, MASTER, 4);
	xchan_condition(&m.q, MLX5R_WAIT_DATA, &d);
	go(&m.q);
	retried_in_vain(&m.q, "a queue waits for data");
	*(__be64 *)word(0, 16) = cpu_to_be64(42);
	session_settle(&s);
	xchan_hw(&m.q)->rnr_retry = 7;
	xv_wr_send_inline(&m.q.qp, 0, XV_SEND_SIGNALED, "message", 8);
	go(&m.q);
	retried_in_vain(&m.q, "a receiver has no request");
	close_pair(&m);
}

static void test_wait_data_refused(void)
{
	struct mlx5r_wait_data d;
	struct hca_mkey *k = hca_mkey_get(s.hca[0], mr[0].key);

	d = condition(MLX5R_WAIT_ALWAYS, 0, ~0ull);
	d.lkey ^= cpu_to_be32(1);
	tap_is(wait_status(&d, MLX5R_WAIT_DATA), XV_WC_LOC_PROT_ERR, "a wrong key");
	d = condition(MLX5R_WAIT_ALWAYS, 0, ~0ull);
	d.addr_fail = cpu_to_be64(mr[0].addr - 8);
	tap_is(wait_status(&d, MLX5R_WAIT_DATA), XV_WC_LOC_PROT_ERR, "an address outside");
	d = condition(MLX5R_WAIT_ALWAYS, 0, ~0ull);
	k->pd++;
	tap_is(wait_status(&d, MLX5R_WAIT_DATA), XV_WC_LOC_PROT_ERR, "a key of another PD");
	k->pd--;
	d = condition(6, 0, ~0ull);
	tap_is(wait_status(&d, MLX5R_WAIT_DATA), XV_WC_LOC_QP_OP_ERR, "an unknown condition");
	d = condition(MLX5R_WAIT_ALWAYS, 0, ~0ull);
	d.addr_fail |= cpu_to_be64(2);
	tap_is(wait_status(&d, MLX5R_WAIT_DATA), XV_WC_LOC_QP_OP_ERR, "an unknown action");
	tap_is(wait_status(&d, 3), XV_WC_LOC_QP_OP_ERR, "an unknown kind of wait");
}

/* The last time, in ns, at which the clock has the value @ticks */
static u64 last_time(u64 ticks)
{
	return hca_model_time(s.hca[0]->p.model, ticks + 1) - 1;
}

/* Runs the adapter at the last time with the value @ticks, then 1 ns later. */
static void wait_until(struct pair *m, u64 ticks, const char *what)
{
	u64 due = last_time(ticks);

	shim_time = due;
	session_settle(&s);
	tap_is(xchan_count(&m->q, 0), 0, "%s: at this time it still waits", what);
	tap_is(hca_fabric_deadline(&s.fabric), due + 1, "%s: the engine sleeps until then",
	       what);
	shim_time = due + 1;
	hca_fabric_poll(&s.fabric);
	tap_is(xchan_count(&m->q, 0), 1, "%s: it ends 1 ns later", what);
}

/* Values of the clock: now, and @ns later */
static u64 ticks_after(u64 ns)
{
	return hca_model_ticks(s.hca[0]->p.model, ktime_get_ns() + ns);
}

static void test_wait_time(u32 clock_khz)
{
	struct mlx5r_wait_data d = { .op_inv = cpu_to_be32(MLX5R_WAIT_CYCLIC_SMALLER) };
	const struct hca_model *model = s.hca[0]->p.model;
	struct hca_model other = *model;
	struct pair m;
	u64 due;

	other.clock_khz = clock_khz;
	s.hca[0]->p.model = &other;
	d.mask = ~0ull;
	open_pair(&m, MLX5_QP_ST_RC, MASTER, 4);
	hca_fabric_poll(&s.fabric);
	shim_time = ktime_get_ns();
	due = ticks_after(3 * NSEC_PER_MSEC);
	d.value = cpu_to_be64(due);
	xchan_condition(&m.q, MLX5R_WAIT_TIME, &d);
	xv_commit_send(&m.q.qp);
	session_settle(&s);
	wait_until(&m, due, "a wait for a time");
	d.value = cpu_to_be64(ticks_after(0) - 1);
	xchan_condition(&m.q, MLX5R_WAIT_TIME, &d);
	go(&m.q);
	tap_is(xchan_count(&m.q, 0), 1, "a wait for a time in the past ends at once");

	due = ticks_after(2 * NSEC_PER_MSEC);
	d.value = cpu_to_be64((u32)due);
	d.mask = cpu_to_be64(0xffffffff);
	xchan_condition(&m.q, MLX5R_WAIT_TIME, &d);
	xv_commit_send(&m.q.qp);
	wait_until(&m, due, "with a mask of 32 bits");
	d.mask = ~0ull;
	d.value = cpu_to_be64(ticks_after(NSEC_PER_SEC));
	d.addr_fail = cpu_to_be64(MLX5R_WAIT_ERROR);
	xchan_condition(&m.q, MLX5R_WAIT_TIME, &d);
	go(&m.q);
	tap_is(xchan_status(&m.q), XV_WC_LOC_QP_OP_ERR, "action \"error\"");
	shim_time = 0;
	close_pair(&m);
	s.hca[0]->p.model = model;
}

/* With mask 0 this condition is never met: the time is read after a delay, as data is. */
static void test_wait_time_without_mask(void)
{
	struct mlx5r_wait_data d = { .op_inv = cpu_to_be32(MLX5R_WAIT_CYCLIC_SMALLER) };
	struct pair m;
	u64 now = ktime_get_ns();

	open_pair(&m, MLX5_QP_ST_RC, MASTER, 4);
	shim_time = now;
	xchan_condition(&m.q, MLX5R_WAIT_TIME, &d);
	go(&m.q);
	tap_is(xchan_count(&m.q, 0), 0, "a wait for a time with mask 0 is not met");
	ok(hca_fabric_deadline(&s.fabric) >= now + NSEC_PER_USEC,
	   "the engine sleeps %llu ns until it reads the time again",
	   (unsigned long long)(hca_fabric_deadline(&s.fabric) - now));
	shim_time = 0;
	close_pair(&m);
}

/* ---- Chains ---------------------------------------------------------------------------- */

#define CHAIN	10000u
#define LINKS	4u

/*
 * Operation i waits for operation i - 1 on the queue before, then copies word i to word i + 1.
 * Each copy is right only if the one before was complete.
 */
static void test_chain(void)
{
	static struct pair link[LINKS];
	struct session_mr words = session_mr(&s, 0, 8 * (CHAIN + 1), ALL_ACCESS);
	u32 i, wrong = 0, passes = 0;
	u64 *w = (u64 *)words.ptr;

	for (i = 0; i < LINKS; i++) {
		s.cross = MASTER;
		session_qp(&s, 0, MLX5_QP_ST_RC, 13, 1, &link[i].q);
		s.cross = 0;
		session_connect(&link[i].q, &link[i].q);
		xchan_cq(&link[i].q)->overrun_ignore = true;
	}
	w[0] = 77;
	for (i = 0; i < CHAIN; i++) {
		struct session_qp *q = &link[i % LINKS].q;
		struct session_qp *before = &link[(i + LINKS - 1) % LINKS].q;
		struct xv_sge sge = session_sge(&words, 8 * i, 8);
		struct xchan_wqe wait = xchan_wqe(MLX5R_OP_WAIT, 0, 2);

		wait.ctrl.fm_ce_se = 0;
		wait.object.number = cpu_to_be32(before->cqn);
		wait.object.index = cpu_to_be32((i - 1) / LINKS);
		if (i)
			xv_wr_raw(&q->qp, 1, &wait);
		xv_wr_write(&q->qp, i, XV_SEND_SIGNALED, &sge, words.addr + 8 * (i + 1),
			    words.key);
	}
	s.fabric.stat.largest[HCA_REQUESTS] = 0;
	/* The first queue starts last. */
	for (i = LINKS; i--;)
		xv_commit_send(&link[i].q.qp);
	while (w[CHAIN] != 77 && passes < 100 * CHAIN) {
		hca_fabric_poll(&s.fabric);
		passes++;
	}
	for (i = 0; i <= CHAIN; i++)
		wrong += w[i] != 77;
	ok(!wrong, "a chain of %u operations over %u queues, in %.1f passes for each", CHAIN,
	   LINKS, (double)passes / CHAIN);
	ok(session_turns_bounded(&s), "no turn is above the limits");
	ok(s.fabric.stat.largest[HCA_REQUESTS] > 2 * LINKS, "a turn has several steps: %llu",
	   (unsigned long long)s.fabric.stat.largest[HCA_REQUESTS]);
	for (i = 0; i < LINKS; i++)
		session_qp_destroy(&link[i].q);
}

/*
 * Two queues that enable each other without end, and a neighbour on another page.  Enabling is
 * work like any other, so the neighbour has half of the requests.
 */
static void test_endless_chain(void)
{
	u32 uar = s.uar[0], i;
	u64 theirs = 0, mine = 0, start;
	struct pair loop[2], victim;
	struct xchan_wqe nop = xchan_wqe(MLX5R_OP_NOP, 0, 1);

	s.uar[0] = session_uar(&s, 0);
	for (i = 0; i < 2; i++)
		open_pair(&loop[i], MLX5_QP_ST_RC, MASTER, 8);
	s.uar[0] = uar;
	open_pair(&victim, MLX5_QP_ST_RC, 0, 8);
	for (start = s.fabric.stat.polls; s.fabric.stat.polls - start < 5000;) {
		for (i = 0; i < 2; i++) {
			while (!xchan_wait(&loop[i].q, &loop[!i].q, 0xffffff))
				;
			xv_commit_send(&loop[i].q.qp);
			theirs += xchan_count(&loop[i].q, 0);
		}
		while (!xv_wr_raw(&victim.q.qp, 1, &nop))
			;
		xv_commit_send(&victim.q.qp);
		hca_fabric_poll(&s.fabric);
		mine += xchan_count(&victim.q, 0);
	}
	ok(mine * 10 >= theirs * 9, "requests beside queues that wait without end: %llu, theirs "
	   "%llu", (unsigned long long)mine, (unsigned long long)theirs);
	session_settle(&s);
	close_pair(&victim);
	for (i = 0; i < 2; i++)
		close_pair(&loop[i]);
}

/* ---- A chain without end ------------------------------------------------------------ */

#define ROUND	4u			/* requests */
#define ROUNDS	(65536u / ROUND)	/* then the index of requests begins again */

struct block {
	u8 bytes[MLX5R_WQEBB];
};

/*
 * The requests of a round: one writes those of the next round into the other half of the ring,
 * one enables them.
 */
static void fill_round(struct block *at, u32 round, const struct session_qp *q, u64 next, u32 lkey,
		       u64 ring, u32 rkey)
{
	struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_raddr raddr;
		struct mlx5r_data data;
	} write = {
		.ctrl = xchan_wqe(MLX5R_OP_RDMA_WRITE, 0, 3).ctrl,
		.raddr = { .addr = cpu_to_be64(ring), .rkey = cpu_to_be32(rkey) },
		.data = { cpu_to_be32(ROUND * MLX5R_WQEBB), cpu_to_be32(lkey), cpu_to_be64(next) },
	};
	struct xchan_wqe enable = xchan_wqe(MLX5R_OP_SEND_ENABLE, 0, 2);
	struct mlx5r_ctrl *ctrl;
	u32 i;

	enable.object.number = cpu_to_be32(q->qp.qp_num);
	enable.object.index = cpu_to_be32((round + 2) * ROUND & MLX5R_ENABLE_INDEX_MASK);
	memcpy(&at[0], &write, sizeof(write));
	memcpy(&at[1], &enable, sizeof(enable));
	for (i = 0; i < ROUND; i++) {
		ctrl = (struct mlx5r_ctrl *)&at[i];
		if (i > 1)
			*ctrl = xchan_wqe(MLX5R_OP_NOP, 0, 1).ctrl;
		ctrl->opmod_idx_opcode |= cpu_to_be32(((round * ROUND + i) & 0xffff) << 8);
		ctrl->qpn_ds |= cpu_to_be32(q->qp.qp_num << 8);
		ctrl->fm_ce_se = 0;
	}
}

/* A process that runs without its CPU, for ever, and a neighbour on another page */
static void test_self_modifying(void)
{
	struct session_mr rounds = session_mr(&s, 0, ROUNDS * ROUND * MLX5R_WQEBB, ALL_ACCESS);
	struct session_mr ring = session_mr(&s, 0, HCA_PAGE_SIZE, ALL_ACCESS);
	struct xchan_wqe nop = xchan_wqe(MLX5R_OP_NOP, 0, 1);
	struct block *block = (struct block *)rounds.ptr;
	u64 start, ran = 0, mine = 0;
	u32 uar = s.uar[0], i;
	struct session_qp q;
	struct pair m, victim;
	u16 last = 0;

	s.cross = MASTER | SEND;
	s.uar[0] = session_uar(&s, 0);
	session_qp(&s, 0, MLX5_QP_ST_RC, 3, 0, &q);
	session_connect(&q, &q);
	open_pair(&m, MLX5_QP_ST_RC, MASTER, 4);
	s.uar[0] = uar;
	open_pair(&victim, MLX5_QP_ST_RC, 0, 8);
	/* The region is the ring. */
	*hca_mkey_page(hca_mkey_get(s.hca[0], ring.key), 0) = q.qp.sq.buf;
	for (i = 0; i < ROUNDS; i++)
		fill_round(block + i * ROUND, i, &q,
			   rounds.addr + (i + 1) % ROUNDS * ROUND * MLX5R_WQEBB, rounds.key,
			   ring.addr + !(i % 2) * ROUND * MLX5R_WQEBB, ring.key);
	memcpy(q.qp.sq.buf, block, ROUND * MLX5R_WQEBB);
	xchan_send_enable(&m.q, &q, ROUND);
	xv_commit_send(&m.q.qp);
	for (start = s.fabric.stat.polls; s.fabric.stat.polls - start < 5000;) {
		while (!xv_wr_raw(&victim.q.qp, 1, &nop))
			;
		xv_commit_send(&victim.q.qp);
		hca_fabric_poll(&s.fabric);
		mine += xchan_count(&victim.q, 0);
		ran += (u16)(xchan_hw(&q)->sq.ci - last);
		last = xchan_hw(&q)->sq.ci;
	}
	ok(ran > 65536, "a chain that rewrites and enables itself runs %llu requests",
	   (unsigned long long)ran);
	ok(mine * 10 >= ran * 9, "a queue on another page runs %llu meanwhile",
	   (unsigned long long)mine);
	session_qp_modify(&q, MLX5_CMD_OP_2ERR_QP, NULL);
	session_settle(&s);
	ok(!xchan_hw(&q)->share, "state ERR ends the chain");
	session_qp_destroy(&q);
	close_pair(&m);
	close_pair(&victim);
}

int main(void)
{
	xchan_init();
	test_wait();
	test_wait_fetched();
	test_wait_own();
	test_wait_ends();
	test_wait_halted();
	test_wait_overrun();
	test_wait_drain();
	test_heap();
	test_many_waiters();
	test_conditions();
	test_wait_data();
	test_retries_are_no_work();
	test_wait_data_refused();
	test_wait_time(1000000);
	test_wait_time(156250);
	test_wait_time_without_mask();
	test_chain();
	test_endless_chain();
	test_self_modifying();
	session_free(&s);
	return tap_done();
}
