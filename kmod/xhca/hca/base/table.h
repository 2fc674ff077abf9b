/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Object tables: numbers of objects.
 */
#ifndef _HCA_TABLE_H
#define _HCA_TABLE_H

#include <linux/types.h>

#define HCA_CHUNK_SHIFT		9
#define HCA_CHUNK		(1u << HCA_CHUNK_SHIFT)

struct hca_chunk {
	void *slot[HCA_CHUNK];
	u16 uid[HCA_CHUNK];		/* the owners (devx.c) */
};

/*
 * Maps numbers to objects in constant time.  A freed number goes to the end of the queue of
 * free numbers, so that the use of a stale number fails and does not find a new object.
 */
struct hca_table {
	struct hca_chunk **chunk;	/* there are chunks for all numbers below used_end */
	u32 first, limit;		/* numbers run from first to limit - 1 */
	u32 used_end;			/* numbers below this one have been allocated once */
	u32 free_head, free_tail;	/* queue through the free slots; 0: empty */
	u32 count;
};

int hca_table_init(struct hca_table *t, u32 first, u32 limit);
void hca_table_free(struct hca_table *t);
void hca_table_reset(struct hca_table *t);
int hca_table_add(struct hca_table *t, void *obj, u16 uid, u32 *number);
void hca_table_del(struct hca_table *t, u32 number);

/* Free slots hold an odd value: the next free number, shifted. */
static inline void *hca_table_get(const struct hca_table *t, u32 number)
{
	void *obj;

	if (number >= t->used_end)
		return NULL;
	obj = t->chunk[number >> HCA_CHUNK_SHIFT]->slot[number & (HCA_CHUNK - 1)];
	return (unsigned long)obj & 1 ? NULL : obj;
}

/* The owner of an object, which must exist */
static inline u16 hca_table_uid(const struct hca_table *t, u32 number)
{
	return t->chunk[number >> HCA_CHUNK_SHIFT]->uid[number & (HCA_CHUNK - 1)];
}

#endif
