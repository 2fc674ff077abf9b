/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of the masked atomics that calculates bit by bit.  It uses nothing of the adapter's
 * sources.  Bit 0 of a number is the least significant one of the first word.
 */
#ifndef ATOMIC_MODEL_H
#define ATOMIC_MODEL_H

#include <string.h>
#include <linux/types.h>

#define ATOMIC_BITS	2048u

struct atomic_number {
	bool bit[ATOMIC_BITS];
};

/* Words have 4 bytes if there are no more, else 8. */
static inline u32 atomic_word_bytes(u32 bytes)
{
	return bytes == 4 ? 4 : 8;
}

/* The byte that contains bit @i */
static inline u32 atomic_byte_of(u32 i, u32 bytes, bool big)
{
	u32 w = atomic_word_bytes(bytes), byte = i / 8;

	return big ? byte / w * w + (w - 1 - byte % w) : byte;
}

static inline struct atomic_number atomic_load(const u8 *at, u32 bytes, bool big)
{
	struct atomic_number n = {};
	u32 i;

	for (i = 0; i < bytes * 8; i++)
		n.bit[i] = at[atomic_byte_of(i, bytes, big)] >> i % 8 & 1;
	return n;
}

static inline void atomic_store(u8 *at, const struct atomic_number *n, u32 bytes, bool big)
{
	u32 i;

	memset(at, 0, bytes);
	for (i = 0; i < bytes * 8; i++)
		at[atomic_byte_of(i, bytes, big)] |= n->bit[i] << i % 8;
}

/* No carry leaves a bit that is set in @boundary, or a word. */
static inline struct atomic_number atomic_sum(const struct atomic_number *a,
					      const struct atomic_number *b,
					      const struct atomic_number *boundary, u32 bytes)
{
	struct atomic_number r = {};
	u32 i, carry = 0;

	for (i = 0; i < bytes * 8; i++) {
		u32 v = a->bit[i] + b->bit[i] + carry;

		r.bit[i] = v & 1;
		carry = v >> 1;
		if (boundary->bit[i] || i % 64 == 63)
			carry = 0;
	}
	return r;
}

/* @arg: swap, compare, swap mask, compare mask */
static inline struct atomic_number atomic_swapped(const struct atomic_number *old,
						  const struct atomic_number *arg, u32 bytes)
{
	struct atomic_number r = *old;
	u32 i;

	for (i = 0; i < bytes * 8; i++)
		if (arg[3].bit[i] && arg[1].bit[i] != old->bit[i])
			return r;
	for (i = 0; i < bytes * 8; i++)
		if (arg[2].bit[i])
			r.bit[i] = arg[0].bit[i];
	return r;
}

/* Sets a bit of an argument, which is big-endian. */
static inline void atomic_set_bit(u8 *arg, u32 i, u32 bytes, bool value)
{
	u8 *at = &arg[atomic_byte_of(i, bytes, true)];

	*at = (*at & ~(1 << i % 8)) | value << i % 8;
}

/* What the masked request @opcode makes of @mem, and what it returns */
static inline void atomic_execute(u8 opcode, u32 bytes, const u8 *fields, u8 *mem, u8 *reply)
{
	struct atomic_number arg[4], old = atomic_load(mem, bytes, false), new;
	u32 i, n = opcode == 0x14 ? 4 : 2;

	for (i = 0; i < n; i++)
		arg[i] = atomic_load(fields + i * bytes, bytes, true);
	new = opcode == 0x14 ? atomic_swapped(&old, arg, bytes) :
			       atomic_sum(&old, &arg[0], &arg[1], bytes);
	atomic_store(mem, &new, bytes, false);
	atomic_store(reply, &old, bytes, bytes != 8);
}

#endif
