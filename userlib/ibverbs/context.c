// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Contexts.  A function that is not in the tables below is not supported: the inline functions
 * of verbs.h then return EOPNOTSUPP.
 */
#include "ibv.h"

static const struct ibv_context_ops context_ops = {
	._compat_query_device = iv_query_device,
	.alloc_mw = iv_alloc_mw,
	.bind_mw = iv_bind_mw,
	.dealloc_mw = iv_dealloc_mw,
	.poll_cq = iv_poll_cq,
	.req_notify_cq = iv_req_notify_cq,
	.post_srq_recv = iv_post_srq_recv,
	.post_send = iv_post_send,
	.post_recv = iv_post_recv,
};

static const struct verbs_context verbs_ops = {
	.query_port = iv_query_port,
	.alloc_parent_domain = iv_alloc_parent_domain,
	.dealloc_td = iv_dealloc_td,
	.alloc_td = iv_alloc_td,
	.modify_cq = iv_modify_cq,
	.query_rt_values = iv_query_rt_values,
	.create_cq_ex = iv_create_cq_ex,
	.query_device_ex = iv_query_device_ex,
	.open_qp = iv_open_qp,
	.create_qp_ex = iv_create_qp_ex,
	.get_srq_num = iv_get_srq_num,
	.create_srq_ex = iv_create_srq_ex,
	.open_xrcd = iv_open_xrcd,
	.close_xrcd = iv_close_xrcd,
	.sz = sizeof(struct verbs_context),
	.context = { .abi_compat = __VERBS_ABI_IS_EXTENDED },
};

static int comp_vectors(struct xv_context *xv)
{
	struct xv_device_attr attr;

	return xv_query_device(xv, &attr) ? 1 : (int)attr.num_comp_vectors;
}

struct ibv_context *iv_context_new(struct ibv_device *device, struct xv_context *xv)
{
	struct context *ctx = calloc(1, sizeof(*ctx));
	struct ibv_context *pub;

	if (!ctx)
		return NULL;
	ctx->xv = xv;
	ctx->task_lock.on = 1;
	ctx->pub = verbs_ops;
	pub = &ctx->pub.context;
	pub->ops = context_ops;
	pub->device = device;
	pub->cmd_fd = xv->fd;
	pub->async_fd = xv->fd;
	pub->num_comp_vectors = comp_vectors(xv);
	pthread_mutex_init(&pub->mutex, NULL);
	iv_device_hold(device);
	return pub;
}

EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct xv_context *xv = iv_device_open(device);
	struct ibv_context *ctx;

	if (!xv)
		return NULL;
	ctx = iv_context_new(device, xv);
	if (!ctx)
		xv_close(xv);
	return ctx;
}

EXPORT int ibv_close_device(struct ibv_context *pub)
{
	struct context *ctx = to_context(pub);
	int err = ctx->borrowed ? 0 : xv_close(ctx->xv);

	iv_device_put(pub->device);
	free(ctx);
	return iv_result(err);
}

/* Objects of /dev/xverbs belong to one open file and cannot be imported by number. */

EXPORT struct ibv_context *ibv_import_device(int cmd_fd)
{
	(void)cmd_fd;
	return iv_refuse(EOPNOTSUPP, "import: ");
}

EXPORT struct ibv_pd *ibv_import_pd(struct ibv_context *ctx, uint32_t handle)
{
	(void)ctx;
	(void)handle;
	return iv_refuse(EOPNOTSUPP, "import: ");
}

EXPORT struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	(void)pd;
	(void)handle;
	return iv_refuse(EOPNOTSUPP, "import: ");
}

EXPORT struct ibv_dm *ibv_import_dm(struct ibv_context *ctx, uint32_t handle)
{
	(void)ctx;
	(void)handle;
	return iv_refuse(EOPNOTSUPP, "import: ");
}
