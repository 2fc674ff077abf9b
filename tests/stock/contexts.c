// SPDX-License-Identifier: GPL-2.0
/*
 * usage: contexts DEVICE GID-INDEX PEER-DEVICE GID-INDEX
 *
 * A program with several contexts: two of one device and one of another.  Data goes between all
 * of them, each has its own events, an object works only in its own context, and they are closed
 * in either order.
 */
#include <poll.h>
#include "verbs.h"

enum { BYTES = 4096, SIDES = 3 };

static struct side {
	const char *device;
	int gid_index;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	struct place place;
	char mem[2 * BYTES];		/* what it sends, what it receives */
} side[SIDES];

static void open_side(struct side *s)
{
	s->ctx = open_device(s->device);
	s->place = place_of(s->ctx, s->gid_index);
	s->pd = ibv_alloc_pd(s->ctx);
	s->cq = ibv_create_cq(s->ctx, 16, s, NULL, 0);
	s->mr = s->pd ? ibv_reg_mr(s->pd, s->mem, sizeof(s->mem), ACCESS) : NULL;
	need(s->cq && s->mr, "objects of a context");
}

static void close_side(struct side *s)
{
	ok(!ibv_dereg_mr(s->mr) && !ibv_destroy_cq(s->cq) && !ibv_dealloc_pd(s->pd) &&
	   !ibv_close_device(s->ctx), "context %d closes", (int)(s - side));
}

static struct ibv_qp_init_attr qp_attr(struct side *s)
{
	return (struct ibv_qp_init_attr) {
		.qp_type = IBV_QPT_RC, .send_cq = s->cq, .recv_cq = s->cq, .sq_sig_all = 1,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
}

static void connect_sides(struct side *a, struct side *b)
{
	struct ibv_qp_init_attr attr[2] = { qp_attr(a), qp_attr(b) };

	a->qp = ibv_create_qp(a->pd, &attr[0]);
	b->qp = ibv_create_qp(b->pd, &attr[1]);
	need(a->qp && b->qp, "ibv_create_qp");
	rc_init(a->qp);
	rc_init(b->qp);
	rc_connect(a->qp, b->qp->qp_num, path_to(&b->place, a->gid_index));
	rc_connect(b->qp, a->qp->qp_num, path_to(&a->place, b->gid_index));
}

static void disconnect_sides(struct side *a, struct side *b)
{
	need(!ibv_destroy_qp(a->qp) && !ibv_destroy_qp(b->qp), "ibv_destroy_qp");
}

static struct ibv_sge sge_of(struct side *s, int part)
{
	return (struct ibv_sge) { (uintptr_t)s->mem + (uintptr_t)part * BYTES, BYTES, s->mr->lkey };
}

/* rkey: of the memory of the peer */
static void post(struct side *from, const struct side *to, enum ibv_wr_opcode opcode, uint32_t rkey)
{
	struct ibv_sge sge = sge_of(from, 0);
	struct ibv_send_wr *bad, wr = {
		.wr_id = opcode, .sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.wr.rdma = { (uintptr_t)to->mem + BYTES, rkey },
	};

	need(!ibv_post_send(from->qp, &wr, &bad), "ibv_post_send");
}

/* The status of the next completion of this queue pair, or -1 */
static int status_of(struct side *s, enum ibv_wc_opcode opcode)
{
	double until = now() + 10;
	struct ibv_wc wc;

	while (!ibv_poll_cq(s->cq, 1, &wc))
		if (now() > until)
			return -1;
	return wc.qp_num == s->qp->qp_num && (wc.status || wc.opcode == opcode) ?
	       (int)wc.status : -1;
}

static void fill(struct side *from, struct side *to, int seed)
{
	int i;

	for (i = 0; i < BYTES; i++)
		from->mem[i] = (char)(i * 7 + seed + (i >> 8));
	memset(to->mem + BYTES, 0, BYTES);
}

static void message(struct side *from, struct side *to, int seed)
{
	struct ibv_sge sge = sge_of(to, 1);
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	fill(from, to, seed);
	need(!ibv_post_recv(to->qp, &wr, &bad), "ibv_post_recv");
	post(from, to, IBV_WR_SEND, 0);
	ok(!status_of(from, IBV_WC_SEND) && !status_of(to, IBV_WC_RECV) &&
	   !memcmp(from->mem, to->mem + BYTES, BYTES), "context %d sends to context %d",
	   (int)(from - side), (int)(to - side));
	fill(from, to, seed + 1);
	post(from, to, IBV_WR_RDMA_WRITE, to->mr->rkey);
	ok(!status_of(from, IBV_WC_RDMA_WRITE) && !memcmp(from->mem, to->mem + BYTES, BYTES),
	   "context %d writes to context %d", (int)(from - side), (int)(to - side));
}

static void exchange(struct side *a, struct side *b)
{
	connect_sides(a, b);
	message(a, b, 1);
	message(b, a, 101);
	disconnect_sides(a, b);
}

static int has_event(const struct side *s, int wait_ms)
{
	struct pollfd p = { .fd = s->ctx->async_fd, .events = POLLIN };

	return poll(&p, 1, wait_ms) == 1;
}

/* A write with a wrong key makes an event of the queue pair that it arrives at. */
static void event_of(struct side *at, struct side *from)
{
	struct ibv_async_event event = { .event_type = -1 };
	int i, others = 0;

	connect_sides(at, from);
	post(from, at, IBV_WR_RDMA_WRITE, at->mr->rkey ^ 0x5500);
	ok(status_of(from, IBV_WC_RDMA_WRITE) == IBV_WC_REM_ACCESS_ERR && has_event(at, 10000) &&
	   !ibv_get_async_event(at->ctx, &event) && event.element.qp == at->qp &&
	   event.event_type == IBV_EVENT_QP_ACCESS_ERR, "an event in context %d",
	   (int)(at - side));
	for (i = 0; i < SIDES; i++)
		others += has_event(&side[i], 0);
	tap_is(others, 0, "and in no other");
	ibv_ack_async_event(&event);
	disconnect_sides(at, from);
}

/* ---- Objects of another context ------------------------------------------------------------ */

/* The objects of both contexts have the same numbers, so they could be taken for each other. */
#define EINVAL_OF(call)	ok((errno = 0, !(call)) && errno == EINVAL, "%s: EINVAL", #call)

static struct ibv_qp *qp_with(struct ibv_cq *send, struct ibv_cq *recv, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr attr = qp_attr(&side[0]);

	attr.send_cq = send;
	attr.recv_cq = recv;
	attr.srq = srq;
	return ibv_create_qp(side[0].pd, &attr);
}

static struct ibv_qp *qp_ex_with(struct ibv_context *ctx, struct ibv_pd *pd)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC, .send_cq = side[0].cq, .recv_cq = side[0].cq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd,
	};

	return ibv_create_qp_ex(ctx, &attr);
}

static struct ibv_srq *xrc_srq_with(struct ibv_xrcd *xrcd, struct ibv_cq *cq)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 4, .max_sge = 1 }, .srq_type = IBV_SRQT_XRC,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.pd = side[0].pd, .cq = cq, .xrcd = xrcd,
	};

	return ibv_create_srq_ex(side[0].ctx, &attr);
}

static struct ibv_pd *parent_of(struct ibv_context *ctx, struct ibv_pd *pd)
{
	struct ibv_parent_domain_init_attr attr = { .pd = pd };

	return ibv_alloc_parent_domain(ctx, &attr);
}

static struct ibv_xrcd *new_xrcd(struct side *s)
{
	struct ibv_xrcd_init_attr attr = { .comp_mask = IBV_XRCD_INIT_ATTR_FD |
						       IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1 };

	return ibv_open_xrcd(s->ctx, &attr);
}

static void other_context(void)
{
	struct side *a = &side[0], *b = &side[1];
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_comp_channel *channel = ibv_create_comp_channel(b->ctx);
	struct ibv_srq *srq = ibv_create_srq(b->pd, &init);
	struct ibv_xrcd *mine = new_xrcd(a), *other = new_xrcd(b);

	need(channel && srq && mine && other, "objects");
	EINVAL_OF(qp_with(b->cq, a->cq, NULL));
	EINVAL_OF(qp_with(a->cq, b->cq, NULL));
	EINVAL_OF(qp_with(a->cq, a->cq, srq));
	EINVAL_OF(qp_ex_with(a->ctx, b->pd));
	EINVAL_OF(qp_ex_with(b->ctx, b->pd));
	EINVAL_OF(ibv_create_cq(a->ctx, 4, NULL, channel, 0));
	EINVAL_OF(xrc_srq_with(other, a->cq));
	EINVAL_OF(xrc_srq_with(mine, b->cq));
	EINVAL_OF(parent_of(a->ctx, b->pd));
	ok(ibv_rereg_mr(a->mr, IBV_REREG_MR_CHANGE_PD, b->pd, NULL, 0, 0) && errno == EINVAL &&
	   a->mr->pd == a->pd, "ibv_rereg_mr: EINVAL");
	ok(!ibv_destroy_srq(srq) && !ibv_destroy_comp_channel(channel) && !ibv_close_xrcd(mine) &&
	   !ibv_close_xrcd(other), "nothing uses them");
}

int main(int argc, char **argv)
{
	struct side *a = &side[0], *b = &side[1], *peer = &side[2];

	need(argc == 5, "usage: contexts DEVICE GID-INDEX PEER-DEVICE GID-INDEX");
	*a = *b = (struct side) { .device = argv[1], .gid_index = atoi(argv[2]) };
	*peer = (struct side) { .device = argv[3], .gid_index = atoi(argv[4]) };
	open_side(a);
	open_side(b);
	open_side(peer);
	ok(a->ctx != b->ctx && a->ctx->async_fd != b->ctx->async_fd &&
	   a->ctx->device == b->ctx->device && a->ctx->device != peer->ctx->device,
	   "two contexts of one device, one of another");
	exchange(a, b);
	exchange(a, peer);
	exchange(b, peer);
	event_of(a, b);
	event_of(b, peer);
	event_of(peer, a);
	other_context();
	exchange(a, b);
	close_side(a);
	exchange(b, peer);
	open_side(a);
	close_side(b);
	exchange(a, peer);
	close_side(peer);
	close_side(a);
	return tap_done();
}
