// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Polling: arrays of completions, and one completion at a time (struct ibv_cq_ex).
 */
#include "ibv.h"

int iv_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	return xv_bridge_poll_cq(TO(cq, cq)->xv, n, wc);
}

int iv_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	return xv_req_notify(TO(cq, cq)->xv, solicited_only);
}

/* ---- One completion at a time; the lock is held from start_poll to end_poll ------------- */

/* As xv_poll_cq(), skips a completion whose queue no longer exists. */
static int next(struct cq *cq)
{
	const struct mlx5r_cqe *cqe;
	struct xv_rsc *rsc;

	for (;;) {
		cqe = cq->cqe = xv_cq_next(cq->xv);
		if (!cqe)
			return iv_error(-ENOENT);
		rsc = __xv_cqe_rsc(cq->xv, cqe);
		if (xv_likely(rsc && (rsc->type == XV_RSC_QP || !xv_cqe_is_send(cqe))))
			break;
		xv_cq_done(cq->xv, cqe);
	}
	if (xv_unlikely(xv_cqe_data(cqe)))
		__xv_cqe_deliver(rsc, cqe);
	cq->pub.wr_id = xv_cqe_wr_id(cq->xv, cqe);
	cq->pub.status = (enum ibv_wc_status)xv_cqe_status(cqe);
	return 0;
}

static int start_poll(struct ibv_cq_ex *pub, struct ibv_poll_cq_attr *attr)
{
	struct cq *cq = TO(cq, pub);
	int err;

	if (attr->comp_mask)
		return iv_error(-EINVAL);
	xv_lock(&cq->xv->lock);
	err = next(cq);
	if (err)
		xv_unlock(&cq->xv->lock);
	return err;
}

static int next_poll(struct ibv_cq_ex *pub)
{
	struct cq *cq = TO(cq, pub);

	if (cq->cqe)
		xv_cq_done(cq->xv, cq->cqe);
	return next(cq);
}

static void end_poll(struct ibv_cq_ex *pub)
{
	struct cq *cq = TO(cq, pub);

	if (cq->cqe)
		xv_cq_done(cq->xv, cq->cqe);
	xv_commit_cq(cq->xv);
	xv_unlock(&cq->xv->lock);
}

static inline const struct mlx5r_cqe *cqe_of(struct ibv_cq_ex *pub)
{
	return TO(cq, pub)->cqe;
}

/* Data in the first half of the CQE replaces the fields that only datagrams need. */
static inline bool is_covered(const struct mlx5r_cqe *cqe)
{
	return (cqe->op_own & MLX5R_CQE_FORMAT_MASK) == MLX5R_CQE_INLINE_32;
}

static inline uint32_t flags_rqpn(const struct mlx5r_cqe *cqe)
{
	return is_covered(cqe) ? 0 : xv_be32(cqe->flags_rqpn);
}

/* xv_cqe_wr_id() has found the queue pair of a send. */
static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *pub)
{
	const struct mlx5r_cqe *cqe = cqe_of(pub);

	if (xv_cqe_is_send(cqe))
		return (enum ibv_wc_opcode)xv_cqe_sq_entry(TO(cq, pub)->xv->last, cqe)->wc_opcode;
	return xv_cqe_opcode(cqe) == MLX5R_CQE_RESP_WR_IMM ? IBV_WC_RECV_RDMA_WITH_IMM :
							     IBV_WC_RECV;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *pub)
{
	const struct mlx5r_cqe *cqe = cqe_of(pub);

	return xv_cqe_status(cqe) == XV_WC_SUCCESS ? 0 : xv_cqe_err(cqe)->vendor_err_synd;
}

static uint32_t read_byte_len(struct ibv_cq_ex *pub)
{
	const struct mlx5r_cqe *cqe = cqe_of(pub);

	if (xv_cqe_is_send(cqe)) {
		enum ibv_wc_opcode op = read_opcode(pub);

		if (op == IBV_WC_COMP_SWAP || op == IBV_WC_FETCH_ADD)
			return 8;
	}
	return xv_cqe_byte_len(cqe);
}

/* Immediate data is in network order, an invalidated key in host order. */
static __be32 read_imm_data(struct ibv_cq_ex *pub)
{
	const struct mlx5r_cqe *cqe = cqe_of(pub);
	uint32_t imm = xv_cqe_imm(cqe);

	return xv_cqe_opcode(cqe) == MLX5R_CQE_RESP_SEND_INV ? xv_be32(imm) : imm;
}

static uint32_t read_qp_num(struct ibv_cq_ex *pub)
{
	return xv_cqe_qpn(cqe_of(pub));
}

static uint32_t read_src_qp(struct ibv_cq_ex *pub)
{
	return flags_rqpn(cqe_of(pub)) & 0xffffff;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *pub)
{
	const struct mlx5r_cqe *cqe = cqe_of(pub);
	unsigned int flags = 0;

	switch (xv_cqe_opcode(cqe)) {
	case MLX5R_CQE_RESP_WR_IMM:
	case MLX5R_CQE_RESP_SEND_IMM:
		flags = IBV_WC_WITH_IMM;
		break;
	case MLX5R_CQE_RESP_SEND_INV:
		flags = IBV_WC_WITH_INV;
		break;
	case MLX5R_CQE_RESP_SEND:
		break;
	default:
		return 0;
	}
	return flags | (flags_rqpn(cqe) >> 28 & 3 ? IBV_WC_GRH : 0);
}

static uint32_t read_slid(struct ibv_cq_ex *pub)
{
	return is_covered(cqe_of(pub)) ? 0 : xv_be16(cqe_of(pub)->slid);
}

static uint8_t read_sl(struct ibv_cq_ex *pub)
{
	return flags_rqpn(cqe_of(pub)) >> 24 & 0xf;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *pub)
{
	return is_covered(cqe_of(pub)) ? 0 : cqe_of(pub)->ml_path & 0x7f;
}

/* 15:13 priority, 11:0 VLAN */
static uint16_t read_cvlan(struct ibv_cq_ex *pub)
{
	return is_covered(cqe_of(pub)) ? 0 : xv_be16(cqe_of(pub)->vlan_info);
}

static uint64_t read_completion_ts(struct ibv_cq_ex *pub)
{
	return xv_cqe_timestamp(cqe_of(pub));
}

void iv_poll_ex_init(struct cq *cq)
{
	struct ibv_cq_ex *pub = &cq->pub;

	pub->start_poll = start_poll;
	pub->next_poll = next_poll;
	pub->end_poll = end_poll;
	pub->read_opcode = read_opcode;
	pub->read_vendor_err = read_vendor_err;
	pub->read_byte_len = read_byte_len;
	pub->read_imm_data = read_imm_data;
	pub->read_qp_num = read_qp_num;
	pub->read_src_qp = read_src_qp;
	pub->read_wc_flags = read_wc_flags;
	pub->read_slid = read_slid;
	pub->read_sl = read_sl;
	pub->read_dlid_path_bits = read_dlid_path_bits;
	pub->read_completion_ts = read_completion_ts;
	pub->read_cvlan = read_cvlan;
}
