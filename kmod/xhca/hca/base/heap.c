// SPDX-License-Identifier: GPL-2.0
/*
 * A binary heap: setting and clearing a key takes O(log n) steps.
 *
 * Memory is allocated when an object with an entry is created, so setting cannot fail.
 */
#include <linux/mm.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "base/alloc.h"
#include "base/heap.h"

enum { FIRST_ROOM = 64 };

int hca_heap_join(struct hca_heap *h)
{
	u32 room = max_t(u32, 2 * h->room, FIRST_ROOM);
	struct hca_heap_entry **entry;

	if (h->users + 1 < h->room) {
		h->users++;
		return 0;
	}
	entry = kvcalloc(room, sizeof(*entry), HCA_GFP);
	if (!entry)
		return -ENOMEM;
	if (h->entry)
		memcpy(entry, h->entry, h->room * sizeof(*entry));
	kvfree(h->entry);
	h->entry = entry;
	h->room = room;
	h->users++;
	return 0;
}

void hca_heap_leave(struct hca_heap *h, struct hca_heap_entry *e)
{
	hca_heap_clear(h, e);
	h->users--;
}

void hca_heap_free(struct hca_heap *h)
{
	kvfree(h->entry);
}

/* The first slot is 1; the parent of slot i is i / 2. */
static void hca_heap_put(struct hca_heap *h, u32 slot, struct hca_heap_entry *e)
{
	h->entry[slot] = e;
	e->slot = slot;
}

static void hca_heap_move_up(struct hca_heap *h, u32 slot, struct hca_heap_entry *e)
{
	for (; slot > 1 && h->entry[slot / 2]->key > e->key; slot /= 2)
		hca_heap_put(h, slot, h->entry[slot / 2]);
	hca_heap_put(h, slot, e);
}

static void hca_heap_move_down(struct hca_heap *h, u32 slot, struct hca_heap_entry *e)
{
	u32 child;

	for (; 2 * slot <= h->n; slot = child) {
		child = 2 * slot;
		if (child < h->n && h->entry[child + 1]->key < h->entry[child]->key)
			child++;
		if (h->entry[child]->key >= e->key)
			break;
		hca_heap_put(h, slot, h->entry[child]);
	}
	hca_heap_put(h, slot, e);
}

void hca_heap_clear(struct hca_heap *h, struct hca_heap_entry *e)
{
	u32 slot = e->slot;
	struct hca_heap_entry *last;

	e->key = 0;
	e->slot = 0;
	if (!slot)
		return;
	last = h->entry[h->n--];
	if (slot > h->n)
		return;
	if (slot > 1 && h->entry[slot / 2]->key > last->key)
		hca_heap_move_up(h, slot, last);
	else
		hca_heap_move_down(h, slot, last);
}

void hca_heap_set(struct hca_heap *h, struct hca_heap_entry *e, u64 key)
{
	bool later = key > e->key;

	e->key = key;
	if (!e->slot)
		hca_heap_move_up(h, ++h->n, e);
	else if (h->n == 1)
		return;
	else if (later)
		hca_heap_move_down(h, e->slot, e);
	else
		hca_heap_move_up(h, e->slot, e);
}
