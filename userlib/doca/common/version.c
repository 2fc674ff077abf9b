// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The version with which the library is compatible.
 */
#include <doca_version.h>
#include "internal.h"

EXPORT const char *doca_version_runtime(void)
{
	return DOCA_VERSION_STRING;
}
