// SPDX-License-Identifier: GPL-2.0
/*
 * Timers: a binary heap, so setting and clearing a timer takes O(log n) steps.
 *
 * Memory is allocated when an object with a timer is created, so setting cannot fail.
 */
#include <linux/mm.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "hca.h"

#define FIRST_ROOM	64

int hca_timers_join(struct hca_timers *t)
{
	u32 room = max_t(u32, 2 * t->room, FIRST_ROOM);
	struct hca_timer **heap;

	if (t->users + 1 < t->room) {
		t->users++;
		return 0;
	}
	heap = kvcalloc(room, sizeof(*heap), HCA_GFP);
	if (!heap)
		return -ENOMEM;
	if (t->heap)
		memcpy(heap, t->heap, t->room * sizeof(*heap));
	kvfree(t->heap);
	t->heap = heap;
	t->room = room;
	t->users++;
	return 0;
}

void hca_timers_leave(struct hca_timers *t, struct hca_timer *timer)
{
	hca_timer_clear(t, timer);
	t->users--;
}

void hca_timers_free(struct hca_timers *t)
{
	kvfree(t->heap);
}

/* The first slot is 1; the parent of slot i is i / 2. */
static void hca_timer_put(struct hca_timers *t, u32 slot, struct hca_timer *timer)
{
	t->heap[slot] = timer;
	timer->slot = slot;
}

static void hca_timer_move_up(struct hca_timers *t, u32 slot, struct hca_timer *timer)
{
	for (; slot > 1 && t->heap[slot / 2]->due > timer->due; slot /= 2)
		hca_timer_put(t, slot, t->heap[slot / 2]);
	hca_timer_put(t, slot, timer);
}

static void hca_timer_move_down(struct hca_timers *t, u32 slot, struct hca_timer *timer)
{
	u32 child;

	for (; 2 * slot <= t->n; slot = child) {
		child = 2 * slot;
		if (child < t->n && t->heap[child + 1]->due < t->heap[child]->due)
			child++;
		if (t->heap[child]->due >= timer->due)
			break;
		hca_timer_put(t, slot, t->heap[child]);
	}
	hca_timer_put(t, slot, timer);
}

void hca_timer_clear(struct hca_timers *t, struct hca_timer *timer)
{
	u32 slot = timer->slot;
	struct hca_timer *last;

	timer->due = 0;
	timer->slot = 0;
	if (!slot)
		return;
	last = t->heap[t->n--];
	if (slot > t->n)
		return;
	if (slot > 1 && t->heap[slot / 2]->due > last->due)
		hca_timer_move_up(t, slot, last);
	else
		hca_timer_move_down(t, slot, last);
}

void hca_timer_set(struct hca_timers *t, struct hca_timer *timer, u64 due)
{
	bool later = due > timer->due;

	timer->due = due;
	if (!timer->slot)
		hca_timer_move_up(t, ++t->n, timer);
	else if (t->n == 1)
		return;
	else if (later)
		hca_timer_move_down(t, timer->slot, timer);
	else
		hca_timer_move_up(t, timer->slot, timer);
}
