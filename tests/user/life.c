// SPDX-License-Identifier: GPL-2.0
/*
 * Life cycle of objects, contexts and processes.
 *
 * usage: life traffic: sends traffic until it is killed
 *	  life order:   destroys objects in wrong order
 *	  life close:   checks that xv_close() leaves nothing behind
 *	  life fork:    uses contexts in child processes
 *	  life pass:    passes a file descriptor to another process
 *	  life domains: creates many protection domains and waits until it is killed
 */
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <malloc.h>
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
		struct xv_sge sge = rig_sge(&r, side, 0, 4096);
		struct xv_sge to = rig_sge(&r, !side, 65536, 4096);

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

/* The own address, which every port can resolve */
static struct xv_ah *own_address(struct xv_pd *pd)
{
	int gid = xv_default_gid_index(pd->context, 1);
	struct xv_ah_attr to = { .port_num = 1, .dlid = 1, .is_global = 1,
		.grh = { .sgid_index = (uint8_t)gid, .hop_limit = 1 } };
	struct xv_ah *ah = NULL;

	if (gid >= 0 && !xv_query_gid(pd->context, 1, (uint32_t)gid, &to.grh.dgid))
		ah = xv_create_ah(pd, &to);
	if (!ah)
		bail_out("%s", xv_last_error());
	return ah;
}

static void test_order(void)
{
	struct xv_ah *ah;
	struct xv_pd *pd;
	struct xv_mr *mr;
	struct xv_context *ctx;
	struct rig_opts opts = { 0 };
	static char page[4096];

	rig_open(&r, &opts);
	ok(xv_dealloc_pd(r.side[0].pd) == -EBUSY, "deallocate a PD in use: EBUSY");
	ok(strstr(xv_last_error(), "PD") != NULL, "error text: %s", xv_last_error());
	ok(xv_destroy_cq(r.cq[0]) == -EBUSY, "destroy a CQ in use: EBUSY");
	rig_close(&r);

	ctx = xv_open(rig_device(0));
	pd = ctx ? xv_alloc_pd(ctx) : NULL;
	ah = pd ? own_address(pd) : NULL;
	ok(ah && xv_dealloc_pd(pd) == -EBUSY && strstr(xv_last_error(), "1 address handle"),
	   "deallocate a PD with an address handle: %s", xv_last_error());
	ok(ah && !xv_destroy_ah(ah) && !xv_dealloc_pd(pd),
	   "deallocate the PD without the address handle");
	pd = ctx ? xv_alloc_pd(ctx) : NULL;
	mr = pd ? xv_reg_mr(pd, page, sizeof(page), XV_ACCESS_LOCAL_WRITE) : NULL;
	ok(mr != NULL, "context, PD, MR");
	ok(!xv_close(ctx), "xv_close() destroys all objects");
}

static int child_status(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}

/* ---- Leaks of a context ------------------------------------------------ */

struct left {
	size_t maps, fds, heap, objects;
};

static size_t lines_of(const char *file)
{
	FILE *f = fopen(file, "r");
	size_t n = 0;
	int c;

	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}

static size_t entries_of(const char *dir)
{
	DIR *d = opendir(dir);
	size_t n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/*
 * Number of objects of a kind in xhca; 0 on other adapters.  NULL: all, without mkeys, which
 * mlx5_ib caches, and user contexts, which open files have.
 */
static size_t adapter_objects(const char *kind)
{
	size_t n = 0, i;
	char name[32];
	unsigned int count;
	glob_t g;

	if (glob("/sys/kernel/debug/xhca/[0-9]*/objects", 0, NULL, &g))
		return 0;
	for (i = 0; i < g.gl_pathc; i++) {
		FILE *f = fopen(g.gl_pathv[i], "r");

		while (f && fscanf(f, "%31s %u", name, &count) == 2)
			if (kind ? !strcmp(name, kind) :
				   strcmp(name, "mkeys") && strcmp(name, "uctxs"))
				n += count;
		if (f)
			fclose(f);
	}
	globfree(&g);
	return n;
}

static struct left look(void)
{
	struct left l = { .objects = adapter_objects(NULL) };

	l.maps = lines_of("/proc/self/maps");
	l.fds = entries_of("/proc/self/fd");
	l.heap = mallinfo2().uordblks + mallinfo2().hblkhd;
	return l;
}


/* One object of each kind, used by other objects where possible */
static struct xv_context *full_context(void)
{
	static uint8_t page[2][4096] __attribute__((aligned(4096)));
	const unsigned int access = XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE;
	struct xv_srq_init_attr srq_attr = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct xv_qp_init_attr ud = { .qp_type = XV_QPT_UD, .cap = { 8, 8, 1, 1, 0 } };
	struct xv_qp_init_attr qp_attr = { .qp_type = XV_QPT_RC, .cap = { 16, 0, 1, 0, 64 } };
	struct xv_cq_init_attr cq_attr = { .cqe = 100 };
	struct xv_context *ctx = xv_open(rig_device(0));
	struct xv_pd *pd = ctx ? xv_alloc_pd(ctx) : NULL, *newer;
	struct xv_comp_channel *channel = ctx ? xv_create_comp_channel(ctx) : NULL;
	struct xv_mr *mr;

	if (!pd || !channel)
		bail_out("%s", xv_last_error());
	cq_attr.channel = channel;
	qp_attr.send_cq = qp_attr.recv_cq = xv_create_cq(ctx, &cq_attr);
	qp_attr.srq = xv_create_srq(pd, &srq_attr);
	mr = xv_reg_mr(pd, page[0], sizeof(page[0]), access);
	newer = xv_alloc_pd(ctx);
	if (!qp_attr.send_cq || !qp_attr.srq || !mr || !newer || !xv_create_qp(pd, &qp_attr) ||
	    !xv_alloc_mw(pd, XV_MW_TYPE_2) || !xv_alloc_uar(ctx, 0) ||
	    !xv_reg_umem(ctx, page[1], sizeof(page[1])) || !xv_open_xrcd(ctx, -1, 0) ||
	    xv_rereg_mr(mr, XV_REREG_MR_CHANGE_PD, newer, NULL, 0, 0))
		bail_out("%s", xv_last_error());
	ud.send_cq = ud.recv_cq = qp_attr.send_cq;
	if (!xv_create_qp(pd, &ud) || !own_address(pd))
		bail_out("%s", xv_last_error());
	return ctx;
}

/* Without the thread cache of malloc(), which would count as memory in use */
static void without_thread_cache(char **argv)
{
	if (getenv("GLIBC_TUNABLES"))
		return;
	setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
	execv("/proc/self/exe", argv);
	bail_out("exec: %s", strerror(errno));
}

static void test_close(void)
{
	struct left before, after;
	struct xv_context *ctx;
	int i, bad = 0;
	pid_t pid;

	xv_close(full_context());	/* first use: fills caches */
	look();
	before = look();
	for (i = 0; i < 10; i++)
		bad += xv_close(full_context());
	after = look();
	ok(!bad, "10 contexts with all kinds of objects are opened and closed");
	ok(after.maps == before.maps, "mappings: %zu before, %zu after", before.maps, after.maps);
	ok(after.fds == before.fds,
	   "file descriptors: %zu before, %zu after", before.fds, after.fds);
	ok(after.heap == before.heap, "heap: %zu bytes before, %zu after", before.heap, after.heap);
	ok(after.objects == before.objects, "adapter: %zu objects before, %zu after",
	   before.objects, after.objects);

	ctx = full_context();
	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	xv_close(ctx);
	ok(adapter_objects(NULL) == before.objects,
	   "a child that holds the file does not keep objects");
	kill(pid, SIGKILL);
	child_status(pid);
}

/* The mappings keep the file: the rings can be used after its descriptor is closed. */
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
	ok(!bad, "posts after the descriptor is closed succeed");
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

static void test_fork(void)
{
	struct rig_opts opts = { 0 };
	int i, bad = 0;
	pid_t pid;

	rig_open(&r, &opts);
	ok(one_write(), "traffic before the fork");
	for (i = 0; i < 5; i++) {
		pid = fork();
		if (!pid) {
			memset(r.buf[0], 0xcc, 4096);
			memset(r.buf[1], 0xcc, 4096);
			_exit(0);
		}
		bad += !one_write() || child_status(pid);
	}
	ok(!bad, "traffic while a child writes to its copy of the buffers");
	pid = fork();
	if (!pid)
		_exit(xv_open(rig_device(0)) ? 0 : 1);
	ok(!child_status(pid), "a child opens its own context");
	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	rig_close(&r);
	rig_open(&r, &opts);
	ok(one_write(), "close and open while a child holds the old files");
	kill(pid, SIGKILL);
	child_status(pid);
	pid = fork();
	if (!pid)
		_exit(xv_close(r.side[0].ctx) || xv_close(r.side[1].ctx));
	ok(!child_status(pid), "a child closes its copies of the contexts");
	ok(one_write(), "the contexts of the parent still work");
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

/* The other process can use verbs that need no memory of this process. */
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
	ok(!child_status(pid), "the file descriptor works in the other process");
	ok(one_write(), "it still works after the other process closed its copy");
	rig_close(&r);
}

/* Holds many PDs; the test suite counts objects in the adapter. */
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

/* The adapter shares its time among user contexts, so a process must not get one for each page. */
static void test_user_context(void)
{
	size_t before = adapter_objects("uctxs");
	struct xv_context *ctx[2];
	int i;

	if (access("/sys/kernel/debug/xhca", R_OK)) {
		tap_skip("each file has one user context", "not the software adapter");
		return;
	}
	for (i = 0; i < 2; i++) {
		ctx[i] = xv_open(rig_device(0));
		if (!ctx[i] || !xv_alloc_uar(ctx[i], 0) || !xv_alloc_uar(ctx[i], 0))
			bail_out("%s", xv_last_error());
	}
	tap_is(adapter_objects("uctxs") - before, 2, "each file has one user context");
	xv_close(ctx[0]);
	xv_close(ctx[1]);
	tap_is(adapter_objects("uctxs") - before, 0, "none is left");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "order";

	if (!strcmp(what, "close"))
		without_thread_cache(argv);
	rig_devices(argc - 1, argv + 1);
	if (!strcmp(what, "traffic")) {
		traffic();
	} else if (!strcmp(what, "domains")) {
		hold_domains();
	} else if (!strcmp(what, "fork")) {
		test_fork();
	} else if (!strcmp(what, "close")) {
		test_close();
	} else if (!strcmp(what, "pass")) {
		test_pass();
	} else {
		test_order();
		test_close_mapped();
		test_user_context();
	}
	return tap_done();
}
