/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers that are the same in each run (xorshift64) */
#ifndef RANDOM_H
#define RANDOM_H

#include <linux/types.h>

/* The next number of a sequence; a seed must not be 0. */
static inline u64 random_next(u64 *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	return *seed ^= *seed << 17;
}

static inline u64 random64(void)
{
	static u64 seed = 88172645463325252ull;

	return random_next(&seed);
}

#endif
