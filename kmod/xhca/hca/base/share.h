/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shares of the time: which queue pair runs next.
 */
#ifndef _HCA_SHARE_H
#define _HCA_SHARE_H

#include "base/fabric.h"

/* @qp has work: the scheduler will run its send queue. */
void hca_share_add(struct hca_qp *qp);
void hca_share_del(struct hca_qp *qp);
/* Has an owner of @hca work? */
static inline bool hca_share_has_work(const struct hca *hca)
{
	return hca->owners.queue.n;
}

/* @s has work: it takes part. */
void hca_share_ready(struct hca_shares *of, struct hca_share *s);
/* The first queue pair of @owner with work, or NULL */
static inline struct hca_qp *hca_share_first_of(const struct hca_owner *owner)
{
	struct hca_fifo_entry *first = owner->qps.first;

	return first ? container_of(first, struct hca_qp, run_entry) : NULL;
}

/* The queue pair whose turn it is, or NULL */
struct hca_qp *hca_share_first_qp(struct hca_fabric *f);
static inline struct hca_qp *hca_share_next(struct hca_fabric *f)
{
	return f->run.queue.n ? hca_share_first_qp(f) : NULL;
}

/* The turn of @qp begins.  The shares keep their places until the end of the turn. */
static inline void hca_share_take(struct hca_qp *qp)
{
	hca_fifo_del(&qp->share->qps, &qp->run_entry);
	qp->share = NULL;
}

/* The turn of @owner ends: its queue pairs have used @units. */
void hca_share_used(struct hca *hca, struct hca_owner *owner, u64 units);

#endif
