// SPDX-License-Identifier: GPL-2.0
/*
 * The device of side 0 is removed while traffic runs: threads that sleep get an error,
 * threads that post continue without effect, no process is killed, and everything can
 * be closed.  Prints "ready" when the test suite can remove the device.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <rdma/xverbs.h>
#include "rig.h"

enum { LEN = 4096, BATCH = 16, GIVE_UP = 60 };

static struct rig r;
static struct xv_comp_channel *channel;
static volatile bool stop;
static volatile sig_atomic_t faults;
static unsigned long posts;
static int node;		/* open node of the device */

static void on_fault(int sig)
{
	static const char text[] = "killed by an access to the UAR\n";

	(void)sig;
	faults++;
	if (write(2, text, sizeof(text) - 1) < 0)
		_exit(3);
	_exit(3);
}

/* Posts and polls without pause, before and after the removal. */
static void *traffic(void *unused)
{
	struct xv_sge from = rig_sge(&r, 0, 0, LEN);
	struct xv_wc wc[BATCH];

	while (!stop) {
		if (!xv_wr_write(r.qp[0], 1, XV_SEND_SIGNALED, &from,
				      rig_addr(&r, 1, 0), r.mr[1]->rkey))
			posts++;
		xv_commit_send(r.qp[0]);
		xv_poll_cq(r.cq[0], BATCH, wc);
	}
	return unused;
}

static void *sleeper(void *result)
{
	struct xv_cq *cq;
	void *context;

	*(int *)result = xv_get_cq_event(channel, &cq, &context);
	return NULL;
}

/* ---- A thread has read an event of a queue that is destroyed after the removal ---- */

static struct {
	struct xv_comp_channel *channel;
	struct xv_cq *cq;
	struct xv_qp *qp;
	pthread_t thread;
	volatile enum { ARMED, TAKEN, DESTROYING, DESTROYED } step;
	volatile bool early;		/* destroyed before the thread has counted the event */
} late;

/* Replaces read(2): it returns the event when the main thread is destroying the queue. */
ssize_t read(int fd, void *buf, size_t size)
{
	ssize_t n = syscall(SYS_read, fd, buf, size);
	int ms;

	if (!late.channel || fd != late.channel->fd || n <= 0)
		return n;
	late.step = TAKEN;
	while (late.step == TAKEN)
		usleep(1000);
	for (ms = 0; ms < 300 && late.step != DESTROYED; ms++)
		usleep(1000);
	late.early = late.step == DESTROYED;
	/* The library must not use the queue any more. */
	return late.early ? 0 : n;
}

static void *late_reader(void *unused)
{
	struct xv_cq *cq;
	void *context;

	if (!xv_get_cq_event(late.channel, &cq, &context))
		xv_ack_cq_events(cq, 1);
	return unused;
}

static void start_late(void)
{
	struct xv_comp_channel *c = xv_create_comp_channel(r.side[0].ctx);
	struct xv_cq_init_attr attr = { .cqe = 16, .channel = c };
	int ms;

	late.cq = c ? xv_create_cq(r.side[0].ctx, &attr) : NULL;
	if (!late.cq)
		bail_out("%s", xv_last_error());
	late.channel = c;
	pthread_create(&late.thread, NULL, late_reader, NULL);
	late.qp = rig_write_to_self(&r.side[0], late.cq, r.mr[0]);
	for (ms = 0; ms < GIVE_UP * 1000 && late.step != TAKEN; ms++)
		usleep(1000);
	if (late.step != TAKEN)
		bail_out("no completion event");
}

static void end_late(void)
{
	int err;

	late.step = DESTROYING;
	err = xv_destroy_qp(late.qp);
	if (!err)
		err = xv_destroy_cq(late.cq);
	late.step = DESTROYED;
	pthread_join(late.thread, NULL);
	ok(!err && !late.early,
	   "a queue is destroyed when the thread that has read its event has counted it");
}

/* ---- The removal ------------------------------------------------------- */

static bool wait_fatal(void)
{
	struct xverbs_async_event event;
	int fd = r.side[0].ctx->fd;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int i;

	for (i = 0; i < GIVE_UP; i++) {
		if (poll(&p, 1, 1000) != 1)
			continue;
		if (read(fd, &event, sizeof(event)) != sizeof(event))
			return false;
		if (event.type == XVERBS_EVENT_DEVICE_FATAL)
			return true;
		diag("event %u before the removal", event.type);
	}
	return false;
}

/* The driver may have raised DEVICE_FATAL before the removal does.  Returns the errno. */
static int read_to_end(int fd)
{
	struct xverbs_async_event event;

	while (read(fd, &event, sizeof(event)) == sizeof(event))
		if (event.type != XVERBS_EVENT_DEVICE_FATAL)
			return 0;
	return errno;
}

/* The node stays open when its device is removed, but no file can be bound by it. */
static void check_node(void)
{
	struct xverbs_bind bind = {
		.hdr = { .size = sizeof(bind), .flags = XVERBS_BIND_BY_FD }, .fd = node,
	};
	int file = open("/dev/xverbs", O_RDWR | O_CLOEXEC), err;

	err = ioctl(file, XVERBS_BIND, &bind) ? errno : 0;
	ok(err == ENODEV, "BIND by the node that is open: %s", strerror(err));
	ok(rig_node(rig_device(0)) < 0, "the node cannot be opened any more");
	close(node);
	ok(ioctl(file, XVERBS_BIND, &bind) && errno == EBADF, "and is closed");
	close(file);
}

static void check_dead(void)
{
	struct xverbs_pd_alloc pd = { .hdr.size = sizeof(pd) };
	struct xverbs_bind bind = {
		.hdr = { .size = sizeof(bind), .flags = XVERBS_BIND_BY_FD },
		.fd = rig_node(rig_device(1)),
	};
	int fd = r.side[0].ctx->fd;
	struct pollfd p = { .fd = fd };
	struct xv_mr *mr;

	ok(poll(&p, 1, GIVE_UP * 1000) == 1 && p.revents & POLLHUP, "poll: POLLHUP");
	ok(xv_device_removed(r.side[0].ctx), "xv_device_removed() is 1");
	ok(read_to_end(fd) == ENODEV, "read: ENODEV");
	ok(ioctl(fd, XVERBS_PD_ALLOC, &pd) && errno == ENODEV, "ioctl: ENODEV");
	ok(ioctl(fd, XVERBS_BIND, &bind) && errno == ENODEV, "the file cannot be bound again");
	mr = xv_reg_mr(r.side[0].pd, r.buf[0], LEN, 0);
	ok(!mr && strstr(xv_last_error(), "removed"), "error text: %s", xv_last_error());
}

int main(int argc, char **argv)
{
	struct rig_opts opts = { .size = 1 << 20 };
	pthread_t poster, waiter;
	unsigned long before;
	int result = 0;

	rig_devices(argc, argv);
	signal(SIGBUS, on_fault);
	signal(SIGSEGV, on_fault);
	rig_open(&r, &opts);
	channel = xv_create_comp_channel(r.side[0].ctx);
	if (!channel)
		bail_out("%s", xv_last_error());
	pthread_create(&poster, NULL, traffic, NULL);
	pthread_create(&waiter, NULL, sleeper, &result);
	while (posts < 1000)
		usleep(1000);
	start_late();
	ok(!xv_device_removed(r.side[0].ctx), "before the removal: xv_device_removed() is 0");
	node = rig_node(rig_device(0));
	puts("ready");
	fflush(stdout);

	ok(wait_fatal(), "removal: XVERBS_EVENT_DEVICE_FATAL");
	pthread_join(waiter, NULL);
	ok(result == -ENODEV, "the thread that slept on the channel gets %d", result);
	check_dead();
	check_node();
	before = posts;
	usleep(200 * 1000);
	diag("%lu posts before the removal, %lu after", before, posts - before);
	stop = true;
	pthread_join(poster, NULL);
	ok(!faults, "the thread that posts was not killed");
	end_late();
	close(r.side[0].ctx->fd);
	ok(1, "closed");
	return tap_done();
}
