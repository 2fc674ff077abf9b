// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Creation and connection of the ends.  The memory of an end has the slots and, after
 * them, the feedback area.
 */
#include <stdlib.h>
#include "copy.h"

void end_open(struct end *e, const char *device, uint32_t port, int gid_index, struct geometry geo)
{
	struct xv_cq_init_attr cq = { .cqe = 2 * geo.slots + 8, .flags = XV_CQ_SINGLE_THREADED };
	struct xv_qp_init_attr qp = {
		.qp_type = XV_QPT_RC,
		.flags = XV_QP_SINGLE_THREADED,
		.cap = { .max_send_wr = geo.slots + 4, .max_recv_wr = geo.slots + 1,
			 .max_send_sge = 1, .max_recv_sge = 1,
			 .max_inline_data = sizeof(struct feedback) },
	};
	size_t bytes = (size_t)geo.slots * geo.slot_size;

	if (xt_side_open(&e->side, device, port, gid_index))
		xt_die_xv("%s", device ? device : "cannot open a device");
	e->geo = geo;
	e->cq = xv_create_cq(e->side.ctx, &cq);
	if (!e->cq)
		xt_die_xv("%s", e->side.ctx->name);
	qp.send_cq = qp.recv_cq = e->cq;
	e->qp = xv_create_qp(e->side.pd, &qp);
	if (!e->qp)
		xt_die_xv("%s", e->side.ctx->name);
	e->mr = xt_mr_alloc(&e->side, bytes + 4096, XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE);
	if (!e->mr)
		xt_die_xv("%zu bytes of memory", bytes);
	e->slots = e->mr->addr;
	e->feedback = (struct feedback *)(void *)(e->slots + bytes);
	e->length = xt_calloc(geo.slots, sizeof(*e->length));
}

void end_close(struct end *e)
{
	xv_destroy_qp(e->qp);
	xv_destroy_cq(e->cq);
	xt_mr_free(e->mr);
	xt_side_close(&e->side);
	free(e->length);
}

static void set_remote(struct end *e, uint64_t remote, uint32_t rkey)
{
	e->remote_slots = remote;
	e->remote_feedback = remote + (uint64_t)e->geo.slots * e->geo.slot_size;
	e->rkey = rkey;
}

void end_connect_local(struct end *a, struct end *b)
{
	if (xt_connect_pair(a->qp, &a->side, b->qp, &b->side, NULL))
		xt_die_xv("cannot connect the queue pair");
	set_remote(a, (uintptr_t)b->slots, b->mr->rkey);
	set_remote(b, (uintptr_t)a->slots, a->mr->rkey);
}

void end_connect_remote(struct end *e, int fd)
{
	struct xt_peer self, peer;
	uint64_t addr;
	uint32_t rkey;

	xt_peer_of(&e->side, e->qp, &self);
	xt_send_peer(fd, &self, (uintptr_t)e->slots, e->mr->rkey);
	xt_recv_peer(fd, &peer, &addr, &rkey);
	if (xt_connect(e->qp, &e->side, &peer, NULL))
		xt_die_xv("cannot connect the queue pair");
	set_remote(e, addr, rkey);
}

void end_ready(struct end *e)
{
	uint32_t i;

	/* An RDMA write with immediate consumes a receive WQE without buffers. */
	for (i = 0; i < e->geo.slots; i++)
		if (xv_wr_recv_sg(e->qp, i, NULL, 0))
			xt_die(XT_FAILED, "receive queue too small");
	xv_commit_recv(e->qp);
}
