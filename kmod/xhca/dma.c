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
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "xhca.h"

static int ram_add(struct resource *res, void *arg)
{
	struct xhca_ram_list **l = arg, *more;
	unsigned int n = (*l)->n;

	if (n && (*l)->range[n - 1].end + 1 == res->start) {
		(*l)->range[n - 1].end = res->end;
		return 0;
	}
	more = krealloc(*l, struct_size(more, range, n + 1), GFP_KERNEL);
	if (!more)
		return -ENOMEM;
	more->range[n].start = res->start;
	more->range[n].end = res->end;
	more->n = n + 1;
	*l = more;
	return 0;
}

/* If it fails, the old list stays. */
static int ram_read(struct xhca *x)
{
	struct xhca_ram_list *l = kzalloc(sizeof(*l), GFP_KERNEL);
	int err;

	if (!l)
		return -ENOMEM;
	err = walk_iomem_res_desc(IORES_DESC_NONE, IORESOURCE_SYSTEM_RAM | IORESOURCE_BUSY, 0, -1,
				  &l, ram_add);
	if (!err) {
		l = xchg(&x->ram.list, l);
		/* A pass that has begun before may use the old list. */
		xhca_fabrics_wait(x);
	}
	kfree(l);
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
		kfree(x->ram.list);
	return err;
}

void xhca_dma_exit(struct xhca *x)
{
	unregister_memory_notifier(&x->ram.nb);
	kfree(x->ram.list);
}

static bool ram_holds(const struct xhca_ram_list *l, unsigned int i, u64 addr, u64 last)
{
	return i < l->n && addr >= l->range[i].start && last <= l->range[i].end;
}

static bool ram_find(struct xhca_function *fn, const struct xhca_ram_list *l, u64 addr, u64 last)
{
	unsigned int i;

	for (i = 0; i < l->n; i++) {
		if (!ram_holds(l, i, addr, last))
			continue;
		fn->ram_last = i;
		return true;
	}
	return false;
}

/* In a pass, or in a call of the engine */
void *xhca_dma_ptr(void *ctx, u64 addr, u64 len)
{
	struct xhca_function *fn = ctx;
	const struct xhca_ram_list *l = READ_ONCE(fn->xhca->ram.list);
	u64 last = addr + (len ? len - 1 : 0);

	if (last < addr)
		return NULL;
	if (likely(ram_holds(l, fn->ram_last, addr, last)) || ram_find(fn, l, addr, last))
		return phys_to_virt(addr);
	return NULL;
}
