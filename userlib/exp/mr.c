// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory regions and windows.  The work is done by the functions of ibverbs.
 */
#include "exp.h"

/* Converts access flags; returns an error number for those that are refused. */
static int access_of(uint64_t exp, unsigned int *access)
{
	const uint64_t defined = SAME_ACCESS |
				 (IBV_EXP_ACCESS_RESERVED - IBV_EXP_ACCESS_ALLOCATE_MR);

	*access = (unsigned int)(exp & SAME_ACCESS);
	if (exp & IBV_EXP_ACCESS_RELAXED)
		*access |= IBV_ACCESS_RELAXED_ORDERING;
	return exp_check_mask("access flags: ", exp, defined, SAME_ACCESS | IBV_EXP_ACCESS_RELAXED);
}

EXPORT struct ibv_mr *ibv_exp_reg_mr(struct ibv_exp_reg_mr_in *in)
{
	const uint32_t defined = IBV_EXP_REG_MR_RESERVED - 1;
	unsigned int access;

	if (!xv_bridge_get_pd(in->pd) ||
	    exp_check_mask("register: comp_mask: ", in->comp_mask, defined, defined) ||
	    (in->comp_mask & IBV_EXP_REG_MR_CREATE_FLAGS &&
	     exp_check_mask("register: create_flags: ", in->create_flags,
			    IBV_EXP_REG_MR_CREATE_CONTIG, 0)) ||
	    access_of(in->exp_access, &access))
		return NULL;
	return ibv_reg_mr_iova2(in->pd, in->addr, in->length, (uintptr_t)in->addr, access);
}

EXPORT int ibv_exp_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr,
			    size_t length, uint64_t exp_access, struct ibv_exp_rereg_mr_attr *attr)
{
	unsigned int access;
	int err = exp_check_mask("reregister: comp_mask: ", attr->comp_mask, 0, 0);

	if (!xv_bridge_get_ctx(mr->context) ||
	    (flags & IBV_EXP_REREG_MR_CHANGE_PD && pd && !xv_bridge_get_pd(pd)))
		return iv_error(-EINVAL);
	if (!err)
		err = access_of(exp_access, &access);
	if (err)
		return err;
	return ibv_rereg_mr(mr, flags, pd, addr, length, (int)access) ? errno : 0;
}

EXPORT int ibv_exp_bind_mw(struct ibv_exp_mw_bind *b)
{
	const uint64_t flags = IBV_EXP_SEND_FENCE | IBV_EXP_SEND_SIGNALED |
			       IBV_EXP_SEND_SOLICITED | IBV_EXP_SEND_INLINE;
	struct ibv_mw_bind bind = {
		.wr_id = b->wr_id,
		.send_flags = (unsigned int)(b->exp_send_flags & flags),
	};
	int err = exp_check_mask("bind: comp_mask: ", b->comp_mask, 0, 0);

	if (!xv_bridge_get_qp(b->qp) || !xv_bridge_get_mw(b->mw) ||
	    (b->bind_info.mr && !xv_bridge_get_mr(b->bind_info.mr)))
		return iv_error(-EINVAL);
	if (!err && exp_bind_info(&bind.bind_info, &b->bind_info))
		err = exp_refuse(EINVAL, "bind: access flags: ");
	return err ? err : ibv_bind_mw(b->qp, b->mw, &bind);
}
