// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that end badly, or in odd order.
 *
 * usage: life traffic: endless traffic, until killed
 *	  life order:   wrong orders of destruction
 *	  life fork:    children of a process with an open context
 *	  life pass:    a file descriptor in another process
 *	  life domains: many protection domains, until killed
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "rig.h"

static struct rig r;

static void traffic(void)
{
	struct rig_opts opts = { .size = 1 << 20, .depth = 64 };
	struct xv_wc wc[64];
	uint32_t i = 0;

	rig_open(&r, &opts);
	printf("running\n");
	fflush(stdout);
	for (;;) {
		int side = i & 1;
		struct xv_sge sge = rig_sge(&r, side, 0, 4096), to = rig_sge(&r, !side, 65536, 4096);

		switch (i++ / 2 % 3) {
		case 0:
			xv_wr_write(r.qp[side], i, XV_SEND_SIGNALED, &sge,
				    rig_addr(&r, !side, 8192), r.mr[!side]->rkey);
			break;
		case 1:
			xv_wr_read(r.qp[side], i, XV_SEND_SIGNALED, &sge,
				   rig_addr(&r, !side, 8192), r.mr[!side]->rkey);
			break;
		default:
			if (!xv_wr_recv(r.qp[!side], i, &to)) {
				xv_commit_recv(r.qp[!side]);
				xv_wr_send(r.qp[side], i, XV_SEND_SIGNALED, &sge);
			}
		}
		xv_commit_send(r.qp[side]);
		xv_poll_cq(r.cq[0], 64, wc);
		xv_poll_cq(r.cq[1], 64, wc);
	}
}

static void test_order(void)
{
	struct xv_pd *pd;
	struct xv_mr *mr;
	struct xv_context *ctx;
	struct rig_opts opts = { 0 };
	static char page[4096];

	rig_open(&r, &opts);
	ok(xv_dealloc_pd(r.side[0].pd) == -EBUSY, "a PD in use: EBUSY");
	ok(strstr(xv_last_error(), "PD") != NULL, "the message names it: %s", xv_last_error());
	ok(xv_destroy_cq(r.cq[0]) == -EBUSY, "a CQ in use: EBUSY");
	rig_close(&r);

	ctx = xv_open(rig_device(0));
	pd = ctx ? xv_alloc_pd(ctx) : NULL;
	mr = pd ? xv_reg_mr(pd, page, sizeof(page), XV_ACCESS_LOCAL_WRITE) : NULL;
	ok(mr != NULL, "context, PD, MR");
	ok(!xv_close(ctx), "closing the context takes everything with it");
}

/* Rings that are still mapped when their file is closed stay harmless memory. */
static void test_close_mapped(void)
{
	struct rig_opts opts = { 0 };
	struct xv_sge sge;
	int i, bad = 0;

	rig_open(&r, &opts);
	sge = rig_sge(&r, 0, 0, 64);
	close(r.side[0].ctx->fd);
	close(r.side[1].ctx->fd);
	for (i = 0; i < 16; i++)
		bad += !!xv_wr_write(r.qp[0], 1, XV_SEND_SIGNALED, &sge, rig_addr(&r, 1, 0), 1);
	xv_commit_send(r.qp[0]);
	ok(!bad, "posting after the file was closed writes to memory and no further");
}

static bool one_write(void)
{
	struct xv_sge sge = rig_sge(&r, 0, 0, 4096);

	rig_fill(r.buf[0], 4096, 3);
	memset(r.buf[1], 0, 4096);
	if (xv_wr_write(r.qp[0], 77, XV_SEND_SIGNALED, &sge, rig_addr(&r, 1, 0), r.mr[1]->rkey))
		return false;
	xv_commit_send(r.qp[0]);
	return rig_expect(r.cq[0], 77, XV_WC_SUCCESS) && rig_check(r.buf[1], 4096, 3);
}

static int child_status(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}

static void test_fork(void)
{
	struct rig_opts opts = { 0 };
	int i, bad = 0;
	pid_t pid;

	rig_open(&r, &opts);
	ok(one_write(), "before the fork");
	for (i = 0; i < 5; i++) {
		pid = fork();
		if (!pid) {
			memset(r.buf[0], 0xcc, 4096);
			memset(r.buf[1], 0xcc, 4096);
			_exit(0);
		}
		bad += !one_write() || child_status(pid);
	}
	ok(!bad, "with a child that scribbles on its copy of the buffers");
	pid = fork();
	if (!pid)
		_exit(xv_open(rig_device(0)) ? 0 : 1);
	ok(!child_status(pid), "a child opens a context of its own");
	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	rig_close(&r);
	rig_open(&r, &opts);
	ok(one_write(), "closing and opening while a child holds the old files");
	kill(pid, SIGKILL);
	child_status(pid);
	rig_close(&r);
}

static void send_fd(int sock, int fd)
{
	char space[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = space,
		.msg_controllen = sizeof(space) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (sendmsg(sock, &msg, 0) != 1)
		bail_out("sendmsg");
}

static int recv_fd(int sock)
{
	char space[CMSG_SPACE(sizeof(int))], byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = space,
		.msg_controllen = sizeof(space) };
	int fd;

	if (recvmsg(sock, &msg, 0) != 1 || !CMSG_FIRSTHDR(&msg))
		_exit(9);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

/* The other process gets no further than the queries that need no memory of ours. */
static void stranger(int sock)
{
	struct xv_context ctx = { .fd = recv_fd(sock) };
	struct xv_port_attr attr;
	int bad = xv_query_port(&ctx, 1, &attr) || attr.state != XV_PORT_ACTIVE;

	close(ctx.fd);
	_exit(bad);
}

static void test_pass(void)
{
	struct rig_opts opts = { 0 };
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		bail_out("socketpair");
	pid = fork();
	if (!pid)
		stranger(pair[1]);
	rig_open(&r, &opts);
	send_fd(pair[0], r.side[0].ctx->fd);
	ok(!child_status(pid), "a passed descriptor works in the other process");
	ok(one_write(), "and is not hurt by its closing it");
	rig_close(&r);
}

/* Holds many domains; the caller looks at what that makes in the adapter. */
static void hold_domains(void)
{
	struct xv_context *ctx = xv_open(rig_device(0));
	int i;

	for (i = 0; i < 64; i++)
		if (!ctx || !xv_alloc_pd(ctx))
			bail_out("%s", xv_last_error());
	printf("running\n");
	fflush(stdout);
	pause();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "order";

	rig_devices(argc - 1, argv + 1);
	if (!strcmp(what, "traffic")) {
		traffic();
	} else if (!strcmp(what, "domains")) {
		hold_domains();
	} else if (!strcmp(what, "fork")) {
		test_fork();
	} else if (!strcmp(what, "pass")) {
		test_pass();
	} else {
		test_order();
		test_close_mapped();
	}
	return tap_done();
}
