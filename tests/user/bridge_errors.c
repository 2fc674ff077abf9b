// SPDX-License-Identifier: GPL-2.0
/*
 * Who may import a protection domain of libibverbs, and how long it lives: wrong handles and
 * files, other devices, other processes, keys of other protection domains, deallocation while
 * it is imported, and the end of its owner.
 *
 * With the argument "hold" the program imports protection domains, prints "ready" and waits
 * until the device is removed.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <rdma/xverbs.h>
#include "bridge.h"

enum { LEN = 4096, HANDLES = 32, NUMBERS = 10000, RACE_SECONDS = 2, GIVE_UP = 60 };

/* ---- Refused imports ------------------------------------------------------------------ */

/* The errno of an import, and the new protection domain is deallocated again. */
static int try_import(struct xv_context *ctx, int fd, uint32_t handle)
{
	struct xv_pd *pd = xv_import_pd(ctx, fd, handle);

	if (!pd)
		return errno;
	NEED(!xv_dealloc_pd(pd));
	return 0;
}

static void test_wrong_arguments(void)
{
	struct xv_context *ctx = end[0].s.ctx;
	int fd = end[0].ibv->cmd_fd, null = open("/dev/null", O_RDWR);
	uint32_t handle = end[0].ibv_pd->handle;

	tap_is(try_import(ctx, fd, handle), 0, "import");
	tap_is(try_import(ctx, fd, handle + 1000), ENOENT, "wrong handle: ENOENT");
	tap_is(try_import(ctx, fd, end[0].mr->handle == handle ? ~0u : end[0].mr->handle), ENOENT,
	       "handle of a memory region: ENOENT");
	tap_is(try_import(ctx, -1, handle), EBADF, "no file: EBADF");
	tap_is(try_import(ctx, null, handle), ENOENT, "other file: ENOENT");
	tap_is(try_import(ctx, ctx->fd, handle), ENOENT, "file of xverbs: ENOENT");
	tap_is(try_import(ctx, end[0].ibv->async_fd, handle), ENOENT, "file of events: ENOENT");
	ok(!xv_import_ctx(null) && errno == EINVAL, "context of another file: EINVAL");
	ok(!xv_import_ctx(-1) && errno == EBADF, "context of no file: EBADF");
	close(null);
}

/* The kernel compares the domain of a number with file and handle, and does not search. */
static void test_number(void)
{
	struct xverbs_pd_import req = { .hdr.size = sizeof(req), .fd = end[0].ibv->cmd_fd,
		.pd = end[0].ibv_pd->handle };
	int fd = end[0].s.ctx->fd, found = 0, other = 0;
	struct xverbs_destroy destroy = { .hdr.size = sizeof(destroy) };

	for (req.number = 1; req.number < NUMBERS; req.number++) {
		if (ioctl(fd, XVERBS_PD_IMPORT, &req)) {
			other += errno != ENOENT;
			continue;
		}
		found++;
		other += req.out_pdn != end[0].pd->pdn;
		destroy.handle = req.out_handle;
		NEED(!ioctl(fd, XVERBS_DESTROY, &destroy));
	}
	ok(found == 1 && !other, "one number names the protection domain, others ENOENT: %d, %d",
	   found, other);
}

static void test_wrong_device(void)
{
	if (!strcmp(rig_device(0), rig_device(1))) {
		tap_skip("a protection domain of another device", "needs two devices");
		return;
	}
	tap_is(try_import(end[1].s.ctx, end[0].ibv->cmd_fd, end[0].ibv_pd->handle), ENOENT,
	       "protection domain of another device: ENOENT");
}

static void test_end_of_pd(void)
{
	struct ibv_pd *pd = ibv_alloc_pd(end[0].ibv);
	uint32_t handle;

	NEED_IBV(pd);
	handle = pd->handle;
	NEED_IBV(!ibv_dealloc_pd(pd));
	tap_is(try_import(end[0].s.ctx, end[0].ibv->cmd_fd, handle), ENOENT,
	       "protection domain that was deallocated: ENOENT");
}

/* ---- In use ---------------------------------------------------------------------------- */

static void test_in_use(void)
{
	struct ibv_pd *ibv = ibv_alloc_pd(end[0].ibv);
	struct xv_context *other = xv_open(rig_device(0));
	struct xv_pd *a, *b;

	NEED_IBV(ibv);
	NEED(other);
	NEED((a = xv_bridge_import_pd(end[0].s.ctx, ibv)));
	NEED((b = xv_bridge_import_pd(other, ibv)));
	tap_is(ibv_dealloc_pd(ibv), EBUSY, "ibv_dealloc_pd: EBUSY while it is imported twice");
	ok(!xv_dealloc_pd(a), "one import ends");
	tap_is(ibv_dealloc_pd(ibv), EBUSY, "ibv_dealloc_pd: EBUSY while it is imported once");
	NEED(!xv_close(other));
	tap_is(ibv_dealloc_pd(ibv), 0, "ibv_dealloc_pd: works after the context is closed");
	tap_is(-xv_dealloc_pd(end[0].pd), EBUSY, "xv_dealloc_pd: EBUSY while a queue pair uses it");
}

/* ---- Keys of another protection domain --------------------------------------------------- */

/* Other memory, because the debug kernel reports memory that is mapped twice for DMA. */
static void test_keys(void)
{
	static uint8_t other[2][LEN] __attribute__((aligned(LEN)));
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	struct ibv_sge sge = at(0, 0, LEN);
	struct ibv_send_wr wr = rdma(1, IBV_WR_RDMA_WRITE, &sge, 0);
	struct ibv_pd *pd[2];
	struct ibv_mr *mr[2];
	int i;

	for (i = 0; i < 2; i++) {
		NEED_IBV((pd[i] = ibv_alloc_pd(end[i].ibv)));
		NEED_IBV((mr[i] = ibv_reg_mr(pd[i], other[i], LEN, access)));
	}
	ok(runs(&wr, IBV_WC_SUCCESS), "keys of the imported protection domain");
	sge.addr = (uintptr_t)other[0];
	sge.lkey = mr[0]->lkey;
	ok(runs(&wr, IBV_WC_LOC_PROT_ERR), "lkey of another one: local protection error");
	connect_ends();
	sge = at(0, 0, LEN);
	wr.wr.rdma.remote_addr = (uintptr_t)other[1];
	wr.wr.rdma.rkey = mr[1]->rkey;
	ok(runs(&wr, IBV_WC_REM_ACCESS_ERR), "rkey of another one: remote access error");
	connect_ends();
	for (i = 0; i < 2; i++)
		NEED_IBV(!ibv_dereg_mr(mr[i]) && !ibv_dealloc_pd(pd[i]));
}

/* ---- Other processes --------------------------------------------------------------------- */

/* Sends the handle, and with it the file of ib_uverbs. */
static void send_pd(int to, uint32_t handle, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = "";
	struct iovec iov = { &handle, sizeof(handle) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (sendmsg(to, &msg, 0) != sizeof(handle))
		_exit(1);
}

static int receive_pd(int from, uint32_t *handle)
{
	char control[CMSG_SPACE(sizeof(int))] = "";
	struct iovec iov = { handle, sizeof(*handle) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	int fd;

	if (recvmsg(from, &msg, 0) != sizeof(*handle) || !CMSG_FIRSTHDR(&msg))
		bail_out("the other process failed");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

/* A process with a protection domain; exits when the socket is closed. */
static pid_t start_owner(int *sock)
{
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	int pair[2];
	pid_t pid;
	char c;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		bail_out("socketpair");
	pid = fork();
	if (pid < 0)
		bail_out("fork");
	if (pid) {
		close(pair[1]);
		*sock = pair[0];
		return pid;
	}
	close(pair[0]);
	if (read(pair[1], &c, 1) != 1)
		_exit(0);
	ctx = ibv_open(rig_device(0));
	pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	if (!pd)
		_exit(1);
	send_pd(pair[1], pd->handle, ctx->cmd_fd);
	if (read(pair[1], &c, 1) != 0)
		_exit(1);
	_exit(0);
}

/* With our file, only our protection domain is found. */
static void test_other_file(void)
{
	uint32_t handle, foreign = 0, own = 0;
	struct xv_pd *pd;

	for (handle = 0; handle < HANDLES; handle++) {
		pd = xv_import_pd(end[0].s.ctx, end[0].ibv->cmd_fd, handle);
		if (!pd && errno == ENOENT)
			continue;
		if (pd && pd->pdn == end[0].pd->pdn)
			own++;
		else
			foreign++;
		if (pd)
			NEED(!xv_dealloc_pd(pd));
	}
	ok(own == 1 && !foreign, "protection domain of another process: ENOENT");
}

static void test_other_process(int sock, pid_t owner)
{
	uint32_t handle;
	struct xv_pd *pd;
	int fd, status;

	if (write(sock, "g", 1) != 1)
		bail_out("the other process failed");
	fd = receive_pd(sock, &handle);
	pd = xv_import_pd(end[0].s.ctx, fd, handle);
	ok(pd && pd->pdn != end[0].pd->pdn, "with its file, it can be imported");
	NEED(pd);
	test_other_file();
	close(fd);
	close(sock);
	waitpid(owner, &status, 0);
	ok(WIFEXITED(status) && !WEXITSTATUS(status), "its owner exits");
	ok(!xv_dealloc_pd(pd), "the import ends after its owner");
}

/* The process exits with imports and queues. */
static void test_exit(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		memset(end, 0, sizeof(end));
		open_end(0);
		open_end(1);
		connect_ends();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	ok(pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status), "a process exits with imports");
}

/* The keys stay valid: the import holds the file of libibverbs. */
static void test_close(void)
{
	struct ibv_sge sge = at(0, 0, LEN);
	struct ibv_send_wr wr = rdma(1, IBV_WR_RDMA_WRITE, &sge, 0);

	ok(!ibv_close_device(end[0].ibv), "libibverbs closes the device during the import");
	rig_fill(end[0].buf, LEN, 3);
	memset(end[1].buf, 0, LEN);
	ok(runs(&wr, IBV_WC_SUCCESS) && rig_check(end[1].buf, LEN, 3),
	   "its memory stays registered");
	NEED(!xv_destroy_qp(end[0].qp));
	ok(!xv_dealloc_pd(end[0].pd), "the import ends after the file was closed");
	NEED(!xv_destroy_cq(end[0].cq));
	xt_side_close(&end[0].s);
}

/* ---- Import while the protection domain is deallocated ------------------------------------- */

static struct {
	volatile bool stop;
	volatile uint32_t handle;
	volatile unsigned int took;	/* microseconds of the last import */
	unsigned long allocated, busy, failed;
} race;

static void *allocate(void *unused)
{
	struct ibv_pd *pd;
	int err;

	while (!race.stop) {
		pd = ibv_alloc_pd(end[0].ibv);
		if (!pd) {
			race.failed++;
			continue;
		}
		race.handle = pd->handle;
		race.allocated++;
		usleep(race.allocated % 8 * race.took / 4);
		while ((err = ibv_dealloc_pd(pd)) == EBUSY)
			race.busy++;
		race.failed += err != 0;
	}
	return unused;
}

static void test_race(void)
{
	unsigned long imported = 0, refused = 0, other = 0;
	double until = xt_now() + RACE_SECONDS, start;
	pthread_t thread;
	int err;

	pthread_create(&thread, NULL, allocate, NULL);
	while ((start = xt_now()) < until) {
		err = try_import(end[0].s.ctx, end[0].ibv->cmd_fd, race.handle);
		race.took = (unsigned int)((xt_now() - start) * 1e6);
		imported += !err;
		refused += err == ENOENT || err == EBUSY;
		other += err && err != ENOENT && err != EBUSY;
	}
	race.stop = true;
	pthread_join(thread, NULL);
	diag("%lu allocated, %lu times busy; %lu imported, %lu refused", race.allocated, race.busy,
	     imported, refused);
	ok(!other && !race.failed, "import while another thread deallocates: ENOENT or EBUSY");
	ok(imported && race.allocated > 10, "import and deallocation meet");
}

/* ---- Removal of the device ------------------------------------------------------------------ */

static bool wait_hangup(int fd)
{
	struct xverbs_async_event event;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int i;

	for (i = 0; i < GIVE_UP; i++) {
		if (poll(&p, 1, 1000) != 1)
			continue;
		if (p.revents & POLLHUP)
			return true;
		if (p.revents & POLLIN && read(fd, &event, sizeof(event)) < 0)
			return false;
	}
	return false;
}

/* One protection domain of an open context, and one whose context is closed */
static int hold(void)
{
	struct ibv_context *closed = ibv_open(rig_device(0));
	struct ibv_pd *pd;

	NEED_IBV(closed);
	pd = ibv_alloc_pd(closed);
	NEED_IBV(pd);
	open_end(0);
	open_end(1);
	connect_ends();
	NEED(xv_bridge_import_pd(end[0].s.ctx, pd));
	NEED_IBV(!ibv_close_device(closed));
	puts("ready");
	fflush(stdout);
	ok(wait_hangup(end[0].s.ctx->fd), "removal: POLLHUP");
	tap_is(try_import(end[0].s.ctx, end[0].ibv->cmd_fd, end[0].ibv_pd->handle), ENODEV,
	       "import after the removal: ENODEV");
	ok(!xv_destroy_qp(end[0].qp) && !xv_dealloc_pd(end[0].pd) && !xv_close(end[0].s.ctx),
	   "libxverbs closes the device");
	ibv_dereg_mr(end[0].mr);
	ibv_dealloc_pd(end[0].ibv_pd);
	ok(!ibv_close_device(end[0].ibv), "libibverbs closes the device");
	close_end(1);
	return tap_done();
}

int main(int argc, char **argv)
{
	bool holds = argc > 1 && !strcmp(argv[argc - 1], "hold");
	pid_t owner;
	int sock;

	rig_devices(holds ? argc - 1 : argc, argv);
	if (holds)
		return hold();
	owner = start_owner(&sock);
	open_end(0);
	open_end(1);
	connect_ends();
	test_wrong_arguments();
	test_number();
	test_wrong_device();
	test_end_of_pd();
	test_in_use();
	test_keys();
	test_other_process(sock, owner);
	test_exit();
	test_race();
	test_close();
	close_end(1);
	return tap_done();
}
