// SPDX-License-Identifier: GPL-2.0
/*
 * Translates DMA addresses to pointers.
 *
 * DMA is direct (xhca_pci_init() checks that), so an address is valid if it is System RAM.
 * The lookup must not sleep, so the list of System RAM is read at load, and again after
 * memory was added.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/memory.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "xhca.h"

/* A new list of System RAM */
struct ram_list {
	struct xhca *x;
	struct xhca_ram *range;
	unsigned int n;
};

static int ram_add(struct resource *res, void *arg)
{
	struct ram_list *l = arg;
	struct xhca_ram *more;

	if (l->n && l->range[l->n - 1].end + 1 == res->start) {
		l->range[l->n - 1].end = res->end;
		return 0;
	}
	more = krealloc(l->range, (l->n + 1) * sizeof(*more), GFP_KERNEL);
	if (!more)
		return -ENOMEM;
	more[l->n++] = (struct xhca_ram) { res->start, res->end };
	l->range = more;
	return 0;
}

/* Runs in the engine, between two passes, so the old list is not in use. */
static void ram_swap(void *arg)
{
	struct ram_list *l = arg;
	struct xhca *x = l->x;

	swap(x->ram.range, l->range);
	x->ram.n = l->n;
	x->ram.last = 0;
}

/* If it fails, the old list stays. */
static int ram_read(struct xhca *x)
{
	struct ram_list l = { .x = x };
	int err = walk_iomem_res_desc(IORES_DESC_NONE, IORESOURCE_SYSTEM_RAM | IORESOURCE_BUSY,
				      0, -1, &l, ram_add);

	if (!err)
		xhca_engine_call(x, ram_swap, &l);
	kfree(l.range);
	return err;
}

/* The kernel calls this with its lock of memory hotplug, so one at a time. */
static int ram_changed(struct notifier_block *nb, unsigned long action, void *data)
{
	struct xhca *x = container_of(nb, struct xhca, ram.nb);
	int err = 0;

	if (action == MEM_ONLINE)
		err = ram_read(x);
	if (err)
		pr_err("no memory for the list of memory: no DMA to what was added (%d)\n", err);
	return NOTIFY_OK;
}

int xhca_dma_init(struct xhca *x)
{
	int err = ram_read(x);

	if (err)
		return err;
	x->ram.nb.notifier_call = ram_changed;
	err = register_memory_notifier(&x->ram.nb);
	if (err)
		kfree(x->ram.range);
	return err;
}

void xhca_dma_exit(struct xhca *x)
{
	unregister_memory_notifier(&x->ram.nb);
	kfree(x->ram.range);
}

static bool ram_holds(struct xhca *x, u64 addr, u64 last)
{
	unsigned int i;

	for (i = 0; i < x->ram.n; i++) {
		if (addr < x->ram.range[i].start || last > x->ram.range[i].end)
			continue;
		x->ram.last = i;
		return true;
	}
	return false;
}

void *xhca_dma_ptr(void *ctx, u64 addr, u64 len)
{
	struct xhca *x = ((struct xhca_function *)ctx)->xhca;
	const struct xhca_ram *r = x->ram.range + x->ram.last;
	u64 last = addr + (len ? len - 1 : 0);

	if (last < addr)
		return NULL;
	if (likely(addr >= r->start && last <= r->end) || ram_holds(x, addr, last))
		return phys_to_virt(addr);
	return NULL;
}
