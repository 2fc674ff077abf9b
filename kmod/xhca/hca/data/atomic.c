// SPDX-License-Identifier: GPL-2.0
/*
 * Atomic operations on memory.
 *
 * An operand of 4 or 8 bytes is one word, a longer one is an array of 8-byte words.  Words in
 * memory have the byte order of the host.  Arguments and replies are big-endian, except for
 * replies of 8 bytes, for which caps.c announces the byte order of the host.
 *
 * Requests are atomic with respect to each other, because one is executed at a time.  A word
 * changes by a compare-and-exchange instruction of the CPU, so operations on one word are atomic
 * with respect to CPUs, too.  Operations on several words are not: a CPU may see some words
 * changed and others not.
 *
 * The exchange fails if a CPU has changed the word meanwhile, so a CPU that changes it all the
 * time could keep the adapter here.  After TRIES failures the first word is tried again in
 * another turn; nothing has changed yet.  Another word is stored without a comparison.
 */
#include <linux/compiler.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>
#include "data/data.h"

#define TRIES	16u

/* Fields of the arguments, in the order of the format */
enum { SWAP, COMPARE, SWAP_MASK, COMPARE_MASK };
enum { ADD, BOUNDARY };

static u32 hca_atomic_words(const struct hca_wqe *w)
{
	return w->operand == sizeof(u32) ? 1 : w->operand / sizeof(u64);
}

static u64 hca_atomic_arg(const struct hca_wqe *w, u32 field, u32 i)
{
	const u8 *at = w->args + field * w->operand;

	return w->operand == sizeof(u32) ? be32_to_cpu(*(const __be32 *)at) :
					   be64_to_cpu(((const __be64 *)at)[i]);
}

/* Without masks all bits are compared and swapped. */
static u64 hca_atomic_mask(const struct hca_wqe *w, u32 field, u32 i)
{
	return w->opcode == MLX5R_OP_ATOMIC_CS ? ~0ull : hca_atomic_arg(w, field, i);
}

static u64 hca_atomic_read(const struct hca_wqe *w, const void *mem, u32 i)
{
	return w->operand == sizeof(u32) ? READ_ONCE(*(const u32 *)mem) :
					   READ_ONCE(((const u64 *)mem)[i]);
}

/* Changes word @i from *@old to @value.  False if it has another value, which *@old becomes. */
static bool hca_atomic_change(const struct hca_wqe *w, void *mem, u32 i, u64 *old, u64 value)
{
	u64 expected = *old;

	if (w->operand == sizeof(u32))
		*old = cmpxchg((u32 *)mem, (u32)expected, (u32)value);
	else
		*old = cmpxchg((u64 *)mem + i, expected, value);
	return *old == expected;
}

/* The next value of a word whose present value is @old */
typedef u64 hca_atomic_fn(const struct hca_wqe *w, u32 i, u64 old);

static u64 hca_atomic_swapped(const struct hca_wqe *w, u32 i, u64 old)
{
	u64 mask = hca_atomic_mask(w, SWAP_MASK, i);

	return (old & ~mask) | (hca_atomic_arg(w, SWAP, i) & mask);
}

/* Adds field by field.  A set bit of @boundary is the top bit of a field: no carry leaves it. */
static u64 hca_atomic_sum(u64 a, u64 b, u64 boundary)
{
	u64 low = ~boundary;

	/* Add all but the top bits, then the top bits without carry. */
	return ((a & low) + (b & low)) ^ ((a ^ b) & boundary);
}

static u64 hca_atomic_added(const struct hca_wqe *w, u32 i, u64 old)
{
	u64 boundary = w->opcode == MLX5R_OP_ATOMIC_FA ? 0 : hca_atomic_arg(w, BOUNDARY, i);

	return hca_atomic_sum(old, hca_atomic_arg(w, ADD, i), boundary);
}

static bool hca_atomic_equal(const struct hca_wqe *w, u32 i, u64 old)
{
	return !((hca_atomic_arg(w, COMPARE, i) ^ old) & hca_atomic_mask(w, COMPARE_MASK, i));
}

/* Changes a word other than the first: the request cannot be given up any more. */
static void hca_atomic_finish_word(const struct hca_wqe *w, void *mem, u32 i, u64 *old,
				   hca_atomic_fn *next)
{
	u32 tries;

	for (tries = 0; tries < TRIES; tries++)
		if (hca_atomic_change(w, mem, i, old, next(w, i, *old)))
			return;
	WRITE_ONCE(((u64 *)mem)[i], next(w, i, *old));
}

static int hca_atomic_add(const struct hca_wqe *w, void *mem, u64 *old)
{
	u32 i, tries = 0;

	old[0] = hca_atomic_read(w, mem, 0);
	while (!hca_atomic_change(w, mem, 0, &old[0], hca_atomic_added(w, 0, old[0])))
		if (++tries == TRIES)
			return HCA_AGAIN;
	for (i = 1; i < hca_atomic_words(w); i++) {
		old[i] = hca_atomic_read(w, mem, i);
		hca_atomic_finish_word(w, mem, i, &old[i], hca_atomic_added);
	}
	return 0;
}

/* Reads all words; true if they are equal to the arguments. */
static bool hca_atomic_compare(const struct hca_wqe *w, const void *mem, u64 *old)
{
	bool equal = true;
	u32 i = hca_atomic_words(w);

	/* The first word is read last, because it is the first that is exchanged. */
	while (i--) {
		old[i] = hca_atomic_read(w, mem, i);
		equal &= hca_atomic_equal(w, i, old[i]);
	}
	return equal;
}

/* If a CPU has changed the first word after it was compared, all are compared again. */
static int hca_atomic_swap(const struct hca_wqe *w, void *mem, u64 *old)
{
	u32 i, tries = 0;

	do {
		if (tries++ == TRIES)
			return HCA_AGAIN;
		if (!hca_atomic_compare(w, mem, old))
			return 0;
	} while (!hca_atomic_change(w, mem, 0, &old[0], hca_atomic_swapped(w, 0, old[0])));
	for (i = 1; i < hca_atomic_words(w); i++)
		hca_atomic_finish_word(w, mem, i, &old[i], hca_atomic_swapped);
	return 0;
}

int hca_atomic(const struct hca_wqe *w, void *mem, u64 *reply)
{
	bool swap = w->opcode == MLX5R_OP_ATOMIC_CS || w->opcode == MLX5R_OP_ATOMIC_MASKED_CS;
	int ret = swap ? hca_atomic_swap(w, mem, reply) : hca_atomic_add(w, mem, reply);
	u32 i, n = hca_atomic_words(w);

	if (ret)
		return ret;
	if (w->operand == sizeof(u32))
		*(__be32 *)reply = cpu_to_be32(reply[0]);
	for (i = 0; i < n && n > 1; i++)
		((__be64 *)reply)[i] = cpu_to_be64(reply[i]);
	return 0;
}

#undef TRIES
