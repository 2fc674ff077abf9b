/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DC initiators and targets of the tests.  Each of two sides has memory, one completion
 * queue for sends and one for receives, a shared receive queue and an address handle of
 * each side.
 */
#ifndef TESTS_USER_DC_H
#define TESTS_USER_DC_H

#include "rig.h"

#define DC_KEY		0x0123456789abcdefull
#define DC_ACCESS	(XV_ACCESS_REMOTE_WRITE | XV_ACCESS_REMOTE_READ | XV_ACCESS_REMOTE_ATOMIC)

enum { DC_SRQ_WRS = 4095, DC_CQES = 8191 };

struct dc_side {
	struct xt_side s;
	struct xv_cq *send_cq;
	struct xv_cq *recv_cq;
	struct xv_srq *srq;
	struct xv_mr *mr;
	uint8_t *buf;
	struct xv_ah *to[2];		/* the sides */
};

static struct dc_side side[2];

static __attribute__((unused)) void need(bool good)
{
	if (!good)
		bail_out("%s", xv_last_error());
}

static struct xv_cq *dc_cq(struct dc_side *d)
{
	struct xv_cq_init_attr attr = { .cqe = DC_CQES };
	struct xv_cq *cq = xv_create_cq(d->s.ctx, &attr);

	need(cq);
	return cq;
}

static void dc_skip_without_feature(void)
{
	const struct xv_feature *dc = rig_feature(side[0].s.ctx, "dc");

	if (!dc->available)
		tap_skip_all("dc: %s", dc->why_not);
}

static __attribute__((unused)) void dc_open(size_t bytes)
{
	struct xv_srq_init_attr srq = { .attr = { .max_wr = DC_SRQ_WRS, .max_sge = 2 } };
	struct xt_peer peer;
	int i, j;

	for (i = 0; i < 2; i++) {
		struct dc_side *d = &side[i];

		need(!xt_side_open(&d->s, rig_device(i), 1, -1));
		if (!i)
			dc_skip_without_feature();
		d->send_cq = dc_cq(d);
		d->recv_cq = dc_cq(d);
		need((d->srq = xv_create_srq(d->s.pd, &srq)));
		need((d->mr = xt_mr_alloc(&d->s, bytes, XV_ACCESS_LOCAL_WRITE | DC_ACCESS)));
		d->buf = d->mr->addr;
	}
	for (i = 0; i < 2; i++) {
		for (j = 0; j < 2; j++) {
			peer = (struct xt_peer) { .lid = side[j].s.attr.lid,
						  .gid = side[j].s.gid };
			need((side[i].to[j] = xt_ah_create(&side[i].s, &peer)));
		}
	}
}

static __attribute__((unused)) void dc_close(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		struct dc_side *d = &side[i];

		xv_destroy_ah(d->to[0]);
		xv_destroy_ah(d->to[1]);
		need(!xv_destroy_srq(d->srq));
		need(!xv_destroy_cq(d->send_cq) && !xv_destroy_cq(d->recv_cq));
		xt_mr_free(d->mr);
		xt_side_close(&d->s);
	}
}

static __attribute__((unused)) struct xv_qp *dc_initiator(struct dc_side *d, uint32_t depth,
							   const struct xt_rc_opts *opts)
{
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_DCI, .send_cq = d->send_cq,
		.cap = { .max_send_wr = depth, .max_send_sge = 2, .max_inline_data = 64 },
	};
	struct xv_qp *qp = xv_create_qp(d->s.pd, &attr);

	need(qp);
	need(!xt_dci_start(qp, &d->s, opts));
	return qp;
}

static __attribute__((unused)) struct xv_dct *dc_target(struct dc_side *d, uint64_t key,
							uint32_t access)
{
	struct xv_dct *dct = xt_dct_create(&d->s, d->recv_cq, d->srq, key, access);

	need(dct);
	return dct;
}

/* The target in requests of side from; its side is number to */
static __attribute__((unused)) struct xv_dc dc_to(int from, int to, const struct xv_dct *dct,
						  uint64_t key)
{
	return (struct xv_dc) { side[from].to[to], key, dct->dct_num };
}

static __attribute__((unused)) struct xv_sge dc_sge(const struct dc_side *d, size_t offset,
						    uint32_t length)
{
	return (struct xv_sge) { (uintptr_t)d->buf + offset, length, d->mr->lkey };
}

/* Posts one receive to the shared receive queue; its wr_id is the offset. */
static __attribute__((unused)) void dc_recv(struct dc_side *d, size_t offset, uint32_t length)
{
	struct xv_sge sge = dc_sge(d, offset, length);
	struct xv_recv_wr wr = { .wr_id = offset, .sg_list = &sge, .num_sge = 1 }, *bad;

	if (xv_post_srq_recv(d->srq, &wr, &bad))
		bail_out("the shared receive queue is full");
}

#endif
