// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
#include "session.h"

enum { PIPE_BYTES = 1 << 20 };

void session_fail(struct session *s, const char *fmt, ...)
{
	va_list ap;

	if (*s->failure)
		return;
	va_start(ap, fmt);
	vsnprintf(s->failure, sizeof(s->failure), fmt, ap);
	va_end(ap);
}

static void open_waker(struct waker *w)
{
	if (!waker_open(w))
		xt_die(XT_FAILED, "eventfd: %s", strerror(errno));
}

void session_init(struct session *s, const struct role *role, int in, int out)
{
	*s = (struct session) {
		.role = role,
		.signals = -1,
		.extra = -1,
	};
	channel_open(&s->channel, in, out);
	open_waker(&s->self);
	open_waker(&s->pump.self);
	open_waker(&s->reader.self);
	open_waker(&s->writer.self);
	s->pump.flow = s->reader.flow = s->writer.flow = &s->flow;
	s->pump.wire = &s->wire;
	s->pump.reader = &s->reader.self;
	s->pump.writer = &s->writer.self;
	s->pump.session = s->reader.session = s->writer.session = &s->self;
}

static void start_thread(void *(*fn)(void *), void *arg)
{
	pthread_t id;
	int err = pthread_create(&id, NULL, fn, arg);

	if (err)
		xt_die(XT_FAILED, "cannot start a thread: %s", strerror(err));
	pthread_detach(id);
}

void session_start(struct session *s, int in, int out)
{
	fcntl(in, F_SETPIPE_SZ, PIPE_BYTES);
	fcntl(out, F_SETPIPE_SZ, PIPE_BYTES);
	s->reader.carrier = s->writer.carrier = s->rdma ? &s->pump.self : &s->self;
	s->reader.fd = in;
	s->writer.fd = out;
	s->heard = xt_now();
	s->life = s->heard + LIFE_S;
	if (s->rdma)
		pump_start(&s->pump);
	start_thread(reader_run, &s->reader);
	start_thread(writer_run, &s->writer);
}
