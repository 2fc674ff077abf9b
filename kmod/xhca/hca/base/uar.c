// SPDX-License-Identifier: GPL-2.0
/*
 * Doorbell pages: the object and the lists that it is on.
 *
 * A page is cleared when it is allocated, so that a doorbell of an earlier owner has no
 * effect.
 *
 * The driver may deallocate a page before the queues that use it: if a process closes a
 * device and has not destroyed its CQs (perftest), mlx5_ib deallocates the pages first, and
 * does not retry if that fails.  Such a page accepts no new queue and is freed with the last.
 *
 * A command of a user context may name only pages of this context.  But before 5.16, mlx5_ib
 * allocates the pages of processes without a context, as its own, and adapters let every process
 * name them: then p.plain_uars is set.
 */
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include "base/alloc.h"
#include "base/devx.h"
#include "base/uar.h"

static void hca_uar_init_lists(struct hca_uar *uar)
{
	int kind;

	INIT_LIST_HEAD(&uar->entry);
	INIT_LIST_HEAD(&uar->hot_entry);
	INIT_LIST_HEAD(&uar->active_uar_entry);
	INIT_LIST_HEAD(&uar->sweep_entry);
	hca_round_init(&uar->active);
	for (kind = 0; kind < HCA_RECORD_KINDS; kind++)
		hca_round_init(&uar->records[kind].all);
}

/* A page of the driver has a share of its own. */
static int hca_uar_join_share(struct hca *hca, struct hca_uar *uar, u16 uid)
{
	uar->owner = hca_devx_owner(hca, uid);
	if (uar->owner)
		return 0;
	uar->owner = &uar->driver;
	return hca_heap_join(&hca->owners.queue);
}

static void hca_uar_leave_share(struct hca *hca, struct hca_uar *uar)
{
	if (uar->owner == &uar->driver)
		hca_heap_leave(&hca->owners.queue, &uar->driver.share.place);
}

void hca_uar_free(struct hca *hca, void *obj)
{
	struct hca_uar *uar = obj;

	hca_uar_leave_share(hca, uar);
	hca_devx_del(hca, &hca->uars_by_index, uar->index);
	kfree(uar);
}

static bool hca_uar_in_use(const struct hca_uar *uar)
{
	return uar->records[HCA_RECORD_QP].all.n || uar->records[HCA_RECORD_CQ].all.n ||
	       uar->neqs;
}

static struct hca_uar *hca_uar_own(struct hca *hca, const struct hca_cmd *c, u32 index)
{
	struct hca_uar *uar = hca_devx_own(c, &hca->uars_by_index, index);

	return uar && !uar->released ? uar : NULL;
}

/* A page for a queue */
struct hca_uar *hca_uar_get(struct hca *hca, const struct hca_cmd *c, u32 index)
{
	struct hca_uar *uar = hca_table_get(&hca->uars_by_index, index);

	if (hca->p.plain_uars && uar && !uar->released &&
	    !hca_table_uid(&hca->uars_by_index, index))
		return uar;
	return hca_uar_own(hca, c, index);
}

void hca_uar_put(struct hca_uar *uar)
{
	if (uar->released && !hca_uar_in_use(uar))
		hca_uar_free(uar->hca, uar);
}

void hca_uar_set_active(struct hca_uar *uar)
{
	uar->quiet = 0;
	if (list_empty(&uar->hot_entry))
		hca_round_add(&uar->hca->fabric->doorbell.hot, &uar->hot_entry);
}

void hca_uar_set_idle(struct hca_uar *uar)
{
	if (!list_empty(&uar->hot_entry))
		hca_round_del(&uar->hca->fabric->doorbell.hot, &uar->hot_entry);
}

void hca_uar_stop_sweep(struct hca_uar *uar)
{
	if (!list_empty(&uar->sweep_entry))
		hca_round_del(&uar->hca->fabric->sweep.uars, &uar->sweep_entry);
}

void hca_uar_used(struct hca_uar *uar)
{
	struct hca_round *all = &uar->hca->fabric->doorbell.uars;

	if (!hca_uar_in_use(uar)) {
		if (!list_empty(&uar->entry))
			hca_round_del(all, &uar->entry);
		hca_uar_set_idle(uar);
		hca_uar_stop_sweep(uar);
	} else if (list_empty(&uar->entry)) {
		hca_round_add(all, &uar->entry);
		hca_uar_set_active(uar);
	}
}

/* ---- Commands ------------------------------------------------------------------------ */

enum hca_synd hca_cmd_alloc_uar(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_uar *uar = kzalloc(sizeof(*uar), HCA_GFP);
	enum hca_synd synd;

	if (!uar || hca_uar_join_share(hca, uar, c->uid)) {
		kfree(uar);
		return HCA_SYND_NO_MEMORY;
	}
	synd = hca_devx_add(hca, c, &hca->uars_by_index, uar, &uar->index);
	if (synd) {
		hca_uar_leave_share(hca, uar);
		kfree(uar);
		return synd;
	}
	uar->hca = hca;
	uar->regs = hca->p.bar + uar->index * HCA_PAGE_SIZE;
	memset(uar->regs, 0, HCA_PAGE_SIZE);
	hca_uar_init_lists(uar);
	MLX5_SET(alloc_uar_out, c->out, uar, uar->index);
	return HCA_OK;
}

enum hca_synd hca_cmd_dealloc_uar(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_uar *uar = hca_uar_own(hca, c, MLX5_GET(dealloc_uar_in, c->in, uar));

	if (!uar)
		return HCA_SYND_UAR;
	uar->released = true;
	hca_uar_put(uar);
	return HCA_OK;
}
