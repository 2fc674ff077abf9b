/* SPDX-License-Identifier: GPL-2.0 */
/* Test results in TAP, the test anything protocol */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdio.h>

static int tap_count, tap_failed;

__attribute__((format(printf, 2, 3)))
static inline int tap_ok(int good, const char *fmt, ...)
{
	va_list ap;

	tap_failed += !good;
	printf("%sok %d - ", good ? "" : "not ", ++tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	return good;
}

#define tap_is(got, want, ...) do {						\
	unsigned long long g_ = (got), w_ = (want);				\
	if (!tap_ok(g_ == w_, __VA_ARGS__))					\
		printf("# %s:%d: got %#llx, want %#llx\n", __FILE__, __LINE__, g_, w_); \
} while (0)

static inline int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed ? 1 : 0;
}

#endif
