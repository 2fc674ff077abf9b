/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Builders that fill an indirect key and that invalidate it.
 *
 * Both are UMR requests (PRM).  A UMR request rewrites the mkey with access flags, start
 * address and length, and with a list of entries.  The list is in the request or in
 * registered memory; its length is a multiple of four entries, and zeros fill it up.
 */
#ifndef XVERBS_DP_SEND_UMR_H
#define XVERBS_DP_SEND_UMR_H

#include <xverbs/dp/memory.h>
#include <xverbs/dp/send_mw.h>

#define __XV_UMR_ACCESS		((uint32_t)XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE | \
				 XV_ACCESS_REMOTE_READ | XV_ACCESS_REMOTE_ATOMIC)
#define __XV_UMR_DS		8		/* before the list */
#define __XV_UMR_MAX_LIST	0xfffcu		/* a 16-bit field, a multiple of four */
#define XV_UMR_LIST_ALIGN	2048		/* alignment of a list in memory */

/* Entries that a key needs: a repeating block has a header before its parts. */
xv_inline uint32_t __xv_umr_entries(const struct xv_umr *umr)
{
	return umr->num + !!umr->blocks;
}

/* Length of the key, or 0 if a part is empty or too large */
xv_inline uint64_t __xv_umr_length(const struct xv_umr *umr)
{
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < umr->num; i++) {
		uint32_t n = umr->blocks ? umr->blocks[i].byte_count : umr->regions[i].length;

		if (!n || (umr->blocks && (n > 0xffff || umr->blocks[i].stride > 0xffff)))
			return 0;
		bytes += n;
	}
	return umr->blocks ? bytes * umr->repeat_count : bytes;
}

xv_inline void __xv_seg_repeat(void *seg, const struct xv_umr *umr, uint64_t length)
{
	struct mlx5r_repeat *r = (struct mlx5r_repeat *)seg;

	r->byte_count = xv_be32((uint32_t)(length / umr->repeat_count));
	r->op = xv_be32(MLX5R_KLM_REPEAT);
	r->repeat_count = xv_be32(umr->repeat_count);
	r->reserved_at_60 = 0;
	r->num_entries = xv_be16(umr->num);
}

xv_inline void __xv_seg_repeat_entry(void *seg, const struct xv_repeat_block *b)
{
	struct mlx5r_repeat_entry *e = (struct mlx5r_repeat_entry *)seg;

	e->stride = xv_be16(b->stride);
	e->byte_count = xv_be16(b->byte_count);
	e->mkey = xv_be32(b->lkey);
	e->addr = xv_be64(b->addr);
}

/* Writes entry i of the list.  An entry for a region has the format of a data segment. */
xv_inline void __xv_seg_umr_entry(void *seg, const struct xv_umr *umr, uint32_t i, uint64_t length)
{
	if (umr->blocks && !i--)
		__xv_seg_repeat(seg, umr, length);
	else if (i >= umr->num)
		__builtin_memset(seg, 0, MLX5R_DS);
	else if (umr->blocks)
		__xv_seg_repeat_entry(seg, &umr->blocks[i]);
	else
		__xv_seg_data(seg, &umr->regions[i]);
}

/* Writes the list of n entries to memory, and the pointer to it into the request. */
static inline void __xv_umr_list_memory(uint8_t *seg, const struct xv_umr *umr, uint32_t n,
					uint64_t length)
{
	struct xv_sge sge = { umr->list_addr, n * MLX5R_DS, umr->list_lkey };
	uint32_t i;

	for (i = 0; i < n; i++)
		__xv_seg_umr_entry((uint8_t *)umr->list + (uint64_t)i * MLX5R_DS, umr, i, length);
	__xv_seg_data(seg, &sge);
}

static inline void __xv_umr_list_inline(const struct xv_sq *sq, uint8_t *seg,
					const struct xv_umr *umr, uint32_t n, uint64_t length)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		__xv_seg_umr_entry(seg, umr, i, length);
		seg = __xv_sq_wrap(sq, seg + MLX5R_DS);
	}
}

/*
 * Writes the first two WQEBBs: control segment and UMR control segment, then the mkey context.
 * Returns the address of the third.
 */
xv_inline uint8_t *__xv_umr_open(struct xv_sq *sq, struct mlx5r_umr_ctrl **ctrl,
				 struct mlx5r_mkey **context, uint64_t mask)
{
	struct mlx5r_ctrl *first = __xv_sq_next(sq);
	uint8_t *second = __xv_sq_wrap(sq, (uint8_t *)first + MLX5R_WQEBB);

	*ctrl = (struct mlx5r_umr_ctrl *)(void *)(first + 1);
	*context = (struct mlx5r_mkey *)(void *)second;
	__builtin_memset(*ctrl, 0, sizeof(**ctrl));
	__builtin_memset(*context, 0, sizeof(**context));
	(*ctrl)->flags = MLX5R_UMR_INLINE;
	(*ctrl)->mkey_mask = xv_be64(mask);
	return __xv_sq_wrap(sq, second + MLX5R_WQEBB);
}

/* The next request must not pass this one, so it gets a small fence. */
xv_inline void __xv_umr_close(struct xv_sq *sq, uint32_t ds, unsigned int flags, uint32_t mkey,
			      uint64_t wr_id)
{
	__xv_sq_open(sq, __xv_sq_next(sq), MLX5R_OP_UMR, ds, flags, xv_be32(mkey), wr_id,
		     XV_WC_DRIVER1);
	sq->fm_ce_se |= __XV_FM_CE_SE(MLX5R_FM_SMALL);
}

/*
 * Fills an indirect key.  A key that has been filled can be filled again.  On RC, UC, XRC and
 * DCI queue pairs of the protection domain of the key.  The list in memory must not change
 * before the request has completed.
 */
xv_outline int xv_wr_umr_fill(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
			      const struct xv_umr *umr)
{
	uint32_t entries = __xv_umr_entries(umr), list = (entries + 3) & ~3u;
	uint32_t ds = __XV_UMR_DS + (umr->list ? 1 : list);
	uint64_t length = __xv_umr_length(umr);
	struct xv_sq *sq = &qp->sq;
	struct mlx5r_umr_ctrl *ctrl;
	struct mlx5r_mkey *m;
	uint8_t *seg;

	if (!length)
		return XV_DP_REFUSE(XV_EINVAL, "a part of the key is empty or too large");
	if (umr->num > __XV_UMR_MAX_LIST || entries > umr->mkey->max_entries ||
	    list > __XV_UMR_MAX_LIST || (!umr->list && list > MLX5R_MAX_DS - __XV_UMR_DS))
		return XV_DP_REFUSE(XV_EINVAL, "%u entries, the key has %u, an inline list %u",
				    entries, umr->mkey->max_entries, MLX5R_MAX_DS - __XV_UMR_DS);
	if (umr->access & ~__XV_UMR_ACCESS)
		return XV_DP_REFUSE(XV_EINVAL, "access: unknown bit in 0x%x", umr->access);
	if (umr->list && umr->list_addr & (XV_UMR_LIST_ALIGN - 1))
		return XV_DP_REFUSE(XV_EINVAL, "the address of the list is not a multiple of %u",
				    XV_UMR_LIST_ALIGN);
	if (__xv_sq_full(sq, (ds + 3) / 4))
		return __xv_sq_refuse(qp);
	seg = __xv_umr_open(sq, &ctrl, &m,
			    MLX5R_MKEY_MASK_FREE | MLX5R_MKEY_MASK_LEN |
			    MLX5R_MKEY_MASK_START_ADDR | MLX5R_MKEY_MASK_LW | MLX5R_MKEY_MASK_RR |
			    MLX5R_MKEY_MASK_RW | MLX5R_MKEY_MASK_A);
	ctrl->xlt_octowords = xv_be16(list);
	m->flags = __xv_umr_access(umr->access);
	m->start_addr = xv_be64(umr->base_addr);
	m->len = xv_be64(length);
	if (umr->list) {
		ctrl->flags = 0;
		__xv_umr_list_memory(seg, umr, list, length);
	} else {
		__xv_umr_list_inline(sq, seg, umr, list, length);
	}
	__xv_umr_close(sq, ds, flags, umr->mkey->lkey, wr_id);
	return 0;
}

/* Invalidates an indirect key: it gives no access until it is filled again. */
xv_inline int xv_wr_umr_invalidate(struct xv_qp *qp, uint64_t wr_id, unsigned int flags,
				   const struct xv_mkey *mkey)
{
	struct mlx5r_umr_ctrl *ctrl;
	struct mlx5r_mkey *m;

	if (__xv_sq_full(&qp->sq, 2))
		return __xv_sq_refuse(qp);
	__xv_umr_open(&qp->sq, &ctrl, &m, MLX5R_MKEY_MASK_FREE);
	m->status = MLX5R_MKEY_FREE;
	__xv_umr_close(&qp->sq, __XV_UMR_DS, flags, mkey->lkey, wr_id);
	return 0;
}

#endif
