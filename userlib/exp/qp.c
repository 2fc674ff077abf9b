// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queue pairs: creation, attributes, states.
 */
#include "exp.h"

/* The head of the structures is the same as in ibverbs. */
#define SAME_INIT(m)	_Static_assert(offsetof(struct ibv_exp_qp_init_attr, m) ==	\
				       offsetof(struct ibv_qp_init_attr, m), #m)
#define SAME_ATTR(m)	_Static_assert(offsetof(struct ibv_exp_qp_attr, m) ==		\
				       offsetof(struct ibv_qp_attr, m) &&		\
				       offsetof(struct ibv_exp_qp_attr, m) ==		\
				       offsetof(struct xv_qp_attr, m), #m)
SAME_INIT(qp_context);
SAME_INIT(srq);
SAME_INIT(cap);
SAME_INIT(sq_sig_all);
SAME_ATTR(qp_state);
SAME_ATTR(cap);
SAME_ATTR(ah_attr);
SAME_ATTR(alt_ah_attr);
SAME_ATTR(pkey_index);
SAME_ATTR(alt_timeout);
#define SAME_ATTR_SIZE	(offsetof(struct ibv_exp_qp_attr, alt_timeout) + 1)

#define SAME_FLAGS	((uint32_t)(IBV_EXP_QP_CREATE_CROSS_CHANNEL |		\
				    IBV_EXP_QP_CREATE_MANAGED_SEND |		\
				    IBV_EXP_QP_CREATE_MANAGED_RECV |		\
				    IBV_EXP_QP_CREATE_IGNORE_SQ_OVERFLOW |	\
				    IBV_EXP_QP_CREATE_IGNORE_RQ_OVERFLOW))
_Static_assert(SAME_FLAGS == (XV_QP_CROSS_CHANNEL | XV_QP_MANAGED_SEND | XV_QP_MANAGED_RECV |
			      XV_QP_IGNORE_SQ_OVERFLOW | XV_QP_IGNORE_RQ_OVERFLOW), "flags");
_Static_assert((int)IBV_EXP_QPT_DC_INI == (int)XV_QPT_DCI, "DCI");

static bool has(const struct ibv_exp_qp_init_attr *a, uint32_t bit)
{
	return a->comp_mask & bit;
}

static int check_init(const struct ibv_exp_qp_init_attr *a)
{
	const uint32_t supported = IBV_EXP_QP_INIT_ATTR_PD | IBV_EXP_QP_INIT_ATTR_XRCD |
				   IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS |
				   IBV_EXP_QP_INIT_ATTR_INL_RECV |
				   IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG |
				   IBV_EXP_QP_INIT_ATTR_MAX_INL_KLMS |
				   IBV_EXP_QP_INIT_ATTR_RES_DOMAIN;
	bool target = a->qp_type == IBV_QPT_XRC_RECV;
	int err = exp_check_mask("create QP: comp_mask: ", a->comp_mask,
				 IBV_EXP_QP_INIT_ATTR_RESERVED1 - 1, supported);

	if (!err && has(a, IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS))
		err = exp_check_mask("create QP: exp_create_flags: ", a->exp_create_flags,
				     IBV_EXP_QP_CREATE_MASK, SAME_FLAGS | IBV_EXP_QP_CREATE_UMR);
	if (err)
		return err;
	if (!has(a, target ? IBV_EXP_QP_INIT_ATTR_XRCD : IBV_EXP_QP_INIT_ATTR_PD) ||
	    !(target ? (void *)a->xrcd : (void *)a->pd))
		return exp_refuse(EINVAL, "create QP: pd or xrcd: ");
	return 0;
}

/*
 * A UMR request takes more of the send queue than the others: two blocks of 64 bytes and one for
 * each four entries of the key, or one if the list is in memory.
 */
static int make_room(struct ibv_context *ctx, const struct ibv_exp_qp_init_attr *a,
		     struct ibv_qp_cap *cap)
{
	uint32_t klms = has(a, IBV_EXP_QP_INIT_ATTR_MAX_INL_KLMS) ? a->max_inl_send_klms : 0;
	struct xv_device_attr dev;
	struct xv_context *xv = xv_bridge_get_ctx(ctx);
	uint32_t blocks;
	int err;

	if (!xv)
		return iv_error(-EINVAL);
	if (!klms && !(has(a, IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS) &&
		       a->exp_create_flags & IBV_EXP_QP_CREATE_UMR))
		return 0;
	err = iv_result(xv_query_device(xv, &dev));
	if (err)
		return err;
	if (!(dev.exp_device_cap_flags & XV_EXP_DEVICE_UMR))
		return exp_refuse(EOPNOTSUPP, "create QP: UMR: ");
	if (klms > dev.umr_caps.max_send_wqe_inline_klms)
		return exp_refuse(EINVAL, "create QP: max_inl_send_klms: ");
	blocks = 2 + (klms > 4 ? (klms + 3) / 4 : 1);
	if (cap->max_send_wr > UINT32_MAX / blocks)
		return exp_refuse(EINVAL, "create QP: max_send_wr: ");
	cap->max_send_wr *= blocks;
	return 0;
}

static void extras(struct xv_qp_init_attr *x, const struct ibv_exp_qp_init_attr *a)
{
	memset(x, 0, sizeof(*x));
	x->flags = XV_QP_RECV_IN_RESET;
	if (has(a, IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS))
		x->flags |= a->exp_create_flags & SAME_FLAGS;
	if (has(a, IBV_EXP_QP_INIT_ATTR_RES_DOMAIN) && exp_domain_is_single(a->res_domain))
		x->flags |= XV_QP_SINGLE_THREADED;
	if (has(a, IBV_EXP_QP_INIT_ATTR_INL_RECV))
		x->max_inl_recv = a->max_inl_recv;
	if (has(a, IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG))
		x->max_atomic_arg = a->max_atomic_arg;
}

EXPORT struct ibv_qp *ibv_exp_create_qp(struct ibv_context *ctx, struct ibv_exp_qp_init_attr *a)
{
	struct ibv_qp_init_attr init;
	struct xv_qp_init_attr x;
	struct ibv_qp *qp;

	memcpy(&init, a, sizeof(init));
	if (check_init(a) || make_room(ctx, a, &init.cap))
		return NULL;
	extras(&x, a);
	qp = a->qp_type == IBV_QPT_XRC_RECV ? iv_qp_new(ctx, NULL, &init, a->xrcd, &x) :
					      iv_qp_new(ctx, a->pd, &init, NULL, &x);
	if (!qp)
		return NULL;
	a->cap = init.cap;
	if (has(a, IBV_EXP_QP_INIT_ATTR_MAX_INL_KLMS))
		TO(qp, qp)->inline_klms = a->max_inl_send_klms;
	if (has(a, IBV_EXP_QP_INIT_ATTR_INL_RECV))
		a->max_inl_recv = x.max_inl_recv;
	if (has(a, IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG))
		a->max_atomic_arg = x.max_atomic_arg;
	return qp;
}

#define SUPPORTED_ATTR	((uint64_t)(IBV_QP_DEST_QPN << 1) - 1)

/* A DC initiator needs the key only for the manual: each request has its own. */
EXPORT int ibv_exp_modify_qp(struct ibv_qp *qp, struct ibv_exp_qp_attr *a, uint64_t mask)
{
	const uint64_t supported = SUPPORTED_ATTR | IBV_EXP_QP_DC_KEY;
	const uint64_t defined = supported | IBV_EXP_QP_GROUP_RSS | IBV_EXP_QP_FLOW_ENTROPY |
				 IBV_EXP_QP_OOO_RW_DATA_PLACEMENT | IBV_EXP_QP_RATE_LIMIT;
	struct xv_qp_attr x = { .dct_key = a->dct_key };
	struct xv_qp *xv = xv_bridge_get_qp(qp);
	int err = xv ? exp_check_mask("modify QP: comp_mask: ", a->comp_mask,
				      IBV_EXP_QP_ATTR_RESERVED - 1, 0) : EINVAL;

	if (!err)
		err = exp_check_mask("modify QP: mask: ", mask, defined, supported);
	if (err)
		return err;
	if (qp->qp_type != IBV_EXP_QPT_DC_INI) {
		struct ibv_qp_attr same;

		if (mask & IBV_EXP_QP_DC_KEY)
			return exp_refuse(EINVAL, "modify QP: DC key: ");
		memcpy(&same, a, SAME_ATTR_SIZE);
		return ibv_modify_qp(qp, &same, (int)mask);
	}
	memcpy(&x, a, SAME_ATTR_SIZE);
	err = xv_modify_qp(xv, &x, (unsigned int)(mask & SUPPORTED_ATTR) |
			   (mask & IBV_EXP_QP_DC_KEY ? XV_QP_DC_KEY : 0));
	qp->state = (enum ibv_qp_state)xv->state;
	return iv_result(err);
}

EXPORT int ibv_exp_query_qp(struct ibv_qp *qp, struct ibv_exp_qp_attr *a, uint64_t mask,
			    struct ibv_exp_qp_init_attr *init)
{
	struct xv_qp *xv = xv_bridge_get_qp(qp);
	struct xv_qp_init_attr xi;
	struct xv_qp_attr x;
	int err;

	if (!xv)
		return iv_error(-EINVAL);
	err = iv_result(xv_query_qp(xv, &x, (unsigned int)(mask & SUPPORTED_ATTR), &xi));
	if (err)
		return err;
	memset(a, 0, sizeof(*a));
	memcpy(a, &x, SAME_ATTR_SIZE);
	a->dct_key = x.dct_key;
	qp->state = a->qp_state;
	*init = (struct ibv_exp_qp_init_attr) {
		.qp_context = qp->qp_context,
		.send_cq = qp->send_cq,
		.recv_cq = qp->recv_cq,
		.srq = qp->srq,
		.cap = a->cap,
		.qp_type = qp->qp_type,
		.sq_sig_all = xi.sq_sig_all,
		.comp_mask = IBV_EXP_QP_INIT_ATTR_PD | IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS |
			     IBV_EXP_QP_INIT_ATTR_INL_RECV | IBV_EXP_QP_INIT_ATTR_ATOMICS_ARG |
			     IBV_EXP_QP_INIT_ATTR_MAX_INL_KLMS,
		.pd = qp->pd,
		.exp_create_flags = xi.flags & SAME_FLAGS,
		.max_inl_recv = xi.max_inl_recv,
		.max_atomic_arg = xi.max_atomic_arg,
		.max_inl_send_klms = TO(qp, qp)->inline_klms,
	};
	return 0;
}
