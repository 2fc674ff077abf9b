// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * JSON on standard output, indented by one tab per level.
 */
#include <math.h>
#include <stdarg.h>
#include "tool.h"

static int depth;
static bool first = true, after_key;

static void element(void)
{
	int i;

	if (after_key) {
		after_key = false;
		return;
	}
	if (!first)
		putchar(',');
	if (depth)
		putchar('\n');
	for (i = 0; i < depth; i++)
		putchar('\t');
	first = false;
}

static void quoted(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			printf("\\u%04x", *s);
		else
			putchar(*s);
	}
	putchar('"');
}

void xt_json_key(const char *key)
{
	element();
	quoted(key);
	printf(": ");
	after_key = true;
}

void xt_json_open(char bracket)
{
	element();
	putchar(bracket);
	depth++;
	first = true;
}

void xt_json_close(char bracket)
{
	int i;

	depth--;
	putchar('\n');
	for (i = 0; i < depth; i++)
		putchar('\t');
	putchar(bracket);
	first = false;
	if (!depth)
		putchar('\n');
}

static void key_or_element(const char *key)
{
	if (key)
		xt_json_key(key);
	element();
}

void xt_json_str(const char *key, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	key_or_element(key);
	quoted(text);
}

void xt_json_num(const char *key, double value)
{
	key_or_element(key);
	if (fabs(value) < 9e15 && value == (double)(long long)value)
		printf("%lld", (long long)value);
	else
		printf("%.6g", value);
}

void xt_json_bool(const char *key, bool value)
{
	key_or_element(key);
	printf("%s", value ? "true" : "false");
}
