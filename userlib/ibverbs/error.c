// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Results.  libibverbs returns only error numbers.  If the environment variable that xv_run -v
 * sets is present, the reason that libxverbs has stored is printed to standard error.
 * libxverbs-exp has this file, too.
 */
#include <stdio.h>
#include "ibv.h"

static void report(const char *what, const char *why)
{
	int err = errno;

	if (getenv("XV_RUN_VERBOSE"))
		fprintf(stderr, "xverbs: %s%s\n", what, why);
	errno = err;
}

int iv_result(int err)
{
	if (err) {
		errno = -err;
		report("", xv_last_error());
	}
	return -err;
}

int iv_fail(int err)
{
	return errno = err;
}

void *iv_null(void)
{
	report("", xv_last_error());
	return NULL;
}

void *iv_refuse(int err, const char *what)
{
	report(what, xv_strerror(err));
	errno = err;
	return NULL;
}

/* A full queue has no line: it is how programs learn that they must poll. */
int iv_not_posted(int err, const char *what)
{
	if (err != ENOMEM)
		report(what, xv_strerror(err));
	errno = err;
	return err;
}
