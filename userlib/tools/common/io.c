// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * read() and write() that continue after signals and short transfers.
 */
#include <errno.h>
#include <poll.h>
#include <unistd.h>
#include "tool.h"

ssize_t xt_read(int fd, void *buf, size_t n)
{
	size_t done = 0;
	ssize_t k;

	while (done < n) {
		k = read(fd, (char *)buf + done, n - done);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -1;
		if (!k)
			break;
		done += (size_t)k;
	}
	return (ssize_t)done;
}

int xt_write(int fd, const void *buf, size_t n)
{
	struct pollfd p = { fd, POLLOUT, 0 };
	size_t done = 0;
	ssize_t k;

	while (done < n) {
		k = write(fd, (const char *)buf + done, n - done);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0 && errno == EAGAIN) {
			/* Another process may have set O_NONBLOCK. */
			poll(&p, 1, -1);
			continue;
		}
		if (k < 0)
			return -1;
		done += (size_t)k;
	}
	return 0;
}
