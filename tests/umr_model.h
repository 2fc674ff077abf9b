/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of indirect keys: a key is the list of the addresses of its bytes.  Layouts are
 * random, over a region or over another key.
 */
#ifndef TESTS_UMR_MODEL_H
#define TESTS_UMR_MODEL_H

#include <stdbool.h>
#include <stdlib.h>
#include <xverbs/dp.h>

#define UM_PARTS	12u		/* of a layout */
#define UM_BYTES	8192u		/* of a key */
#define UM_BASE		0x7000u		/* address of its first byte */
#define UM_ACCESS	((uint32_t)XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE | \
			 XV_ACCESS_REMOTE_READ | XV_ACCESS_REMOTE_ATOMIC)

/* A region; addr is its address in requests */
struct um_region {
	uint64_t addr;
	uint8_t *ptr;
	uint32_t lkey;
	uint32_t bytes;
};

struct um_layout {
	struct xv_mkey *key;
	uint32_t bytes;
	uint8_t *at[UM_BYTES];		/* of each byte */
};

/* A request that fills a key */
struct um_fill {
	struct xv_umr umr;
	struct xv_sge region[UM_PARTS];
	struct xv_repeat_block block[UM_PARTS];
};

static uint32_t um_below(uint32_t n)
{
	return (uint32_t)rand() % n;
}

static uint32_t um_min(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The memory of a layout: the key @of, or the region if @of is null */
struct um_from {
	const struct um_region *region;
	const struct um_layout *of;
	uint64_t addr;
	uint32_t lkey;
	uint32_t bytes;
};

static void um_add(struct um_layout *l, const struct um_from *from, uint32_t off, uint32_t n)
{
	for (; n; n--, off++)
		l->at[l->bytes++] = from->of ? from->of->at[off] : from->region->ptr + off;
}

/* Regions that do not overlap, in any order */
static void um_regions(const struct um_from *from, struct um_layout *l, struct xv_sge *sge,
		       uint32_t n)
{
	uint32_t slot = from->bytes / n, i;

	for (i = 0; i < n; i++) {
		uint32_t len = 1 + um_below(um_min(slot, UM_BYTES / n - 1));

		sge[i] = (struct xv_sge) {
			from->addr + i * slot + um_below(slot - len + 1), len, from->lkey,
		};
	}
	for (i = 0; i < n; i++) {
		uint32_t with = um_below(n);
		struct xv_sge t = sge[i];

		sge[i] = sge[with];
		sge[with] = t;
	}
	for (i = 0; i < n; i++)
		um_add(l, from, (uint32_t)(sge[i].addr - from->addr), sge[i].length);
}

/* Chooses parts of a repeating block that do not overlap.  Returns the number of repetitions. */
static uint32_t um_blocks(const struct um_from *from, struct um_layout *l,
			  struct xv_repeat_block *block, uint32_t n)
{
	uint32_t slot = from->bytes / n, count = 1 + um_below(um_min(16, slot)), r, i;

	for (i = 0; i < n; i++) {
		uint32_t stride = 1 + um_below(um_min(slot / count, 0xffff));

		block[i] = (struct xv_repeat_block) {
			.addr = from->addr + i * slot, .lkey = from->lkey, .stride = stride,
			.byte_count = 1 + um_below(um_min(stride, UM_BYTES / n / count - 1)),
		};
	}
	for (r = 0; r < count; r++)
		for (i = 0; i < n; i++)
			um_add(l, from, i * slot + r * block[i].stride, block[i].byte_count);
	return count;
}

/* Chooses a random layout of the key @of, or of the region if @of is null. */
__attribute__((unused))
static void um_random(const struct um_region *region, const struct um_layout *of,
		      struct um_layout *l, struct um_fill *f)
{
	struct um_from from = {
		.region = region, .of = of, .addr = of ? UM_BASE : region->addr,
		.lkey = of ? of->key->lkey : region->lkey, .bytes = of ? of->bytes : region->bytes,
	};
	uint32_t n = 1 + um_below(um_min(UM_PARTS, from.bytes));

	f->umr = (struct xv_umr) {
		.mkey = l->key, .base_addr = UM_BASE, .access = UM_ACCESS, .num = n,
	};
	l->bytes = 0;
	if (um_below(2)) {
		f->umr.regions = f->region;
		um_regions(&from, l, f->region, n);
	} else {
		f->umr.blocks = f->block;
		f->umr.repeat_count = um_blocks(&from, l, f->block, n);
	}
}

/* Returns true if n bytes of the key, from off on, are equal to those at p. */
__attribute__((unused))
static bool um_same(const struct um_layout *l, uint32_t off, const uint8_t *p, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (*l->at[off + i] != p[i])
			return false;
	return true;
}

#endif
