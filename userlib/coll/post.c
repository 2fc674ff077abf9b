// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Posting a run.  The requests are built once, as they are in the ring (rdma/mlx5_ring.h);
 * a run copies them and stores the indices that its waits need.
 */
#include "coll.h"

static void start_image(struct mlx5r_ctrl *ctrl, uint32_t opmod, uint32_t opcode, uint32_t ds,
			unsigned int flags)
{
	ctrl->opmod_idx_opcode = xv_be32(opmod << MLX5R_CTRL_OPMOD_SHIFT | opcode);
	ctrl->qpn_ds = xv_be32(ds);
	ctrl->fm_ce_se = flags & XV_SEND_SIGNALED ? MLX5R_CE_ALWAYS : MLX5R_CE_ON_ERROR;
}

static void wait_image(union image *image, const struct xv_send_wr *wr)
{
	start_image(&image->ctrl, MLX5R_WAIT_CQ, MLX5R_OP_WAIT, 2, wr->send_flags);
	image->wait.seg.number = xv_be32(wr->wr.cqe_wait.cq->cqn);
}

static void data_image(struct mlx5r_data *data, const struct xv_sge *sge)
{
	data->byte_count = xv_be32(sge->length);
	data->lkey = xv_be32(sge->lkey);
	data->addr = xv_be64(sge->addr);
}

static uint8_t chunk_code(uint32_t chunk)
{
	return (uint8_t)(__builtin_ctz(chunk) - __builtin_ctz(MLX5R_VECTOR_CHUNK_MIN));
}

static void vector_image(union image *image, const struct xv_send_wr *wr)
{
	const struct xv_vector_calc *v = &wr->op.vector_calc;
	struct mlx5r_vector_calc *seg = &image->vector.seg;

	start_image(&image->ctrl, MLX5R_CALC_VECTOR, MLX5R_OP_SEND, 4, wr->send_flags);
	seg->op[0] = (uint8_t)v->op;
	seg->type = (uint8_t)v->type;
	seg->flags = chunk_code(v->chunk) | MLX5R_VECTOR_LITTLE_ENDIAN;
	seg->count = xv_be16(v->count);
	data_image(&image->vector.data, wr->sg_list);
}

static void send_image(union image *image, const struct xv_send_wr *wr)
{
	start_image(&image->ctrl, 0, MLX5R_OP_SEND, 1 + (uint32_t)wr->num_sge, wr->send_flags);
	if (wr->num_sge)
		data_image(&image->send.data, wr->sg_list);
}

void xvc_images_build(struct plan *p)
{
	struct list *l;
	uint32_t i;

	for (l = p->list; l < p->list + p->lists; l++) {
		memset(l->image, 0, sizeof(l->image));
		for (i = 0; i < l->n; i++) {
			if (l->wr[i].opcode == XV_WR_CQE_WAIT)
				wait_image(&l->image[i], &l->wr[i]);
			else if (l->wr[i].send_flags & XV_SEND_WITH_VECTOR_CALC)
				vector_image(&l->image[i], &l->wr[i]);
			else
				send_image(&l->image[i], &l->wr[i]);
		}
	}
}

static int post_list(struct list *l)
{
	union image *image = l->image;
	const struct hidden *h;
	uint32_t i;
	int err = 0;

	for (i = 0; i < l->n; i++, image++) {
		h = l->waits[i];
		if (h)
			image->wait.seg.index = xv_be32((h->base + h->waited - 1) &
							MLX5R_WAIT_INDEX_MASK);
		err |= xv_wr_raw(l->qp, 0, image);
	}
	xv_commit_send_relaxed(l->qp);
	return err;
}

int xvc_post(struct xv_coll_op *op)
{
	struct plan *p = &op->plan[op->parity];
	struct landing *r;
	struct list *l;
	int err = 0;

	/* Receives first, because messages to this rank may need them. */
	for (r = p->landing; r < p->landing + p->landings; r++) {
		err |= xv_wr_recv_sg(r->qp, 0, &r->sge, r->wr.num_sge);
		xv_commit_recv(r->qp);
	}
	for (l = p->list; l < p->list + p->lists; l++)
		err |= post_list(l);
	xv_doorbell_flush();
	return err ? -ENOMEM : 0;
}
