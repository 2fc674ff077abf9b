// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues: creation, attributes, polling.
 */
#include "exp.h"

#define BATCH	16		/* completions that one call of libxverbs returns */

EXPORT struct ibv_cq *ibv_exp_create_cq(struct ibv_context *ctx, int cqe, void *cq_context,
					struct ibv_comp_channel *channel, int comp_vector,
					struct ibv_exp_cq_init_attr *a)
{
	const uint32_t supported = IBV_EXP_CQ_INIT_ATTR_FLAGS | IBV_EXP_CQ_INIT_ATTR_RES_DOMAIN;
	const uint32_t flags_supported = IBV_EXP_CQ_CREATE_CROSS_CHANNEL | IBV_EXP_CQ_TIMESTAMP;
	uint32_t flags = a->comp_mask & IBV_EXP_CQ_INIT_ATTR_FLAGS ? a->flags : 0;
	struct xv_cq_init_attr x = {
		.cqe = (uint32_t)cqe,
		.comp_vector = (uint32_t)comp_vector,
	};

	if (exp_check_mask("create CQ: comp_mask: ", a->comp_mask,
			   IBV_EXP_CQ_INIT_ATTR_RESERVED1 - 1, supported) ||
	    exp_check_mask("create CQ: flags: ", flags, IBV_EXP_CQ_CREATE_FLAGS_MASK,
			   flags_supported))
		return NULL;
	if (cqe <= 0)
		return iv_refuse(EINVAL, "create CQ: cqe: ");
	if (!xv_bridge_get_ctx(ctx) || (channel && !xv_bridge_get_ctx(channel->context)))
		return NULL;
	if (flags & IBV_EXP_CQ_CREATE_CROSS_CHANNEL)
		x.flags |= XV_CQ_CROSS_CHANNEL;
	if (a->comp_mask & IBV_EXP_CQ_INIT_ATTR_RES_DOMAIN && exp_domain_is_single(a->res_domain))
		x.flags |= XV_CQ_SINGLE_THREADED;
	return (struct ibv_cq *)iv_cq_new(ctx, &x, cq_context, channel, NULL);
}

EXPORT int ibv_exp_modify_cq(struct ibv_cq *cq, struct ibv_exp_cq_attr *a, int cq_attr_mask)
{
	const uint32_t known = IBV_EXP_CQ_MODERATION | IBV_EXP_CQ_CAP_FLAGS;
	const uint32_t defined = IBV_EXP_CQ_ATTR_RESERVED - 1;
	uint32_t mask = (uint32_t)cq_attr_mask;
	struct xv_modify_cq_attr x = { .attr_mask = 0 };
	struct xv_cq *xv = xv_bridge_get_cq(cq);
	int err = xv ? exp_check_mask("modify CQ: mask: ", mask, known, known) : EINVAL;

	if (!err)
		err = exp_check_mask("modify CQ: comp_mask: ", a->comp_mask, defined, defined);
	if (err)
		return err;
	if (mask & IBV_EXP_CQ_MODERATION) {
		x.attr_mask |= XV_CQ_ATTR_MODERATE;
		x.cq_count = a->moderation.cq_count;
		x.cq_period = a->moderation.cq_period;
	}
	if (mask & IBV_EXP_CQ_CAP_FLAGS) {
		if (a->cq_cap_flags & ~(uint32_t)IBV_EXP_CQ_CAP_MASK)
			return exp_refuse(EINVAL, "modify CQ: cq_cap_flags: ");
		x.attr_mask |= XV_CQ_ATTR_OVERRUN;
		x.ignore_overrun = a->cq_cap_flags & IBV_EXP_CQ_IGNORE_OVERRUN;
	}
	return mask ? iv_result(xv_modify_cq(xv, &x)) : 0;
}

static enum ibv_exp_wc_opcode wc_opcode(enum xv_wc_opcode opcode)
{
	switch (opcode) {
	case XV_WC_LOCAL_INV:
		return IBV_EXP_WC_LOCAL_INV;
	case XV_WC_DRIVER1:
		return IBV_EXP_WC_UMR;
	default:
		return (enum ibv_exp_wc_opcode)opcode;
	}
}

static uint64_t wc_flags(const struct xv_wc *x, uint64_t time)
{
	uint64_t flags = x->wc_flags & (XV_WC_GRH | XV_WC_WITH_IMM);

	if (x->wc_flags & XV_WC_WITH_INV)
		flags |= IBV_EXP_WC_WITH_INV;
	if (x->status == XV_WC_SUCCESS && x->opcode & XV_WC_RECV)
		flags |= IBV_EXP_WC_WITH_SL | IBV_EXP_WC_WITH_SLID;
	return time ? flags | IBV_EXP_WC_WITH_TIMESTAMP : flags;
}

/*
 * The context member of a queue points to the object of libibverbs.  A receive from a shared
 * queue names it, a receive of a DC target both.
 */
static void take_queues(struct ibv_exp_wc *to, const struct xv_wc_queues *q)
{
	if (q->qp) {
		to->qp = q->qp->qp_context;
		to->exp_wc_flags |= IBV_EXP_WC_QP;
	}
	if (q->srq) {
		to->srq = q->srq->srq_context;
		to->exp_wc_flags |= IBV_EXP_WC_SRQ;
	}
	if (q->dct) {
		to->dct = q->dct->dct_context;
		to->exp_wc_flags |= IBV_EXP_WC_DCT;
	}
}

static void take(struct ibv_exp_wc *to, const struct xv_wc *x, uint64_t time)
{
	*to = (struct ibv_exp_wc) {
		.wr_id = x->wr_id,
		.status = (enum ibv_wc_status)x->status,
		.exp_opcode = wc_opcode(x->opcode),
		.vendor_err = x->vendor_err,
		.byte_len = x->byte_len,
		.qp_num = x->qp_num,
		.pkey_index = 0,
		.timestamp = time,
		.exp_wc_flags = wc_flags(x, time),
	};
	if (x->wc_flags & (XV_WC_WITH_IMM | XV_WC_WITH_INV))
		to->imm_data = x->imm_data;
	if (to->exp_wc_flags & IBV_EXP_WC_WITH_SL) {
		to->src_qp = x->src_qp;
		to->slid = x->slid;
		to->sl = x->sl;
		to->dlid_path_bits = x->dlid_path_bits;
	}
}

/* A program of another version has another size of the elements. */
EXPORT int ibv_exp_poll_cq(struct ibv_cq *cq, int n, struct ibv_exp_wc *wc, uint32_t wc_size)
{
	size_t size = wc_size < sizeof(*wc) ? wc_size : sizeof(*wc);
	struct xv_cq *xv = xv_bridge_get_cq(cq);
	struct xv_wc_queues queues[BATCH];
	struct ibv_exp_wc one;
	struct xv_wc x[BATCH];
	uint64_t times[BATCH];
	int done = 0, got, i;

	if (xv_unlikely(!xv))
		return -1;
	do {
		/* Another thread may destroy a queue pair when the lock is free. */
		xv_lock(&xv->lock);
		got = __xv_cq_poll_locked(xv, n - done < BATCH ? n - done : BATCH, x, times,
					  queues);
		for (i = 0; i < got; i++, done++) {
			take(&one, &x[i], times[i]);
			take_queues(&one, &queues[i]);
			memcpy((char *)wc + (size_t)done * wc_size, &one, size);
		}
		xv_unlock(&xv->lock);
	} while (got == BATCH && done < n);
	return done;
}
