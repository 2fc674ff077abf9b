// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Why a queue refused a request.  A posting function calls this with the lock of the queue.  The
 * request is built again on a copy of the queue: this time each check stores its reason.
 */
#define XV_DP_REFUSE(err, ...)	(xv_dp_refused(err, __VA_ARGS__), -(err))
#include "internal.h"

/* Puts the name of the call before the reason. */
static void name_call(const char *call, int refused, int err)
{
	struct error_state reason;

	xv_error_save(&reason);
	if (refused)
		xv_set_error(err, "%s: %.*s", call, XV_ERROR_MAX / 2, reason.text);
	else	/* another thread has changed the state of the queue */
		xv_set_error(err, "%s: the queue could not take the request", call);
}

void xv_send_refused(const struct xv_qp *pub, const struct xv_send_wr *wr, int err)
{
	struct xv_qp copy = *pub;

	if (err == -ENOMEM)
		xv_set_error(err, "post send: the send queue is full");
	else if (!wr)
		xv_set_error(err, "bind MW: the window is not of type 1, or of another PD");
	else if (!copy.sq.room)
		name_call("post send", __xv_sq_refuse(&copy), err);
	else
		name_call("post send", xv_wr_general(&copy, wr), err);
}

void xv_recv_refused(const struct xv_qp *pub, const struct xv_recv_wr *wr, int err)
{
	struct xv_qp copy = *pub;

	if (err == -ENOMEM)
		xv_set_error(err, "post receive: the receive queue is full");
	else
		name_call("post receive",
			  xv_wr_recv_sg(&copy, wr->wr_id, wr->sg_list, wr->num_sge), err);
}

void xv_srq_recv_refused(const struct xv_srq *pub, const struct xv_recv_wr *wr, int err)
{
	struct xv_srq copy = *pub;

	if (err == -ENOMEM)
		xv_set_error(err, "post receive: the shared receive queue is full");
	else
		name_call("post receive",
			  xv_wr_srq_recv(&copy, wr->wr_id, wr->sg_list, wr->num_sge), err);
}
