// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of the functions' BARs.
 *
 * BARs need memory that the kernel does not use, because mlx5_core requests the region.  It
 * is a range that the boot parameter memmap=SIZE$ADDR has reserved, or a block that is taken
 * from the kernel (block.c).  While the module is loaded, the range is in the resource tree
 * with our name.  This file maps and writes nothing outside of it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/io.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "xhca.h"

struct bar_search {
	u64 size, align;
	struct resource found;
	unsigned int nfound;
};

static bool is_ram(u64 addr)
{
	return region_intersects(addr, PAGE_SIZE, IORESOURCE_SYSTEM_RAM,
				 IORES_DESC_NONE) == REGION_INTERSECTS;
}

/*
 * A reserved range with RAM directly before and after it was reserved by memmap=; a range of
 * this size that firmware reserves is at an end of RAM.
 */
static int bar_candidate(struct resource *res, void *arg)
{
	struct bar_search *s = arg;
	u64 start = round_up(res->start, s->align);

	if (start < res->start || start + s->size - 1 > res->end)
		return 0;
	if (!is_ram(res->start - PAGE_SIZE) || !is_ram(res->end + 1))
		return 0;
	if (!s->nfound++)
		s->found = (struct resource) { .start = start, .end = res->end };
	return 0;
}

/* Returns -ENOENT if no range is reserved. */
static int bar_find_reserved(u64 size, u64 align, struct resource *found)
{
	struct bar_search s = { .size = size, .align = align };

	walk_iomem_res_desc(IORES_DESC_RESERVED, IORESOURCE_MEM, 0, -1, &s, bar_candidate);
	if (s.nfound == 1) {
		*found = s.found;
		return 0;
	}
	if (!s.nfound)
		return -ENOENT;
	pr_err("several ranges are reserved, the first at %pa: choose with bar=\n", &s.found.start);
	return -ENXIO;
}

static bool bar_is_reserved(phys_addr_t addr, u64 size)
{
	return region_intersects(addr, size, IORESOURCE_MEM,
				 IORES_DESC_RESERVED) == REGION_INTERSECTS;
}

/* As much of the reserved range as functions can use */
static int bar_check(phys_addr_t addr, u64 size, u64 align, struct resource *found)
{
	if (!IS_ALIGNED(addr, align) || addr + size < addr) {
		pr_err("bar=%pa is not a multiple of %lluM\n", &addr, align >> 20);
		return -EINVAL;
	}
	if (!bar_is_reserved(addr, size)) {
		pr_err("bar=%pa: %lluM from there are not reserved, see boot parameter memmap=\n",
		       &addr, size >> 20);
		return -EINVAL;
	}
	while (size < XHCA_MAX_FUNCTIONS * XHCA_BAR_MAX && bar_is_reserved(addr + size, align))
		size += align;
	*found = (struct resource) { .start = addr, .end = addr + size - 1 };
	return 0;
}

/* Is all of it memory?  Writes values and reads them back. */
static bool bar_is_memory(void *base, u64 size)
{
	u64 off;

	for (off = 0; off < size; off += SZ_1M)
		WRITE_ONCE(*(u64 *)(base + off), ~off);
	for (off = 0; off < size; off += SZ_1M)
		if (READ_ONCE(*(u64 *)(base + off)) != ~off)
			return false;
	return true;
}

/* Inserts @res as a child of the reserved range, which must have no other child. */
static int bar_claim(struct resource *res)
{
	struct resource *child;

	if (insert_resource(&iomem_resource, res))
		return -EBUSY;
	child = res->child;
	if (!child)
		return 0;
	remove_resource(res);
	res->child = NULL;
	/* The ranges have the same size, so @res was inserted as the parent. */
	if (child->desc == IORES_DESC_RESERVED && child->start == res->start &&
	    child->end == res->end)
		return request_resource(child, res);
	return -EBUSY;
}

static int bar_map(struct xhca *x)
{
	u64 size = resource_size(&x->bar.res);
	int err = x->block.taken ? request_resource(&x->block.res, &x->bar.res) :
				   bar_claim(&x->bar.res);

	if (err) {
		pr_err("the memory at %pa is in use\n", &x->bar.res.start);
		return err;
	}
	/* With the memory type of mlx5_core: two mappings of a page must not differ. */
	x->bar.base = (void __force *)ioremap(x->bar.res.start, size);
	if (x->bar.base && bar_is_memory(x->bar.base, size))
		return 0;
	pr_err("%s at %pa\n", x->bar.base ? "no memory" : "cannot map the memory",
	       &x->bar.res.start);
	if (x->bar.base)
		iounmap((void __iomem __force *)x->bar.base);
	remove_resource(&x->bar.res);
	return -ENOMEM;
}

static int bar_find(struct xhca *x, u64 size, u64 align, u64 limit, struct resource *found)
{
	int err = bar_find_reserved(size, align, found);

	if (err != -ENOENT)
		return err;
	err = xhca_block_take(&x->block, size, limit);
	*found = x->block.res;
	return err;
}

/* The largest size of a BAR with which all functions have room, or the smallest one */
static u64 bar_choose_size(const struct resource *found)
{
	u64 size = XHCA_BAR_MAX;

	while (size > XHCA_BAR_MIN && (!IS_ALIGNED(found->start, size) ||
				       resource_size(found) < XHCA_MAX_FUNCTIONS * size))
		size /= 2;
	return size;
}

int xhca_bar_init(struct xhca *x, phys_addr_t addr, u64 block_limit, u64 size,
		  unsigned int functions)
{
	u64 align = size ?: XHCA_BAR_MIN, all = max(functions, 1u) * align;
	struct resource found;
	int err;

	if (!is_power_of_2(align) || align < XHCA_BAR_MIN || align > XHCA_BAR_MAX) {
		pr_err("bar_size=%llu: must be 8, 16 or 32\n", size >> 20);
		return -EINVAL;
	}
	err = addr ? bar_check(addr, all, align, &found) :
		     bar_find(x, all, align, block_limit, &found);
	if (err)
		return err;
	x->bar.size = size ?: bar_choose_size(&found);
	x->bar.room = min_t(u64, div64_u64(resource_size(&found), x->bar.size),
			    XHCA_MAX_FUNCTIONS);
	x->bar.res = (struct resource) {
		.name = KBUILD_MODNAME,
		.start = found.start,
		.end = found.start + x->bar.room * x->bar.size - 1,
		.flags = IORESOURCE_MEM | IORESOURCE_MEM_64 | IORESOURCE_PREFETCH,
	};
	err = bar_map(x);
	if (err)
		xhca_block_return(&x->block);
	return err;
}

void xhca_bar_exit(struct xhca *x)
{
	iounmap((void __iomem __force *)x->bar.base);
	remove_resource(&x->bar.res);
	xhca_block_return(&x->block);
}
