// SPDX-License-Identifier: GPL-2.0
/*
 * Shares: the queue pairs of one doorbell page that have work.
 *
 * The scheduler (run.c) gives each share the same part of the time.
 */
#include <linux/list.h>
#include "datapath.h"

void hca_share_init(struct hca_share *s)
{
	INIT_LIST_HEAD(&s->entry);
	INIT_LIST_HEAD(&s->qps);
}

void hca_share_add(struct hca_qp *qp)
{
	struct hca_share *s = qp->record.uar ? &qp->record.uar->share : &qp->hca->share;

	if (!list_empty(&qp->run_entry))
		return;
	list_add_tail(&qp->run_entry, &s->qps);
	if (list_empty(&s->entry))
		list_add_tail(&s->entry, &qp->hca->fabric->run);
}
