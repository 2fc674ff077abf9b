// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What all queues have: a place in the list of queues, and memory of the program.
 */
#include <pthread.h>
#include "verbs.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct queue queues = { .next = &queues, .prev = &queues };

void queue_add(struct queue *q, const void *xv, void *owner)
{
	q->xv = xv;
	q->owner = owner;
	pthread_mutex_lock(&lock);
	q->next = queues.next;
	q->prev = &queues;
	q->next->prev = q;
	queues.next = q;
	pthread_mutex_unlock(&lock);
}

void queue_del(struct queue *q)
{
	pthread_mutex_lock(&lock);
	q->next->prev = q->prev;
	q->prev->next = q->next;
	pthread_mutex_unlock(&lock);
}

void *queue_owner(const void *xv)
{
	const struct queue *q;
	void *owner;

	pthread_mutex_lock(&lock);
	for (q = queues.next; q != &queues && q->xv != xv; q = q->next)
		;
	owner = q->owner;	/* NULL at the head */
	pthread_mutex_unlock(&lock);
	return owner;
}

struct xv_external external_of(const struct place *ring, const struct place *dbr,
			       const struct doca_uar *uar)
{
	return (struct xv_external) {
		.ring_umem = ring->umem ? ring->umem->xv : NULL,
		.ring_offset = ring->offset,
		.dbr_umem = dbr->umem ? dbr->umem->xv : NULL,
		.dbr_offset = dbr->offset,
		.uar = uar ? uar->xv : NULL,
	};
}
