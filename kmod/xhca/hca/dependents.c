// SPDX-License-Identifier: GPL-2.0
/*
 * A CQ or SRQ that fails takes all QPs with it that need it, whether they have work or
 * not: each goes to error with an event of its own.  They may be thousands, so each pass
 * takes some of them.  A QP in RESET stays as it is; it has nothing to lose yet.
 */
#include <linux/list.h>
#include "wqe.h"

#define PASS_QPS	8

void hca_dependents_init(struct hca_dependents *all)
{
	INIT_LIST_HEAD(&all->qps);
	INIT_LIST_HEAD(&all->failed);
	INIT_LIST_HEAD(&all->entry);
}

void hca_dependents_free(struct hca_dependents *all)
{
	list_del(&all->entry);
}

void hca_depend(struct hca_dependents *all, struct hca_dependent *d)
{
	list_move_tail(&d->entry, &all->qps);
}

void hca_depend_end(struct hca_dependent *d)
{
	list_del_init(&d->entry);
}

void hca_dependents_fail(struct hca_fabric *f, struct hca_dependents *all)
{
	if (list_empty(&all->entry))
		list_add_tail(&all->entry, &f->failing);
}

unsigned int hca_dependents_run(struct hca_fabric *f)
{
	struct hca_dependents *all;
	struct hca_dependent *d;
	unsigned int n = 0;

	while (!list_empty(&f->failing) && n < PASS_QPS) {
		all = list_first_entry(&f->failing, struct hca_dependents, entry);
		if (list_empty(&all->qps)) {
			list_splice_init(&all->failed, &all->qps);
			list_del_init(&all->entry);
			continue;
		}
		d = list_first_entry(&all->qps, struct hca_dependent, entry);
		list_move_tail(&d->entry, &all->failed);
		if (d->qp->state != MLX5_QP_STATE_RST)
			hca_qp_fatal(d->qp);
		n++;
	}
	return n;
}
