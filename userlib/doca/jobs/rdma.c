// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * RDMA instances: creation, properties, connection and state.
 */
#include <stdlib.h>
#include "jobs.h"

EXPORT doca_error_t doca_rdma_create(struct doca_rdma **rdma)
{
	if (!rdma)
		return DOCA_ERROR_INVALID_VALUE;
	*rdma = calloc(1, sizeof(**rdma));
	return *rdma ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

EXPORT doca_error_t doca_rdma_destroy(struct doca_rdma *rdma)
{
	doca_error_t result;

	if (!rdma)
		return DOCA_ERROR_INVALID_VALUE;
	if (rdma->ctx.started)
		return DOCA_ERROR_IN_USE;
	if (rdma->ctx.dev) {
		result = doca_ctx_dev_rm(&rdma->ctx, rdma->ctx.dev);
		if (result != DOCA_SUCCESS)
			return result;
	}
	free(rdma);
	return DOCA_SUCCESS;
}

EXPORT struct doca_ctx *doca_rdma_as_ctx(struct doca_rdma *rdma)
{
	return rdma ? &rdma->ctx : NULL;
}

/* ---- Properties -------------------------------------------------------------------------- */

doca_error_t xvj_configure(const struct doca_rdma *rdma, struct xvj_engine *engine)
{
	doca_error_t result;
	unsigned int i;

	for (i = 0; i < XVJ_NUM_PROPERTIES; i++) {
		if (!rdma->config[i].set)
			continue;
		result = xvj_set(engine, i, rdma->config[i].value);
		if (result != DOCA_SUCCESS)
			return result;
	}
	return DOCA_SUCCESS;
}

static doca_error_t set(struct doca_rdma *rdma, enum xvj_property property, uint32_t value)
{
	doca_error_t result = DOCA_SUCCESS;

	if (!rdma)
		return DOCA_ERROR_INVALID_VALUE;
	if (rdma->ctx.engine)
		result = xvj_set(rdma->ctx.engine, property, value);
	if (result == DOCA_SUCCESS)
		rdma->config[property] = (struct xvj_config) { .set = true, .value = value };
	return result;
}

/* Without a device, there are defaults only for properties that do not depend on it. */
static doca_error_t get(const struct doca_rdma *rdma, enum xvj_property property, uint32_t *value)
{
	static const uint32_t defaults[XVJ_NUM_PROPERTIES] = {
		[XVJ_send_queue_size] = 128,
		[XVJ_recv_queue_size] = 128,
		[XVJ_recv_buf_chain_len] = 3,
	};

	if (rdma->ctx.engine)
		return xvj_get(rdma->ctx.engine, property, value);
	*value = rdma->config[property].set ? rdma->config[property].value : defaults[property];
	if ((property == XVJ_mtu || property == XVJ_gid_index) && !rdma->config[property].set)
		return DOCA_ERROR_BAD_STATE;
	return DOCA_SUCCESS;
}

#define PROPERTY(name, type)								\
EXPORT doca_error_t doca_rdma_set_##name(struct doca_rdma *rdma, type name)		\
{											\
	return set(rdma, XVJ_##name, (uint32_t)name);					\
}											\
EXPORT doca_error_t doca_rdma_get_##name(const struct doca_rdma *rdma, type *name)	\
{											\
	doca_error_t result;								\
	uint32_t value;									\
											\
	if (!rdma || !name)								\
		return DOCA_ERROR_INVALID_VALUE;					\
	result = get(rdma, XVJ_##name, &value);						\
	if (result == DOCA_SUCCESS)							\
		*name = (type)value;							\
	return result;									\
}

XVJ_PROPERTIES(PROPERTY)

EXPORT doca_error_t doca_rdma_set_transport_type(struct doca_rdma *rdma,
						 enum doca_rdma_transport_type transport_type)
{
	if (!rdma)
		return DOCA_ERROR_INVALID_VALUE;
	if (rdma->ctx.started)
		return DOCA_ERROR_BAD_STATE;
	return transport_type == DOCA_RDMA_TRANSPORT_RC ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

EXPORT doca_error_t doca_rdma_get_transport_type(const struct doca_rdma *rdma,
						 enum doca_rdma_transport_type *transport_type)
{
	if (!rdma || !transport_type)
		return DOCA_ERROR_INVALID_VALUE;
	*transport_type = DOCA_RDMA_TRANSPORT_RC;
	return DOCA_SUCCESS;
}

/* ---- Connection -------------------------------------------------------------------------- */

EXPORT doca_error_t doca_rdma_export(struct doca_rdma *rdma, const void **conn_details,
				     size_t *conn_details_size)
{
	if (!rdma || !conn_details || !conn_details_size)
		return DOCA_ERROR_INVALID_VALUE;
	if (!rdma->ctx.started)
		return DOCA_ERROR_BAD_STATE;
	return xvj_export(rdma->ctx.engine, conn_details, conn_details_size);
}

EXPORT doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *remote_conn_details,
				      size_t remote_conn_details_size)
{
	doca_error_t result;

	if (!rdma || !remote_conn_details)
		return DOCA_ERROR_INVALID_VALUE;
	if (xvj_state(&rdma->ctx) != DOCA_RDMA_STATE_INIT)
		return DOCA_ERROR_BAD_STATE;
	result = xvj_connect(rdma->ctx.engine, remote_conn_details, remote_conn_details_size);
	rdma->ctx.connected = result == DOCA_SUCCESS;
	return result;
}

enum doca_rdma_state xvj_state(const struct doca_ctx *ctx)
{
	if (!ctx->started)
		return DOCA_RDMA_STATE_RESET;
	if (xvj_has_failed(ctx->engine))
		return DOCA_RDMA_STATE_ERROR;
	return ctx->connected ? DOCA_RDMA_STATE_CONNECTED : DOCA_RDMA_STATE_INIT;
}

EXPORT doca_error_t doca_rdma_get_state(const struct doca_rdma *rdma, enum doca_rdma_state *state)
{
	if (!rdma || !state)
		return DOCA_ERROR_INVALID_VALUE;
	*state = xvj_state(&rdma->ctx);
	return DOCA_SUCCESS;
}

/* ---- Capabilities ------------------------------------------------------------------------ */

EXPORT doca_error_t doca_rdma_job_get_supported(const struct doca_devinfo *devinfo,
						enum doca_rdma_job_types job_type)
{
	if (!devinfo || job_type < DOCA_RDMA_JOB_RECV || job_type > DOCA_RDMA_JOB_ATOMIC_FETCH_ADD)
		return DOCA_ERROR_INVALID_VALUE;
	return xvj_is_supported(devinfo, job_type - DOCA_RDMA_JOB_RECV);
}

EXPORT doca_error_t doca_rdma_get_transport_type_supported(const struct doca_devinfo *devinfo,
							   enum doca_rdma_transport_type type)
{
	if (!devinfo)
		return DOCA_ERROR_INVALID_VALUE;
	return type == DOCA_RDMA_TRANSPORT_RC ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

#define CAP(name, CAPABILITY)								\
EXPORT doca_error_t doca_rdma_get_##name(const struct doca_devinfo *devinfo, uint32_t *name) \
{											\
	if (!devinfo || !name)								\
		return DOCA_ERROR_INVALID_VALUE;					\
	return xvj_get_cap(devinfo, XVJ_CAP_##CAPABILITY, name);			\
}

CAP(max_send_queue_size, SEND_QUEUE_SIZE)
CAP(max_recv_queue_size, RECV_QUEUE_SIZE)
CAP(max_recv_buf_chain_len, RECV_CHAIN_LEN)
CAP(max_message_size, MESSAGE_SIZE)
CAP(gid_table_size, GID_TABLE_SIZE)
