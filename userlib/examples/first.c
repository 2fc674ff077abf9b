// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The first program: two queue pairs of one device, in one process, and an
 * RDMA write from one to the other.
 */
#include "common.h"

static struct xv_qp *make_qp(struct xv_pd *pd, struct xv_cq *cq)
{
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 16, .max_send_sge = 1, .max_recv_wr = 1, .max_recv_sge = 1 },
	};

	return xv_create_qp(pd, &attr);
}

int main(int argc, char **argv)
{
	static char buf[8192] __attribute__((aligned(4096))) = "hello, RDMA";
	struct xv_cq_init_attr cq_attr = { .cqe = 16 };
	struct xv_context *ctx;
	struct peer pa, pb;
	struct xv_sge sge;
	struct xv_qp *a, *b;
	struct xv_pd *pd;
	struct xv_cq *cq;
	struct xv_mr *mr;

	parse(argc, argv);
	CHECK((ctx = xv_open(opt.device)));
	CHECK((pd = xv_alloc_pd(ctx)));
	CHECK((mr = xv_reg_mr(pd, buf, sizeof(buf), XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE)));
	CHECK((cq = xv_create_cq(ctx, &cq_attr)));
	CHECK((a = make_qp(pd, cq)));
	CHECK((b = make_qp(pd, cq)));
	pa = describe(ctx, a, mr);
	pb = describe(ctx, b, mr);
	connect_rc(a, &pb);
	connect_rc(b, &pa);

	/* No system call from here on ... */
	sge = (struct xv_sge) { (uintptr_t)buf, 12, mr->lkey };
	xv_wr_write(a, 1, XV_SEND_SIGNALED, &sge, (uintptr_t)buf + 4096, mr->rkey);
	xv_commit_send(a);
	wait_wc(cq);
	/* ... to here. */
	printf("%s: \"%s\"\n", ctx->name, buf + 4096);

	xv_destroy_qp(a);
	xv_destroy_qp(b);
	xv_destroy_cq(cq);
	xv_dereg_mr(mr);
	xv_dealloc_pd(pd);
	xv_close(ctx);
	return strcmp(buf + 4096, "hello, RDMA") != 0;
}
