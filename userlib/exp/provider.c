// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibv_exp_get_provider_func(): pointers to the functions that post and poll
 */
#include "exp.h"

EXPORT void *ibv_exp_get_provider_func(struct ibv_context *ctx, enum ibv_exp_func_name name)
{
	if (!xv_bridge_get_ctx(ctx))
		return NULL;
	switch (name) {
	case IBV_EXP_POST_SEND_FUNC:
		return (void *)ibv_exp_post_send;
	case IBV_EXP_POLL_CQ_FUNC:
		return (void *)ibv_exp_poll_cq;
	case IBV_POST_SEND_FUNC:
		return (void *)ctx->ops.post_send;
	case IBV_POLL_CQ_FUNC:
		return (void *)ctx->ops.poll_cq;
	case IBV_POST_RECV_FUNC:
		return (void *)ctx->ops.post_recv;
	default:
		return iv_refuse(EINVAL, "get function: name: ");
	}
}
