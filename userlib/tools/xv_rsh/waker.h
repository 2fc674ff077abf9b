/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lets one thread sleep until another one wakes it.  The thread that wakes makes a system call
 * only if the other one sleeps.
 *
 *	for (;;) {
 *		waker_prepare(w);
 *		if (there is work)
 *			break;
 *		waker_sleep(w, fd, events);
 *	}
 *	waker_cancel(w);
 */
#ifndef XV_RSH_WAKER_H
#define XV_RSH_WAKER_H

#include <stdbool.h>
#include <stdint.h>

struct waker {
	int fd;				/* eventfd; readable if it was woken */
	uint32_t asleep;
};

bool waker_open(struct waker *w);
void waker_wake(struct waker *w);

void waker_prepare(struct waker *w);
void waker_cancel(struct waker *w);

/* Sleeps until it is woken or fd (or -1) has one of the events of poll(2). */
void waker_sleep(struct waker *w, int fd, short events);

/* Clears the wake-up; for a caller that polls w->fd itself. */
void waker_drain(struct waker *w);

/*
 * Waits until ready(arg).  It polls with short naps at first: while data flows, the thread that
 * posts and polls need not wake anyone.
 */
void waker_await(struct waker *w, bool (*ready)(const void *arg), const void *arg);

#endif
