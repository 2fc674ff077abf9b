// SPDX-License-Identifier: GPL-2.0
/*
 * usage: rc_tcp -d DEVICE -g GID-INDEX -p PORT [SERVER]
 *
 * The steps of the program in chapter 7.2 of the RDMA Aware Networks Programming User Manual:
 * both ends exchange the addresses of their queue pairs and memory over TCP; the server sends,
 * then the client reads from the server and writes to it.  Each end compares what arrives.
 */
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>
#include "verbs.h"

enum { SIZE = 64 };

static const char sent[SIZE] = "a message of the server", to_read[SIZE] = "memory of the server",
		  to_write[SIZE] = "written by the client";

/* What one end tells the other; both are on machines with the same order of bytes. */
struct hello {
	struct place place;
	uint64_t addr;
	uint32_t rkey;
	uint32_t qp_num;
};

static struct {
	const char *device, *port, *server;	/* server: null for the server */
	int gid_index;
} opt;

static int sock;
static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static struct ibv_qp *qp;
static struct hello mine, theirs;
static char buf[SIZE];

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "d:g:p:")) != -1) {
		switch (c) {
		case 'd': opt.device = optarg; break;
		case 'g': opt.gid_index = atoi(optarg); break;
		case 'p': opt.port = optarg; break;
		default: exit(2);
		}
	}
	opt.server = argv[optind];
	need(opt.device && opt.port, "usage: rc_tcp -d DEVICE -g GID-INDEX -p PORT [SERVER]");
}

/* ---- The connection over TCP --------------------------------------------------------------- */

static int accept_one(const struct addrinfo *at)
{
	int listener = socket(at->ai_family, at->ai_socktype, 0), on = 1, fd;

	need(listener >= 0 &&
	     !setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) &&
	     !bind(listener, at->ai_addr, at->ai_addrlen) && !listen(listener, 1), "listen");
	fd = accept(listener, NULL, NULL);
	close(listener);
	return fd;
}

static int open_socket(void)
{
	struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM,
				  .ai_flags = opt.server ? 0 : AI_PASSIVE }, *found;
	int fd;

	need(!getaddrinfo(opt.server, opt.port, &hints, &found), "getaddrinfo");
	if (opt.server) {
		fd = socket(found->ai_family, found->ai_socktype, 0);
		need(fd >= 0 && !connect(fd, found->ai_addr, found->ai_addrlen), "connect");
	} else {
		fd = accept_one(found);
		need(fd >= 0, "accept");
	}
	freeaddrinfo(found);
	return fd;
}

/* Both ends call it, so it also waits for the other. */
static void swap(const void *out, void *in, size_t n)
{
	need(send(sock, out, n, 0) == (ssize_t)n && recv(sock, in, n, MSG_WAITALL) == (ssize_t)n,
	     "the peer is gone");
}

static void meet(char point)
{
	char other;

	swap(&point, &other, 1);
	need(other == point, "the peer is at another point");
}

/* ---- The queue pair ------------------------------------------------------------------------ */

static void create(void)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	ctx = open_device(opt.device);
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, 2, NULL, NULL, 0);
	mr = pd ? ibv_reg_mr(pd, buf, SIZE, ACCESS) : NULL;
	need(cq && mr, "PD, CQ, MR");
	attr.send_cq = attr.recv_cq = cq;
	qp = ibv_create_qp(pd, &attr);
	need(qp != NULL, "ibv_create_qp");
	mine = (struct hello) { .place = place_of(ctx, opt.gid_index), .addr = (uintptr_t)buf,
				.rkey = mr->rkey, .qp_num = qp->qp_num };
}

static void destroy(void)
{
	need(!ibv_destroy_qp(qp) && !ibv_dereg_mr(mr) && !ibv_destroy_cq(cq) &&
	     !ibv_dealloc_pd(pd) && !ibv_close_device(ctx), "destroy");
}

static void post_receive(void)
{
	struct ibv_sge sge = { (uintptr_t)buf, SIZE, mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	need(!ibv_post_recv(qp, &wr, &bad), "ibv_post_recv");
}

static void post_send(enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge = { (uintptr_t)buf, SIZE, mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.wr.rdma = { theirs.addr, theirs.rkey },
	};

	need(!ibv_post_send(qp, &wr, &bad), "ibv_post_send");
}

static void wait_for(enum ibv_wc_opcode opcode)
{
	double until = now() + 10;
	struct ibv_wc wc;

	while (!ibv_poll_cq(cq, 1, &wc))
		need(now() < until, "no completion");
	if (wc.status || wc.opcode != opcode)
		bail_out("completion: %s, opcode %d", ibv_wc_status_str(wc.status), wc.opcode);
}

static void compare(const char *with)
{
	if (memcmp(buf, with, SIZE))
		bail_out("expected \"%s\", got \"%.*s\"", with, SIZE, buf);
	printf("got \"%s\"\n", buf);
}

static void server(void)
{
	memcpy(buf, sent, SIZE);
	post_send(IBV_WR_SEND);
	wait_for(IBV_WC_SEND);
	memcpy(buf, to_read, SIZE);
	meet('r');
	meet('w');
	compare(to_write);
}

static void client(void)
{
	wait_for(IBV_WC_RECV);
	compare(sent);
	meet('r');
	post_send(IBV_WR_RDMA_READ);
	wait_for(IBV_WC_RDMA_READ);
	compare(to_read);
	memcpy(buf, to_write, SIZE);
	post_send(IBV_WR_RDMA_WRITE);
	wait_for(IBV_WC_RDMA_WRITE);
	meet('w');
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	sock = open_socket();
	create();
	swap(&mine, &theirs, sizeof(mine));
	rc_init(qp);
	if (opt.server)
		post_receive();
	rc_connect(qp, theirs.qp_num, path_to(&theirs.place, opt.gid_index));
	meet('c');
	if (opt.server)
		client();
	else
		server();
	meet('e');
	destroy();
	puts("send, read and write compared");
	return 0;
}
