/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lists that are visited in turn, some entries at a time.  The visit continues where the last
 * one ended, so entries need not move: in many kernels list_move() checks the list each time.
 */
#ifndef _HCA_ROUND_H
#define _HCA_ROUND_H

#include <linux/list.h>

struct hca_round {
	struct list_head list;
	struct list_head *next;		/* the entry to visit next; @list: the first */
	u32 n;				/* entries */
};

static inline void hca_round_init(struct hca_round *r)
{
	INIT_LIST_HEAD(&r->list);
	r->next = &r->list;
	r->n = 0;
}

/* All others are visited before @entry. */
static inline void hca_round_add(struct hca_round *r, struct list_head *entry)
{
	list_add_tail(entry, r->next);
	r->n++;
}

/* @entry is visited next. */
static inline void hca_round_add_first(struct hca_round *r, struct list_head *entry)
{
	hca_round_add(r, entry);
	r->next = entry;
}

static inline void hca_round_del(struct hca_round *r, struct list_head *entry)
{
	if (r->next == entry)
		r->next = entry->next;
	list_del_init(entry);
	r->n--;
}

/* The entry to visit next, or NULL */
static inline struct list_head *hca_round_first(struct hca_round *r)
{
	if (r->next == &r->list)
		r->next = r->list.next;
	return r->n ? r->next : NULL;
}

#define hca_round_first_entry(round, type, member) ({			\
	struct list_head *_first = hca_round_first(round);		\
	_first ? list_entry(_first, type, member) : NULL;		\
})

/* The entry that is visited after all others; there is one. */
static inline struct list_head *hca_round_last(struct hca_round *r)
{
	return r->next->prev == &r->list ? r->list.prev : r->next->prev;
}

/* The first entry has been visited. */
static inline void hca_round_pass(struct hca_round *r)
{
	r->next = r->next->next;
}

#endif
