/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Devices.  Compatible with the header of the same name of the DOCA SDK.
 *
 * Results: DOCA_ERROR_INVALID_VALUE for a null pointer or a size that is too small, also
 * DOCA_ERROR_NOT_FOUND, DOCA_ERROR_NO_MEMORY, DOCA_ERROR_NOT_SUPPORTED where they are named.
 *
 * Threads: any thread may call these functions, but none may destroy a list or close a device that
 * another one uses.
 */
#ifndef XVDOCA_DEV_H
#define XVDOCA_DEV_H

#include <stdint.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_devinfo;
struct doca_dev;

/* Sizes of the properties, with the null byte of a text */
#define DOCA_DEVINFO_PCI_ADDR_SIZE	13
#define DOCA_DEVINFO_PCI_BDF_SIZE	8
#define DOCA_DEVINFO_IFACE_NAME_SIZE	256
#define DOCA_DEVINFO_IBDEV_NAME_SIZE	64
#define DOCA_DEVINFO_MAC_ADDR_SIZE	6
#define DOCA_DEVINFO_IPV4_ADDR_SIZE	4
#define DOCA_DEVINFO_IPV6_ADDR_SIZE	16

/*
 * The devices that this process can open.  The list ends with NULL; *nb_devs is their number.
 * doca_devinfo_destroy_list() frees the list and its entries; open devices do not need them.
 */
doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs);
doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list);

/* The devices stay open, whatever happens to the list.  DOCA_ERROR_IN_USE: objects use the device. */
doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev);
doca_error_t doca_dev_close(struct doca_dev *dev);

/* The properties of an open device; valid as long as it is open */
struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev);

#ifdef __cplusplus
}
#endif

#endif
