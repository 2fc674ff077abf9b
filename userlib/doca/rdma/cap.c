// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Capabilities of devices.
 */
#include <errno.h>
#include <string.h>
#include "rdma.h"

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

doca_error_t xvd_rdma_query_limits(struct xv_context *ctx, struct xvd_rdma_limits *limits)
{
	struct xv_device_attr device;
	struct xv_port_attr port;
	int err;

	err = xv_query_device(ctx, &device);
	if (!err)
		err = xv_query_port(ctx, XVD_RDMA_PORT, &port);
	if (err)
		return xvd_error(err);
	*limits = (struct xvd_rdma_limits) {
		.send_queue_size = device.max_qp_wr,
		.recv_queue_size = device.max_srq_wr,
		.send_list_len = smaller(device.max_sge, XVD_RDMA_MAX_SGE),
		.recv_list_len = smaller(device.max_srq_sge, XVD_RDMA_MAX_SGE),
		.message_size = smaller(port.max_msg_sz, XVD_RDMA_MAX_MESSAGE),
		.gid_table_size = port.gid_tbl_len,
		.rd_atomic = smaller(device.max_qp_rd_atom, UINT8_MAX),
		.init_rd_atomic = smaller(device.max_qp_init_rd_atom, UINT8_MAX),
		.max_mtu = port.max_mtu,
		.active_mtu = port.active_mtu,
		.atomics = device.atomic_cap != XV_ATOMIC_NONE,
		.dc = device.exp_device_cap_flags & XV_EXP_DEVICE_DC_TRANSPORT,
	};
	return DOCA_SUCCESS;
}

/* The device need not be open. */
static doca_error_t limits_of(const struct doca_devinfo *devinfo, struct xvd_rdma_limits *limits)
{
	struct xv_context *ctx;
	doca_error_t result;

	if (!devinfo)
		return DOCA_ERROR_INVALID_VALUE;
	ctx = xv_open_device(&devinfo->xv);
	if (!ctx)
		return xvd_error(errno);
	result = xvd_rdma_query_limits(ctx, limits);
	xv_close(ctx);
	return result;
}

/* ---- Tasks and transports ---------------------------------------------------------------- */

static doca_error_t supported(const struct doca_devinfo *devinfo, bool atomics, bool dc)
{
	struct xvd_rdma_limits limits;
	doca_error_t result = limits_of(devinfo, &limits);

	if (result != DOCA_SUCCESS)
		return result;
	if ((atomics && !limits.atomics) || (dc && !limits.dc))
		return DOCA_ERROR_NOT_SUPPORTED;
	return DOCA_SUCCESS;
}

#define TASK(name, atomics)									\
EXPORT doca_error_t doca_rdma_cap_task_##name##_is_supported(					\
	const struct doca_devinfo *devinfo)							\
{												\
	return supported(devinfo, atomics, false);						\
}

TASK(receive, false)
TASK(send, false)
TASK(send_imm, false)
TASK(read, false)
TASK(write, false)
TASK(write_imm, false)
TASK(atomic_cmp_swp, true)
TASK(atomic_fetch_add, true)
TASK(remote_net_sync_event_get, false)
TASK(remote_net_sync_event_notify_set, false)
TASK(remote_net_sync_event_notify_add, true)

EXPORT doca_error_t doca_rdma_cap_transport_type_is_supported(const struct doca_devinfo *devinfo,
							      enum doca_rdma_transport_type type)
{
	if (type != DOCA_RDMA_TRANSPORT_TYPE_RC && type != DOCA_RDMA_TRANSPORT_TYPE_DC)
		return DOCA_ERROR_INVALID_VALUE;
	return supported(devinfo, false, type == DOCA_RDMA_TRANSPORT_TYPE_DC);
}

/* ---- Sizes ------------------------------------------------------------------------------- */

#define LIMIT(function, member)									\
doca_error_t function(const struct doca_devinfo *devinfo, uint32_t *value)			\
{												\
	struct xvd_rdma_limits limits;								\
	doca_error_t result;									\
												\
	if (!value)										\
		return DOCA_ERROR_INVALID_VALUE;						\
	result = limits_of(devinfo, &limits);							\
	if (result == DOCA_SUCCESS)								\
		*value = limits.member;								\
	return result;										\
}

EXPORT LIMIT(doca_rdma_cap_get_max_send_queue_size, send_queue_size)
EXPORT LIMIT(doca_rdma_cap_get_max_recv_queue_size, recv_queue_size)
EXPORT LIMIT(doca_rdma_cap_get_max_send_buf_list_len, send_list_len)
EXPORT LIMIT(doca_rdma_cap_get_max_message_size, message_size)
EXPORT LIMIT(doca_rdma_cap_get_gid_table_size, gid_table_size)
static LIMIT(recv_list_len, recv_list_len)

EXPORT doca_error_t doca_rdma_cap_task_receive_get_max_dst_buf_list_len(
	const struct doca_devinfo *devinfo, enum doca_rdma_transport_type transport_type,
	uint32_t *max_buf_list_len)
{
	doca_error_t result;

	result = doca_rdma_cap_transport_type_is_supported(devinfo, transport_type);
	return result == DOCA_SUCCESS ? recv_list_len(devinfo, max_buf_list_len) : result;
}

/* An empty entry is all zeroes. */
static doca_error_t read_gids(struct xv_context *ctx, uint32_t start, uint32_t num,
			      struct doca_rdma_gid *gids)
{
	union xv_gid gid;
	uint32_t i;
	int err;

	for (i = 0; i < num; i++) {
		err = xv_query_gid(ctx, XVD_RDMA_PORT, start + i, &gid);
		if (err && err != -ENOENT)
			return xvd_error(err);
		if (err)
			gid = (union xv_gid) { .raw = { 0 } };
		memcpy(gids[i].raw, gid.raw, sizeof(gids[i].raw));
	}
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_rdma_cap_get_gid(const struct doca_devinfo *devinfo, uint32_t start_index,
					  uint32_t num_entries, struct doca_rdma_gid *gid_array)
{
	struct xvd_rdma_limits limits;
	struct xv_context *ctx;
	doca_error_t result;

	if (!devinfo || !gid_array || !num_entries)
		return DOCA_ERROR_INVALID_VALUE;
	ctx = xv_open_device(&devinfo->xv);
	if (!ctx)
		return xvd_error(errno);
	result = xvd_rdma_query_limits(ctx, &limits);
	if (result == DOCA_SUCCESS && (start_index >= limits.gid_table_size ||
				       num_entries > limits.gid_table_size - start_index))
		result = DOCA_ERROR_INVALID_VALUE;
	if (result == DOCA_SUCCESS)
		result = read_gids(ctx, start_index, num_entries, gid_array);
	xv_close(ctx);
	return result;
}
