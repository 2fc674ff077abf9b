// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The clock of the adapter, which this process maps at the first reading.
 */
#include "internal.h"

/* Maps the clock, if no other thread has mapped it meanwhile. */
static int clock_map(struct context *ctx)
{
	struct xverbs_clock_map req = {};
	uint8_t *reg;
	int err = 0;

	pthread_mutex_lock(&ctx->lock);
	if (!ctx->clock) {
		err = xv_ioctl(&ctx->pub, XVERBS_CLOCK_MAP, "read clock", &req, sizeof(req));
		if (!err)
			err = xv_map_read(ctx, &ctx->clock_map, &req.out_map, "read clock");
		if (!err) {
			reg = (uint8_t *)ctx->clock_map.addr + req.out_offset;
			__atomic_store_n(&ctx->clock, (volatile uint32_t *)(void *)reg,
					 __ATOMIC_RELEASE);
		}
	}
	pthread_mutex_unlock(&ctx->lock);
	return err;
}

XV_EXPORT int xv_read_clock(struct xv_context *pub, uint64_t *value)
{
	struct context *ctx = to_ctx(pub);
	const volatile uint32_t *reg = __atomic_load_n(&ctx->clock, __ATOMIC_ACQUIRE);
	uint32_t high, low;
	int err;

	if (!reg) {
		err = clock_map(ctx);
		if (err)
			return err;
		reg = ctx->clock;
	}
	/* The upper half changes when the lower one wraps. */
	do {
		high = reg[0];
		low = reg[1];
	} while (high != reg[0]);
	*value = (uint64_t)xv_be32(high) << 32 | xv_be32(low);
	return 0;
}
