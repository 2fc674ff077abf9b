// SPDX-License-Identifier: GPL-2.0
/*
 * The only place that translates key and virtual address to memory.
 *
 * An mkey allows an access if its variant byte matches, it is not free, it belongs to the
 * user's PD (and QP, if it is bound to one), it grants the access, and it contains the range.
 * An indirect mkey leads to other mkeys, which must pass the same checks with the same PD,
 * until one leads to pages.  The null mkey belongs to every PD, for local access only: it
 * reads as zero and discards what is written.
 */
#include <linux/minmax.h>
#include "data/data.h"

static bool hca_key_is_local(u8 access)
{
	return !(access & ~(MLX5R_MKEY_ACCESS_LR | MLX5R_MKEY_ACCESS_LW));
}

/* Remembers why the key does not allow the access, for the completion with the error. */
static noinline void *hca_key_refuse(struct hca *hca, enum hca_key_fault fault)
{
	hca->fabric->key_fault = fault;
	return NULL;
}

static noinline bool hca_key_null_allows(const struct hca_key_user *u, u8 access)
{
	return hca_key_is_local(access) && !(u->access & MLX5R_MKEY_ACCESS_A);
}

static inline struct hca_mkey *hca_key_get(const struct hca_key_user *u, u32 key, u8 access)
{
	struct hca_mkey *mkey = hca_mkey_get(u->hca, key);

	hca_charge(u->hca->fabric, HCA_ENTRIES, 1);
	if (!mkey || mkey->key != key || mkey->free | mkey->loading)
		return hca_key_refuse(u->hca, HCA_FAULT_KEY);
	if (mkey->null ? !hca_key_null_allows(u, access) : access & ~mkey->access)
		return hca_key_refuse(u->hca, HCA_FAULT_ACCESS);
	if (mkey->null)
		return mkey;
	if (mkey->pd != u->pd || (mkey->qpn != HCA_ANY_QPN && mkey->qpn != u->qpn))
		return hca_key_refuse(u->hca, HCA_FAULT_PD);
	return mkey;
}

static bool hca_key_contains(const struct hca_mkey *mkey, u64 va, u64 len)
{
	if (mkey->length64 || mkey->null)
		return va + len >= va;
	return va >= mkey->start && len <= mkey->len && va - mkey->start <= mkey->len - len;
}

static inline bool hca_key_in_bounds(const struct hca_mkey *mkey, u64 va, u64 len)
{
	if (likely(hca_key_contains(mkey, va, len)))
		return true;
	hca_key_refuse(mkey->hca, HCA_FAULT_BOUNDS);
	return false;
}

bool hca_key_check(const struct hca_key_user *u, u32 key, u64 va, u64 len)
{
	struct hca_mkey *mkey = hca_key_get(u, key, u->access);

	return mkey && hca_key_in_bounds(mkey, va, len);
}

static void *hca_key_map_null(const struct hca_key_user *u, u8 access, u64 *len)
{
	static const u8 zeros[HCA_PAGE_SIZE];

	*len = min_t(u64, *len, HCA_PAGE_SIZE);
	return access & MLX5R_MKEY_ACCESS_LW ? u->hca->fabric->scratch->sink : (void *)zeros;
}

/*
 * Adds the pages after page @n to a piece of @piece bytes, as far as they are in the same chunk and
 * contiguous in memory.
 */
static noinline u64 hca_key_extend(const struct hca_mkey *mkey, u64 n, u64 piece, u64 len)
{
	u64 page_size = 1ull << mkey->page_shift;
	/* Only the first chunk has fewer pages, then it is the last one, too. */
	u64 last = min_t(u64, n | ((1u << HCA_LOG_CHUNK_PAGES) - 1), mkey->xlt.entries - 1);
	void **page = hca_mkey_page(mkey, n), **end = page + (last - n);

	for (; piece < len && page < end && page[1] == page[0] + page_size; page++)
		piece += page_size;
	return min(len, piece);
}

static inline void *hca_key_map_pages(const struct hca_mkey *mkey, u64 va, u64 *len)
{
	u64 off = va - mkey->start + mkey->skip;
	u64 n = off >> mkey->page_shift;
	u64 in_page = off & mkey->page_mask;
	u64 piece = mkey->page_mask + 1 - in_page;
	void *page;

	page = n < mkey->xlt.entries ? *hca_mkey_page(mkey, n) : NULL;
	if (!page)
		return hca_key_refuse(mkey->hca, HCA_FAULT_BOUNDS);
	if (piece < *len)
		*len = hca_key_extend(mkey, n, piece, *len);
	return page + in_page;
}

/*
 * A list may begin with the header of a repeating block (struct mlx5r_repeat).  Then the list
 * describes one repetition: sizes have 16 bits.
 */
static bool hca_key_repeats(const struct hca_mkey *mkey)
{
	return mkey->xlt.entries && hca_mkey_klm(mkey, 0)->key == MLX5R_KLM_REPEAT;
}

static u32 hca_key_size(const struct hca_klm *klm, bool repeats)
{
	return repeats ? klm->size & 0xffff : klm->size;
}

/*
 * Sums the sizes of the next entries of a list, so that an access can search it.  This is done
 * when entries are set, because one access may need the lists of many mkeys.  All entries after
 * the changed ones are summed again, also entries that a shorter list does not use.  True when no
 * entry is left.
 */
bool hca_key_sum_sizes(struct hca_mkey *mkey)
{
	bool repeats = hca_key_repeats(mkey);
	u32 first = max_t(u32, mkey->klms_summed, repeats), i = first;
	u64 end = i > repeats ? hca_mkey_klm(mkey, i - 1)->end : 0;
	u32 last = min_t(u32, mkey->xlt.entries, first + HCA_SUMS);

	if (mkey->mode != MLX5R_MKEY_MODE_KLM)
		return true;
	for (; i < last; i++) {
		struct hca_klm *klm = hca_mkey_klm(mkey, i);

		end += hca_key_size(klm, repeats);
		klm->end = end;
	}
	mkey->klms_summed = i;
	hca_charge(mkey->hca->fabric, HCA_ENTRIES, (i - first) / HCA_SUMS_PER_ENTRY);
	return i == mkey->xlt.entries;
}

/* Finds the first entry that ends after @off, by bisection.  There is one. */
static u32 hca_key_bisect(const struct hca_mkey *mkey, u32 low, u64 off)
{
	u32 high = mkey->klms_summed - 1, steps = 0;

	for (; low < high; steps++) {
		u32 middle = low + (high - low) / 2;

		if (hca_mkey_klm(mkey, middle)->end > off)
			high = middle;
		else
			low = middle + 1;
	}
	hca_charge(mkey->hca->fabric, HCA_ENTRIES, steps);
	return low;
}

/*
 * The entry of a list, not after @last, that contains *@off, which becomes the offset in it;
 * cuts *@len to it.
 */
static const struct hca_klm *hca_key_find_listed(struct hca_mkey *mkey, bool repeats, u32 last,
						 u64 *off, u64 *len)
{
	const struct hca_klm *klm;
	u64 in_entry;
	u32 i;

	if (mkey->klms_summed <= repeats ||
	    hca_mkey_klm(mkey, mkey->klms_summed - 1)->end <= *off)
		return NULL;
	i = hca_key_bisect(mkey, repeats, *off);
	if (i > last)
		return NULL;
	klm = hca_mkey_klm(mkey, i);
	in_entry = hca_key_size(klm, repeats) - (klm->end - *off);
	*len = min(*len, klm->end - *off);
	*off = in_entry;
	return klm;
}

/* The same in a repeating block: the repetition is computed, not searched. */
static const struct hca_klm *hca_key_find_repeated(struct hca_mkey *mkey, u64 *off, u64 *len)
{
	const struct hca_klm *header = hca_mkey_klm(mkey, 0), *klm;
	u32 count = header->addr >> 32, entries = header->addr & 0xffff;
	u64 n = header->size ? *off / header->size : count;

	if (n >= count)
		return NULL;
	*off -= n * header->size;
	*len = min(*len, header->size - *off);
	klm = hca_key_find_listed(mkey, true, entries, off, len);
	if (!klm)
		return NULL;
	*off += n * (klm->size >> 16);
	return klm;
}

static const struct hca_klm *hca_key_find_ksm(struct hca_mkey *mkey, u64 *off, u64 *len)
{
	u64 size = 1ull << mkey->page_shift;
	u64 i = *off >> mkey->page_shift;

	if (i >= mkey->xlt.entries)
		return NULL;
	*off &= size - 1;
	*len = min(*len, size - *off);
	return hca_mkey_klm(mkey, i);
}

static const struct hca_klm *hca_key_find(struct hca_mkey *mkey, u64 *off, u64 *len)
{
	if (mkey->mode == MLX5R_MKEY_MODE_KSM)
		return hca_key_find_ksm(mkey, off, len);
	if (hca_key_repeats(mkey))
		return hca_key_find_repeated(mkey, off, len);
	return hca_key_find_listed(mkey, false, U32_MAX, off, len);
}

/* Remote access is checked at the outer mkey; the inner one needs only local access. */
static u8 hca_key_inner_access(u8 access)
{
	if (access & (MLX5R_MKEY_ACCESS_RW | MLX5R_MKEY_ACCESS_A))
		return MLX5R_MKEY_ACCESS_LW;
	return access & MLX5R_MKEY_ACCESS_RR ? MLX5R_MKEY_ACCESS_LR : access;
}

/* @mkey is no list of pages, and contains the range.  Follows indirect mkeys. */
static noinline void *hca_key_map_other(const struct hca_key_user *u, struct hca_mkey *mkey,
					u64 va, u64 *len)
{
	const struct hca_klm *klm;
	u8 access = u->access;
	int depth;
	u64 off;

	for (depth = 0; mkey && hca_key_in_bounds(mkey, va, *len); depth++) {
		if (mkey->null)
			return hca_key_map_null(u, access, len);
		if (mkey->mode == MLX5R_MKEY_MODE_MTT)
			return hca_key_map_pages(mkey, va, len);
		if (mkey->mode == MLX5R_MKEY_MODE_PA)
			return hca_dma(u->hca, va, *len);
		off = va - mkey->start;
		klm = depth < HCA_MAX_NESTING ? hca_key_find(mkey, &off, len) : NULL;
		if (!klm)
			return hca_key_refuse(u->hca, HCA_FAULT_BOUNDS);
		va = klm->addr + off;
		access = hca_key_inner_access(access);
		mkey = hca_key_get(u, klm->key, access);
	}
	return NULL;
}

void *hca_key_map(const struct hca_key_user *u, u32 key, u64 va, u64 *len)
{
	struct hca_mkey *mkey = hca_key_get(u, key, u->access);

	if (!mkey || !hca_key_in_bounds(mkey, va, *len))
		return NULL;
	if (mkey->mode == MLX5R_MKEY_MODE_MTT && !mkey->null)
		return hca_key_map_pages(mkey, va, len);
	return hca_key_map_other(u, mkey, va, len);
}
