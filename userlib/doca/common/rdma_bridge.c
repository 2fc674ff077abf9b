// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Devices and protection domains of libibverbs: those that belong to a device, and devices for
 * those of the program.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <doca_rdma_bridge.h>
#include "internal.h"

/* A context that was imported from a provider other than libxverbs-ibverbs */
struct import {
	struct ibv_context *ibv;
	struct xv_context *xv;
	unsigned int users;
	struct import *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct import *imports;

static struct import *import_new(struct ibv_context *ibv)
{
	struct import *i = calloc(1, sizeof(*i));

	if (!i)
		return NULL;
	i->xv = xv_bridge_import_ctx(ibv);
	if (!i->xv) {
		free(i);
		return NULL;
	}
	i->ibv = ibv;
	i->next = imports;
	imports = i;
	return i;
}

EXPORT struct xv_context *xvd_import_ctx(struct ibv_context *ibv)
{
	struct xv_context *xv = xv_bridge_get_ctx(ibv);
	struct import *i;

	if (xv)
		return xv;
	pthread_mutex_lock(&lock);
	for (i = imports; i && i->ibv != ibv; i = i->next)
		;
	if (!i)
		i = import_new(ibv);
	if (i) {
		i->users++;
		xv = i->xv;
	}
	pthread_mutex_unlock(&lock);
	return xv;
}

EXPORT void xvd_release_ctx(struct xv_context *xv)
{
	struct import **p, *i;

	pthread_mutex_lock(&lock);
	for (p = &imports; *p && (*p)->xv != xv; p = &(*p)->next)
		;
	i = *p;
	if (i && !--i->users) {
		*p = i->next;
		xv_close(i->xv);
		free(i);
	}
	pthread_mutex_unlock(&lock);
}

EXPORT struct xv_pd *xvd_import_pd(struct ibv_pd *ibv)
{
	struct xv_pd *pd = xv_bridge_get_pd(ibv);
	struct xv_context *ctx;
	int err;

	if (pd)
		return pd;
	ctx = xvd_import_ctx(ibv->context);
	if (!ctx)
		return NULL;
	pd = xv_bridge_import_pd(ctx, ibv);
	if (!pd) {
		err = errno;
		xvd_release_ctx(ctx);
		errno = err;
	}
	return pd;
}

static bool is_import(const struct xv_context *xv)
{
	const struct import *i;

	pthread_mutex_lock(&lock);
	for (i = imports; i && i->xv != xv; i = i->next)
		;
	pthread_mutex_unlock(&lock);
	return i;
}

EXPORT int xvd_release_pd(struct xv_pd *pd)
{
	struct xv_context *ctx = pd->context;
	int err;

	if (!is_import(ctx))
		return 0;
	err = xv_dealloc_pd(pd);
	if (!err)
		xvd_release_ctx(ctx);
	return err;
}

static struct ibv_pd *ibv_new(struct xv_pd *xv)
{
	struct ibv_context *ctx = xv_bridge_wrap_ctx(xv->context);
	struct ibv_pd *pd = ctx ? xv_bridge_wrap_pd(ctx, xv) : NULL;

	if (ctx && !pd)
		ibv_close_device(ctx);
	return pd;
}

EXPORT struct ibv_pd *xvd_ibv_get(struct xvd_ibv *ibv, struct xv_pd *pd)
{
	struct ibv_pd *found;

	pthread_mutex_lock(&lock);
	if (!ibv->pd)
		ibv->pd = ibv_new(pd);
	found = ibv->pd;
	pthread_mutex_unlock(&lock);
	return found;
}

EXPORT void xvd_ibv_free(struct xvd_ibv *ibv)
{
	struct ibv_context *ctx;

	if (!ibv->pd || ibv->imported)
		return;
	ctx = ibv->pd->context;
	/* A parent domain of the program keeps both. */
	if (!ibv_dealloc_pd(ibv->pd))
		ibv_close_device(ctx);
}

static doca_error_t find_device(const struct xv_context *ctx, struct xv_device *found)
{
	struct xv_device **list = xv_get_device_list(NULL), **d;

	if (!list)
		return xvd_error(errno);
	for (d = list; *d && (*d)->index != ctx->index; d++)
		;
	if (*d)
		*found = **d;
	xv_free_device_list(list);
	return found->name[0] ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND;
}

EXPORT doca_error_t xvd_dev_borrow(struct xv_context *ctx, struct xv_pd *pd,
				   const struct xvd_ibv *ibv, void (*closed)(void *owner),
				   void *owner, struct doca_dev **dev)
{
	struct doca_dev *new = calloc(1, sizeof(*new));
	doca_error_t result;

	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	result = find_device(ctx, &new->info.xv);
	if (result != DOCA_SUCCESS) {
		free(new);
		return result;
	}
	new->ctx = ctx;
	new->pd = pd;
	new->borrowed = true;
	if (ibv && ibv->imported)
		new->ibv = *ibv;
	new->closed = closed;
	new->owner = owner;
	*dev = new;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_rdma_bridge_get_dev_pd(const struct doca_dev *dev, struct ibv_pd **pd)
{
	struct doca_dev *own = (struct doca_dev *)dev;

	if (!dev || !pd)
		return DOCA_ERROR_INVALID_VALUE;
	*pd = xvd_ibv_get(&own->ibv, own->pd);
	return *pd ? DOCA_SUCCESS : xvd_error(errno);
}

static void end_import(void *pd)
{
	xvd_release_pd(pd);
}

EXPORT doca_error_t doca_rdma_bridge_open_dev_from_pd(struct ibv_pd *pd, struct doca_dev **dev)
{
	struct xvd_ibv ibv = { .pd = pd, .imported = true };
	struct xv_pd *xv;
	doca_error_t result;

	if (!pd || !dev)
		return DOCA_ERROR_INVALID_VALUE;
	xv = xvd_import_pd(pd);
	if (!xv)
		return xvd_error(errno);
	result = xvd_dev_borrow(xv->context, xv, &ibv, end_import, xv, dev);
	if (result != DOCA_SUCCESS)
		xvd_release_pd(xv);
	return result;
}
