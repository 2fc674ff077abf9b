// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections by rdma_cm.  Each context has an event channel, whose events are handled in
 * progress().
 *
 *	this side connects:	RESOLVING -> REQUESTING -> CONNECTED
 *	the peer connects:	REQUESTED -> ACCEPTED -> CONNECTED
 *	then:			DISCONNECTING (by this side) -> FREE
 *				DISCONNECTED (by the peer) -> FREE
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <infiniband/ib.h>
#include <xverbs/cm.h>
#include "rdma.h"

#define RESOLVE_MS	2000
#define BACKLOG		64
#define EVENTS		16		/* in one call of progress() */
#define MAX_PRIVATE	196		/* bytes in an accepting message of InfiniBand */

struct xvd_rdma_listener {
	struct xvd_rdma_listener *next;
	struct rdma_cm_id *id;
	uint16_t port;
};

struct doca_rdma_addr {
	enum doca_rdma_addr_type type;
	uint16_t port;
	union xv_gid gid;		/* IPv4 addresses are mapped to IPv6 */
};

/* ---- Addresses --------------------------------------------------------------------------- */

static bool parse(enum doca_rdma_addr_type type, const char *text, union xv_gid *gid)
{
	struct in_addr ipv4;

	switch (type) {
	case DOCA_RDMA_ADDR_TYPE_IPv4:
		if (inet_pton(AF_INET, text, &ipv4) != 1)
			return false;
		*gid = xv_gid_from_ipv4(ipv4.s_addr);
		return true;
	case DOCA_RDMA_ADDR_TYPE_IPv6:
	case DOCA_RDMA_ADDR_TYPE_GID:
		return inet_pton(AF_INET6, text, gid->raw) == 1;
	}
	return false;
}

EXPORT doca_error_t doca_rdma_addr_create(enum doca_rdma_addr_type addr_type, const char *address,
					  uint16_t port, struct doca_rdma_addr **addr)
{
	struct doca_rdma_addr new = { .type = addr_type, .port = port };

	if (!address || !addr || !port || !parse(addr_type, address, &new.gid))
		return DOCA_ERROR_INVALID_VALUE;
	*addr = malloc(sizeof(new));
	if (!*addr)
		return DOCA_ERROR_NO_MEMORY;
	**addr = new;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_rdma_addr_destroy(struct doca_rdma_addr *addr)
{
	if (!addr)
		return DOCA_ERROR_INVALID_VALUE;
	free(addr);
	return DOCA_SUCCESS;
}

union socket_address {
	struct sockaddr any;
	struct sockaddr_in ipv4;
	struct sockaddr_in6 ipv6;
	struct sockaddr_ib ib;
};

static bool is_ipv4(const union xv_gid *gid)
{
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)gid->raw);
}

/* port: 0: any.  GIDs of InfiniBand are addresses of their own, those of RoCE are IP addresses. */
static union socket_address socket_address(const struct doca_rdma *rdma, const union xv_gid *gid,
					   bool as_gid, uint16_t port)
{
	union socket_address a;

	memset(&a, 0, sizeof(a));
	if (is_ipv4(gid)) {
		a.ipv4.sin_family = AF_INET;
		a.ipv4.sin_port = htons(port);
		memcpy(&a.ipv4.sin_addr, gid->raw + 12, 4);
	} else if (as_gid && rdma->port.link_layer == XV_LINK_LAYER_INFINIBAND) {
		a.ib.sib_family = AF_IB;
		a.ib.sib_pkey = htons(0xffff);
		a.ib.sib_sid = htobe64((uint64_t)RDMA_PS_TCP << 16 | port);
		a.ib.sib_sid_mask = port ? htobe64(~0ull) : htobe64(~0xffffull);
		memcpy(&a.ib.sib_addr, gid->raw, sizeof(gid->raw));
	} else {
		a.ipv6.sin6_family = AF_INET6;
		a.ipv6.sin6_port = htons(port);
		memcpy(&a.ipv6.sin6_addr, gid->raw, sizeof(gid->raw));
		if (IN6_IS_ADDR_LINKLOCAL(&a.ipv6.sin6_addr))
			a.ipv6.sin6_scope_id = rdma->port.ifindex;
	}
	return a;
}

/* ---- The event channel ------------------------------------------------------------------- */

static doca_error_t open_channel(struct doca_rdma *rdma)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct rdma_event_channel *channel;
	int flags, err;

	if (rdma->cm.channel)
		return DOCA_SUCCESS;
	channel = rdma_create_event_channel();
	if (!channel)
		return xvd_error(errno);
	flags = fcntl(channel->fd, F_GETFL);
	if (flags < 0 || fcntl(channel->fd, F_SETFL, flags | O_NONBLOCK) ||
	    epoll_ctl(rdma->epoll_fd, EPOLL_CTL_ADD, channel->fd, &event)) {
		err = errno;
		rdma_destroy_event_channel(channel);
		return xvd_error(err);
	}
	rdma->cm.channel = channel;
	return DOCA_SUCCESS;
}

static doca_error_t may_use_cm(const struct doca_rdma *rdma)
{
	if (rdma->ctx.state != DOCA_CTX_STATE_RUNNING || !rdma->request_cb)
		return DOCA_ERROR_BAD_STATE;
	if (rdma->config.transport != DOCA_RDMA_TRANSPORT_TYPE_RC)
		return DOCA_ERROR_NOT_SUPPORTED;
	return DOCA_SUCCESS;
}

/* Requires the id to be on the device of the context. */
static bool on_device(const struct doca_rdma *rdma, const struct rdma_cm_id *id)
{
	return id->verbs &&
	       ibv_get_device_guid(id->verbs->device) == rdma->ctx.dev->info.xv.node_guid;
}

static bool is_pending(enum xvd_rdma_conn_state state)
{
	return state == XVD_RDMA_RESOLVING || state == XVD_RDMA_REQUESTING ||
	       state == XVD_RDMA_ACCEPTED || state == XVD_RDMA_DISCONNECTING;
}

static void set_state(struct doca_rdma_connection *conn, enum xvd_rdma_conn_state state)
{
	conn->rdma->cm.pending += (uint32_t)is_pending(state) - (uint32_t)is_pending(conn->state);
	conn->state = state;
}

void xvd_rdma_free_id(struct doca_rdma_connection *conn)
{
	if (!conn->cm_id)
		return;
	set_state(conn, XVD_RDMA_FREE);
	rdma_destroy_id(conn->cm_id);
	conn->cm_id = NULL;
}

/* All tasks of the connection are complete when its last callback is called. */
static void end_tasks(struct doca_rdma_connection *conn)
{
	if (!conn->qp)
		return;
	xvd_rdma_fail_conn(conn);
	xvd_rdma_drain(conn->rdma);
	xvd_rdma_close_qp(conn);
}

/* ---- Listening --------------------------------------------------------------------------- */

/* For two wildcard addresses, the kernel says that the address is not available. */
static doca_error_t listen_error(void)
{
	return errno == EADDRINUSE || errno == EADDRNOTAVAIL ? DOCA_ERROR_IN_USE :
							       xvd_error(errno);
}

static doca_error_t listen_on(struct doca_rdma *rdma, struct rdma_cm_id *id, uint16_t port)
{
	const union xv_gid any = { .raw = { 0 } };
	union socket_address a = socket_address(rdma, &any, false, port);

	if (rdma_bind_addr(id, &a.any) || rdma_listen(id, BACKLOG))
		return listen_error();
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_rdma_start_listen_to_port(struct doca_rdma *rdma, uint16_t port)
{
	struct xvd_rdma_listener *new;
	doca_error_t result;

	if (!rdma || !port)
		return DOCA_ERROR_INVALID_VALUE;
	result = may_use_cm(rdma);
	if (result == DOCA_SUCCESS)
		result = open_channel(rdma);
	if (result != DOCA_SUCCESS)
		return result;
	new = malloc(sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	if (rdma_create_id(rdma->cm.channel, &new->id, NULL, RDMA_PS_TCP)) {
		free(new);
		return xvd_error(errno);
	}
	result = listen_on(rdma, new->id, port);
	if (result != DOCA_SUCCESS) {
		rdma_destroy_id(new->id);
		free(new);
		return result;
	}
	new->port = port;
	new->next = rdma->cm.listeners;
	rdma->cm.listeners = new;
	return DOCA_SUCCESS;
}

static void free_listener(struct xvd_rdma_listener **link)
{
	struct xvd_rdma_listener *l = *link;

	*link = l->next;
	rdma_destroy_id(l->id);
	free(l);
}

EXPORT doca_error_t doca_rdma_stop_listen_to_port(struct doca_rdma *rdma, uint16_t port)
{
	struct xvd_rdma_listener **link;

	if (!rdma || !port)
		return DOCA_ERROR_INVALID_VALUE;
	for (link = &rdma->cm.listeners; *link; link = &(*link)->next) {
		if ((*link)->port != port)
			continue;
		free_listener(link);
		return DOCA_SUCCESS;
	}
	return DOCA_ERROR_NOT_FOUND;
}

void xvd_rdma_cm_stop(struct doca_rdma *rdma)
{
	while (rdma->cm.listeners)
		free_listener(&rdma->cm.listeners);
	if (rdma->cm.channel)
		rdma_destroy_event_channel(rdma->cm.channel);
	memset(&rdma->cm, 0, sizeof(rdma->cm));
}

/* ---- Connecting -------------------------------------------------------------------------- */

/* The source address, of the same kind as that of the peer, makes the kernel use this device. */
static int resolve_addr(struct doca_rdma *rdma, struct rdma_cm_id *id,
			const struct doca_rdma_addr *addr)
{
	bool as_gid = addr->type == DOCA_RDMA_ADDR_TYPE_GID;
	union socket_address to = socket_address(rdma, &addr->gid, as_gid, addr->port);
	union socket_address from = socket_address(rdma, &rdma->port.gid, as_gid, 0);
	bool same = from.any.sa_family == to.any.sa_family;

	return rdma_resolve_addr(id, same ? &from.any : NULL, &to.any, RESOLVE_MS);
}

/* The peer uses the class of the request for its own packets. */
static int set_class(const struct doca_rdma *rdma, struct rdma_cm_id *id)
{
	uint8_t class = rdma->config.traffic_class;

	if (!class)
		return 0;
	return rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &class, sizeof(class));
}

EXPORT doca_error_t doca_rdma_connect_to_addr(struct doca_rdma *rdma, struct doca_rdma_addr *addr,
					      union doca_data connection_user_data)
{
	struct doca_rdma_connection *conn;
	doca_error_t result;

	if (!rdma || !addr)
		return DOCA_ERROR_INVALID_VALUE;
	result = may_use_cm(rdma);
	if (result == DOCA_SUCCESS)
		result = open_channel(rdma);
	if (result == DOCA_SUCCESS)
		result = xvd_rdma_new_conn(rdma, &conn);
	if (result != DOCA_SUCCESS)
		return result;
	conn->user_data = connection_user_data;
	if (rdma_create_id(rdma->cm.channel, &conn->cm_id, conn, RDMA_PS_TCP))
		return xvd_error(errno);
	if (set_class(rdma, conn->cm_id) || resolve_addr(rdma, conn->cm_id, addr)) {
		result = xvd_error(errno);
		xvd_rdma_free_conn(conn);
		return result;
	}
	set_state(conn, XVD_RDMA_RESOLVING);
	return DOCA_SUCCESS;
}

static int create_qp(struct doca_rdma_connection *conn)
{
	int err = xvd_rdma_create_qp(conn);

	return err ? err : xv_cm_init_qp(conn->cm_id, conn->qp);
}

static struct rdma_conn_param param_of(const struct doca_rdma *rdma)
{
	return (struct rdma_conn_param) {
		.responder_resources = RDMA_MAX_RESP_RES,
		.initiator_depth = RDMA_MAX_INIT_DEPTH,
		.retry_count = XVD_RDMA_RETRY_COUNT,
		.rnr_retry_count = rdma->config.rnr_retry,
	};
}

EXPORT doca_error_t doca_rdma_connection_accept(struct doca_rdma_connection *rdma_connection,
						void *private_data, uint8_t private_data_len)
{
	struct doca_rdma_connection *conn = rdma_connection;
	struct rdma_conn_param param;
	int err;

	if (!conn || private_data_len > MAX_PRIVATE || (private_data_len && !private_data))
		return DOCA_ERROR_INVALID_VALUE;
	if (conn->state != XVD_RDMA_REQUESTED)
		return DOCA_ERROR_BAD_STATE;
	param = param_of(conn->rdma);
	param.private_data = private_data;
	param.private_data_len = private_data_len;
	err = create_qp(conn);
	if (!err)
		err = xv_cm_accept_restricted(conn->cm_id, conn->qp, &param,
					      xvd_rdma_access(conn->rdma));
	if (err)
		xvd_rdma_free_conn(conn);
	else
		set_state(conn, XVD_RDMA_ACCEPTED);
	return xvd_error(err);
}

EXPORT doca_error_t doca_rdma_connection_reject(struct doca_rdma_connection *rdma_connection)
{
	int err;

	if (!rdma_connection)
		return DOCA_ERROR_INVALID_VALUE;
	if (rdma_connection->state != XVD_RDMA_REQUESTED)
		return DOCA_ERROR_BAD_STATE;
	err = rdma_reject(rdma_connection->cm_id, NULL, 0) ? errno : 0;
	xvd_rdma_free_conn(rdma_connection);
	return xvd_error(err);
}

EXPORT doca_error_t doca_rdma_connection_disconnect(struct doca_rdma_connection *rdma_connection)
{
	struct doca_rdma_connection *conn = rdma_connection;
	bool established;

	if (!conn)
		return DOCA_ERROR_INVALID_VALUE;
	if (conn->state == XVD_RDMA_DISCONNECTING || conn->state == XVD_RDMA_FREE)
		return DOCA_SUCCESS;
	established = conn->state == XVD_RDMA_CONNECTED || conn->state == XVD_RDMA_FAILED;
	if (!conn->cm_id || (!established && conn->state != XVD_RDMA_DISCONNECTED))
		return DOCA_ERROR_BAD_STATE;
	/* The answer to the peer fails if both have disconnected at the same time. */
	if (xv_cm_disconnect(conn->cm_id, conn->qp) && established)
		return DOCA_ERROR_DRIVER;
	if (established)
		set_state(conn, XVD_RDMA_DISCONNECTING);
	return DOCA_SUCCESS;
}

/* ---- Events ------------------------------------------------------------------------------ */

static void request(struct doca_rdma *rdma, struct rdma_cm_id *id)
{
	struct doca_rdma_connection *conn;

	if (rdma->ctx.state != DOCA_CTX_STATE_RUNNING || !on_device(rdma, id) ||
	    xvd_rdma_new_conn(rdma, &conn) != DOCA_SUCCESS) {
		rdma_reject(id, NULL, 0);
		rdma_destroy_id(id);
		return;
	}
	conn->cm_id = id;
	id->context = conn;
	set_state(conn, XVD_RDMA_REQUESTED);
	rdma->request_cb(conn, rdma->ctx.user_data);
}

static void fail(struct doca_rdma_connection *conn)
{
	struct doca_rdma *rdma = conn->rdma;

	set_state(conn, XVD_RDMA_FAILED);
	end_tasks(conn);
	rdma->failure_cb(conn, conn->user_data, rdma->ctx.user_data);
	xvd_rdma_free_conn(conn);
}

static void established(struct doca_rdma_connection *conn)
{
	set_state(conn, XVD_RDMA_CONNECTED);
	conn->rdma->established_cb(conn, conn->user_data, conn->rdma->ctx.user_data);
}

static void address_resolved(struct doca_rdma_connection *conn)
{
	if (!on_device(conn->rdma, conn->cm_id) || rdma_resolve_route(conn->cm_id, RESOLVE_MS))
		fail(conn);
}

static void route_resolved(struct doca_rdma_connection *conn)
{
	struct rdma_conn_param param = param_of(conn->rdma);

	if (!create_qp(conn) && !xv_cm_connect(conn->cm_id, conn->qp, &param))
		set_state(conn, XVD_RDMA_REQUESTING);
	else
		fail(conn);
}

static void response(struct doca_rdma_connection *conn)
{
	if (!xv_cm_establish_restricted(conn->cm_id, conn->qp, xvd_rdma_access(conn->rdma)))
		established(conn);
	else
		fail(conn);
}

static void disconnected(struct doca_rdma_connection *conn)
{
	struct doca_rdma *rdma = conn->rdma;

	set_state(conn, XVD_RDMA_DISCONNECTED);
	end_tasks(conn);
	rdma->disconnection_cb(conn, conn->user_data, rdma->ctx.user_data);
	xv_cm_disconnect(conn->cm_id, NULL);
	xvd_rdma_free_conn(conn);
}

static void handle(struct doca_rdma *rdma, enum rdma_cm_event_type event, struct rdma_cm_id *id)
{
	struct doca_rdma_connection *conn = id->context;

	switch (event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		request(rdma, id);
		break;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		address_resolved(conn);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		route_resolved(conn);
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		response(conn);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (conn->state == XVD_RDMA_ACCEPTED &&
		    rdma->ctx.state == DOCA_CTX_STATE_RUNNING)
			established(conn);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		if (conn)
			disconnected(conn);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
		fail(conn);
		break;
	default:
		break;
	}
}

/* True in each period of the coarse clock, a few milliseconds, for the first call */
static bool clock_advanced(struct xvd_rdma_cm *cm)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (now.tv_nsec == cm->checked.tv_nsec && now.tv_sec == cm->checked.tv_sec)
		return false;
	cm->checked = now;
	return true;
}

unsigned int xvd_rdma_cm_progress(struct doca_rdma *rdma)
{
	enum rdma_cm_event_type type;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	unsigned int n;

	if (!rdma->cm.pending && !rdma->cm.check && !clock_advanced(&rdma->cm))
		return 0;
	rdma->cm.check = false;
	for (n = 0; n < EVENTS && !rdma_get_cm_event(rdma->cm.channel, &event); n++) {
		type = event->event;
		id = event->id;
		rdma_ack_cm_event(event);
		handle(rdma, type, id);
	}
	/* Peers may send requests faster than this loop handles them. */
	rdma->cm.check |= n == EVENTS;
	return n;
}
