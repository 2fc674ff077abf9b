// SPDX-License-Identifier: GPL-2.0
/* UMRs: requests that change an mkey, from queues of processes and of the kernel */
#include <string.h>
#include <asm/byteorder.h>
#include "model.h"

#define MAX_OCTOWORDS	6u
#define ARENA(addr)	((addr) - SESSION_DMA < SESSION_BYTES)

/* The work request */
struct request {
	struct mlx5r_ctrl ctrl;
	struct mlx5r_umr_ctrl umr;
	struct mlx5r_mkey key;
	union {
		struct mlx5r_data data;
		u8 list[MAX_OCTOWORDS * HCA_OCTOWORD];
	};
};

static const u64 mask_bits[16] = {
	MLX5R_MKEY_MASK_LEN, MLX5R_MKEY_MASK_START_ADDR, MLX5R_MKEY_MASK_FREE,
	MLX5R_MKEY_MASK_KEY, MLX5R_MKEY_MASK_EN_RINVAL, MLX5R_MKEY_MASK_LR, MLX5R_MKEY_MASK_LW,
	MLX5R_MKEY_MASK_RR, MLX5R_MKEY_MASK_RW, MLX5R_MKEY_MASK_A, MLX5R_MKEY_MASK_QPN,
	MLX5R_MKEY_MASK_PAGE_SIZE, MLX5R_MKEY_MASK_PD,
};

/* The bits of action.umr.values */
#define FREE(v)		((v) & 1)
#define RINVAL(v)	((v) & 2)
#define OTHER_PD(v)	(((v) & 0x0c) == 0x0c)
#define KERNEL(v)	((v) & 0x10)
#define OTHER_QPN(v)	(((v) & 0x60) == 0x60)
#define OWN_QPN(v)	((v) & 0x20)
#define REPEAT(v)	((v) & 0x80)

static u32 octowords(const struct action *t)
{
	return t->umr.n % (MAX_OCTOWORDS + 1);
}

static u64 mask(const struct action *t, const struct model_key *k)
{
	u32 chosen = t->umr.mask[0] | t->umr.mask[1] << 8, i;
	u64 m = 0;

	for (i = 0; i < ARRAY_SIZE(mask_bits); i++)
		m |= chosen >> i & 1 ? mask_bits[i] : 0;
	/* A change of the page size needs a new list of pages, which may be missing here. */
	return k->mode == MLX5R_MKEY_MODE_MTT ? m & ~MLX5R_MKEY_MASK_PAGE_SIZE : m;
}

/*
 * Makes the list a repeating block: a header, then strides and sizes of 16 bits.  The header may
 * be wrong.
 */
static void make_block(const struct action *t, struct mlx5r_klm *klm)
{
	struct mlx5r_repeat header = {
		.op = cpu_to_be32(MLX5R_KLM_REPEAT),
		.repeat_count = cpu_to_be32(t->umr.page_shift),
		.num_entries = cpu_to_be16(t->umr.start % (MAX_OCTOWORDS + 1)),
	};
	u32 i, bytes = 0;

	for (i = 1; i < octowords(t); i++) {
		u32 size = (be32_to_cpu(klm[i].byte_count) & 0xff) + 1;

		bytes += i <= be16_to_cpu(header.num_entries) ? size : 0;
		klm[i].byte_count = cpu_to_be32((u32)t->umr.access << 16 | size);
	}
	header.byte_count = cpu_to_be32(bytes + (t->umr.offset & 0x80 ? t->umr.offset & 3 : 0));
	memcpy(klm, &header, sizeof(header));
}

/* Fills the list with addresses in regions, near their ends, and in keys. */
static void fill_list(const struct action *t, const struct session_qp *q, u8 mode, u8 *list)
{
	struct mlx5r_klm *klm = (void *)list;
	__be64 *mtt = (void *)list;
	u32 i;

	for (i = 0; i < octowords(t) * (mode == MLX5R_MKEY_MODE_MTT ? 2 : 1); i++) {
		u8 e = t->umr.entry[i % 3] + i / 3;
		struct model_key *to = model_pick(q->func, e & 0x0c ? 0 : e);
		u64 page = to->entry[e >> 4 & 1].addr;

		if (mode == MLX5R_MKEY_MODE_MTT) {
			mtt[i] = cpu_to_be64((e & 0x80 ? 0 : page) | (e & 7));
			continue;
		}
		klm[i].mkey = cpu_to_be32(e == 0xff ? to->key ^ 1 : to->key);
		klm[i].byte_count = cpu_to_be32(t->rlen >> (e & 7));
		klm[i].addr = cpu_to_be64(to->start + (e >> 4) * (t->loff & 0x1ff));
	}
	if (octowords(t) && mode == MLX5R_MKEY_MODE_KLM && REPEAT(t->umr.values))
		make_block(t, klm);
}

static void fill(const struct action *t, const struct session_qp *q, const struct model_key *k,
		 struct request *r)
{
	u8 v = t->umr.values;
	u32 qpn = OTHER_QPN(v) ? q->qp.qp_num ^ 1 : OWN_QPN(v) ? q->qp.qp_num : HCA_ANY_QPN;

	memset(r, 0, sizeof(*r));
	r->ctrl.opmod_idx_opcode = cpu_to_be32(MLX5R_OP_UMR);
	r->ctrl.fm_ce_se = MLX5R_CE_ALWAYS;
	r->ctrl.imm = cpu_to_be32(k->key);
	r->umr.flags = t->umr.flags;
	r->umr.xlt_octowords = cpu_to_be16(octowords(t));
	r->umr.xlt_offset = cpu_to_be16(t->umr.offset % 12);
	r->umr.mkey_mask = cpu_to_be64(mask(t, k));
	r->key.status = FREE(v) ? MLX5R_MKEY_FREE : 0;
	r->key.flags = t->umr.access;
	r->key.qpn_mkey = cpu_to_be32(qpn << 8 | t->umr.start);
	r->key.flags_pd = cpu_to_be32(!!RINVAL(v) << 24 | (s.pd[q->func] + OTHER_PD(v)));
	r->key.start_addr = cpu_to_be64(model_pick(q->func, LOCAL)->start + t->umr.start * 0x88);
	r->key.len = cpu_to_be64(t->umr.len);
	r->key.log_page_size = t->umr.page_shift;
}

/* ---- The model ----------------------------------------------------------------------- */

static bool of_queue(const struct session_qp *q, const struct model_key *k)
{
	return k->qpn == q->qp.qp_num || (k->qpn == 0xffffff && !k->free);
}

static bool may_change(const struct session_qp *q, const struct model_key *k,
		       const struct request *r, bool kernel)
{
	u8 flags = r->umr.flags, state = flags & MLX5R_UMR_CHECK_MASK;

	if (!k->umr || (state == MLX5R_UMR_CHECK_NOT_FREE && !k->free) ||
	    (state == MLX5R_UMR_CHECK_FREE && k->free))
		return false;
	if (kernel)
		return true;
	return k->pd == s.pd[q->func] && k->mode != MLX5R_MKEY_MODE_MTT &&
	       !(r->umr.mkey_mask & cpu_to_be64(MLX5R_MKEY_MASK_PD)) &&
	       (!(flags & MLX5R_UMR_CHECK_QPN) || of_queue(q, k));
}

static void change(struct model_key *k, const struct request *r)
{
	static const struct {
		u64 mask;
		u8 access;
	} rights[] = {
		{ MLX5R_MKEY_MASK_LR, MLX5R_MKEY_ACCESS_LR },
		{ MLX5R_MKEY_MASK_LW, MLX5R_MKEY_ACCESS_LW },
		{ MLX5R_MKEY_MASK_RR, MLX5R_MKEY_ACCESS_RR },
		{ MLX5R_MKEY_MASK_RW, MLX5R_MKEY_ACCESS_RW },
		{ MLX5R_MKEY_MASK_A, MLX5R_MKEY_ACCESS_A },
	};
	u64 m = be64_to_cpu(r->umr.mkey_mask);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rights); i++)
		if (m & rights[i].mask)
			k->access = (k->access & ~rights[i].access) |
				    (r->key.flags & rights[i].access);
	if (m & MLX5R_MKEY_MASK_LEN)
		k->len = be64_to_cpu(r->key.len);
	if (m & MLX5R_MKEY_MASK_START_ADDR)
		k->start = be64_to_cpu(r->key.start_addr);
	if (m & MLX5R_MKEY_MASK_FREE)
		k->free = r->key.status & MLX5R_MKEY_FREE;
	if (m & MLX5R_MKEY_MASK_KEY)
		k->key = (k->key & ~0xffu) | (be32_to_cpu(r->key.qpn_mkey) & 0xff);
	if (m & MLX5R_MKEY_MASK_EN_RINVAL)
		k->rinval = be32_to_cpu(r->key.flags_pd) >> 24 & 1;
	if (m & MLX5R_MKEY_MASK_QPN)
		k->qpn = be32_to_cpu(r->key.qpn_mkey) >> 8;
	if (m & MLX5R_MKEY_MASK_PAGE_SIZE)
		k->page_shift = r->key.log_page_size & 0x1f;
	if (m & MLX5R_MKEY_MASK_PD)
		k->pd = be32_to_cpu(r->key.flags_pd) & 0xffffff;
}

/* False: a random list names pages of rings, which the model does not have. */
static bool set_entries(struct model_key *k, u32 first, u32 n, const u8 *list)
{
	const struct mlx5r_klm *klm = (const void *)list;
	const __be64 *mtt = (const void *)list;
	bool pages = k->mode == MLX5R_MKEY_MODE_MTT;
	u32 per_octoword = pages ? 2 : 1, i;
	u64 addr;

	for (i = 0; i < n * per_octoword; i++) {
		struct model_entry *e = &k->entry[first * per_octoword + i];

		if (!pages) {
			*e = (struct model_entry) {
				be64_to_cpu(klm[i].addr), be32_to_cpu(klm[i].byte_count),
				be32_to_cpu(klm[i].mkey)
			};
			continue;
		}
		addr = be64_to_cpu(mtt[i]) & ~7ull;
		*e = (struct model_entry) {
			model_ptr(addr, HCA_PAGE_SIZE) ? addr : 0, HCA_PAGE_SIZE
		};
		if (!e->addr && ARENA(addr))
			return false;
	}
	return true;
}

/* Returns the status; the request reads its entries from @list. */
static int predict(struct session_qp *q, struct model_key *k, const struct request *r,
		   struct model_seg list, bool kernel, bool *known)
{
	u8 bytes[MAX_OCTOWORDS * HCA_OCTOWORD] __aligned(8);
	u32 n = be16_to_cpu(r->umr.xlt_octowords);
	u32 first = r->umr.flags & MLX5R_UMR_XLT_OFFSET_EN ? be16_to_cpu(r->umr.xlt_offset) : 0;
	struct model_key before = *k;
	int status = XV_WC_SUCCESS;

	if (!may_change(q, k, r, kernel))
		return XV_WC_MW_BIND_ERR;
	/* The list may be read through the key that is changed. */
	change(k, r);
	if (n && model_copy(model_bytes(bytes), list, n * HCA_OCTOWORD))
		status = XV_WC_LOC_PROT_ERR;
	else if (n && first + n > MODEL_ENTRIES / 2)
		status = XV_WC_LOC_QP_OP_ERR;
	else if (n)
		*known = set_entries(k, first, n, bytes);
	if (status)
		*k = before;
	return status;
}

/* ---- One request ----------------------------------------------------------------------- */

/* Writes the list to the place from which the request reads it. */
static struct model_seg place_list(const struct action *t, const struct session_qp *q, u8 mode,
				   struct request *r)
{
	u32 bytes = octowords(t) * HCA_OCTOWORD, off = t->roff % (REGION_BYTES - sizeof(r->list));
	struct model_key *region = model_pick(q->func, LOCAL);
	struct model_seg seg = model_seg(q, t->lkey, t->lkey_flaw, off, MLX5R_MKEY_ACCESS_LR);
	u8 list[MAX_OCTOWORDS * HCA_OCTOWORD] __aligned(8);

	fill_list(t, q, mode, list);
	if (r->umr.flags & MLX5R_UMR_INLINE) {
		memcpy(r->list, list, bytes);
		seg.data = r->list;
		return seg;
	}
	memcpy(model_ptr(region->start + off, bytes), list, bytes);
	memcpy(session_ptr(&s, region->start + off), list, bytes);
	r->data.addr = cpu_to_be64(seg.addr);
	r->data.lkey = cpu_to_be32(seg.key);
	return seg;
}

bool perform_umr(const struct action *t)
{
	struct session_qp *q = &rc[t->umr.qp % SESSION_FUNCS];
	struct model_key *k = model_pick(q->func, t->umr.key);
	struct hca_qp *qp = hca_qp_get(s.hca[q->func], q->qp.qp_num);
	u8 *wqe = (u8 *)__xv_sq_next(&q->qp.sq);
	bool known = true;
	struct model_seg list;
	struct request r;
	struct xv_wc wc;
	u32 bytes;
	int want;

	fill(t, q, k, &r);
	list = place_list(t, q, k->mode, &r);
	bytes = offsetof(struct request, list) +
		(r.umr.flags & MLX5R_UMR_INLINE ? octowords(t) * HCA_OCTOWORD :
		 octowords(t) ? sizeof(r.data) : 0);
	r.ctrl.qpn_ds = cpu_to_be32(bytes / MLX5R_DS);
	want = predict(q, k, &r, list, KERNEL(t->umr.values), &known);
	if (!known || xv_wr_raw(&q->qp, 1, &r))
		return false;
	qp->rlky = KERNEL(t->umr.values);
	if (!model_run(t, q, wqe))
		return false;
	model_expect(q, want, &wc);
	return want == XV_WC_SUCCESS;
}
