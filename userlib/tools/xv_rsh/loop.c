// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What the main thread does while the command runs.
 */
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "session.h"

/* ---- Messages ------------------------------------------------------------------- */

static bool take_total(struct session *s, const struct message *m)
{
	if (m->length != sizeof(s->writer.peer) || s->writer.have_peer)
		return false;
	memcpy(&s->writer.peer, m->data, sizeof(s->writer.peer));
	flow_store(&s->writer.have_peer, 1);
	waker_wake(&s->writer.self);
	return true;
}

static bool take_message(struct session *s, const struct message *m)
{
	switch (m->type) {
	case MSG_FAIL:
		session_fail(s, "the other end: %.*s", (int)(m->length < 200 ? m->length : 200),
			     (const char *)m->data);
		return true;
	case MSG_LIFE:
		return true;
	case MSG_TOTAL:
		return take_total(s, m);
	case MSG_FLOW:
		return !s->rdma && relay_arrive(s, m);
	default:
		return s->role->message(s, m);
	}
}

static void read_channel(struct session *s)
{
	struct message m;

	channel_read(&s->channel);
	s->heard = xt_now();
	s->paused = false;
	while (!s->over && !*s->failure && channel_next(&s->channel, &m))
		if (!take_message(s, &m))
			session_fail(s, "unexpected message %u of %u bytes", m.type, m.length);
	if (s->channel.bad)
		session_fail(s, "the channel has what is no message");
}

static void read_signals(struct session *s)
{
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		s->role->signal(s, (int)info.ssi_signo);
}

/* ---- The other threads ---------------------------------------------------------- */

static void check_threads(struct session *s)
{
	if (s->rdma && flow_load(&s->pump.stopped))
		session_fail(s, "the RDMA connection failed: %s", s->pump.error);
	if (flow_load(&s->writer.done) && s->writer.error)
		session_fail(s, "%s", s->writer.error);
	if (!s->total_sent && flow_load(&s->flow.ended)) {
		if (s->reader.error)
			session_fail(s, "input: %s", strerror(s->reader.error));
		channel_send(&s->channel, MSG_TOTAL, &s->flow.sent, sizeof(s->flow.sent));
		s->total_sent = true;
	}
	if (!s->rdma)
		relay_send(s);
}

/* ---- Life signs ----------------------------------------------------------------- */

static void check_life(struct session *s)
{
	double now = xt_now();

	if (now >= s->life) {
		/* If older messages still wait in the channel, they are the life sign. */
		if (!channel_pending(&s->channel))
			channel_send(&s->channel, MSG_LIFE, NULL, 0);
		s->life = now + LIFE_S;
	}
	if (!s->paused && now - s->heard > DEAD_S)
		session_fail(s, "no life sign for %d seconds", DEAD_S);
}

static int until_next(const struct session *s)
{
	double next = s->life, left;

	if (!s->paused && s->heard + DEAD_S < next)
		next = s->heard + DEAD_S;
	left = 1000 * (next - xt_now());
	return left > 0 ? (int)left + 1 : 0;
}

static void wait_event(struct session *s)
{
	struct pollfd p[] = {
		{ s->channel.in, POLLIN, 0 },
		{ channel_pending(&s->channel) ? s->channel.out : -1, POLLOUT, 0 },
		{ s->self.fd, POLLIN, 0 },
		{ s->signals, POLLIN, 0 },
		{ s->extra, POLLIN, 0 },
	};

	if (poll(p, ARRAY_SIZE(p), until_next(s)) < 0)
		return;
	waker_drain(&s->self);
	if (p[0].revents)
		read_channel(s);
	if (p[1].revents)
		channel_flush(&s->channel);
	if (p[3].revents)
		read_signals(s);
	if (p[4].revents)
		s->role->extra(s);
}

void session_run(struct session *s)
{
	for (;;) {
		waker_prepare(&s->self);
		check_threads(s);
		s->role->check(s);
		check_life(s);
		if (s->over || *s->failure)
			break;
		if (s->channel.closed)
			session_fail(s, "the connection was lost");
		else
			wait_event(s);
	}
	waker_cancel(&s->self);
	pump_stop(&s->pump);
}
