// SPDX-License-Identifier: GPL-2.0
/*
 * usage: libs [DEVICE [PEER-DEVICE]]
 *
 * libxverbs against libibverbs on the same device: rate of signalled 64-byte
 * RDMA writes in batches of 1 and of 32, and ping-pong latency.  The four interfaces are
 * measured in turn, several times; the best value of each is used.
 *
 * Prints lines: bench NAME VALUE UNIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tool.h"
#include "verbs.h"

enum { TURNS = 5 };

static const struct verbs *const all[] = { &ibv_post, &ibv_wr, &xv_list, &xv_build };

void die(const char *what)
{
	fprintf(stderr, "libs: %s\n", what);
	exit(1);
}

/* ns per operation with the queue kept full */
static double rate(const struct verbs *v, int batch, int ops)
{
	int posted = 0, done = 0, n;
	double start = xt_now();

	while (done < ops) {
		while (posted < ops && posted - done + batch <= DEPTH) {
			if (v->post(0, batch))
				die("post failed");
			posted += batch;
		}
		n = v->poll(0, 32);
		if (n < 0)
			die("an operation failed");
		done += n;
	}
	return 1e9 * (xt_now() - start) / ops;
}

static void take(const struct verbs *v, int side)
{
	int n;

	while (!(n = v->poll(side, 1)))
		;
	if (n < 0)
		die("an operation failed");
}

/* ns per half round trip */
static double pingpong(const struct verbs *v, int rounds)
{
	double start = xt_now();
	int i, side;

	for (i = 1; i <= rounds; i++) {
		for (side = 0; side < 2; side++) {
			v->out(side)[LEN - 1] = (uint8_t)i;
			if (v->post(side, 1))
				die("post failed");
			while (v->in(!side)[LEN - 1] != (uint8_t)i)
				;
			take(v, side);
		}
	}
	return 1e9 * (xt_now() - start) / (2 * rounds);
}

static double smaller(double best, double now)
{
	return best && best < now ? best : now;
}

int main(int argc, char **argv)
{
	const char *dev0 = argc > 1 ? argv[1] : "mlx5_0";
	const char *dev1 = argc > 2 ? argv[2] : "mlx5_1";
	double one[4] = { 0 }, many[4] = { 0 }, lat[4] = { 0 };
	size_t i, turn;

	for (turn = 0; turn < TURNS; turn++) {
		for (i = 0; i < ARRAY_SIZE(all); i++) {
			all[i]->open(dev0, dev1);
			one[i] = smaller(one[i], rate(all[i], 1, 20000));
			many[i] = smaller(many[i], rate(all[i], 32, 64000));
			lat[i] = smaller(lat[i], pingpong(all[i], 2000));
			all[i]->close();
		}
	}
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		printf("bench %s.write64.batch1 %.1f ns/op\n", all[i]->name, one[i]);
		printf("bench %s.write64.batch32 %.1f ns/op\n", all[i]->name, many[i]);
		printf("bench %s.pingpong64 %.1f ns\n", all[i]->name, lat[i]);
	}
	for (i = 2; i < 4; i++) {
		printf("bench %s/ibv_post_send.batch1 %.3f ratio\n", all[i]->name, one[i] / one[0]);
		printf("bench %s/ibv_post_send.batch32 %.3f ratio\n", all[i]->name,
		       many[i] / many[0]);
		printf("bench %s/ibv_post_send.pingpong %.3f ratio\n", all[i]->name,
		       lat[i] / lat[0]);
		printf("bench %s/ibv_wr.batch1 %.3f ratio\n", all[i]->name, one[i] / one[1]);
		printf("bench %s/ibv_wr.batch32 %.3f ratio\n", all[i]->name, many[i] / many[1]);
	}
	return 0;
}
