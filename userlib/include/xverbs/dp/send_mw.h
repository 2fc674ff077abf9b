/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Builders that bind a memory window and that invalidate a key.
 *
 * Both are UMR requests (PRM): a UMR request rewrites the mkey of the window
 * with access flags, start address and length, and with one KLM entry that
 * points into the memory region.
 */
#ifndef XVERBS_DP_SEND_MW_H
#define XVERBS_DP_SEND_MW_H

#include <xverbs/dp/memory.h>
#include <xverbs/dp/send.h>

xv_inline uint8_t __xv_umr_access(uint32_t access)
{
	uint8_t v = 0;

	if (access & XV_ACCESS_LOCAL_WRITE)
		v |= MLX5R_MKEY_ACCESS_LW;
	if (access & XV_ACCESS_REMOTE_READ)
		v |= MLX5R_MKEY_ACCESS_RR;
	if (access & XV_ACCESS_REMOTE_WRITE)
		v |= MLX5R_MKEY_ACCESS_RW;
	if (access & XV_ACCESS_REMOTE_ATOMIC)
		v |= MLX5R_MKEY_ACCESS_A;
	return v;
}

xv_inline void __xv_seg_umr_ctrl(struct mlx5r_umr_ctrl *u, enum xv_mw_type type, int bind)
{
	uint64_t mask = MLX5R_MKEY_MASK_FREE | MLX5R_MKEY_MASK_KEY;

	__builtin_memset(u, 0, sizeof(*u));
	u->flags = MLX5R_UMR_INLINE | MLX5R_UMR_XLT_OFFSET_EN;
	if (type == XV_MW_TYPE_2) {
		mask |= MLX5R_MKEY_MASK_QPN;
		/* Only a free window can be bound; only its QP can unbind it. */
		u->flags |= bind ? MLX5R_UMR_CHECK_NOT_FREE : MLX5R_UMR_CHECK_QPN;
	}
	if (bind) {
		u->xlt_octowords = xv_be16(MLX5R_WQEBB / MLX5R_DS);
		mask |= MLX5R_MKEY_MASK_LEN | MLX5R_MKEY_MASK_START_ADDR | MLX5R_MKEY_MASK_LW |
			MLX5R_MKEY_MASK_RR | MLX5R_MKEY_MASK_RW | MLX5R_MKEY_MASK_A;
	}
	u->mkey_mask = xv_be64(mask);
}

xv_inline void __xv_seg_mkey(struct mlx5r_mkey *m, uint32_t qpn, uint32_t key,
			     const struct xv_mw_bind_info *info)
{
	__builtin_memset(m, 0, sizeof(*m));
	m->qpn_mkey = xv_be32(qpn << 8 | (key & 0xff));
	if (!info->length) {
		m->status = MLX5R_MKEY_FREE;
		return;
	}
	m->flags = __xv_umr_access(info->mw_access_flags);
	if (!(info->mw_access_flags & XV_ACCESS_ZERO_BASED))
		m->start_addr = xv_be64(info->addr);
	m->len = xv_be64(info->length);
}

/*
 * Control segment and UMR control segment fill the first WQEBB, the mkey context
 * the second, the KLM entry the third.  The next request must not pass this one,
 * so it gets a small fence.
 */
xv_inline int __xv_wr_umr(struct xv_qp *qp, uint64_t wr_id, unsigned int flags, uint32_t wc_opcode,
			  enum xv_mw_type type, uint32_t mkey, uint32_t key,
			  const struct xv_mw_bind_info *info)
{
	int bind = info->length != 0;
	struct xv_sq *sq = &qp->sq;
	struct mlx5r_ctrl *ctrl = __xv_sq_next(sq);
	struct mlx5r_klm *klm;
	uint8_t *seg;

	if (__xv_sq_full(sq, bind ? 3 : 2))
		return __xv_sq_refuse(qp);
	__xv_seg_umr_ctrl((struct mlx5r_umr_ctrl *)(void *)(ctrl + 1), type, bind);
	seg = __xv_sq_wrap(sq, (uint8_t *)ctrl + MLX5R_WQEBB);
	__xv_seg_mkey((struct mlx5r_mkey *)(void *)seg,
		      bind && type == XV_MW_TYPE_2 ? qp->qp_num : 0xffffff, key, info);
	if (bind) {
		seg = __xv_sq_wrap(sq, seg + MLX5R_WQEBB);
		__builtin_memset(seg, 0, MLX5R_WQEBB);
		klm = (struct mlx5r_klm *)(void *)seg;
		klm->byte_count = xv_be32(info->length);
		klm->mkey = xv_be32(info->mr->lkey);
		klm->addr = xv_be64(info->addr);
	}
	__xv_sq_open(sq, ctrl, MLX5R_OP_UMR, bind ? 12 : 8, flags, xv_be32(mkey), wr_id, wc_opcode);
	sq->fm_ce_se |= __XV_FM_CE_SE(MLX5R_FM_SMALL);
	return 0;
}

/*
 * Binds a window to a part of a region.  rkey is the new key: xv_inc_rkey() of the
 * current one.  Length 0 unbinds.  When the request has completed, the caller
 * stores the new key in mw->rkey.
 */
xv_inline int xv_wr_bind_mw(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
			    const struct xv_mw *mw, uint32_t rkey,
			    const struct xv_mw_bind_info *info)
{
	if (xv_unlikely(info->length > 1u << 31 || (info->length && !info->mr)))
		return XV_DP_REFUSE(XV_EINVAL, "a window has up to 2^31 bytes, and a region");
	return __xv_wr_umr(qp, wr_id, flags, XV_WC_BIND_MW, mw->type, mw->rkey, rkey, info);
}

/* Invalidates the key of a type 2 window that is bound to this queue pair. */
xv_inline int xv_wr_local_inv(struct xv_qp *qp, uint64_t wr_id, unsigned int flags, uint32_t rkey)
{
	struct xv_mw_bind_info none = { 0, 0, 0, 0 };

	return __xv_wr_umr(qp, wr_id, flags, XV_WC_LOCAL_INV, XV_MW_TYPE_2, rkey, 0, &none);
}

#endif
