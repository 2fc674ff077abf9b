/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the libraries in doca/ share.  They are built and installed together, so they use each
 * other's structures.
 */
#ifndef XVDOCA_INTERNAL_H
#define XVDOCA_INTERNAL_H

#include <stdbool.h>
#include <xverbs/xverbs.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_log.h>
#include <doca_types.h>

#define EXPORT	__attribute__((visibility("default")))

/* The error for a negative or positive error number of libxverbs or of the system */
doca_error_t xvd_error(int err);

/* Logs a message of the libraries, see doca_log.h. */
__attribute__((format(printf, 5, 6)))
void xvd_log(uint32_t level, const char *file, int line, const char *function,
	     const char *format, ...);
#define XVD_LOG(level, ...)	\
	xvd_log(DOCA_LOG_LEVEL_##level, __FILE__, __LINE__, __func__, __VA_ARGS__)

/* An entry of the list of devices, or the properties of an open device */
struct doca_devinfo {
	struct xv_device xv;
};

struct doca_dev {
	struct doca_devinfo info;
	struct xv_context *ctx;
	struct xv_pd *pd;
	bool borrowed;		/* ctx and pd belong to somebody else */
	unsigned int users;	/* objects that need the device; atomic */
};

/* Count the objects that need a device. */
static inline void xvd_dev_get(struct doca_dev *dev)
{
	__atomic_add_fetch(&dev->users, 1, __ATOMIC_RELAXED);
}

static inline void xvd_dev_put(struct doca_dev *dev)
{
	__atomic_sub_fetch(&dev->users, 1, __ATOMIC_RELEASE);
}

/* A device for a context and a PD that belong to the caller, which closes the device first */
doca_error_t xvd_dev_borrow(struct xv_context *ctx, struct xv_pd *pd, struct doca_dev **dev);

#endif
