/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Damaged exports: a function that takes one must refuse it.
 */
#ifndef TESTS_DOCA_BLOB_TEST_H
#define TESTS_DOCA_BLOB_TEST_H

#include <string.h>
#include <doca_error.h>
#include "tap.h"

/* Creates an object from the export, and destroys it again. */
typedef doca_error_t (*import_fn)(const void *blob, size_t len);

static int is_refusal(doca_error_t result)
{
	return result == DOCA_ERROR_INVALID_VALUE || result == DOCA_ERROR_UNSUPPORTED_VERSION;
}

/* Each byte with each single bit changed and with all bits changed, and each shorter length */
static void test_damaged(const void *export, size_t len, import_fn import)
{
	unsigned char *blob = malloc(len + 1);
	int accepted = 0, bit;
	size_t i;

	/* Exports need not be aligned. */
	memcpy(blob + 1, export, len);
	tap_is(import(blob + 1, len), DOCA_SUCCESS, "a copy of %zu bytes is taken", len);
	for (i = 1; i <= len; i++) {
		for (bit = 0; bit <= 8; bit++) {
			blob[i] ^= bit < 8 ? 1 << bit : 0xff;
			accepted += !is_refusal(import(blob + 1, len));
			blob[i] ^= bit < 8 ? 1 << bit : 0xff;
		}
	}
	tap_is(accepted, 0, "no damaged copy is taken");
	for (i = 0; i < len; i++)
		accepted += !is_refusal(import(blob + 1, i));
	tap_is(accepted, 0, "no short copy is taken");
	memset(blob, 0, len + 1);
	ok(is_refusal(import(blob, len)), "zeros are not taken");
	free(blob);
}

#endif
