// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The state of a queue pair: modify and query.
 */
#include "verbs.h"

static const enum xv_qp_state to_state[] = {
	[DOCA_VERBS_QP_STATE_RST] = XV_QPS_RESET,
	[DOCA_VERBS_QP_STATE_INIT] = XV_QPS_INIT,
	[DOCA_VERBS_QP_STATE_RTR] = XV_QPS_RTR,
	[DOCA_VERBS_QP_STATE_RTS] = XV_QPS_RTS,
	[DOCA_VERBS_QP_STATE_ERR] = XV_QPS_ERR,
};

/* Sends are flushed in both error states. */
static const enum doca_verbs_qp_state from_state[] = {
	[XV_QPS_RESET] = DOCA_VERBS_QP_STATE_RST,
	[XV_QPS_INIT] = DOCA_VERBS_QP_STATE_INIT,
	[XV_QPS_RTR] = DOCA_VERBS_QP_STATE_RTR,
	[XV_QPS_RTS] = DOCA_VERBS_QP_STATE_RTS,
	[XV_QPS_SQD] = DOCA_VERBS_QP_STATE_RTS,
	[XV_QPS_SQE] = DOCA_VERBS_QP_STATE_ERR,
	[XV_QPS_ERR] = DOCA_VERBS_QP_STATE_ERR,
};

static const struct {
	int doca;
	unsigned int xv;
} bits[] = {
	{ DOCA_VERBS_QP_ATTR_NEXT_STATE, XV_QP_STATE },
	{ DOCA_VERBS_QP_ATTR_CURRENT_STATE, XV_QP_CUR_STATE },
	{ DOCA_VERBS_QP_ATTR_ALLOW_REMOTE_WRITE, XV_QP_ACCESS_FLAGS },
	{ DOCA_VERBS_QP_ATTR_ALLOW_REMOTE_READ, XV_QP_ACCESS_FLAGS },
	{ DOCA_VERBS_QP_ATTR_ATOMIC_MODE, XV_QP_ACCESS_FLAGS },
	{ DOCA_VERBS_QP_ATTR_PKEY_INDEX, XV_QP_PKEY_INDEX },
	{ DOCA_VERBS_QP_ATTR_PORT_NUM, XV_QP_PORT },
	{ DOCA_VERBS_QP_ATTR_PATH_MTU, XV_QP_PATH_MTU },
	{ DOCA_VERBS_QP_ATTR_RQ_PSN, XV_QP_RQ_PSN },
	{ DOCA_VERBS_QP_ATTR_SQ_PSN, XV_QP_SQ_PSN },
	{ DOCA_VERBS_QP_ATTR_DEST_QP_NUM, XV_QP_DEST_QPN },
	{ DOCA_VERBS_QP_ATTR_ACK_TIMEOUT, XV_QP_TIMEOUT },
	{ DOCA_VERBS_QP_ATTR_RETRY_CNT, XV_QP_RETRY_CNT },
	{ DOCA_VERBS_QP_ATTR_RNR_RETRY, XV_QP_RNR_RETRY },
	{ DOCA_VERBS_QP_ATTR_MIN_RNR_TIMER, XV_QP_MIN_RNR_TIMER },
	{ DOCA_VERBS_QP_ATTR_AH_ATTR, XV_QP_AV },
	{ DOCA_VERBS_QP_ATTR_MAX_QP_RD_ATOMIC, XV_QP_MAX_QP_RD_ATOMIC },
	{ DOCA_VERBS_QP_ATTR_MAX_DEST_RD_ATOMIC, XV_QP_MAX_DEST_RD_ATOMIC },
};

enum { BITS = sizeof(bits) / sizeof(bits[0]) };

/* The bits for libxverbs, or 0 if there is an unknown bit */
static unsigned int to_mask(int mask)
{
	unsigned int xv = 0;
	int i;

	for (i = 0; i < BITS; i++) {
		if (mask & bits[i].doca)
			xv |= bits[i].xv;
		mask &= ~bits[i].doca;
	}
	return mask ? 0 : xv;
}

/* ---- Modify ----------------------------------------------------------------------------- */

/* What libxverbs requires for a transition, but DOCA Verbs does not */
static unsigned int defaults_of(const struct doca_verbs_qp *qp,
				const struct doca_verbs_qp_attr *attr, int mask)
{
	bool reliable = qp->xv->qp_type == XV_QPT_RC;

	if (!(mask & DOCA_VERBS_QP_ATTR_NEXT_STATE))
		return 0;
	if (attr->next_state == DOCA_VERBS_QP_STATE_INIT && qp->xv->state == XV_QPS_RESET)
		return XV_QP_PKEY_INDEX | XV_QP_ACCESS_FLAGS;
	if (attr->next_state == DOCA_VERBS_QP_STATE_RTR && reliable)
		return XV_QP_MIN_RNR_TIMER | XV_QP_MAX_DEST_RD_ATOMIC;
	if (attr->next_state == DOCA_VERBS_QP_STATE_RTS && qp->xv->state == XV_QPS_RTR && reliable)
		return XV_QP_MAX_QP_RD_ATOMIC;
	return 0;
}

static uint32_t access_of(const struct doca_verbs_qp *qp, const struct doca_verbs_qp_attr *attr,
			  int mask)
{
	const struct {
		int bit;
		bool set;
		uint32_t access;
	} rights[] = {
		{ DOCA_VERBS_QP_ATTR_ALLOW_REMOTE_WRITE, attr->allow_remote_write,
		  XV_ACCESS_REMOTE_WRITE },
		{ DOCA_VERBS_QP_ATTR_ALLOW_REMOTE_READ, attr->allow_remote_read,
		  XV_ACCESS_REMOTE_READ },
		{ DOCA_VERBS_QP_ATTR_ATOMIC_MODE, attr->atomic_mode, XV_ACCESS_REMOTE_ATOMIC },
	};
	uint32_t access = qp->access;
	int i;

	for (i = 0; i < 3; i++) {
		if (!(mask & rights[i].bit))
			continue;
		access &= ~rights[i].access;
		if (rights[i].set)
			access |= rights[i].access;
	}
	return access;
}

static struct xv_ah_attr to_ah(const struct doca_verbs_ah_attr *ah, uint8_t port)
{
	struct xv_ah_attr xv = {
		.grh = {
			.sgid_index = ah->sgid_index,
			.hop_limit = ah->hop_limit,
			.traffic_class = ah->traffic_class,
		},
		.dlid = (uint16_t)ah->dlid,
		.sl = ah->sl,
		.static_rate = ah->static_rate,
		.is_global = ah->addr_type != DOCA_VERBS_ADDR_TYPE_IB_NO_GRH,
		.port_num = port,
	};

	memcpy(xv.grh.dgid.raw, ah->gid.raw, sizeof(xv.grh.dgid.raw));
	return xv;
}

static struct xv_qp_attr to_xv(const struct doca_verbs_qp *qp,
			       const struct doca_verbs_qp_attr *attr, int mask)
{
	bool timer = mask & DOCA_VERBS_QP_ATTR_MIN_RNR_TIMER;
	bool dest_reads = mask & DOCA_VERBS_QP_ATTR_MAX_DEST_RD_ATOMIC;
	bool reads = mask & DOCA_VERBS_QP_ATTR_MAX_QP_RD_ATOMIC;

	return (struct xv_qp_attr) {
		.qp_state = to_state[attr->next_state],
		.cur_qp_state = to_state[attr->current_state],
		.path_mtu = (enum xv_mtu)(attr->path_mtu + XV_MTU_256),
		.rq_psn = attr->rq_psn,
		.sq_psn = attr->sq_psn,
		.dest_qp_num = attr->dest_qp_num,
		.qp_access_flags = access_of(qp, attr, mask),
		.ah_attr = to_ah(&attr->ah_attr, qp->port),
		.pkey_index = mask & DOCA_VERBS_QP_ATTR_PKEY_INDEX ? attr->pkey_index : 0,
		.max_rd_atomic = (uint8_t)(reads ? attr->max_rd_atomic :
						   qp->ctx->attr.max_qp_init_rd_atom),
		.max_dest_rd_atomic = (uint8_t)(dest_reads ? attr->max_dest_rd_atomic :
							     qp->ctx->attr.max_qp_rd_atom),
		.min_rnr_timer = (uint8_t)(timer ? attr->min_rnr_timer : 0),
		.port_num = (uint8_t)attr->port_num,
		.timeout = (uint8_t)attr->ack_timeout,
		.retry_cnt = (uint8_t)attr->retry_cnt,
		.rnr_retry = (uint8_t)attr->rnr_retry,
	};
}

EXPORT doca_error_t doca_verbs_qp_modify(struct doca_verbs_qp *verbs_qp,
					 struct doca_verbs_qp_attr *verbs_qp_attr, int attr_mask)
{
	unsigned int mask = to_mask(attr_mask);
	struct xv_qp_attr attr;
	int err;

	if (!verbs_qp || !verbs_qp_attr || !mask ||
	    (mask & XV_QP_AV && !verbs_qp_attr->has_ah_attr))
		return DOCA_ERROR_INVALID_VALUE;
	if (attr_mask & DOCA_VERBS_QP_ATTR_ATOMIC_MODE &&
	    verbs_qp_attr->atomic_mode > DOCA_VERBS_QP_ATOMIC_MODE_UP_TO_8BYTES)
		return DOCA_ERROR_NOT_SUPPORTED;
	mask |= defaults_of(verbs_qp, verbs_qp_attr, attr_mask);
	attr = to_xv(verbs_qp, verbs_qp_attr, attr_mask);
	err = xv_modify_qp(verbs_qp->xv, &attr, mask);
	if (err)
		return xvd_error(err);
	if (mask & XV_QP_ACCESS_FLAGS)
		verbs_qp->access = attr.qp_access_flags;
	if (mask & XV_QP_PORT)
		verbs_qp->port = attr.port_num;
	return DOCA_SUCCESS;
}

/* ---- Query ------------------------------------------------------------------------------ */

static enum doca_verbs_addr_type type_of(const struct doca_verbs_qp *qp,
					 const struct xv_ah_attr *ah)
{
	const union xv_gid mapped = xv_gid_from_ipv4(0);
	struct xv_port_attr port;

	if (!ah->is_global)
		return DOCA_VERBS_ADDR_TYPE_IB_NO_GRH;
	if (!xv_query_port(qp->ctx->xv, ah->port_num, &port) &&
	    port.link_layer == XV_LINK_LAYER_INFINIBAND)
		return DOCA_VERBS_ADDR_TYPE_IB_GRH;
	return memcmp(ah->grh.dgid.raw, mapped.raw, 12) ? DOCA_VERBS_ADDR_TYPE_IPv6 :
							  DOCA_VERBS_ADDR_TYPE_IPv4;
}

static struct doca_verbs_ah_attr from_ah(const struct doca_verbs_qp *qp,
					 const struct xv_ah_attr *xv)
{
	struct doca_verbs_ah_attr ah = {
		.addr_type = type_of(qp, xv),
		.dlid = xv->dlid,
		.sl = xv->sl,
		.sgid_index = xv->grh.sgid_index,
		.static_rate = xv->static_rate,
		.hop_limit = xv->grh.hop_limit,
		.traffic_class = xv->grh.traffic_class,
	};

	memcpy(ah.gid.raw, xv->grh.dgid.raw, sizeof(ah.gid.raw));
	return ah;
}

static void from_xv(const struct doca_verbs_qp *qp, const struct xv_qp_attr *xv,
		    struct doca_verbs_qp_attr *attr)
{
	*attr = (struct doca_verbs_qp_attr) {
		.next_state = from_state[xv->qp_state],
		.current_state = from_state[xv->qp_state],
		.path_mtu = (enum doca_mtu_size)(xv->path_mtu ? xv->path_mtu - XV_MTU_256 : 0),
		.rq_psn = xv->rq_psn,
		.sq_psn = xv->sq_psn,
		.dest_qp_num = xv->dest_qp_num,
		.allow_remote_write = !!(xv->qp_access_flags & XV_ACCESS_REMOTE_WRITE),
		.allow_remote_read = !!(xv->qp_access_flags & XV_ACCESS_REMOTE_READ),
		.atomic_mode = xv->qp_access_flags & XV_ACCESS_REMOTE_ATOMIC ?
			       DOCA_VERBS_QP_ATOMIC_MODE_IB_SPEC : DOCA_VERBS_QP_ATOMIC_MODE_NONE,
		.has_ah_attr = xv->qp_state == XV_QPS_RTR || xv->qp_state == XV_QPS_RTS,
		.pkey_index = xv->pkey_index,
		.port_num = xv->port_num,
		.ack_timeout = xv->timeout,
		.retry_cnt = xv->retry_cnt,
		.rnr_retry = xv->rnr_retry,
		.min_rnr_timer = xv->min_rnr_timer,
		.max_rd_atomic = xv->max_rd_atomic,
		.max_dest_rd_atomic = xv->max_dest_rd_atomic,
	};
	if (attr->has_ah_attr)
		attr->ah_attr = from_ah(qp, &xv->ah_attr);
}

EXPORT doca_error_t doca_verbs_qp_query(struct doca_verbs_qp *verbs_qp,
					struct doca_verbs_qp_attr *verbs_qp_attr,
					struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
					int *attr_mask)
{
	struct xv_qp_init_attr init;
	struct xv_qp_attr attr;
	int err, i;

	if (!verbs_qp || !verbs_qp_attr || !verbs_qp_init_attr)
		return DOCA_ERROR_INVALID_VALUE;
	err = xv_query_qp(verbs_qp->xv, &attr, ~0u, &init);
	if (err)
		return xvd_error(err);
	from_xv(verbs_qp, &attr, verbs_qp_attr);
	*verbs_qp_init_attr = verbs_qp->init;
	verbs_qp_init_attr->sq_wr = init.cap.max_send_wr;
	verbs_qp_init_attr->rq_wr = init.cap.max_recv_wr;
	verbs_qp_init_attr->send_max_sges = init.cap.max_send_sge;
	verbs_qp_init_attr->receive_max_sges = init.cap.max_recv_sge;
	verbs_qp_init_attr->max_inline_data = init.cap.max_inline_data;
	verbs_qp_init_attr->user_index = verbs_qp->xv->rsc.user_index;
	for (i = 0; attr_mask && i < BITS; i++)
		*attr_mask = (i ? *attr_mask : 0) | bits[i].doca;
	return DOCA_SUCCESS;
}
