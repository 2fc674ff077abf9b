/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Floating-point numbers, calculated without the FPU.
 */
#ifndef _HCA_SOFTFLOAT_H
#define _HCA_SOFTFLOAT_H

#include <linux/types.h>

struct hca_float {
	u8 mantissa;			/* bits */
	u16 exponent;			/* the greatest */
};

extern const struct hca_float hca_float32, hca_float64;

u64 hca_float_add(const struct hca_float *f, u64 a, u64 b);
u64 hca_float_max(const struct hca_float *f, u64 a, u64 b);
u64 hca_float_min(const struct hca_float *f, u64 a, u64 b);

#endif
