// SPDX-License-Identifier: GPL-2.0
/*
 * Dynamically connected transport: each error with its status, its event and the state of
 * both sides.  After an error the initiator is reset and used again; the target goes on.
 */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#include "dc.h"

enum { BYTES = 4096, WINDOW = 65536, LONG = 16 << 20, ATTEMPTS = 50 };

static const struct xt_rc_opts quick = { .timeout = 8, .retry_cnt = 1, .no_rnr_retry = true };
static struct xv_qp *dci;
static struct xv_dct *dct;
static struct xv_dc to;

/* ---- Events -------------------------------------------------------------------- */

/* Waits for an event of the target; false if another one, or none, comes. */
static bool event(enum xv_event_type type)
{
	double until = xt_now() + 5;
	struct xv_async_event e;
	int err;

	do {
		err = xv_get_async_event(side[1].s.ctx, &e);
	} while (err == -EAGAIN && xt_now() < until);
	if (err) {
		diag("no event, expected %s", xv_event_type_str(type));
		return false;
	}
	xv_ack_async_event(&e);
	if (e.event_type == type && e.element.dct == dct)
		return true;
	diag("event %s, expected %s", xv_event_type_str(e.event_type), xv_event_type_str(type));
	return false;
}

static bool no_event(void)
{
	struct xv_async_event e;
	double until = xt_now() + 0.2;

	while (xt_now() < until) {
		if (xv_get_async_event(side[1].s.ctx, &e))
			continue;
		diag("event %s", xv_event_type_str(e.event_type));
		xv_ack_async_event(&e);
		return false;
	}
	return true;
}

/* ---- An error and what follows --------------------------------------------------- */

/* The request and the one behind it fail; then the initiator works again after RESET. */
static void expect_failure(const char *what, enum xv_wc_status status)
{
	struct xv_sge sge = dc_sge(&side[0], 0, BYTES);
	struct xv_qp_attr a;
	bool good;

	xv_wr_write_dc(dci, 2, XV_SEND_SIGNALED, &sge, (uintptr_t)side[1].buf, side[1].mr->rkey,
		       &to);
	xv_commit_send(dci);
	good = rig_expect(side[0].send_cq, 1, status) &&
	       rig_expect(side[0].send_cq, 2, XV_WC_WR_FLUSH_ERR);
	ok(good, "%s: %s, the next request is flushed", what, xv_wc_status_str(status));
	ok(!xv_query_qp(dci, &a, XV_QP_STATE, NULL) && a.qp_state == XV_QPS_ERR,
	   "%s: the initiator is in state ERR", what);
	a = (struct xv_qp_attr) { .qp_state = XV_QPS_RESET };
	need(!xv_modify_qp(dci, &a, XV_QP_STATE));
	need(!xt_dci_start(dci, &side[0].s, &quick));
	rig_fill(side[0].buf, BYTES, 9);
	memset(side[1].buf, 0, BYTES);
	xv_wr_write_dc(dci, 3, XV_SEND_SIGNALED, &sge, (uintptr_t)side[1].buf, side[1].mr->rkey,
		       &to);
	xv_commit_send(dci);
	ok(rig_expect(side[0].send_cq, 3, XV_WC_SUCCESS) && rig_check(side[1].buf, BYTES, 9),
	   "%s: after RESET it sends again, to the same target", what);
}

static void write_to(const struct xv_dc *where, uint32_t rkey, size_t offset, uint32_t lkey)
{
	struct xv_sge sge = dc_sge(&side[0], 0, BYTES);

	sge.lkey = lkey;
	if (xv_wr_write_dc(dci, 1, XV_SEND_SIGNALED, &sge, (uintptr_t)side[1].buf + offset, rkey,
			   where))
		bail_out("queue full");
	xv_commit_send(dci);
}

static void send_to(const struct xv_dc *where, uint32_t length)
{
	struct xv_sge sge = dc_sge(&side[0], 0, length);

	if (xv_wr_send_dc(dci, 1, XV_SEND_SIGNALED, &sge, where))
		bail_out("queue full");
	xv_commit_send(dci);
}

/* ---- Keys ------------------------------------------------------------------------ */

static struct xv_dct_attr state_of_target(void)
{
	struct xv_dct_attr a;

	need(!xv_query_dct(dct, &a));
	return a;
}

static void test_key(void)
{
	struct xv_dc wrong = to;
	struct xv_dct_attr a;
	uint32_t before;

	wrong.dct_access_key ^= 1ull << 63;
	write_to(&wrong, side[1].mr->rkey, 0, side[0].mr->lkey);
	expect_failure("wrong key, not armed", XV_WC_RETRY_EXC_ERR);
	a = state_of_target();
	before = a.key_violations;
	ok(before && a.arm_state == XV_DCT_NOT_ARMED && a.state == XV_DCT_STATE_ACTIVE,
	   "wrong key: %u violations are counted", before);
	ok(no_event(), "not armed: no event");

	ok(!xv_arm_dct(dct) && state_of_target().arm_state == XV_DCT_ARMED, "armed");
	ok(no_event(), "armed: no event for the past");
	write_to(&wrong, side[1].mr->rkey, 0, side[0].mr->lkey);
	expect_failure("wrong key, armed", XV_WC_RETRY_EXC_ERR);
	ok(event(XV_EVENT_DCT_KEY_VIOLATION), "armed: the event");
	a = state_of_target();
	ok(a.arm_state == XV_DCT_FIRED && a.key_violations > before,
	   "the target has fired, %u violations", a.key_violations);
	write_to(&wrong, side[1].mr->rkey, 0, side[0].mr->lkey);
	expect_failure("wrong key, fired", XV_WC_RETRY_EXC_ERR);
	ok(no_event(), "fired: no second event");
	ok(!xv_arm_dct(dct) && !xv_arm_dct(dct), "armed again, twice");
	write_to(&wrong, side[1].mr->rkey, 0, side[0].mr->lkey);
	expect_failure("wrong key, armed again", XV_WC_RETRY_EXC_ERR);
	ok(event(XV_EVENT_DCT_KEY_VIOLATION) && no_event(), "armed again: one event");
}

static void test_no_target(void)
{
	struct xv_dct *gone = dc_target(&side[1], DC_KEY, DC_ACCESS);
	struct xv_dc there = dc_to(0, 1, gone, DC_KEY);
	struct xv_qp *qp = dc_initiator(&side[1], 1, &quick);

	need(!xv_destroy_dct(gone));
	write_to(&there, side[1].mr->rkey, 0, side[0].mr->lkey);
	expect_failure("destroyed target", XV_WC_RETRY_EXC_ERR);
	there.dct_number = qp->qp_num;
	write_to(&there, side[1].mr->rkey, 0, side[0].mr->lkey);
	expect_failure("number of a queue pair", XV_WC_RETRY_EXC_ERR);
	need(!xv_destroy_qp(qp));
	ok(no_event(), "no target: no event");
}

/* ---- Access ---------------------------------------------------------------------- */

static void atomic_to(const struct xv_dc *where, size_t offset)
{
	struct xv_sge word = dc_sge(&side[0], 0, 8);

	if (xv_wr_atomic_fa_dc(dci, 1, XV_SEND_SIGNALED, &word, (uintptr_t)side[1].buf + offset,
			       side[1].mr->rkey, 1, where))
		bail_out("queue full");
	xv_commit_send(dci);
}

static void test_access(void)
{
	struct xv_dct *full = dct, *none = dc_target(&side[1], DC_KEY, 0);
	struct xv_dc there = dc_to(0, 1, none, DC_KEY);

	dct = none;
	write_to(&there, side[1].mr->rkey, 0, side[0].mr->lkey);
	ok(event(XV_EVENT_DCT_ACCESS_ERR), "write without right: access error");
	dct = full;
	expect_failure("write without right", XV_WC_REM_INV_REQ_ERR);
	dct = none;
	atomic_to(&there, 0);
	ok(event(XV_EVENT_DCT_ACCESS_ERR), "atomic without right: access error");
	dct = full;
	expect_failure("atomic without right", XV_WC_REM_INV_REQ_ERR);
	need(!xv_destroy_dct(none));

	atomic_to(&to, 4);
	ok(event(XV_EVENT_DCT_REQ_ERR), "unaligned atomic: request error");
	expect_failure("unaligned atomic", XV_WC_REM_INV_REQ_ERR);
	write_to(&to, side[1].mr->rkey + 0x100000, 0, side[0].mr->lkey);
	ok(event(XV_EVENT_DCT_ACCESS_ERR), "unknown remote key: access error");
	expect_failure("unknown remote key", XV_WC_REM_ACCESS_ERR);
	write_to(&to, side[1].mr->rkey, WINDOW, side[0].mr->lkey);
	ok(event(XV_EVENT_DCT_ACCESS_ERR), "behind the region: access error");
	expect_failure("behind the region", XV_WC_REM_ACCESS_ERR);
	write_to(&to, side[1].mr->rkey, 0, side[0].mr->lkey + 0x100000);
	expect_failure("unknown local key", XV_WC_LOC_PROT_ERR);
	ok(no_event(), "unknown local key: no event");
}

/* Remote keys and keys of receives are those of the protection domain of the target. */
static void test_domains(void)
{
	struct xv_pd *pd = xv_alloc_pd(side[1].s.ctx), *own = side[1].s.pd;
	struct xv_dct *full = dct, *other;
	struct xv_ah *ah = side[0].to[1];
	struct xv_pd *ah_pd = ah->pd;
	struct xv_sge sge = dc_sge(&side[0], 0, BYTES);
	struct xv_dc there;
	struct xv_wc wc;

	need(pd);
	side[1].s.pd = pd;
	other = dc_target(&side[1], DC_KEY, DC_ACCESS);
	side[1].s.pd = own;
	there = dc_to(0, 1, other, DC_KEY);
	dct = other;
	write_to(&there, side[1].mr->rkey, 0, side[0].mr->lkey);
	ok(event(XV_EVENT_DCT_ACCESS_ERR), "remote key of another domain: access error");
	dct = full;
	expect_failure("remote key of another domain", XV_WC_REM_ACCESS_ERR);
	dc_recv(&side[1], 0, BYTES);
	send_to(&there, BYTES);
	ok(rig_poll(side[1].recv_cq, 1, &wc) == 1 && wc.status == XV_WC_LOC_PROT_ERR,
	   "receive with a key of another domain: %s", xv_wc_status_str(wc.status));
	expect_failure("receive with a key of another domain", XV_WC_REM_OP_ERR);
	need(!xv_destroy_dct(other));
	need(!xv_dealloc_pd(pd));
	ah->pd = pd;
	ok(xv_wr_send_dc(dci, 1, 0, &sge, &to) == -XV_EINVAL,
	   "address handle of another domain: not posted");
	ah->pd = ah_pd;
}

/* ---- Receives -------------------------------------------------------------------- */

static void test_receives(void)
{
	struct xv_wc wc;

	send_to(&to, BYTES);
	expect_failure("no receive is posted", XV_WC_RNR_RETRY_EXC_ERR);
	ok(no_event(), "no receive is posted: no event");
	dc_recv(&side[1], 0, BYTES - 1);
	send_to(&to, BYTES);
	ok(rig_poll(side[1].recv_cq, 1, &wc) == 1 && wc.status == XV_WC_LOC_LEN_ERR &&
	   wc.qp_num == dct->dct_num, "receive too short: %s at the target",
	   xv_wc_status_str(wc.status));
	expect_failure("receive too short", XV_WC_REM_INV_REQ_ERR);
	dc_recv(&side[1], 0, BYTES);
	send_to(&to, BYTES);
	ok(rig_expect(side[0].send_cq, 1, XV_WC_SUCCESS) &&
	   rig_poll(side[1].recv_cq, 1, &wc) == 1 && !wc.status && wc.byte_len == BYTES,
	   "after the errors the target receives");
}

/* If the initiator retries, a receive that is posted later completes the message. */
static void test_late_receive(void)
{
	static const struct xt_rc_opts patient = { .timeout = 14, .retry_cnt = 7 };
	struct xv_qp *qp = dc_initiator(&side[0], 4, &patient);
	struct xv_sge sge = dc_sge(&side[0], 0, BYTES);
	struct xv_wc wc;
	double until;

	rig_fill(side[0].buf, BYTES, 31);
	xv_wr_send_dc(qp, 1, XV_SEND_SIGNALED, &sge, &to);
	xv_commit_send(qp);
	for (until = xt_now() + 0.05; xt_now() < until;)
		;
	ok(!xv_poll_cq(side[0].send_cq, 1, &wc), "a message waits for a receive");
	dc_recv(&side[1], 0, BYTES);
	ok(rig_expect(side[0].send_cq, 1, XV_WC_SUCCESS) &&
	   rig_poll(side[1].recv_cq, 1, &wc) == 1 && !wc.status &&
	   rig_check(side[1].buf, BYTES, 31), "it arrives when there is one");
	need(!xv_destroy_qp(qp));
}

/* The initiator goes to ERR after the first byte of a long message; the status at the target */
static enum xv_wc_status abort_message(struct xv_mr *from, struct xv_mr *into)
{
	struct xv_sge sge = { (uintptr_t)from->addr, LONG, from->lkey };
	struct xv_sge room = { (uintptr_t)into->addr, LONG, into->lkey };
	struct xv_recv_wr recv = { .wr_id = 5, .sg_list = &room, .num_sge = 1 }, *bad;
	struct xv_qp_attr a = { .qp_state = XV_QPS_ERR };
	volatile uint8_t *first = into->addr;
	struct xv_wc wc = { .status = XV_WC_FATAL_ERR }, sent;
	double until = xt_now() + 5;

	*first = 0;
	need(!xv_post_srq_recv(side[1].srq, &recv, &bad));
	xv_wr_send_dc(dci, 1, XV_SEND_SIGNALED, &sge, &to);
	xv_commit_send(dci);
	while (!*first && xt_now() < until)
		;
	need(!xv_modify_qp(dci, &a, XV_QP_STATE));
	if (rig_poll(side[1].recv_cq, 1, &wc) != 1 || wc.wr_id != 5 ||
	    rig_poll(side[0].send_cq, 1, &sent) != 1 ||
	    sent.status != (wc.status ? XV_WC_WR_FLUSH_ERR : XV_WC_SUCCESS))
		return XV_WC_FATAL_ERR;
	a.qp_state = XV_QPS_RESET;
	need(!xv_modify_qp(dci, &a, XV_QP_STATE));
	need(!xt_dci_start(dci, &side[0].s, &quick));
	return wc.status;
}

static void test_abort(void)
{
	struct xv_mr *from = xt_mr_alloc(&side[0].s, LONG, 0);
	struct xv_mr *into = xt_mr_alloc(&side[1].s, LONG, XV_ACCESS_LOCAL_WRITE);
	enum xv_wc_status status = XV_WC_SUCCESS;
	struct xv_wc wc;
	int i;

	need(from && into);
	memset(from->addr, 0x5a, LONG);
	/* The message can be complete before the state changes. */
	for (i = 0; i < ATTEMPTS && !status; i++)
		status = abort_message(from, into);
	ok(status == XV_WC_REM_ABORT_ERR, "the initiator fails in a message: %s at the target",
	   xv_wc_status_str(status));
	ok(no_event(), "the initiator fails in a message: no event");
	dc_recv(&side[1], 0, BYTES);
	send_to(&to, BYTES);
	ok(rig_expect(side[0].send_cq, 1, XV_WC_SUCCESS) &&
	   rig_poll(side[1].recv_cq, 1, &wc) == 1 && !wc.status && wc.byte_len == BYTES,
	   "the next message arrives");
	xt_mr_free(from);
	xt_mr_free(into);
}

/* Unread events do not keep a target; acknowledged ones are counted. */
static void test_unread_event(void)
{
	struct xv_dct *victim = dc_target(&side[1], DC_KEY, 0);
	struct xv_dc there = dc_to(0, 1, victim, DC_KEY + 1);

	need(!xv_arm_dct(victim));
	write_to(&there, side[1].mr->rkey, 0, side[0].mr->lkey);
	expect_failure("event that nobody reads", XV_WC_RETRY_EXC_ERR);
	ok(!xv_destroy_dct(victim), "destroy a target with an unread event");
	ok(no_event(), "its event is dropped");
}

static struct xv_dct *doomed;
static bool destroyed;

static void *destroy_doomed(void *arg)
{
	need(!xv_destroy_dct(doomed));
	__atomic_store_n(&destroyed, true, __ATOMIC_RELEASE);
	return arg;
}

static bool is_destroyed(void)
{
	return __atomic_load_n(&destroyed, __ATOMIC_ACQUIRE);
}

static bool gets_event(struct xv_async_event *e)
{
	double until = xt_now() + 5;
	int err;

	do
		err = xv_get_async_event(side[1].s.ctx, e);
	while (err == -EAGAIN && xt_now() < until);
	return !err;
}

/* The library waits until an event that was read is acknowledged. */
static void test_unacknowledged_event(void)
{
	struct xv_async_event e = { 0 };
	struct xv_dc there;
	double until;
	pthread_t thread;

	doomed = dc_target(&side[1], DC_KEY, 0);
	there = dc_to(0, 1, doomed, DC_KEY);
	write_to(&there, side[1].mr->rkey, 0, side[0].mr->lkey);
	expect_failure("event that is read", XV_WC_REM_INV_REQ_ERR);
	if (!ok(gets_event(&e) && e.event_type == XV_EVENT_DCT_ACCESS_ERR &&
		e.element.dct == doomed, "the event is read, and not acknowledged"))
		bail_out("no event");
	if (pthread_create(&thread, NULL, destroy_doomed, NULL))
		bail_out("thread");
	for (until = xt_now() + 0.3; xt_now() < until && !is_destroyed();)
		usleep(1000);
	ok(!is_destroyed(), "destroying the target waits");
	xv_ack_async_event(&e);
	for (until = xt_now() + 5; xt_now() < until && !is_destroyed();)
		usleep(1000);
	if (!ok(is_destroyed(), "the acknowledgement ends it"))
		bail_out("the thread is left");
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	rig_devices(argc, argv);
	dc_open(WINDOW);
	if (fcntl(side[1].s.ctx->fd, F_SETFL, O_NONBLOCK))
		bail_out("fcntl");
	dci = dc_initiator(&side[0], 8, &quick);
	dct = dc_target(&side[1], DC_KEY, DC_ACCESS);
	to = dc_to(0, 1, dct, DC_KEY);
	test_key();
	test_no_target();
	test_access();
	test_domains();
	test_receives();
	test_late_receive();
	test_abort();
	test_unread_event();
	test_unacknowledged_event();
	need(!xv_destroy_qp(dci) && !xv_destroy_dct(dct));
	dc_close();
	return tap_done();
}
