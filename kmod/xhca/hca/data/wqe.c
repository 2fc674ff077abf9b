// SPDX-License-Identifier: GPL-2.0
/*
 * Copies a send request out of its ring and parses the copy.
 *
 * A request with a wrong format fails with a local QP operation error, which concerns only
 * its own queue.
 */
#include <linux/compiler.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include "data/data.h"

/* Segments between the control segment and the data segments */
enum {
	SEG_PEER	= 0x01,	/* address vector of UD and DC, SRQ number of XRC */
	SEG_RADDR	= 0x02,
	SEG_ATOMIC	= 0x04,
	SEG_DATA	= 0x08,
	SEG_BODY	= 0x10,	/* the rest belongs to the operation */
	SEG_XCHAN	= 0x20,	/* WAIT and ENABLE */
	SEG_VECTOR	= 0x40,	/* calculation with vectors, instead of data segments */
	SEG_BAD		= 0x80,	/* no such request */
};

/* Who may use an opcode, by service type */
#define ON(st)		(1u << (st))
#define ON_RELIABLE	(ON(MLX5_QP_ST_RC) | ON(MLX5_QP_ST_XRC) | ON(MLX5_QP_ST_DCI))
#define ON_CONNECTED	(ON_RELIABLE | ON(MLX5_QP_ST_UC))
#define ON_DATAGRAM	(ON(MLX5_QP_ST_UD) | ON(MLX5_QP_ST_QP0) | ON(MLX5_QP_ST_QP1))
#define ON_LOCAL	(ON_CONNECTED | ON(MLX5_QP_ST_REG_UMR))
#define ON_ALL		(ON_CONNECTED | ON_LOCAL | ON_DATAGRAM | ON(HCA_ST_SQ))
#define HAS_AV		(ON_DATAGRAM | ON(MLX5_QP_ST_DCI))

static const struct {
	u8 segs;
	u32 types;
} ops[] = {
	[MLX5R_OP_NOP]			= { 0, ON_ALL },
	[MLX5R_OP_SEND]			= { SEG_PEER | SEG_DATA, ON_CONNECTED | ON_DATAGRAM },
	[MLX5R_OP_SEND_IMM]		= { SEG_PEER | SEG_DATA, ON_CONNECTED | ON_DATAGRAM },
	[MLX5R_OP_SEND_INVAL]		= { SEG_PEER | SEG_DATA, ON_RELIABLE },
	[MLX5R_OP_RDMA_WRITE]		= { SEG_PEER | SEG_RADDR | SEG_DATA, ON_CONNECTED },
	[MLX5R_OP_RDMA_WRITE_IMM]	= { SEG_PEER | SEG_RADDR | SEG_DATA, ON_CONNECTED },
	[MLX5R_OP_RDMA_READ]		= { SEG_PEER | SEG_RADDR | SEG_DATA, ON_RELIABLE },
	[MLX5R_OP_ATOMIC_CS]		= { SEG_PEER | SEG_RADDR | SEG_ATOMIC | SEG_DATA,
					    ON_RELIABLE },
	[MLX5R_OP_ATOMIC_FA]		= { SEG_PEER | SEG_RADDR | SEG_ATOMIC | SEG_DATA,
					    ON_RELIABLE },
	[MLX5R_OP_ATOMIC_MASKED_CS]	= { SEG_PEER | SEG_RADDR | SEG_ATOMIC | SEG_DATA,
					    ON_RELIABLE },
	[MLX5R_OP_ATOMIC_MASKED_FA]	= { SEG_PEER | SEG_RADDR | SEG_ATOMIC | SEG_DATA,
					    ON_RELIABLE },
	[MLX5R_OP_WAIT]			= { SEG_XCHAN, ON_CONNECTED },
	[MLX5R_OP_RECV_ENABLE]		= { SEG_XCHAN, ON_CONNECTED },
	[MLX5R_OP_SEND_ENABLE]		= { SEG_XCHAN, ON_CONNECTED },
	[MLX5R_OP_UMR]			= { SEG_BODY, ON_LOCAL },
};

/* A position in the copied WQE, and its end */
struct cursor {
	const u8 *at, *end;
};

/* What follows the control segment */
static struct cursor hca_wqe_begin(const struct hca_wqe *w)
{
	return (struct cursor) { w->raw + sizeof(w->ctrl), w->raw + w->ds * MLX5R_DS };
}

static const void *hca_wqe_take(struct cursor *c, u32 bytes)
{
	const u8 *seg = c->at;

	if (bytes > c->end - c->at)
		return NULL;
	c->at += bytes;
	return seg;
}

/* Basic block @index of the ring, whose pages need not be contiguous */
static const void *hca_wqe_block_at(struct hca_qp *qp, u16 index)
{
	return hca_buf_at(&qp->buf, qp->sq.offset +
			  (index & (qp->sq.entries - 1)) * MLX5R_WQEBB);
}

static bool hca_wqe_names_peer(const struct hca_qp *qp)
{
	return qp->type & (HAS_AV | ON(MLX5_QP_ST_XRC));
}

static bool hca_wqe_take_peer(struct hca_qp *qp, struct hca_wqe *w, struct cursor *c)
{
	const struct mlx5r_xrc *xrc;

	if (qp->st == MLX5_QP_ST_XRC) {
		xrc = hca_wqe_take(c, sizeof(*xrc));
		if (!xrc)
			return false;
		w->xrc_srqn = be32_to_cpu(xrc->srqn) & 0xffffff;
		return true;
	}

	w->av = hca_wqe_take(c, MLX5R_AV_BASE_BYTES);
	if (!w->av)
		return false;
	w->av_ext = be32_to_cpu(w->av->dqp_dct) & MLX5R_AV_EXT;
	/* A connection over RoCE needs a GID. */
	if (qp->st == MLX5_QP_ST_DCI && qp->hca->p.roce && !w->av_ext)
		return false;
	return !w->av_ext || hca_wqe_take(c, sizeof(*w->av) - MLX5R_AV_BASE_BYTES);
}

/*
 * The arguments of an atomic request: its fields, each as long as the operand.  Arguments in
 * memory (MLX5R_ATOMIC_POINTER) are not supported: their layout is not documented.
 */
static bool hca_wqe_take_atomic(const struct hca_qp *qp, struct hca_wqe *w, struct cursor *c)
{
	u32 log = w->opmod & MLX5R_ATOMIC_LOG_MASK;

	if (w->opcode == MLX5R_OP_ATOMIC_CS || w->opcode == MLX5R_OP_ATOMIC_FA) {
		if (w->opmod)
			return false;
		w->operand = sizeof(u64);
	} else {
		if (w->opmod != (MLX5R_ATOMIC_EXT | log) || log == MLX5R_ATOMIC_POINTER)
			return false;
		w->operand = MLX5R_ATOMIC_MIN << log;
		if (!(w->operand & qp->hca->p.model->atomic_sizes))
			return false;
	}
	w->args = hca_wqe_take(c, ALIGN(hca_wqe_arg_bytes(w), MLX5R_DS));
	return w->args;
}

static bool hca_wqe_take_object(struct hca_wqe *w, struct cursor *c)
{
	u32 mask = w->opcode == MLX5R_OP_WAIT ? MLX5R_WAIT_INDEX_MASK : MLX5R_ENABLE_INDEX_MASK;
	const struct mlx5r_wait *seg = hca_wqe_take(c, sizeof(*seg));

	if (!seg)
		return false;
	w->object = be32_to_cpu(seg->number) & 0xffffff;
	w->object_index = be32_to_cpu(seg->index) & mask;
	return true;
}

static bool hca_wqe_take_condition(struct hca_wqe *w, struct cursor *c)
{
	const struct mlx5r_wait_data *seg = hca_wqe_take(c, sizeof(*seg));
	struct hca_wait_data *d = &w->wait;
	u32 op;
	u64 addr;

	if (!seg)
		return false;
	op = be32_to_cpu(seg->op_inv);
	addr = be64_to_cpu(seg->addr_fail);
	*d = (struct hca_wait_data) {
		.op = op & MLX5R_WAIT_OP_MASK,
		.invert = op & MLX5R_WAIT_INVERT,
		.fail = addr & MLX5R_WAIT_FAIL_MASK,
		.lkey = be32_to_cpu(seg->lkey),
		.addr = addr & ~(u64)MLX5R_WAIT_FAIL_MASK,
		.value = be64_to_cpu(seg->value),
		.mask = be64_to_cpu(seg->mask),
	};
	return d->op <= MLX5R_WAIT_CYCLIC_SMALLER && d->fail <= MLX5R_WAIT_ERROR;
}

/* Does the adapter have this kind of wait? */
static bool hca_wqe_may_wait(const struct hca_model *m, const struct hca_wqe *w)
{
	if (w->opcode != MLX5R_OP_WAIT)
		return false;
	return w->opmod == MLX5R_WAIT_DATA ? m->wait_on_data :
	       w->opmod == MLX5R_WAIT_TIME && m->wait_on_time;
}

/*
 * Older libraries put the segments that name the peer before WAIT and ENABLE too, newer ones do
 * not.  Only the length tells them apart.
 */
static bool hca_wqe_take_xchan(struct hca_qp *qp, struct hca_wqe *w, struct cursor *c)
{
	bool object = w->opmod == MLX5R_WAIT_CQ;
	u32 bytes = object ? sizeof(struct mlx5r_wait) : sizeof(struct mlx5r_wait_data);

	if (!object && !hca_wqe_may_wait(qp->hca->p.model, w))
		return false;
	if (c->end - c->at > bytes && hca_wqe_names_peer(qp) && !hca_wqe_take_peer(qp, w, c))
		return false;
	return object ? hca_wqe_take_object(w, c) : hca_wqe_take_condition(w, c);
}

static bool hca_wqe_may_calculate(const struct hca_wqe *w)
{
	switch (w->opcode) {
	case MLX5R_OP_SEND:
	case MLX5R_OP_RDMA_WRITE:
	case MLX5R_OP_RDMA_WRITE_IMM:
		return w->opmod <= MLX5R_CALC_XOR || w->opmod == MLX5R_CALC_VECTOR;
	default:
		return w->opcode == MLX5R_OP_RDMA_READ && w->opmod <= MLX5R_CALC_XOR;
	}
}

/* The segments of a request whose opmod is not 0 */
static u8 hca_wqe_segs_of_opmod(const struct hca_qp *qp, struct hca_wqe *w, u8 segs)
{
	if ((segs & SEG_ATOMIC) || !(segs & SEG_DATA))
		return segs;
	if (!qp->cd_master || !hca_wqe_may_calculate(w))
		return SEG_BAD;
	w->has_calc = true;
	w->calc.opmod = w->opmod;
	return w->opmod == MLX5R_CALC_VECTOR ? segs ^ (SEG_DATA | SEG_VECTOR) : segs;
}

/* Without a coefficient matrix there is one operation. */
static bool hca_wqe_take_vectors(struct hca_wqe *w, struct cursor *c)
{
	const struct mlx5r_vector_calc *calc = hca_wqe_take(c, sizeof(*calc));
	const struct mlx5r_vector_data *data = hca_wqe_take(c, sizeof(*data));

	if (!calc || !data || calc->op[1] ||
	    calc->flags & (MLX5R_VECTOR_MATRIX | MLX5R_VECTOR_MATRIX_8BIT))
		return false;
	w->calc.op = calc->op[0];
	w->calc.type = calc->type;
	w->calc.little = calc->flags & MLX5R_VECTOR_LITTLE_ENDIAN;
	w->calc.count = be16_to_cpu(calc->count);
	w->calc.size = be32_to_cpu(data->byte_count);
	w->calc.sge[0] = (struct hca_sge) {
		.addr = be64_to_cpu(data->addr),
		.len = (u64)w->calc.size * w->calc.count,
		.lkey = be32_to_cpu(data->lkey),
	};
	w->length = w->calc.size;
	return true;
}

static inline bool hca_wqe_take_data(struct hca_wqe *w, struct cursor *c)
{
	while (c->at < c->end) {
		const struct mlx5r_data *d = (const void *)c->at;
		struct hca_sge *sge = &w->sge[w->nsge];
		u32 count = be32_to_cpu(d->byte_count);

		if (count & MLX5R_INLINE) {
			*sge = (struct hca_sge) {
				.len = count & MLX5R_INLINE_LEN_MASK,
				.data = (const u8 *)d + sizeof(struct mlx5r_inline),
			};
			if (!hca_wqe_take(c, ALIGN(sizeof(struct mlx5r_inline) + sge->len,
						   MLX5R_DS)))
				return false;
		} else {
			if (!hca_wqe_take(c, sizeof(*d)))
				return false;
			sge->len = count ? count : 1ull << 31;
			sge->addr = be64_to_cpu(d->addr);
			sge->lkey = be32_to_cpu(d->lkey);
			sge->data = NULL;
		}
		w->length += sge->len;
		w->nsge++;
	}
	return true;
}

static bool hca_wqe_take_raddr(struct hca_wqe *w, struct cursor *c)
{
	const struct mlx5r_raddr *ra = hca_wqe_take(c, sizeof(*ra));

	if (!ra)
		return false;
	w->raddr = be64_to_cpu(ra->addr);
	w->rkey = be32_to_cpu(ra->rkey);
	return true;
}

/* Most requests: those that send, write and read on a connection that needs no address */
static bool hca_wqe_is_usual(const struct hca_qp *qp, const struct hca_wqe *w, u8 segs)
{
	return (segs & ~SEG_RADDR) == (SEG_PEER | SEG_DATA) && !w->opmod && !hca_wqe_names_peer(qp);
}

static bool hca_wqe_take_usual(struct hca_wqe *w, u8 segs)
{
	struct cursor c = hca_wqe_begin(w);

	return (!(segs & SEG_RADDR) || hca_wqe_take_raddr(w, &c)) && hca_wqe_take_data(w, &c);
}

static noinline bool hca_wqe_take_segments(struct hca_qp *qp, struct hca_wqe *w, u8 segs)
{
	struct cursor cursor = hca_wqe_begin(w), *c = &cursor;

	if (w->opmod)
		segs = hca_wqe_segs_of_opmod(qp, w, segs);
	if ((segs & SEG_PEER) && hca_wqe_names_peer(qp) && !hca_wqe_take_peer(qp, w, c))
		return false;
	if ((segs & SEG_RADDR) && !hca_wqe_take_raddr(w, c))
		return false;
	if ((segs & SEG_ATOMIC) && !hca_wqe_take_atomic(qp, w, c))
		return false;
	if (segs & SEG_XCHAN)
		return hca_wqe_take_xchan(qp, w, c);
	if (segs & (SEG_VECTOR | SEG_BAD))
		return segs & SEG_VECTOR && hca_wqe_take_vectors(w, c);
	if (segs & SEG_BODY) {
		w->body = c->at;
		w->body_len = c->end - c->at;
		return true;
	}
	return !(segs & SEG_DATA) || hca_wqe_take_data(w, c);
}

bool hca_wqe_peek_wait(struct hca_qp *qp, struct hca_wqe_wait *wait)
{
	const struct {
		struct mlx5r_ctrl ctrl;
		struct mlx5r_wait seg;
	} *r = hca_wqe_block_at(qp, qp->sq.ci);
	const u32 ds = sizeof(*r) / MLX5R_DS;

	if (be32_to_cpu(READ_ONCE(r->ctrl.opmod_idx_opcode)) !=
	    ((u32)MLX5R_WAIT_CQ << 24 | (u32)qp->sq.ci << 8 | MLX5R_OP_WAIT) ||
	    be32_to_cpu(READ_ONCE(r->ctrl.qpn_ds)) != (qp->qpn << 8 | ds) ||
	    !(ops[MLX5R_OP_WAIT].types & qp->type))
		return false;
	wait->cqn = be32_to_cpu(READ_ONCE(r->seg.number)) & 0xffffff;
	wait->index = be32_to_cpu(READ_ONCE(r->seg.index)) & MLX5R_WAIT_INDEX_MASK;
	wait->nbb = 1;
	wait->signalled = hca_wqe_flags_signalled(READ_ONCE(r->ctrl.fm_ce_se));
	return true;
}

int hca_wqe_fetch_at(struct hca_qp *qp, struct hca_wqe *w, u16 index)
{
	u32 qpn_ds, word, i;
	bool good;
	u8 segs;

	memcpy(w->raw, hca_wqe_block_at(qp, index), MLX5R_WQEBB);
	qpn_ds = be32_to_cpu(w->ctrl.qpn_ds);
	word = be32_to_cpu(w->ctrl.opmod_idx_opcode);
	w->opcode = word;
	w->opmod = word >> 24;
	w->index = index;
	w->fm_ce_se = w->ctrl.fm_ce_se;
	w->ds = qpn_ds & MLX5R_MAX_DS;
	w->nbb = DIV_ROUND_UP(w->ds, MLX5R_WQEBB / MLX5R_DS);
	w->length = 0;
	w->in_cqe = 0;

	if (!w->ds || w->nbb > (u16)(qp->sq.pi - index)) {
		w->nbb = 1;
		return MLX5R_SYND_LOCAL_QP_OP;
	}
	if (qpn_ds >> 8 != qp->qpn || (u16)(word >> 8) != index ||
	    w->opcode >= ARRAY_SIZE(ops) || !(ops[w->opcode].types & qp->type))
		return MLX5R_SYND_LOCAL_QP_OP;

	segs = ops[w->opcode].segs;
	for (i = 1; i < w->nbb; i++)
		memcpy(w->raw + i * MLX5R_WQEBB, hca_wqe_block_at(qp, index + i), MLX5R_WQEBB);
	w->imm = be32_to_cpu(w->ctrl.imm);
	w->nsge = 0;
	w->has_calc = false;
	if (hca_wqe_is_usual(qp, w, segs))
		good = hca_wqe_take_usual(w, segs);
	else
		good = hca_wqe_take_segments(qp, w, segs);
	return good ? 0 : MLX5R_SYND_LOCAL_QP_OP;
}

u32 hca_wqe_span(struct hca_qp *qp, u8 *opcode)
{
	const struct mlx5r_ctrl *ctrl = hca_wqe_block_at(qp, qp->sq.ci);
	u32 bbs, left = (u16)(qp->sq.pi - qp->sq.ci);

	bbs = DIV_ROUND_UP(be32_to_cpu(READ_ONCE(ctrl->qpn_ds)) & MLX5R_MAX_DS,
			   MLX5R_WQEBB / MLX5R_DS);
	*opcode = be32_to_cpu(READ_ONCE(ctrl->opmod_idx_opcode));
	return clamp_t(u32, bbs, 1, left);
}

#undef ON
#undef ON_RELIABLE
#undef ON_CONNECTED
#undef ON_DATAGRAM
#undef ON_LOCAL
#undef ON_ALL
#undef HAS_AV
