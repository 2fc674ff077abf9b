// SPDX-License-Identifier: GPL-2.0
/*
 * usage: instructions [DEVICE [PEER-DEVICE]]
 *
 * Counts the instructions of a post and of a poll exactly: the parent single-steps the child
 * from one breakpoint to the next.  While the adapter works, the child runs without steps, so
 * waiting is not counted.
 *
 * Prints lines: bench NAME VALUE instructions/op
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "singlestep.h"
#include "tool.h"
#include "verbs.h"

static const struct verbs *const all[] = { &ibv_post, &ibv_wr, &xv_list, &xv_build };

enum { ROUNDS = 4 };

void die(const char *what)
{
	fprintf(stderr, "instructions: %s\n", what);
	exit(1);
}

/* Warm up: lazy binding and first page faults must not be counted. */
static void child(const struct verbs *v, const char *dev0, const char *dev1, int batch)
{
	int round, n;

	v->open(dev0, dev1);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	for (round = -4; round < ROUNDS; round++) {
		if (round >= 0)
			MARK();
		v->post(0, batch);
		if (round >= 0)
			MARK();
		usleep(20000);
		if (round >= 0)
			MARK();
		for (n = 0; n < batch;)
			n += v->poll(0, batch);
		if (round >= 0)
			MARK();
	}
	v->close();
	_exit(0);
}

static void measure(const struct verbs *v, const char *dev0, const char *dev1, int batch,
		    double *post, double *poll)
{
	long posts, polls;
	pid_t pid = fork();

	if (!pid)
		child(v, dev0, dev1, batch);
	if (!steps_measure(pid, ROUNDS, &posts, &polls))
		die("the measured process ended");
	*post = (double)posts / batch;
	*poll = (double)polls / batch;
}

int main(int argc, char **argv)
{
	const char *dev0 = argc > 1 ? argv[1] : "mlx5_0";
	const char *dev1 = argc > 2 ? argv[2] : "mlx5_1";
	static const int batches[] = { 1, 32 };
	double post, poll, sum[4][2];
	size_t i, b;

	for (b = 0; b < 2; b++) {
		for (i = 0; i < ARRAY_SIZE(all); i++) {
			measure(all[i], dev0, dev1, batches[b], &post, &poll);
			sum[i][b] = post + poll;
			printf("bench %s.write64.batch%d.post %.1f instructions/op\n", all[i]->name,
			       batches[b], post);
			printf("bench %s.write64.batch%d.poll %.1f instructions/op\n", all[i]->name,
			       batches[b], poll);
			fflush(stdout);
		}
	}
	for (b = 0; b < 2; b++)
		for (i = 2; i < 4; i++) {
			printf("bench %s/ibv_post_send.batch%d.instructions %.3f ratio\n",
			       all[i]->name, batches[b], sum[i][b] / sum[0][b]);
			printf("bench %s/ibv_wr.batch%d.instructions %.3f ratio\n",
			       all[i]->name, batches[b], sum[i][b] / sum[1][b]);
		}
	return 0;
}
