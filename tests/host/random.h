/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers that are the same in each run (xorshift64) */
#ifndef RANDOM_H
#define RANDOM_H

#include <linux/types.h>

static inline u64 random64(void)
{
	static u64 seed = 88172645463325252ull;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

#endif
