// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Attribute structures of different versions.  Members that the caller does not
 * have are read as 0; members that the library does not have must be 0.
 */
#include "internal.h"

int xv_attr_in(void *own, size_t own_size, const void *caller, size_t size, const char *what)
{
	const char *tail = caller;
	size_t i;

	memset(own, 0, own_size);
	if (!caller)
		return xv_set_error(EINVAL, "%s: no attributes given", what);
	memcpy(own, caller, size < own_size ? size : own_size);
	for (i = own_size; i < size; i++)
		if (tail[i])
			return xv_set_error(E2BIG, "%s: an attribute is unknown to this libxverbs",
					    what);
	return 0;
}

void xv_attr_out(void *caller, size_t size, const void *own, size_t own_size)
{
	memset(caller, 0, size);
	memcpy(caller, own, size < own_size ? size : own_size);
}
