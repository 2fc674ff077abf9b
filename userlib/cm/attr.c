// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Attributes of librdmacm, in structures of libibverbs, for libxverbs.
 */
#include "cm.h"

/* Both libraries have the same values. */
#define EQUAL(name)	_Static_assert((int)IBV_##name == (int)XV_##name, #name)
EQUAL(QPT_RC);
EQUAL(QPT_UD);
EQUAL(QPS_INIT);
EQUAL(QPS_RTR);
EQUAL(QPS_RTS);
EQUAL(QPS_ERR);
EQUAL(MTU_256);
EQUAL(MTU_4096);
EQUAL(MIG_MIGRATED);
EQUAL(MIG_REARM);
EQUAL(MIG_ARMED);
EQUAL(ACCESS_REMOTE_WRITE);
EQUAL(ACCESS_REMOTE_READ);
EQUAL(ACCESS_REMOTE_ATOMIC);
EQUAL(QP_STATE);
EQUAL(QP_ACCESS_FLAGS);
EQUAL(QP_PKEY_INDEX);
EQUAL(QP_PORT);
EQUAL(QP_QKEY);
EQUAL(QP_AV);
EQUAL(QP_PATH_MTU);
EQUAL(QP_TIMEOUT);
EQUAL(QP_RETRY_CNT);
EQUAL(QP_RNR_RETRY);
EQUAL(QP_RQ_PSN);
EQUAL(QP_MAX_QP_RD_ATOMIC);
EQUAL(QP_ALT_PATH);
EQUAL(QP_MIN_RNR_TIMER);
EQUAL(QP_SQ_PSN);
EQUAL(QP_MAX_DEST_RD_ATOMIC);
EQUAL(QP_PATH_MIG_STATE);
EQUAL(QP_DEST_QPN);

/* Programs give this event of libxverbs to rdma_notify(). */
EQUAL(EVENT_COMM_EST);

/* Older kernels set more bits, for what is now in the address. */
#define KNOWN_BITS	(2u * XV_QP_DEST_QPN - 1)

void xvm_ah_attr(struct xv_ah_attr *to, const struct ibv_ah_attr *from)
{
	*to = (struct xv_ah_attr) {
		.grh = {
			.flow_label = from->grh.flow_label,
			.sgid_index = from->grh.sgid_index,
			.hop_limit = from->grh.hop_limit,
			.traffic_class = from->grh.traffic_class,
		},
		.dlid = from->dlid,
		.sl = from->sl,
		.src_path_bits = from->src_path_bits,
		.static_rate = from->static_rate,
		.is_global = from->is_global,
		.port_num = from->port_num,
	};
	memcpy(to->grh.dgid.raw, from->grh.dgid.raw, sizeof(to->grh.dgid.raw));
}

int xvm_qp_attr(struct rdma_cm_id *id, enum xv_qp_state state, struct xv_qp_attr *attr,
		unsigned int *mask)
{
	struct ibv_qp_attr a = { .qp_state = (enum ibv_qp_state)state };
	int bits = 0;

	if (rdma_init_qp_attr(id, &a, &bits))
		return xvm_rdma("rdma_init_qp_attr");
	*mask = (unsigned int)bits & KNOWN_BITS;
	*attr = (struct xv_qp_attr) {
		.qp_state = state,
		.path_mtu = (enum xv_mtu)a.path_mtu,
		.path_mig_state = (enum xv_mig_state)a.path_mig_state,
		.qkey = a.qkey,
		.rq_psn = a.rq_psn,
		.sq_psn = a.sq_psn,
		.dest_qp_num = a.dest_qp_num,
		.qp_access_flags = a.qp_access_flags,
		.pkey_index = a.pkey_index,
		.alt_pkey_index = a.alt_pkey_index,
		.max_rd_atomic = a.max_rd_atomic,
		.max_dest_rd_atomic = a.max_dest_rd_atomic,
		.min_rnr_timer = a.min_rnr_timer,
		.port_num = a.port_num,
		.timeout = a.timeout,
		.retry_cnt = a.retry_cnt,
		.rnr_retry = a.rnr_retry,
		.alt_port_num = a.alt_port_num,
		.alt_timeout = a.alt_timeout,
	};
	xvm_ah_attr(&attr->ah_attr, &a.ah_attr);
	xvm_ah_attr(&attr->alt_ah_attr, &a.alt_ah_attr);
	return 0;
}

EXPORT int xv_cm_ah_attr_sz(const struct rdma_cm_event *event, struct xv_ah_attr *attr, size_t size)
{
	struct xv_ah_attr a;
	bool datagrams = event->event == RDMA_CM_EVENT_ESTABLISHED &&
			 event->id->qp_type == IBV_QPT_UD;

	if (!datagrams && event->event != RDMA_CM_EVENT_MULTICAST_JOIN)
		return xvm_error(EINVAL, "an event %s has no address",
				 rdma_event_str(event->event));
	xvm_ah_attr(&a, &event->param.ud.ah_attr);
	/* Members that only the program has are 0, those that only the library has are left out. */
	memset(attr, 0, size);
	memcpy(attr, &a, size < sizeof(a) ? size : sizeof(a));
	return 0;
}
