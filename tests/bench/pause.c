// SPDX-License-Identifier: GPL-2.0
/*
 * usage: pause DEVICE [PEER-DEVICE]
 *
 * Measures the first RDMA write of 8 bytes after both ends did nothing for a while, and what
 * usleep(100) takes after such a pause: after a pause, the kernel does work of its own on the
 * CPU, and the host may have to wake the CPU.  Both ends are in one process, which polls.
 * Plain libibverbs.
 *
 * Prints lines "NAME WRITE USLEEP", medians in microseconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "tool.h"
#include "verbs.h"

enum { MAX_ROUNDS = 100 };

static const struct {
	const char *name;
	unsigned int us, rounds;
} pauses[] = {
	{ "pause_1ms", 1000, MAX_ROUNDS }, { "pause_10ms", 10000, MAX_ROUNDS },
	{ "pause_100ms", 100000, 40 }, { "pause_900ms", 900000, 10 },
};

void die(const char *what)
{
	fprintf(stderr, "pause: %s\n", what);
	exit(1);
}

static void write_once(uint8_t mark)
{
	int n;

	ibv_post.out(0)[LEN - 1] = mark;
	if (ibv_post.post(0, 1))
		die("post failed");
	while (ibv_post.in(1)[LEN - 1] != mark)
		;
	while (!(n = ibv_post.poll(0, 1)))
		;
	if (n < 0)
		die("a write failed");
}

static int shorter(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *us, unsigned int n)
{
	qsort(us, n, sizeof(*us), shorter);
	return us[n / 2];
}

static double time_write(uint8_t mark)
{
	double start = xt_now();

	write_once(mark);
	return 1e6 * (xt_now() - start);
}

static double time_usleep(void)
{
	double start = xt_now();

	usleep(100);
	return 1e6 * (xt_now() - start);
}

int main(int argc, char **argv)
{
	static double us[MAX_ROUNDS], reference[MAX_ROUNDS];
	unsigned int p, i;
	uint8_t mark = 0;

	if (argc < 2)
		die("which device?");
	ibv_post.open(argv[1], argv[argc > 2 ? 2 : 1]);
	for (p = 0; p < sizeof(pauses) / sizeof(pauses[0]); p++) {
		for (i = 0; i < pauses[p].rounds; i++) {
			usleep(pauses[p].us);
			reference[i] = time_usleep();
			usleep(pauses[p].us);
			us[i] = time_write(++mark);
		}
		printf("%s %.1f %.1f\n", pauses[p].name, median(us, i), median(reference, i));
	}
	ibv_post.close();
	return 0;
}
