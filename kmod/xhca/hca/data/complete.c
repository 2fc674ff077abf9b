// SPDX-License-Identifier: GPL-2.0
/*
 * The completions of send requests, the end of a turn, and how long a request waits for a receiver
 * that is not ready.
 */
#include <linux/minmax.h>
#include <asm/byteorder.h>
#include "data/data.h"

enum {
	RNR_PART	= 16,	/* each delay is longer by this part of the one before */
};

#define RNR_LAST_NS	4000000u	/* up to this */

static void hca_req_post_completion(struct hca_qp *qp, struct mlx5r_cqe *cqe, const u8 *data)
{
	if (!hca_cqe_post(qp->scq, cqe, data))
		hca_fail_fatal(qp);
}

void hca_req_post_error(struct hca_qp *qp, u16 index, u8 opcode, u8 syndrome)
{
	struct mlx5r_err_cqe cqe = {
		.srqn_uidx = cpu_to_be32(qp->user_index),
		.sop_drop_qpn = cpu_to_be32((u32)opcode << 24 | qp->qpn),
		.wqe_counter = cpu_to_be16(index),
		.op_own = MLX5R_CQE_REQ_ERR << 4 | MLX5R_CQE_SOLICITED,
	};

	hca_error_of_request(qp, &cqe, syndrome);
	hca_count_error(qp, syndrome);
	hca_req_post_completion(qp, (struct mlx5r_cqe *)&cqe, NULL);
}

void hca_req_post_success(struct hca_qp *qp, const struct hca_wqe *w)
{
	struct mlx5r_cqe cqe = {
		.srqn_uidx = cpu_to_be32(qp->user_index),
		.byte_cnt = cpu_to_be32(w->length),
		.sop_drop_qpn = cpu_to_be32((u32)w->opcode << 24 | qp->qpn),
		.wqe_counter = cpu_to_be16(w->index),
		.op_own = MLX5R_CQE_REQ << 4 | w->in_cqe,
	};

	hca_req_post_completion(qp, &cqe, w->cqe_data);
}

void hca_turn_end(struct hca_fabric *f)
{
	int i;

	hca_cq_raise_events(f);
	f->stat.units += f->turn.units;
	for (i = 0; i < HCA_WORK_KINDS; i++)
		f->stat.largest[i] = max(f->stat.largest[i], f->turn.done[i]);
}

/* RNR NAK timer codes, in units of 10 us (IBTA, table of timer values) */
static const u16 rnr_10us[32] = {
	65535, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512,
	768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

/*
 * The receiver asks for a delay of at least the time of @code.  If the number of retries has no
 * limit, the delay grows with the time that the request has waited: such a receiver may never be
 * ready.
 */
u32 hca_req_rnr_ns(struct hca_qp *qp, u8 code)
{
	u32 ns = rnr_10us[code] * 10000u;

	if (qp->rnr_retry != 7)
		return ns;
	if (qp->rnr_index == qp->sq.ci && qp->rnr_ns >= ns)
		ns = max(ns, min(qp->rnr_ns + qp->rnr_ns / RNR_PART, RNR_LAST_NS));
	qp->rnr_index = qp->sq.ci;
	qp->rnr_ns = ns;
	return ns;
}

#undef RNR_LAST_NS
