// SPDX-License-Identifier: GPL-2.0
/*
 * usage: pause DEVICE [PEER-DEVICE]
 *
 * Latency of the first RDMA write of 8 bytes after a pause of both ends, and for comparison the
 * time of usleep(100).  Both ends are in one process, which polls.  Plain libibverbs.
 *
 * Prints lines "NAME MEDIAN MAXIMUM", in microseconds.
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

static void show(const char *name, double *us, unsigned int n)
{
	qsort(us, n, sizeof(*us), shorter);
	printf("%s %.1f %.1f\n", name, us[n / 2], us[n - 1]);
}

int main(int argc, char **argv)
{
	static double us[MAX_ROUNDS];
	unsigned int p, i;
	uint8_t mark = 0;
	double start;

	if (argc < 2)
		die("which device?");
	for (i = 0; i < MAX_ROUNDS; i++) {
		start = xt_now();
		usleep(100);
		us[i] = 1e6 * (xt_now() - start);
	}
	show("usleep_100", us, MAX_ROUNDS);
	ibv_post.open(argv[1], argv[argc > 2 ? 2 : 1]);
	for (p = 0; p < sizeof(pauses) / sizeof(pauses[0]); p++) {
		for (i = 0; i < pauses[p].rounds; i++) {
			usleep(pauses[p].us);
			start = xt_now();
			write_once(++mark);
			us[i] = 1e6 * (xt_now() - start);
		}
		show(pauses[p].name, us, i);
	}
	ibv_post.close();
	return 0;
}
