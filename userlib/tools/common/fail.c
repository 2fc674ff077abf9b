// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Error exit, allocation, and parsing of numbers.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "tool.h"

static int error_status;		/* of all errors, or 0 */

void xt_set_error_status(int status)
{
	error_status = status;
}

static void say(const char *fmt, va_list ap)
{
	fflush(stdout);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, fmt, ap);
}

void xt_die(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(error_status ? error_status : code);
}

void xt_die_xv(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	fprintf(stderr, ": %s\n", xv_last_error());
	exit(error_status ? error_status : XT_FAILED);
}

void *xt_calloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		xt_die(XT_FAILED, "out of memory");
	return p;
}

uint64_t xt_number(const char *text, const char *option, uint64_t min, uint64_t max)
{
	static const char suffixes[] = "kMG";
	const char *s;
	uint64_t v;
	char *end;

	errno = 0;
	v = strtoull(text, &end, 0);
	s = *end ? strchr(suffixes, *end) : NULL;
	if (s) {
		v <<= 10 * (s - suffixes + 1);
		end++;
	}
	if (errno || end == text || *end || *text == '-')
		xt_die(XT_USAGE, "%s needs a number, not \"%s\"", option, text);
	if (v < min || v > max)
		xt_die(XT_USAGE, "%s must be from %llu to %llu", option,
		       (unsigned long long)min, (unsigned long long)max);
	return v;
}
