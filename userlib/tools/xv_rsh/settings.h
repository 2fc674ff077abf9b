/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the near end tells the far one first; the command follows. */
#ifndef XV_RSH_SETTINGS_H
#define XV_RSH_SETTINGS_H

#include <stdint.h>
#include "tool.h"

enum {
	COMMAND_MAX	= 128 << 10,	/* the kernel takes no longer argument */
	SET_VERBOSE	= 1 << 0,
};

struct settings {
	uint32_t chunk;
	uint32_t slots;
	uint32_t flags;
	int32_t gid_index;		/* of the far end, or -1 */
	struct xt_net net;
	char device[72];		/* of the far end: NAME or NAME:PORT, or empty */
};

#endif
