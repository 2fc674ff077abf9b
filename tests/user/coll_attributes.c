// SPDX-License-Identifier: GPL-2.0
/*
 * Collective operations: attributes of the packets, and first numbers of packets that are not
 * known.
 */
#include <unistd.h>
#include "../../userlib/coll/coll.h"
#include "ranks.h"

enum { RANKS = 4, QUEUES = 2 };

static uint32_t psn[RANKS][2 * QUEUES];		/* of the queues of each rank */
static bool defaults;

static struct xv_qp_attr queried(struct xv_qp *qp)
{
	struct xv_qp_attr a;

	if (xv_query_qp(qp, &a, 0, NULL))
		bail_out("%s", xv_last_error());
	return a;
}

static bool as_wanted(const struct xv_coll *c, const struct xv_qp_attr *a, uint32_t timeout)
{
	const struct xv_coll_attr *want = &c->attr;
	enum xv_mtu mtu = want->mtu ? (enum xv_mtu)want->mtu : c->port.active_mtu;

	if (a->ah_attr.sl == want->sl && a->ah_attr.grh.traffic_class == want->traffic_class &&
	    a->pkey_index == want->pkey_index && a->path_mtu == mtu && a->timeout == timeout)
		return true;
	diag("sl %u, traffic class %u, P_Key index %u, mtu %u, timeout %u", a->ah_attr.sl,
	     a->ah_attr.grh.traffic_class, a->pkey_index, a->path_mtu, a->timeout);
	return false;
}

/* One bit for each kind of error */
static int check_queues(struct xv_coll *c, const struct xv_coll_op *op, uint32_t rank)
{
	uint32_t timeout = defaults ? 17 : c->attr.timeout, i;
	struct xv_qp_attr run, watch, ends[2];
	int bad = 0;

	for (i = 0; i < op->links; i++) {
		run = queried(op->link[i].qp);
		watch = queried(op->link[i].watch);
		bad |= !as_wanted(c, &run, timeout) || !as_wanted(c, &watch, timeout - 2);
		psn[rank][2 * i] = run.sq_psn;
		psn[rank][2 * i + 1] = watch.sq_psn;
	}
	ends[0] = queried(op->result_qp);
	ends[1] = queried(op->end_qp);
	bad |= !as_wanted(c, &ends[0], timeout) || !as_wanted(c, &ends[1], timeout);
	return bad | (ends[0].sq_psn != ends[1].rq_psn || ends[1].sq_psn != ends[0].rq_psn ||
		      !(ends[0].sq_psn | ends[1].sq_psn)) << 1;
}

static int check_rank(struct xv_coll *c, const struct rank *self)
{
	double *in = ranks_buffer(8), *out = ranks_buffer(8);
	struct xv_coll_op *op = xv_coll_allreduce(c, in, out, 1, XV_VECTOR_FLOAT64, XV_VECTOR_ADD);
	int bad;

	if (!op) {
		diag("rank %u: %s", self->number, xv_coll_last_error());
		return -errno;
	}
	bad = check_queues(c, op, self->number);
	*in = self->number;
	if (xv_coll_start(op) || xv_coll_wait(op) != 1 || *out != RANKS * (RANKS - 1) / 2)
		bad |= 4;
	if (bad & 4)
		diag("rank %u: %s", self->number, xv_coll_last_error());
	return bad | (ranks_free(op, self) ? 8 : 0);
}

static void run_all(struct xv_coll_attr attr, int ret[RANKS])
{
	static struct ranks all;
	struct thread_rank t[RANKS];
	int i;

	memset(&all, 0, sizeof(all));
	ranks_init(&all, RANKS);
	ranks_start(&all, t, attr, check_rank);
	for (i = 0; i < RANKS; i++) {
		pthread_join(t[i].thread, NULL);
		ret[i] = t[i].ret;
	}
}

/* The numbers of all ranks differ; by chance, two of 16 are the same once in 140,000 runs. */
static bool psns_differ(void)
{
	const uint32_t *p = &psn[0][0];
	uint32_t i, k;

	for (i = 0; i < RANKS * 2 * QUEUES; i++)
		for (k = 0; k < i; k++)
			if (p[i] == p[k])
				return false;
	return true;
}

static void test_attributes(const char *what, struct xv_coll_attr attr)
{
	int ret[RANKS], i, bad = 0;

	defaults = !attr.timeout;
	run_all(attr, ret);
	for (i = 0; i < RANKS; i++)
		bad |= ret[i];
	ok(!bad, "%s: attributes and sum of %d ranks: %d", what, RANKS, bad);
	ok(psns_differ(), "%s: the first numbers of packets are random", what);
}

static void test_pkey_index(void)
{
	int ret[RANKS], i, good = 0;

	run_all((struct xv_coll_attr) { .pkey_index = 0xfff0 }, ret);
	for (i = 0; i < RANKS; i++)
		good += ret[i] == -EINVAL;
	ok(good == RANKS, "a P_Key index that does not exist: EINVAL at %d ranks", good);
}

int main(int argc, char **argv)
{
	rig_devices(argc, argv);
	alarm(100);
	test_attributes("defaults", (struct xv_coll_attr) { 0 });
	test_attributes("others", (struct xv_coll_attr) {
		.sl = 3, .traffic_class = 0xb8, .timeout = 18, .mtu = XV_MTU_512,
	});
	test_attributes("the CPU drives", (struct xv_coll_attr) {
		.sl = 5, .traffic_class = 0x20, .timeout = 16, .mtu = XV_MTU_256,
		.flags = XV_COLL_CPU_DRIVEN,
	});
	test_pkey_index();
	return tap_done();
}
