/* SPDX-License-Identifier: GPL-2.0 */
/* The GID that a benchmark uses */
#ifndef BENCH_GID_H
#define BENCH_GID_H

#include <stdint.h>
#include <string.h>
#include <infiniband/verbs.h>

/* The last RoCE v2 GID of an IPv4 address, or GID 0 */
static inline int pick_gid(struct ibv_context *ctx, int len)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct ibv_gid_entry e;
	int i, best = 0;

	for (i = 0; i < len; i++)
		if (!ibv_query_gid_ex(ctx, 1, (uint32_t)i, &e, 0) &&
		    e.gid_type == IBV_GID_TYPE_ROCE_V2 && !memcmp(e.gid.raw, mapped, 12))
			best = i;
	return best;
}

#endif
