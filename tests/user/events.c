// SPDX-License-Identifier: GPL-2.0
/*
 * Completion channels: no wake-up is lost, solicited arming, event counts, and
 * destroying waits for acknowledgement.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>
#include "rig.h"

enum { ROUNDS = 3000, LEN = 16 };

static struct rig r;
static struct xv_comp_channel *channel;
static struct xv_cq *ecq;	/* receive CQ with a channel */

static void open_rig(void)
{
	struct rig_opts opts = { .size = 65536, .unconnected = true };
	struct xv_qp_init_attr attr = { .qp_type = XV_QPT_RC,
		.cap = { .max_send_wr = 64, .max_recv_wr = 64,
			 .max_send_sge = 1, .max_recv_sge = 1 } };
	struct xv_cq_init_attr cq_attr = { .cqe = 256 };

	rig_open(&r, &opts);
	channel = xv_create_comp_channel(r.side[1].ctx);
	cq_attr.channel = channel;
	ecq = channel ? xv_create_cq(r.side[1].ctx, &cq_attr) : NULL;
	if (!ecq || xv_destroy_qp(r.qp[1]))
		bail_out("%s", xv_last_error());
	ok(ecq->channel == channel && ecq->context == r.side[1].ctx && !r.cq[1]->channel,
	   "a CQ knows its channel and its context");
	attr.send_cq = attr.recv_cq = ecq;
	r.qp[1] = xv_create_qp(r.side[1].pd, &attr);
	if (!r.qp[1] || xt_connect_pair(r.qp[0], &r.side[0], r.qp[1], &r.side[1], NULL))
		bail_out("%s", xv_last_error());
}

static void post_recvs(int n)
{
	struct xv_sge to = rig_sge(&r, 1, 0, LEN);

	while (n--)
		xv_wr_recv(r.qp[1], 0, &to);
	xv_commit_recv(r.qp[1]);
}

static void post_send(unsigned int flags)
{
	struct xv_sge from = rig_sge(&r, 0, 0, LEN);

	if (xv_wr_send(r.qp[0], 0, flags | XV_SEND_SIGNALED, &from))
		bail_out("send queue full");
	xv_commit_send(r.qp[0]);
}

static int readable(int ms)
{
	struct pollfd p = { .fd = channel->fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1 && p.revents & POLLIN;
}

static void take_event(void)
{
	struct xv_cq *cq;
	void *context;

	if (xv_get_cq_event(channel, &cq, &context))
		bail_out("%s", xv_last_error());
	if (cq != ecq)
		bail_out("event of another CQ");
	xv_ack_cq_events(cq, 1);
}

static void test_basics(void)
{
	struct xv_wc wc[4];

	ok(!readable(0), "no event before the first message");
	post_recvs(8);
	post_send(0);
	rig_expect(r.cq[0], 0, XV_WC_SUCCESS);
	ok(!readable(50), "CQ not armed: no event");
	xv_poll_cq(ecq, 4, wc);
	xv_req_notify(ecq, 0);
	post_send(0);
	ok(readable(5000), "CQ armed: one event");
	take_event();
	post_send(0);
	ok(!readable(50), "CQ armed once: no second event");
	rig_poll(r.cq[0], 2, wc);
	while (xv_poll_cq(ecq, 4, wc))
		;
	xv_req_notify(ecq, 1);
	post_send(0);
	ok(!readable(50), "armed for solicited: no event for an ordinary send");
	post_send(XV_SEND_SOLICITED);
	ok(readable(5000), "armed for solicited: event for a solicited send");
	take_event();
	rig_poll(r.cq[0], 2, wc);
	while (xv_poll_cq(ecq, 4, wc))
		;
}

static void test_nonblock(void)
{
	int flags = fcntl(channel->fd, F_GETFL);
	struct xv_cq *cq;
	void *context;

	fcntl(channel->fd, F_SETFL, flags | O_NONBLOCK);
	ok(xv_get_cq_event(channel, &cq, &context) == -EAGAIN,
	   "O_NONBLOCK without an event: EAGAIN");
	fcntl(channel->fd, F_SETFL, flags);
}

static volatile int received;
static volatile int stop;

/* The sequence arm, poll again, sleep must not miss a completion. */
static void *sleeper(void *arg)
{
	struct xv_wc wc[16];
	int n;

	(void)arg;
	xv_req_notify(ecq, 0);
	while (!stop) {
		n = xv_poll_cq(ecq, 16, wc);
		if (n) {
			post_recvs(n);
			__atomic_fetch_add(&received, n, __ATOMIC_RELEASE);
			continue;
		}
		take_event();
		xv_req_notify(ecq, 0);
	}
	return NULL;
}

static void test_no_lost_wakeup(void)
{
	double until = xt_now() + 120;
	struct xv_wc wc[16];
	int sent = 0, lost = 0;
	pthread_t id;

	post_recvs(40);
	received = 0;
	if (pthread_create(&id, NULL, sleeper, NULL))
		bail_out("cannot start a thread");
	while (sent < ROUNDS && !lost) {
		int burst = 1 + sent % 3, i;
		double limit;

		for (i = 0; i < burst; i++)
			post_send(0);
		sent += burst;
		rig_poll(r.cq[0], burst, wc);
		if (sent % 7 == 0)
			usleep(200);
		limit = xt_now() + 5;
		while (__atomic_load_n(&received, __ATOMIC_ACQUIRE) < sent && !lost)
			lost = xt_now() > limit || xt_now() > until;
	}
	ok(!lost, "%d messages to a thread that sleeps between them: no wake-up lost", sent);
	stop = 1;
	post_send(0);
	if (!lost)
		pthread_join(id, NULL);
	rig_poll(r.cq[0], 1, wc);
}

static struct xv_cq *unacked;

static void *late_ack(void *arg)
{
	(void)arg;
	usleep(100000);
	xv_ack_cq_events(unacked, 1);
	return NULL;
}

static void test_destroy_waits(void)
{
	struct xv_wc wc[64];
	struct xv_cq *cq;
	void *context;
	double start;
	pthread_t id;

	while (xv_poll_cq(ecq, 64, wc))
		;
	xv_req_notify(ecq, 0);
	post_send(0);
	if (xv_get_cq_event(channel, &cq, &context))
		bail_out("%s", xv_last_error());
	ok(xv_destroy_cq(ecq) == -EBUSY, "destroy a CQ in use by a QP: EBUSY");
	ok(xv_destroy_comp_channel(channel) == -EBUSY, "destroy a channel in use by a CQ: EBUSY");
	if (xv_destroy_qp(r.qp[1]))
		bail_out("%s", xv_last_error());
	unacked = ecq;
	pthread_create(&id, NULL, late_ack, NULL);
	start = xt_now();
	ok(!xv_destroy_cq(ecq) && xt_now() - start > 0.08,
	   "destroying a CQ waits for the acknowledgement");
	pthread_join(id, NULL);
	ok(!xv_destroy_comp_channel(channel), "destroy the channel");
}

int main(int argc, char **argv)
{
	struct xv_qp_init_attr attr = { .qp_type = XV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 } };

	rig_devices(argc, argv);
	open_rig();
	ok(rig_feature(r.side[0].ctx, "completion-channel")->available,
	   "the device has completion events");
	test_basics();
	test_nonblock();
	test_no_lost_wakeup();
	test_destroy_waits();
	attr.send_cq = attr.recv_cq = r.cq[1];
	r.qp[1] = xv_create_qp(r.side[1].pd, &attr);
	if (!r.qp[1])
		bail_out("%s", xv_last_error());
	rig_close(&r);
	return tap_done();
}
