/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The thread that posts and polls.  A filter allows it the calls that sleep on its descriptors
 * and wake the others; any other system call ends the process.
 */
#ifndef XV_RSH_PUMP_H
#define XV_RSH_PUMP_H

#include "flow.h"
#include "waker.h"
#include "wire.h"

struct pump {
	struct flow *flow;
	struct wire *wire;
	struct waker self;
	struct waker *reader;
	struct waker *writer;
	struct waker *session;
	uint64_t spin_ticks;		/* polls so long before it sleeps */
	uint64_t sleeps;
	uint32_t stop;
	uint32_t stopped;
	const char *error;		/* null, or why it stopped */
	struct xt_sealed *thread;
};

/* Posts and polls once; returns whether there was work.  After an error, pump->error is set. */
bool pump_step(struct pump *p);

void pump_start(struct pump *p);
void pump_stop(struct pump *p);

#endif
