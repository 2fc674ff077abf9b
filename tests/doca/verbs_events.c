// SPDX-License-Identifier: GPL-2.0
/*
 * DOCA Verbs: completion events and asynchronous events, with epoll.
 */
#include <fcntl.h>
#include <sys/epoll.h>
#include "verbs.h"

static struct doca_verbs_comp_channel *channel;
static struct doca_verbs_cq *cq[2];
static struct doca_verbs_qp *qp[2];
static int ep;

static void watch(int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	if (fcntl(fd, F_SETFL, O_NONBLOCK) || epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e))
		bail_out("epoll_ctl");
}

/* The descriptor that is readable within the time, or -1 */
static int readable(int milliseconds)
{
	struct epoll_event e;

	return epoll_wait(ep, &e, 1, milliseconds) == 1 ? e.data.fd : -1;
}

static void message(uint32_t seed)
{
	fill(0, seed);
	memset(t.buf[1], 0, LEN);
	post_recv(qp[1], 1);
	post_send(qp[0], IBV_WR_SEND, 0, 0);
	completes(cq[0], 100, IBV_WC_SEND);
}

static void completion_events(void)
{
	int fd = doca_verbs_comp_channel_get_handle(channel), i;
	struct doca_verbs_cq *from = NULL;
	void *context = NULL;
	struct ibv_wc wc;

	tap_is(readable(0), -1, "no event at first");
	tap_is(doca_verbs_get_cq_event(channel, &from, &context), DOCA_ERROR_AGAIN, "none to read");
	for (i = 0; i < 3; i++) {
		message((uint32_t)i);
		tap_is(readable(10000), fd, "message %d: the channel is readable", i);
		tap_is(doca_verbs_get_cq_event(channel, &from, &context), DOCA_SUCCESS,
		       "message %d: the event", i);
		ok(from == cq[1] && context == &t, "message %d: its queue and context", i);
		ok(completes(from, 201, IBV_WC_RECV) && same(0, 1), "message %d: the data", i);
		tap_is(doca_verbs_bridge_poll_cq(from, 1, &wc), 0, "message %d: no other", i);
		doca_verbs_ack_cq_events(from, 1);
	}
	tap_is(doca_verbs_comp_channel_destroy(channel), DOCA_ERROR_IN_USE,
	       "a queue uses the channel");
}

/* A message that no receive waits for, in a queue pair that does not retry, is no event; ERR is. */
static void async_events(void)
{
	int fd = doca_verbs_context_get_handle(t.ctx);
	struct doca_verbs_async_event event = { 0 };
	struct ibv_sge bad_key = { (uintptr_t)t.buf[0], 64, t.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 1, .sg_list = &bad_key, .num_sge = 1,
				  .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
				  .wr.rdma = { (uintptr_t)t.buf[2], ~t.mr->rkey } }, *bad;
	struct ibv_wc wc;

	tap_is(doca_verbs_get_async_event(t.ctx, &event), DOCA_ERROR_AGAIN, "no event to read");
	tap_is(doca_verbs_bridge_post_send(qp[0], &wr, &bad), 0, "a write with a wrong key");
	ok(poll_one(cq[0], &wc) && wc.status == IBV_WC_REM_ACCESS_ERR, "it is refused");
	tap_is(readable(10000), fd, "the context is readable");
	tap_is(doca_verbs_get_async_event(t.ctx, &event), DOCA_SUCCESS, "the event");
	tap_is(event.event_type, IBV_EVENT_QP_ACCESS_ERR, "its type");
	ok(event.element.qp == qp[1], "its queue pair is that of the responder");
	doca_verbs_ack_async_event(&event);
	doca_verbs_ack_async_event(NULL);
}

int main(void)
{
	int i;

	setup();
	ep = epoll_create1(0);
	NEED(doca_verbs_comp_channel_create(t.ctx, &channel));
	watch(doca_verbs_comp_channel_get_handle(channel));
	watch(doca_verbs_context_get_handle(t.ctx));
	for (i = 0; i < 2; i++) {
		cq[i] = make_cq(i ? channel : NULL);
		qp[i] = make_qp(qp_attrs(cq[i], DOCA_VERBS_QP_TYPE_RC));
	}
	connect_both(qp[0], qp[1], MASK_RTS);
	completion_events();
	async_events();
	for (i = 0; i < 2; i++) {
		tap_is(doca_verbs_qp_destroy(qp[i]), DOCA_SUCCESS, "QP %d is destroyed", i);
		tap_is(doca_verbs_cq_destroy(cq[i]), DOCA_SUCCESS, "CQ %d is destroyed", i);
	}
	tap_is(doca_verbs_comp_channel_destroy(channel), DOCA_SUCCESS, "the channel is destroyed");
	teardown();
	return tap_done();
}
