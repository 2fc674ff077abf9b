/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_KTIME_H
#define SHIM_KTIME_H

#include <time.h>
#include <linux/types.h>

#define NSEC_PER_USEC	1000ull
#define NSEC_PER_MSEC	1000000ull
#define NSEC_PER_SEC	1000000000ull

/*
 * Tests have a time of their own, so that the speed of the machine changes nothing: each reading
 * of the clock adds shim_step.  A test can set the time: shim_time.  Without both, as for the
 * benchmark and the fuzzers, it is the time of the machine.
 */
extern u64 shim_time, shim_step, shim_now;

static inline u64 ktime_get_ns(void)
{
	struct timespec t;

	if (shim_time)
		return shim_now = shim_time;
	if (shim_step)
		return shim_now += shim_step;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

#endif
