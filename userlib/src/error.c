// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Error texts, and the only place that calls ioctl().  The text has the reason
 * that the kernel returned, or else the meaning of the error number.
 */
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include "internal.h"

enum { LIMIT_MAX = 96 };	/* bytes that the value of a limit adds to a reason */

static __thread char last_error[XV_ERROR_MAX];

XV_EXPORT const char *xv_last_error(void)
{
	return last_error;
}

static int set_error(int err, const char *fmt, va_list ap)
{
	vsnprintf(last_error, sizeof(last_error), fmt, ap);
	errno = err < 0 ? -err : err;
	return -errno;
}

int xv_set_error(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err = set_error(err, fmt, ap);
	va_end(ap);
	return err;
}

/* Called by builders in a program with XV_DP_DEBUG */
XV_EXPORT void xv_dp_refused(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_error(err, fmt, ap);
	va_end(ap);
}

void xv_error_save(struct error_state *s)
{
	s->number = errno;
	memcpy(s->text, last_error, sizeof(last_error));
}

void xv_error_restore(const struct error_state *s)
{
	memcpy(last_error, s->text, sizeof(last_error));
	errno = s->number;
}

/* Meaning of error numbers in /dev/xverbs, if it is more precise than strerror() */
static const struct {
	int err;
	const char *text;
} meaning[] = {
	{ ENOTTY, "unknown to this version of xverbs.ko" },
	{ E2BIG, "uses a feature that is unknown to this version of xverbs.ko" },
	{ EOPNOTSUPP, "not supported by this device or driver" },
	{ EINVAL, "invalid argument" },
	{ ENOENT, "no such device, port, table entry or object" },
	{ EBUSY, "in use by another object" },
	{ ENXIO, "not bound to a device" },
	{ ENODEV, "the device was removed" },
	{ ENOMEM, "out of memory, queue full, or over RLIMIT_MEMLOCK" },
	{ ENOSPC, "a limit of this process or of the device was reached" },
	{ EREMOTEIO, "the adapter's firmware refused the command" },
};

XV_EXPORT const char *xv_strerror(int err)
{
	size_t i;

	if (err < 0)
		err = -err;
	for (i = 0; i < ARRAY_SIZE(meaning); i++)
		if (meaning[i].err == err)
			return meaning[i].text;
	return strerror(err);
}

int xv_ioctl_file(int fd, const char *device, unsigned long request, const char *verb, void *arg,
		  uint32_t size)
{
	char reason[XVERBS_REASON_MAX + LIMIT_MAX] = "";
	struct xverbs_hdr *hdr = arg;
	int before = errno, err;

	hdr->size = size;
	hdr->reason = (uintptr_t)reason;
	hdr->reason_len = XVERBS_REASON_MAX;
	hdr->out_limit = XVERBS_LIMIT_NONE;	/* earlier kernels do not write it */
	do
		err = ioctl(fd, request, arg) < 0 ? errno : 0;
	while (err == EINTR);
	hdr->reason = 0;
	errno = before;		/* that of an interrupted attempt */
	if (!err)
		return 0;
	reason[XVERBS_REASON_MAX - 1] = 0;
	xv_limit_append(reason, sizeof(reason), hdr->out_limit, device);
	return xv_set_error(err, "%s: %s", verb, reason[0] ? reason : xv_strerror(err));
}

int xv_ioctl(const struct xv_context *ctx, unsigned long request, const char *verb, void *arg,
	     uint32_t size)
{
	return xv_ioctl_file(ctx->fd, ctx->name, request, verb, arg, size);
}
