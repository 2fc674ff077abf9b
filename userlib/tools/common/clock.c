// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Time.  Threads that measure read the tick counter of the CPU, because
 * clock_gettime() may make a system call.
 */
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "tool.h"

double xt_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

double xt_cpu_us(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

double xt_ticks_per_us(void)
{
	static double rate;
	uint64_t ticks;
	double start;

	if (rate)
		return rate;
	start = xt_now();
	ticks = xt_ticks();
	usleep(50000);
	rate = (double)(xt_ticks() - ticks) / (1e6 * (xt_now() - start));
	return rate;
}
