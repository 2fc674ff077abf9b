// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Peers that have ended.  A rank that waits for a message has no request that would fail, so
 * each link has a second connection, with one send for which the peer never posts a receive.
 * The adapter sends it again after each RNR timer, without the CPU.  The send fails only
 * if nobody answers: the peer's process has ended, or its operation has failed or was freed.
 *
 * A rank that finds this destroys its queues, so that its own peers find it too.  This is
 * earlier than the error of a send of the run itself, see TIMEOUT_RUN: that error would meet
 * the waits of other queues, and they would send data that is incomplete.
 */
#include "coll.h"

int xvc_watch_create(struct xv_coll_op *op)
{
	struct xv_cq_init_attr attr = {
		.cqe = 2 * MAX_LINKS, .channel = op->channel, .flags = XV_CQ_SINGLE_THREADED,
	};
	struct xv_qp_init_attr qp = {
		.qp_type = XV_QPT_RC, .flags = XV_QP_SINGLE_THREADED,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	uint32_t i;

	op->watch_cq = xv_create_cq(op->coll->ctx, &attr);
	if (!op->watch_cq)
		return xvc_error(errno, "%s", xv_last_error());
	xv_req_notify(op->watch_cq, 0);
	qp.send_cq = qp.recv_cq = op->watch_cq;
	for (i = 0; i < op->links; i++) {
		op->link[i].watch = xv_create_qp(op->coll->attr.pd, &qp);
		if (!op->link[i].watch)
			return xvc_error(errno, "%s", xv_last_error());
	}
	return 0;
}

int xvc_watch_start(struct xv_coll_op *op)
{
	struct xv_send_wr wr = { .opcode = XV_WR_SEND }, *bad;
	uint32_t i;
	int err = 0;

	for (i = 0; i < op->links && !err; i++)
		err = xv_post_send(op->link[i].watch, &wr, &bad);
	return err ? xvc_error(err, "operation: a request cannot be posted") : 0;
}

bool xvc_watch_lost(struct xv_coll_op *op)
{
	struct xv_wc wc;

	return xv_poll_cq(op->watch_cq, 1, &wc);
}
