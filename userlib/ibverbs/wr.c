// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Posting with the extended interface (struct ibv_qp_ex).  The functions of operations store
 * the operation, those of parts store the part.  The last part that a request needs builds it.
 */
#include "ibv.h"

static inline void fail(struct qp *qp, int err)
{
	if (!qp->err)
		qp->err = err;
}

/* Begins a request. */
static inline void open_wr(struct qp *qp, enum xv_wr_opcode opcode)
{
	qp->wr.wr_id = qp->pub.wr_id;
	qp->wr.send_flags = qp->pub.wr_flags & (IBV_SEND_FENCE | IBV_SEND_SIGNALED |
						IBV_SEND_SOLICITED);
	qp->wr.opcode = opcode;
	qp->has = 0;
	if (xv_unlikely(iv_sends_full(qp)))
		fail(qp, ENOMEM);
	qp->sends.posted++;
}

static void build(struct qp *qp)
{
	int err = xv_wr_general(qp->xv, &qp->wr);

	if (xv_unlikely(err))
		fail(qp, -err);
}

static inline void part(struct qp *qp, uint32_t bit)
{
	qp->has |= bit;
	if (qp->has == qp->needs)
		build(qp);
}

/* ---- Operations ---------------------------------------------------------------------- */

static inline void open_rdma(struct qp *qp, enum xv_wr_opcode opcode, uint32_t rkey,
			     uint64_t addr)
{
	open_wr(qp, opcode);
	qp->wr.wr.rdma.remote_addr = addr;
	qp->wr.wr.rdma.rkey = rkey;
}

static void wr_rdma_read(struct ibv_qp_ex *pub, uint32_t rkey, uint64_t addr)
{
	open_rdma(TO(qp, pub), XV_WR_RDMA_READ, rkey, addr);
}

static void wr_rdma_write(struct ibv_qp_ex *pub, uint32_t rkey, uint64_t addr)
{
	open_rdma(TO(qp, pub), XV_WR_RDMA_WRITE, rkey, addr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *pub, uint32_t rkey, uint64_t addr, __be32 imm)
{
	open_rdma(TO(qp, pub), XV_WR_RDMA_WRITE_WITH_IMM, rkey, addr);
	TO(qp, pub)->wr.imm_data = imm;
}

static inline void open_atomic(struct qp *qp, enum xv_wr_opcode opcode, uint32_t rkey,
			       uint64_t addr, uint64_t compare_add, uint64_t swap)
{
	open_wr(qp, opcode);
	qp->wr.wr.atomic.remote_addr = addr;
	qp->wr.wr.atomic.rkey = rkey;
	qp->wr.wr.atomic.compare_add = compare_add;
	qp->wr.wr.atomic.swap = swap;
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *pub, uint32_t rkey, uint64_t addr,
			      uint64_t compare, uint64_t swap)
{
	open_atomic(TO(qp, pub), XV_WR_ATOMIC_CMP_AND_SWP, rkey, addr, compare, swap);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *pub, uint32_t rkey, uint64_t addr, uint64_t add)
{
	open_atomic(TO(qp, pub), XV_WR_ATOMIC_FETCH_AND_ADD, rkey, addr, add, 0);
}

static void wr_send(struct ibv_qp_ex *pub)
{
	open_wr(TO(qp, pub), XV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *pub, __be32 imm)
{
	open_wr(TO(qp, pub), XV_WR_SEND_WITH_IMM);
	TO(qp, pub)->wr.imm_data = imm;
}

static void wr_send_inv(struct ibv_qp_ex *pub, uint32_t rkey)
{
	open_wr(TO(qp, pub), XV_WR_SEND_WITH_INV);
	TO(qp, pub)->wr.invalidate_rkey = rkey;
}

static void wr_local_inv(struct ibv_qp_ex *pub, uint32_t rkey)
{
	struct qp *qp = TO(qp, pub);

	open_wr(qp, XV_WR_LOCAL_INV);
	qp->wr.invalidate_rkey = rkey;
	build(qp);
}

static void wr_bind_mw(struct ibv_qp_ex *pub, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	struct qp *qp = TO(qp, pub);

	open_wr(qp, XV_WR_BIND_MW);
	qp->wr.bind_mw.mw = iv_mw(mw);
	qp->wr.bind_mw.rkey = rkey;
	iv_bind_info(&qp->wr.bind_mw.bind_info, info);
	build(qp);
}

/* ---- Parts ----------------------------------------------------------------------------- */

static void wr_set_ud_addr(struct ibv_qp_ex *pub, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	struct qp *qp = TO(qp, pub);

	qp->wr.wr.ud.ah = TO(ah, ah)->xv;
	qp->wr.wr.ud.remote_qpn = qpn;
	qp->wr.wr.ud.remote_qkey = qkey;
	part(qp, HAS_DEST);
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *pub, uint32_t srqn)
{
	struct qp *qp = TO(qp, pub);

	qp->wr.qp_type.xrc.remote_srqn = srqn;
	part(qp, HAS_DEST);
}

static void wr_set_sge_list(struct ibv_qp_ex *pub, size_t n, const struct ibv_sge *list)
{
	struct qp *qp = TO(qp, pub);

	if (n > qp->xv->sq.max_sge) {
		fail(qp, ENOMEM);
		return;
	}
	memcpy(qp->sge, list, n * sizeof(*list));
	qp->wr.num_sge = (int)n;
	part(qp, HAS_DATA);
}

static void wr_set_sge(struct ibv_qp_ex *pub, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct qp *qp = TO(qp, pub);

	*qp->sge = (struct xv_sge) { .addr = addr, .length = length, .lkey = lkey };
	qp->wr.num_sge = 1;
	part(qp, HAS_DATA);
}

/* RC and UC need no other part: common requests go to a builder. */
static void wr_set_sge_rc(struct ibv_qp_ex *pub, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct qp *qp = TO(qp, pub);
	struct xv_sge sge = { .addr = addr, .length = length, .lkey = lkey };
	struct xv_send_wr *wr = &qp->wr;
	int err;

	if (wr->opcode == XV_WR_RDMA_WRITE)
		err = xv_wr_write(qp->xv, wr->wr_id, wr->send_flags, &sge,
				  wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
	else if (wr->opcode == XV_WR_SEND)
		err = xv_wr_send(qp->xv, wr->wr_id, wr->send_flags, &sge);
	else {
		wr_set_sge(pub, lkey, addr, length);
		return;
	}
	if (xv_unlikely(err))
		fail(qp, -err);
}

/* The data is copied at once: the program may change it before wr_complete. */
static void wr_set_inline_data_list(struct ibv_qp_ex *pub, size_t n,
				    const struct ibv_data_buf *list)
{
	struct qp *qp = TO(qp, pub);
	size_t bytes = 0, i;

	for (i = 0; i < n; i++) {
		if (list[i].length > qp->xv->sq.max_inline - bytes) {
			fail(qp, ENOMEM);
			return;
		}
		memcpy(qp->inline_data + bytes, list[i].addr, list[i].length);
		bytes += list[i].length;
	}
	*qp->sge = (struct xv_sge) { .addr = (uintptr_t)qp->inline_data,
				     .length = (uint32_t)bytes };
	qp->wr.num_sge = 1;
	qp->wr.send_flags |= XV_SEND_INLINE;
	part(qp, HAS_DATA);
}

static void wr_set_inline_data(struct ibv_qp_ex *pub, void *addr, size_t length)
{
	struct ibv_data_buf buf = { .addr = addr, .length = length };

	wr_set_inline_data_list(pub, 1, &buf);
}

/* ---- Start and end ------------------------------------------------------------------------ */

static void wr_start(struct ibv_qp_ex *pub)
{
	struct qp *qp = TO(qp, pub);
	struct xv_sq *sq = &qp->xv->sq;

	xv_lock(&sq->lock);
	qp->err = 0;
	qp->mark.pi = sq->pi;
	qp->mark.posted = qp->sends.posted;
	qp->mark.fm_ce_se = sq->fm_ce_se;
	qp->mark.last_ctrl = sq->last_ctrl;
}

static void wr_abort(struct ibv_qp_ex *pub)
{
	struct qp *qp = TO(qp, pub);
	struct xv_sq *sq = &qp->xv->sq;

	sq->pi = qp->mark.pi;
	qp->sends.posted = qp->mark.posted;
	sq->fm_ce_se = qp->mark.fm_ce_se;
	sq->last_ctrl = qp->mark.last_ctrl;
	xv_unlock(&sq->lock);
}

static int wr_complete(struct ibv_qp_ex *pub)
{
	struct qp *qp = TO(qp, pub);
	struct xv_sq *sq = &qp->xv->sq;
	int err = qp->err;

	if (xv_unlikely(!sq->room))
		err = EINVAL;
	if (xv_unlikely(err)) {
		wr_abort(pub);
		return err;
	}
	if (xv_likely(sq->pi != qp->mark.pi))
		xv_commit_send(qp->xv);
	xv_unlock(&sq->lock);
	return 0;
}

/* The operations of a type of queue pair: enum ibv_qp_create_send_ops_flags */
uint64_t iv_wr_ops(enum ibv_qp_type type)
{
	const uint64_t send = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
	const uint64_t write = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
	const uint64_t window = IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV;
	const uint64_t rc = IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
			    IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_SEND_WITH_INV;

	switch (type) {
	case IBV_QPT_UD:
		return send;
	case IBV_QPT_UC:
		return send | write | window | IBV_QP_EX_WITH_SEND_WITH_INV;
	case IBV_QPT_RC:
	case IBV_QPT_XRC_SEND:
		return send | write | window | rc;
	default:
		return 0;
	}
}

int iv_wr_init(struct qp *qp)
{
	enum ibv_qp_type type = qp->init.qp_type;
	const struct ibv_qp_cap *cap = &qp->init.cap;
	struct ibv_qp_ex *pub = &qp->pub;
	bool dest = type == IBV_QPT_UD || type == IBV_QPT_XRC_SEND;

	qp->sge = calloc(cap->max_send_sge + 1, sizeof(*qp->sge));
	qp->inline_data = malloc(cap->max_inline_data + 1);
	if (!qp->sge || !qp->inline_data)
		return iv_error(-ENOMEM);
	qp->wr.sg_list = qp->sge;
	qp->needs = HAS_DATA | (dest ? HAS_DEST : 0);
	pub->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	pub->wr_atomic_fetch_add = wr_atomic_fetch_add;
	pub->wr_bind_mw = wr_bind_mw;
	pub->wr_local_inv = wr_local_inv;
	pub->wr_rdma_read = wr_rdma_read;
	pub->wr_rdma_write = wr_rdma_write;
	pub->wr_rdma_write_imm = wr_rdma_write_imm;
	pub->wr_send = wr_send;
	pub->wr_send_imm = wr_send_imm;
	pub->wr_send_inv = wr_send_inv;
	pub->wr_set_ud_addr = wr_set_ud_addr;
	pub->wr_set_xrc_srqn = wr_set_xrc_srqn;
	pub->wr_set_inline_data = wr_set_inline_data;
	pub->wr_set_inline_data_list = wr_set_inline_data_list;
	pub->wr_set_sge = type == IBV_QPT_RC ? wr_set_sge_rc : wr_set_sge;
	pub->wr_set_sge_list = wr_set_sge_list;
	pub->wr_start = wr_start;
	pub->wr_complete = wr_complete;
	pub->wr_abort = wr_abort;
	qp->extended = true;
	return 0;
}
