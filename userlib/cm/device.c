// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The device of an id, and the text of errors.
 */
#include <stdarg.h>
#include <stdio.h>
#include "cm.h"

static __thread char last_error[320];

int xvm_error(int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(last_error, sizeof(last_error), fmt, args);
	va_end(args);
	return err < 0 ? err : -err;
}

int xvm_native(int err)
{
	return xvm_error(err, "%s", xv_last_error());
}

/* In a synchronous call, librdmacm may set errno to a negative number. */
int xvm_rdma(const char *function)
{
	int err = errno < 0 ? -errno : errno;

	return xvm_error(err, "%s: %s", function, strerror(err));
}

EXPORT const char *xv_cm_last_error(void)
{
	return last_error;
}

/* A device can be renamed while librdmacm has it open, but its node GUID stays. */
static const struct xv_device *find(struct xv_device **list, struct ibv_device *device)
{
	const struct xv_device *found = NULL;

	for (; *list; list++)
		if ((*list)->node_guid == ibv_get_device_guid(device) &&
		    (!found || !strcmp((*list)->name, ibv_get_device_name(device))))
			found = *list;
	return found;
}

static int open_device(struct ibv_device *of, struct xv_context **ctx)
{
	struct xv_device **list = xv_get_device_list(NULL);
	const struct xv_device *device;
	int err = 0;

	if (!list)
		return xvm_native(errno);
	device = find(list, of);
	if (device)
		*ctx = xv_open_device(device);
	if (!device)
		err = xvm_error(ENODEV, "open: %s is not a device of xverbs",
				ibv_get_device_name(of));
	else if (!*ctx)
		err = xvm_native(errno);
	xv_free_device_list(list);
	return err;
}

EXPORT struct xv_context *xv_cm_open(const struct rdma_cm_id *id)
{
	struct xv_context *ctx = NULL;
	int err;

	if (id->verbs)
		err = open_device(id->verbs->device, &ctx);
	else
		err = xvm_error(EINVAL, "open: the id is not bound to a device");
	if (err)
		errno = -err;
	return ctx;
}

int xvm_check(const struct rdma_cm_id *id, const struct xv_qp *qp, struct xv_device_attr *device)
{
	int err;

	if (!id->verbs)
		return xvm_error(EINVAL, "the id is not bound to a device");
	if (id->qp)
		return xvm_error(EINVAL, "the id has a queue pair of libibverbs");
	if ((int)qp->qp_type != (int)id->qp_type)
		return xvm_error(EINVAL, "the queue pair is %s, the id is for %s",
				 xv_qp_type_str(qp->qp_type),
				 xv_qp_type_str((enum xv_qp_type)id->qp_type));
	err = xv_query_device(qp->context, device);
	if (err)
		return xvm_native(err);
	if (device->node_guid != ibv_get_device_guid(id->verbs->device))
		return xvm_error(EINVAL, "the queue pair is on %s, the id on %s",
				 qp->context->name, ibv_get_device_name(id->verbs->device));
	return 0;
}
