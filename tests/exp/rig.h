/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of the experimental verbs share: two sides, connections of type RC, completions
 * and data.
 *
 * usage of each program: DEVICE GID-INDEX [DEVICE GID-INDEX]
 */
#ifndef TESTS_EXP_RIG_H
#define TESTS_EXP_RIG_H

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <infiniband/verbs.h>
#include "tap.h"

#define BYTES	(4u << 20)	/* memory of each side */
#define ACCESS	(IBV_EXP_ACCESS_LOCAL_WRITE | IBV_EXP_ACCESS_REMOTE_WRITE | \
		 IBV_EXP_ACCESS_REMOTE_READ | IBV_EXP_ACCESS_REMOTE_ATOMIC)

struct side {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	uint8_t *mem;
	struct ibv_mr *mr;
	int gid_index;
	struct ibv_ah_attr address;	/* of the device, for others */
};

/* Two queue pairs of type RC, of both sides, with a completion queue each */
struct pair {
	struct ibv_cq *cq[2];
	struct ibv_qp *qp[2];
};

static struct side side[2];

static void need(int good, const char *what)
{
	if (!good)
		bail_out("%s: %s", what, strerror(errno));
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- Both sides ---------------------------------------------------------------------- */

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **d = list;
	struct ibv_context *ctx;

	while (d && *d && strcmp(ibv_get_device_name(*d), name))
		d++;
	ctx = d && *d ? ibv_open_device(*d) : NULL;
	ibv_free_device_list(list);
	return ctx;
}

static void open_side(struct side *s, const char *name, int gid_index)
{
	struct ibv_exp_reg_mr_in in = { .length = BYTES, .exp_access = ACCESS };
	struct ibv_port_attr port;

	s->ctx = open_device(name);
	need(s->ctx != NULL, "open a device");
	s->gid_index = gid_index;
	s->pd = ibv_alloc_pd(s->ctx);
	s->mem = aligned_alloc(4096, BYTES);
	need(s->pd && s->mem, "PD and memory");
	memset(s->mem, 0, BYTES);
	in.pd = s->pd;
	in.addr = s->mem;
	s->mr = ibv_exp_reg_mr(&in);
	need(s->mr && !ibv_query_port(s->ctx, 1, &port), "region and port");
	s->address.dlid = port.lid;
	s->address.port_num = 1;
	s->address.is_global = port.link_layer == IBV_LINK_LAYER_ETHERNET;
	s->address.grh.sgid_index = (uint8_t)gid_index;
	s->address.grh.hop_limit = 64;
	need(!ibv_query_gid(s->ctx, 1, gid_index, &s->address.grh.dgid), "GID");
}

static __attribute__((unused)) void open_sides(int argc, char **argv)
{
	if (argc < 3)
		bail_out("usage: DEVICE GID-INDEX [DEVICE GID-INDEX]");
	open_side(&side[0], argv[1], atoi(argv[2]));
	open_side(&side[1], argv[argc > 4 ? 3 : 1], atoi(argv[argc > 4 ? 4 : 2]));
}

static __attribute__((unused)) void close_sides(void)
{
	int i, bad = 0;

	for (i = 0; i < 2; i++) {
		bad |= ibv_dereg_mr(side[i].mr) || ibv_dealloc_pd(side[i].pd) ||
		       ibv_close_device(side[i].ctx);
		free(side[i].mem);
	}
	ok(!bad, "nothing is left of both sides");
}

static __attribute__((unused)) struct ibv_exp_device_attr attributes(struct ibv_context *ctx)
{
	struct ibv_exp_device_attr attr = { .comp_mask = IBV_EXP_DEVICE_ATTR_RESERVED - 1 };

	need(!ibv_exp_query_device(ctx, &attr), "ibv_exp_query_device");
	return attr;
}

static uint64_t at(int s, size_t offset)
{
	return (uintptr_t)side[s].mem + offset;
}

static __attribute__((unused)) struct ibv_sge piece(int s, size_t offset, uint32_t length)
{
	return (struct ibv_sge) { at(s, offset), length, side[s].mr->lkey };
}

/* ---- Queues --------------------------------------------------------------------------- */

static struct ibv_cq *make_cq(int s, uint32_t flags)
{
	struct ibv_exp_cq_init_attr attr = {
		.comp_mask = IBV_EXP_CQ_INIT_ATTR_FLAGS, .flags = flags,
	};
	struct ibv_cq *cq = ibv_exp_create_cq(side[s].ctx, 256, NULL, NULL, 0, &attr);

	need(cq != NULL, "ibv_exp_create_cq");
	return cq;
}

/* attr has what is special; both queues have their completions in cq. */
static struct ibv_qp *make_qp(int s, struct ibv_cq *cq, struct ibv_exp_qp_init_attr attr)
{
	struct ibv_qp *qp;

	attr.send_cq = attr.recv_cq = cq;
	attr.qp_type = IBV_QPT_RC;
	attr.pd = side[s].pd;
	attr.comp_mask |= IBV_EXP_QP_INIT_ATTR_PD;
	attr.cap.max_send_wr = attr.cap.max_send_wr ? attr.cap.max_send_wr : 32;
	attr.cap.max_recv_wr = 32;
	attr.cap.max_send_sge = 4;
	attr.cap.max_recv_sge = 1;
	attr.cap.max_inline_data = 64;
	qp = ibv_exp_create_qp(side[s].ctx, &attr);
	need(qp != NULL, "ibv_exp_create_qp");
	return qp;
}

static int to_rts(int s, struct ibv_qp *qp, int peer, uint32_t qpn)
{
	struct ibv_exp_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = ACCESS };

	if (ibv_exp_modify_qp(qp, &a, IBV_EXP_QP_STATE | IBV_EXP_QP_PKEY_INDEX |
			      IBV_EXP_QP_PORT | IBV_EXP_QP_ACCESS_FLAGS))
		return -1;
	a = (struct ibv_exp_qp_attr) { .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = qpn, .max_dest_rd_atomic = 4, .min_rnr_timer = 1,
		.ah_attr = side[peer].address };
	a.ah_attr.grh.sgid_index = (uint8_t)side[s].gid_index;
	if (ibv_exp_modify_qp(qp, &a, IBV_EXP_QP_STATE | IBV_EXP_QP_AV | IBV_EXP_QP_PATH_MTU |
			      IBV_EXP_QP_DEST_QPN | IBV_EXP_QP_RQ_PSN |
			      IBV_EXP_QP_MAX_DEST_RD_ATOMIC | IBV_EXP_QP_MIN_RNR_TIMER))
		return -1;
	a = (struct ibv_exp_qp_attr) { .qp_state = IBV_QPS_RTS, .timeout = 12, .retry_cnt = 7,
		.rnr_retry = 7, .max_rd_atomic = 4 };
	return ibv_exp_modify_qp(qp, &a, IBV_EXP_QP_STATE | IBV_EXP_QP_TIMEOUT |
				 IBV_EXP_QP_RETRY_CNT | IBV_EXP_QP_RNR_RETRY |
				 IBV_EXP_QP_SQ_PSN | IBV_EXP_QP_MAX_QP_RD_ATOMIC);
}

static void connect(int s, struct ibv_qp *qp, int peer, struct ibv_qp *to)
{
	need(!to_rts(s, qp, peer, to->qp_num) && !to_rts(peer, to, s, qp->qp_num), "connect");
}

/* first: attributes of the queue pair of side 0 */
static __attribute__((unused)) struct pair make_pair(struct ibv_exp_qp_init_attr first)
{
	struct ibv_exp_qp_init_attr plain = { .comp_mask = 0 };
	struct pair p = { .cq = { make_cq(0, 0), make_cq(1, 0) } };

	p.qp[0] = make_qp(0, p.cq[0], first);
	p.qp[1] = make_qp(1, p.cq[1], plain);
	connect(0, p.qp[0], 1, p.qp[1]);
	return p;
}

static __attribute__((unused)) void break_pair(struct pair *p)
{
	need(!ibv_destroy_qp(p->qp[0]) && !ibv_destroy_qp(p->qp[1]) &&
	     !ibv_destroy_cq(p->cq[0]) && !ibv_destroy_cq(p->cq[1]), "destroy a pair");
}

/* The queue pairs of a pair that has failed, connected again */
static __attribute__((unused)) void restart(struct pair *p)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_RESET };

	need(!ibv_modify_qp(p->qp[0], &a, IBV_QP_STATE) &&
	     !ibv_modify_qp(p->qp[1], &a, IBV_QP_STATE), "reset");
	connect(0, p->qp[0], 1, p->qp[1]);
}

/* ---- Requests and completions ----------------------------------------------------------- */

static int post(struct ibv_qp *qp, struct ibv_exp_send_wr *wr)
{
	struct ibv_exp_send_wr *bad = NULL;
	int err = ibv_exp_post_send(qp, wr, &bad);

	if (err && bad != wr)
		diag("the request that failed is not the first");
	return err;
}

static __attribute__((unused)) void receive(struct ibv_qp *qp, int s, size_t offset,
					    uint32_t length)
{
	struct ibv_sge sge = piece(s, offset, length);
	struct ibv_recv_wr wr = { .wr_id = offset, .sg_list = &sge, .num_sge = 1 }, *bad;

	need(!ibv_post_recv(qp, &wr, &bad), "ibv_post_recv");
}

/* The next completion, within 20 seconds */
static bool complete(struct ibv_cq *cq, struct ibv_exp_wc *wc)
{
	double until = now() + 20;

	while (now() < until)
		if (ibv_exp_poll_cq(cq, 1, wc, sizeof(*wc)) == 1)
			return true;
	diag("no completion");
	return false;
}

/* Status of the next completion, or -1 */
static __attribute__((unused)) int status(struct ibv_cq *cq)
{
	struct ibv_exp_wc wc;

	return complete(cq, &wc) ? (int)wc.status : -1;
}

/* True if no completion comes for a while */
static __attribute__((unused)) bool quiet(struct ibv_cq *cq)
{
	double until = now() + 0.1;
	struct ibv_exp_wc wc;

	while (now() < until)
		if (ibv_exp_poll_cq(cq, 1, &wc, sizeof(wc)))
			return false;
	return true;
}

/* Posts one request and returns the status of its completion, or -1. */
static __attribute__((unused)) int run(struct pair *p, struct ibv_exp_send_wr *wr)
{
	int err = post(p->qp[0], wr);

	if (err)
		diag("ibv_exp_post_send: %s", strerror(err));
	return err ? -1 : status(p->cq[0]);
}

/* ---- Data ------------------------------------------------------------------------------- */

static __attribute__((unused)) void fill(uint8_t *p, size_t n, uint32_t seed)
{
	for (; n; n--) {
		seed = seed * 1664525u + 1013904223u;
		*p++ = (uint8_t)(seed >> 24);
	}
}

#endif
