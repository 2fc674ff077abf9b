/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DC targets of a session, and requests to them.  The targets of a function share one receive
 * queue, a ring of requests with one segment.
 */
#ifndef DC_H
#define DC_H

#include <string.h>
#include <asm/byteorder.h>
#include "cmd/cmd.h"
#include "session.h"

#define TEST_DC_KEY	0x1122334455667788ull
#define DC_USER_INDEX	0x123456
#define DC_LOG_SRQ	8
#define DC_RNR		1		/* code of 10 us */
#define DC_MAX_SGE	8

/* A shared receive queue */
struct dc_srq {
	u32 srqn, posted;
	u64 ring, dbr;
};

/* The address vector with which a request names its target */
struct dc_target {
	struct xv_ah ah;
	u32 dctn;
	u64 key;
};

struct dc_wr {
	u8 opcode, opmod;
	u8 fm_ce_se;
	__be32 imm;
	u64 raddr;
	u32 rkey;
	u64 arg[4];			/* of an atomic */
	u32 nsge;
	struct xv_sge sge[DC_MAX_SGE];
	const void *data;		/* inline, instead of the segments */
	u32 bytes;
	bool base_av;			/* 16 bytes: no GRH (InfiniBand) */
};

static inline struct dc_srq dc_srq(struct session *s, int func)
{
	u32 in[(MLX5_ST_SZ_BYTES(create_rmp_in) + 8) / 4] = {};
	u32 out[MLX5_ST_SZ_DW(create_rmp_out)] = {};
	void *ctx = MLX5_ADDR_OF(create_rmp_in, in, ctx);
	void *wq = MLX5_ADDR_OF(rmpc, ctx, wq);
	struct dc_srq srq = {
		.ring = session_alloc(s, 16u << DC_LOG_SRQ),
		.dbr = session_alloc(s, 8),
	};

	MLX5_SET(create_rmp_in, in, opcode, MLX5_CMD_OP_CREATE_RMP);
	MLX5_SET(rmpc, ctx, state, 1);
	MLX5_SET(rmpc, ctx, basic_cyclic_rcv_wqe, 1);
	MLX5_SET(wq, wq, wq_type, MLX5_WQ_TYPE_CYCLIC);
	MLX5_SET(wq, wq, pd, s->pd[func]);
	MLX5_SET(wq, wq, log_wq_sz, DC_LOG_SRQ);
	MLX5_SET(wq, wq, log_wq_stride, 4);
	MLX5_SET64(wq, wq, dbr_addr, srq.dbr);
	*(__be64 *)MLX5_ADDR_OF(create_rmp_in, in, ctx.wq.pas) = cpu_to_be64(srq.ring);
	if (!session_cmd(s, func, in, sizeof(in), out, sizeof(out)))
		srq.srqn = MLX5_GET(create_rmp_out, out, rmpn);
	return srq;
}

static inline void dc_receive(struct session *s, struct dc_srq *srq, const struct xv_sge *sge)
{
	u32 slot = srq->posted++ & ((1u << DC_LOG_SRQ) - 1);
	struct mlx5r_data *d = session_ptr(s, srq->ring + slot * 16ull);

	d->byte_count = cpu_to_be32(sge->length);
	d->lkey = cpu_to_be32(sge->lkey);
	d->addr = cpu_to_be64(sge->addr);
	*(__be32 *)session_ptr(s, srq->dbr) = cpu_to_be32(srq->posted);
}

/* A context with every right, for CREATE_DCT */
static inline void dc_fill(struct session *s, int func, u32 *in, const struct dc_srq *srq, u32 cqn)
{
	void *dctc = MLX5_ADDR_OF(create_dct_in, in, dct_context_entry);

	MLX5_SET(create_dct_in, in, opcode, MLX5_CMD_OP_CREATE_DCT);
	MLX5_SET(dctc, dctc, pd, s->pd[func]);
	MLX5_SET(dctc, dctc, srqn_xrqn, srq->srqn);
	MLX5_SET(dctc, dctc, cqn, cqn);
	MLX5_SET64(dctc, dctc, dc_access_key, TEST_DC_KEY);
	MLX5_SET(dctc, dctc, user_index, DC_USER_INDEX);
	MLX5_SET(dctc, dctc, rre, 1);
	MLX5_SET(dctc, dctc, rwe, 1);
	MLX5_SET(dctc, dctc, rae, 1);
	MLX5_SET(dctc, dctc, atomic_mode, hca_model_atomic_mode(s->hca[func]->p.model));
	MLX5_SET(dctc, dctc, min_rnr_nak, DC_RNR);
	MLX5_SET(dctc, dctc, mtu, IB_MTU_4096);
	MLX5_SET(dctc, dctc, port, 1);
}

/* The address of function @to */
static inline struct xv_ah dc_ah(const struct session *s, int to)
{
	struct xv_ah ah = {};

	if (s->hca[to]->p.roce)
		return session_ah(s, to);
	ah.av.rlid = cpu_to_be16(s->hca[to]->port[0].lid);
	return ah;
}

/* A DCT; its number is 0 if the command fails. */
static inline struct dc_target dc_target(struct session *s, int func, const struct dc_srq *srq,
					 u32 cqn)
{
	u32 in[MLX5_ST_SZ_DW(create_dct_in)] = {}, out[MLX5_ST_SZ_DW(create_dct_out)] = {};
	struct dc_target t = { .ah = dc_ah(s, func), .key = TEST_DC_KEY };

	dc_fill(s, func, in, srq, cqn);
	if (!session_cmd(s, func, in, sizeof(in), out, sizeof(out)))
		t.dctn = MLX5_GET(create_dct_out, out, dctn);
	return t;
}

/* Status of a command that has only a number */
static inline u8 dc_command(struct session *s, int func, u16 opcode, u32 dctn, u32 *out,
			    u32 outlen)
{
	u32 in[MLX5_ST_SZ_DW(drain_dct_in)] = {};

	MLX5_SET(drain_dct_in, in, opcode, opcode);
	MLX5_SET(drain_dct_in, in, dctn, dctn);
	return session_cmd(s, func, in, sizeof(in), out, outlen);
}

static inline u8 dc_simple(struct session *s, int func, u16 opcode, u32 dctn)
{
	u32 out[MLX5_ST_SZ_DW(drain_dct_out)] = {};

	return dc_command(s, func, opcode, dctn, out, sizeof(out));
}

/* A DCI in RTS */
static inline void dc_initiator(struct session *s, int func, u32 log_sq, struct session_qp *q)
{
	session_qp(s, func, MLX5_QP_ST_DCI, log_sq, 0, q);
	session_connect(q, q);
}

static inline u8 *dc_put(u8 *at, const void *seg, u32 bytes)
{
	memcpy(at, seg, bytes);
	return at + bytes;
}

static inline u8 *dc_put_data(u8 *at, const struct dc_wr *wr)
{
	__be32 head = cpu_to_be32(MLX5R_INLINE | wr->bytes);
	struct mlx5r_data d;
	u32 i;

	if (wr->data) {
		memcpy(at, &head, sizeof(head));
		memcpy(at + sizeof(head), wr->data, wr->bytes);
		return at + (sizeof(head) + wr->bytes + 15) / 16 * 16;
	}
	for (i = 0; i < wr->nsge; i++) {
		d.byte_count = cpu_to_be32(wr->sge[i].length);
		d.lkey = cpu_to_be32(wr->sge[i].lkey);
		d.addr = cpu_to_be64(wr->sge[i].addr);
		at = dc_put(at, &d, sizeof(d));
	}
	return at;
}

static inline u8 *dc_put_segments(u8 *at, const struct dc_wr *wr)
{
	struct mlx5r_raddr ra = { .addr = cpu_to_be64(wr->raddr), .rkey = cpu_to_be32(wr->rkey) };
	u32 i, args = wr->opcode == MLX5R_OP_ATOMIC_MASKED_CS ? 4 : 2;
	__be64 arg;

	if (wr->opcode >= MLX5R_OP_RDMA_WRITE && wr->opcode != MLX5R_OP_SEND &&
	    wr->opcode != MLX5R_OP_SEND_IMM)
		at = dc_put(at, &ra, sizeof(ra));
	for (i = 0; wr->opcode > MLX5R_OP_RDMA_READ && i < args; i++) {
		arg = cpu_to_be64(wr->arg[i]);
		at = dc_put(at, &arg, sizeof(arg));
	}
	return dc_put_data(at, wr);
}

/* A request in the format of the ring */
union dc_wqe {
	struct mlx5r_ctrl ctrl;
	u8 raw[MLX5R_MAX_WQEBB * MLX5R_WQEBB];
};

static inline void dc_prepare(union dc_wqe *w, const struct dc_target *t, const struct dc_wr *wr)
{
	struct mlx5r_av av = t->ah.av;
	u8 *end;

	memset(w, 0, sizeof(*w));
	av.dc_key = cpu_to_be64(t->key);
	av.dqp_dct = cpu_to_be32((wr->base_av ? 0 : MLX5R_AV_EXT) | t->dctn);
	end = dc_put(w->raw + sizeof(w->ctrl), &av, wr->base_av ? MLX5R_AV_BASE_BYTES : sizeof(av));
	end = dc_put_segments(end, wr);
	w->ctrl.opmod_idx_opcode = cpu_to_be32((u32)wr->opmod << 24 | wr->opcode);
	w->ctrl.qpn_ds = cpu_to_be32((end - w->raw) / MLX5R_DS);
	w->ctrl.fm_ce_se = wr->fm_ce_se;
	w->ctrl.imm = wr->imm;
}

/* Builds a request; the caller commits.  Not 0: the queue is full. */
static inline int dc_build(struct session_qp *q, const struct dc_target *t, const struct dc_wr *wr)
{
	union dc_wqe w;

	dc_prepare(&w, t, wr);
	return xv_wr_raw(&q->qp, 0, &w);
}

#endif
