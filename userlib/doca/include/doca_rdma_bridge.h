/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Devices and protection domains of libibverbs.  Compatible with the header of the same name of the
 * DOCA SDK.
 *
 * Results: DOCA_ERROR_INVALID_VALUE for a null pointer, and those of each function.
 *
 * Threads: any thread may call these functions.
 */
#ifndef XVDOCA_RDMA_BRIDGE_H
#define XVDOCA_RDMA_BRIDGE_H

#include <infiniband/verbs.h>
#include <doca_dev.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The protection domain of the device for functions of libibverbs, such as ibv_reg_mr();
 * (*pd)->context is its context.  Both belong to the device.  The program destroys what it made
 * with them before it closes the device.
 */
doca_error_t doca_rdma_bridge_get_dev_pd(const struct doca_dev *dev, struct ibv_pd **pd);

/*
 * A device that uses the protection domain of the program, which keeps it until doca_dev_close().
 * Protection domains of other providers of libibverbs are imported.
 */
doca_error_t doca_rdma_bridge_open_dev_from_pd(struct ibv_pd *pd, struct doca_dev **dev);

#ifdef __cplusplus
}
#endif

#endif
