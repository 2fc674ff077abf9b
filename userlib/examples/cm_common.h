/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Functions shared by the examples of libxvcm: ids without an event channel, whose calls wait
 * for their events, and the objects on the device of an id.  Without HOST, a program is the
 * server.
 */
#ifndef EXAMPLES_CM_COMMON_H
#define EXAMPLES_CM_COMMON_H

#include <netinet/in.h>
#include <xverbs/cm.h>
#include "common.h"

/* Exit if a call of libxvcm or librdmacm fails. */
#define CM(good)	do { if (!(good)) errx(1, "%s: %s", #good, xv_cm_last_error()); } while (0)
#define RDMA(call)	do { if (call) err(1, "%s", #call); } while (0)

struct side {
	struct xv_context *ctx;
	struct xv_pd *pd;
	struct xv_cq *cq;
	struct xv_mr *mr;
};

static UNUSED struct sockaddr_in address(const char *host)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct addrinfo hints = { .ai_family = AF_INET }, *ai;

	if (host) {
		if (getaddrinfo(host, NULL, &hints, &ai))
			errx(1, "cannot resolve %s", host);
		memcpy(&in, ai->ai_addr, sizeof(in));
		freeaddrinfo(ai);
	}
	in.sin_port = htons((uint16_t)atoi(opt.tcp_port));
	return in;
}

/* Server: an id that listens on all devices */
static UNUSED struct rdma_cm_id *listen_all(void)
{
	struct sockaddr_in any = address(NULL);
	struct rdma_cm_id *id;

	RDMA(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	RDMA(rdma_bind_addr(id, (struct sockaddr *)&any));
	RDMA(rdma_listen(id, 16));
	return id;
}

/* Client: an id with the route to the server */
static UNUSED struct rdma_cm_id *resolve(void)
{
	struct sockaddr_in server = address(opt.host);
	struct rdma_cm_id *id;

	RDMA(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	RDMA(rdma_resolve_addr(id, NULL, (struct sockaddr *)&server, 2000));
	RDMA(rdma_resolve_route(id, 2000));
	return id;
}

/* The id of the next connection: of a client, or of a request to the server */
static UNUSED struct rdma_cm_id *next_id(struct rdma_cm_id *listener)
{
	struct rdma_cm_id *id;

	if (!listener)
		return resolve();
	RDMA(rdma_get_request(listener, &id));
	return id;
}

static UNUSED void open_side(struct side *s, const struct rdma_cm_id *id, void *buf, size_t size)
{
	struct xv_cq_init_attr cq = { .cqe = 256 };

	CM((s->ctx = xv_cm_open(id)));
	CHECK((s->pd = xv_alloc_pd(s->ctx)));
	CHECK((s->cq = xv_create_cq(s->ctx, &cq)));
	CHECK((s->mr = xv_reg_mr(s->pd, buf, size, XV_ACCESS_LOCAL_WRITE |
				 XV_ACCESS_REMOTE_READ | XV_ACCESS_REMOTE_WRITE)));
}

/* A queue pair for the id; srq may be NULL. */
static UNUSED struct xv_qp *qp_for(struct rdma_cm_id *id, const struct side *s,
				   enum xv_qp_type type, struct xv_srq *srq)
{
	struct xv_qp_init_attr attr = {
		.qp_type = type, .send_cq = s->cq, .recv_cq = s->cq, .srq = srq,
		.cap = { .max_send_wr = 32, .max_send_sge = 1 },
	};
	struct xv_qp *qp;

	if (!srq)
		attr.cap.max_recv_wr = 32, attr.cap.max_recv_sge = 1;
	CHECK((qp = xv_create_qp(s->pd, &attr)));
	CM(!xv_cm_init_qp(id, qp));
	return qp;
}

/* Connects to the server, or accepts the request. */
static UNUSED void connect_or_accept(struct rdma_cm_id *id, struct xv_qp *qp,
				     const struct rdma_conn_param *param)
{
	if (opt.host)
		CM(!xv_cm_connect(id, qp, param));
	else
		CM(!xv_cm_accept(id, qp, param));
}

static UNUSED void post_receive(struct xv_qp *qp, const struct side *s, void *buf, uint32_t size)
{
	struct xv_sge sge = { (uintptr_t)buf, size, s->mr->lkey };

	CHECK(!xv_wr_recv(qp, (uintptr_t)buf, &sge));
	xv_commit_recv(qp);
}

static UNUSED void post_send(struct xv_qp *qp, const struct side *s, void *buf, uint32_t size)
{
	struct xv_sge sge = { (uintptr_t)buf, size, s->mr->lkey };

	CHECK(!xv_wr_send(qp, 0, XV_SEND_SIGNALED, &sge));
	xv_commit_send(qp);
}

/* Waits for a completion of this kind; earlier requests may complete before. */
static UNUSED struct xv_wc wait_for(struct xv_cq *cq, enum xv_wc_opcode opcode)
{
	struct xv_wc wc;

	do
		wc = wait_wc(cq);
	while (wc.opcode != opcode);
	return wc;
}

/* The library destroys all objects of the context. */
static UNUSED void close_side(struct side *s)
{
	CHECK(!xv_close(s->ctx));
}

#endif
