// SPDX-License-Identifier: GPL-2.0
/*
 * Object tables: allocate numbers and find objects in constant time.
 *
 * A slot holds a pointer to an object, or an odd value if its number is free: the next number
 * in the queue of free numbers, shifted left.  Freed numbers are used again only when there
 * is a whole chunk of them, or when all numbers have been used.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/mm.h>
#include "base/alloc.h"
#include "base/table.h"

static void **hca_table_slot(struct hca_table *t, u32 number)
{
	return &t->chunk[number >> HCA_CHUNK_SHIFT]->slot[number & (HCA_CHUNK - 1)];
}

static void *hca_table_free_mark(u32 next)
{
	return (void *)(((unsigned long)next << 1) | 1);
}

static u32 hca_table_free_next(void *mark)
{
	return (unsigned long)mark >> 1;
}

int hca_table_init(struct hca_table *t, u32 first, u32 limit)
{
	memset(t, 0, sizeof(*t));
	t->chunk = kvcalloc(DIV_ROUND_UP(limit, HCA_CHUNK), sizeof(*t->chunk), HCA_GFP);
	if (!t->chunk)
		return -ENOMEM;
	/* Of the numbers below @first too: the first number is in the first chunk. */
	t->chunk[0] = kvzalloc(sizeof(*t->chunk[0]), HCA_GFP);
	t->limit = limit;
	if (!t->chunk[0])
		return -ENOMEM;
	t->first = first;
	t->used_end = first;
	return 0;
}

void hca_table_free(struct hca_table *t)
{
	u32 i;

	if (!t->chunk)
		return;
	for (i = 0; i < DIV_ROUND_UP(t->limit, HCA_CHUNK); i++)
		kvfree(t->chunk[i]);
	kvfree(t->chunk);
	t->chunk = NULL;
	t->used_end = 0;
}

/* Forgets all objects; numbers begin again at the first one. */
void hca_table_reset(struct hca_table *t)
{
	struct hca_chunk *first = t->chunk[0];
	u32 i, n = min(t->used_end, HCA_CHUNK);

	for (i = 1; i < DIV_ROUND_UP(t->used_end, HCA_CHUNK); i++) {
		kvfree(t->chunk[i]);
		t->chunk[i] = NULL;
	}
	memset(first->slot, 0, n * sizeof(first->slot[0]));
	memset(first->uid, 0, n * sizeof(first->uid[0]));
	t->used_end = t->first;
	t->free_head = 0;
	t->free_tail = 0;
	t->count = 0;
}

static int hca_table_take_fresh(struct hca_table *t, u32 *number)
{
	struct hca_chunk **chunk = &t->chunk[t->used_end >> HCA_CHUNK_SHIFT];

	if (!*chunk)
		*chunk = kvzalloc(sizeof(**chunk), HCA_GFP);
	if (!*chunk)
		return -ENOMEM;
	*number = t->used_end++;
	return 0;
}

static void hca_table_take_freed(struct hca_table *t, u32 *number)
{
	*number = t->free_head;
	t->free_head = hca_table_free_next(*hca_table_slot(t, *number));
	if (!t->free_head)
		t->free_tail = 0;
}

int hca_table_add(struct hca_table *t, void *obj, u16 uid, u32 *number)
{
	u32 freed = t->used_end - t->first - t->count;
	int err = 0;

	if (freed > HCA_CHUNK || t->used_end == t->limit) {
		if (!freed)
			return -ENOSPC;
		hca_table_take_freed(t, number);
	} else {
		err = hca_table_take_fresh(t, number);
	}
	if (err)
		return err;
	*hca_table_slot(t, *number) = obj;
	t->chunk[*number >> HCA_CHUNK_SHIFT]->uid[*number & (HCA_CHUNK - 1)] = uid;
	t->count++;
	return 0;
}

void hca_table_del(struct hca_table *t, u32 number)
{
	*hca_table_slot(t, number) = hca_table_free_mark(0);
	if (t->free_tail)
		*hca_table_slot(t, t->free_tail) = hca_table_free_mark(number);
	else
		t->free_head = number;
	t->free_tail = number;
	t->count--;
}
