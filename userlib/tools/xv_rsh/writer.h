/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The thread that writes slots to a pipe.  At the end the peer tells how much it has sent.  The
 * thread closes the pipe only if it has received the same.
 */
#ifndef XV_RSH_WRITER_H
#define XV_RSH_WRITER_H

#include "flow.h"
#include "waker.h"

struct writer {
	struct flow *flow;
	int fd;
	struct waker self;
	struct waker *carrier;		/* of the thread that receives */
	struct waker *session;
	struct flow_total peer;		/* what it has sent; valid when have_peer is set */
	uint32_t have_peer;
	uint32_t done;			/* it writes no more */
	const char *error;		/* null, or what was wrong; valid when done is set */
};

void *writer_run(void *writer);

#endif
