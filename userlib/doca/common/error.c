// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Error numbers: names, descriptions, and those for the error numbers of the system.
 */
#include <errno.h>
#include "internal.h"

#define E(name, descr)	\
	[DOCA_##name] = { "DOCA_" #name, descr }

static const struct {
	const char *name, *descr;
} errors[] = {
	E(SUCCESS, "Success"),
	E(ERROR_UNKNOWN, "Unknown error"),
	E(ERROR_NOT_PERMITTED, "Operation not permitted"),
	E(ERROR_IN_USE, "Object is in use"),
	E(ERROR_NOT_SUPPORTED, "Operation not supported"),
	E(ERROR_AGAIN, "Not possible now, try again"),
	E(ERROR_INVALID_VALUE, "Invalid value"),
	E(ERROR_NO_MEMORY, "Out of memory"),
	E(ERROR_INITIALIZATION, "Initialization failed"),
	E(ERROR_TIME_OUT, "Time is over"),
	E(ERROR_SHUTDOWN, "Shut down"),
	E(ERROR_CONNECTION_RESET, "Connection reset by the peer"),
	E(ERROR_CONNECTION_ABORTED, "Connection aborted"),
	E(ERROR_CONNECTION_INPROGRESS, "Connection is being established"),
	E(ERROR_NOT_CONNECTED, "Not connected"),
	E(ERROR_NO_LOCK, "Lock not available"),
	E(ERROR_NOT_FOUND, "Not found"),
	E(ERROR_IO_FAILED, "Input or output failed"),
	E(ERROR_BAD_STATE, "Not possible in this state"),
	E(ERROR_UNSUPPORTED_VERSION, "Version not supported"),
	E(ERROR_OPERATING_SYSTEM, "A call to the operating system failed"),
	E(ERROR_DRIVER, "A call to the driver failed"),
	E(ERROR_UNEXPECTED, "Unexpected condition"),
	E(ERROR_ALREADY_EXIST, "Object exists already"),
	E(ERROR_FULL, "No space left in the object"),
	E(ERROR_EMPTY, "No entry available"),
	E(ERROR_IN_PROGRESS, "Operation is in progress"),
	E(ERROR_TOO_BIG, "Too big"),
	E(ERROR_AUTHENTICATION, "Authentication failed"),
	E(ERROR_BAD_CONFIG, "Invalid configuration"),
	E(ERROR_SKIPPED, "The result is valid, but earlier results were dropped"),
	E(ERROR_DEVICE_FATAL_ERROR, "The device had a fatal error"),
};

#define COUNT	(sizeof(errors) / sizeof(errors[0]))

EXPORT const char *doca_error_get_name(doca_error_t error)
{
	return (unsigned int)error < COUNT ? errors[error].name : "DOCA_UNKNOWN_ERROR_NUMBER";
}

EXPORT const char *doca_error_get_descr(doca_error_t error)
{
	return (unsigned int)error < COUNT ? errors[error].descr : "Unknown error number";
}

EXPORT doca_error_t xvd_error(int err)
{
	switch (err < 0 ? -err : err) {
	case 0:
		return DOCA_SUCCESS;
	case EPERM:
	case EACCES:
		return DOCA_ERROR_NOT_PERMITTED;
	case EBUSY:
		return DOCA_ERROR_IN_USE;
	case EOPNOTSUPP:
	case ENOSYS:
		return DOCA_ERROR_NOT_SUPPORTED;
	case EAGAIN:
	case EINTR:
		return DOCA_ERROR_AGAIN;
	case EINVAL:
	case EFAULT:
	case ERANGE:
		return DOCA_ERROR_INVALID_VALUE;
	case ENOMEM:
		return DOCA_ERROR_NO_MEMORY;
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return DOCA_ERROR_NOT_FOUND;
	case EEXIST:
		return DOCA_ERROR_ALREADY_EXIST;
	case ENOSPC:
		return DOCA_ERROR_FULL;
	case EMSGSIZE:
	case E2BIG:
	case EOVERFLOW:
		return DOCA_ERROR_TOO_BIG;
	case ETIMEDOUT:
		return DOCA_ERROR_TIME_OUT;
	case EIO:
		return DOCA_ERROR_IO_FAILED;
	case ECONNRESET:
		return DOCA_ERROR_CONNECTION_RESET;
	case ECONNABORTED:
	case ECONNREFUSED:
		return DOCA_ERROR_CONNECTION_ABORTED;
	case ENOTCONN:
		return DOCA_ERROR_NOT_CONNECTED;
	case EPROTONOSUPPORT:
		return DOCA_ERROR_UNSUPPORTED_VERSION;
	default:
		return DOCA_ERROR_DRIVER;
	}
}
