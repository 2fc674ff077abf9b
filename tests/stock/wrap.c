// SPDX-License-Identifier: GPL-2.0
/*
 * usage: wrap DEVICE GID-INDEX
 *
 * One program with libxverbs and libxverbs-ibverbs: a context and a protection domain of
 * libxverbs as those of libibverbs, and the objects of libxverbs behind those of libibverbs.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <xverbs/bridge.h>
#include "tap.h"

enum { HALF = 32768, LEN = 5000, DEPTH = 16 };

static struct xv_context *ctx;
static struct xv_pd *pd;
static struct ibv_context *ibv;
static struct ibv_pd *ibv_pd;
static struct ibv_mr *mr;
static struct xv_port_attr port;
static union xv_gid gid;
static uint8_t gid_index;
static uint8_t mem[2 * HALF];		/* source, then destination */

static void need(bool good, const char *what)
{
	if (!good)
		bail_out("%s: %s", what, xv_last_error());
}
#define NEED(good)	need(good, #good)

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void fill(void)
{
	int i;

	for (i = 0; i < HALF; i++)
		mem[i] = (uint8_t)(i * 31 + (i >> 8));
	memset(mem + HALF, 0, HALF);
}

static bool arrived(void)
{
	return !memcmp(mem, mem + HALF, LEN) && !mem[HALF + LEN];
}

static void up(struct xv_qp *qp, uint32_t peer)
{
	struct xv_qp_attr a = {
		.qp_state = XV_QPS_INIT, .port_num = 1, .path_mtu = XV_MTU_1024,
		.qp_access_flags = XV_ACCESS_REMOTE_WRITE, .dest_qp_num = peer,
		.ah_attr = { .port_num = 1, .is_global = 1, .dlid = (uint16_t)port.lid,
			     .grh = { .dgid = gid, .sgid_index = gid_index, .hop_limit = 1 } },
		.timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .min_rnr_timer = 1,
	};

	NEED(!xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_PKEY_INDEX | XV_QP_PORT |
			   XV_QP_ACCESS_FLAGS));
	a.qp_state = XV_QPS_RTR;
	NEED(!xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_AV | XV_QP_PATH_MTU | XV_QP_DEST_QPN |
			   XV_QP_RQ_PSN | XV_QP_MAX_DEST_RD_ATOMIC | XV_QP_MIN_RNR_TIMER));
	a.qp_state = XV_QPS_RTS;
	NEED(!xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_TIMEOUT | XV_QP_RETRY_CNT |
			   XV_QP_RNR_RETRY | XV_QP_SQ_PSN | XV_QP_MAX_QP_RD_ATOMIC));
}

static void pair_up(struct xv_qp *a, struct xv_qp *b)
{
	up(a, b->qp_num);
	up(b, a->qp_num);
}

static void test_wrap(const char *name)
{
	struct xv_context *other = xv_open(name);
	struct xv_pd *other_pd = other ? xv_alloc_pd(other) : NULL;

	ibv = xv_bridge_wrap_ctx(ctx);
	NEED(ibv);
	ok(!strcmp(ibv_get_device_name(ibv->device), name), "the context is for the same device");
	ibv_pd = xv_bridge_wrap_pd(ibv, pd);
	NEED(ibv_pd);
	ok(xv_bridge_get_ctx(ibv) == ctx && xv_bridge_get_pd(ibv_pd) == pd,
	   "context and protection domain lead back to those of libxverbs");
	NEED(other_pd);
	ok(!xv_bridge_wrap_pd(ibv, other_pd) && errno == EINVAL,
	   "protection domain of another context: EINVAL");
	NEED(!xv_close(other));
	mr = ibv_reg_mr(ibv_pd, mem, sizeof(mem),
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	NEED(mr);
}

/* Objects that are not of this library */
static void test_foreign(void)
{
	struct ibv_context c = { .device = NULL };
	struct ibv_pd p = { .context = &c };
	struct ibv_qp q = { .context = &c };

	errno = 0;
	ok(!xv_bridge_get_ctx(&c) && errno == EINVAL, "context of another provider: EINVAL");
	errno = 0;
	ok(!xv_bridge_get_pd(&p) && errno == EINVAL, "its protection domain: EINVAL");
	errno = 0;
	ok(!xv_bridge_get_qp(&q) && errno == EINVAL, "its queue pair: EINVAL");
	ok(!xv_bridge_wrap_pd(&c, pd) && errno == EINVAL, "nothing is wrapped in it: EINVAL");
}

static bool take(struct xv_cq *cq, uint64_t wr_id)
{
	double until = now() + 10;
	struct ibv_wc wc;
	int n = 0;

	while (!n && now() < until)
		n = xv_bridge_poll_cq(cq, 1, &wc);
	return n == 1 && wc.wr_id == wr_id && wc.status == IBV_WC_SUCCESS;
}

/* Queues of libxverbs with memory of libibverbs */
static void test_native_queues(void)
{
	struct xv_cq_init_attr cq_attr = { .cqe = DEPTH };
	struct xv_cq *cq = xv_create_cq(ctx, &cq_attr);
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = DEPTH, .max_send_sge = 1 },
	};
	struct xv_qp *a = cq ? xv_create_qp(pd, &attr) : NULL;
	struct xv_qp *b = a ? xv_create_qp(pd, &attr) : NULL;
	struct ibv_sge sge = { (uintptr_t)mem, LEN, mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1,
				  .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED },
			   *bad;

	NEED(b);
	pair_up(a, b);
	fill();
	wr.wr.rdma.remote_addr = (uintptr_t)mem + HALF;
	wr.wr.rdma.rkey = mr->rkey;
	ok(!xv_bridge_post_send(a, &wr, &bad) && take(cq, 1) && arrived(),
	   "queues of libxverbs use memory of ibv_reg_mr()");
	NEED(!xv_destroy_qp(a) && !xv_destroy_qp(b) && !xv_destroy_cq(cq));
}

/* Queues of libibverbs, used with the functions of libxverbs */
static void test_ibv_queues(void)
{
	struct ibv_cq *cq = ibv_create_cq(ibv, DEPTH, NULL, NULL, 0);
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = DEPTH, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(ibv_pd, &srq_attr);
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq, .srq = srq,
		.cap = { .max_send_wr = DEPTH, .max_send_sge = 1 },
	};
	struct ibv_qp *a = cq && srq ? ibv_create_qp(ibv_pd, &attr) : NULL;
	struct ibv_qp *b = a ? ibv_create_qp(ibv_pd, &attr) : NULL;
	struct xv_sge sge = { (uintptr_t)mem, LEN, mr->lkey };
	struct ibv_sge to = { (uintptr_t)mem + HALF, HALF, mr->lkey };
	struct ibv_recv_wr rwr = { .wr_id = 3, .sg_list = &to, .num_sge = 1 }, *bad_recv;
	struct xv_cq *xv_cq;
	struct xv_qp *qp;

	NEED(b);
	qp = xv_bridge_get_qp(a);
	xv_cq = xv_bridge_get_cq(cq);
	ok(qp && qp->qp_num == a->qp_num && xv_cq && xv_bridge_get_srq(srq),
	   "queues of libibverbs lead to those of libxverbs");
	NEED(qp && xv_cq);
	pair_up(qp, xv_bridge_get_qp(b));
	fill();
	NEED(!xv_wr_write(qp, 2, XV_SEND_SIGNALED, &sge, (uintptr_t)mem + HALF, mr->rkey));
	xv_commit_send(qp);
	ok(take(xv_cq, 2) && arrived(), "a builder of libxverbs on a queue of libibverbs");
	fill();
	NEED(!xv_bridge_post_srq_recv(xv_bridge_get_srq(srq), &rwr, &bad_recv));
	NEED(!xv_wr_send(qp, 4, 0, &sge));
	xv_commit_send(qp);
	ok(take(xv_cq, 3) && arrived(), "a receive in its shared receive queue");
	ok(!ibv_destroy_qp(a) && !ibv_destroy_qp(b) && !ibv_destroy_srq(srq) &&
	   !ibv_destroy_cq(cq), "libibverbs destroys its queues");
}

static void test_address(void)
{
	struct ibv_ah_attr a = {
		.is_global = 1, .dlid = (uint16_t)port.lid, .port_num = 1,
		.grh = { .sgid_index = gid_index, .hop_limit = 1 },
	};
	struct ibv_mw *mw;
	struct ibv_ah *ah;

	memcpy(a.grh.dgid.raw, gid.raw, sizeof(gid.raw));
	ah = ibv_create_ah(ibv_pd, &a);
	NEED(ah);
	ok(xv_bridge_get_mr(mr) && xv_bridge_get_mr(mr)->lkey == mr->lkey &&
	   xv_bridge_get_mr(mr)->rkey == mr->rkey, "region");
	mw = ibv_alloc_mw(ibv_pd, IBV_MW_TYPE_1);
	ok(mw && xv_bridge_get_mw(mw) && xv_bridge_get_mw(mw)->rkey == mw->rkey, "memory window");
	ok(mw && !ibv_dealloc_mw(mw), "the window ends");
	ok(xv_bridge_get_ah(ah) && xv_bridge_get_ah(ah)->pd == pd,
	   "an address handle leads to that of libxverbs");
	NEED(!ibv_destroy_ah(ah));
}

/* The functions of libibverbs leave the objects of libxverbs alone. */
static void test_order(void)
{
	struct xv_device_attr attr;
	struct xv_mr *own;

	ok(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(ibv_pd), "the wrapped protection domain ends");
	own = xv_reg_mr(pd, mem, sizeof(mem), XV_ACCESS_LOCAL_WRITE);
	ok(own && !xv_dereg_mr(own), "that of libxverbs still works");
	ok(!ibv_close_device(ibv), "the wrapped context ends");
	ok(!xv_query_device(ctx, &attr), "that of libxverbs still works");
	ok(!xv_dealloc_pd(pd) && !xv_close(ctx), "libxverbs closes the device");
}

int main(int argc, char **argv)
{
	if (argc != 3)
		bail_out("usage: wrap DEVICE GID-INDEX");
	gid_index = (uint8_t)atoi(argv[2]);
	ctx = xv_open(argv[1]);
	if (!ctx)
		tap_skip_all("%s", xv_last_error());
	NEED(!xv_query_port(ctx, 1, &port) && !xv_query_gid(ctx, 1, gid_index, &gid));
	pd = xv_alloc_pd(ctx);
	NEED(pd);
	test_wrap(argv[1]);
	test_foreign();
	test_native_queues();
	test_ibv_queues();
	test_address();
	test_order();
	return tap_done();
}
