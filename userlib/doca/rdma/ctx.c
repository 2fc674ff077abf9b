// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Start and stop of a context, and its file descriptor for programs that sleep.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include "rdma.h"

static doca_error_t query_port(struct doca_rdma *rdma)
{
	struct xvd_rdma_port *port = &rdma->port;
	struct xv_context *ctx = rdma->ctx.dev->ctx;
	struct xv_port_attr attr;
	int index = rdma->config.gid_index, err;

	err = xv_query_port(ctx, XVD_RDMA_PORT, &attr);
	if (err)
		return xvd_error(err);
	if (index < 0)
		index = xv_default_gid_index(ctx, XVD_RDMA_PORT);
	if (index < 0)
		return xvd_error(index);
	err = xv_query_gid(ctx, XVD_RDMA_PORT, (uint32_t)index, &port->gid);
	if (err)
		return xvd_error(err);
	port->mtu = attr.active_mtu;
	if (rdma->config.mtu && rdma->config.mtu < port->mtu)
		port->mtu = rdma->config.mtu;
	port->link_layer = attr.link_layer;
	port->lid = (uint16_t)attr.lid;
	port->gid_index = (uint8_t)index;
	port->ifindex = attr.ifindex;
	return DOCA_SUCCESS;
}

/* Returns an epoll file descriptor for that of the completions; rdma_cm may add another. */
static int create_epoll(struct doca_rdma *rdma)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = rdma->channel->fd, flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		return -1;
	rdma->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (rdma->epoll_fd < 0)
		return -1;
	return epoll_ctl(rdma->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static struct xv_cq *create_cq(struct doca_rdma *rdma, uint32_t entries)
{
	const struct xv_cq_init_attr attr = {
		.cqe = entries,
		.flags = XV_CQ_SINGLE_THREADED,
		.channel = rdma->channel,
	};

	return xv_create_cq(rdma->ctx.dev->ctx, &attr);
}

/*
 * Entries of the send ring of a queue pair.  The kernel makes it for requests of the longest kind;
 * shorter ones take one entry each, so there can be more of them than the configuration says.
 */
static uint64_t ring_entries(const struct xvd_rdma_config *config)
{
	uint64_t bytes = sizeof(struct mlx5r_ctrl) + sizeof(struct mlx5r_raddr) +
			 (uint64_t)config->send_list_len * sizeof(struct mlx5r_data);
	uint64_t n = 1, least;

	if (config->transport == DOCA_RDMA_TRANSPORT_TYPE_DC)
		bytes += sizeof(struct mlx5r_av);
	least = config->send_queue_size * ((bytes + MLX5R_WQEBB - 1) / MLX5R_WQEBB);
	while (n < least)
		n *= 2;
	return n;
}

/* Returns false and leaves errno if something is missing. */
static bool create_queues(struct doca_rdma *rdma)
{
	const struct xvd_rdma_config *config = &rdma->config;
	struct xv_srq_init_attr srq = {
		.attr = { .max_wr = config->recv_queue_size, .max_sge = config->recv_list_len },
		.flags = XV_SRQ_SINGLE_THREADED,
	};
	uint64_t sends = config->max_conns * ring_entries(config);

	if (sends > UINT32_MAX) {
		errno = E2BIG;
		return false;
	}
	rdma->channel = xv_create_comp_channel(rdma->ctx.dev->ctx);
	if (!rdma->channel || create_epoll(rdma))
		return false;
	rdma->send_cq = create_cq(rdma, (uint32_t)sends);
	if (!rdma->send_cq)
		return false;
	rdma->srq = xv_create_srq(rdma->ctx.dev->pd, &srq);
	if (!rdma->srq)
		return false;
	/* The kernel may make the queue larger. */
	rdma->recv_cq = create_cq(rdma, srq.attr.max_wr);
	return rdma->recv_cq != NULL;
}

static doca_error_t stop(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = xvd_rdma_of(ctx);
	uint16_t i;

	for (i = 0; rdma->conns && i < rdma->config.max_conns; i++)
		xvd_rdma_free_conn(&rdma->conns[i]);
	xvd_rdma_cm_stop(rdma);
	if (rdma->dct)
		xv_destroy_dct(rdma->dct);
	if (rdma->srq)
		xv_destroy_srq(rdma->srq);
	if (rdma->recv_cq)
		xv_destroy_cq(rdma->recv_cq);
	if (rdma->send_cq)
		xv_destroy_cq(rdma->send_cq);
	if (rdma->epoll_fd >= 0)
		close(rdma->epoll_fd);
	if (rdma->channel)
		xv_destroy_comp_channel(rdma->channel);
	free(rdma->conns);
	rdma->dct = NULL;
	rdma->srq = NULL;
	rdma->recv_cq = NULL;
	rdma->send_cq = NULL;
	rdma->epoll_fd = -1;
	rdma->channel = NULL;
	rdma->conns = NULL;
	return DOCA_SUCCESS;
}

static doca_error_t start(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = xvd_rdma_of(ctx);
	doca_error_t result = query_port(rdma);

	if (result != DOCA_SUCCESS)
		return result;
	rdma->conns = calloc(rdma->config.max_conns, sizeof(*rdma->conns));
	if (!rdma->conns)
		return DOCA_ERROR_NO_MEMORY;
	if (!create_queues(rdma) ||
	    getrandom(&rdma->dc_key, sizeof(rdma->dc_key), 0) != sizeof(rdma->dc_key))
		result = xvd_error(errno);
	else if (rdma->config.transport == DOCA_RDMA_TRANSPORT_TYPE_DC)
		result = xvd_rdma_create_target(rdma);
	if (result != DOCA_SUCCESS)
		stop(ctx);
	return result;
}

/* From now on nothing is sent or received; progress() completes the tasks. */
static void cancel(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = xvd_rdma_of(ctx);
	uint16_t i;

	for (i = 0; i < rdma->config.max_conns; i++)
		if (rdma->conns[i].qp)
			xvd_rdma_fail_conn(&rdma->conns[i]);
}

/* ---- Sleeping ---------------------------------------------------------------------------- */

static int event_fd(struct doca_ctx *ctx)
{
	return xvd_rdma_of(ctx)->epoll_fd;
}

static bool request_notification(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = xvd_rdma_of(ctx);

	/* Tasks are left that only progress() can complete. */
	if (ctx->state == DOCA_CTX_STATE_STOPPING || xvd_rdma_is_lost(ctx))
		return true;
	xv_req_notify(rdma->send_cq, 0);
	xv_req_notify(rdma->recv_cq, 0);
	return xv_cq_next(rdma->send_cq) || xv_cq_next(rdma->recv_cq);
}

static void clear_notification(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = xvd_rdma_of(ctx);
	struct xv_cq *cq;
	void *context;

	while (!xv_get_cq_event(rdma->channel, &cq, &context))
		xv_ack_cq_events(cq, 1);
	rdma->cm.check = true;
}

const struct xvd_ctx_ops xvd_rdma_ctx_ops = {
	.start = start,
	.cancel = cancel,
	.stop = stop,
	.progress = xvd_rdma_progress,
	.flush = xvd_rdma_flush,
	.event_fd = event_fd,
	.request_notification = request_notification,
	.clear_notification = clear_notification,
};
