// SPDX-License-Identifier: GPL-2.0
/*
 * Threads bind files to a device while it is moved to the network namespace "other" and
 * back to "home". Each attempt succeeds, or finds no device, or one that is being
 * removed. Needs root; a kernel with KASAN finds uses of a device that was freed.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <rdma/xverbs.h>
#include "rig.h"

enum { THREADS = 4, MOVES = 6, NAME = 64 };

static atomic_uint bound, absent, going, wrong, ports;
static atomic_bool stop;

static void count_ports(int fd)
{
	struct xverbs_query_device arg = { .hdr.size = sizeof(arg) };

	if (!ioctl(fd, XVERBS_QUERY_DEVICE, &arg))
		ports += arg.out_phys_port_cnt == 1;
	else if (errno != ENODEV)
		wrong++;
}

/* The node exists in both network namespaces, but can be opened in one of them only. */
static int bind_once(int file)
{
	struct xverbs_bind bind = {
		.hdr = { .size = sizeof(bind), .flags = XVERBS_BIND_BY_FD },
		.fd = rig_node(rig_device(0)),
	};
	int err;

	if (bind.fd < 0)
		return errno;
	err = ioctl(file, XVERBS_BIND, &bind) ? errno : 0;
	close(bind.fd);
	return err;
}

static void *binder(void *unused)
{
	while (!stop) {
		int fd = open("/dev/xverbs", O_RDWR | O_CLOEXEC), err = bind_once(fd);

		if (!err) {
			bound++;
			count_ports(fd);
		} else if (err == ENOENT || err == ENXIO || err == EPERM) {
			absent++;
			usleep(1000);
		} else if (err == ENODEV) {
			going++;
		} else {
			diag("BIND: %s", strerror(err));
			wrong++;
		}
		close(fd);
	}
	return unused;
}

static bool move(const char *format)
{
	char command[256];

	snprintf(command, sizeof(command), format, rig_device(0));
	return !system(command);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int i, moves = 0;

	rig_devices(argc, argv);
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, binder, NULL);
	for (i = 0; i < MOVES; i++) {
		usleep(200000);
		moves += move("rdma dev set %s netns other");
		usleep(50000);
		moves += move("ip netns exec other rdma dev set %s netns home");
	}
	usleep(200000);
	stop = true;
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ok(moves == 2 * MOVES, "the device is moved %d times", moves);
	ok(bound && ports && absent && !wrong,
	   "%u BIND succeed, %u find no device, %u find it being removed, %u fail otherwise", bound,
	   absent, going, wrong);
	return tap_done();
}
