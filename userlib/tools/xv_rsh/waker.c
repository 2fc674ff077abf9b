// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "waker.h"

enum { NAPS = 200, NAP_US = 100 };

bool waker_open(struct waker *w)
{
	w->asleep = 0;
	w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return w->fd >= 0;
}

/* The fence: what the caller has stored is visible before it looks whether the other sleeps. */
void waker_wake(struct waker *w)
{
	const uint64_t one = 1;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&w->asleep, __ATOMIC_RELAXED) &&
	    __atomic_exchange_n(&w->asleep, 0, __ATOMIC_RELAXED) &&
	    write(w->fd, &one, sizeof(one)) < 0)
		return;		/* EAGAIN: it is readable already */
}

void waker_prepare(struct waker *w)
{
	__atomic_store_n(&w->asleep, 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void waker_cancel(struct waker *w)
{
	__atomic_store_n(&w->asleep, 0, __ATOMIC_RELAXED);
}

void waker_drain(struct waker *w)
{
	uint64_t count;

	waker_cancel(w);
	if (read(w->fd, &count, sizeof(count)) < 0)
		return;		/* EAGAIN: nobody woke it */
}

void waker_sleep(struct waker *w, int fd, short events)
{
	struct pollfd p[] = { { w->fd, POLLIN, 0 }, { fd, events, 0 } };

	ppoll(p, 2, NULL, NULL);
	if (p[0].revents)
		waker_drain(w);
	waker_cancel(w);
}

void waker_await(struct waker *w, bool (*ready)(const void *arg), const void *arg)
{
	int i;

	for (i = 0; i < NAPS; i++) {
		if (ready(arg))
			return;
		usleep(NAP_US);
	}
	for (;;) {
		waker_prepare(w);
		if (ready(arg))
			break;
		waker_sleep(w, -1, 0);
	}
	waker_cancel(w);
}
