// SPDX-License-Identifier: GPL-2.0
/* The unmodified source of the far end, and a function that resets it */
#include "far.c"
#include "ends.h"

void far_reset(void)
{
	static struct far first;
	static bool saved;

	if (!saved)
		first = far;
	saved = true;
	far = first;
}
