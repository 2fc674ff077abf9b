// SPDX-License-Identifier: GPL-2.0
/*
 * usage: many DEVICE CONTEXTS QUEUE-PAIRS
 *
 * Many contexts, as of as many processes, each with so many queue pairs, are open at the same
 * time.  A context of libmlx5 takes a doorbell page for its completion queues, and one for each
 * two queue pairs up to 16.
 */
#include "verbs.h"

static int open_one(const char *device, int qps)
{
	struct ibv_context *ctx = open_device(device);
	struct ibv_pd *pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	struct ibv_cq *cq = ctx ? ibv_create_cq(ctx, 4, NULL, NULL, 0) : NULL;
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	int n = 0;

	if (!pd || !cq)
		return -1;
	while (n < qps && ibv_create_qp(pd, &attr))
		n++;
	return n;
}

int main(int argc, char **argv)
{
	int contexts, qps, n = 0;

	if (argc != 4)
		bail_out("usage: many DEVICE CONTEXTS QUEUE-PAIRS");
	contexts = atoi(argv[2]);
	qps = atoi(argv[3]);
	while (n < contexts && open_one(argv[1], qps) == qps)
		n++;
	tap_is(n, contexts, "contexts with %d queue pairs", qps);
	/* The kernel destroys all at exit. */
	return tap_done();
}
