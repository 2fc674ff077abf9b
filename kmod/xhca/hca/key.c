// SPDX-License-Identifier: GPL-2.0
/*
 * The one place that walks a key: from key and virtual address to memory.
 *
 * A key allows an access if it exists with this very variant, is not free,
 * belongs to the user's PD (and QP, if it is bound to one), grants the access,
 * and spans the bytes.  Keys made of keys are followed until pages are reached;
 * the inner key must stand the same test within the outer key's PD.  The null key
 * is everybody's, locally: a place for bytes that nobody wants.
 */
#include <linux/minmax.h>
#include <asm/byteorder.h>
#include "hca.h"

#define MAX_NESTING	4	/* announced as max_indirection */

static bool is_local(u8 access)
{
	return !(access & ~(MLX5R_MKEY_ACCESS_LR | MLX5R_MKEY_ACCESS_LW));
}

static struct hca_mkey *get_mkey(const struct hca_key_user *u, u32 key, u8 access)
{
	struct hca_mkey *mkey = hca_mkey_get(u->hca, key);

	if (!mkey || mkey->key != key || mkey->free)
		return NULL;
	if (mkey->null)
		return is_local(access) && !(u->access & MLX5R_MKEY_ACCESS_A) ? mkey : NULL;
	if (mkey->pd != u->pd || (mkey->qpn != HCA_ANY_QPN && mkey->qpn != u->qpn))
		return NULL;
	return (mkey->access & access) == access ? mkey : NULL;
}

static bool in_bounds(const struct hca_mkey *mkey, u64 va, u64 len)
{
	if (mkey->length64 || mkey->null)
		return va + len >= va;
	return va >= mkey->start && len <= mkey->len && va - mkey->start <= mkey->len - len;
}

bool hca_key_check(const struct hca_key_user *u, u32 key, u64 va, u64 len)
{
	struct hca_mkey *mkey = get_mkey(u, key, u->access);

	return mkey && in_bounds(mkey, va, len);
}

/* Reads as zero, swallows what is written */
static void *map_null(u8 access, u64 *len)
{
	static const u8 zeros[HCA_PAGE_SIZE];
	static u8 sink[HCA_PAGE_SIZE];

	*len = min_t(u64, *len, HCA_PAGE_SIZE);
	return access & MLX5R_MKEY_ACCESS_LW ? sink : (void *)zeros;
}

static void *map_pages(const struct hca_mkey *mkey, u64 va, u64 *len)
{
	u64 page_size = 1ull << mkey->page_shift;
	u64 off = va - mkey->start + (mkey->start & (page_size - 1));
	u64 n = off >> mkey->page_shift;
	u64 in_page = off & (page_size - 1);

	if (n >= mkey->xlt_pages || !mkey->page[n])
		return NULL;
	*len = min(*len, page_size - in_page);
	return mkey->page[n] + in_page;
}

/* Entry of a key made of keys that holds @off; cuts *@len to it. */
static const struct mlx5r_klm *find_klm(const struct hca_mkey *mkey, u64 *off, u64 *len)
{
	u32 i;

	if (mkey->mode == MLX5R_MKEY_MODE_KSM) {
		u64 size = 1ull << mkey->page_shift;

		if (*off >> mkey->page_shift >= mkey->xlt_klms)
			return NULL;
		i = *off >> mkey->page_shift;
		*off &= size - 1;
		*len = min(*len, size - *off);
		return &mkey->klm[i];
	}

	for (i = 0; i < mkey->xlt_klms; i++) {
		u64 size = be32_to_cpu(mkey->klm[i].byte_count);

		if (*off < size) {
			*len = min(*len, size - *off);
			return &mkey->klm[i];
		}
		*off -= size;
	}
	return NULL;
}

/* The outer key decides about remote access; it uses the inner one locally. */
static u8 inner_access(u8 access)
{
	if (access & (MLX5R_MKEY_ACCESS_RW | MLX5R_MKEY_ACCESS_A))
		return MLX5R_MKEY_ACCESS_LW;
	return access & MLX5R_MKEY_ACCESS_RR ? MLX5R_MKEY_ACCESS_LR : access;
}

void *hca_key_map(const struct hca_key_user *u, u32 key, u64 va, u64 *len)
{
	u8 access = u->access;
	int depth;

	for (depth = 0; depth <= MAX_NESTING; depth++) {
		struct hca_mkey *mkey = get_mkey(u, key, access);
		const struct mlx5r_klm *klm;
		u64 off;

		if (!mkey || !in_bounds(mkey, va, *len))
			return NULL;
		if (mkey->null)
			return map_null(access, len);
		if (mkey->mode == MLX5R_MKEY_MODE_MTT)
			return map_pages(mkey, va, len);
		if (mkey->mode == MLX5R_MKEY_MODE_PA)
			return hca_dma(u->hca, va, *len);
		off = va - mkey->start;
		klm = find_klm(mkey, &off, len);
		if (!klm)
			return NULL;
		key = be32_to_cpu(klm->mkey);
		va = be64_to_cpu(klm->addr) + off;
		access = inner_access(access);
	}
	return NULL;
}
