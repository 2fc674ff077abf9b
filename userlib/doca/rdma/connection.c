// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections: their queue pairs, and connecting by descriptions that the program carries.
 */
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include "rdma.h"

#define XVD_BLOB_RDMA	0x52445658	/* "XVDR" */

#define HOP_LIMIT	64
#define ACK_TIMEOUT	14		/* 4.096 us * 2^14 = 67 ms */
#define MIN_RNR_TIMER	12		/* 0.64 ms */

unsigned int xvd_rdma_access(const struct doca_rdma *rdma)
{
	uint32_t permissions = rdma->config.permissions;
	unsigned int access = 0;

	if (permissions & DOCA_ACCESS_FLAG_RDMA_READ)
		access |= XV_ACCESS_REMOTE_READ;
	if (permissions & DOCA_ACCESS_FLAG_RDMA_WRITE)
		access |= XV_ACCESS_REMOTE_WRITE;
	if (permissions & DOCA_ACCESS_FLAG_RDMA_ATOMIC)
		access |= XV_ACCESS_REMOTE_ATOMIC;
	return access;
}

static bool is_dc(const struct doca_rdma *rdma)
{
	return rdma->config.transport == DOCA_RDMA_TRANSPORT_TYPE_DC;
}

/* ---- Objects ----------------------------------------------------------------------------- */

doca_error_t xvd_rdma_new_conn(struct doca_rdma *rdma, struct doca_rdma_connection **conn)
{
	struct doca_rdma_connection *c;

	for (c = rdma->conns; c < rdma->conns + rdma->config.max_conns; c++) {
		if (c->state != XVD_RDMA_FREE)
			continue;
		memset(c, 0, sizeof(*c));
		c->rdma = rdma;
		*conn = c;
		return DOCA_SUCCESS;
	}
	return DOCA_ERROR_FULL;
}

int xvd_rdma_create_qp(struct doca_rdma_connection *conn)
{
	struct doca_rdma *rdma = conn->rdma;
	struct xv_qp_init_attr attr = {
		.qp_context = conn,
		.send_cq = rdma->send_cq,
		.recv_cq = rdma->recv_cq,
		.srq = is_dc(rdma) ? NULL : rdma->srq,
		.qp_type = is_dc(rdma) ? XV_QPT_DCI : XV_QPT_RC,
		.flags = XV_QP_SINGLE_THREADED,
		.cap = {
			.max_send_wr = rdma->config.send_queue_size,
			.max_send_sge = rdma->config.send_list_len,
		},
	};

	conn->qp = xv_create_qp(rdma->ctx.dev->pd, &attr);
	if (!conn->qp)
		return -errno;
	/* Otherwise completions of all connections could overrun the queue: see ring_entries(). */
	return (conn->qp->sq.mask + 1) * (uint64_t)rdma->config.max_conns <= rdma->send_cq->cqe ?
	       0 : -E2BIG;
}

doca_error_t xvd_rdma_create_target(struct doca_rdma *rdma)
{
	const struct xv_dct_init_attr attr = {
		.pd = rdma->ctx.dev->pd,
		.cq = rdma->recv_cq,
		.srq = rdma->srq,
		.dc_key = rdma->dc_key,
		.access_flags = xvd_rdma_access(rdma),
		.mtu = rdma->port.mtu,
		.port = XVD_RDMA_PORT,
		.gid_index = rdma->port.gid_index,
		.hop_limit = HOP_LIMIT,
		.tclass = rdma->config.traffic_class,
		.min_rnr_timer = MIN_RNR_TIMER,
		.sl = (uint8_t)rdma->config.sl,
	};

	rdma->dct = xv_create_dct(rdma->ctx.dev->ctx, &attr);
	return rdma->dct ? DOCA_SUCCESS : xvd_error(errno);
}

void xvd_rdma_fail_conn(struct doca_rdma_connection *conn)
{
	const struct xv_qp_attr attr = { .qp_state = XV_QPS_ERR };

	if (conn->state == XVD_RDMA_CONNECTED)
		conn->state = XVD_RDMA_FAILED;
	if (conn->qp && conn->qp->state != XV_QPS_ERR)
		xv_modify_qp(conn->qp, &attr, XV_QP_STATE);
}

void xvd_rdma_free_conn(struct doca_rdma_connection *conn)
{
	if (conn->qp)
		xv_destroy_qp(conn->qp);
	if (conn->target)
		xv_destroy_ah(conn->target->ah);
	xvd_rdma_free_id(conn);
	conn->qp = NULL;
	conn->target = NULL;
	conn->state = XVD_RDMA_FREE;
}

/* ---- States of the queue pair ------------------------------------------------------------ */

static int to_init(struct doca_rdma_connection *conn)
{
	const struct xv_qp_attr attr = {
		.qp_state = XV_QPS_INIT,
		.port_num = XVD_RDMA_PORT,
		.qp_access_flags = xvd_rdma_access(conn->rdma),
	};

	return xv_modify_qp(conn->qp, &attr, XV_QP_STATE | XV_QP_PKEY_INDEX | XV_QP_PORT |
			    (is_dc(conn->rdma) ? 0 : XV_QP_ACCESS_FLAGS));
}

static struct xv_ah_attr path_to(const struct doca_rdma *rdma, const struct xvd_rdma_blob *peer)
{
	const struct xvd_rdma_config *config = &rdma->config;
	struct xv_ah_attr path = {
		.dlid = peer->lid,
		.sl = (uint8_t)config->sl,
		.port_num = XVD_RDMA_PORT,
		.is_global = config->grh || rdma->port.link_layer == XV_LINK_LAYER_ETHERNET,
		.grh = {
			.sgid_index = rdma->port.gid_index,
			.hop_limit = HOP_LIMIT,
			.traffic_class = config->traffic_class,
		},
	};

	memcpy(path.grh.dgid.raw, peer->gid, sizeof(peer->gid));
	return path;
}

static uint8_t smaller(uint32_t a, uint32_t b)
{
	return (uint8_t)(a < b ? a : b);
}

static struct xv_qp_attr connected_attr(const struct doca_rdma_connection *conn,
					const struct xvd_rdma_blob *peer)
{
	const struct doca_rdma *rdma = conn->rdma;

	return (struct xv_qp_attr) {
		.path_mtu = smaller(rdma->port.mtu, peer->mtu),
		.dest_qp_num = peer->qpn,
		.rq_psn = peer->psn,
		.sq_psn = conn->psn,
		.ah_attr = path_to(rdma, peer),
		.max_dest_rd_atomic = (uint8_t)rdma->limits.rd_atomic,
		.max_rd_atomic = smaller(rdma->limits.init_rd_atomic, peer->rd_atomic),
		.min_rnr_timer = MIN_RNR_TIMER,
		.timeout = ACK_TIMEOUT,
		.retry_cnt = XVD_RDMA_RETRY_COUNT,
		.rnr_retry = rdma->config.rnr_retry,
	};
}

/* From INIT to RTS */
static int to_rts(struct doca_rdma_connection *conn, const struct xvd_rdma_blob *peer)
{
	struct xv_qp_attr attr = connected_attr(conn, peer);
	unsigned int rtr = XV_QP_STATE | XV_QP_PATH_MTU;
	unsigned int rts = XV_QP_STATE | XV_QP_TIMEOUT | XV_QP_RETRY_CNT | XV_QP_RNR_RETRY |
			   XV_QP_MAX_QP_RD_ATOMIC;
	int err;

	if (!is_dc(conn->rdma)) {
		rtr |= XV_QP_AV | XV_QP_DEST_QPN | XV_QP_RQ_PSN | XV_QP_MAX_DEST_RD_ATOMIC |
		       XV_QP_MIN_RNR_TIMER;
		rts |= XV_QP_SQ_PSN;
	}
	attr.qp_state = XV_QPS_RTR;
	err = xv_modify_qp(conn->qp, &attr, rtr);
	if (err)
		return err;
	attr.qp_state = XV_QPS_RTS;
	return xv_modify_qp(conn->qp, &attr, rts);
}

static doca_error_t set_target(struct doca_rdma_connection *conn, const struct xvd_rdma_blob *peer)
{
	struct xv_ah_attr path = path_to(conn->rdma, peer);

	conn->dc.dct_access_key = peer->dc_key;
	conn->dc.dct_number = peer->qpn;
	conn->dc.ah = xv_create_ah(conn->rdma->ctx.dev->pd, &path);
	if (!conn->dc.ah)
		return xvd_error(errno);
	conn->target = &conn->dc;
	return DOCA_SUCCESS;
}

/* ---- Descriptions ------------------------------------------------------------------------ */

static void describe(struct doca_rdma_connection *conn)
{
	const struct doca_rdma *rdma = conn->rdma;
	struct xvd_rdma_blob *blob = &conn->blob;

	*blob = (struct xvd_rdma_blob) {
		.qpn = is_dc(rdma) ? rdma->dct->dct_num : conn->qp->qp_num,
		.psn = conn->psn,
		.dc_key = is_dc(rdma) ? rdma->dc_key : 0,
		.lid = rdma->port.lid,
		.transport = (uint8_t)rdma->config.transport,
		.link_layer = (uint8_t)rdma->port.link_layer,
		.mtu = (uint8_t)rdma->port.mtu,
		.rd_atomic = (uint8_t)rdma->limits.rd_atomic,
	};
	memcpy(blob->gid, rdma->port.gid.raw, sizeof(blob->gid));
	xvd_blob_seal(&blob->header, XVD_BLOB_RDMA, sizeof(*blob));
}

/* The checksum only finds accidents: the peer may write what it likes. */
static doca_error_t check_peer(const struct doca_rdma *rdma, const struct xvd_rdma_blob *peer)
{
	if (peer->qpn >> 24 || peer->psn >> 24 || peer->reserved ||
	    peer->transport != rdma->config.transport ||
	    peer->link_layer != rdma->port.link_layer ||
	    peer->mtu < XV_MTU_256 || peer->mtu > XV_MTU_4096)
		return DOCA_ERROR_INVALID_VALUE;
	return DOCA_SUCCESS;
}

static doca_error_t create_exported(struct doca_rdma_connection *conn)
{
	int err;

	if (getrandom(&conn->psn, sizeof(conn->psn), 0) != sizeof(conn->psn))
		return DOCA_ERROR_OPERATING_SYSTEM;
	conn->psn &= 0xffffff;
	err = xvd_rdma_create_qp(conn);
	if (!err)
		err = to_init(conn);
	if (err)
		return xvd_error(err);
	describe(conn);
	conn->state = XVD_RDMA_EXPORTED;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_rdma_export(struct doca_rdma *rdma, const void **local_rdma_conn_details,
				     size_t *local_rdma_conn_details_size,
				     struct doca_rdma_connection **rdma_connection)
{
	struct doca_rdma_connection *conn;
	doca_error_t result;

	if (!rdma || !local_rdma_conn_details || !local_rdma_conn_details_size || !rdma_connection)
		return DOCA_ERROR_INVALID_VALUE;
	if (rdma->ctx.state != DOCA_CTX_STATE_RUNNING)
		return DOCA_ERROR_BAD_STATE;
	result = xvd_rdma_new_conn(rdma, &conn);
	if (result != DOCA_SUCCESS)
		return result;
	result = create_exported(conn);
	if (result != DOCA_SUCCESS) {
		xvd_rdma_free_conn(conn);
		return result;
	}
	*local_rdma_conn_details = &conn->blob;
	*local_rdma_conn_details_size = sizeof(conn->blob);
	*rdma_connection = conn;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *remote_rdma_conn_details,
				      size_t remote_rdma_conn_details_size,
				      struct doca_rdma_connection *rdma_connection)
{
	struct doca_rdma_connection *conn = rdma_connection;
	struct xvd_rdma_blob peer;
	doca_error_t result;
	int err;

	if (!rdma || !remote_rdma_conn_details || !conn || conn->rdma != rdma)
		return DOCA_ERROR_INVALID_VALUE;
	if (rdma->ctx.state != DOCA_CTX_STATE_RUNNING || conn->state != XVD_RDMA_EXPORTED)
		return DOCA_ERROR_BAD_STATE;
	result = xvd_blob_open(&peer.header, XVD_BLOB_RDMA, sizeof(peer), remote_rdma_conn_details,
			       remote_rdma_conn_details_size);
	if (result == DOCA_SUCCESS)
		result = check_peer(rdma, &peer);
	if (result == DOCA_SUCCESS && is_dc(rdma))
		result = set_target(conn, &peer);
	if (result != DOCA_SUCCESS)
		return result;
	err = to_rts(conn, &peer);
	if (err) {
		xvd_rdma_fail_conn(conn);
		conn->state = XVD_RDMA_FAILED;
		return xvd_error(err);
	}
	conn->state = XVD_RDMA_CONNECTED;
	return DOCA_SUCCESS;
}

/* ---- Properties -------------------------------------------------------------------------- */

EXPORT doca_error_t doca_rdma_connection_get_id(const struct doca_rdma_connection *rdma_connection,
						uint32_t *connection_id)
{
	if (!rdma_connection || !connection_id)
		return DOCA_ERROR_INVALID_VALUE;
	*connection_id = (uint32_t)(rdma_connection - rdma_connection->rdma->conns);
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_rdma_connection_set_user_data(
	struct doca_rdma_connection *rdma_connection, union doca_data connection_user_data)
{
	if (!rdma_connection)
		return DOCA_ERROR_INVALID_VALUE;
	rdma_connection->user_data = connection_user_data;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_rdma_connection_get_user_data(
	const struct doca_rdma_connection *rdma_connection,
	union doca_data *connection_user_data)
{
	if (!rdma_connection || !connection_user_data)
		return DOCA_ERROR_INVALID_VALUE;
	*connection_user_data = rdma_connection->user_data;
	return DOCA_SUCCESS;
}
