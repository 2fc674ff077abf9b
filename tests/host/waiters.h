/* SPDX-License-Identifier: GPL-2.0 */
/* Checks the queues that wait for CQs: each is where it should be, and the heaps are in order. */
#ifndef WAITERS_H
#define WAITERS_H

#include "data/data.h"
#include "session.h"

/* Queues in the heap below @w; ~0u / 2 if it is damaged.  @cq: NULL for detached */
static inline u32 waiters_in(const struct hca_waiter *w, const struct hca_waiter *parent,
			     const struct hca_cq *cq)
{
	if (!w)
		return 0;
	if (w->parent != parent || !container_of(w, struct hca_qp, waiter)->waiting ||
	    (cq && (w->cq != cq || (parent && (s32)(w->pi - parent->pi) < 0))))
		return ~0u / 2;
	return 1 + waiters_in(w->child[0], w, cq) + waiters_in(w->child[1], w, cq);
}

/* Is every queue that waits in one heap, and on no run list? */
static inline bool waiters_good(const struct session *s)
{
	u32 waiting = 0, found = waiters_in(s->fabric.wait.detached, NULL, NULL), i;
	int func;

	for (func = 0; func < SESSION_FUNCS; func++) {
		const struct hca *hca = s->hca[func];

		for (i = hca->qps.first; i < hca->qps.used_end; i++) {
			const struct hca_qp *qp = hca_table_get(&hca->qps, i);

			waiting += qp && qp->waiting;
		}
		for (i = hca->cqs.first; i < hca->cqs.used_end; i++) {
			const struct hca_cq *cq = hca_table_get(&hca->cqs, i);

			found += cq ? waiters_in(cq->waiters, NULL, cq) : 0;
		}
	}
	return waiting == found;
}

#endif
