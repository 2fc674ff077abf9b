/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queues: an entry is added at the end, the first one is next, and any entry may leave.
 *
 * A list_head would do.  But in many kernels list_add() and list_del() call functions that check
 * the list, and queue pairs with work enter and leave a queue with each request of a chain.
 */
#ifndef _HCA_FIFO_H
#define _HCA_FIFO_H

#include <linux/types.h>

struct hca_fifo_entry {
	struct hca_fifo_entry *prev, *next;
};

struct hca_fifo {
	struct hca_fifo_entry *first, *last;	/* NULL: empty */
};

static inline bool hca_fifo_empty(const struct hca_fifo *q)
{
	return !q->first;
}

static inline void hca_fifo_add(struct hca_fifo *q, struct hca_fifo_entry *e)
{
	e->prev = q->last;
	e->next = NULL;
	if (q->last)
		q->last->next = e;
	else
		q->first = e;
	q->last = e;
}

static inline void hca_fifo_del(struct hca_fifo *q, struct hca_fifo_entry *e)
{
	if (e->prev)
		e->prev->next = e->next;
	else
		q->first = e->next;
	if (e->next)
		e->next->prev = e->prev;
	else
		q->last = e->prev;
}

#endif
