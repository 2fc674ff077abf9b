// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <string.h>
#include <unistd.h>
#include "tool.h"
#include "writer.h"

static bool may_write(const void *arg)
{
	const struct writer *w = arg;

	return flow_load(&w->flow->in_ended) || flow_has_data(w->flow);
}

static bool may_end(const void *arg)
{
	const struct writer *w = arg;

	return flow_load(&w->have_peer) || flow_load(&w->flow->broken);
}

/* Without a reader of the pipe it takes the rest of the data and drops it. */
static bool write_slot(struct writer *w)
{
	uint32_t length;
	const uint8_t *data = flow_data(w->flow, &length);

	if (!data) {
		w->error = "data with a wrong sum";
		return false;
	}
	if (!flow_load(&w->flow->broken) && xt_write(w->fd, data, length))
		flow_store(&w->flow->broken, 1);
	flow_consume(w->flow);
	waker_wake(w->carrier);
	return true;
}

/* Returns false after the last slot. */
static bool next_slot(struct writer *w)
{
	waker_await(&w->self, may_write, w);
	return flow_has_data(w->flow);
}

static void end(struct writer *w)
{
	waker_await(&w->self, may_end, w);
	if (!flow_load(&w->flow->broken) &&
	    memcmp(&w->peer, &w->flow->received, sizeof(w->peer)))
		w->error = "the totals of both ends differ";
}

void *writer_run(void *arg)
{
	struct writer *w = arg;

	while (!w->error && next_slot(w))
		write_slot(w);
	if (!w->error)
		end(w);
	if (!w->error)
		close(w->fd);
	flow_store(&w->done, 1);
	waker_wake(w->session);
	return NULL;
}
