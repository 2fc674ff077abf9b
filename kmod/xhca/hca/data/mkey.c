// SPDX-License-Identifier: GPL-2.0
/*
 * Memory keys: the object and its translation table.
 *
 * The table grows when entries are set, up to the capacity given at creation, because drivers
 * keep thousands of large mkeys in a cache: with whole tables, those of mlx5_ib would take about
 * 100 MiB for each function.  It grows by chunks of at most a page, so that a fast registration
 * of any size need not sleep.  It never shrinks, so an mkey that is used again needs no memory.
 * What a process may use for lists is limited (devx.c).
 *
 * DMA addresses of pages are translated to pointers when they are set.  A page that is not
 * memory is NULL, and access to it fails.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <asm/byteorder.h>
#include "base/alloc.h"
#include "base/devx.h"
#include "base/limits.h"
#include "base/umem.h"
#include "data/data.h"

enum { MIN_GROW = 8 };

#define MTT_FLAGS	7ull		/* low bits of an entry: read, write */
#define MAX_XLT		(1u << 27)	/* octowords */
#define MAX_KLMS	(1u << 16)	/* announced as log_max_klm_list_size */

static u32 hca_mkey_log_chunk(const struct hca_mkey *mkey)
{
	return mkey->mode == MLX5R_MKEY_MODE_MTT ? HCA_LOG_CHUNK_PAGES : HCA_LOG_CHUNK_KLMS;
}

static size_t hca_mkey_entry_bytes(const struct hca_mkey *mkey)
{
	return mkey->mode == MLX5R_MKEY_MODE_MTT ? sizeof(void *) : sizeof(struct hca_klm);
}

/* Makes the first chunk longer, or adds a chunk, towards @n entries. */
static bool hca_mkey_grow(struct hca_mkey *mkey, u32 n, gfp_t gfp)
{
	size_t size = hca_mkey_entry_bytes(mkey);
	u32 per_chunk = 1u << hca_mkey_log_chunk(mkey), room = per_chunk;
	struct hca_xlt *xlt = &mkey->xlt;
	u32 last = xlt->entries / per_chunk;
	void *p;

	if (!last)
		room = min(roundup_pow_of_two(max_t(u32, n, MIN_GROW)), per_chunk);
	p = kcalloc(room, size, gfp);
	if (!p)
		return false;
	if (xlt->entries % per_chunk) {
		memcpy(p, xlt->chunk[last], xlt->entries * size);
		kfree(xlt->chunk[last]);
	}
	xlt->chunk[last] = p;
	xlt->entries = last * per_chunk + room;
	hca_charge(mkey->hca->fabric, HCA_ENTRIES, room / HCA_SUMS_PER_ENTRY);
	return true;
}

/* Makes room for @n entries.  If it may not sleep, -EAGAIN when the turn is over. */
static int hca_mkey_make_room(struct hca_mkey *mkey, u32 n, bool may_sleep)
{
	struct hca_fabric *f = mkey->hca->fabric;

	while (mkey->xlt.entries < n) {
		if (!hca_mkey_grow(mkey, n, may_sleep ? HCA_GFP : HCA_GFP_NOWAIT))
			return -ENOMEM;
		if (!may_sleep && mkey->xlt.entries < n && !hca_turn_left(f))
			return -EAGAIN;
	}
	return 0;
}

/*
 * Charges a list of @max entries.  Not charged are lists of pages that the driver sets, because it
 * pins these pages for the process, and its short lists, as those of memory windows are.
 */
static bool hca_mkey_charge(struct hca_mkey *mkey, u64 max)
{
	u64 chunks = DIV_ROUND_UP_ULL(max, 1u << hca_mkey_log_chunk(mkey));
	u64 room = min_t(u64, chunks << hca_mkey_log_chunk(mkey),
			 roundup_pow_of_two(max_t(u64, max, MIN_GROW)));

	if (!mkey->uid && (mkey->mode == MLX5R_MKEY_MODE_MTT || max <= MIN_GROW))
		return true;
	return hca_devx_charge(mkey, room * hca_mkey_entry_bytes(mkey) +
				     chunks * sizeof(*mkey->xlt.chunk));
}

enum hca_synd hca_mkey_alloc_xlt(struct hca_mkey *mkey, u64 max)
{
	u64 chunks = DIV_ROUND_UP_ULL(max, 1u << hca_mkey_log_chunk(mkey));

	if (!hca_mkey_charge(mkey, max))
		return HCA_SYND_MKEY_MEMORY;
	mkey->xlt.chunk = kvcalloc(chunks, sizeof(*mkey->xlt.chunk), HCA_GFP);
	return mkey->xlt.chunk ? HCA_OK : HCA_SYND_NO_MEMORY;
}

static void hca_mkey_free_xlt(struct hca_mkey *mkey)
{
	u32 i, n = DIV_ROUND_UP(mkey->xlt.entries, 1u << hca_mkey_log_chunk(mkey));

	for (i = 0; i < n; i++)
		kfree(mkey->xlt.chunk[i]);
	kvfree(mkey->xlt.chunk);
}

/* Pointer to the start of page @i; the mkey may cover only a part of the page. */
static void *hca_mkey_map_page(struct hca_mkey *mkey, u32 i, u64 addr)
{
	u64 page = 1ull << mkey->page_shift;
	u64 first = (u64)i << mkey->page_shift;
	u64 skip = mkey->skip, end = skip + mkey->len;
	u64 lo, hi;
	void *p;

	addr &= ~MTT_FLAGS;
	if (!addr)
		return NULL;
	p = hca_dma(mkey->hca, addr, page);
	if (p || end <= first)
		return p;
	/* Only the part that the mkey covers must be memory. */
	lo = i ? 0 : skip;
	hi = min(end - first, page);
	p = hi > lo ? hca_dma(mkey->hca, addr + lo, hi - lo) : NULL;
	return p ? p - lo : NULL;
}

int hca_mkey_set_mtts(struct hca_mkey *mkey, u32 first, u32 n, const __be64 *mtt, bool may_sleep)
{
	u32 max = mkey->xlt_max * 2, i;
	int err;

	if (first > max || n > max - first)
		return -EINVAL;
	err = hca_mkey_make_room(mkey, first + n, may_sleep);
	if (err)
		return err;
	for (i = 0; i < n; i++)
		*hca_mkey_page(mkey, first + i) =
			hca_mkey_map_page(mkey, first + i, be64_to_cpu(mtt[i]));
	return 0;
}

int hca_mkey_set_klms(struct hca_mkey *mkey, u32 first, u32 n, const struct mlx5r_klm *klm,
		      bool may_sleep)
{
	u32 i;
	int err;

	if (first > mkey->xlt_max || n > mkey->xlt_max - first)
		return -EINVAL;
	err = hca_mkey_make_room(mkey, first + n, may_sleep);
	if (err)
		return err;
	for (i = 0; i < n; i++)
		*hca_mkey_klm(mkey, first + i) = (struct hca_klm) {
			.addr = be64_to_cpu(klm[i].addr),
			.key = be32_to_cpu(klm[i].mkey),
			.size = be32_to_cpu(klm[i].byte_count),
		};
	mkey->klms_summed = min(mkey->klms_summed, first);
	while (may_sleep && !hca_key_sum_sizes(mkey))
		;
	return 0;
}

/* ---- Context ------------------------------------------------------------------- */

enum { MKC_TRANSLATION_MODE = 0x1a };	/* 2 bits; not in older headers */

static bool hca_mkey_fields_ok(const u32 *mkc)
{
	return !MLX5_GET(mkc, mkc, bsf_en) && !MLX5_GET(mkc, mkc, sync_umr) &&
	       !MLX5_GET(mkc, mkc, bsf_octword_size) &&
	       !hca_field(mkc, MKC_TRANSLATION_MODE, 2);
}

void hca_mkey_align(struct hca_mkey *mkey)
{
	mkey->page_mask = (1ull << mkey->page_shift) - 1;
	mkey->skip = mkey->start & mkey->page_mask;
}

static enum hca_synd hca_mkey_decode(struct hca *hca, struct hca_mkey *mkey,
				     const struct hca_cmd *c)
{
	const u32 *mkc = mkey->mkc;
	u32 mode = MLX5_GET(mkc, mkc, access_mode_1_0) |
		   MLX5_GET(mkc, mkc, access_mode_4_2) << 2;
	struct hca_domain *domain;

	if (mode > MLX5R_MKEY_MODE_KSM)
		return HCA_SYND_MKEY_MODE;
	if (!hca_mkey_fields_ok(mkc))
		return HCA_SYND_MKEY_FIELD;
	/* With such an mkey a process could name any memory of the host. */
	if (c->uid && mode == MLX5R_MKEY_MODE_PA)
		return HCA_SYND_PRIVILEGED;
	mkey->mode = mode;
	mkey->pd = MLX5_GET(mkc, mkc, pd);
	domain = hca_devx_own(c, &hca->pds, mkey->pd);
	if (!domain)
		return HCA_SYND_PD;
	mkey->qpn = MLX5_GET(mkc, mkc, qpn);
	mkey->access = MLX5_GET(mkc, mkc, lr) * MLX5R_MKEY_ACCESS_LR |
		       MLX5_GET(mkc, mkc, lw) * MLX5R_MKEY_ACCESS_LW |
		       MLX5_GET(mkc, mkc, rr) * MLX5R_MKEY_ACCESS_RR |
		       MLX5_GET(mkc, mkc, rw) * MLX5R_MKEY_ACCESS_RW |
		       MLX5_GET(mkc, mkc, a) * MLX5R_MKEY_ACCESS_A;
	mkey->free = MLX5_GET(mkc, mkc, free);
	mkey->umr_en = MLX5_GET(mkc, mkc, umr_en);
	mkey->en_rinval = MLX5_GET(mkc, mkc, en_rinval);
	mkey->length64 = MLX5_GET(mkc, mkc, length64);
	mkey->page_shift = MLX5_GET(mkc, mkc, log_page_size);
	mkey->start = MLX5_GET64(mkc, mkc, start_addr);
	mkey->len = MLX5_GET64(mkc, mkc, len);
	hca_mkey_align(mkey);
	mkey->xlt_max = MLX5_GET(mkc, mkc, translations_octword_size);
	/*
	 * An mkey that outlives its PD would give access to the next PD with that number.  The
	 * driver manages its own mkeys, and moves them from PD to PD.
	 */
	if (c->uid) {
		mkey->domain = domain;
		domain->users++;
	}
	if (mkey->xlt_max > (mode == MLX5R_MKEY_MODE_MTT ? MAX_XLT : MAX_KLMS))
		return HCA_SYND_MKEY_SIZE;
	/* UMR lists are multiples of 64 bytes, padded with zeros. */
	mkey->xlt_max = ALIGN(mkey->xlt_max, 4);
	return HCA_OK;
}

/* Bit offsets in CREATE_MKEY of fields for which the kernel's headers have no names (PRM) */
enum {
	MKEY_UMEM_ID		= 0x320,
	MKEY_UMEM_OFFSET	= 0x340,
};

/* The mkey has the pages of a UMEM, for good. */
static enum hca_synd hca_mkey_set_umem(struct hca_mkey *mkey, const struct hca_cmd *c)
{
	enum hca_synd synd;
	void **page;
	u32 i, n;

	synd = hca_umem_map(mkey, c, hca_dword(c->in, MKEY_UMEM_ID),
			    hca_qword(c->in, MKEY_UMEM_OFFSET), &page, &n);
	if (synd)
		return synd;
	synd = hca_mkey_alloc_xlt(mkey, n);
	if (synd)
		return synd;
	if (hca_mkey_make_room(mkey, n, true))
		return HCA_SYND_NO_MEMORY;
	for (i = 0; i < n; i++)
		*hca_mkey_page(mkey, i) = page[i];
	mkey->xlt_max = n / 2;
	return HCA_OK;
}

/*
 * Sets the list of the command; its unit is an octoword, 2 MTTs or 1 KLM.  A process names
 * pages only by a UMEM.
 */
static enum hca_synd hca_mkey_set_list(struct hca_mkey *mkey, const struct hca_cmd *c)
{
	bool in_umem = MLX5_GET(create_mkey_in, c->in, mkey_umem_valid);
	u32 n = MLX5_GET(create_mkey_in, c->in, translations_octword_actual_size);
	const void *list = MLX5_ADDR_OF(create_mkey_in, c->in, klm_pas_mtt);
	u32 room = (c->inlen - MLX5_BYTE_OFF(create_mkey_in, klm_pas_mtt)) / HCA_OCTOWORD;
	enum hca_synd synd;
	int err;

	if (in_umem != (c->uid && mkey->mode == MLX5R_MKEY_MODE_MTT))
		return HCA_SYND_UMEM;
	if (in_umem)
		return hca_mkey_set_umem(mkey, c);
	synd = hca_mkey_alloc_xlt(mkey, mkey->mode == MLX5R_MKEY_MODE_MTT ? mkey->xlt_max * 2ull :
									    mkey->xlt_max);
	if (synd)
		return synd;
	if (!n)
		return HCA_OK;
	if (n > room || mkey->mode == MLX5R_MKEY_MODE_PA)
		return HCA_SYND_MKEY_LIST;
	if (mkey->mode == MLX5R_MKEY_MODE_MTT)
		err = hca_mkey_set_mtts(mkey, 0, n * 2, list, true);
	else
		err = hca_mkey_set_klms(mkey, 0, n, list, true);
	if (err == -ENOMEM)
		return HCA_SYND_NO_MEMORY;
	return err ? HCA_SYND_MKEY_LIST : HCA_OK;
}

static void hca_mkey_release(struct hca_mkey *mkey)
{
	if (mkey->domain)
		mkey->domain->users--;
	hca_umem_put(mkey->umem);
	hca_devx_uncharge(mkey);
	hca_mkey_free_xlt(mkey);
	kfree(mkey);
}

enum hca_synd hca_cmd_create_mkey(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_mkey *mkey;
	enum hca_synd synd;
	u32 index;

	mkey = kzalloc(sizeof(*mkey), HCA_GFP);
	if (!mkey)
		return HCA_SYND_NO_MEMORY;
	mkey->hca = hca;
	mkey->uid = c->uid;
	memcpy(mkey->mkc, MLX5_ADDR_OF(create_mkey_in, c->in, memory_key_mkey_entry),
	       sizeof(mkey->mkc));
	synd = hca_mkey_decode(hca, mkey, c);
	if (!synd)
		synd = hca_mkey_set_list(mkey, c);
	if (!synd)
		synd = hca_devx_add(hca, c, &hca->mkeys, mkey, &index);
	if (synd) {
		hca_mkey_release(mkey);
		return synd;
	}
	mkey->key = index << 8 | MLX5_GET(mkc, mkey->mkc, mkey_7_0);
	MLX5_SET(create_mkey_out, c->out, mkey_index, index);
	return HCA_OK;
}

void hca_mkey_free(struct hca *hca, void *obj)
{
	struct hca_mkey *mkey = obj;

	hca_devx_del(hca, &hca->mkeys, mkey->key >> 8);
	hca_mkey_release(mkey);
}

/* Does not find the null mkey, which belongs to the adapter. */
static struct hca_mkey *hca_mkey_find(struct hca *hca, const struct hca_cmd *c, u32 index)
{
	struct hca_mkey *mkey = hca_devx_own(c, &hca->mkeys, index);

	return mkey && !mkey->null ? mkey : NULL;
}

enum hca_synd hca_cmd_destroy_mkey(struct hca *hca, const struct hca_cmd *c)
{
	u32 index = MLX5_GET(destroy_mkey_in, c->in, mkey_index);
	struct hca_mkey *mkey = hca_mkey_find(hca, c, index);

	if (!mkey)
		return HCA_SYND_MKEY;
	hca_mkey_free(hca, mkey);
	return HCA_OK;
}

/* The context as created, with the changes by UMRs */
enum hca_synd hca_cmd_query_mkey(struct hca *hca, const struct hca_cmd *c)
{
	u32 index = MLX5_GET(query_mkey_in, c->in, mkey_index);
	struct hca_mkey *mkey = hca_mkey_find(hca, c, index);
	void *mkc = MLX5_ADDR_OF(query_mkey_out, c->out, memory_key_mkey_entry);

	if (!mkey)
		return HCA_SYND_MKEY;
	if (MLX5_GET(query_mkey_in, c->in, pg_access))
		return HCA_SYND_MKEY_FIELD;
	memcpy(mkc, mkey->mkc, sizeof(mkey->mkc));
	MLX5_SET(mkc, mkc, free, mkey->free);
	MLX5_SET(mkc, mkc, pd, mkey->pd);
	MLX5_SET(mkc, mkc, qpn, mkey->qpn);
	MLX5_SET(mkc, mkc, mkey_7_0, mkey->key & 0xff);
	MLX5_SET(mkc, mkc, lr, !!(mkey->access & MLX5R_MKEY_ACCESS_LR));
	MLX5_SET(mkc, mkc, lw, !!(mkey->access & MLX5R_MKEY_ACCESS_LW));
	MLX5_SET(mkc, mkc, rr, !!(mkey->access & MLX5R_MKEY_ACCESS_RR));
	MLX5_SET(mkc, mkc, rw, !!(mkey->access & MLX5R_MKEY_ACCESS_RW));
	MLX5_SET(mkc, mkc, a, !!(mkey->access & MLX5R_MKEY_ACCESS_A));
	MLX5_SET(mkc, mkc, log_page_size, mkey->page_shift);
	MLX5_SET64(mkc, mkc, start_addr, mkey->start);
	MLX5_SET64(mkc, mkc, len, mkey->len);
	return HCA_OK;
}

int hca_null_mkey_create(struct hca *hca)
{
	struct hca_mkey *mkey = kzalloc(sizeof(*mkey), HCA_GFP);
	u32 index;

	if (!mkey)
		return -ENOMEM;
	if (hca_table_add(&hca->mkeys, mkey, 0, &index)) {
		kfree(mkey);
		return -ENOMEM;
	}
	mkey->hca = hca;
	mkey->null = true;
	mkey->key = index << 8;
	return 0;
}

#undef MTT_FLAGS
#undef MAX_XLT
#undef MAX_KLMS
