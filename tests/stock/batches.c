// SPDX-License-Identifier: GPL-2.0
/*
 * usage: batches DEVICE
 *
 * Batches of ibv_start_poll(): ibv_next_poll() again after ENOENT, and queue pairs that end
 * during a batch.  The receives of queue pairs in error complete at once.
 */
#include <stdbool.h>
#include <unistd.h>
#include "verbs.h"

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq_ex *cq;
static struct ibv_qp *qp[2];

static struct ibv_qp *qp_in_error(void)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC,
		.send_cq = ibv_cq_ex_to_cq(cq), .recv_cq = ibv_cq_ex_to_cq(cq),
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1,
			 .max_recv_sge = 1 } };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_qp *made = ibv_create_qp(pd, &init);

	need(made != NULL, "ibv_create_qp");
	rc_init(made);
	need(!ibv_modify_qp(made, &attr, IBV_QP_STATE), "to ERR");
	return made;
}

static void complete(struct ibv_qp *of, uint64_t id)
{
	struct ibv_recv_wr *bad, wr = { .wr_id = id };

	need(!ibv_post_recv(of, &wr, &bad), "ibv_post_recv");
	usleep(200000);	/* so that they complete in this order */
}

static int start(void)
{
	struct ibv_poll_cq_attr attr = { .comp_mask = 0 };
	double until = now() + 10;
	int err;

	while ((err = ibv_start_poll(cq, &attr)) == ENOENT && now() < until)
		;
	return err;
}

static int next(void)
{
	double until = now() + 10;
	int err;

	while ((err = ibv_next_poll(cq)) == ENOENT && now() < until)
		;
	return err;
}

static bool is_flushed(uint64_t id)
{
	return cq->wr_id == id && cq->status == IBV_WC_WR_FLUSH_ERR &&
	       ibv_wc_read_qp_num(cq) == qp[0]->qp_num;
}

static void after_enoent(void)
{
	complete(qp[0], 1);
	ok(!start() && is_flushed(1), "the first completion");
	tap_is(ibv_next_poll(cq), ENOENT, "no other: ENOENT");
	tap_is(ibv_next_poll(cq), ENOENT, "again");
	complete(qp[0], 2);
	ok(!next() && is_flushed(2), "the next completion of the same batch");
	tap_is(ibv_next_poll(cq), ENOENT, "the last one");
	ibv_end_poll(cq);
	complete(qp[0], 3);
	ok(!start() && is_flushed(3), "a completion of the next batch");
	ibv_end_poll(cq);
	tap_is(ibv_start_poll(cq, &(struct ibv_poll_cq_attr) { 0 }), ENOENT,
	       "no completion is left");
}

/* The queue pair of the first completion ends while this completion is the current one. */
static void ends_in_batch(void)
{
	uint64_t id, want = 1;
	int err, bad = 0;

	complete(qp[0], 1);
	for (id = 2; id <= 4; id++)
		complete(qp[1], id);
	for (err = start(); !err; err = ibv_next_poll(cq), want++) {
		bad += cq->wr_id != want;
		if (cq->wr_id == 1)
			need(!ibv_destroy_qp(qp[0]), "ibv_destroy_qp");
	}
	ibv_end_poll(cq);
	ok(err == ENOENT && want == 5 && !bad, "no completion of another queue pair is lost");
}

int main(int argc, char **argv)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 16, .wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED };

	need(argc == 2, "usage: batches DEVICE");
	ctx = open_device(argv[1]);
	pd = ibv_alloc_pd(ctx);
	cq = pd ? ibv_create_cq_ex(ctx, &attr) : NULL;
	need(cq != NULL, "ibv_create_cq_ex");
	qp[0] = qp_in_error();
	qp[1] = qp_in_error();
	after_enoent();
	ends_in_batch();
	ok(!ibv_destroy_qp(qp[1]) && !ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) && !ibv_dealloc_pd(pd) &&
	   !ibv_close_device(ctx), "all objects end");
	return tap_done();
}
