// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * RDMA contexts: creation and configuration.
 */
#include <stdlib.h>
#include "rdma.h"

static const struct xvd_rdma_config defaults = {
	.send_queue_size = 128,
	.recv_queue_size = 128,
	.send_list_len = 4,
	.recv_list_len = 3,
	.gid_index = -1,
	.max_conns = 1,
	.rnr_retry = 7,
};

EXPORT doca_error_t doca_rdma_create(struct doca_dev *dev, struct doca_rdma **rdma)
{
	struct doca_rdma *new;
	doca_error_t result;

	if (!dev || !rdma)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	result = xvd_rdma_query_limits(dev->ctx, &new->limits);
	if (result != DOCA_SUCCESS) {
		free(new);
		return result;
	}
	new->config = defaults;
	new->epoll_fd = -1;
	xvd_ctx_init(&new->ctx, &xvd_rdma_ctx_ops, dev);
	*rdma = new;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_rdma_destroy(struct doca_rdma *rdma)
{
	doca_error_t result;

	if (!rdma)
		return DOCA_ERROR_INVALID_VALUE;
	result = xvd_ctx_destroy(&rdma->ctx);
	if (result == DOCA_SUCCESS)
		free(rdma);
	return result;
}

EXPORT struct doca_ctx *doca_rdma_as_ctx(struct doca_rdma *rdma)
{
	return rdma ? &rdma->ctx : NULL;
}

/* ---- Configuration ----------------------------------------------------------------------- */

static doca_error_t may_set(const struct doca_rdma *rdma, bool valid, bool supported)
{
	if (!valid)
		return DOCA_ERROR_INVALID_VALUE;
	if (!xvd_ctx_is_idle(&rdma->ctx))
		return DOCA_ERROR_BAD_STATE;
	return supported ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

/* The conditions valid and supported may use rdma and value. */
#define SETTER(function, type, member, valid, supported)					\
EXPORT doca_error_t function(struct doca_rdma *rdma, type value)				\
{												\
	doca_error_t result = DOCA_ERROR_INVALID_VALUE;						\
												\
	if (rdma)										\
		result = may_set(rdma, valid, supported);					\
	if (result == DOCA_SUCCESS)								\
		rdma->config.member = value;							\
	return result;										\
}

#define GETTER(function, type, expression)							\
EXPORT doca_error_t function(const struct doca_rdma *rdma, type *value)				\
{												\
	if (!rdma || !value)									\
		return DOCA_ERROR_INVALID_VALUE;						\
	*value = expression;									\
	return DOCA_SUCCESS;									\
}

#define PROPERTY(name, type, member, valid, supported)						\
SETTER(doca_rdma_set_##name, type, member, valid, supported)					\
GETTER(doca_rdma_get_##name, type, rdma->config.member)

PROPERTY(permissions, uint32_t, permissions, true, true)
PROPERTY(send_queue_size, uint32_t, send_queue_size, value, value <= rdma->limits.send_queue_size)
PROPERTY(recv_queue_size, uint32_t, recv_queue_size, value, value <= rdma->limits.recv_queue_size)
PROPERTY(max_send_buf_list_len, uint32_t, send_list_len, value,
	 value <= rdma->limits.send_list_len)
PROPERTY(transport_type, enum doca_rdma_transport_type, transport,
	 value == DOCA_RDMA_TRANSPORT_TYPE_RC || value == DOCA_RDMA_TRANSPORT_TYPE_DC,
	 value == DOCA_RDMA_TRANSPORT_TYPE_RC || rdma->limits.dc)
PROPERTY(grh_enabled, uint8_t, grh, value <= 1, true)
PROPERTY(sl, uint32_t, sl, value <= 15, true)
PROPERTY(traffic_class, uint8_t, traffic_class, true, true)
PROPERTY(rnr_retry_count, uint8_t, rnr_retry, value <= 7, true)
PROPERTY(max_num_connections, uint16_t, max_conns, value, true)
SETTER(doca_rdma_task_receive_set_dst_buf_list_len, uint32_t, recv_list_len,
	value, value <= rdma->limits.recv_list_len)
GETTER(doca_rdma_task_receive_get_dst_buf_list_len, uint32_t, rdma->config.recv_list_len)
SETTER(doca_rdma_set_gid_index, uint32_t, gid_index, value < rdma->limits.gid_table_size, true)

EXPORT doca_error_t doca_rdma_get_gid_index(const struct doca_rdma *rdma, uint32_t *gid_index)
{
	int index;

	if (!rdma || !gid_index)
		return DOCA_ERROR_INVALID_VALUE;
	index = rdma->config.gid_index;
	if (index < 0)
		index = xv_default_gid_index(rdma->ctx.dev->ctx, XVD_RDMA_PORT);
	if (index < 0)
		return xvd_error(index);
	*gid_index = (uint32_t)index;
	return DOCA_SUCCESS;
}

/* The MTUs of both libraries are in the same order. */
#define MTU_OF(mtu)	((enum xv_mtu)((int)(mtu) - DOCA_MTU_SIZE_256_BYTES + XV_MTU_256))

EXPORT doca_error_t doca_rdma_set_mtu(struct doca_rdma *rdma, enum doca_mtu_size mtu)
{
	doca_error_t result;

	if (!rdma)
		return DOCA_ERROR_INVALID_VALUE;
	result = may_set(rdma, (unsigned int)mtu <= DOCA_MTU_SIZE_4K_BYTES,
			 MTU_OF(mtu) <= rdma->limits.max_mtu);
	if (result == DOCA_SUCCESS)
		rdma->config.mtu = MTU_OF(mtu);
	return result;
}

EXPORT doca_error_t doca_rdma_get_mtu(const struct doca_rdma *rdma, enum doca_mtu_size *mtu)
{
	enum xv_mtu value;

	if (!rdma || !mtu)
		return DOCA_ERROR_INVALID_VALUE;
	value = rdma->config.mtu ? rdma->config.mtu : rdma->limits.active_mtu;
	*mtu = (enum doca_mtu_size)((int)value - XV_MTU_256 + DOCA_MTU_SIZE_256_BYTES);
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_rdma_set_connection_state_callbacks(
	struct doca_rdma *rdma, doca_rdma_connection_request_cb_t request_cb,
	doca_rdma_connection_established_cb_t established_cb,
	doca_rdma_connection_failure_cb_t failure_cb,
	doca_rdma_connection_disconnection_cb_t disconnection_cb)
{
	if (!rdma || !request_cb || !established_cb || !failure_cb || !disconnection_cb)
		return DOCA_ERROR_INVALID_VALUE;
	if (!xvd_ctx_is_idle(&rdma->ctx))
		return DOCA_ERROR_BAD_STATE;
	rdma->request_cb = request_cb;
	rdma->established_cb = established_cb;
	rdma->failure_cb = failure_cb;
	rdma->disconnection_cb = disconnection_cb;
	return DOCA_SUCCESS;
}
