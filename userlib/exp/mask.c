// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Masks of valid members: what the header does not define is invalid, what it defines and xverbs
 * does not have is not supported.
 */
#include "exp.h"

int exp_refuse(int err, const char *what)
{
	iv_refuse(err, what);
	return err;
}

int exp_check_mask(const char *what, uint64_t mask, uint64_t defined, uint64_t supported)
{
	if (mask & ~defined)
		return exp_refuse(EINVAL, what);
	if (mask & ~supported)
		return exp_refuse(EOPNOTSUPP, what);
	return 0;
}
