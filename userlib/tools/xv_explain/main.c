// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * xv_explain: says what is publicly known of syndromes, vendor codes and statuses, given as numbers
 * or in lines of the kernel log or of a program.
 */
#include <ctype.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "tool.h"

enum { DUMP_BYTES = 16, VENDOR_BYTE = 6, STATUSES = 23, VENDOR_CODES = 256 };

static const char usage[] =
	"usage: xv_explain NUMBER|LINE...\n"
	"       xv_explain < LINES\n"
	"Explains syndromes of firmware commands, and codes of completions with an error.\n"
	"  NUMBER         a syndrome or a vendor code, decimal or with 0x, or the status of a\n"
	"                 completion (below 23)\n"
	"  LINE           a line of the kernel log or of a program that contains such a code, or the\n"
	"                 last line of a dump of the completion\n"
	"  -h, --help     show this help\n"
	"Exit status: 0 something is known, 1 nothing is known, 2 bad command line\n";

static bool known;

static void print_row(const char *name, const char *text)
{
	if (*text)
		printf("  %-7s %s\n", name, text);
}

static void print(enum xv_code kind, const struct xv_explanation *e)
{
	if (kind == XV_CODE_SYNDROME)
		printf("syndrome 0x%x of %s", e->code, e->where);
	else
		printf("vendor code 0x%x, status %u (%s)", e->code, e->status,
		       xv_wc_status_str((enum xv_wc_status)e->status));
	if (kind == XV_CODE_SYNDROME && e->status)
		printf(", status 0x%x", e->status);
	putchar('\n');
	print_row("cause:", e->cause);
	print_row("check:", e->check);
	print_row("source:", e->source);
	known = true;
}

static bool explain(enum xv_code kind, uint32_t code)
{
	const struct xv_explanation *e = NULL;
	bool found = false;

	while ((e = xv_explain(kind, code, e))) {
		print(kind, e);
		found = true;
	}
	return found;
}

/* Numbers from here on are syndromes of the software adapter (xhca). */
static bool is_of_xhca(uint32_t code)
{
	return code >> 12 == 0x580;
}

static void explain_syndrome(uint32_t code)
{
	if (explain(XV_CODE_SYNDROME, code))
		return;
	printf("syndrome 0x%x: %s\n", code, is_of_xhca(code) ?
	       "of the software adapter (xhca): see kmod/xhca/hca/base/command.h" :
	       "nothing is publicly known");
	known |= is_of_xhca(code);
}

static void explain_vendor(uint32_t code)
{
	if (code && !explain(XV_CODE_VENDOR_ERR, code))
		printf("vendor code 0x%x: nothing is publicly known\n", code);
}

/* The vendor codes that were seen with a status */
static bool explain_status(uint32_t status)
{
	const struct xv_explanation *e;
	bool found = false;
	uint32_t code;

	for (code = 0; code < VENDOR_CODES; code++)
		for (e = NULL; (e = xv_explain(XV_CODE_VENDOR_ERR, code, e));)
			if (e->status == status) {
				print(XV_CODE_VENDOR_ERR, e);
				found = true;
			}
	if (!found && status < STATUSES)
		printf("status %u: %s\n", status, xv_wc_status_str((enum xv_wc_status)status));
	known |= status < STATUSES;
	return found;
}

/* The number after a word, which '(', '=', ':' and blanks may separate from it */
static bool number_after(const char *line, const char *word, uint32_t *n)
{
	const char *at = strcasestr(line, word);
	char *end;

	if (!at)
		return false;
	at += strlen(word);
	at += strspn(at, " (=:");
	*n = strtoul(at, &end, 0);
	return end != at;
}

/*
 * The last 16 bytes of a completion, as the kernel ("00000030: 00 00 ... d2") and libmlx5
 * ("00000000 00008813 08006214 0000f6d2") print them
 */
static bool read_dump(const char *line, uint8_t *bytes)
{
	const char *colon = strrchr(line, ':'), *p = colon ? colon + 1 : line;
	unsigned int n = 0;

	for (; *p; p++) {
		if (isspace((unsigned char)*p))
			continue;
		if (!isxdigit((unsigned char)p[0]) || !isxdigit((unsigned char)p[1]) ||
		    n == DUMP_BYTES)
			return false;
		bytes[n++] = strtoul((char[3]) { p[0], p[1] }, NULL, 16);
		p++;
	}
	return n == DUMP_BYTES;
}

static bool explain_number(const char *text)
{
	bool found;
	char *end;
	uint32_t code = strtoul(text, &end, 0);

	if (end == text || *end)
		return false;
	if (code < STATUSES) {
		explain_status(code);
		return true;
	}
	found = explain(XV_CODE_SYNDROME, code);
	found |= explain(XV_CODE_VENDOR_ERR, code);
	if (!found)
		explain_syndrome(code);
	return true;
}

/* Are there codes in the line? */
static bool explain_line(const char *line)
{
	static const char *const vendor_words[] = {
		"vendor err", "vendor_err_synd", "vendor_err", "vendor error", "vendor syndrome",
		"vend_err", "vendor",
	};
	uint8_t dump[DUMP_BYTES];
	uint32_t code;
	size_t i;

	if (read_dump(line, dump)) {
		explain_vendor(dump[VENDOR_BYTE]);
		return dump[VENDOR_BYTE];
	}
	for (i = 0; i < ARRAY_SIZE(vendor_words); i++) {
		if (number_after(line, vendor_words[i], &code)) {
			explain_vendor(code);
			return true;
		}
	}
	if (number_after(line, "syndrome", &code)) {
		explain_syndrome(code);
		return true;
	}
	if (number_after(line, "status", &code)) {
		explain_status(code);
		return true;
	}
	return false;
}

static void explain_file(FILE *f)
{
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		explain_line(line);
	}
	free(line);
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "help", no_argument, NULL, 'h' }, {} };
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (c != 'h') {
			fputs(usage, stderr);
			return XT_USAGE;
		}
		fputs(usage, stdout);
		return XT_OK;
	}
	if (optind == argc)
		explain_file(stdin);
	for (; optind < argc; optind++)
		if (!explain_number(argv[optind]) && !explain_line(argv[optind]))
			xt_die(XT_USAGE, "there is no code in \"%s\"", argv[optind]);
	return known ? XT_OK : XT_FAILED;
}
