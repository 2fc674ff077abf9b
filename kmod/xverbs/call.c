// SPDX-License-Identifier: GPL-2.0
/*
 * What all handlers of ioctls use: the reason of a failure, and copies of entries with sizes of
 * the caller.
 */
#include <linux/uaccess.h>

#include "xv.h"

/* Stores the reason, unless an inner function has already stored a more precise one. */
__printf(3, 0)
static void xv_explain(struct xv_call *call, u32 limit, const char *fmt, va_list args)
{
	if (!call || call->reason[0])
		return;
	call->limit = limit;
	vscnprintf(call->reason, sizeof(call->reason), fmt, args);
}

int xv_fail(struct xv_call *call, int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	xv_explain(call, XVERBS_LIMIT_NONE, fmt, args);
	va_end(args);
	return err;
}

/* The call has reached a limit, XVERBS_LIMIT_*. */
int xv_fail_limit(struct xv_call *call, int err, u32 limit, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	xv_explain(call, limit, fmt, args);
	va_end(args);
	return err;
}

/* A step has failed, and the call goes on without it. */
void xv_forget_failure(struct xv_call *call)
{
	call->limit = XVERBS_LIMIT_NONE;
	call->reason[0] = 0;
}

/* Copies one entry to a user array, truncated or padded to the size of the caller. */
int xv_copy_entry(void __user *to, size_t to_size, const void *entry,
		  size_t size)
{
	if (copy_to_user(to, entry, min(to_size, size)))
		return -EFAULT;
	if (to_size > size && clear_user(to + size, to_size - size))
		return -EFAULT;
	return 0;
}

int xv_check_entry_size(struct xv_call *call, u32 entry_size, size_t first)
{
	if (entry_size < first)
		return xv_fail(call, -EINVAL, "entry_size %u is below %zu",
			       entry_size, first);
	if (entry_size > PAGE_SIZE)
		return xv_fail(call, -EINVAL, "entry_size %u is above %lu",
			       entry_size, PAGE_SIZE);
	return 0;
}
