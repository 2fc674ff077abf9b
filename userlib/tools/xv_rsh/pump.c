// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <poll.h>
#include <sys/syscall.h>
#include "pump.h"

enum {
	BATCH = 16,
	NICENESS = 10,		/* with few CPUs, the other threads have priority */
	SPIN_US = 500,
};

static void fail(struct pump *p, const char *why)
{
	if (!p->error)
		p->error = why;
}

static void handle(struct pump *p, const struct wire_event *e)
{
	const char *wrong = e->error;

	if (!wrong && e->kind == WIRE_ARRIVED)
		wrong = flow_arrive(p->flow, e->slot, e->bytes);
	else if (!wrong && e->kind == WIRE_SENT_DATA)
		flow_sent_data(p->flow);
	else if (!wrong)
		flow_sent_note(p->flow);
	if (wrong)
		fail(p, wrong);
}

/* Wakes the threads for which something has changed. */
static void wake(struct pump *p, const struct flow *before)
{
	const struct flow *f = p->flow;

	if (f->completed != before->completed || f->refused != before->refused)
		waker_wake(p->reader);
	if (f->arrived != before->arrived || f->in_ended != before->in_ended)
		waker_wake(p->writer);
	if (f->finished != before->finished)
		waker_wake(p->session);
}

static int reap(struct pump *p)
{
	struct wire_event events[BATCH];
	int n = wire_poll(p->wire, BATCH, events), i;
	struct flow before;

	if (!n)
		return 0;
	before = *p->flow;
	for (i = 0; i < n && !p->error; i++)
		handle(p, &events[i]);
	wake(p, &before);
	return n;
}

static int post(struct pump *p)
{
	enum flow_action action;
	struct flow_header note;
	uint32_t slot;
	int n = 0;

	while (flow_repost(p->flow, &slot))
		wire_receive(p->wire, slot);
	while ((action = flow_next(p->flow)) != FLOW_NOTHING) {
		if (action == FLOW_SEND_DATA) {
			wire_send_data(p->wire, flow_stamp_data(p->flow));
		} else {
			flow_stamp_note(p->flow, &note);
			wire_send_note(p->wire, &note);
		}
		n++;
	}
	if (n)
		wire_commit(p->wire);
	return n;
}

bool pump_step(struct pump *p)
{
	int n = reap(p);

	if (p->error)
		return false;
	return post(p) + n;
}

static bool over(const struct pump *p)
{
	return p->error || flow_load(&p->stop);
}

/* A completion that came before the queue was armed raises no event: so it polls once more. */
static void doze(struct pump *p)
{
	wire_arm(p->wire);
	waker_prepare(&p->self);
	if (!pump_step(p) && !over(p)) {
		p->sleeps++;
		waker_sleep(&p->self, wire_fd(p->wire), POLLIN);
		wire_event(p->wire);
	}
	waker_cancel(&p->self);
}

static void run(void *arg)
{
	struct pump *p = arg;
	uint64_t last = xt_ticks();

	while (!over(p)) {
		if (wire_gone(p->wire)) {
			fail(p, "the device was removed");
		} else if (pump_step(p)) {
			last = xt_ticks();
		} else if (xt_ticks() - last > p->spin_ticks) {
			doze(p);
			last = xt_ticks();
		} else {
			xv_cpu_relax();
		}
	}
	flow_store(&p->stopped, 1);
	waker_wake(p->session);
}

void pump_start(struct pump *p)
{
	const struct xt_call allowed[] = {
		{ SYS_ppoll, -1 },
		{ SYS_read, p->self.fd },
		{ SYS_read, wire_fd(p->wire) },
		{ SYS_write, p->reader->fd },
		{ SYS_write, p->writer->fd },
		{ SYS_write, p->session->fd },
	};

	p->spin_ticks = (uint64_t)(SPIN_US * xt_ticks_per_us());
	p->thread = xt_sealed_start(run, p, NICENESS, allowed, ARRAY_SIZE(allowed));
}

void pump_stop(struct pump *p)
{
	if (!p->thread)
		return;
	flow_store(&p->stop, 1);
	waker_wake(&p->self);
	xt_sealed_join(p->thread);
	p->thread = NULL;
}
