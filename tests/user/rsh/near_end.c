// SPDX-License-Identifier: GPL-2.0
/* The unmodified source of the near end, and functions to reset it and to disturb it */
#include "near.c"
#include "ends.h"

bool near_spoiled;

void near_reset(void)
{
	memset(&near, 0, sizeof(near));
	near_spoiled = false;
}

void near_spoil(void)
{
	near.session.flow.received.digest++;
	/* The writer runs, and cannot have compared. */
	near_spoiled = near.session.writer.carrier && !near.session.writer.have_peer;
}
