/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the libraries in doca/ share.  They are built and installed together, so they use each
 * other's structures.
 */
#ifndef XVDOCA_INTERNAL_H
#define XVDOCA_INTERNAL_H

#include <stdbool.h>
#include <xverbs/bridge.h>
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

/* The PD of libibverbs for one of libxverbs */
struct xvd_ibv {
	struct ibv_pd *pd;	/* NULL: none was asked for yet */
	bool imported;		/* pd belongs to the program */
};

struct doca_dev {
	struct doca_devinfo info;
	struct xv_context *ctx;
	struct xv_pd *pd;
	bool borrowed;		/* ctx and pd belong to somebody else */
	unsigned int users;	/* objects that need the device; atomic */
	struct xvd_ibv ibv;
	void (*closed)(void *owner);	/* called when a borrowed device is closed */
	void *owner;
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

/*
 * A device for a context and a PD that belong to the owner.  doca_dev_close() calls closed(owner);
 * until then, both stay.  ibv may be NULL.
 */
doca_error_t xvd_dev_borrow(struct xv_context *ctx, struct xv_pd *pd, const struct xvd_ibv *ibv,
			    void (*closed)(void *owner), void *owner, struct doca_dev **dev);

/*
 * The PD of libibverbs for pd; the first call makes it with a context of its own.  xvd_ibv_free()
 * frees what was made, when pd no longer has users.
 */
struct ibv_pd *xvd_ibv_get(struct xvd_ibv *ibv, struct xv_pd *pd);
void xvd_ibv_free(struct xvd_ibv *ibv);

/*
 * The context of libxverbs for one of libibverbs, and the PD in it for one of libibverbs.  Those of
 * libxverbs-ibverbs have them already; others are imported, once for each context, and counted.
 * NULL with errno set, as functions of libxverbs.
 */
struct xv_context *xvd_import_ctx(struct ibv_context *ibv);
struct xv_pd *xvd_import_pd(struct ibv_pd *ibv);
void xvd_release_ctx(struct xv_context *ctx);
int xvd_release_pd(struct xv_pd *pd);

struct doca_umem {
	struct doca_dev *dev;
	struct xv_umem *xv;
};

struct doca_uar {
	struct doca_dev *dev;
	struct xv_uar *xv;
};

/* fd: a dma-buf; addr: its address in this process, or NULL */
doca_error_t xvd_umem_create_dmabuf(struct doca_dev *dev, void *addr, size_t size, int fd,
				    uint64_t offset, struct doca_umem **umem);

#endif
