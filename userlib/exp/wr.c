// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Translation of a request to one of libxverbs.
 */
#include "exp.h"

_Static_assert(sizeof(struct ibv_exp_cmp_swap) == sizeof(struct xv_cmp_swap), "cmp_swap");
_Static_assert(offsetof(struct ibv_exp_cmp_swap, swap_val) ==
	       offsetof(struct xv_cmp_swap, swap_val), "swap_val");
_Static_assert(sizeof(struct ibv_exp_fetch_add) == sizeof(struct xv_fetch_add), "fetch_add");
_Static_assert((int)IBV_EXP_WR_SEND_ENABLE == (int)XV_WR_SEND_ENABLE &&
	       (int)IBV_EXP_WR_UMR_INVALIDATE == (int)XV_WR_UMR_INVALIDATE, "opcodes");
_Static_assert((int)IBV_EXP_CALC_OP_BOR == (int)XV_CALC_OP_BOR &&
	       (int)IBV_EXP_CALC_DATA_TYPE_FLOAT == (int)XV_CALC_DATA_TYPE_FLOAT, "calc");

#define SAME_FLAGS	((uint64_t)(IBV_EXP_SEND_FENCE | IBV_EXP_SEND_SIGNALED | \
				    IBV_EXP_SEND_SOLICITED | IBV_EXP_SEND_INLINE))

/* Others, for offloads that a queue pair does not have, are ignored. */
static unsigned int flags_of(uint64_t flags)
{
	unsigned int to = (unsigned int)(flags & SAME_FLAGS);

	if (flags & IBV_EXP_SEND_WAIT_EN_LAST)
		to |= XV_SEND_WAIT_EN_LAST;
	if (flags & IBV_EXP_SEND_EXT_ATOMIC_INLINE)
		to |= XV_SEND_EXT_ATOMIC_INLINE;
	return to;
}

int exp_bind_info(struct ibv_mw_bind_info *to, const struct ibv_exp_mw_bind_info *from)
{
	*to = (struct ibv_mw_bind_info) {
		.mr = from->mr,
		.addr = from->addr,
		.length = from->length,
		.mw_access_flags = (unsigned int)(from->exp_mw_access_flags & SAME_ACCESS),
	};
	if (from->exp_mw_access_flags & IBV_EXP_ACCESS_MW_ZERO_BASED)
		to->mw_access_flags |= IBV_ACCESS_ZERO_BASED;
	return from->exp_mw_access_flags & ~(SAME_ACCESS | IBV_EXP_ACCESS_MW_ZERO_BASED) ?
	       -EINVAL : 0;
}

static int take_bind(struct xv_send_wr *to, const struct ibv_exp_send_wr *wr)
{
	struct ibv_mw_bind_info info;
	struct xv_mr *mr;

	if (!wr->bind_mw.mw || exp_bind_info(&info, &wr->bind_mw.bind_info))
		return -EINVAL;
	to->bind_mw.mw = xv_bridge_get_mw(wr->bind_mw.mw);
	to->bind_mw.rkey = wr->bind_mw.rkey;
	mr = info.mr ? xv_bridge_get_mr(info.mr) : NULL;
	to->bind_mw.bind_info = (struct xv_mw_bind_info) {
		.mr = mr,
		.addr = info.addr,
		.length = info.length,
		.mw_access_flags = info.mw_access_flags,
	};
	return !to->bind_mw.mw || !mr != !info.mr ? -EINVAL : 0;
}

static void take_masked(struct xv_send_wr *to, const struct ibv_exp_send_wr *wr)
{
	to->wr.masked_atomics.remote_addr = wr->ext_op.masked_atomics.remote_addr;
	to->wr.masked_atomics.rkey = wr->ext_op.masked_atomics.rkey;
	to->wr.masked_atomics.log_arg_sz = wr->ext_op.masked_atomics.log_arg_sz;
	if (wr->exp_opcode == IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP)
		memcpy(&to->op.cmp_swap,
		       &wr->ext_op.masked_atomics.wr_data.inline_data.op.cmp_swap,
		       sizeof(to->op.cmp_swap));
	else
		memcpy(&to->op.fetch_add,
		       &wr->ext_op.masked_atomics.wr_data.inline_data.op.fetch_add,
		       sizeof(to->op.fetch_add));
}

/*
 * The library refuses to resize a CQ that a WAIT request has named.  So the first WAIT sets the
 * flag of cross-channel CQs, which the library checks; the adapter does not know this flag.
 */
static __attribute__((noinline)) void begin_waits(struct xv_cq *cq)
{
	xv_lock(&cq->lock);
	cq->flags |= XV_CQ_CROSS_CHANNEL;
	xv_unlock(&cq->lock);
}

static int take_wait(struct xv_send_wr *to, const struct xv_qp *qp,
		     const struct ibv_exp_send_wr *wr)
{
	struct xv_cq *cq = wr->task.cqe_wait.cq ? xv_bridge_get_cq(wr->task.cqe_wait.cq) : NULL;

	if (!cq)
		return -EINVAL;
	if (xv_unlikely(!(cq->flags & XV_CQ_CROSS_CHANNEL)) && qp->sq.flags & XV_QP_CROSS_CHANNEL)
		begin_waits(cq);
	to->wr.cqe_wait.cq = cq;
	to->wr.cqe_wait.cq_count = wr->task.cqe_wait.cq_count;
	return 0;
}

/* Requests that ibverbs does not have, or has with another value of the opcode */
static int take_other(struct xv_send_wr *to, const struct xv_qp *qp,
		      const struct ibv_exp_send_wr *wr, struct exp_umr *umr)
{
	to->opcode = (enum xv_wr_opcode)wr->exp_opcode;
	switch (wr->exp_opcode) {
	case IBV_EXP_WR_SEND_WITH_INV:
		to->opcode = XV_WR_SEND_WITH_INV;
		return 0;
	case IBV_EXP_WR_LOCAL_INV:
		to->opcode = XV_WR_LOCAL_INV;
		return 0;
	case IBV_EXP_WR_BIND_MW:
		to->opcode = XV_WR_BIND_MW;
		return take_bind(to, wr);
	case IBV_EXP_WR_SEND_ENABLE:
	case IBV_EXP_WR_RECV_ENABLE:
		if (!wr->task.wqe_enable.qp)
			return -EINVAL;
		to->wr.wqe_enable.qp = xv_bridge_get_qp(wr->task.wqe_enable.qp);
		to->wr.wqe_enable.wqe_count = wr->task.wqe_enable.wqe_count;
		return to->wr.wqe_enable.qp ? 0 : -EINVAL;
	case IBV_EXP_WR_CQE_WAIT:
		return take_wait(to, qp, wr);
	case IBV_EXP_WR_EXT_MASKED_ATOMIC_CMP_AND_SWP:
	case IBV_EXP_WR_EXT_MASKED_ATOMIC_FETCH_AND_ADD:
		take_masked(to, wr);
		return 0;
	case IBV_EXP_WR_UMR_FILL:
	case IBV_EXP_WR_UMR_INVALIDATE:
		to->umr = &umr->umr;
		return exp_translate_umr(umr, wr);
	default:
		return -EINVAL;
	}
}

/* The requests of ibverbs.  The members of wr have the same places in both structures. */
static void take_common(struct xv_send_wr *to, const struct ibv_exp_send_wr *wr)
{
	to->opcode = (enum xv_wr_opcode)wr->exp_opcode;
	memcpy(&to->wr, &wr->wr, sizeof(wr->wr));
	/* Atomics do not calculate, with the flag or without. */
	if (!(wr->exp_send_flags & IBV_EXP_SEND_WITH_CALC) ||
	    wr->exp_opcode >= IBV_EXP_WR_ATOMIC_CMP_AND_SWP)
		return;
	to->send_flags |= XV_SEND_WITH_CALC;
	to->op.calc = (struct xv_calc) {
		.calc_op = (enum xv_calc_op)wr->op.calc.calc_op,
		.data_type = (enum xv_calc_data_type)wr->op.calc.data_type,
		.data_size = (enum xv_calc_data_size)wr->op.calc.data_size,
	};
}

/* Requests that send nothing */
static bool is_local(enum ibv_exp_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_EXP_WR_LOCAL_INV:
	case IBV_EXP_WR_BIND_MW:
	case IBV_EXP_WR_SEND_ENABLE:
	case IBV_EXP_WR_RECV_ENABLE:
	case IBV_EXP_WR_CQE_WAIT:
	case IBV_EXP_WR_UMR_FILL:
	case IBV_EXP_WR_UMR_INVALIDATE:
		return true;
	default:
		return false;
	}
}

/* The addressee, for types of queue pairs that have one in each request that sends */
static int take_addressee(struct xv_send_wr *to, enum xv_qp_type type,
			  const struct ibv_exp_send_wr *wr)
{
	if (is_local(wr->exp_opcode))
		return 0;
	switch (type) {
	case XV_QPT_UD:
		if (!wr->wr.ud.ah)
			return -EINVAL;
		to->wr.ud.ah = xv_bridge_get_ah(wr->wr.ud.ah);
		return to->wr.ud.ah ? 0 : -EINVAL;
	case XV_QPT_DCI:
		if (!wr->dc.ah)
			return -EINVAL;
		to->dc.ah = xv_bridge_get_ah(wr->dc.ah);
		to->dc.dct_access_key = wr->dc.dct_access_key;
		to->dc.dct_number = wr->dc.dct_number;
		return to->dc.ah ? 0 : -EINVAL;
	case XV_QPT_XRC_SEND:
		to->qp_type.xrc.remote_srqn = wr->qp_type.xrc.remote_srqn;
		return 0;
	default:
		return 0;
	}
}

/* Only the members that the opcode uses are looked at.  The others may hold anything. */
int exp_translate(struct xv_send_wr *to, const struct xv_qp *qp, const struct ibv_exp_send_wr *wr,
		  struct exp_umr *umr)
{
	int err = 0;

	memset(to, 0, sizeof(*to));
	to->wr_id = wr->wr_id;
	to->sg_list = (struct xv_sge *)wr->sg_list;
	to->num_sge = wr->num_sge;
	to->imm_data = wr->ex.imm_data;
	to->send_flags = flags_of(wr->exp_send_flags);
	if (wr->exp_opcode <= IBV_EXP_WR_ATOMIC_FETCH_AND_ADD)
		take_common(to, wr);
	else
		err = take_other(to, qp, wr, umr);
	return err ? err : take_addressee(to, qp->qp_type, wr);
}
