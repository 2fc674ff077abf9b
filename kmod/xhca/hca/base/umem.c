// SPDX-License-Identifier: GPL-2.0
/*
 * UMEMs: memory of a process that its objects may name by a number, instead of DMA addresses.
 *
 * The driver pins the memory and sends the page list, with a flag on each page that says
 * whether the adapter may write it.  It writes the command itself, so the list is trusted.
 * What a process names in it is checked against its size and these flags.  A UMEM exists while
 * objects use it.
 */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <asm/byteorder.h>
#include "base/alloc.h"
#include "base/devx.h"
#include "base/umem.h"

#define PAGE_READ	1ull		/* flags in an entry of the list */
#define PAGE_WRITE	2ull
#define PAGE_FLAGS	7ull

struct hca_umem {
	u32 id;
	u32 users;			/* rings, doorbell records, mkeys */
	u32 npages, shift;		/* log2 of the page size in bytes */
	u32 offset;			/* of the first byte in the first page */
	u64 bytes;
	bool writable;
	void *page[];
};

void hca_umem_put(struct hca_umem *umem)
{
	if (umem)
		umem->users--;
}

void hca_umem_free(struct hca *hca, void *obj)
{
	struct hca_umem *umem = obj;

	hca_devx_del(hca, &hca->umems, umem->id);
	kvfree(umem);
}

static struct hca_umem *hca_umem_find(struct hca *hca, const struct hca_cmd *c, u32 id)
{
	return hca_devx_own(c, &hca->umems, id);
}

/* Does the UMEM have @bytes at @at? */
static bool hca_umem_has(const struct hca_umem *umem, u64 at, u64 bytes)
{
	return at <= umem->bytes && bytes <= umem->bytes - at;
}

/* ---- Use by other objects -------------------------------------------------------- */

enum hca_synd hca_umem_ring(struct hca *hca, const struct hca_cmd *c, struct hca_buf *b,
			    const struct hca_ring *ring)
{
	struct hca_umem *umem = hca_umem_find(hca, c, ring->place.umem);
	u64 at = ring->place.at, first;

	if (!umem)
		return HCA_SYND_UMEM_NUMBER;
	first = umem->offset + at;
	if (!ring->size || !hca_umem_has(umem, at, ring->size) || first % ring->entry ||
	    (ring->written && !umem->writable))
		return HCA_SYND_UMEM_RANGE;
	*b = (struct hca_buf) {
		.page = umem->page + (first >> umem->shift),
		.npages = umem->npages - (first >> umem->shift),
		.offset = first & ((1ull << umem->shift) - 1),
		.shift = umem->shift,
		.page_mask = (1u << umem->shift) - 1,
		.umem = umem,
	};
	umem->users++;
	return HCA_OK;
}

enum hca_synd hca_umem_record(struct hca *hca, const struct hca_cmd *c,
			      const struct hca_place *place, u32 bytes, __be32 **record,
			      struct hca_umem **user)
{
	struct hca_umem *umem = hca_umem_find(hca, c, place->umem);
	u64 first;

	if (!umem)
		return HCA_SYND_UMEM_NUMBER;
	first = umem->offset + place->at;
	if (!hca_umem_has(umem, place->at, bytes) || first % bytes)
		return HCA_SYND_UMEM_RANGE;
	*record = umem->page[first >> umem->shift] + (first & ((1ull << umem->shift) - 1));
	*user = umem;
	umem->users++;
	return HCA_OK;
}

/* The pages of the UMEM become those of the mkey, whatever page size its context names. */
enum hca_synd hca_umem_map(struct hca_mkey *mkey, const struct hca_cmd *c, u32 id, u64 at,
			   void ***page, u32 *n)
{
	struct hca_umem *umem = hca_umem_find(mkey->hca, c, id);
	u64 first;

	if (!umem)
		return HCA_SYND_UMEM_NUMBER;
	if (!mkey->len || mkey->length64 || !hca_umem_has(umem, at, mkey->len))
		return HCA_SYND_UMEM_RANGE;
	if (!umem->writable && mkey->access & (MLX5R_MKEY_ACCESS_LW | MLX5R_MKEY_ACCESS_RW |
					       MLX5R_MKEY_ACCESS_A))
		return HCA_SYND_UMEM_RANGE;
	first = (umem->offset + at) >> umem->shift;
	*n = ((umem->offset + at + mkey->len - 1) >> umem->shift) - first + 1;
	*page = umem->page + first;
	mkey->page_shift = umem->shift;
	mkey->page_mask = (1ull << umem->shift) - 1;
	mkey->skip = (umem->offset + at) & mkey->page_mask;
	mkey->umem = umem;
	umem->users++;
	return HCA_OK;
}

/* ---- Commands -------------------------------------------------------------------- */

static enum hca_synd hca_umem_fill(struct hca *hca, struct hca_umem *umem, const __be64 *list)
{
	u32 i;

	umem->writable = true;
	for (i = 0; i < umem->npages; i++) {
		u64 entry = be64_to_cpu(list[i]);

		umem->page[i] = hca_dma(hca, entry & ~PAGE_FLAGS, 1ull << umem->shift);
		if (!umem->page[i] || entry & (HCA_PAGE_SIZE - 1) & ~PAGE_FLAGS ||
		    !(entry & PAGE_READ))
			return HCA_SYND_PAGE_LIST;
		umem->writable &= !!(entry & PAGE_WRITE);
	}
	return HCA_OK;
}

enum hca_synd hca_cmd_create_umem(struct hca *hca, const struct hca_cmd *c)
{
	const void *in = MLX5_ADDR_OF(create_umem_in, c->in, umem);
	u64 n = MLX5_GET64(umem, in, num_of_mtt);
	u32 shift = MLX5_GET(umem, in, log_page_size) + HCA_PAGE_SHIFT;
	u32 offset = MLX5_GET(umem, in, page_offset);
	struct hca_umem *umem;
	enum hca_synd synd;

	if (!n || n > (c->inlen - MLX5_ST_SZ_BYTES(create_umem_in)) / sizeof(__be64) ||
	    shift > HCA_MAX_PAGE_SHIFT || offset >> shift)
		return HCA_SYND_PAGE_LIST;
	umem = kvzalloc(sizeof(*umem) + n * sizeof(*umem->page), HCA_GFP);
	if (!umem)
		return HCA_SYND_NO_MEMORY;
	umem->npages = n;
	umem->shift = shift;
	umem->offset = offset;
	umem->bytes = (n << shift) - offset;
	synd = hca_umem_fill(hca, umem, MLX5_ADDR_OF(umem, in, mtt));
	if (!synd)
		synd = hca_devx_add(hca, c, &hca->umems, umem, &umem->id);
	if (synd)
		kvfree(umem);
	else
		MLX5_SET(create_umem_out, c->out, umem_id, umem->id);
	return synd;
}

enum hca_synd hca_cmd_destroy_umem(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_umem *umem = hca_umem_find(hca, c, MLX5_GET(destroy_umem_in, c->in, umem_id));

	if (!umem)
		return HCA_SYND_UMEM_NUMBER;
	if (umem->users)
		return HCA_SYND_UMEM_BUSY;
	hca_umem_free(hca, umem);
	return HCA_OK;
}

#undef PAGE_READ
#undef PAGE_WRITE
#undef PAGE_FLAGS
