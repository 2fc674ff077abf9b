/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Devices, and their list with the names of DOCA 2.2.
 */
#ifndef XVDOCA_JOBS_DEV_H
#define XVDOCA_JOBS_DEV_H

#include_next <doca_dev.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As doca_devinfo_create_list() and doca_devinfo_destroy_list() */
doca_error_t doca_devinfo_list_create(struct doca_devinfo ***dev_list, uint32_t *nb_devs);
doca_error_t doca_devinfo_list_destroy(struct doca_devinfo **dev_list);

#ifdef __cplusplus
}
#endif

#endif
