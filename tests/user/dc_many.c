// SPDX-License-Identifier: GPL-2.0
/*
 * Dynamically connected transport: one initiator to 1,000 targets on two devices, 200 initiators
 * to one target, targets that are destroyed in traffic or left to the kernel.
 *
 * usage: dc_many [hold] [OPTION...]
 */
#include <unistd.h>
#include "dc.h"

enum { MANY_TARGETS = 1000, MANY_SOURCES = 200, MESSAGE = 512, HALF = 8 << 20 };

static struct xv_qp *dci;
static struct xv_dct *dct;
static struct xv_dc to;

/* ---- Many targets, many sources -------------------------------------------------- */

/* What has arrived; the immediate of a message is its number and the seed of its data. */
struct arrived {
	struct xv_dct **targets;	/* of the messages, or NULL: one target */
	uint32_t n, good;
	bool seen[MANY_TARGETS];
};

static bool is_good(struct dc_side *d, const struct xv_wc *wc, uint32_t length,
		    struct arrived *all)
{
	uint32_t number = xv_be32(wc->imm_data);

	if (wc->status || wc->byte_len != length || number >= MANY_TARGETS || all->seen[number])
		return false;
	all->seen[number] = true;
	return wc->qp_num == (all->targets ? all->targets[number] : dct)->dct_num &&
	       rig_check(d->buf + wc->wr_id, length, number);
}

static void drain_receives(struct dc_side *d, uint32_t n, uint32_t length, struct arrived *all)
{
	struct xv_wc wc;

	for (; n && rig_poll(d->recv_cq, 1, &wc) == 1; n--) {
		all->n++;
		all->good += is_good(d, &wc, length, all);
	}
}

static void test_many_targets(void)
{
	static struct xv_dct *targets[MANY_TARGETS];
	static struct arrived all = { .targets = targets };
	uint32_t i, n, sends = 0;
	struct xv_sge sge;
	struct xv_dc one;
	struct xv_wc wc;

	for (i = 0; i < MANY_TARGETS; i++) {
		targets[i] = dc_target(&side[i % 2], DC_KEY + i, DC_ACCESS);
		dc_recv(&side[i % 2], HALF + (size_t)i * MESSAGE, MESSAGE);
	}
	for (i = 0; i < MANY_TARGETS; i++)
		rig_fill(side[0].buf + (size_t)i * MESSAGE, MESSAGE, i);
	for (i = 0; i < MANY_TARGETS; i++) {
		sge = dc_sge(&side[0], (size_t)i * MESSAGE, MESSAGE);
		one = dc_to(0, i % 2, targets[i], DC_KEY + i);
		while (xv_wr_send_imm_dc(dci, i, XV_SEND_SIGNALED, &sge, xv_be32(i), &one)) {
			xv_commit_send(dci);
			n = (uint32_t)rig_poll(side[0].send_cq, 1, &wc);
			if (!n || wc.status)
				bail_out("send %u: %s", sends, xv_wc_status_str(wc.status));
			sends++;
		}
	}
	xv_commit_send(dci);
	while (sends < MANY_TARGETS && rig_poll(side[0].send_cq, 1, &wc) == 1 && !wc.status)
		sends++;
	ok(sends == MANY_TARGETS, "one initiator: %u sends to %u targets on two devices", sends,
	   MANY_TARGETS);
	drain_receives(&side[0], MANY_TARGETS / 2, MESSAGE, &all);
	drain_receives(&side[1], MANY_TARGETS / 2, MESSAGE, &all);
	ok(all.n == MANY_TARGETS && all.good == MANY_TARGETS,
	   "%u received, %u once, at the right target and with the right data", all.n, all.good);
	for (i = 0; i < MANY_TARGETS; i++)
		need(!xv_destroy_dct(targets[i]));
}

/* Each sends messages of many packets, so that many are inside a message at once. */
static void test_many_sources(void)
{
	enum { BYTES = 16384, ROUNDS = 4 };
	static struct xv_qp *sources[MANY_SOURCES];
	static struct arrived all;
	uint32_t i, n, round, sends = 0;
	struct xv_sge sge;
	struct xv_wc wc;

	for (i = 0; i < MANY_SOURCES; i++) {
		sources[i] = dc_initiator(&side[0], 4, NULL);
		rig_fill(side[0].buf + (size_t)i * BYTES, BYTES, i);
	}
	for (round = 0; round < ROUNDS; round++) {
		memset(side[1].buf + HALF, 0, (size_t)MANY_SOURCES * BYTES);
		for (i = 0; i < MANY_SOURCES; i++)
			dc_recv(&side[1], HALF + (size_t)i * BYTES, BYTES);
		for (i = 0; i < MANY_SOURCES; i++) {
			sge = dc_sge(&side[0], (size_t)i * BYTES, BYTES);
			if (xv_wr_send_imm_dc(sources[i], i, XV_SEND_SIGNALED, &sge, xv_be32(i),
					      &to))
				bail_out("source %u: queue full", i);
		}
		for (i = 0; i < MANY_SOURCES; i++)
			xv_commit_send(sources[i]);
		for (n = 0; n < MANY_SOURCES && rig_poll(side[0].send_cq, 1, &wc) == 1; n++)
			sends += !wc.status;
		memset(all.seen, 0, sizeof(all.seen));
		drain_receives(&side[1], MANY_SOURCES, BYTES, &all);
	}
	ok(sends == ROUNDS * MANY_SOURCES, "%u initiators: %u sends to one target", MANY_SOURCES,
	   sends);
	ok(all.n == sends && all.good == sends, "%u received, %u once and with the right data",
	   all.n, all.good);
	for (i = 0; i < MANY_SOURCES; i++)
		need(!xv_destroy_qp(sources[i]));
}

/* ---- Targets that are destroyed in traffic ---------------------------------------- */

static bool is_drain_status(enum xv_wc_status status)
{
	return !status || status == XV_WC_RETRY_EXC_ERR || status == XV_WC_WR_FLUSH_ERR;
}

/* A message arrives whole, or the initiator fails; nothing hangs. */
static void test_drain(void)
{
	static const struct xt_rc_opts quick = { .timeout = 8, .retry_cnt = 2 };
	enum { ROUNDS = 20, BYTES = 1 << 20, DEPTH = 8 };
	uint32_t round, i, n, whole = 0, failed = 0, wrong = 0;
	struct xv_wc wc[DEPTH];
	struct xv_dct *victim;
	struct xv_dc there;
	struct xv_sge sge;
	struct xv_qp *qp;

	rig_fill(side[0].buf, BYTES, 77);
	for (round = 0; round < ROUNDS; round++) {
		qp = dc_initiator(&side[0], DEPTH, &quick);
		victim = dc_target(&side[1], DC_KEY, DC_ACCESS);
		there = dc_to(0, 1, victim, DC_KEY);
		memset(side[1].buf, 0, BYTES);
		for (i = 0; i < DEPTH; i++) {
			sge = dc_sge(&side[0], 0, BYTES);
			xv_wr_write_dc(qp, i, XV_SEND_SIGNALED, &sge, (uintptr_t)side[1].buf,
				       side[1].mr->rkey, &there);
		}
		xv_commit_send(qp);
		if (round % 2)
			wrong += rig_poll(side[0].send_cq, 1, wc) != 1 || wc->status;
		if (xv_destroy_dct(victim))
			bail_out("%s", xv_last_error());
		n = (uint32_t)rig_poll(side[0].send_cq, DEPTH - (int)(round % 2), wc);
		for (i = 0; i < n; i++) {
			failed += wc[i].status == XV_WC_RETRY_EXC_ERR;
			wrong += !is_drain_status(wc[i].status);
		}
		if (n == DEPTH - round % 2 && (!wc[0].status || round % 2))
			whole += rig_check(side[1].buf, BYTES, 77);
		else
			whole += n == DEPTH - round % 2;
		need(!xv_destroy_qp(qp));
	}
	ok(whole == ROUNDS, "%u targets destroyed in traffic: all requests complete, %u failed",
	   ROUNDS, failed);
	tap_is(wrong, 0, "each is a success, without an answer or flushed");
}

/* Objects that are left are destroyed when the file is closed. */
static void test_close(void)
{
	struct dc_side *d = &side[1];
	struct xt_side other;
	struct xv_srq_init_attr attr = { .attr = { .max_wr = 10, .max_sge = 1 } };
	struct xv_cq_init_attr cq_attr = { .cqe = 10 };
	struct xv_cq *cq;
	struct xv_srq *srq;
	int i;

	need(!xt_side_open(&other, rig_device(1), 1, -1));
	need((cq = xv_create_cq(other.ctx, &cq_attr)) != NULL);
	need((srq = xv_create_srq(other.pd, &attr)) != NULL);
	for (i = 0; i < 10; i++)
		need(xt_dct_create(&other, cq, srq, i, d->mr ? DC_ACCESS : 0));
	ok(!xv_close(other.ctx), "close with ten targets");
}

/* Keeps targets until it is killed, for a test of what the kernel lists. */
static void hold(void)
{
	int i;

	for (i = 0; i < 3; i++)
		dc_target(&side[0], DC_KEY, DC_ACCESS);
	printf("holding\n");
	fflush(stdout);
	pause();
}

int main(int argc, char **argv)
{
	bool holds = argc > 1 && !strcmp(argv[1], "hold");

	rig_devices(argc - holds, argv + holds);
	dc_open(2 * HALF);
	if (holds)
		hold();
	dci = dc_initiator(&side[0], 64, NULL);
	dct = dc_target(&side[1], DC_KEY, DC_ACCESS);
	to = dc_to(0, 1, dct, DC_KEY);
	test_many_targets();
	test_many_sources();
	need(!xv_destroy_qp(dci) && !xv_destroy_dct(dct));
	test_drain();
	test_close();
	dc_close();
	return tap_done();
}
