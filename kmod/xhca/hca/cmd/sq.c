// SPDX-License-Identifier: GPL-2.0
/*
 * Send queues as objects of their own.  There are no transport interface sends (TIS), so
 * they can only execute NOPs.  mlx5_core of 6.12 creates one to test BlueFlame (its wc.c).
 *
 * An SQ is a struct hca_qp with a send queue only.  Both have their numbers from one table,
 * because a doorbell can name either.
 */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include "cmd/cmd.h"

static struct hca_qp *hca_sq_find(struct hca *hca, const struct hca_cmd *c, u32 sqn)
{
	struct hca_qp *sq = hca_devx_own(c, &hca->qps, sqn);

	return sq && sq->st == HCA_ST_SQ ? sq : NULL;
}

enum { SQC_TS_FORMAT = 0x1a };		/* 2 bits; not in older headers */

/* Fields of unsupported features must be zero. */
static bool hca_sq_fields_ok(const void *sqc, const void *wq)
{
	return !MLX5_GET(sqc, sqc, state) && !MLX5_GET(sqc, sqc, tis_lst_sz) &&
	       !MLX5_GET(sqc, sqc, cd_master) && !MLX5_GET(sqc, sqc, reg_umr) &&
	       !MLX5_GET(sqc, sqc, hairpin) && !hca_field(sqc, SQC_TS_FORMAT, 2) &&
	       !MLX5_GET(sqc, sqc, packet_pacing_rate_limit_index) &&
	       MLX5_GET(wq, wq, wq_type) == MLX5_WQ_TYPE_CYCLIC &&
	       !MLX5_GET(wq, wq, wq_signature);
}

static enum hca_synd hca_sq_decode(struct hca *hca, struct hca_qp *sq, const struct hca_cmd *c)
{
	const void *sqc = MLX5_ADDR_OF(create_sq_in, c->in, ctx);
	const void *wq = MLX5_ADDR_OF(sqc, sqc, wq);
	u32 log_size = MLX5_GET(wq, wq, log_wq_sz);
	struct hca_place record = {};
	struct hca_ring ring;
	enum hca_synd synd;

	if (MLX5_GET(wq, wq, wq_umem_valid) || MLX5_GET(wq, wq, dbr_umem_valid))
		return HCA_SYND_UMEM;
	if (!hca_sq_fields_ok(sqc, wq))
		return HCA_SYND_SQ_FIELD;
	if (log_size > HCA_LOG_MAX_QP_SZ || 1u << MLX5_GET(wq, wq, log_wq_stride) != MLX5R_WQEBB)
		return HCA_SYND_QP_SIZE;
	sq->st = HCA_ST_SQ;
	/* A PD is not needed: NOPs access no memory. */
	sq->pd = MLX5_GET(wq, wq, pd);
	if (sq->pd && !hca_devx_own(c, &hca->pds, sq->pd))
		return HCA_SYND_PD;
	sq->user_index = MLX5_GET(sqc, sqc, user_index);
	sq->record.uar = hca_uar_get(hca, c, MLX5_GET(wq, wq, uar_page));
	if (!sq->record.uar)
		return HCA_SYND_UAR;
	sq->scq = hca_devx_own(c, &hca->cqs, MLX5_GET(sqc, sqc, cqn));
	if (!sq->scq)
		return HCA_SYND_CQ;
	record.at = MLX5_GET64(wq, wq, dbr_addr);
	synd = hca_record_find(hca, c, &record, &sq->dbr, &sq->dbr_umem);
	if (synd)
		return synd;
	sq->sq.entries = 1u << log_size;
	ring = (struct hca_ring) {
		.pas = MLX5_BYTE_OFF(create_sq_in, ctx.wq.pas),
		.log_page = MLX5_GET(wq, wq, log_wq_pg_sz),
		.page_offset = MLX5_GET(wq, wq, page_offset),
		.entry = MLX5R_WQEBB,
		.size = (u64)sq->sq.entries * MLX5R_WQEBB,
	};
	return hca_ring_init(hca, c, &sq->buf, &ring);
}

enum hca_synd hca_cmd_create_sq(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_qp *sq = hca_qp_new(hca);
	enum hca_synd synd;

	if (!sq)
		return HCA_SYND_NO_MEMORY;
	synd = hca_qp_finish(sq, c, hca_sq_decode(hca, sq, c));
	if (!synd)
		MLX5_SET(create_sq_out, c->out, sqn, sq->qpn);
	return synd;
}

/* States of an SQ, and of its struct hca_qp */
static const struct {
	u8 from, to;
	u8 qp_from, qp_to;
} sq_transitions[] = {
	{ MLX5_SQC_STATE_RST, MLX5_SQC_STATE_RDY, MLX5_QP_STATE_RST, MLX5_QP_STATE_RTS },
	{ MLX5_SQC_STATE_RST, MLX5_SQC_STATE_ERR, MLX5_QP_STATE_RST, MLX5_QP_STATE_ERR },
	{ MLX5_SQC_STATE_RDY, MLX5_SQC_STATE_ERR, MLX5_QP_STATE_RTS, MLX5_QP_STATE_ERR },
	{ MLX5_SQC_STATE_ERR, MLX5_SQC_STATE_RST, MLX5_QP_STATE_ERR, MLX5_QP_STATE_RST },
};

enum hca_synd hca_cmd_modify_sq(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_qp *sq = hca_sq_find(hca, c, MLX5_GET(modify_sq_in, c->in, sqn));
	u32 from = MLX5_GET(modify_sq_in, c->in, sq_state);
	u32 to = MLX5_GET(modify_sq_in, c->in, ctx.state);
	unsigned int i;

	if (!sq)
		return HCA_SYND_SQ;
	if (MLX5_GET64(modify_sq_in, c->in, modify_bitmask))
		return HCA_SYND_SQ_FIELD;
	for (i = 0; i < ARRAY_SIZE(sq_transitions); i++) {
		if (sq_transitions[i].from != from || sq_transitions[i].to != to ||
		    sq_transitions[i].qp_from != sq->state)
			continue;
		hca_qp_enter(sq, sq_transitions[i].qp_to);
		return HCA_OK;
	}
	return HCA_SYND_SQ_STATE;
}

enum hca_synd hca_cmd_destroy_sq(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_qp *sq = hca_sq_find(hca, c, MLX5_GET(destroy_sq_in, c->in, sqn));

	if (!sq)
		return HCA_SYND_SQ;
	hca_qp_free(hca, sq);
	return HCA_OK;
}
