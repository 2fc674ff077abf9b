// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections: the states of the queue pair, and the messages of rdma_cm.
 */
#include "cm.h"

#define ALL_ACCESS	(~0u)

_Static_assert(RDMA_MAX_RESP_RES == RDMA_MAX_INIT_DEPTH, "depth()");

static int modify(struct xv_qp *qp, const struct xv_qp_attr *attr, unsigned int mask)
{
	int err = xv_modify_qp(qp, attr, mask);

	return err ? xvm_native(err) : 0;
}

static int to_error(struct xv_qp *qp)
{
	const struct xv_qp_attr a = { .qp_state = XV_QPS_ERR };

	return modify(qp, &a, XV_QP_STATE);
}

/* After an error: the text of the error stays. */
static int give_up(struct xv_qp *qp, int err)
{
	const struct xv_qp_attr a = { .qp_state = XV_QPS_ERR };

	xv_modify_qp(qp, &a, XV_QP_STATE);
	return err;
}

/* access: what the peer may do at most */
static int to_init(struct rdma_cm_id *id, struct xv_qp *qp, unsigned int access)
{
	struct xv_qp_attr a;
	unsigned int mask;
	int err = xvm_qp_attr(id, XV_QPS_INIT, &a, &mask);

	if (err)
		return err;
	a.qp_access_flags &= access;
	return modify(qp, &a, mask);
}

static int datagrams_to_rts(struct xv_qp *qp)
{
	struct xv_qp_attr a = { .qp_state = XV_QPS_RTR };
	int err = modify(qp, &a, XV_QP_STATE);

	if (err)
		return err;
	a.qp_state = XV_QPS_RTS;
	return modify(qp, &a, XV_QP_STATE | XV_QP_SQ_PSN);
}

/* The number of reads and atomics in flight, as librdmacm chooses it */
static uint8_t depth(uint8_t wanted, uint8_t offered, uint32_t most)
{
	if (wanted != RDMA_MAX_RESP_RES)
		return wanted;
	return offered < most ? offered : (uint8_t)most;
}

static int check_state(const struct xv_qp *qp)
{
	if (qp->state == XV_QPS_RESET || qp->state == XV_QPS_INIT)
		return 0;
	return xvm_error(EINVAL, "the queue pair is in %s, not in INIT",
			 xv_qp_state_str(qp->state));
}

/* The first transition sets the access flags, which depend on the connection. */
static int to_rts(struct rdma_cm_id *id, struct xv_qp *qp, const struct xv_device_attr *device,
		  const struct rdma_conn_param *param, unsigned int access)
{
	struct xv_qp_attr a;
	unsigned int mask;
	int err = to_init(id, qp, access);

	if (!err)
		err = xvm_qp_attr(id, XV_QPS_RTR, &a, &mask);
	if (err)
		return err;
	a.max_dest_rd_atomic = depth(param->responder_resources, a.max_dest_rd_atomic,
				     device->max_qp_rd_atom);
	err = modify(qp, &a, mask);
	if (!err)
		err = xvm_qp_attr(id, XV_QPS_RTS, &a, &mask);
	if (err)
		return err;
	a.max_rd_atomic = depth(param->initiator_depth, a.max_rd_atomic,
				device->max_qp_init_rd_atom);
	return modify(qp, &a, mask);
}

static struct rdma_conn_param param_of(const struct xv_qp *qp, const struct rdma_conn_param *param)
{
	struct rdma_conn_param p = {
		.responder_resources = RDMA_MAX_RESP_RES,
		.initiator_depth = RDMA_MAX_INIT_DEPTH,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};

	if (param)
		p = *param;
	p.qp_num = qp->qp_num;
	p.srq = qp->srq != NULL;
	return p;
}

EXPORT int xv_cm_init_qp(struct rdma_cm_id *id, struct xv_qp *qp)
{
	struct xv_device_attr device;
	int err = xvm_check(id, qp, &device);

	if (!err)
		err = to_init(id, qp, ALL_ACCESS);
	if (!err && qp->qp_type == XV_QPT_UD)
		err = datagrams_to_rts(qp);
	return err;
}

EXPORT int xv_cm_connect(struct rdma_cm_id *id, struct xv_qp *qp,
			 const struct rdma_conn_param *param)
{
	struct rdma_conn_param p = param_of(qp, param);
	struct xv_device_attr device;
	int err = xvm_check(id, qp, &device);

	if (err)
		return err;
	if (rdma_connect(id, &p))
		return xvm_rdma("rdma_connect");
	/* Only an id without an event channel has its event here. */
	if (id->event && id->event->event == RDMA_CM_EVENT_CONNECT_RESPONSE)
		return xv_cm_establish(id, qp);
	return 0;
}

EXPORT int xv_cm_establish_restricted(struct rdma_cm_id *id, struct xv_qp *qp, unsigned int access)
{
	struct rdma_conn_param p = param_of(qp, NULL);
	struct xv_device_attr device;
	int err = xvm_check(id, qp, &device);

	if (err)
		return err;
	if (qp->qp_type == XV_QPT_UD)
		return xvm_error(EINVAL, "establish: the id is for datagrams");
	err = check_state(qp);
	if (err)
		return err;
	err = to_rts(id, qp, &device, &p, access);
	if (!err && rdma_establish(id))
		err = xvm_rdma("rdma_establish");
	return err ? give_up(qp, err) : 0;
}

EXPORT int xv_cm_establish(struct rdma_cm_id *id, struct xv_qp *qp)
{
	return xv_cm_establish_restricted(id, qp, ALL_ACCESS);
}

EXPORT int xv_cm_accept_restricted(struct rdma_cm_id *id, struct xv_qp *qp,
				   const struct rdma_conn_param *param, unsigned int access)
{
	struct rdma_conn_param p = param_of(qp, param);
	bool datagrams = qp->qp_type == XV_QPT_UD;
	struct xv_device_attr device;
	int err = xvm_check(id, qp, &device);

	if (!err && !datagrams)
		err = check_state(qp);
	if (err)
		return err;
	if (!datagrams)
		err = to_rts(id, qp, &device, &p, access);
	if (!err && rdma_accept(id, &p))
		err = xvm_rdma("rdma_accept");
	return err && !datagrams ? give_up(qp, err) : err;
}

EXPORT int xv_cm_accept(struct rdma_cm_id *id, struct xv_qp *qp,
			const struct rdma_conn_param *param)
{
	return xv_cm_accept_restricted(id, qp, param, ALL_ACCESS);
}

EXPORT int xv_cm_disconnect(struct rdma_cm_id *id, struct xv_qp *qp)
{
	int err = qp ? to_error(qp) : 0;

	if (!id->verbs)
		return xvm_error(EINVAL, "disconnect: the id is not bound to a device");
	if (rdma_disconnect(id) && !err)
		err = xvm_rdma("rdma_disconnect");
	return err;
}
