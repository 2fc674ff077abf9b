// SPDX-License-Identifier: GPL-2.0
/*
 * Floating-point numbers in integer arithmetic: IEEE 754 binary32 and binary64, as the kernel
 * may not use the registers of the FPU here.
 *
 * Sums are rounded to nearest, ties to even.  A result that is no number is always the same
 * quiet NaN, so it does not depend on the order of operands.  Minimum and maximum are those
 * of IEEE 754-2019: NaN if an operand is NaN, and -0 is less than +0.
 */
#include <linux/bitops.h>
#include <linux/minmax.h>
#include "base/softfloat.h"

enum {
	EXTRA	= 3,	/* bits below the mantissa: guard, round, sticky */
};

const struct hca_float hca_float32 = { .mantissa = 23, .exponent = 0xff };
const struct hca_float hca_float64 = { .mantissa = 52, .exponent = 0x7ff };

static u64 hca_float_infinity(const struct hca_float *f)
{
	return (u64)f->exponent << f->mantissa;
}

static u64 hca_float_sign(const struct hca_float *f)
{
	return (hca_float_infinity(f) << 1) & ~hca_float_infinity(f);
}

static u64 hca_float_nan(const struct hca_float *f)
{
	return hca_float_infinity(f) | 1ull << (f->mantissa - 1);
}

static u64 hca_float_magnitude(const struct hca_float *f, u64 a)
{
	return a & (hca_float_sign(f) - 1);
}

static bool hca_float_is_nan(const struct hca_float *f, u64 a)
{
	return hca_float_magnitude(f, a) > hca_float_infinity(f);
}

/* Subnormal numbers have the least exponent, and no implicit bit. */
static u32 hca_float_exponent(const struct hca_float *f, u64 a)
{
	return max_t(u32, a >> f->mantissa & f->exponent, 1);
}

static u64 hca_float_mantissa(const struct hca_float *f, u64 a)
{
	u64 bit = 1ull << f->mantissa;

	return (a & (bit - 1)) | (a >> f->mantissa & f->exponent ? bit : 0);
}

/* Shifts right; bits that are lost remain as the lowest one. */
static u64 hca_float_shift(u64 m, u32 n)
{
	if (n > 63)
		return m != 0;
	return m >> n | ((m & ((1ull << n) - 1)) != 0);
}

/* @m has EXTRA bits below the mantissa of a number with exponent @e; it is not 0. */
static u64 hca_float_round(const struct hca_float *f, u32 e, u64 m)
{
	u32 top = fls64(m) - 1, one = f->mantissa + EXTRA, left, rest;

	if (top > one) {
		m = hca_float_shift(m, top - one);
		e += top - one;
	} else {
		left = min(one - top, e - 1);
		m <<= left;
		e -= left;
	}
	rest = m & ((1 << EXTRA) - 1);
	m >>= EXTRA;
	if (rest > 1 << (EXTRA - 1) || (rest == 1 << (EXTRA - 1) && m & 1))
		m++;
	/* The implicit bit, and a carry into it, count in the exponent. */
	m += (u64)(e - 1) << f->mantissa;
	return min(m, hca_float_infinity(f));
}

u64 hca_float_add(const struct hca_float *f, u64 a, u64 b)
{
	u64 sign = hca_float_sign(f), m, n;
	u32 e;

	if (hca_float_is_nan(f, a) || hca_float_is_nan(f, b))
		return hca_float_nan(f);
	if (hca_float_magnitude(f, a) < hca_float_magnitude(f, b))
		swap(a, b);
	if (hca_float_magnitude(f, a) == hca_float_infinity(f))
		return a == (b ^ sign) ? hca_float_nan(f) : a;
	e = hca_float_exponent(f, a);
	m = hca_float_mantissa(f, a) << EXTRA;
	n = hca_float_shift(hca_float_mantissa(f, b) << EXTRA, e - hca_float_exponent(f, b));
	m = (a ^ b) & sign ? m - n : m + n;
	if (!m)
		return a & b & sign;
	return (a & sign) | hca_float_round(f, e, m);
}

/* Integers in the order of the numbers */
static u64 hca_float_order(const struct hca_float *f, u64 a)
{
	u64 sign = hca_float_sign(f);

	return a & sign ? sign - (a & (sign - 1)) - 1 : a | sign;
}

u64 hca_float_max(const struct hca_float *f, u64 a, u64 b)
{
	if (hca_float_is_nan(f, a) || hca_float_is_nan(f, b))
		return hca_float_nan(f);
	return hca_float_order(f, a) < hca_float_order(f, b) ? b : a;
}

u64 hca_float_min(const struct hca_float *f, u64 a, u64 b)
{
	if (hca_float_is_nan(f, a) || hca_float_is_nan(f, b))
		return hca_float_nan(f);
	return hca_float_order(f, a) < hca_float_order(f, b) ? a : b;
}
