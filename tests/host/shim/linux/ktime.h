/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_KTIME_H
#define SHIM_KTIME_H

#include <time.h>
#include <linux/types.h>

#define NSEC_PER_USEC	1000ull
#define NSEC_PER_MSEC	1000000ull
#define NSEC_PER_SEC	1000000000ull

/* The time if a test has set one, or 0.  Then the test does not depend on the machine's speed. */
extern u64 shim_time;

static inline u64 ktime_get_ns(void)
{
	struct timespec t;

	if (shim_time)
		return shim_time;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

#endif
