// SPDX-License-Identifier: GPL-2.0
/*
 * Names and descriptions of errors.
 */
#include <string.h>
#include <doca_error.h>
#include "tap.h"

int main(void)
{
	doca_error_t result = DOCA_SUCCESS;
	int e;

	for (e = DOCA_SUCCESS; e <= DOCA_ERROR_DEVICE_FATAL_ERROR; e++)
		ok(!strncmp(doca_error_get_name(e), e ? "DOCA_ERROR_" : "DOCA_SUCCESS", 11) &&
		   *doca_error_get_descr(e), "error %d has a name and a description: %s, %s", e,
		   doca_error_get_name(e), doca_error_get_descr(e));
	ok(!strcmp(doca_error_get_name(DOCA_ERROR_FULL), "DOCA_ERROR_FULL"),
	   "the name of an error");
	ok(!strcmp(doca_error_get_descr(32), "Unknown error number") &&
	   !strcmp(doca_error_get_descr(-1), "Unknown error number"), "numbers that are no errors");

	DOCA_ERROR_PROPAGATE(result, DOCA_SUCCESS);
	tap_is(result, DOCA_SUCCESS, "no error");
	DOCA_ERROR_PROPAGATE(result, DOCA_ERROR_AGAIN);
	DOCA_ERROR_PROPAGATE(result, DOCA_ERROR_FULL);
	tap_is(result, DOCA_ERROR_AGAIN, "the first error stays");
	return tap_done();
}
