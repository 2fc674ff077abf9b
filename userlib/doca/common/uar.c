// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * UAR: pages with the doorbell registers of queues.
 */
#include <errno.h>
#include <stdlib.h>
#include <doca_uar.h>
#include "internal.h"

/* No two pages share registers, so each uncached page is a dedicated one, too. */
EXPORT doca_error_t doca_uar_create(struct doca_dev *dev, enum doca_uar_allocation_type type,
				    struct doca_uar **uar)
{
	uint32_t flags = type == DOCA_UAR_ALLOCATION_TYPE_BLUEFLAME ? 0 : XV_UAR_NC;
	struct doca_uar *new;

	if (!dev || !uar || (unsigned int)type > DOCA_UAR_ALLOCATION_TYPE_NONCACHE_DEDICATED)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	new->xv = xv_alloc_uar(dev->ctx, flags);
	if (!new->xv) {
		free(new);
		return xvd_error(errno);
	}
	new->dev = dev;
	xvd_dev_get(dev);
	*uar = new;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_uar_destroy(struct doca_uar *uar)
{
	int err;

	if (!uar)
		return DOCA_ERROR_INVALID_VALUE;
	err = xv_free_uar(uar->xv);
	if (err)
		return xvd_error(err);
	xvd_dev_put(uar->dev);
	free(uar);
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_uar_id_get(const struct doca_uar *uar, uint32_t *id)
{
	if (!uar || !id)
		return DOCA_ERROR_INVALID_VALUE;
	*id = uar->xv->page_id;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_uar_reg_addr_get(const struct doca_uar *uar, void **reg_addr)
{
	if (!uar || !reg_addr)
		return DOCA_ERROR_INVALID_VALUE;
	*reg_addr = (char *)uar->xv->addr + uar->xv->qp_doorbell;
	return DOCA_SUCCESS;
}

/* The adapters that this library knows read the doorbell record of each send queue. */
EXPORT doca_error_t doca_uar_dbr_less_addr_get(const struct doca_uar *uar, void **dbr_less_addr)
{
	return !uar || !dbr_less_addr ? DOCA_ERROR_INVALID_VALUE : DOCA_ERROR_NOT_SUPPORTED;
}
