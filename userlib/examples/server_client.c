// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * One operation between a server and a client, chosen on the command line, as
 * the server/client sample of the DOCA Verbs guide does it: here with builders
 * and with completions read in place.
 *
 * usage: server_client [-d DEVICE] [-p TCP-PORT] [HOST] with OPERATION in the
 *	  environment: send (default), write or read
 */
#include "common.h"

enum { SIZE = 4096, ITERATIONS = 100 };

static struct xv_context *ctx;
static struct xv_pd *pd;
static struct xv_cq *cq;
static struct xv_qp *qp;
static struct xv_mr *mr;
static char buf[2][SIZE] __attribute__((aligned(4096)));	/* out, in */

static void create(void)
{
	struct xv_cq_init_attr cq_attr = { .cqe = 16, .flags = XV_CQ_SINGLE_THREADED };
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_RC,
		.flags = XV_QP_SINGLE_THREADED,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	CHECK((ctx = xv_open(opt.device)));
	CHECK((pd = xv_alloc_pd(ctx)));
	CHECK((mr = xv_reg_mr(pd, buf, sizeof(buf), XV_ACCESS_LOCAL_WRITE |
			      XV_ACCESS_REMOTE_READ | XV_ACCESS_REMOTE_WRITE)));
	CHECK((cq = xv_create_cq(ctx, &cq_attr)));
	attr.send_cq = attr.recv_cq = cq;
	CHECK((qp = xv_create_qp(pd, &attr)));
}

static void destroy(void)
{
	CHECK(!xv_destroy_qp(qp));
	CHECK(!xv_destroy_cq(cq));
	CHECK(!xv_dereg_mr(mr));
	CHECK(!xv_dealloc_pd(pd));
	CHECK(!xv_close(ctx));
}

static void wait_in_place(void)
{
	const struct mlx5r_cqe *cqe;

	while (!(cqe = xv_cq_next(cq)))
		;
	if (xv_cqe_status(cqe))
		errx(1, "%s", xv_wc_status_str(xv_cqe_status(cqe)));
	xv_cq_done(cq, cqe);
	xv_commit_cq(cq);
}

static struct xv_sge part(int i)
{
	return (struct xv_sge) { (uintptr_t)buf[i], SIZE, mr->lkey };
}

/* The client's operation; the peer's first page is read, its second written. */
static void operate(const char *op, const struct peer *peer)
{
	struct xv_sge out = part(0), in = part(1);

	if (!strcmp(op, "send"))
		CHECK(!xv_wr_send(qp, 0, XV_SEND_SIGNALED, &out));
	else if (!strcmp(op, "write"))
		CHECK(!xv_wr_write(qp, 0, XV_SEND_SIGNALED, &out, peer->addr + SIZE, peer->rkey));
	else
		CHECK(!xv_wr_read(qp, 0, XV_SEND_SIGNALED, &in, peer->addr, peer->rkey));
	xv_commit_send(qp);
	wait_in_place();
}

static void check(int i)
{
	char expected[32];

	snprintf(expected, sizeof(expected), "message %d", i);
	if (strcmp(buf[1], expected))
		errx(1, "expected \"%s\", found \"%s\"", expected, buf[1]);
}

int main(int argc, char **argv)
{
	const char *op = getenv("OPERATION") ? getenv("OPERATION") : "send";
	struct peer me, peer;
	struct xv_sge in;
	int fd, i;

	parse(argc, argv);
	create();
	fd = meet();
	me = describe(ctx, qp, mr);
	swap(fd, &me, &peer, sizeof(me));
	connect_rc(qp, &peer);
	in = part(1);
	for (i = 0; i < ITERATIONS; i++) {
		snprintf(buf[0], SIZE, "message %d", i);
		if (!opt.host && !strcmp(op, "send")) {
			CHECK(!xv_wr_recv(qp, 0, &in));
			xv_commit_recv(qp);
		}
		barrier(fd);
		if (opt.host)
			operate(op, &peer);
		else if (!strcmp(op, "send"))
			wait_in_place();
		barrier(fd);
		if (!opt.host == !!strcmp(op, "read"))
			check(i);
	}
	printf("%s: %d times %s of %d bytes\n", opt.host ? "client" : "server", ITERATIONS, op, SIZE);
	destroy();
	close(fd);
	return 0;
}
