// SPDX-License-Identifier: GPL-2.0
/*
 * Unit test of the explanations: what the library finds for a code, and that the table is sound.
 */
#include <string.h>
#include "../../userlib/src/explain.c"
#include "tap.h"

static void test_lookup(void)
{
	const struct xv_explanation *e = xv_explain(XV_CODE_SYNDROME, 0x65b500, NULL);

	ok(e && e->code == 0x65b500 && e->status == 5 && !strcmp(e->where, "CREATE_QP") &&
	   strstr(e->cause, "in use"), "a syndrome");
	ok(!xv_explain(XV_CODE_SYNDROME, 0x65b500, e), "has one explanation");
	ok(!xv_explain(XV_CODE_SYNDROME, 0x81, NULL), "a vendor code is no syndrome");
	ok(!xv_explain((enum xv_code)77, 0x81, NULL), "no such kind");
	ok(!strcmp(xv_vendor_err_str(0x81), "no answer from the peer"), "a vendor code");
	ok(!strcmp(xv_vendor_err_str(0), "unknown") && !strcmp(xv_vendor_err_str(~0u), "unknown"),
	   "others are unknown");
}

/* 0x68 was seen with two statuses. */
static void test_several(void)
{
	const struct xv_explanation *e = NULL;
	uint32_t statuses = 0, n = 0;

	for (; (e = xv_explain(XV_CODE_VENDOR_ERR, 0x68, e)); n++)
		statuses |= 1u << e->status;
	ok(n == 2 && statuses == (1u << XV_WC_LOC_QP_OP_ERR | 1u << XV_WC_LOC_LEN_ERR),
	   "a code with two explanations");
}

struct row {
	uint32_t code, status;
	const char *where, *cause, *check, *source;
};

static bool is_line(const char *text)
{
	return !strchr(text, '\n') && strlen(text) < 100;
}

static void test_rows(enum xv_code kind, const struct row *row, size_t n)
{
	size_t i, bad = 0;

	for (i = 0; i < n; i++) {
		const struct row *r = row + i;

		bad += !xv_explain(kind, r->code, NULL) || !*r->cause || !*r->source ||
		       !is_line(r->cause) || !is_line(r->check) || !is_line(r->source);
	}
	tap_is(bad, 0, "%zu rows, each with a cause and a source", n);
}

#undef SYNDROME
#undef VENDOR
#define SYNDROME(_code, _where, _status, ...)	{ _code, _status, _where, __VA_ARGS__ },
#define VENDOR(_code, _status, ...)		{ _code, _status, "", __VA_ARGS__ },

int main(void)
{
	static const struct row of_commands[] = { MLX5_SYNDROMES(SYNDROME) };
	static const struct row of_completions[] = { MLX5_VENDOR_CODES(VENDOR) };

	test_lookup();
	test_several();
	test_rows(XV_CODE_SYNDROME, of_commands, ARRAY_SIZE(of_commands));
	test_rows(XV_CODE_VENDOR_ERR, of_completions, ARRAY_SIZE(of_completions));
	return tap_done();
}
