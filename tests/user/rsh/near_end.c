// SPDX-License-Identifier: GPL-2.0
/* The near end as it is, and a way to run it again */
#include "near.c"

void near_reset(void);
void near_reset(void)
{
	memset(&near, 0, sizeof(near));
}

void near_spoil(void);
void near_spoil(void)
{
	near.session.flow.received.digest++;
}
