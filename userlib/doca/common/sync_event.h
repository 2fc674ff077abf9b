/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sync events.  Libraries with tasks on events of other processes use struct
 * doca_sync_event_remote_net.
 */
#ifndef XVDOCA_PRIVATE_SYNC_EVENT_H
#define XVDOCA_PRIVATE_SYNC_EVENT_H

#include <doca_sync_event.h>
#include "blob.h"
#include "buf.h"

#define XVD_CACHE_LINE	64

/* Where RDMA operations of 8 bytes reach the value, which is in the byte order of its host */
struct doca_sync_event_remote_net {
	struct doca_dev *dev;
	uint64_t addr;
	uint32_t rkey;
};

enum xvd_se_role {
	XVD_SE_PUBLISHER,
	XVD_SE_SUBSCRIBER,
	XVD_SE_ROLES,
};

struct xvd_se_blob {
	struct xvd_blob header;
	uint64_t addr;
	uint32_t rkey;
	uint32_t reserved;		/* 0 */
};

struct doca_sync_event {
	uint64_t *value;
	bool started;
	struct {
		bool set;
		struct doca_dev *dev;	/* NULL: peers */
	} roles[XVD_SE_ROLES];
	struct doca_buf *buf;		/* where the value is, or NULL */
	struct xv_mr *mr;		/* for peers */
	struct xvd_se_blob blob;

	/* In a cache line of its own, because others poll it */
	uint64_t own __attribute__((aligned(XVD_CACHE_LINE)));
};

#endif
