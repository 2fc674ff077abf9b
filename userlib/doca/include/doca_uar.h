/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * UAR: pages with the doorbell registers of queues.  Compatible with the header of the same name of
 * the DOCA SDK.
 *
 * Results: DOCA_ERROR_INVALID_VALUE for a null pointer or a wrong value, and those of each
 * function.
 *
 * Threads: any thread may call these functions, but none may destroy an object that another uses.
 */
#ifndef XVDOCA_UAR_H
#define XVDOCA_UAR_H

#include <stdint.h>
#include <doca_dev.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_uar;

/* How the page is mapped: write-combining or uncached.  No two pages share registers. */
enum doca_uar_allocation_type {
	DOCA_UAR_ALLOCATION_TYPE_BLUEFLAME		= 0,
	DOCA_UAR_ALLOCATION_TYPE_NONCACHE		= 1,
	DOCA_UAR_ALLOCATION_TYPE_NONCACHE_DEDICATED	= 2,
};

doca_error_t doca_uar_create(struct doca_dev *dev, enum doca_uar_allocation_type allocation_type,
			     struct doca_uar **uar);

/* DOCA_ERROR_IN_USE: a queue uses it. */
doca_error_t doca_uar_destroy(struct doca_uar *uar);

/* The number of the page in the adapter, and the address of the register for send queues */
doca_error_t doca_uar_id_get(const struct doca_uar *uar, uint32_t *id);
doca_error_t doca_uar_reg_addr_get(const struct doca_uar *uar, void **reg_addr);

/* The register for queues without doorbell record: DOCA_ERROR_NOT_SUPPORTED */
doca_error_t doca_uar_dbr_less_addr_get(const struct doca_uar *uar, void **dbr_less_addr);

#ifdef __cplusplus
}
#endif

#endif
