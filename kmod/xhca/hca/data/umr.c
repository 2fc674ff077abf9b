// SPDX-License-Identifier: GPL-2.0
/*
 * UMR: a work request that changes an mkey.
 *
 * Drivers use it to register memory, bind memory windows and invalidate keys.  Only queues
 * of the kernel (those that may use the reserved key) can change an mkey with a page list:
 * with it a process could name any page, or extend a key over pages that are not pinned.
 *
 * A UMR never sleeps.  If the table of the mkey must grow and no page of memory is free, it
 * runs again after a delay.
 *
 * A long list takes several turns.  If the queue fails between them, the mkey gives no access
 * until another UMR has set its list.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include "data/data.h"

#define CHUNK		(HCA_UMR_CHUNK / HCA_OCTOWORD)
#define MEMORY_DELAY	NSEC_PER_MSEC	/* before the next attempt to allocate */

/* The parts of the request that follow the control segment */
struct umr {
	const struct mlx5r_umr_ctrl *ctrl;
	const struct mlx5r_mkey *ctx;
	u64 mask;
	u32 octowords, offset;
	struct hca_sge list;		/* memory with the entries */
};

static int hca_umr_parse(const struct hca_wqe *w, struct umr *u)
{
	const u8 *at = w->body;
	u32 left = w->body_len;
	const struct mlx5r_data *d;

	if (left < sizeof(*u->ctrl) + sizeof(*u->ctx))
		return MLX5R_SYND_LOCAL_QP_OP;
	u->ctrl = (const void *)at;
	u->ctx = (const void *)(at + sizeof(*u->ctrl));
	at += sizeof(*u->ctrl) + sizeof(*u->ctx);
	left -= sizeof(*u->ctrl) + sizeof(*u->ctx);

	u->mask = be64_to_cpu(u->ctrl->mkey_mask);
	u->octowords = be16_to_cpu(u->ctrl->xlt_octowords);
	u->offset = 0;
	if (u->ctrl->flags & MLX5R_UMR_XLT_OFFSET_EN)
		u->offset = be32_to_cpu(u->ctrl->xlt_offset_47_16) << 16 |
			    be16_to_cpu(u->ctrl->xlt_offset);
	if (!u->octowords)
		return 0;

	if (u->ctrl->flags & MLX5R_UMR_INLINE) {
		if (left < u->octowords * HCA_OCTOWORD)
			return MLX5R_SYND_LOCAL_QP_OP;
		u->list = (struct hca_sge) { .len = left, .data = at };
		return 0;
	}
	if (left < sizeof(*d))
		return MLX5R_SYND_LOCAL_QP_OP;
	d = (const void *)at;
	u->list = (struct hca_sge) {
		.addr = be64_to_cpu(d->addr),
		.len = u->octowords * HCA_OCTOWORD,
		.lkey = be32_to_cpu(d->lkey),
	};
	return 0;
}

/* A key of all queue pairs belongs to each of them, but only while it is not free. */
static bool hca_umr_qp_matches(const struct hca_qp *qp, const struct hca_mkey *mkey)
{
	return mkey->qpn == qp->qpn || (mkey->qpn == HCA_ANY_QPN && !mkey->free);
}

static bool hca_umr_may_change(const struct hca_qp *qp, const struct hca_mkey *mkey,
			       const struct umr *u)
{
	u8 check = u->ctrl->flags & MLX5R_UMR_CHECK_MASK;

	if (!mkey->umr_en || (check == MLX5R_UMR_CHECK_NOT_FREE && !mkey->free) ||
	    (check == MLX5R_UMR_CHECK_FREE && mkey->free))
		return false;
	if (qp->rlky)
		return true;
	if (mkey->pd != qp->pd || (u->mask & MLX5R_MKEY_MASK_PD))
		return false;
	if ((u->ctrl->flags & MLX5R_UMR_CHECK_QPN) && !hca_umr_qp_matches(qp, mkey))
		return false;
	return mkey->mode == MLX5R_MKEY_MODE_KLM || mkey->mode == MLX5R_MKEY_MODE_KSM;
}

static int hca_umr_set_entries(struct hca_mkey *mkey, u32 first, u32 n, const void *list)
{
	if (mkey->mode == MLX5R_MKEY_MODE_MTT)
		return hca_mkey_set_mtts(mkey, first * 2, n * 2, list, false);
	return hca_mkey_set_klms(mkey, first, n, list, false);
}

/* No page of memory is free.  The request is executed again after a delay. */
static int hca_umr_wait_for_memory(struct hca_qp *qp)
{
	struct hca_fabric *f = qp->hca->fabric;

	f->now = ktime_get_ns();
	hca_timer_set(f, &qp->timer, f->now + MEMORY_DELAY);
	return HCA_AGAIN;
}

/*
 * The PD in which the key of the list must be.  The UMR queue of a driver may use one of another
 * PD: in 5.10, mlx5_ib gives this queue the PD 0 of the driver, and uses a key of another one.
 */
static u32 hca_umr_list_pd(const struct hca_qp *qp, const struct umr *u)
{
	const struct hca_mkey *key = hca_mkey_get(qp->hca, u->list.lkey);

	return key && qp->st == MLX5_QP_ST_REG_UMR ? key->pd : qp->pd;
}

/* Sets entries until the turn is over; qp->done: bytes of the list so far. */
static int hca_umr_load_entries(struct hca_qp *qp, struct hca_mkey *mkey, struct umr *u)
{
	struct hca_fabric *f = qp->hca->fabric;
	struct hca_sge chunk = { .data = f->scratch->umr };
	u32 done = qp->done / HCA_OCTOWORD, n;
	struct hca_sgl from, to;
	int err;

	if (done > u->octowords)
		return MLX5R_SYND_LOCAL_QP_OP;
	hca_sgl_init(&from, qp, MLX5R_MKEY_ACCESS_LR, &u->list, 1);
	from.user.pd = hca_umr_list_pd(qp, u);
	hca_sgl_skip(&from, qp->done);
	for (; done < u->octowords; done += n) {
		n = min_t(u32, u->octowords - done, CHUNK);
		chunk.len = n * HCA_OCTOWORD;
		hca_sgl_init(&to, qp, 0, &chunk, 1);
		if (hca_copy(&to, &from, chunk.len))
			return MLX5R_SYND_LOCAL_PROT;
		err = hca_umr_set_entries(mkey, u->offset + done, n, f->scratch->umr);
		if (err == -EAGAIN)
			return HCA_AGAIN;
		if (err == -ENOMEM)
			return hca_umr_wait_for_memory(qp);
		if (err)
			return MLX5R_SYND_LOCAL_QP_OP;
		hca_charge(f, HCA_ENTRIES, n);
		qp->done += chunk.len;
		if (!hca_turn_left(f) && done + n < u->octowords)
			return HCA_AGAIN;
	}
	while (!hca_key_sum_sizes(mkey))
		if (!hca_turn_left(f))
			return HCA_AGAIN;
	return 0;
}

static const struct {
	u64 mask;
	u8 access;
} access_bits[] = {
	{ MLX5R_MKEY_MASK_LR, MLX5R_MKEY_ACCESS_LR },
	{ MLX5R_MKEY_MASK_LW, MLX5R_MKEY_ACCESS_LW },
	{ MLX5R_MKEY_MASK_RR, MLX5R_MKEY_ACCESS_RR },
	{ MLX5R_MKEY_MASK_RW, MLX5R_MKEY_ACCESS_RW },
	{ MLX5R_MKEY_MASK_A, MLX5R_MKEY_ACCESS_A },
};

static void hca_umr_apply(struct hca_mkey *mkey, const struct umr *u)
{
	const struct mlx5r_mkey *c = u->ctx;
	u32 qpn_key = be32_to_cpu(c->qpn_mkey);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(access_bits); i++)
		if (u->mask & access_bits[i].mask)
			mkey->access = (mkey->access & ~access_bits[i].access) |
				       (c->flags & access_bits[i].access);
	if (u->mask & MLX5R_MKEY_MASK_PD)
		mkey->pd = be32_to_cpu(c->flags_pd) & 0xffffff;
	if (u->mask & MLX5R_MKEY_MASK_START_ADDR)
		mkey->start = be64_to_cpu(c->start_addr);
	if (u->mask & MLX5R_MKEY_MASK_LEN)
		mkey->len = be64_to_cpu(c->len);
	if (u->mask & MLX5R_MKEY_MASK_PAGE_SIZE)
		mkey->page_shift = c->log_page_size & 0x1f;
	if (u->mask & (MLX5R_MKEY_MASK_START_ADDR | MLX5R_MKEY_MASK_PAGE_SIZE))
		hca_mkey_align(mkey);
	if (u->mask & MLX5R_MKEY_MASK_EN_RINVAL)
		mkey->en_rinval = be32_to_cpu(c->flags_pd) >> 24 & 1;
	if (u->mask & MLX5R_MKEY_MASK_QPN)
		mkey->qpn = qpn_key >> 8;
	if (u->mask & MLX5R_MKEY_MASK_KEY)
		mkey->key = (mkey->key & ~0xffu) | (qpn_key & 0xff);
	if (u->mask & MLX5R_MKEY_MASK_RO_WRITE)
		MLX5_SET(mkc, mkey->mkc, relaxed_ordering_write,
			 !!(c->flags_23_16 & MLX5R_MKEY_RO_WRITE));
	if (u->mask & MLX5R_MKEY_MASK_RO_READ)
		MLX5_SET(mkc, mkey->mkc, relaxed_ordering_read,
			 !!(c->log_page_size & MLX5R_MKEY_RO_READ));
	if (u->mask & MLX5R_MKEY_MASK_FREE)
		mkey->free = c->status & MLX5R_MKEY_FREE;
}

/* Restores all fields but the table, which may have grown. */
static void hca_umr_undo(struct hca_mkey *mkey, const struct hca_mkey *before)
{
	struct hca_mkey now = *mkey;

	*mkey = *before;
	mkey->xlt = now.xlt;
	mkey->klms_summed = now.klms_summed;
}

noinline int hca_umr(struct hca_qp *qp, struct hca_wqe *w)
{
	struct hca_mkey *mkey = hca_mkey_get(qp->hca, w->imm);
	struct hca_mkey before;
	struct umr u;
	int ret;

	ret = hca_umr_parse(w, &u);
	if (ret)
		return ret;
	if (!mkey || !hca_umr_may_change(qp, mkey, &u))
		return MLX5R_SYND_MW_BIND;

	/*
	 * Pages are checked against the new bounds when they are set.  Between turns the mkey
	 * has its old fields, but gives no access, because a part of its list is new.  After
	 * a failure in the middle of the list it gives no access either.
	 */
	before = *mkey;
	hca_umr_apply(mkey, &u);
	if (u.octowords) {
		mkey->loading = false;
		ret = hca_umr_load_entries(qp, mkey, &u);
	}
	if (!ret)
		return 0;
	hca_umr_undo(mkey, &before);
	if (qp->done)
		mkey->loading = true;
	if (ret == HCA_AGAIN)
		qp->in_message = true;
	return ret;
}

#undef CHUNK
#undef MEMORY_DELAY
