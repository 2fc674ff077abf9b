// SPDX-License-Identifier: GPL-2.0
/*
 * Atomic operations on memory.
 *
 * An operand of 4 or 8 bytes is one word, a longer one is an array of 8-byte words.  Words in
 * memory have the byte order of the host.  Arguments and replies are big-endian, except for
 * replies of 8 bytes, for which caps.c announces the byte order of the host.
 *
 * Requests are atomic to each other, because one is executed at a time.  A word changes by a
 * compare-and-exchange instruction of the CPU, so operations on one word are atomic to CPUs
 * too.  Operations on several words are not: a CPU may see some words changed and others not.
 * But no change that a CPU makes is lost: the operation is applied to what is there.
 */
#include <linux/compiler.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>
#include "datapath.h"

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

/* Adds field by field.  A set bit of @boundary is the top bit of a field: no carry leaves it. */
static u64 hca_atomic_sum(u64 a, u64 b, u64 boundary)
{
	u64 low = ~boundary;

	/* Add all but the top bits, then the top bits without carry. */
	return ((a & low) + (b & low)) ^ ((a ^ b) & boundary);
}

static void hca_atomic_add(const struct hca_wqe *w, void *mem, u64 *old)
{
	u32 i, n = hca_atomic_words(w);
	u64 add, boundary;

	for (i = 0; i < n; i++) {
		add = hca_atomic_arg(w, ADD, i);
		boundary = w->opcode == MLX5R_OP_ATOMIC_FA ? 0 : hca_atomic_arg(w, BOUNDARY, i);
		old[i] = hca_atomic_read(w, mem, i);
		while (!hca_atomic_change(w, mem, i, &old[i],
					  hca_atomic_sum(old[i], add, boundary)))
			;
	}
}

/* Reads all words; true if they are equal to the arguments. */
static bool hca_atomic_compare(const struct hca_wqe *w, const void *mem, u64 *old)
{
	bool equal = true;
	u32 i = hca_atomic_words(w);

	/* The first word is read last, because it is the first that is exchanged. */
	while (i--) {
		old[i] = hca_atomic_read(w, mem, i);
		equal &= !((hca_atomic_arg(w, COMPARE, i) ^ old[i]) &
			   hca_atomic_mask(w, COMPARE_MASK, i));
	}
	return equal;
}

static bool hca_atomic_exchange(const struct hca_wqe *w, void *mem, u32 i, u64 *old)
{
	u64 mask = hca_atomic_mask(w, SWAP_MASK, i);

	return hca_atomic_change(w, mem, i, &old[i],
				 (old[i] & ~mask) | (hca_atomic_arg(w, SWAP, i) & mask));
}

/* If a CPU has changed the first word after it was compared, all are compared again. */
static void hca_atomic_swap(const struct hca_wqe *w, void *mem, u64 *old)
{
	u32 i, n = hca_atomic_words(w);

	do {
		if (!hca_atomic_compare(w, mem, old))
			return;
	} while (!hca_atomic_exchange(w, mem, 0, old));
	for (i = 1; i < n; i++)
		while (!hca_atomic_exchange(w, mem, i, old))
			;
}

void hca_atomic(const struct hca_wqe *w, void *mem, u64 *reply)
{
	u32 i, n = hca_atomic_words(w);

	if (w->opcode == MLX5R_OP_ATOMIC_CS || w->opcode == MLX5R_OP_ATOMIC_MASKED_CS)
		hca_atomic_swap(w, mem, reply);
	else
		hca_atomic_add(w, mem, reply);
	if (w->operand == sizeof(u32))
		*(__be32 *)reply = cpu_to_be32(reply[0]);
	for (i = 0; i < n && n > 1; i++)
		((__be64 *)reply)[i] = cpu_to_be64(reply[i]);
}
