// SPDX-License-Identifier: GPL-2.0
/*
 * usage: order DEVICE COMMAND EVENT...
 *
 * Runs each command, which must cause the event that follows it, named as by
 * ibv_event_type_str().  Then it reads the events: they come in the order of the commands.
 */
#include <fcntl.h>
#include <poll.h>
#include "verbs.h"

/*
 * Reads the next event; returns its name.  Changes of GIDs do not count, nor events that this
 * version of libibverbs does not know: newer kernels report the speed of a port.
 */
static const char *next_event(struct ibv_context *ctx)
{
	struct pollfd p = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	do {
		if (poll(&p, 1, 10000) != 1 || ibv_get_async_event(ctx, &event))
			return "none";
		ibv_ack_async_event(&event);
	} while (event.event_type == IBV_EVENT_GID_CHANGE || event.event_type > IBV_EVENT_WQ_FATAL);
	return ibv_event_type_str(event.event_type);
}

int main(int argc, char **argv)
{
	struct ibv_context *tested, *watcher;
	const char *name;
	int i;

	need(argc > 3 && argc % 2 == 0, "usage: order DEVICE COMMAND EVENT...");
	tested = open_device(argv[1]);
	watcher = open_device(argv[1]);
	for (i = 2; i < argc; i += 2) {
		need(!system(argv[i]), argv[i]);
		name = next_event(watcher);
		ok(!strcmp(name, argv[i + 1]), "%s: %s", argv[i], name);
	}
	for (i = 2; i < argc; i += 2) {
		name = next_event(tested);
		ok(!strcmp(name, argv[i + 1]), "event %d: %s", i / 2, name);
	}
	ok(!ibv_close_device(tested) && !ibv_close_device(watcher), "the contexts close");
	return tap_done();
}
