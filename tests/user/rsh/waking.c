// SPDX-License-Identifier: GPL-2.0
/*
 * Two threads wake each other in turn, each at about the time when the other one begins to sleep.
 * No wake-up may be lost, in whatever order a CPU executes loads and stores.
 */
#include "hooks.h"
#include "play.h"
#include "waker.h"

enum { TURNS = 60 };

static struct waker wakers[2];
static uint32_t turn;

static bool is_even(const void *arg)
{
	(void)arg;
	return __atomic_load_n(&turn, __ATOMIC_ACQUIRE) % 2 == 0;
}

static bool is_odd(const void *arg)
{
	return !is_even(arg);
}

static void take_turns(uint32_t self)
{
	uint32_t i, n;

	for (i = 0; i < TURNS; i++) {
		waker_await(&wakers[self], self ? is_odd : is_even, NULL);
		/* As long as the other one naps before it sleeps */
		for (n = 0; n < 200; n++)
			sim_usleep(100);
		__atomic_store_n(&turn, turn + 1, __ATOMIC_RELEASE);
		waker_wake(&wakers[!self]);
	}
}

static void second(void *arg)
{
	(void)arg;
	take_turns(1);
	os_exit(0);
}

static void first(void *arg)
{
	(void)arg;
	waker_open(&wakers[0]);
	waker_open(&wakers[1]);
	sched_start(play.near, "second", second, NULL);
	take_turns(0);
}

void waking_start(void)
{
	play.shell = os_process("shell", NULL);
	play.near = os_process("waking", play.shell);
	turn = 0;
	sched_start(play.near, "first", first, NULL);
}
