/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TAP output of all C test programs. Each ok() prints one result; tap_done() prints
 * the plan and returns the exit status, 0 only if every result was ok. A program that
 * cannot run on this host calls tap_skip_all() and counts as skipped.
 */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int tap_count, tap_failed;

__attribute__((format(printf, 2, 3), unused))
static int ok(int good, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", good ? "" : "not ", ++tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	tap_failed += !good;
	return good;
}

/* A test that this host cannot run: the reason is counted, too. */
__attribute__((unused))
static void tap_skip(const char *what, const char *reason)
{
	printf("ok %d - %s # SKIP %s\n", ++tap_count, what, reason);
	fflush(stdout);
}

/* Compares two integers and prints both if they differ. */
#define tap_is(got, want, ...) do {						\
	unsigned long long g_ = (got), w_ = (want);				\
	if (!ok(g_ == w_, __VA_ARGS__))						\
		diag("%s:%d: got %#llx, want %#llx", __FILE__, __LINE__, g_, w_);	\
} while (0)

__attribute__((format(printf, 1, 2), unused))
static void diag(const char *fmt, ...)
{
	va_list ap;

	fputs("# ", stdout);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

__attribute__((unused))
static int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed ? 1 : 0;
}

__attribute__((format(printf, 1, 2), unused))
static void tap_skip_all(const char *fmt, ...)
{
	va_list ap;

	printf("1..0 # SKIP ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	exit(0);
}

__attribute__((noreturn, format(printf, 1, 2), unused))
static void bail_out(const char *fmt, ...)
{
	va_list ap;

	printf("Bail out! ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	exit(2);
}

#endif
