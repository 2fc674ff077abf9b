// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <poll.h>
#include <unistd.h>
#include "reader.h"

static bool may_go_on(const void *arg)
{
	const struct reader *r = arg;

	return flow_has_room(r->flow) || flow_load(&r->flow->refused);
}

/* Sleeps until the pipe is readable, or the peer takes no more. */
static void wait_for_input(struct reader *r)
{
	waker_prepare(&r->self);
	if (!flow_load(&r->flow->refused))
		waker_sleep(&r->self, r->fd, POLLIN);
	waker_cancel(&r->self);
}

/* Fills one slot; returns false at the end. */
static bool read_slot(struct reader *r)
{
	uint8_t *data = flow_out(r->flow, r->flow->filled) + sizeof(struct flow_header);
	struct pollfd p = { r->fd, POLLIN, 0 };
	ssize_t n;

	if (!poll(&p, 1, 0)) {
		wait_for_input(r);
		return true;
	}
	n = read(r->fd, data, r->flow->chunk);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n <= 0) {
		r->error = n ? errno : 0;
		return false;
	}
	flow_fill(r->flow, (uint32_t)n);
	waker_wake(r->carrier);
	return true;
}

void *reader_run(void *arg)
{
	struct reader *r = arg;

	do
		waker_await(&r->self, may_go_on, r);
	while (!flow_load(&r->flow->refused) && read_slot(r));
	close(r->fd);
	flow_store(&r->flow->ended, 1);
	waker_wake(r->carrier);
	waker_wake(r->session);
	return NULL;
}
