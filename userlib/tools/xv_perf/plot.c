// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Draws saved runs into one diagram: latency, bandwidth or compared times by size, or compared
 * times by number of ranks.  Reads the JSON output of this program and passes the numbers to
 * gnuplot.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "perf.h"

/*
 * Removes spaces outside of strings: other programs set them in other ways.  Returns false if
 * brackets are open at the end.
 */
static bool compact(char *text)
{
	bool string = false;
	char *to = text;
	int depth = 0;

	for (; *text; text++) {
		if (!string && strchr(" \t\r\n", *text))
			continue;
		if (*text == '"')
			string = !string;
		if (!string)
			depth += !!strchr("{[", *text) - !!strchr("}]", *text);
		*to++ = *text;
		if (string && *text == '\\' && text[1])
			*to++ = *++text;
	}
	*to = 0;
	return !depth && !string;
}

static char *read_file(const char *file)
{
	FILE *f = fopen(file, "r");
	bool whole = false;
	char *text = NULL;
	size_t room = 0;

	if (!f)
		xt_die(XT_FAILED, "%s: %s", file, strerror(errno));
	if (getdelim(&text, &room, 0, f) > 0)
		whole = compact(text);
	fclose(f);
	if (!whole || *text != '{' || !strstr(text, "\"program\":\"xv_perf\"") ||
	    !strstr(text, "\"bytes\":"))
		xt_die(XT_FAILED, "%s is not JSON output of xv_perf", file);
	return text;
}

/* String value of a key, at most n - 1 bytes, without characters special in gnuplot */
static void get_string(const char *text, const char *key, char *value, size_t n)
{
	char pattern[64];
	const char *p;
	size_t i;

	snprintf(pattern, sizeof(pattern), "\"%s\":\"", key);
	p = strstr(text, pattern);
	if (p)
		p += strlen(pattern);
	for (i = 0; p && i < n - 1 && p[i] &&
	     strchr("abcdefghijklmnopqrstuvwxyzCPU_-0123456789 ", p[i]); i++)
		value[i] = p[i];
	value[i] = 0;
}

static double get_number(const char *text, const char *key)
{
	char pattern[64];
	const char *p;

	snprintf(pattern, sizeof(pattern), "\"%s\":", key);
	p = strstr(text, pattern);
	return p ? strtod(p + strlen(pattern), NULL) : 0;
}

/* The key of the horizontal axis: ranks, if they differ or if the messages are empty */
static const char *axis_of(const char *text)
{
	double first = get_number(text, "ranks");
	const char *p = text;

	if (!get_number(text, "bytes"))
		return "ranks";
	while ((p = strstr(p, "\"ranks\":"))) {
		if (get_number(p, "ranks") != first)
			return "ranks";
		p++;
	}
	return "bytes";
}

/* Writes a data block with lines "bytes value" or "ranks value" for one run. */
static void put_data(FILE *gp, int run, const char *text, const char *axis, const char *key)
{
	const char *object, *end;
	char *result;

	fprintf(gp, "$run%d << END\n", run);
	for (object = text + 1; (object = strchr(object, '{')); object = end) {
		end = object + strcspn(object, "}");
		result = strndup(object, (size_t)(end - object));
		if (result)
			fprintf(gp, "%.0f %g\n", get_number(result, axis), get_number(result, key));
		free(result);
	}
	fprintf(gp, "END\n");
}

/* What a kind of test shows: the label of the axis, and the key of each curve */
struct kind {
	const char *name;
	const char *label;
	const char *key[2];
	const char *title[2];		/* keys of the names of the curves */
};

static const struct kind *kind_of(const char *text)
{
	static const struct kind latency = { "latency", "median latency, us", { "median_us" },
		{ NULL } };
	static const struct kind bandwidth = { "bandwidth", "MB/s", { "mb_per_s" }, { NULL } };
	static const struct kind compared = { "posted once, and driven by the CPU",
		"time of a step or run, us", { "at_once_us", "in_steps_us" },
		{ "at_once", "in_steps" } };
	char test[32];

	get_string(text, "test", test, sizeof(test));
	return !strcmp(test, "latency") ? &latency : !strcmp(test, "bandwidth") ? &bandwidth :
									     &compared;
}

/* A string in single quotes: in double quotes, gnuplot would run commands in backquotes. */
static void put_quoted(FILE *gp, const char *text, size_t n)
{
	fputc('\'', gp);
	for (; n && *text; n--, text++) {
		if (*text == '\'')
			fputc('\'', gp);
		fputc(iscntrl((unsigned char)*text) ? '?' : *text, gp);
	}
	fputc('\'', gp);
}

static void put_header(FILE *gp, const char *title, const char *image, const char *axis,
		       const char *label)
{
	const char *dot = strrchr(image, '.');

	fprintf(gp, "set terminal %s size 900,600\nset output ",
		dot && !strcmp(dot, ".png") ? "pngcairo" : "svg background \"white\"");
	put_quoted(gp, image, SIZE_MAX);
	fprintf(gp, "\nset title ");
	put_quoted(gp, title, SIZE_MAX);
	fprintf(gp, " noenhanced");
	fprintf(gp, "\nset logscale x 2\nset logscale y\nset grid\nset key left top\n"
		"set xlabel \"%s\"\nset ylabel \"%s\"\n", axis, label);
}

/* The name of a file, without directory and ".json" */
static void put_name(FILE *gp, const char *file)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
	size_t n = strlen(name);

	if (n > 5 && !strcmp(name + n - 5, ".json"))
		n -= 5;
	put_quoted(gp, name, n);
}

static void put_title(FILE *gp, const char *text, const char *file, const char *curve)
{
	char test[32], op[32], tp[32], way[32] = "", type[32], by[32];

	get_string(text, "test", test, sizeof(test));
	get_string(text, "operation", op, sizeof(op));
	get_string(text, "transport", tp, sizeof(tp));
	get_string(text, "type", type, sizeof(type));
	get_string(text, "last_sum_by", by, sizeof(by));
	if (curve)
		get_string(text, curve, way, sizeof(way));
	if (*op)
		fprintf(gp, " title \"%s %s, \".", tp, op);
	else if (*by && !strcmp(curve, "at_once"))
		fprintf(gp, " title \"%s of %s %s, last sum by the %s, \".", test, type,
			way, by);
	else
		fprintf(gp, " title \"%s %s %s, \".", test, type, way);
	put_name(gp, file);
	fprintf(gp, " noenhanced");
}

int plot(const char *title, const char *image, int count, char **files)
{
	const struct kind *kind = NULL;
	const char *axis = NULL;
	char **text = xt_calloc((size_t)count, sizeof(*text));
	FILE *gp;
	int i, k;

	for (i = 0; i < count; i++) {
		text[i] = read_file(files[i]);
		if (i && (kind_of(text[i]) != kind || strcmp(axis_of(text[i]), axis)))
			xt_die(XT_USAGE, "%s: cannot draw different tests into one diagram",
			       files[i]);
		kind = kind_of(text[i]);
		axis = axis_of(text[i]);
	}
	/* gnuplot would run the rest of the name as a command. */
	if (*image == '|')
		xt_die(XT_USAGE, "%s is not the name of an image", image);
	gp = popen("gnuplot", "w");
	if (!gp)
		xt_die(XT_FAILED, "gnuplot: %s", strerror(errno));
	put_header(gp, title ? title : kind->name, image, axis, kind->label);
	for (i = 0; i < count; i++)
		for (k = 0; k < 2 && kind->key[k]; k++)
			put_data(gp, 2 * i + k, text[i], axis, kind->key[k]);
	for (i = 0; i < count; i++) {
		for (k = 0; k < 2 && kind->key[k]; k++) {
			fprintf(gp, "%s$run%d using 1:2 with linespoints",
				i || k ? ", " : "plot ", 2 * i + k);
			put_title(gp, text[i], files[i], kind->title[k]);
		}
		free(text[i]);
	}
	fprintf(gp, "\n");
	free(text);
	if (pclose(gp))
		xt_die(XT_FAILED, "gnuplot failed; is it installed?");
	return XT_OK;
}
