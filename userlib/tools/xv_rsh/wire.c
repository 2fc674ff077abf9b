// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include "wire.h"

enum { POLL_MAX = 32, NOTE = 1 };

static bool make_queues(struct wire *w)
{
	const struct flow *f = w->flow;
	struct xv_cq_init_attr cq = {
		.cqe = f->in_slots + f->out_slots + FLOW_NOTES,
		.flags = XV_CQ_SINGLE_THREADED,
	};
	struct xv_qp_init_attr qp = {
		.qp_type = XV_QPT_RC,
		.flags = XV_QP_SINGLE_THREADED,
		.cap = { .max_send_wr = f->out_slots + FLOW_NOTES, .max_recv_wr = f->in_slots,
			 .max_send_sge = 1, .max_recv_sge = 1,
			 .max_inline_data = sizeof(struct flow_header) },
	};

	w->channel = xv_create_comp_channel(w->side.ctx);
	if (!w->channel)
		return false;
	cq.channel = w->channel;
	w->cq = xv_create_cq(w->side.ctx, &cq);
	if (!w->cq)
		return false;
	qp.send_cq = qp.recv_cq = w->cq;
	w->qp = xv_create_qp(w->side.pd, &qp);
	return w->qp && fcntl(w->channel->fd, F_SETFL, O_NONBLOCK) == 0;
}

/* One attempt; it fails with ENOMEM if less memory may be locked. */
static bool make(struct wire *w, uint32_t chunk, uint32_t slots, bool first)
{
	w->mr = xt_mr_alloc(&w->side, flow_bytes(chunk, slots), XV_ACCESS_LOCAL_WRITE);
	if (!w->mr)
		return false;
	if (!flow_init(w->flow, chunk, slots, w->mr->addr, first)) {
		errno = ENOMEM;
		return false;
	}
	return make_queues(w);
}

static void unmake(struct wire *w)
{
	if (w->qp)
		xv_destroy_qp(w->qp);
	if (w->cq) {
		xv_ack_cq_events(w->cq, w->unacked);
		xv_destroy_cq(w->cq);
	}
	if (w->channel)
		xv_destroy_comp_channel(w->channel);
	xt_mr_free(w->mr);
	flow_free(w->flow);
	w->qp = NULL;
	w->cq = NULL;
	w->channel = NULL;
	w->mr = NULL;
	w->unacked = 0;
}

bool wire_open(struct wire *w, const struct offer *o, const struct xt_net *net, struct flow *flow,
	       uint32_t chunk, uint32_t slots, bool first)
{
	*w = (struct wire) { .flow = flow };
	if (xt_side_open(&w->side, o->device, o->port, (int)o->gid_index))
		return false;
	xt_side_set_net(&w->side, net);
	while (!make(w, chunk, slots, first)) {
		bool again = errno == ENOMEM && slots > FLOW_MIN_SLOTS;

		unmake(w);
		if (!again) {
			xt_side_close(&w->side);
			return false;
		}
		slots = flow_fewer(slots);
	}
	return true;
}

void wire_close(struct wire *w)
{
	unmake(w);
	xt_side_close(&w->side);
}

void wire_self(const struct wire *w, struct xt_peer *self)
{
	xt_peer_of(&w->side, w->qp, self);
}

bool wire_connect(struct wire *w, const struct xt_peer *peer)
{
	static const struct xt_rc_opts opts = { .no_access = true };

	return xt_connect(w->qp, &w->side, peer, &opts) == 0;
}

/* ---- Data path ------------------------------------------------------------------ */

static enum wire_kind kind_of(const struct xv_wc *wc)
{
	if (wc->opcode & XV_WC_RECV)
		return WIRE_ARRIVED;
	return wc->wr_id == NOTE ? WIRE_SENT_NOTE : WIRE_SENT_DATA;
}

int wire_poll(struct wire *w, int n, struct wire_event *events)
{
	struct xv_wc wc[POLL_MAX];
	int i;

	n = xv_poll_cq(w->cq, n < POLL_MAX ? n : POLL_MAX, wc);
	for (i = 0; i < n; i++)
		events[i] = (struct wire_event) {
			.kind = kind_of(&wc[i]),
			.slot = (uint32_t)wc[i].wr_id,
			.bytes = wc[i].byte_len,
			.error = wc[i].status ? xv_wc_status_str(wc[i].status) : NULL,
		};
	return n;
}

/* The queues have room for all that a flow sends and posts. */
void wire_send_data(struct wire *w, const struct flow_header *h)
{
	struct xv_sge sge = { (uintptr_t)h, (uint32_t)sizeof(*h) + h->length, w->mr->lkey };

	xv_wr_send(w->qp, 0, XV_SEND_SIGNALED, &sge);
}

void wire_send_note(struct wire *w, const struct flow_header *note)
{
	xv_wr_send_inline(w->qp, NOTE, XV_SEND_SIGNALED, note, sizeof(*note));
}

void wire_receive(struct wire *w, uint32_t slot)
{
	struct xv_sge sge = { (uintptr_t)flow_in(w->flow, slot), w->flow->stride, w->mr->lkey };

	xv_wr_recv(w->qp, slot, &sge);
	xv_commit_recv(w->qp);
}

void wire_commit(struct wire *w)
{
	xv_commit_send(w->qp);
}

bool wire_gone(const struct wire *w)
{
	return xv_device_removed(w->side.ctx);
}

void wire_arm(struct wire *w)
{
	xv_req_notify(w->cq, 0);
}

int wire_fd(const struct wire *w)
{
	return w->channel->fd;
}

void wire_event(struct wire *w)
{
	struct xv_cq *cq;

	while (!xv_get_cq_event(w->channel, &cq, NULL))
		w->unacked++;
}
