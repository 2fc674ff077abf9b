/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Standard error of the command, on its way through the channel.  The far end sends at most
 * ERRORS_WINDOW bytes that the near end has not written.  A thread of the near end writes them, so
 * a full pipe does not stop the main thread.
 */
#ifndef XV_RSH_ERRORS_H
#define XV_RSH_ERRORS_H

#include "channel.h"
#include "waker.h"

enum { ERRORS_WINDOW = 64 << 10 };

struct errors {
	uint8_t data[ERRORS_WINDOW];
	uint32_t put;			/* written by the session */
	uint32_t taken;			/* written by the thread */
	uint32_t told;			/* the far end knows of so many */
	bool ended;			/* the far end sends no more */
	struct waker self;
	struct waker *session;
};

void *errors_run(void *errors);

/* Returns false if the far end sends more than it may. */
bool errors_put(struct errors *e, const struct message *m);
void errors_tell(struct errors *e, struct channel *c);

/* All was written. */
bool errors_done(const struct errors *e);

#endif
