// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A function of libmlx5 that programs call for each ConnectX adapter (perftest 25 does, and
 * creates no queue pair if it fails).  libmlx5 refuses contexts that are not its own.
 */
#include <dlfcn.h>
#include <infiniband/mlx5dv.h>
#include "ibv.h"

static int query_other(struct ibv_context *ctx, struct mlx5dv_context *attr)
{
	typeof(&mlx5dv_query_device) query;

	*(void **)&query = dlsym(RTLD_NEXT, "mlx5dv_query_device");
	return query ? query(ctx, attr) : EOPNOTSUPP;
}

/* No optional feature: they all need other functions of libmlx5. */
EXPORT int mlx5dv_query_device(struct ibv_context *ctx, struct mlx5dv_context *attr)
{
	if (ctx->ops.poll_cq != iv_poll_cq)
		return query_other(ctx, attr);
	attr->version = 0;
	attr->flags = MLX5DV_CONTEXT_FLAGS_CQE_V1;
	attr->comp_mask = 0;
	return 0;
}
