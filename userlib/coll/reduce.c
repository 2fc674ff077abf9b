// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Calculations on the CPU.  The results for integers are those of the adapter.  The results for
 * floating-point numbers can differ if a number is a NaN or a zero.
 */
#include "coll.h"

#define REDUCE(type_, out_, in_, n_, expression) do {					\
	type_ *a_ = (type_ *)(void *)(out_);						\
	const type_ *b_ = (const type_ *)(const void *)(in_);				\
	size_t i_;									\
											\
	for (i_ = 0; i_ < (n_) / sizeof(type_); i_++) {					\
		const type_ x = a_[i_], y = b_[i_];					\
											\
		a_[i_] = (expression);							\
	}										\
} while (0)

/* Addition, maximum and minimum of numbers of one type.  Signed numbers are added as unsigned. */
#define REDUCE_ORDERED(type_, sum_) do {						\
	if (op == XV_VECTOR_ADD)							\
		REDUCE(sum_, out, in, n, x + y);					\
	else if (op == XV_VECTOR_MAX)							\
		REDUCE(type_, out, in, n, x > y ? x : y);				\
	else										\
		REDUCE(type_, out, in, n, x < y ? x : y);				\
} while (0)

void xvc_combine(const struct xv_vector_calc *calc, uint8_t *out, const uint8_t *in, size_t n)
{
	const enum xv_vector_op op = calc->op;

	switch (op) {
	case XV_VECTOR_AND:
		REDUCE(uint32_t, out, in, n, x & y);
		return;
	case XV_VECTOR_OR:
		REDUCE(uint32_t, out, in, n, x | y);
		return;
	case XV_VECTOR_XOR:
		REDUCE(uint32_t, out, in, n, x ^ y);
		return;
	default:
		break;
	}
	switch (calc->type) {
	case XV_VECTOR_INT32:
		REDUCE_ORDERED(int32_t, uint32_t);
		break;
	case XV_VECTOR_UINT32:
		REDUCE_ORDERED(uint32_t, uint32_t);
		break;
	case XV_VECTOR_FLOAT32:
		REDUCE_ORDERED(float, float);
		break;
	case XV_VECTOR_INT64:
		REDUCE_ORDERED(int64_t, uint64_t);
		break;
	case XV_VECTOR_UINT64:
		REDUCE_ORDERED(uint64_t, uint64_t);
		break;
	case XV_VECTOR_FLOAT64:
		REDUCE_ORDERED(double, double);
		break;
	}
}
