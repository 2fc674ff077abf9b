// SPDX-License-Identifier: GPL-2.0
/*
 * The receiver of RC, UC, XRC and DC: executes one message, or a part of it.
 *
 * The result is what the requester sees.  What happens to the receiver (error completion,
 * failure, event) is done here.  Each turn of a long message checks everything again, so
 * a key or queue that was destroyed between two turns ends the message as on a wire.
 */
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>
#include "data/data.h"

/* A DCT serves other sources too, so it does not fail with one message. */
static void hca_resp_fail(struct hca_qp *dst)
{
	if (dst->st != MLX5_QP_ST_DCT)
		hca_fail_qp(dst);
}

/* The receiver refuses the message: it fails with an event.  A UC receiver drops it. */
static int hca_resp_refuse(struct hca_qp *dst, u8 event, u8 syndrome)
{
	if (dst->st != MLX5_QP_ST_UC) {
		hca_event_qp(dst, event);
		hca_resp_fail(dst);
	}
	return syndrome;
}

int hca_resp_refuse_request(struct hca_qp *dst)
{
	return hca_resp_refuse(dst, MLX5_EVENT_TYPE_WQ_INVAL_REQ_ERROR,
			       MLX5R_SYND_REMOTE_INVAL_REQ);
}

int hca_resp_refuse_access(struct hca_qp *dst)
{
	return hca_resp_refuse(dst, MLX5_EVENT_TYPE_WQ_ACCESS_ERROR, MLX5R_SYND_REMOTE_ACCESS);
}

/*
 * The queue lacks the right for the operation, whatever the key allows.  IBTA: the request is
 * invalid.  The event of the receiver is that of an access error, as on adapters.
 */
int hca_resp_refuse_operation(struct hca_qp *dst)
{
	return hca_resp_refuse(dst, MLX5_EVENT_TYPE_WQ_ACCESS_ERROR, MLX5R_SYND_REMOTE_INVAL_REQ);
}

/*
 * A receive request fails: @receiver_synd is the syndrome of its completion, @sender_synd that of
 * the sender's.
 */
int hca_resp_fail_receive(struct hca_qp *dst, struct hca_srq *srq, u32 index, u8 receiver_synd,
			  u8 sender_synd)
{
	hca_rq_consume(dst, srq);
	hca_rq_complete_error(dst, srq, index, receiver_synd);
	hca_resp_fail(dst);
	return sender_synd;
}

static bool hca_resp_consumes_receive(u8 opcode)
{
	return opcode == MLX5R_OP_SEND || opcode == MLX5R_OP_SEND_IMM ||
	       opcode == MLX5R_OP_SEND_INVAL || opcode == MLX5R_OP_RDMA_WRITE_IMM;
}

void hca_resp_receive_done(struct hca_qp *dst, struct hca_srq *srq, struct hca_wqe *w, u32 index)
{
	static const u8 cqe_op[] = {
		[MLX5R_OP_SEND] = MLX5R_CQE_RESP_SEND,
		[MLX5R_OP_SEND_IMM] = MLX5R_CQE_RESP_SEND_IMM,
		[MLX5R_OP_SEND_INVAL] = MLX5R_CQE_RESP_SEND_INV,
		[MLX5R_OP_RDMA_WRITE_IMM] = MLX5R_CQE_RESP_WR_IMM,
	};
	struct mlx5r_cqe cqe = {
		.imm_inval_pkey = w->ctrl.imm,
		.byte_cnt = cpu_to_be32(w->length),
		.wqe_counter = cpu_to_be16(index),
		.op_own = cqe_op[w->opcode] << 4 | w->in_cqe,
	};

	if (w->fm_ce_se & MLX5R_SOLICITED)
		cqe.op_own |= MLX5R_CQE_SOLICITED;
	/* The data is in the receiver's completion, so none is in the sender's. */
	w->in_cqe = 0;
	hca_rq_consume(dst, srq);
	hca_rq_complete(dst, srq, &cqe, w->cqe_data);
}

/*
 * Copies as much as the turn allows, and up to a page more: a short rest needs no turn of its
 * own.  0 when the message is complete.  All access is checked before the first byte is copied.
 * hca_copy_some() does that itself if each list has one segment and all of it is copied.
 */
static noinline int hca_resp_move_part(struct hca_qp *src, struct hca_sgl *to,
				       struct hca_sgl *from, u64 length, enum hca_copy_err *err)
{
	u64 left = hca_turn_left(src->hca->fabric) + HCA_PAGE_SIZE;
	u64 n = min(length - src->done, left);

	*err = HCA_COPY_OK;
	if (n < length || from->n > 1 || to->n > 1) {
		if (!hca_sgl_check(from, length))
			*err = HCA_COPY_SRC;
		else if (!hca_sgl_check(to, length))
			*err = HCA_COPY_DST;
		hca_sgl_skip(to, src->done);
		hca_sgl_skip(from, src->done);
	}
	/* Data for the CQE is not kept from one turn to the next. */
	if (!*err)
		*err = length <= HCA_CQE_INLINE && !from->calc ? hca_copy(to, from, n) :
								 hca_copy_some(to, from, &n);
	if (*err)
		return 0;
	src->done += n;
	src->hca->fabric->stat.bytes += n;
	return src->done < length ? HCA_AGAIN : 0;
}

/* The same.  A short message is complete at once, as most are. */
static inline int hca_resp_move(struct hca_qp *src, struct hca_sgl *to, struct hca_sgl *from,
				u64 length, enum hca_copy_err *err)
{
	if (length > HCA_PAGE_SIZE || src->done || !hca_copy_whole(to, from, length))
		return hca_resp_move_part(src, to, from, length, err);
	src->hca->fabric->stat.bytes += length;
	*err = HCA_COPY_OK;
	return 0;
}

/* The data of a request that sends or writes */
static void hca_resp_source(struct hca_sgl *l, const struct hca_qp *src, struct hca_wqe *w)
{
	hca_sgl_init(l, src, MLX5R_MKEY_ACCESS_LR, w->sge, w->nsge);
	if (w->has_calc)
		l->calc = &w->calc;
}

/* Requests that send or write have no atomic operand and are no READ. */
bool hca_resp_can_send(const struct hca_qp *src, struct hca_wqe *w)
{
	struct hca_sgl from;

	if (w->operand || w->opcode == MLX5R_OP_RDMA_READ || w->has_calc)
		return true;
	hca_resp_source(&from, src, w);
	return hca_sgl_check(&from, w->length);
}

/* The queue pair does not allow the request, which an adapter would send only if it can. */
static noinline int hca_resp_refuse_write(struct hca_qp *src, struct hca_qp *dst,
					  struct hca_wqe *w)
{
	return hca_resp_can_send(src, w) ? hca_resp_refuse_operation(dst) : MLX5R_SYND_LOCAL_PROT;
}

static int hca_resp_send(struct hca_qp *src, struct hca_qp *dst, struct hca_srq *srq,
			 struct hca_wqe *w, struct hca_rwqe *r)
{
	struct hca_sgl from, to;
	enum hca_copy_err err;
	int ret;

	if (w->length > r->length && !hca_resp_can_send(src, w))
		return MLX5R_SYND_LOCAL_PROT;
	if (w->length > r->length)
		return hca_resp_fail_receive(dst, srq, r->index, MLX5R_SYND_LOCAL_LENGTH,
					     MLX5R_SYND_REMOTE_INVAL_REQ);
	hca_resp_source(&from, src, w);
	hca_sgl_init(&to, dst, MLX5R_MKEY_ACCESS_LW, r->sge, r->nsge);
	/* The receives of a DCT belong to its own PD (Manual A.1.3). */
	if (srq && dst->st != MLX5_QP_ST_DCT)
		to.user.pd = srq->pd;
	if (!w->has_calc)
		hca_sgl_divert(&to, w, hca_rq_cq(dst, srq), dst->cs_res);
	ret = hca_resp_move(src, &to, &from, w->length, &err);
	if (err == HCA_COPY_SRC)
		return MLX5R_SYND_LOCAL_PROT;
	if (err == HCA_COPY_DST)
		return hca_resp_fail_receive(dst, srq, r->index, MLX5R_SYND_LOCAL_PROT,
					     MLX5R_SYND_REMOTE_OP);
	return ret;
}

/* The SRQ that an XRC request names, or NULL; it must be in the XRC domain of the target. */
static struct hca_srq *hca_resp_xrc_srq(struct hca_qp *dst, const struct hca_wqe *w)
{
	struct hca_srq *srq = hca_table_get(&dst->hca->srqs, w->xrc_srqn);

	return srq && srq->kind == HCA_XRC_SRQ && srq->xrcd == dst->xrcd ? srq : NULL;
}

/* The target of a response: the local segments, or the completion if there is one. */
static void hca_resp_local_segments(struct hca_sgl *l, struct hca_qp *src, struct hca_wqe *w)
{
	hca_sgl_init(l, src, MLX5R_MKEY_ACCESS_LW, w->sge, w->nsge);
	if (hca_wqe_signalled(w) && !w->has_calc)
		hca_sgl_divert(l, w, src->scq, src->cs_req);
}

/* An XRC target has no PD of its own: the PD of the SRQ is used, which exists. */
static inline void hca_resp_remote_segment(struct hca_sgl *l, struct hca_qp *dst, struct hca_wqe *w,
					   u8 access)
{
	w->rsge = (struct hca_sge) { .addr = w->raddr, .len = w->length, .lkey = w->rkey };
	hca_sgl_init(l, dst, access, &w->rsge, 1);
	if (dst->st == MLX5_QP_ST_XRC)
		l->user.pd = hca_resp_xrc_srq(dst, w)->pd;
}

/* Copies the data of a write; REMOTE_ACCESS: the receiver's key does not allow it. */
static inline int hca_resp_write_data(struct hca_qp *src, struct hca_qp *dst, struct hca_wqe *w)
{
	struct hca_sgl from, to;
	enum hca_copy_err err;
	int ret;

	if (!w->length)
		return 0;
	hca_resp_remote_segment(&to, dst, w, MLX5R_MKEY_ACCESS_RW);
	hca_resp_source(&from, src, w);
	ret = hca_resp_move(src, &to, &from, w->length, &err);
	if (err == HCA_COPY_SRC)
		return MLX5R_SYND_LOCAL_PROT;
	return err == HCA_COPY_DST ? MLX5R_SYND_REMOTE_ACCESS : ret;
}

static int hca_resp_write(struct hca_qp *src, struct hca_qp *dst, struct hca_wqe *w)
{
	int ret;

	if (!dst->rwe)
		return hca_resp_refuse_write(src, dst, w);
	ret = hca_resp_write_data(src, dst, w);
	return ret == MLX5R_SYND_REMOTE_ACCESS ? hca_resp_refuse_access(dst) : ret;
}

/* If the key does not allow the write, the receive request fails too. */
static int hca_resp_write_imm(struct hca_qp *src, struct hca_qp *dst, struct hca_srq *srq,
			      struct hca_wqe *w, u32 index)
{
	int ret;

	if (!dst->rwe)
		return hca_resp_refuse_write(src, dst, w);
	ret = hca_resp_write_data(src, dst, w);
	if (ret != MLX5R_SYND_REMOTE_ACCESS)
		return ret;
	if (dst->st != MLX5_QP_ST_UC) {
		hca_rq_consume(dst, srq);
		hca_rq_complete_error(dst, srq, index, MLX5R_SYND_LOCAL_ACCESS);
	}
	return hca_resp_refuse_access(dst);
}

static noinline int hca_resp_read(struct hca_qp *src, struct hca_qp *dst, struct hca_wqe *w)
{
	struct hca_sgl from, to;
	enum hca_copy_err err;
	int ret;

	if (!dst->rre)
		return hca_resp_refuse_operation(dst);
	if (!w->length)
		return 0;
	hca_resp_remote_segment(&from, dst, w, MLX5R_MKEY_ACCESS_RR);
	hca_resp_local_segments(&to, src, w);
	ret = hca_resp_move(src, &to, &from, w->length, &err);
	if (err == HCA_COPY_DST)
		return MLX5R_SYND_LOCAL_PROT;
	if (err == HCA_COPY_SRC)
		return hca_resp_refuse_access(dst);
	return ret;
}

/* A mode from 3 on is log2 of the largest operand in bytes; lower modes allow 8 bytes. */
static bool hca_resp_takes_operand(const struct hca_qp *dst, u32 bytes)
{
	if (dst->atomic_mode < HCA_ATOMIC_MODE_8B)
		return bytes == sizeof(u64);
	return bytes <= 1u << dst->atomic_mode && bytes & dst->hca->p.model->atomic_sizes;
}

void *hca_resp_atomic_memory(struct hca_qp *dst, struct hca_wqe *w, int *err)
{
	u64 len = w->operand;	/* the key must map the operand in one piece */
	struct hca_sgl to;
	void *mem;

	if (!dst->rae || !dst->atomic_mode) {
		*err = hca_resp_refuse_operation(dst);
		return NULL;
	}
	if (w->raddr & (w->operand - 1) || !hca_resp_takes_operand(dst, w->operand)) {
		*err = hca_resp_refuse_request(dst);
		return NULL;
	}
	hca_resp_remote_segment(&to, dst, w, MLX5R_MKEY_ACCESS_A);
	mem = hca_key_map(&to.user, w->rkey, w->raddr, &len);
	/* An indirect mkey may lead to an unaligned word, where atomics are slow or fault. */
	if (mem && len == w->operand &&
	    !((unsigned long)mem & (min_t(u32, w->operand, sizeof(u64)) - 1)))
		return mem;
	*err = hca_resp_refuse_access(dst);
	return NULL;
}

static noinline int hca_resp_atomic(struct hca_qp *src, struct hca_qp *dst, struct hca_wqe *w)
{
	u64 reply[MLX5R_ATOMIC_MAX / sizeof(u64)];
	u64 len = w->operand;
	struct hca_sgl to, from;
	struct hca_sge sge;
	void *mem;
	int err;

	mem = hca_resp_atomic_memory(dst, w, &err);
	if (!mem)
		return err;
	hca_resp_local_segments(&to, src, w);
	if (!hca_sgl_check(&to, len))
		return MLX5R_SYND_LOCAL_PROT;
	if (hca_atomic(w, mem, reply))
		return HCA_AGAIN;
	sge = (struct hca_sge) { .len = len, .data = reply };
	hca_sgl_init(&from, src, 0, &sge, 1);
	return hca_copy(&to, &from, len) ? MLX5R_SYND_LOCAL_PROT : 0;
}

bool hca_resp_invalidate(struct hca_qp *dst, u32 pd, u32 key)
{
	struct hca_mkey *mkey = hca_mkey_get(dst->hca, key);

	if (!mkey || mkey->key != key || mkey->pd != pd || !mkey->en_rinval ||
	    (mkey->qpn != HCA_ANY_QPN && mkey->qpn != dst->qpn))
		return false;
	mkey->free = true;
	return true;
}

struct hca_srq *hca_resp_receive_queue(struct hca_qp *dst, const struct hca_wqe *w, int *err)
{
	struct hca_srq *srq = dst->srq;

	*err = 0;
	if (dst->st == MLX5_QP_ST_XRC) {
		srq = hca_resp_xrc_srq(dst, w);
		if (!srq)
			*err = hca_resp_refuse_request(dst);
	}
	return srq;
}

static noinline int hca_resp_consuming(struct hca_qp *src, struct hca_qp *dst, struct hca_wqe *w)
{
	struct hca_rwqe *r = &src->hca->fabric->scratch->rwqe;
	struct hca_srq *srq;
	u32 pd;
	int ret;

	srq = hca_resp_receive_queue(dst, w, &ret);
	if (ret)
		return ret;
	/* A message must continue in the shared request in which it began. */
	if (srq && src->in_message && dst->holder->recv_srq != srq)
		return hca_resp_refuse_request(dst);
	/* A new UC message begins: the one before was not complete if it holds a request. */
	if (srq && !src->in_message && dst->st == MLX5_QP_ST_UC)
		hca_rq_abort(dst, dst);
	ret = hca_rq_read(dst, srq, r);
	if (ret)
		return ret;
	if (w->opcode == MLX5R_OP_RDMA_WRITE_IMM)
		ret = hca_resp_write_imm(src, dst, srq, w, r->index);
	else
		ret = hca_resp_send(src, dst, srq, w, r);
	if (ret == HCA_AGAIN)
		hca_rq_hold(dst, srq);
	if (ret)
		return ret;
	/* As for the memory, the PD of an XRC target is that of the SRQ. */
	pd = srq && dst->st == MLX5_QP_ST_XRC ? srq->pd : dst->pd;
	if (w->opcode == MLX5R_OP_SEND_INVAL && !hca_resp_invalidate(dst, pd, w->imm))
		return hca_resp_fail_receive(dst, srq, r->index, MLX5R_SYND_LOCAL_QP_OP,
					     MLX5R_SYND_REMOTE_OP);
	hca_resp_receive_done(dst, srq, w, r->index);
	return 0;
}

static int hca_resp_execute(struct hca_qp *src, struct hca_qp *dst, struct hca_wqe *w)
{
	if (hca_resp_consumes_receive(w->opcode))
		return hca_resp_consuming(src, dst, w);
	/* An XRC request names an SRQ, also if it takes no receive request (IBTA, annex A14). */
	if (dst->st == MLX5_QP_ST_XRC && !hca_resp_xrc_srq(dst, w))
		return hca_resp_refuse_request(dst);
	switch (w->opcode) {
	case MLX5R_OP_RDMA_WRITE:
		return hca_resp_write(src, dst, w);
	case MLX5R_OP_RDMA_READ:
		return hca_resp_read(src, dst, w);
	default:
		return hca_resp_atomic(src, dst, w);
	}
}

void hca_resp_establish(struct hca_qp *dst)
{
	if (dst->communication)
		return;
	dst->communication = true;
	if (dst->state == MLX5_QP_STATE_RTR)
		hca_event_qp(dst, MLX5_EVENT_TYPE_COMM_EST);
}

int hca_respond(struct hca_qp *src, struct hca_qp *dst, struct hca_wqe *w)
{
	int ret;

	if (dst->st == MLX5_QP_ST_DCT)
		dst->holder = src;
	hca_resp_establish(dst);
	ret = hca_resp_execute(src, dst, w);
	/* UC: the PSN advances after a dropped message too. */
	if (!ret || (dst->st == MLX5_QP_ST_UC && ret != HCA_AGAIN))
		dst->rq_psn = (src->sq_psn + w->packets) & HCA_PSN_MASK;
	return ret;
}
