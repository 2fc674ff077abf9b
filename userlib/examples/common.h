/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Functions shared by the examples: options, a TCP connection to exchange parameters,
 * and the transitions of an RC queue pair to RTS.  Without HOST, a program is the
 * server.
 */
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>
#include <xverbs/xverbs.h>

#define UNUSED __attribute__((unused))

/* Exits if a call of libxverbs fails. */
#define CHECK(good)	do { if (!(good)) errx(1, "%s: %s", #good, xv_last_error()); } while (0)

static struct {
	const char *device;
	const char *tcp_port;
	const char *host;		/* NULL: server */
	uint32_t port;
	int gid_index;
} opt = { .tcp_port = "18515", .port = 1, .gid_index = -1 };

static UNUSED void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "d:p:i:g:")) != -1) {
		switch (c) {
		case 'd': opt.device = optarg; break;
		case 'p': opt.tcp_port = optarg; break;
		case 'i': opt.port = (uint32_t)atoi(optarg); break;
		case 'g': opt.gid_index = atoi(optarg); break;
		default:
			errx(2, "usage: %s [-d DEVICE] [-p TCP-PORT] [-i PORT] [-g GID-INDEX] "
			     "[HOST]", argv[0]);
		}
	}
	opt.host = argv[optind];
}

/* ---- TCP --------------------------------------------------------------- */

static UNUSED int connect_tcp(void)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = opt.host ? 0 : AI_PASSIVE,
	};
	struct addrinfo *ai;
	int fd, one = 1, tries = 100;

	if (getaddrinfo(opt.host, opt.tcp_port, &hints, &ai))
		errx(1, "cannot resolve %s", opt.host ? opt.host : "the local address");
	if (!opt.host) {
		int listener = socket(ai->ai_family, SOCK_STREAM, 0);

		setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (bind(listener, ai->ai_addr, ai->ai_addrlen) || listen(listener, 1))
			err(1, "listen on port %s", opt.tcp_port);
		fd = accept(listener, NULL, NULL);
		close(listener);
	} else {
		fd = socket(ai->ai_family, SOCK_STREAM, 0);
		while (connect(fd, ai->ai_addr, ai->ai_addrlen) && --tries)
			usleep(100000);
	}
	if (fd < 0 || !tries)
		err(1, "cannot connect");
	freeaddrinfo(ai);
	return fd;
}

/* Both sides send their data and wait for the data of the peer: also a barrier. */
static UNUSED void swap(int fd, const void *mine, void *theirs, size_t n)
{
	if (write(fd, mine, n) != (ssize_t)n ||
	    recv(fd, theirs, n, MSG_WAITALL) != (ssize_t)n)
		errx(1, "connection to the peer lost");
}

static UNUSED void barrier(int fd)
{
	char mine = 0, theirs;

	swap(fd, &mine, &theirs, 1);
}

/* ---- Connecting -------------------------------------------------------- */

/* Parameters that one side sends to the other; both are little-endian. */
struct peer {
	uint32_t qpn;
	uint32_t psn;
	uint32_t lid;
	uint32_t rkey;
	uint32_t mtu;
	uint64_t addr;
	union xv_gid gid;
};

/* The first packet number of the queue pairs of this process, which others must not guess */
static UNUSED uint32_t own_psn(void)
{
	static uint32_t psn;

	if (!psn && getrandom(&psn, sizeof(psn), 0) != sizeof(psn))
		err(1, "getrandom");
	return psn & 0xffffff;
}

static UNUSED struct peer describe(struct xv_context *ctx, const struct xv_qp *qp,
				   const struct xv_mr *mr)
{
	struct peer me = { .qpn = qp->qp_num, .psn = own_psn() };
	struct xv_port_attr attr;

	if (opt.gid_index < 0)
		opt.gid_index = xv_default_gid_index(ctx, opt.port);
	CHECK(opt.gid_index >= 0);
	CHECK(!xv_query_port(ctx, opt.port, &attr));
	CHECK(!xv_query_gid(ctx, opt.port, (uint32_t)opt.gid_index, &me.gid));
	me.lid = attr.lid;
	me.mtu = attr.active_mtu;
	if (mr) {
		me.addr = (uintptr_t)mr->addr;
		me.rkey = mr->rkey;
	}
	return me;
}

static UNUSED struct xv_ah_attr path_to(const struct peer *peer)
{
	return (struct xv_ah_attr) {
		.dlid = (uint16_t)peer->lid,
		.port_num = (uint8_t)opt.port,
		.is_global = 1,
		.grh = { .dgid = peer->gid, .sgid_index = (uint8_t)opt.gid_index, .hop_limit = 64 },
	};
}

static UNUSED void connect_rc(struct xv_qp *qp, const struct peer *peer)
{
	struct xv_qp_attr a = {
		.qp_state = XV_QPS_INIT,
		.port_num = (uint8_t)opt.port,
		.qp_access_flags = XV_ACCESS_REMOTE_READ | XV_ACCESS_REMOTE_WRITE |
				   XV_ACCESS_REMOTE_ATOMIC,
		.path_mtu = (enum xv_mtu)peer->mtu,
		.dest_qp_num = peer->qpn,
		.rq_psn = peer->psn,
		.sq_psn = own_psn(),
		.ah_attr = path_to(peer),
		.max_dest_rd_atomic = 4,
		.max_rd_atomic = 4,
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
	};

	CHECK(!xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_PKEY_INDEX | XV_QP_PORT |
			    XV_QP_ACCESS_FLAGS));
	a.qp_state = XV_QPS_RTR;
	CHECK(!xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_AV | XV_QP_PATH_MTU | XV_QP_DEST_QPN |
			    XV_QP_RQ_PSN | XV_QP_MAX_DEST_RD_ATOMIC | XV_QP_MIN_RNR_TIMER));
	a.qp_state = XV_QPS_RTS;
	CHECK(!xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_TIMEOUT | XV_QP_RETRY_CNT |
			    XV_QP_RNR_RETRY | XV_QP_SQ_PSN | XV_QP_MAX_QP_RD_ATOMIC));
}

/* Connects two queue pairs of this process. */
static UNUSED void connect_both(struct xv_context *ctx, struct xv_qp *a, struct xv_qp *b)
{
	struct peer pa = describe(ctx, a, NULL), pb = describe(ctx, b, NULL);

	connect_rc(a, &pb);
	connect_rc(b, &pa);
}

/* ---- Completions ------------------------------------------------------- */

static UNUSED struct xv_wc wait_wc(struct xv_cq *cq)
{
	struct xv_wc wc;

	while (!xv_poll_cq(cq, 1, &wc))
		;
	if (wc.status)
		errx(1, "%s failed: %s", xv_wc_opcode_str(wc.opcode), xv_wc_status_str(wc.status));
	return wc;
}

#endif
