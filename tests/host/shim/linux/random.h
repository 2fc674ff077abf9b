/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_RANDOM_H
#define SHIM_RANDOM_H

#include <linux/types.h>

/* A test has the same numbers each time it runs. */
static inline u64 get_random_u64(void)
{
	static u64 state;
	u64 v = state += 0x9e3779b97f4a7c15ull;

	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ull;
	v = (v ^ v >> 27) * 0x94d049bb133111ebull;
	return v ^ v >> 31;
}

static inline u32 get_random_u32(void)
{
	return get_random_u64();
}

#endif
