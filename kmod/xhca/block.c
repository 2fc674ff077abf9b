// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that is taken from the kernel for the BARs.
 *
 * Memory hotplug removes a block: the kernel moves its pages elsewhere, and the range is no
 * longer RAM.  At unload the block is added again.  The unit is the block of memory hotplug:
 * 128 MiB, on hosts with 64 GiB and more up to 2 GiB.
 *
 * A block with pages that cannot move is skipped.  Pages that may move, but are pinned, make
 * the kernel try without end, so a thread tries, and is stopped after some time.
 *
 * A block below the image of the kernel or the memory of a crash kernel is skipped, too, if both
 * are in one resource of RAM.  The kernel divides the resource at the block, and it cannot do so if
 * the upper part has children: it warns, and the block would be neither RAM nor free
 * (release_mem_region_adjustable()).
 *
 * Not all kernels can do it.  Without NUMA and without optimized huge page tables, x86 does not
 * register the pages that hold the page structures of boot memory
 * (register_page_bootmem_info()), and a BUG() ends the removal.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/fs.h>
#include <linux/io.h>
#include <linux/kthread.h>
#include <linux/memory.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "xhca.h"
#include "compat.h"

#if IS_ENABLED(CONFIG_MEMORY_HOTREMOVE) && \
	(IS_ENABLED(CONFIG_NUMA) || IS_ENABLED(CONFIG_HUGETLB_PAGE_OPTIMIZE_VMEMMAP))

#define BLOCK_TIMEOUT	(3 * HZ)	/* for one block */
#define TOTAL_TIMEOUT	(60 * HZ)

/* ---- Removing a block ---------------------------------------------------------------- */

struct block_attempt {
	u64 start, size;
	int err;
	struct completion done;
};

static int block_remove_thread(void *arg)
{
	struct block_attempt *a = arg;

	allow_signal(SIGKILL);
	a->err = xhca_remove_memory(a->start, a->size);
	complete(&a->done);
	flush_signals(current);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ);
	return 0;
}

/* Returns -EINTR if a signal has ended the attempt, or this process is killed. */
static int block_remove(u64 start, u64 size)
{
	struct block_attempt a = { .start = start, .size = size };
	struct task_struct *t;
	long left;

	init_completion(&a.done);
	t = kthread_run(block_remove_thread, &a, KBUILD_MODNAME "_block");
	if (IS_ERR(t))
		return PTR_ERR(t);
	left = wait_for_completion_killable_timeout(&a.done, BLOCK_TIMEOUT);
	if (left <= 0) {
		send_sig(SIGKILL, t, 1);
		wait_for_completion(&a.done);
	}
	kthread_stop(t);
	return a.err;
}

/* ---- Adding it again ----------------------------------------------------------------- */

static bool block_is_online(u64 start)
{
	return pfn_to_online_page(PHYS_PFN(start));
}

/* Memory hotplug exports no function that puts a block online, so the file in sysfs is used. */
static int block_online(u64 start)
{
	static const char online[] = "online";
	struct file *file;
	char path[64];
	loff_t pos = 0;
	ssize_t n;

	if (block_is_online(start))
		return 0;
	snprintf(path, sizeof(path), "/sys/devices/system/memory/memory%llu/state",
		 div_u64(start, memory_block_size_bytes()));
	file = filp_open(path, O_WRONLY, 0);
	if (IS_ERR(file))
		return PTR_ERR(file);
	n = kernel_write(file, online, strlen(online), &pos);
	filp_close(file, NULL);
	return n < 0 ? n : 0;
}

static void block_add(int nid, u64 start, u64 size)
{
	u64 at, mib = size >> 20;
	int err;

	err = add_memory(nid, start, size, MHP_NONE);
	if (err) {
		pr_err("%llu MiB at %pa cannot be added again (error %d); they are available after a reboot\n",
		       mib, &start, err);
		return;
	}
	for (at = start; at < start + size; at += memory_block_size_bytes()) {
		err = block_online(at);
		if (err)
			pr_err("memory%llu is offline (error %d): write \"online\" to its state in /sys/devices/system/memory\n",
			       div_u64(at, memory_block_size_bytes()), err);
	}
}

/* ---- Search -------------------------------------------------------------------------- */

struct block_search {
	u64 size, below, found;
	u64 res_start, res_end;		/* of the resource in which it was found */
};

/*
 * Finds the highest aligned range of RAM below a limit.  The result 0 means that there is none:
 * the kernel cannot move the range at address 0.
 */
static int block_candidate(struct resource *res, void *arg)
{
	struct block_search *s = arg;
	u64 end = min_t(u64, res->end + 1, s->below);
	u64 start;

	/* Driver-managed memory belongs to another driver, for example virtio_mem. */
	if (res->flags & IORESOURCE_SYSRAM_DRIVER_MANAGED || end < s->size)
		return 0;
	start = round_down(end - s->size, memory_block_size_bytes());
	if (start >= res->start && start > s->found) {
		s->found = start;
		s->res_start = res->start;
		s->res_end = res->end;
	}
	return 0;
}

/*
 * Returns true if the kernel can divide the resource of RAM at the range.  To find children above
 * the start of the range, this inserts a resource there: it becomes their parent.
 */
static bool block_is_divisible(const struct block_search *s)
{
	struct resource rest = {
		.name = KBUILD_MODNAME, .start = s->found, .end = s->res_end,
		.flags = IORESOURCE_MEM,
	};
	bool children;

	if (s->found == s->res_start)
		return true;
	if (insert_resource(&iomem_resource, &rest))
		return false;
	children = rest.child;
	remove_resource(&rest);
	return !children;
}

static u64 block_next(u64 size, u64 below)
{
	struct block_search s = { .size = size, .found = below };

	do {
		s.below = s.found;
		s.found = 0;
		walk_iomem_res_desc(IORES_DESC_NONE, IORESOURCE_SYSTEM_RAM | IORESOURCE_BUSY, 0, -1,
				    &s, block_candidate);
	} while (s.found && !block_is_divisible(&s));
	return s.found;
}

/* Tries one range after the other, from the highest. */
static int block_find(struct xhca_block *b, u64 size, u64 *start)
{
	unsigned long end = jiffies + TOTAL_TIMEOUT;
	struct page *page;
	int err;

	for (*start = block_next(size, -1); *start; *start = block_next(size, *start)) {
		page = pfn_to_online_page(PHYS_PFN(*start));
		if (!page)
			continue;
		b->nid = page_to_nid(page);
		err = block_remove(*start, size);
		if (!err)
			return 0;
		if (fatal_signal_pending(current))
			return -EINTR;
		if (time_after(jiffies, end))
			break;
	}
	pr_err("the kernel cannot remove %llu MiB of memory: try again, or boot with memmap=\n",
	       size >> 20);
	return -EBUSY;
}

int xhca_block_take(struct xhca_block *b, u64 size, u64 limit)
{
	u64 start;
	int err;

	size = round_up(size, memory_block_size_bytes());
	if (size > limit) {
		pr_err("no memory for the BARs: boot with memmap=, or allow block=%llu\n",
		       size >> 20);
		return -ENXIO;
	}
	err = block_find(b, size, &start);
	if (err)
		return err;
	b->res = (struct resource) {
		.name = KBUILD_MODNAME,
		.start = start,
		.end = start + size - 1,
		.flags = IORESOURCE_MEM | IORESOURCE_MEM_64 | IORESOURCE_PREFETCH,
	};
	err = request_resource(&iomem_resource, &b->res);
	if (err) {
		block_add(b->nid, start, size);
		return err;
	}
	b->taken = true;
	pr_info("took %llu MiB of memory at %pa from the kernel\n", size >> 20, &b->res.start);
	return 0;
}

void xhca_block_return(struct xhca_block *b)
{
	if (!b->taken)
		return;
	release_resource(&b->res);
	block_add(b->nid, b->res.start, resource_size(&b->res));
	b->taken = false;
}

#else

int xhca_block_take(struct xhca_block *b, u64 size, u64 limit)
{
	pr_err("no memory for the BARs: boot with memmap=; this kernel cannot remove memory\n");
	return -ENXIO;
}

void xhca_block_return(struct xhca_block *b)
{
}

#endif
