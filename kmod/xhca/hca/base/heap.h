/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Heaps: the entry with the smallest key is first.  Timers are kept in heaps, and shares of the
 * time that take turns.
 */
#ifndef _HCA_HEAP_H
#define _HCA_HEAP_H

#include <linux/types.h>

struct hca_heap_entry {
	u64 key;			/* 0 while it is not in the heap */
	u32 slot;			/* 0: it is not in the heap */
};

struct hca_heap {
	struct hca_heap_entry **entry;	/* by slot */
	u32 n, room, users;
};

/* Makes room for one more entry, until it leaves. */
int hca_heap_join(struct hca_heap *h);
void hca_heap_leave(struct hca_heap *h, struct hca_heap_entry *e);
void hca_heap_free(struct hca_heap *h);
/* Puts @e into the heap, or changes its key. */
void hca_heap_set(struct hca_heap *h, struct hca_heap_entry *e, u64 key);
/* Takes it out, if it is in the heap. */
void hca_heap_clear(struct hca_heap *h, struct hca_heap_entry *e);

static inline bool hca_heap_has(const struct hca_heap_entry *e)
{
	return e->slot;
}

/* The first entry, or NULL */
static inline struct hca_heap_entry *hca_heap_first(const struct hca_heap *h)
{
	return h->n ? h->entry[1] : NULL;
}

/* The first entry if its key is at most @key, or NULL */
static inline struct hca_heap_entry *hca_heap_first_until(const struct hca_heap *h, u64 key)
{
	struct hca_heap_entry *e = hca_heap_first(h);

	return e && e->key <= key ? e : NULL;
}

#endif
