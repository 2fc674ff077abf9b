/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sync events of other processes, for tasks on them
 */
#ifndef XVDOCA_PRIVATE_SYNC_EVENT_H
#define XVDOCA_PRIVATE_SYNC_EVENT_H

#include <doca_sync_event.h>
#include "internal.h"

/* Where RDMA operations of 8 bytes reach the value, which is in the byte order of its host */
struct doca_sync_event_remote_net {
	struct doca_dev *dev;
	uint64_t addr;
	uint32_t rkey;
};

#endif
