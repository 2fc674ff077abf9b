// SPDX-License-Identifier: GPL-2.0
/*
 * Asynchronous events (Manual 6.1): each event arrives once, for the right object,
 * and destroying the object waits until the event is acknowledged.  transports.c
 * tests the event for the SRQ limit, removal.c the one for device removal.
 */
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include "rig.h"

static struct rig r;
static const struct rig_opts opts = { .size = 65536, .depth = 16,
	.rc = { .timeout = 10, .retry_cnt = 2 } };

/* Reads the next event of a side; returns false after a timeout. */
static bool next_event(int side, struct xv_async_event *event, int ms)
{
	struct pollfd p = { .fd = r.side[side].ctx->fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1 && !xv_get_async_event(r.side[side].ctx, event);
}

/* Checks type and object of the next event, and acknowledges it. */
static bool raised(int side, enum xv_event_type type, const void *object)
{
	struct xv_async_event event;

	if (!next_event(side, &event, 5000)) {
		diag("no event, expected: %s", xv_event_type_str(type));
		return false;
	}
	xv_ack_async_event(&event);
	if (event.event_type == type && event.element.qp == object)
		return true;
	diag("%s, expected: %s", xv_event_type_str(event.event_type), xv_event_type_str(type));
	return false;
}

static bool quiet(int side)
{
	struct xv_async_event event;

	if (!next_event(side, &event, 100))
		return true;
	diag("unexpected event: %s", xv_event_type_str(event.event_type));
	xv_ack_async_event(&event);
	return false;
}

static void post_write(uint64_t wr_id, uint32_t rkey)
{
	struct xv_sge sge = rig_sge(&r, 0, 0, 64);

	if (xv_wr_write(r.qp[0], wr_id, XV_SEND_SIGNALED, &sge, rig_addr(&r, 1, 0), rkey))
		bail_out("send queue full");
	xv_commit_send(r.qp[0]);
}

static void modify(struct xv_qp *qp, struct xv_qp_attr *a, enum xv_qp_state state,
		   unsigned int mask)
{
	a->qp_state = state;
	if (xv_modify_qp(qp, a, XV_QP_STATE | mask))
		bail_out("%s", xv_last_error());
}

static void test_established(void)
{
	struct xv_qp *qp = r.qp[1];
	struct xv_qp_attr a;

	if (xv_query_qp(qp, &a, 0, NULL))
		bail_out("%s", xv_last_error());
	modify(qp, &a, XV_QPS_RESET, 0);
	modify(qp, &a, XV_QPS_INIT, XV_QP_PKEY_INDEX | XV_QP_PORT | XV_QP_ACCESS_FLAGS);
	modify(qp, &a, XV_QPS_RTR, XV_QP_AV | XV_QP_PATH_MTU | XV_QP_DEST_QPN | XV_QP_RQ_PSN |
	       XV_QP_MAX_DEST_RD_ATOMIC | XV_QP_MIN_RNR_TIMER);
	ok(quiet(0) && quiet(1), "no event before the first message");
	post_write(1, r.mr[1]->rkey);
	ok(rig_expect(r.cq[0], 1, XV_WC_SUCCESS) && raised(1, XV_EVENT_COMM_EST, qp),
	   "first message to a QP in RTR: communication established");
	post_write(2, r.mr[1]->rkey);
	ok(rig_expect(r.cq[0], 2, XV_WC_SUCCESS) && quiet(1), "second message: no event");
	rig_reconnect(&r, &opts);
}

/* Polls all completions; they must come in order. */
static uint64_t take(uint64_t from, int ms)
{
	double until = xt_now() + ms / 1000.0;
	struct xv_wc wc;

	while (xt_now() < until)
		if (xv_poll_cq(r.cq[0], 1, &wc) && (wc.status || wc.wr_id != from++))
			return ~0ull;
	return from;
}

/* Attributes that are changed in SQD count after RTS. */
static void change_in_sqd(void)
{
	struct xv_qp_attr a = { .timeout = 13, .retry_cnt = 5, .rnr_retry = 0 }, now;
	struct xv_sge from = rig_sge(&r, 0, 0, 64);

	modify(r.qp[0], &a, XV_QPS_SQD, XV_QP_TIMEOUT | XV_QP_RETRY_CNT | XV_QP_RNR_RETRY);
	modify(r.qp[0], &a, XV_QPS_RTS, 0);
	ok(!xv_query_qp(r.qp[0], &now, 0, NULL) && now.qp_state == XV_QPS_RTS &&
	   now.timeout == 13 && now.retry_cnt == 5 && now.rnr_retry == 0,
	   "attributes changed in SQD: the query in RTS has them");
	post_write(9, r.mr[1]->rkey);
	ok(rig_expect(r.cq[0], 9, XV_WC_SUCCESS), "RTS: sends are executed");
	xv_wr_send(r.qp[0], 10, XV_SEND_SIGNALED, &from);
	xv_commit_send(r.qp[0]);
	ok(rig_expect(r.cq[0], 10, XV_WC_RNR_RETRY_EXC_ERR),
	   "attributes changed in SQD: no RNR retries any more");
}

/* Requests that had not started before SQD are executed after RTS. */
static void test_drained(void)
{
	struct xv_qp_attr a = { .en_sqd_async_notify = 1 };
	uint64_t i, done;

	for (i = 0; i < 8; i++)
		post_write(i, r.mr[1]->rkey);
	modify(r.qp[0], &a, XV_QPS_SQD, XV_QP_EN_SQD_ASYNC_NOTIFY);
	ok(raised(0, XV_EVENT_SQ_DRAINED, r.qp[0]), "SQD: event send queue drained");
	ok(!xv_query_qp(r.qp[0], &a, 0, NULL) && a.qp_state == XV_QPS_SQD && !a.sq_draining,
	   "SQD: query says that the queue is drained");
	done = take(0, 20);
	post_write(8, r.mr[1]->rkey);
	ok(done <= 8 && take(done, 50) == done, "SQD: no more requests are executed");
	diag("%llu of 8 requests were executed before SQD", (unsigned long long)done);
	modify(r.qp[0], &a, XV_QPS_RTS, 0);
	for (i = done; i <= 8 && rig_expect(r.cq[0], i, XV_WC_SUCCESS); i++)
		;
	ok(i == 9, "RTS: the other requests are executed in order");
	a.en_sqd_async_notify = 0;
	modify(r.qp[0], &a, XV_QPS_SQD, XV_QP_EN_SQD_ASYNC_NOTIFY);
	ok(quiet(0), "SQD without en_sqd_async_notify: no event");
	change_in_sqd();
	rig_reconnect(&r, &opts);
}

static void test_access(void)
{
	post_write(1, r.mr[1]->rkey ^ 0x5500);
	ok(rig_expect(r.cq[0], 1, XV_WC_REM_ACCESS_ERR) &&
	   raised(1, XV_EVENT_QP_ACCESS_ERR, r.qp[1]),
	   "write with a wrong rkey: event access error at the responder");
	rig_reconnect(&r, &opts);
}

static void test_request(void)
{
	struct xv_sge sge = rig_sge(&r, 0, 0, 8);

	xv_wr_atomic_fa(r.qp[0], 1, XV_SEND_SIGNALED, &sge, rig_addr(&r, 1, 4), r.mr[1]->rkey, 1);
	xv_commit_send(r.qp[0]);
	ok(rig_expect(r.cq[0], 1, XV_WC_REM_INV_REQ_ERR) &&
	   raised(1, XV_EVENT_QP_REQ_ERR, r.qp[1]),
	   "misaligned atomic: event request error at the responder");
	rig_reconnect(&r, &opts);
}

static struct xv_qp *connected(struct xv_cq *cq, struct xv_srq *srq)
{
	struct xv_qp_init_attr attr = { .qp_type = XV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.srq = srq, .cap = { .max_send_wr = 16, .max_send_sge = 1 } };

	if (xv_destroy_qp(r.qp[0]))
		bail_out("%s", xv_last_error());
	r.qp[0] = xv_create_qp(r.side[0].pd, &attr);
	if (!r.qp[0] || xt_connect_pair(r.qp[0], &r.side[0], r.qp[1], &r.side[1], &opts.rc))
		bail_out("%s", xv_last_error());
	return r.qp[0];
}

/* New queue pairs on both sides; the peer of a destroyed QP cannot be used again. */
static void unconnected(void)
{
	static const struct rig_opts fresh = { .depth = 16, .unconnected = true };

	rig_reconnect(&r, &fresh);
}

/* A queue pair that is connected to itself and does nothing */
static struct xv_qp *make_idle(struct xv_cq *cq, struct xv_srq *srq)
{
	struct xv_qp_init_attr init = { .qp_type = XV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.srq = srq, .cap = { .max_send_wr = 1, .max_send_sge = 1 } };
	struct xv_qp *qp = xv_create_qp(r.side[0].pd, &init);
	struct xt_peer self;

	if (qp)
		xt_peer_of(&r.side[0], qp, &self);
	if (!qp || xt_connect(qp, &r.side[0], &self, &opts.rc))
		bail_out("%s", xv_last_error());
	return qp;
}

/* Events of a queue that fails, and of two queue pairs that use it */
struct failures {
	int queue, qp, idle, other;
};

static struct failures count_failures(enum xv_event_type type, const void *queue,
				      const struct xv_qp *qp, const struct xv_qp *idle)
{
	struct failures n = { 0 };
	struct xv_async_event e;

	while (next_event(0, &e, n.queue && n.qp && n.idle ? 200 : 5000)) {
		bool fatal = e.event_type == XV_EVENT_QP_FATAL;

		if (e.event_type == type && e.element.qp == queue)
			n.queue++;
		else if (fatal && e.element.qp == qp)
			n.qp++;
		else if (fatal && e.element.qp == idle)
			n.idle++;
		else
			n.other++;
		diag("%s", xv_event_type_str(e.event_type));
		xv_ack_async_event(&e);
	}
	return n;
}

static bool in_error(struct xv_qp *qp)
{
	struct xv_qp_attr a;

	return !xv_query_qp(qp, &a, 0, NULL) && a.qp_state == XV_QPS_ERR;
}

/* A CQ that is not polled overruns; it fails, and so do the QPs that use it. */
static void test_overrun(void)
{
	struct xv_cq_init_attr attr = { .cqe = 3 };
	struct xv_cq *cq = xv_create_cq(r.side[0].ctx, &attr);
	struct xv_qp *qp, *idle;
	struct failures n;
	uint64_t i;

	if (!cq)
		bail_out("%s", xv_last_error());
	unconnected();
	qp = connected(cq, NULL);
	idle = make_idle(cq, NULL);
	for (i = 0; i < 10; i++)
		post_write(i, r.mr[1]->rkey);
	n = count_failures(XV_EVENT_CQ_ERR, cq, qp, idle);
	ok(n.queue == 1 && !n.other, "CQ overrun: event CQ error");
	ok(n.qp == 1 && in_error(qp), "CQ overrun: event QP fatal error, QP in ERR");
	ok(n.idle == 1 && in_error(idle), "CQ overrun: the same for an idle QP of the CQ");
	for (i = 0; i < 4 && rig_expect(cq, i, XV_WC_SUCCESS); i++)
		;
	ok(i == 4, "CQ overrun: completions in the CQ can be polled");
	ok(!xv_destroy_qp(idle), "CQ overrun: the idle QP can be destroyed");
	rig_reconnect(&r, &opts);
	ok(!xv_destroy_cq(cq), "CQ overrun: QP and CQ can be destroyed");
}

enum { SHARED = 15, LENGTH = 64 };	/* receives in a shared queue, bytes of each */

static void post_shared(struct xv_srq *srq)
{
	unsigned int i;

	xv_lock(&srq->lock);
	for (i = 0; i < SHARED; i++) {
		struct xv_sge sge = rig_sge(&r, 0, (size_t)i * LENGTH, LENGTH);

		if (xv_wr_srq_recv(srq, i, &sge, 1))
			bail_out("shared receive queue full");
	}
	xv_commit_srq(srq);
	xv_unlock(&srq->lock);
}

static void send_shared(int n)
{
	struct xv_sge sge = rig_sge(&r, 1, 0, LENGTH);
	int i;

	for (i = 0; i < n; i++)
		if (xv_wr_send(r.qp[1], (uint64_t)i, XV_SEND_SIGNALED, &sge))
			bail_out("send queue full");
	xv_commit_send(r.qp[1]);
}

/* Polls n completions, or all there are; returns a bit for each receive, ~0 for a second one. */
static uint32_t take_shared(int n)
{
	uint32_t taken = 0;
	struct xv_wc wc;

	while (n ? n-- && rig_poll(r.cq[0], 1, &wc) == 1 : xv_poll_cq(r.cq[0], 1, &wc) == 1) {
		if (wc.wr_id >= SHARED || taken & 1u << wc.wr_id)
			return ~0u;
		if (!wc.status && !rig_check(r.buf[0] + wc.wr_id * LENGTH, LENGTH, 7))
			return ~0u;
		taken |= 1u << wc.wr_id;
	}
	return taken;
}

/* The safe end of a queue pair with a shared receive queue, while its peer sends */
static void test_last_wqe(void)
{
	struct xv_srq_init_attr attr = { .attr = { .max_wr = SHARED, .max_sge = 1 } };
	struct xv_srq *srq = xv_create_srq(r.side[0].pd, &attr);
	struct xv_qp_attr a = { 0 };
	uint32_t taken, rest;
	struct xv_qp *qp;

	if (!srq)
		bail_out("%s", xv_last_error());
	unconnected();
	qp = connected(r.cq[0], srq);
	rig_fill(r.buf[1], LENGTH, 7);
	post_shared(srq);
	send_shared(SHARED / 2);
	modify(qp, &a, XV_QPS_ERR, 0);
	ok(raised(0, XV_EVENT_QP_LAST_WQE_REACHED, qp),
	   "QP with SRQ goes to ERR: event last WQE reached");
	taken = take_shared(0);
	diag("%d of %d receives completed", __builtin_popcount(taken), SHARED / 2);
	usleep(50000);
	ok(taken != ~0u && !take_shared(0), "after the event, no receive completes any more");
	unconnected();
	connected(r.cq[0], srq);
	send_shared(SHARED - __builtin_popcount(taken));
	rest = take_shared(SHARED - __builtin_popcount(taken));
	ok(!(taken & rest) && (taken | rest) == (1u << SHARED) - 1,
	   "the SRQ still has each receive that has not completed");
	rig_reconnect(&r, &opts);
	ok(!xv_destroy_srq(srq), "destroy the SRQ");
}

/*
 * The doorbell record of a shared receive queue announces more entries than the ring
 * has: the queue fails, and so do all queue pairs that use it.
 */
static void test_srq_error(void)
{
	struct xv_srq_init_attr attr = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct xv_srq *srq = xv_create_srq(r.side[0].pd, &attr);
	struct xv_sge from = rig_sge(&r, 1, 0, 64);
	struct xv_qp *qp, *idle;
	struct failures n;
	struct xv_wc wc;

	if (!srq)
		bail_out("%s", xv_last_error());
	unconnected();
	qp = connected(r.cq[0], srq);
	idle = make_idle(r.cq[0], srq);
	*srq->dbrec = xv_be32(0x1000);
	xv_wr_send(r.qp[1], 1, XV_SEND_SIGNALED, &from);
	xv_commit_send(r.qp[1]);
	n = count_failures(XV_EVENT_SRQ_ERR, srq, qp, idle);
	ok(n.queue == 1, "SRQ error: an event of the SRQ");
	ok(n.qp == 1 && n.idle == 1, "SRQ error: QP fatal error of each QP that uses it");
	ok(rig_poll(r.cq[1], 1, &wc) == 1 && wc.status, "SRQ error: the sender fails");
	ok(!xv_destroy_qp(idle), "SRQ error: the idle QP can be destroyed");
	rig_reconnect(&r, &opts);
	ok(!xv_destroy_srq(srq), "SRQ error: the SRQ can be destroyed");
}

static void *late_ack(void *event)
{
	usleep(100000);
	xv_ack_async_event(event);
	return NULL;
}

static void test_destroy_waits(void)
{
	struct xv_async_event event;
	double start;
	pthread_t id;

	post_write(1, r.mr[1]->rkey ^ 0x5500);
	rig_expect(r.cq[0], 1, XV_WC_REM_ACCESS_ERR);
	if (!next_event(1, &event, 5000))
		bail_out("no event");
	pthread_create(&id, NULL, late_ack, &event);
	start = xt_now();
	rig_reconnect(&r, &opts);
	ok(xt_now() - start > 0.08, "destroying a QP waits for the acknowledgement");
	pthread_join(id, NULL);
	post_write(1, r.mr[1]->rkey ^ 0x5500);
	rig_expect(r.cq[0], 1, XV_WC_REM_ACCESS_ERR);
	rig_reconnect(&r, &opts);
	ok(quiet(1), "destroying a QP removes its unread event");
}

/* ---- Ports ------------------------------------------------------------- */

static bool on_port(enum xv_event_type type)
{
	double until = xt_now() + 10;
	struct xv_async_event event;

	while (xt_now() < until) {
		if (!next_event(0, &event, 1000))
			continue;
		diag("port %u: %s", event.element.port_num, xv_event_type_str(event.event_type));
		xv_ack_async_event(&event);
		if (event.event_type == type)
			return event.element.port_num == r.side[0].port;
	}
	return false;
}

static bool command(const char *verb, const char *what, const char *name)
{
	char line[128];

	snprintf(line, sizeof(line), "ip %s dev %s %s", verb, name, what);
	return !system(line);
}

/* Events that a subnet manager causes; xhca raises them on request. */
static void test_managed_port(void)
{
	static const struct {
		const char *name;
		enum xv_event_type type;
	} events[] = {
		{ "lid", XV_EVENT_LID_CHANGE }, { "pkey", XV_EVENT_PKEY_CHANGE },
		{ "client_reregister", XV_EVENT_CLIENT_REREGISTER },
	};
	size_t i, len;
	int fd;

	fd = open("/sys/kernel/debug/xhca/0/port_event", O_WRONLY);
	if (fd < 0) {
		tap_skip("events of a subnet manager",
			 "needs xhca, which raises port events on request");
		return;
	}
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		len = strlen(events[i].name);
		ok(write(fd, events[i].name, len) == (ssize_t)len && on_port(events[i].type),
		   "port event: %s", xv_event_type_str(events[i].type));
	}
	close(fd);
}

static void test_port(void)
{
	struct xv_port_attr *attr = &r.side[0].attr, now;
	char name[IF_NAMESIZE];

	if (attr->link_layer != XV_LINK_LAYER_ETHERNET) {
		test_managed_port();
		return;
	}
	if (!if_indextoname(attr->ifindex, name))
		bail_out("port 1 has no network device");
	ok(command("address add 10.79.1.1/24", "", name) && on_port(XV_EVENT_GID_CHANGE),
	   "IP address added: event GID change");
	ok(command("address delete 10.79.1.1/24", "", name) && on_port(XV_EVENT_GID_CHANGE),
	   "IP address removed: event GID change");
	ok(command("link set", "down", name) && on_port(XV_EVENT_PORT_ERR) &&
	   !xv_query_port(r.side[0].ctx, r.side[0].port, &now) && now.state == XV_PORT_DOWN,
	   "link down: event port error");
	ok(command("link set", "up", name) && on_port(XV_EVENT_PORT_ACTIVE) &&
	   !xv_query_port(r.side[0].ctx, r.side[0].port, &now) && now.state == XV_PORT_ACTIVE,
	   "link up: event port active");
}

int main(int argc, char **argv)
{
	struct xv_async_event event;
	int flags;

	rig_devices(argc, argv);
	rig_open(&r, &opts);
	ok(rig_feature(r.side[0].ctx, "async-events")->available, "the device has events");
	flags = fcntl(r.side[0].ctx->fd, F_GETFL);
	fcntl(r.side[0].ctx->fd, F_SETFL, flags | O_NONBLOCK);
	ok(xv_get_async_event(r.side[0].ctx, &event) == -EAGAIN,
	   "O_NONBLOCK without an event: EAGAIN");
	fcntl(r.side[0].ctx->fd, F_SETFL, flags);
	test_established();
	test_drained();
	test_access();
	test_request();
	test_overrun();
	test_last_wqe();
	test_srq_error();
	test_destroy_waits();
	rig_close(&r);
	rig_open(&r, &opts);
	test_port();
	rig_close(&r);
	return tap_done();
}
