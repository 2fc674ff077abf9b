// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requests that wait for a completion queue, as in the sample "Verbs Wait CQ WR" of the
 * DOCA guide: two connections and three buffers.
 *
 *	QP1 sends buffer 1 to QP2, which receives it in buffer 2
 *	QP3 sends buffer 2 to QP4, which receives it in buffer 3
 *
 * The send in QP3 is posted first.  A request before it waits until QP1 and QP2 have
 * completed, so buffer 3 gets the contents of buffer 1.
 *
 * usage: wait_cq [-d DEVICE] [-i PORT] [-g GID-INDEX]
 */
#include "common.h"

enum { SIZE = 4096, BUFFERS = 3 };

static struct {
	struct xv_context *ctx;
	struct xv_pd *pd;
	struct xv_cq *first_cq;		/* of QP1 and QP2 */
	struct xv_cq *second_cq;	/* of QP3 and QP4 */
	struct xv_qp *qp[5];		/* qp[1] to qp[4] */
	struct xv_mr *mr;
	char buf[BUFFERS][SIZE];
} res;

static struct xv_qp *create_qp(struct xv_cq *cq)
{
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.flags = XV_QP_CROSS_CHANNEL,
		.cap = { .max_send_wr = 2, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	struct xv_qp *qp = xv_create_qp(res.pd, &attr);

	CHECK(qp);
	return qp;
}

static void resources_create(void)
{
	struct xv_cq_init_attr attr = { .cqe = 4, .flags = XV_CQ_CROSS_CHANNEL };
	int i;

	CHECK((res.ctx = xv_open(opt.device)));
	CHECK((res.pd = xv_alloc_pd(res.ctx)));
	CHECK((res.first_cq = xv_create_cq(res.ctx, &attr)));
	CHECK((res.second_cq = xv_create_cq(res.ctx, &attr)));
	CHECK((res.mr = xv_reg_mr(res.pd, res.buf, sizeof(res.buf), XV_ACCESS_LOCAL_WRITE)));
	for (i = 1; i <= 4; i++)
		res.qp[i] = create_qp(i <= 2 ? res.first_cq : res.second_cq);
	connect_both(res.ctx, res.qp[1], res.qp[2]);
	connect_both(res.ctx, res.qp[3], res.qp[4]);
}

static void resources_destroy(void)
{
	int i;

	for (i = 1; i <= 4; i++)
		CHECK(!xv_destroy_qp(res.qp[i]));
	CHECK(!xv_destroy_cq(res.first_cq));
	CHECK(!xv_destroy_cq(res.second_cq));
	CHECK(!xv_dereg_mr(res.mr));
	CHECK(!xv_dealloc_pd(res.pd));
	CHECK(!xv_close(res.ctx));
}

static struct xv_sge buffer(int i)
{
	return (struct xv_sge) { (uintptr_t)res.buf[i - 1], SIZE, res.mr->lkey };
}

static void post_recv(int qp, int into)
{
	struct xv_sge sge = buffer(into);
	struct xv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	CHECK(!xv_post_recv(res.qp[qp], &wr, &bad));
}

static void post_send(int qp, int from)
{
	struct xv_sge sge = buffer(from);
	struct xv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = XV_WR_SEND,
				 .send_flags = XV_SEND_SIGNALED }, *bad;

	CHECK(!xv_post_send(res.qp[qp], &wr, &bad));
}

/* Two more completions, of QP1 and of QP2: the second has the index ci + 1. */
static void post_wait(int qp)
{
	struct xv_send_wr wr = {
		.opcode = XV_WR_WAIT_CQ_PI,
		.wr.wait_cq_pi = { .cq = res.first_cq, .index = res.first_cq->ci + 1 },
	}, *bad;

	CHECK(!xv_post_send(res.qp[qp], &wr, &bad));
}

int main(int argc, char **argv)
{
	struct xv_wc wc;
	int i;

	parse(argc, argv);
	resources_create();
	for (i = 0; i < SIZE; i++)
		res.buf[0][i] = (char)(i % 251);
	post_recv(2, 2);
	post_recv(4, 3);
	post_wait(3);
	post_send(3, 2);
	usleep(10000);
	if (xv_poll_cq(res.second_cq, 1, &wc))
		errx(1, "QP3 did not wait");
	post_send(1, 1);
	for (i = 0; i < 2; i++) {
		wait_wc(res.first_cq);
		wait_wc(res.second_cq);
	}
	if (memcmp(res.buf[2], res.buf[0], SIZE))
		errx(1, "buffer 3 differs from buffer 1");
	printf("buffer 3 is identical to buffer 1: the requests ran in order\n");
	resources_destroy();
	return 0;
}
