/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The thread that reads a pipe into slots */
#ifndef XV_RSH_READER_H
#define XV_RSH_READER_H

#include "flow.h"
#include "waker.h"

struct reader {
	struct flow *flow;
	int fd;				/* it closes it at the end */
	struct waker self;
	struct waker *carrier;		/* of the thread that sends */
	struct waker *session;
	int error;			/* errno, valid when flow->ended is set */
};

void *reader_run(void *reader);

#endif
