// SPDX-License-Identifier: GPL-2.0
/*
 * With XV_DP_DEBUG, a program that breaks a rule of the data path stops there.  Each case runs in a
 * process of its own, first as the rules want it, then with one step too many.
 */
#define XV_DP_DEBUG
#include <pthread.h>
#include <string.h>
#include <xverbs/dp.h>
#include "tap.h"
#include "trap.h"

#define ENTRIES	16u

static struct xv_qp qp;
static struct xv_sq_entry entry[ENTRIES];
static uint8_t ring[ENTRIES * 64] __attribute__((aligned(64))), rq_ring[ENTRIES * 16];
static uint64_t rq_wr_id[ENTRIES], bell;
static uint32_t record[2];

/* A queue pair in ordinary memory */
static void make(uint32_t flags)
{
	qp = (struct xv_qp) { .qp_num = 0x123, .qp_type = XV_QPT_RC };
	qp.sq = (struct xv_sq) {
		.buf = ring, .buf_end = ring + sizeof(ring), .entry = entry, .dbrec = record,
		.doorbell = &bell, .mask = ENTRIES - 1, .room = ENTRIES, .max_sge = 8,
		.flags = flags,
	};
	qp.rq = (struct xv_rq) {
		.buf = rq_ring, .wr_id = rq_wr_id, .dbrec = record, .mask = ENTRIES - 1,
		.room = ENTRIES, .max_sge = 1, .log_stride = 4, .flags = flags,
	};
	qp.sq.lock.on = qp.rq.lock.on = 1;
}

static void post(uint32_t sends, uint32_t receives)
{
	static const struct xv_sge sge = { 0x1000, 64, 0x11 };

	while (sends--)
		if (xv_wr_send(&qp, 1, 0, &sge))
			_exit(1);
	while (receives--)
		if (xv_wr_recv(&qp, 1, &sge))
			_exit(1);
}

/* The cases; @more is 1 for the step that is wrong. */

static void overwrite_send(uint32_t more)
{
	make(XV_QP_MANAGED_SEND | XV_QP_IGNORE_SQ_OVERFLOW);
	post(ENTRIES + more, 0);
}

static void overwrite_recv(uint32_t more)
{
	make(XV_QP_MANAGED_RECV | XV_QP_IGNORE_RQ_OVERFLOW);
	post(0, ENTRIES + more);
}

static void retire_send_not_posted(uint32_t more)
{
	make(0);
	post(3, 0);
	xv_retire_send(&qp, 3 + more);
}

static void retire_recv_not_posted(uint32_t more)
{
	make(0);
	post(0, 3);
	xv_retire_recv(&qp, 3 + more);
}

static void retire_send_twice(uint32_t more)
{
	make(0);
	post(3, 0);
	xv_retire_send(&qp, 2);
	xv_retire_send(&qp, 2 - more);
}

static void retire_recv_twice(uint32_t more)
{
	make(0);
	post(0, 3);
	xv_retire_recv(&qp, 2);
	xv_retire_recv(&qp, 2 - more);
}

static void retire_send_not_enabled(uint32_t more)
{
	make(XV_QP_MANAGED_SEND);
	post(3, 0);
	qp.sq.en.max = 2;
	xv_retire_send(&qp, 2 + more);
}

static void retire_recv_not_enabled(uint32_t more)
{
	make(XV_QP_MANAGED_RECV);
	post(0, 3);
	qp.rq.en_max = 2;
	xv_retire_recv(&qp, 2 + more);
}

static void *build_one(void *arg)
{
	(void)arg;
	post(1, 0);
	return NULL;
}

static void *build_receive(void *arg)
{
	(void)arg;
	post(0, 1);
	return NULL;
}

static void in_thread(void *(*fn)(void *arg))
{
	pthread_t id;

	if (pthread_create(&id, NULL, fn, NULL) || pthread_join(id, NULL))
		_exit(1);
}

/* Another thread builds: after the commit, with the lock, and then without either */
static void second_sender(uint32_t more)
{
	make(0);
	post(1, 0);
	xv_commit_send(&qp);
	in_thread(build_one);
	xv_lock(&qp.sq.lock);
	post(1, 0);
	if (!more)
		return;
	xv_unlock(&qp.sq.lock);
	in_thread(build_one);
}

static void second_receiver(uint32_t more)
{
	make(0);
	post(0, 1);
	xv_commit_recv(&qp);
	in_thread(build_receive);
	if (more)
		post(0, 1);
}

static void enables_itself(uint32_t more)
{
	struct xv_qp other;

	make(XV_QP_CROSS_CHANNEL | XV_QP_MANAGED_SEND);
	other = qp;
	xv_wr_send_enable(&qp, 1, 0, more ? &qp : &other, 0);
}

static void srq_without_lock(uint32_t more)
{
	struct xv_srq srq = { .buf = rq_ring, .wr_id = rq_wr_id, .mask = ENTRIES - 1,
			      .tail = ENTRIES - 1, .log_stride = 4, .lock = { 1, !more } };
	static const struct xv_sge sge = { 0x1000, 64, 0x11 };

	xv_wr_srq_recv(&srq, 1, &sge, 0);
}

int main(void)
{
	static const struct {
		const char *what;
		void (*run)(uint32_t more);
	} t[] = {
		{ "a send overwrites an entry that was not retired", overwrite_send },
		{ "a receive overwrites an entry that was not retired", overwrite_recv },
		{ "retire a send that was not posted", retire_send_not_posted },
		{ "retire a receive that was not posted", retire_recv_not_posted },
		{ "the sends that are retired go back", retire_send_twice },
		{ "the receives that are retired go back", retire_recv_twice },
		{ "retire a send that was not enabled", retire_send_not_enabled },
		{ "retire a receive that was not enabled", retire_recv_not_enabled },
		{ "two threads build sends without the lock", second_sender },
		{ "two threads build receives without the lock", second_receiver },
		{ "a queue enables its own requests", enables_itself },
		{ "a receive of an SRQ is built without its lock", srq_without_lock },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		tap_is(signal_of(t[i].run, 0), 0, "the step before: no stop");
		tap_is(signal_of(t[i].run, 1), STOPPED, "%s: the program stops", t[i].what);
	}
	return tap_done();
}
