// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <string.h>
#include <unistd.h>
#include "errors.h"
#include "tool.h"

#define load(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define store(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)

static bool has_data(const void *arg)
{
	const struct errors *e = arg;

	return load(&e->put) != e->taken;
}

void *errors_run(void *arg)
{
	struct errors *e = arg;
	uint32_t n, from;

	for (;;) {
		waker_await(&e->self, has_data, e);
		from = e->taken % ERRORS_WINDOW;
		n = load(&e->put) - e->taken;
		if (n > ERRORS_WINDOW - from)
			n = ERRORS_WINDOW - from;
		/* Nobody reads it: what follows is dropped, too. */
		if (xt_write(STDERR_FILENO, e->data + from, n))
			n = load(&e->put) - e->taken;
		store(&e->taken, e->taken + n);
		waker_wake(e->session);
	}
	return NULL;
}

bool errors_put(struct errors *e, const struct message *m)
{
	uint32_t from = e->put % ERRORS_WINDOW, first;

	if (e->ended || m->length > ERRORS_WINDOW - (e->put - load(&e->taken)))
		return false;
	first = m->length < ERRORS_WINDOW - from ? m->length : ERRORS_WINDOW - from;
	memcpy(e->data + from, m->data, first);
	memcpy(e->data, m->data + first, m->length - first);
	e->ended = !m->length;
	store(&e->put, e->put + m->length);
	waker_wake(&e->self);
	return true;
}

void errors_tell(struct errors *e, struct channel *c)
{
	uint32_t taken = load(&e->taken), n = taken - e->told;

	/* While the far end does not read, few of these pile up. */
	if (!n || (n < ERRORS_WINDOW / 4 && channel_pending(c)))
		return;
	channel_send(c, MSG_ERRORS_TAKEN, &n, sizeof(n));
	e->told = taken;
}

bool errors_done(const struct errors *e)
{
	return e->ended && load(&e->taken) == e->put;
}
