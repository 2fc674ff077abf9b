/* SPDX-License-Identifier: GPL-2.0 */
/* Doubly linked rings with the kernel's names */
#ifndef SHIM_LIST_H
#define SHIM_LIST_H

#include <linux/kernel.h>

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD(name) struct list_head name = { &(name), &(name) }

static inline void INIT_LIST_HEAD(struct list_head *h)
{
	h->next = h->prev = h;
}

static inline void shim_link(struct list_head *a, struct list_head *b)
{
	a->next = b;
	b->prev = a;
}

static inline void list_add(struct list_head *e, struct list_head *after)
{
	shim_link(e, after->next);
	shim_link(after, e);
}

static inline void list_add_tail(struct list_head *e, struct list_head *h)
{
	list_add(e, h->prev);
}

static inline void list_del_init(struct list_head *e)
{
	shim_link(e->prev, e->next);
	INIT_LIST_HEAD(e);
}

static inline void list_del(struct list_head *e)
{
	shim_link(e->prev, e->next);
	e->next = e->prev = NULL;
}

static inline void list_move_tail(struct list_head *e, struct list_head *h)
{
	shim_link(e->prev, e->next);
	list_add_tail(e, h);
}

static inline int list_empty(const struct list_head *h)
{
	return h->next == h;
}

static inline int list_is_singular(const struct list_head *h)
{
	return !list_empty(h) && h->next == h->prev;
}

static inline void list_splice_tail(struct list_head *from, struct list_head *h)
{
	if (list_empty(from))
		return;
	shim_link(h->prev, from->next);
	shim_link(from->prev, h);
}

static inline void list_splice(struct list_head *from, struct list_head *h)
{
	list_splice_tail(from, h->next);
}

static inline void list_splice_tail_init(struct list_head *from, struct list_head *h)
{
	list_splice_tail(from, h);
	INIT_LIST_HEAD(from);
}

#define list_splice_init	list_splice_tail_init	/* only onto empty lists here */

#define list_entry			container_of
#define list_first_entry(h, type, m)	list_entry((h)->next, type, m)
#define list_last_entry(h, type, m)	list_entry((h)->prev, type, m)
#define list_first_entry_or_null(h, type, m) \
	(list_empty(h) ? NULL : list_first_entry(h, type, m))
#define list_next_entry(p, m)		list_entry((p)->m.next, typeof(*(p)), m)
#define list_prev_entry(p, m)		list_entry((p)->m.prev, typeof(*(p)), m)

#define list_for_each_entry(p, h, m)						\
	for (p = list_first_entry(h, typeof(*p), m); &p->m != (h);		\
	     p = list_next_entry(p, m))
#define list_for_each_entry_from(p, h, m)					\
	for (; &(p)->m != (h); (p) = list_next_entry(p, m))

#define list_for_each_entry_reverse(p, h, m)					\
	for (p = list_last_entry(h, typeof(*p), m); &p->m != (h);		\
	     p = list_prev_entry(p, m))
#define list_for_each_entry_safe(p, n, h, m)					\
	for (p = list_first_entry(h, typeof(*p), m), n = list_next_entry(p, m);	\
	     &p->m != (h); p = n, n = list_next_entry(n, m))

#endif
