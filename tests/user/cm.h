/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of libxvcm have in common: two sides with their objects, ids and events.
 *
 * Side 0 listens on an address.  Side 1 is in a network namespace, where it has another device,
 * or it uses the same device.
 */
#ifndef TESTS_USER_CM_H
#define TESTS_USER_CM_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include <xverbs/cm.h>
#include "tap.h"

enum { PORT = 7400, WAIT_MS = 60000, LEN = 4096, MESSAGES = 8, GRH = 40, BUFFER = 1 << 18 };

/* The objects of a side on its device; all queue pairs of a side share them. */
static struct side {
	struct xv_context *ctx;
	struct xv_pd *pd;
	struct xv_cq *send_cq;
	struct xv_cq *cq;		/* for receives */
	struct xv_mr *mr;
	uint8_t *buf;
	struct rdma_event_channel *channel;
} side[2];

/* A connection: side 0 accepts, side 1 connects. */
struct conn {
	struct rdma_cm_id *id[2];
	struct xv_qp *qp[2];
};

static const char *server, *netns;
static struct rdma_cm_id *listener[2];	/* for connections and for datagrams */

static const char to_server[] = "a question", to_client[] = "the answer";

/* ---- Events ------------------------------------------------------------ */

/* The next event, which must be of this type; NULL: another one, or none */
static inline struct rdma_cm_event *next(int i, enum rdma_cm_event_type type)
{
	struct pollfd p = { .fd = side[i].channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	if (poll(&p, 1, WAIT_MS) != 1) {
		diag("side %d: no event, expected %s", i, rdma_event_str(type));
		return NULL;
	}
	if (rdma_get_cm_event(side[i].channel, &event))
		bail_out("rdma_get_cm_event: %s", strerror(errno));
	if (event->event == type)
		return event;
	diag("side %d: %s, status %d, expected %s", i, rdma_event_str(event->event),
	     event->status, rdma_event_str(type));
	rdma_ack_cm_event(event);
	return NULL;
}

/* The same for an event that is needed only for its status */
static inline bool event_with(int i, enum rdma_cm_event_type type, int status)
{
	struct rdma_cm_event *event = next(i, type);
	bool good = event && event->status == status;

	if (event && !good)
		diag("side %d: %s: status %d, expected %d", i, rdma_event_str(type),
		     event->status, status);
	if (event)
		rdma_ack_cm_event(event);
	return good;
}

static inline bool event_of(int i, enum rdma_cm_event_type type)
{
	return event_with(i, type, 0);
}

static inline bool quiet(int i)
{
	struct pollfd p = { .fd = side[i].channel->fd, .events = POLLIN };

	return poll(&p, 1, 100) == 0;
}

/* ---- Ids --------------------------------------------------------------- */

static inline void enter(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNET))
		bail_out("%s: %s", path, strerror(errno));
	close(fd);
}

/* An id of side 1 lives in its network namespace. */
static inline struct rdma_cm_id *new_id(int i, enum rdma_port_space ps)
{
	char path[64];
	struct rdma_cm_id *id;
	bool away = i && netns;

	if (away) {
		snprintf(path, sizeof(path), "/run/netns/%s", netns);
		enter(path);
	}
	if (rdma_create_id(side[i].channel, &id, NULL, ps))
		bail_out("rdma_create_id: %s", strerror(errno));
	if (away)
		enter("/proc/1/ns/net");
	return id;
}

static inline struct sockaddr *address(const char *text, uint16_t port)
{
	static struct sockaddr_in in;

	in = (struct sockaddr_in) { .sin_family = AF_INET, .sin_port = htons(port) };
	if (inet_pton(AF_INET, text, &in.sin_addr) != 1)
		bail_out("%s is not an address", text);
	return (struct sockaddr *)&in;
}

/* An id of side 1 with the route to a port of the server */
static inline struct rdma_cm_id *route(enum rdma_port_space ps, uint16_t port)
{
	struct rdma_cm_id *id = new_id(1, ps);

	if (rdma_resolve_addr(id, NULL, address(server, port), 5000) ||
	    !event_of(1, RDMA_CM_EVENT_ADDR_RESOLVED) || rdma_resolve_route(id, 5000) ||
	    !event_of(1, RDMA_CM_EVENT_ROUTE_RESOLVED))
		bail_out("no route to %s", server);
	return id;
}

static inline void listen_on(int i, enum rdma_port_space ps, uint16_t port)
{
	listener[i] = new_id(0, ps);
	if (rdma_bind_addr(listener[i], address(server, port)) || rdma_listen(listener[i], 8))
		bail_out("listen: %s", strerror(errno));
}

/* ---- Queue pairs ------------------------------------------------------- */

static inline void open_side(int i, const struct rdma_cm_id *id)
{
	const unsigned int access = XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE |
				    XV_ACCESS_REMOTE_READ;
	struct xv_cq_init_attr cq = { .cqe = 1024 };
	struct side *s = &side[i];

	s->buf = calloc(1, BUFFER);
	s->ctx = xv_cm_open(id);
	if (!s->ctx)
		bail_out("%s", xv_cm_last_error());
	s->pd = xv_alloc_pd(s->ctx);
	s->mr = s->pd ? xv_reg_mr(s->pd, s->buf, BUFFER, access) : NULL;
	s->send_cq = s->mr ? xv_create_cq(s->ctx, &cq) : NULL;
	s->cq = s->send_cq ? xv_create_cq(s->ctx, &cq) : NULL;
	if (!s->cq)
		bail_out("%s", xv_last_error());
}

static inline struct xv_qp *new_qp(int i, enum xv_qp_type type)
{
	struct xv_qp_init_attr attr = {
		.qp_type = type, .send_cq = side[i].send_cq, .recv_cq = side[i].cq,
		.cap = { .max_send_wr = 32, .max_recv_wr = 32, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	struct xv_qp *qp = xv_create_qp(side[i].pd, &attr);

	if (!qp)
		bail_out("%s", xv_last_error());
	return qp;
}

/* A queue pair that is ready for receives */
static inline struct xv_qp *ready_qp(int i, struct rdma_cm_id *id, enum xv_qp_type type)
{
	struct xv_qp *qp = new_qp(i, type);

	if (xv_cm_init_qp(id, qp))
		bail_out("%s", xv_cm_last_error());
	return qp;
}

static inline struct xv_sge sge(int i, size_t offset, uint32_t length)
{
	return (struct xv_sge) { (uintptr_t)side[i].buf + offset, length, side[i].mr->lkey };
}

static inline void receive(int i, struct xv_qp *qp, size_t offset, uint32_t length)
{
	struct xv_sge to = sge(i, offset, length);

	if (xv_wr_recv(qp, offset, &to))
		bail_out("receive queue full");
	xv_commit_recv(qp);
}

static inline bool completion(struct xv_cq *cq, struct xv_wc *wc, enum xv_wc_status status)
{
	int left = WAIT_MS * 10;

	while (!xv_poll_cq(cq, 1, wc)) {
		if (!left--) {
			diag("no completion, expected %s", xv_wc_status_str(status));
			return false;
		}
		usleep(100);
	}
	if (wc->status != status)
		diag("%s, expected %s", xv_wc_status_str(wc->status), xv_wc_status_str(status));
	return wc->status == status;
}

static inline bool received(int i, struct xv_wc *wc, enum xv_wc_status status)
{
	return completion(side[i].cq, wc, status);
}

static inline bool sent(int i, enum xv_wc_status status)
{
	struct xv_wc wc;

	return completion(side[i].send_cq, &wc, status);
}

static inline void drain(struct xv_cq *cq)
{
	struct xv_wc wc;

	while (xv_poll_cq(cq, 1, &wc))
		;
}

static inline void fill(uint8_t *p, uint32_t seed)
{
	for (size_t i = 0; i < LEN; i++)
		p[i] = (uint8_t)(i * 31 + seed * 17 + (i >> 8));
}

/* ---- Connections and datagrams ------------------------------------------ */

static inline struct rdma_conn_param with(const char *text, size_t length)
{
	return (struct rdma_conn_param) {
		.private_data = text, .private_data_len = (uint8_t)length,
		.responder_resources = 4, .initiator_depth = 4, .retry_count = 1,
		.rnr_retry_count = 7,
	};
}

static inline bool has(const void *data, size_t length, const char *text, size_t n)
{
	return length >= n && !memcmp(data, text, n);
}

/* Events that are still to come belong to these ids only. */
static inline void release(struct conn *c)
{
	for (int i = 0; i < 2; i++) {
		if (c->qp[i] && xv_destroy_qp(c->qp[i]))
			bail_out("%s", xv_last_error());
		if (c->id[i] && rdma_destroy_id(c->id[i]))
			bail_out("rdma_destroy_id: %s", strerror(errno));
		drain(side[i].cq);
		drain(side[i].send_cq);
	}
	*c = (struct conn) { 0 };
}

static inline bool run(const char *command)
{
	return !system(command);
}

static inline bool is_ethernet(int i)
{
	struct xv_port_attr attr;

	return !xv_query_port(side[i].ctx, 1, &attr) &&
	       attr.link_layer == XV_LINK_LAYER_ETHERNET;
}

/* Both sides with their objects; ns may be NULL. */
static inline void open_sides(const char *address_of_server, const char *ns)
{
	struct rdma_cm_id *id;

	server = address_of_server;
	netns = ns;
	for (int i = 0; i < 2; i++) {
		side[i].channel = rdma_create_event_channel();
		if (!side[i].channel)
			tap_skip_all("no rdma_cm: %s", strerror(errno));
	}
	listen_on(0, RDMA_PS_TCP, PORT);
	listen_on(1, RDMA_PS_UDP, PORT);
	open_side(0, listener[0]);
	id = route(RDMA_PS_TCP, PORT);
	open_side(1, id);
	ok(!strcmp(side[1].ctx->name, ibv_get_device_name(id->verbs->device)),
	   "ADDR_RESOLVED, ROUTE_RESOLVED: the id is on %s", side[1].ctx->name);
	rdma_destroy_id(id);
}

static inline void close_sides(void)
{
	rdma_destroy_id(listener[0]);
	rdma_destroy_id(listener[1]);
	for (int i = 0; i < 2; i++) {
		ok(!xv_close(side[i].ctx), "the objects of side %d are destroyed", i);
		rdma_destroy_event_channel(side[i].channel);
		free(side[i].buf);
	}
}

#endif
