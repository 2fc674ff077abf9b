// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the frequency of the time stamp counter of this host in kHz.  The VM has the same
 * counter.  It would compare it with an emulated clock while it boots, which goes wrong by up to
 * ten times on a busy host; then all times in the VM are wrong.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

struct moment {
	uint64_t ns, ticks;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Both clocks at once: the reading with the shortest time between two readings of the clock */
static struct moment moment(void)
{
	struct moment m = {};
	uint64_t best = ~0ull, before, after, ticks;
	int i;

	for (i = 0; i < 100; i++) {
		before = now();
		ticks = __rdtsc();
		after = now();
		if (after - before >= best)
			continue;
		best = after - before;
		m = (struct moment) { before, ticks };
	}
	return m;
}

int main(void)
{
	struct moment begin = moment(), end;

	usleep(50000);
	end = moment();
	printf("%.0f\n", (double)(end.ticks - begin.ticks) / (end.ns - begin.ns) * 1e6);
	return 0;
}
