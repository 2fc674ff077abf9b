/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How memory is allocated.
 */
#ifndef _HCA_ALLOC_H
#define _HCA_ALLOC_H

#include <linux/types.h>

/*
 * Memory for a command.  All functions wait while a command runs, so it fails when memory is
 * short, instead of waiting for reclaim or the OOM killer.
 */
#define HCA_GFP	(GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN)

/* A work request must not sleep.  It allocates at most one page at once. */
#define HCA_GFP_NOWAIT		(GFP_NOWAIT | __GFP_NOWARN)

#endif
