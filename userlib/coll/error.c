// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The text of errors.
 */
#include <stdarg.h>
#include <stdio.h>
#include "coll.h"

static __thread char last_error[256];

int xvc_error(int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(last_error, sizeof(last_error), fmt, args);
	va_end(args);
	return err < 0 ? err : -err;
}

EXPORT const char *xv_coll_last_error(void)
{
	return last_error;
}
