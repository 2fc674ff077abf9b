/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two ends with a protection domain and memory of libibverbs each, imported into contexts
 * of libxverbs: end 0 on --device, end 1 on --peer-device.
 */
#ifndef TESTS_USER_BRIDGE_H
#define TESTS_USER_BRIDGE_H

#include <infiniband/mlx5dv.h>
#include <sys/mman.h>
#include <xverbs/bridge.h>
#include "rig.h"

enum { MEM_BYTES = 1 << 20, DEPTH = 16 };

struct end {
	struct xt_side s;		/* its PD is not used */
	struct ibv_context *ibv;
	struct ibv_pd *ibv_pd;
	struct ibv_mr *mr;
	struct xv_pd *pd;		/* imported */
	struct xv_cq *cq;
	struct xv_qp *qp;
	uint8_t *buf;
};

static struct end end[2];

__attribute__((unused))
static void need_ibv(bool good, const char *what)
{
	if (!good)
		bail_out("libibverbs: %s: %s", what, strerror(errno));
}
#define NEED_IBV(good)	need_ibv(good, #good)
#define NEED(good)	do { if (!(good)) bail_out("%s: %s", #good, xv_last_error()); } while (0)

__attribute__((unused))
static struct ibv_context *ibv_open(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	int i;

	for (i = 0; list && list[i] && !ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	return ctx;
}

/* The number of a protection domain in the adapter, as libmlx5 knows it */
__attribute__((unused))
static uint32_t ibv_pdn(struct ibv_pd *pd)
{
	struct mlx5dv_pd dv = { 0 };
	struct mlx5dv_obj obj = { .pd = { .in = pd, .out = &dv } };

	NEED_IBV(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD));
	return dv.pdn;
}

__attribute__((unused))
static struct xv_qp *make_qp(struct end *e, enum xv_qp_type type, struct xv_srq *srq)
{
	struct xv_qp_init_attr attr = {
		.qp_type = type, .send_cq = e->cq, .recv_cq = e->cq, .srq = srq,
		.cap = { .max_send_wr = DEPTH, .max_send_sge = 4, .max_inline_data = 64 },
	};
	struct xv_qp *qp;

	if (!srq) {
		attr.cap.max_recv_wr = DEPTH;
		attr.cap.max_recv_sge = 2;
	}
	qp = xv_create_qp(e->pd, &attr);
	NEED(qp);
	return qp;
}

__attribute__((unused))
static void open_end(int i)
{
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND |
			   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	struct xv_cq_init_attr cq = { .cqe = 4 * DEPTH };
	struct end *e = &end[i];

	NEED(!xt_side_open(&e->s, rig_device(i), 0, -1));
	NEED_IBV((e->ibv = ibv_open(rig_device(i))));
	NEED_IBV((e->ibv_pd = ibv_alloc_pd(e->ibv)));
	e->buf = mmap(NULL, MEM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NEED_IBV((e->mr = ibv_reg_mr(e->ibv_pd, e->buf, MEM_BYTES, access)));
	NEED((e->pd = xv_bridge_import_pd(e->s.ctx, e->ibv_pd)));
	NEED((e->cq = xv_create_cq(e->s.ctx, &cq)));
}

/* New queue pairs, connected; the old ones are destroyed. */
__attribute__((unused))
static void connect_ends(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (end[i].qp)
			NEED(!xv_destroy_qp(end[i].qp));
		end[i].qp = make_qp(&end[i], XV_QPT_RC, NULL);
	}
	NEED(!xt_connect_pair(end[0].qp, &end[0].s, end[1].qp, &end[1].s, NULL));
}

__attribute__((unused))
static void close_end(int i)
{
	struct end *e = &end[i];

	if (e->qp)
		NEED(!xv_destroy_qp(e->qp));
	NEED(!xv_destroy_cq(e->cq));
	ok(!xv_dealloc_pd(e->pd), "side %d: the import ends", i);
	xt_side_close(&e->s);
	ok(!ibv_dereg_mr(e->mr) && !ibv_dealloc_pd(e->ibv_pd) && !ibv_close_device(e->ibv),
	   "side %d: libibverbs can close everything", i);
	munmap(e->buf, MEM_BYTES);
}

__attribute__((unused))
static struct ibv_sge at(int i, size_t offset, uint32_t length)
{
	return (struct ibv_sge) { (uintptr_t)end[i].buf + offset, length, end[i].mr->lkey };
}

/* Polls one completion for up to 10 seconds. */
__attribute__((unused))
static bool take(int i, uint64_t wr_id, enum ibv_wc_status status, struct ibv_wc *wc)
{
	double until = xt_now() + 10;
	int n = 0;

	while (!n && xt_now() < until)
		n = xv_bridge_poll_cq(end[i].cq, 1, wc);
	if (n == 1 && wc->wr_id == wr_id && wc->status == status)
		return true;
	if (n == 1)
		diag("side %d: wr_id %llu: %s", i, (unsigned long long)wc->wr_id,
		     ibv_wc_status_str(wc->status));
	else
		diag("side %d: no completion", i);
	return false;
}

/* A signalled request from end 0 to memory of end 1 */
__attribute__((unused))
static struct ibv_send_wr rdma(uint64_t wr_id, enum ibv_wr_opcode opcode, struct ibv_sge *sge,
			       size_t to)
{
	struct ibv_send_wr wr = {
		.wr_id = wr_id, .opcode = opcode, .sg_list = sge, .num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED,
	};

	wr.wr.rdma.remote_addr = (uintptr_t)end[1].buf + to;
	wr.wr.rdma.rkey = end[1].mr->rkey;
	return wr;
}

/* Posts a request of end 0; returns true if it completes with the status. */
__attribute__((unused))
static bool runs(struct ibv_send_wr *wr, enum ibv_wc_status status)
{
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int err = xv_bridge_post_send(end[0].qp, wr, &bad);

	if (err)
		diag("post: %s", strerror(-err));
	return !err && take(0, wr->wr_id, status, &wc);
}

#endif
