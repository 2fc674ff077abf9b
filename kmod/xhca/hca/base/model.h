/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What follows from the model of a function.
 */
#ifndef _HCA_MODEL_H
#define _HCA_MODEL_H

#include <linux/log2.h>
#include "hca.h"

/*
 * Clocks of adapters count a multiple of 1/64 in each nanosecond: 10/64 at 156.25 MHz.  So the
 * conversion is exact, and its result is not larger than the time.
 */
#define HCA_KHZ_OF_64TH	15625u

/* The value of the clock at the time @ns */
static inline u64 hca_model_ticks(const struct hca_model *m, u64 ns)
{
	u32 rate = m->clock_khz / HCA_KHZ_OF_64TH;

	return ns / 64 * rate + ns % 64 * rate / 64;
}

/* The first time, in ns, at which the clock has the value @ticks, or U64_MAX if that is later */
static inline u64 hca_model_time(const struct hca_model *m, u64 ticks)
{
	u32 rate = m->clock_khz / HCA_KHZ_OF_64TH;

	if (ticks / rate >= U64_MAX / 64)
		return U64_MAX;
	return ticks / rate * 64 + (ticks % rate * 64 + rate - 1) / rate;
}

/* The value of atomic_mode that allows the largest operand */
static inline u32 hca_model_atomic_mode(const struct hca_model *m)
{
	return ilog2(m->atomic_sizes);
}

#endif
