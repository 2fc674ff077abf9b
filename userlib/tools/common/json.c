// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * JSON on standard output or another stream, indented by one tab per level.
 */
#include <math.h>
#include <stdarg.h>
#include "tool.h"

static FILE *to;
static int depth;
static bool first = true, after_key;

static FILE *out(void)
{
	return to ? to : stdout;
}

void xt_json_to(FILE *stream)
{
	to = stream;
}

static void element(void)
{
	int i;

	if (after_key) {
		after_key = false;
		return;
	}
	if (!first)
		fputc(',', out());
	if (depth)
		fputc('\n', out());
	for (i = 0; i < depth; i++)
		fputc('\t', out());
	first = false;
}

static void quoted(const char *s)
{
	fputc('"', out());
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fprintf(out(), "\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			fprintf(out(), "\\u%04x", *s);
		else
			fputc(*s, out());
	}
	fputc('"', out());
}

void xt_json_key(const char *key)
{
	element();
	quoted(key);
	fputs(": ", out());
	after_key = true;
}

void xt_json_open(char bracket)
{
	element();
	fputc(bracket, out());
	depth++;
	first = true;
}

void xt_json_close(char bracket)
{
	int i;

	depth--;
	fputc('\n', out());
	for (i = 0; i < depth; i++)
		fputc('\t', out());
	fputc(bracket, out());
	first = false;
	if (!depth)
		fputc('\n', out());
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
		fprintf(out(), "%lld", (long long)value);
	else
		fprintf(out(), "%.6g", value);
}

void xt_json_bool(const char *key, bool value)
{
	key_or_element(key);
	fprintf(out(), "%s", value ? "true" : "false");
}
