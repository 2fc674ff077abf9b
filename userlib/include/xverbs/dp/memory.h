/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory regions, memory windows, indirect keys and access flags.
 */
#ifndef XVERBS_DP_MEMORY_H
#define XVERBS_DP_MEMORY_H

#include <stddef.h>
#include <xverbs/dp/barrier.h>

enum xv_access_flags {
	XV_ACCESS_LOCAL_WRITE		= 1 << 0,
	XV_ACCESS_REMOTE_WRITE		= 1 << 1,
	XV_ACCESS_REMOTE_READ		= 1 << 2,
	XV_ACCESS_REMOTE_ATOMIC		= 1 << 3,
	XV_ACCESS_MW_BIND		= 1 << 4,
	XV_ACCESS_ZERO_BASED		= 1 << 5,
	XV_ACCESS_ON_DEMAND		= 1 << 6,
	XV_ACCESS_RELAXED_ORDERING	= 1 << 20,
};

struct xv_mr {
	struct xv_context *context;
	struct xv_pd *pd;
	void *addr;
	size_t length;
	uint32_t handle;
	uint32_t lkey;
	uint32_t rkey;
};

enum xv_mw_type {
	XV_MW_TYPE_1 = 1,
	XV_MW_TYPE_2,
};

struct xv_mw {
	struct xv_context *context;
	struct xv_pd *pd;
	uint32_t handle;
	uint32_t rkey;
	enum xv_mw_type type;
};

/* An indirect key.  A UMR request (struct xv_umr) fills it with ranges of other keys. */
struct xv_mkey {
	struct xv_context *context;
	struct xv_pd *pd;
	uint32_t handle;
	uint32_t lkey;
	uint32_t rkey;
	uint32_t max_entries;
};

/* The next key of a window or region: the low byte (the variant) is incremented. */
xv_inline uint32_t xv_inc_rkey(uint32_t rkey)
{
	return (rkey & ~0xffu) | ((rkey + 1) & 0xff);
}

#endif
