// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Creation and connection of the two ends.
 */
#include <string.h>
#include "post.h"

static struct xv_cq *new_cq(struct end *e, uint32_t entries, bool events)
{
	struct xv_cq_init_attr attr = {
		.cqe = entries,
		.flags = XV_CQ_SINGLE_THREADED,
		.channel = events ? e->channel : NULL,
	};
	struct xv_cq *cq = xv_create_cq(e->side.ctx, &attr);

	if (!cq)
		xt_die_xv("%s", e->side.ctx->name);
	return cq;
}

static struct xv_qp *new_qp(struct end *e, const struct params *p)
{
	static const enum xv_qp_type types[] = {
		[TP_RC] = XV_QPT_RC, [TP_UC] = XV_QPT_UC, [TP_UD] = XV_QPT_UD,
		[TP_XRC] = XV_QPT_XRC_SEND, [TP_DC] = XV_QPT_DCI,
	};
	/* WQEs of more than one WQEBB: address vector, mkey context */
	uint32_t factor = p->transport == TP_UD ? 2 : p->op == OP_BIND ? 3 : 1;
	struct xv_qp_init_attr attr = {
		.send_cq = e->send_cq,
		.qp_type = types[p->transport],
		.flags = XV_QP_SINGLE_THREADED,
		.max_atomic_arg = p->max_atomic_arg,
		.cap = {
			.max_send_wr = factor * p->depth,
			.max_send_sge = 1,
			.max_inline_data = p->inline_max,
		},
	};
	struct xv_qp *qp;

	if (p->transport != TP_XRC && p->transport != TP_DC) {
		attr.recv_cq = e->recv_cq;
		attr.cap.max_recv_wr = op_is_received(p->op) ? 2 * p->depth : 1;
		attr.cap.max_recv_sge = 1;
	}
	qp = xv_create_qp(e->side.pd, &attr);
	if (!qp)
		xt_die_xv("%s", e->side.ctx->name);
	return qp;
}

static struct xv_qp *new_target(struct end *e)
{
	struct xv_qp_init_attr attr = { .qp_type = XV_QPT_XRC_RECV, .xrcd = e->xrcd };
	struct xv_qp *qp = xv_create_qp(e->side.pd, &attr);

	if (!qp)
		xt_die_xv("%s", e->side.ctx->name);
	return qp;
}

static void open_xrc(struct end *e, const struct params *p)
{
	struct xv_srq_init_attr attr = {
		.attr = { .max_wr = 2 * p->depth * p->qps, .max_sge = 1 },
		.cq = e->recv_cq,
		.flags = XV_SRQ_SINGLE_THREADED,
	};

	e->xrcd = attr.xrcd = xv_open_xrcd(e->side.ctx, -1, 0);
	e->srq = e->xrcd ? xv_create_srq(e->side.pd, &attr) : NULL;
	if (!e->srq)
		xt_die_xv("%s", e->side.ctx->name);
}

static void open_dc(struct end *e, const struct params *p)
{
	const uint32_t access = XV_ACCESS_REMOTE_WRITE | XV_ACCESS_REMOTE_READ |
				XV_ACCESS_REMOTE_ATOMIC;
	struct xv_srq_init_attr attr = {
		.attr = { .max_wr = 2 * p->depth * p->qps, .max_sge = 1 },
		.flags = XV_SRQ_SINGLE_THREADED,
	};

	e->srq = xv_create_srq(e->side.pd, &attr);
	if (!e->srq)
		xt_die_xv("%s", e->side.ctx->name);
	for (e->targets = 0; e->targets < p->targets; e->targets++) {
		e->dct[e->targets] = xt_dct_create(&e->side, e->recv_cq, e->srq, DC_KEY, access);
		if (!e->dct[e->targets])
			xt_die_xv("%s", e->side.ctx->name);
	}
}

void end_open(struct end *e, const char *device, uint32_t port, int gid_index,
	      const struct params *p, size_t max_size)
{
	const unsigned int access = XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE |
				    XV_ACCESS_REMOTE_READ | XV_ACCESS_REMOTE_ATOMIC |
				    XV_ACCESS_MW_BIND;
	uint32_t i;

	if (xt_side_open(&e->side, device, port, gid_index))
		xt_die_xv("%s", device ? device : "cannot open a device");
	xt_side_set_net(&e->side, &p->net);
	if (p->events) {
		e->channel = xv_create_comp_channel(e->side.ctx);
		if (!e->channel)
			xt_die_xv("%s", e->side.ctx->name);
	}
	if (p->transport == TP_UD && max_size > 128u << e->side.attr.active_mtu)
		xt_die(XT_USAGE, "a datagram has at most %u bytes on this port",
		       128u << e->side.attr.active_mtu);
	e->half = (max_size + GRH_BYTES + 4095) & ~(size_t)4095;
	e->mr = xt_mr_alloc(&e->side, 2 * e->half, access);
	if (!e->mr)
		xt_die_xv("%zu bytes of memory", 2 * e->half);
	e->out = e->mr->addr;
	e->in = e->out + e->half;
	e->send_cq = new_cq(e, p->depth * p->qps + 1, p->events && !op_is_received(p->op));
	e->recv_cq = new_cq(e, 2 * p->depth * p->qps + 1, p->events && op_is_received(p->op));
	if (p->transport == TP_XRC)
		open_xrc(e, p);
	if (p->transport == TP_DC)
		open_dc(e, p);
	if (p->op == OP_BIND) {
		e->mw = xv_alloc_mw(e->side.pd, XV_MW_TYPE_1);
		if (!e->mw)
			xt_die_xv("%s", e->side.ctx->name);
		e->mw_key = e->mw->rkey;
	}
	e->qps = p->qps;
	for (i = 0; i < e->qps; i++) {
		e->qp[i] = new_qp(e, p);
		e->target[i] = e->xrcd ? new_target(e) : e->qp[i];
	}
}

void end_close(struct end *e)
{
	uint32_t i;

	for (i = 0; i < e->qps; i++) {
		if (e->target[i] != e->qp[i])
			xv_destroy_qp(e->target[i]);
		xv_destroy_qp(e->qp[i]);
	}
	for (i = 0; i < e->targets; i++)
		xv_destroy_dct(e->dct[i]);
	if (e->srq)
		xv_destroy_srq(e->srq);
	if (e->xrcd)
		xv_close_xrcd(e->xrcd);
	if (e->mw)
		xv_dealloc_mw(e->mw);
	if (e->ah)
		xv_destroy_ah(e->ah);
	xv_destroy_cq(e->send_cq);
	xv_destroy_cq(e->recv_cq);
	if (e->channel)
		xv_destroy_comp_channel(e->channel);
	xt_mr_free(e->mr);
	xt_side_close(&e->side);
}

static void ud_to_rts(struct end *e, struct xv_qp *qp)
{
	const unsigned int init = XV_QP_STATE | XV_QP_PKEY_INDEX | XV_QP_PORT | XV_QP_QKEY;
	struct xv_qp_attr a = { .qp_state = XV_QPS_INIT, .port_num = (uint8_t)e->side.port,
		.pkey_index = e->side.net.pkey_index, .qkey = UD_QKEY };
	int err = xv_modify_qp(qp, &a, init);

	a.qp_state = XV_QPS_RTR;
	if (!err)
		err = xv_modify_qp(qp, &a, XV_QP_STATE);
	a.qp_state = XV_QPS_RTS;
	if (!err)
		err = xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_SQ_PSN);
	if (err)
		xt_die_xv("cannot bring the UD queue pair to RTS");
}

static void ud_connect(struct end *e, uint32_t i, const struct xt_peer *peer)
{
	ud_to_rts(e, e->qp[i]);
	e->remote_qpn[i] = peer->qpn;
	if (e->ah)
		return;
	e->ah = xt_ah_create(&e->side, peer);
	if (!e->ah)
		xt_die_xv("cannot create the address handle");
}

static void start_initiator(struct end *e, struct xv_qp *qp)
{
	if (xt_dci_start(qp, &e->side, NULL))
		xt_die_xv("cannot bring the initiator to RTS");
}

/* Target i of the peer */
static void dc_connect(struct end *e, uint32_t i, const struct xt_peer *peer)
{
	if (!e->ah)
		e->ah = xt_ah_create(&e->side, peer);
	if (!e->ah)
		xt_die_xv("cannot create the address handle");
	e->to[i] = (struct xv_dc) { e->ah, DC_KEY, peer->qpn };
}

static void describe_target(const struct end *e, uint32_t i, struct xt_peer *p)
{
	xt_peer_of(&e->side, e->qp[0], p);
	p->qpn = e->dct[i]->dct_num;
}

/* What the peer must know: the sending and the receiving queue pair */
struct pair {
	struct xt_peer sender;
	struct xt_peer receiver;
};

static void describe(const struct end *e, uint32_t i, struct pair *p)
{
	xt_peer_of(&e->side, e->qp[i], &p->sender);
	xt_peer_of(&e->side, e->target[i], &p->receiver);
	p->receiver.srqn = e->srq ? e->srq->srq_num : 0;
}

static void connect_qp(struct end *e, uint32_t i, const struct pair *peer)
{
	e->remote_srqn = peer->receiver.srqn;
	if (e->qp[i]->qp_type == XV_QPT_UD)
		ud_connect(e, i, &peer->receiver);
	else if (e->qp[i]->qp_type == XV_QPT_DCI)
		start_initiator(e, e->qp[i]);
	else if (xt_connect(e->qp[i], &e->side, &peer->receiver, NULL) ||
		 (e->target[i] != e->qp[i] &&
		  xt_connect(e->target[i], &e->side, &peer->sender, NULL)))
		xt_die_xv("cannot connect the queue pair");
}

static void set_remote(struct end *e, const struct end *peer)
{
	e->remote_in = (uintptr_t)peer->in;
	e->rkey = peer->mr->rkey;
}

void end_connect_local(struct end *a, struct end *b)
{
	struct pair pa, pb;
	uint32_t i;

	for (i = 0; i < a->qps; i++) {
		describe(a, i, &pa);
		describe(b, i, &pb);
		connect_qp(a, i, &pb);
		connect_qp(b, i, &pa);
	}
	for (i = 0; i < a->targets; i++) {
		describe_target(a, i, &pa.receiver);
		describe_target(b, i, &pb.receiver);
		dc_connect(a, i, &pb.receiver);
		dc_connect(b, i, &pa.receiver);
	}
	set_remote(a, b);
	set_remote(b, a);
}

void end_connect_remote(struct end *e, int fd)
{
	struct pair self, peer;
	uint32_t i;

	for (i = 0; i < e->qps; i++) {
		describe(e, i, &self);
		xt_send_peer(fd, &self.sender, (uintptr_t)e->in, e->mr->rkey);
		xt_send_peer(fd, &self.receiver, (uintptr_t)e->in, e->mr->rkey);
		xt_recv_peer(fd, &peer.sender, &e->remote_in, &e->rkey);
		xt_recv_peer(fd, &peer.receiver, &e->remote_in, &e->rkey);
		connect_qp(e, i, &peer);
	}
	for (i = 0; i < e->targets; i++) {
		describe_target(e, i, &self.receiver);
		xt_send_peer(fd, &self.receiver, (uintptr_t)e->in, e->mr->rkey);
		xt_recv_peer(fd, &peer.receiver, &e->remote_in, &e->rkey);
		dc_connect(e, i, &peer.receiver);
	}
}

/* Before each run: initialises the memory and posts receives. */
void end_prepare(struct end *e, const struct params *p)
{
	uint32_t i;

	memset(e->out, 0, e->half);
	memset((void *)(uintptr_t)e->in, 0xff, p->size);
	if (!op_is_received(p->op))
		return;
	for (i = 0; i < e->qps; i++)
		while (!post_recv(e, i))
			;
}
