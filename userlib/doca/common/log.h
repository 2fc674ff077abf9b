/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of messages share.
 */
#ifndef XVDOCA_LOG_INTERNAL_H
#define XVDOCA_LOG_INTERNAL_H

#include "internal.h"

enum kind { APP, SDK, KINDS };

struct message {
	uint32_t level;
	char *text;		/* ends with a newline and a null byte */
	size_t len;		/* without the null byte */
	size_t body;		/* offset of what follows the level */
	char room[1024];	/* holds the text if it fits */
};

static inline bool is_level(uint32_t level)
{
	return level % 10 == 0 && level >= DOCA_LOG_LEVEL_DISABLE && level <= DOCA_LOG_LEVEL_TRACE;
}

/* Whether a backend may want a message of this level.  It costs no lock. */
bool log_is_wanted(enum kind kind, uint32_t level);

/* Puts a message to all backends that want it; false if one could not write it. */
bool log_put(enum kind kind, const struct message *message);

#endif
