/* SPDX-License-Identifier: GPL-2.0 */
/* What the simulator does to the state of an end */
#ifndef TESTS_USER_RSH_ENDS_H
#define TESTS_USER_RSH_ENDS_H

#include <stdbool.h>

void near_reset(void);
void near_spoil(void);			/* it counts wrongly */
extern bool near_spoiled;		/* before it could compare */
void far_reset(void);

#endif
