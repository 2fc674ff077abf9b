// SPDX-License-Identifier: GPL-2.0
/*
 * The nodes of devices (/dev/infiniband/xverbsN): which descriptors BIND accepts, from whom, and
 * what a process can do without the node of a device. Needs root and two devices.
 *
 * "refused ERROR": the process may use side 1 but not side 0, whose node it cannot open.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rdma/xverbs.h>
#include "rig.h"

enum { NOBODY = 65534, UNUSED_FD = 1000 };

static char reason[XVERBS_REASON_MAX];

/* ---- BIND and the device list, as raw ioctls --------------------------------------------- */

static int bind_file(int file, struct xverbs_bind *bind)
{
	bind->hdr.size = sizeof(*bind);
	bind->hdr.reason = (uintptr_t)reason;
	bind->hdr.reason_len = sizeof(reason);
	reason[0] = 0;
	return ioctl(file, XVERBS_BIND, bind) ? errno : 0;
}

/* BIND of a new file, which is closed */
static int try_bind(struct xverbs_bind bind)
{
	int file = open("/dev/xverbs", O_RDWR | O_CLOEXEC), err = bind_file(file, &bind);

	close(file);
	return err;
}

static int try_fd(int fd)
{
	return try_bind((struct xverbs_bind) { .hdr.flags = XVERBS_BIND_BY_FD, .fd = fd });
}

static int try_name(const char *name)
{
	struct xverbs_bind bind = {};

	snprintf(bind.name, sizeof(bind.name), "%s", name);
	return try_bind(bind);
}

static struct xverbs_device entry_of(const char *name)
{
	struct xverbs_device list[32] = {};
	struct xverbs_list_devices arg = {
		.hdr.size = sizeof(arg), .devices = (uintptr_t)list, .count = ARRAY_SIZE(list),
		.entry_size = sizeof(list[0]),
	};
	int file = open("/dev/xverbs", O_RDWR | O_CLOEXEC);
	uint32_t i;

	if (ioctl(file, XVERBS_LIST_DEVICES, &arg))
		bail_out("LIST_DEVICES: %s", strerror(errno));
	close(file);
	for (i = 0; i < arg.out_count && i < ARRAY_SIZE(list); i++)
		if (!strcmp(list[i].name, name))
			return list[i];
	bail_out("no device %s", name);
}

static int try_index(uint32_t index)
{
	return try_bind((struct xverbs_bind) { .hdr.flags = XVERBS_BIND_BY_INDEX,
					       .index = index });
}

static const char *node_path(int side)
{
	static char path[2][96];

	snprintf(path[side], sizeof(path[side]), "/dev/infiniband/%.31s",
		 entry_of(rig_device(side)).node);
	return path[side];
}

/* ---- Which descriptors BIND accepts -------------------------------------------------------- */

static void refused(int fd, int want, const char *what)
{
	int err = try_fd(fd);

	if (!ok(err == want && reason[0], "BIND to %s: %s", what, reason))
		diag("errno %d (%s), wanted %d", err, strerror(err), want);
	close(fd);
}

static void test_descriptors(void)
{
	const char *node = node_path(0);
	int pair[2];

	refused(UNUSED_FD, EBADF, "a descriptor that is not open");
	refused(-1, EBADF, "descriptor -1");
	refused(open("/dev/null", O_RDWR), EINVAL, "another device node");
	refused(open("/dev/xverbs", O_RDWR), EINVAL, "/dev/xverbs");
	refused(open("/dev/infiniband/uverbs0", O_RDWR), EINVAL, "a node of ib_uverbs");
	refused(open("/", O_RDONLY | O_DIRECTORY), EINVAL, "a directory");
	refused(memfd_create("nodes", 0), EINVAL, "a file");
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		bail_out("socketpair: %s", strerror(errno));
	refused(pair[0], EINVAL, "a socket");
	close(pair[1]);
	refused(open(node, O_RDONLY), EACCES, "the node, open for reading");
	refused(open(node, O_WRONLY), EACCES, "the node, open for writing");
	refused(open(node, O_PATH), EBADF, "the node, open without access");
}

static void test_arguments(void)
{
	int node = rig_node(rig_device(0));
	struct xverbs_bind bind = { .fd = node };

	ok(try_bind(bind) == EINVAL && strstr(reason, "BY_FD"), "a descriptor without its flag: %s",
	   reason);
	bind.hdr.flags = XVERBS_BIND_BY_FD | XVERBS_BIND_BY_INDEX;
	ok(try_bind(bind) == EINVAL && strstr(reason, "BY_INDEX"), "two flags: %s", reason);
	bind.hdr.flags = XVERBS_BIND_BY_FD;
	bind.reserved = 1;
	ok(try_bind(bind) == EINVAL && strstr(reason, "reserved"), "reserved: %s", reason);
	close(node);
	ok(try_name(rig_device(0)) == EPERM && strstr(reason, "bind_by_name"), "by name: %s",
	   reason);
	ok(try_index(entry_of(rig_device(0)).index) == EPERM && reason[0], "by index: %s", reason);
	ok(try_name("nosuch") == EPERM, "by an unknown name: the same error");
}

/* The file is bound to the device of the side. */
static bool works(int file, int side)
{
	struct xverbs_query_device query = { .hdr.size = sizeof(query) };

	return !ioctl(file, XVERBS_QUERY_DEVICE, &query) &&
	       query.out_node_guid == entry_of(rig_device(side)).node_guid;
}

static void test_bound(void)
{
	struct xverbs_bind bind = { .hdr.flags = XVERBS_BIND_BY_FD,
				    .fd = rig_node(rig_device(1)) };
	int file = open("/dev/xverbs", O_RDWR | O_CLOEXEC), other = dup(bind.fd);

	ok(!bind_file(file, &bind) && !strcmp(bind.name, rig_device(1)) &&
	   bind.index == entry_of(rig_device(1)).index, "BIND returns name and index");
	close(bind.fd);
	ok(works(file, 1), "the file works when the node is closed");
	ok(bind_file(file, &bind) == EBUSY, "a second BIND: %s", reason);
	ok(!try_fd(other), "a copy of a descriptor that was closed");
	close(other);
	close(file);
}

/* ---- The node itself ---------------------------------------------------------------------- */

static void test_node(void)
{
	struct xverbs_list_devices list = { .hdr.size = sizeof(list) };
	struct epoll_event event = { .events = EPOLLIN };
	int fd = rig_node(rig_device(0)), epoll = epoll_create1(0);
	char c = 0;

	ok(ioctl(fd, XVERBS_LIST_DEVICES, &list) && errno == ENOTTY, "ioctl of the node: ENOTTY");
	ok(read(fd, &c, 1) < 0 && errno == EINVAL, "read: EINVAL");
	ok(write(fd, &c, 1) < 0 && errno == EINVAL, "write: EINVAL");
	ok(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED && errno == ENODEV,
	   "mmap: ENODEV");
	ok(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) && errno == EPERM, "epoll: EPERM");
	close(epoll);
	close(fd);
}

/* ---- Processes without the node ------------------------------------------------------------ */

/* The process cannot open the node of side 0.  Then no other call lets it use the device. */
static void test_refused(int want)
{
	struct xv_device **list = xv_get_device_list(NULL), **d;
	struct xv_context *ctx;

	for (d = list; d && *d; d++)
		if (!strcmp((*d)->name, rig_device(0)))
			ok(!(*d)->available && strstr((*d)->why_not, strerror(want)),
			   "list: not available: %s", (*d)->why_not);
		else if (!strcmp((*d)->name, rig_device(1)))
			ok((*d)->available, "list: the other device is available");
	xv_free_device_list(list);
	ok(!xv_open(rig_device(0)) && errno == want, "open: %s", xv_last_error());
	ok(try_name(rig_device(0)) == EPERM, "BIND by name: %s", reason);
	ok(try_index(entry_of(rig_device(0)).index) == EPERM, "BIND by index: %s", reason);
	ctx = xv_open(NULL);
	ok(ctx && !strcmp(ctx->name, rig_device(1)), "the first available device is the other one");
	if (ctx) {
		ok(works(ctx->fd, 1), "it can be used");
		xv_close(ctx);
	}
}

/* Runs the function in a process without privileges. */
static void unprivileged(void (*run)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
			bail_out("cannot give up privileges");
		tap_failed = 0;
		run();
		_exit(tap_failed || tap_count > 99 ? 255 : tap_count);
	}
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) == 255)
		bail_out("a process without privileges: status 0x%x", status);
	tap_count = WEXITSTATUS(status);
}

static int inherited;

static void refused_by_mode(void)
{
	test_refused(EACCES);
	ok(!try_fd(inherited), "a descriptor that was opened with privileges");
}

static void test_mode(void)
{
	const char *node = node_path(0);
	struct stat st;

	if (stat(node, &st) || chmod(node, 0600))
		bail_out("%s: %s", node, strerror(errno));
	inherited = open(node, O_RDWR | O_CLOEXEC);
	unprivileged(refused_by_mode);
	close(inherited);
	chmod(node, st.st_mode);
}

/* ---- A descriptor comes over a socket ---------------------------------------------------- */

static void pass_fd(int to, int fd)
{
	char c = 0, control[CMSG_SPACE(sizeof(fd))] = "";
	struct iovec data = { &c, 1 };
	struct msghdr msg = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&msg);

	*head = (struct cmsghdr) { .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
				   .cmsg_len = CMSG_LEN(sizeof(fd)) };
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	if (sendmsg(to, &msg, 0) != 1)
		bail_out("sendmsg: %s", strerror(errno));
}

static int receive_fd(int from)
{
	char c, control[CMSG_SPACE(sizeof(int))];
	struct iovec data = { &c, 1 };
	struct msghdr msg = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	int fd;

	if (recvmsg(from, &msg, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&msg))
		bail_out("recvmsg: %s", strerror(errno));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

static int link_fd[2];

static void receive_and_bind(void)
{
	int node = receive_fd(link_fd[1]);
	struct xverbs_bind bind = { .hdr.flags = XVERBS_BIND_BY_FD, .fd = node };
	int file = open("/dev/xverbs", O_RDWR | O_CLOEXEC), err = bind_file(file, &bind);

	close(node);
	ok(!err && works(file, 0),
	   "a descriptor that comes over a socket, from a process that has ended");
	close(file);
}

static void test_passed(void)
{
	int node = rig_node(rig_device(0));

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, link_fd))
		bail_out("socketpair: %s", strerror(errno));
	fflush(stdout);
	if (!fork()) {
		pass_fd(link_fd[0], node);
		_exit(0);
	}
	wait(NULL);
	close(node);
	unprivileged(receive_and_bind);
	close(link_fd[0]);
	close(link_fd[1]);
}

/* ---- The parameter bind_by_name, and a module without nodes --------------------------------- */

static bool old_module;

/*
 * This program and libxverbs call this function, not that of the C library.  An old module does not
 * know the new members.
 */
int ioctl(int fd, unsigned long cmd, ...)
{
	const struct xverbs_list_devices *list;
	struct xverbs_device *dev;
	struct xverbs_bind *bind;
	va_list args;
	void *arg;
	uint32_t i;
	int ret;

	va_start(args, cmd);
	arg = va_arg(args, void *);
	va_end(args);
	bind = arg;
	list = arg;
	if (old_module && cmd == XVERBS_BIND && (bind->hdr.flags & XVERBS_BIND_BY_FD || bind->fd)) {
		errno = bind->fd ? E2BIG : EOPNOTSUPP;
		return -1;
	}
	ret = (int)syscall(SYS_ioctl, fd, cmd, arg);
	if (!old_module || cmd != XVERBS_LIST_DEVICES || ret)
		return ret;
	dev = (struct xverbs_device *)(uintptr_t)list->devices;
	for (i = 0; i < list->out_count && i < list->count; i++)
		memset(dev[i].node, 0, sizeof(dev[i].node));
	return ret;
}

static void set_by_name(char value)
{
	int fd = open("/sys/module/xverbs/parameters/bind_by_name", O_WRONLY | O_CLOEXEC);

	if (write(fd, &value, 1) != 1)
		bail_out("bind_by_name: %s", strerror(errno));
	close(fd);
}

static void test_old_module(void)
{
	struct xv_device **list, **d;
	struct xv_context *ctx;

	old_module = true;
	list = xv_get_device_list(NULL);
	for (d = list; d && *d && strcmp((*d)->name, rig_device(1)); d++)
		;
	ok(d && *d && (*d)->available && !strcmp((*d)->dev_name, "xverbs"),
	   "list of a module without nodes");
	ctx = xv_open_device(*d);
	ok(ctx && works(ctx->fd, 1), "libxverbs opens a device of such a module: %s",
	   ctx ? ctx->name : xv_last_error());
	if (ctx)
		xv_close(ctx);
	xv_free_device_list(list);
	old_module = false;
}

static void by_name(void)
{
	ok(!try_name(rig_device(0)), "bind_by_name: the name of a device");
	ok(!try_index(entry_of(rig_device(0)).index), "its index");
	ok(try_name("nosuch") == ENOENT && strstr(reason, "nosuch"), "an unknown name: %s", reason);
	ok(try_index(60000) == ENOENT && strstr(reason, "60000"), "an unknown index: %s", reason);
	test_old_module();
}

static void test_by_name(void)
{
	set_by_name('1');
	unprivileged(by_name);
	set_by_name('0');
	ok(try_name(rig_device(0)) == EPERM, "the parameter is off again");
}

int main(int argc, char **argv)
{
	rig_devices(argc, argv);
	if (argc > 2 && !strcmp(argv[argc - 2], "refused")) {
		test_refused(atoi(argv[argc - 1]));
		return tap_done();
	}
	if (!strcmp(rig_device(0), rig_device(1)) || geteuid())
		tap_skip_all("needs root and two devices");
	test_descriptors();
	test_arguments();
	test_bound();
	test_node();
	test_mode();
	test_passed();
	test_by_name();
	return tap_done();
}
