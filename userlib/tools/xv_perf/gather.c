// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A block of columns of a matrix, sent to contiguous memory: by one write, which gathers the
 * rows through an indirect key, or by one write for each row.
 */
#include "compare.h"

enum { ROWS = 64, GAP = 64 };

struct gather {
	const struct compare *c;
	struct xt_side side[2];
	struct xv_mr *mr[2];
	struct xv_cq *cq[2];
	struct xv_qp *qp[2];
	struct xv_mkey *mkey;
};

#define NEED(good)	do { if (!(good)) xt_die_xv("gather"); } while (0)

static uint32_t stride(const struct gather *g)
{
	return g->c->size + GAP;
}

static void open_gather(struct gather *g, const struct compare *c)
{
	struct xv_mkey_init_attr key = { .max_entries = 2 };
	struct xv_cq_init_attr attr = { .cqe = 16, .flags = XV_CQ_SINGLE_THREADED };
	struct xv_qp_init_attr init = {
		.qp_type = XV_QPT_RC, .flags = XV_QP_SINGLE_THREADED,
		.cap = { .max_send_wr = 2 * ROWS, .max_send_sge = 1, .max_recv_wr = 1,
			 .max_recv_sge = 1 },
	};
	int i;

	*g = (struct gather) { .c = c };
	for (i = 0; i < 2; i++) {
		NEED(!xt_side_open(&g->side[i], c->device[i] ? c->device[i] : c->device[0],
				   c->port, c->gid_index));
		xt_side_set_net(&g->side[i], &c->net);
		g->mr[i] = xt_mr_alloc(&g->side[i], (size_t)ROWS * stride(g),
				       XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE);
		NEED(g->mr[i] && (g->cq[i] = xv_create_cq(g->side[i].ctx, &attr)));
		init.send_cq = init.recv_cq = g->cq[i];
		NEED((g->qp[i] = xv_create_qp(g->side[i].pd, &init)));
	}
	NEED(!xt_connect_pair(g->qp[0], &g->side[0], g->qp[1], &g->side[1], NULL));
	NEED((g->mkey = xv_create_mkey(g->side[0].pd, &key)));
}

static void close_gather(struct gather *g)
{
	int i;

	NEED(!xv_destroy_mkey(g->mkey));
	for (i = 0; i < 2; i++) {
		NEED(!xv_destroy_qp(g->qp[i]) && !xv_destroy_cq(g->cq[i]));
		xt_mr_free(g->mr[i]);
		xt_side_close(&g->side[i]);
	}
}

static void await(struct gather *g)
{
	struct xv_wc wc;

	xv_commit_send(g->qp[0]);
	while (!xv_poll_cq(g->cq[0], 1, &wc))
		;
	if (wc.status)
		xt_die(XT_FAILED, "gather: %s", xv_wc_status_str(wc.status));
}

static void fill_key(struct gather *g)
{
	struct xv_repeat_block row = {
		.addr = (uintptr_t)g->mr[0]->addr, .lkey = g->mr[0]->lkey,
		.byte_count = g->c->size, .stride = stride(g),
	};
	struct xv_umr umr = {
		.mkey = g->mkey, .num = 1, .blocks = &row, .repeat_count = ROWS,
	};

	NEED(!xv_wr_umr_fill(g->qp[0], 0, XV_SEND_SIGNALED, &umr));
	await(g);
}

static void write_by_key(struct gather *g)
{
	struct xv_sge sge = { 0, ROWS * g->c->size, g->mkey->lkey };

	xv_wr_write(g->qp[0], 0, XV_SEND_SIGNALED, &sge, (uintptr_t)g->mr[1]->addr,
		    g->mr[1]->rkey);
	await(g);
}

static void write_rows(struct gather *g)
{
	struct xv_sge sge = { (uintptr_t)g->mr[0]->addr, g->c->size, g->mr[0]->lkey };
	uint64_t to = (uintptr_t)g->mr[1]->addr;
	int i;

	for (i = 0; i < ROWS; i++, sge.addr += stride(g), to += g->c->size)
		xv_wr_write(g->qp[0], 0, i == ROWS - 1 ? XV_SEND_SIGNALED : 0, &sge, to,
			    g->mr[1]->rkey);
	await(g);
}

typedef void (*gather_fn)(struct gather *g);

void run_gather(struct compare *c)
{
	static const gather_fn ways[WAYS] = {
		[AT_ONCE] = write_by_key, [IN_STEPS] = write_rows,
	};
	struct gather g;
	double start, cpu;
	uint64_t i;
	int way;

	open_gather(&g, c);
	fill_key(&g);
	for (way = 0; way < WAYS; way++) {
		start = xt_now();
		cpu = xt_cpu_us();
		for (i = 0; i < c->iterations; i++)
			ways[way](&g);
		c->us[way] = (xt_now() - start) * 1e6 / (double)c->iterations;
		c->cpu_us[way] = (xt_cpu_us() - cpu) / (double)c->iterations;
	}
	close_gather(&g);
}
