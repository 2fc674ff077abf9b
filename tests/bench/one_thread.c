// SPDX-License-Identifier: GPL-2.0
/*
 * usage: one_thread DEVICE [PEER-DEVICE]
 *
 * Latency of an RDMA write of 8 bytes with both ends in one thread, so that the software
 * adapter can use the other CPU.  Plain libibverbs.
 *
 * Prints the median and the 99th percentile of half a round trip, in microseconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include "tool.h"
#include "verbs.h"

enum { ROUNDS = 5000 };

void die(const char *what)
{
	fprintf(stderr, "one_thread: %s\n", what);
	exit(1);
}

/* Writes data that ends with @mark, and waits until it has arrived. */
static void write_once(int side, uint8_t mark)
{
	int n;

	ibv_post.out(side)[LEN - 1] = mark;
	if (ibv_post.post(side, 1))
		die("post failed");
	while (ibv_post.in(!side)[LEN - 1] != mark)
		;
	while (!(n = ibv_post.poll(side, 1)))
		;
	if (n < 0)
		die("a write failed");
}

static int shorter(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static double us[ROUNDS];
	double start;
	int i;

	if (argc < 2)
		die("which device?");
	ibv_post.open(argv[1], argv[argc > 2 ? 2 : 1]);
	for (i = 0; i < ROUNDS; i++) {
		start = xt_now();
		write_once(0, (uint8_t)(i + 1));
		write_once(1, (uint8_t)(i + 1));
		us[i] = 1e6 * (xt_now() - start) / 2;
	}
	ibv_post.close();
	qsort(us, ROUNDS, sizeof(*us), shorter);
	printf("%.2f %.2f\n", us[ROUNDS / 2], us[ROUNDS * 99 / 100]);
	return 0;
}
