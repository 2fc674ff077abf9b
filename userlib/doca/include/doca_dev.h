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
#define DOCA_DEVINFO_REP_VUID_SIZE	128

/*
 * The devices that this process can open.  The list ends with NULL; *nb_devs is their number.
 * doca_devinfo_destroy_list() frees the list and its entries; open devices do not need them.
 */
doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs);
doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list);

/*
 * Devices stay open, whatever happens to the list.  DOCA_ERROR_IN_USE: objects use the device.
 */
doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev);
doca_error_t doca_dev_close(struct doca_dev *dev);

/* The properties of an open device; valid as long as it is open */
struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev);

/*
 * Names of the RDMA device, such as "mlx5_0", and of its network interface.  The buffer has size
 * bytes.
 */
doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo, char *ibdev_name,
					 uint32_t size);
doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name,
					 uint32_t size);

/*
 * The PCI function, such as "0000:03:00.0": pci_addr_str has DOCA_DEVINFO_PCI_ADDR_SIZE bytes.
 * DOCA_ERROR_TOO_BIG: its domain is longer than four digits, as those of virtual buses are.  An
 * address to compare with may have any domain, or none for 0.  *is_equal becomes 1 or 0.
 */
doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo,
					   char *pci_addr_str);
doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo,
					    const char *pci_addr, uint8_t *is_equal);
doca_error_t doca_devinfo_get_pci_func_type(const struct doca_devinfo *devinfo,
					    enum doca_pci_func_type *pci_func_type);

/* DOCA_ERROR_NOT_SUPPORTED: it is no subfunction. */
doca_error_t doca_devinfo_get_sf_index(const struct doca_devinfo *devinfo, uint32_t *sf_index);

/*
 * The addresses of the network interface, in network byte order; the first one if there are
 * several.  DOCA_ERROR_NOT_FOUND: it has none.  DOCA_ERROR_NOT_SUPPORTED: it has no MAC address.
 */
doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo, uint8_t *mac_addr,
				       uint32_t size);
doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *devinfo, uint8_t *ipv4_addr,
					uint32_t size);
doca_error_t doca_devinfo_get_ipv6_addr(const struct doca_devinfo *devinfo, uint8_t *ipv6_addr,
					uint32_t size);

/* The LID of port 1; DOCA_ERROR_NOT_SUPPORTED: the port is not InfiniBand.  Its rate in bit/s */
doca_error_t doca_devinfo_get_lid(const struct doca_devinfo *devinfo, uint16_t *lid);
doca_error_t doca_devinfo_get_active_rate(const struct doca_devinfo *devinfo, double *active_rate);

/*
 * Representors.  No adapter has any: the list is DOCA_ERROR_NOT_SUPPORTED, the others are
 * DOCA_ERROR_INVALID_VALUE.
 */
struct doca_devinfo_rep;
struct doca_dev_rep;

enum doca_devinfo_rep_filter {
	DOCA_DEVINFO_REP_FILTER_ALL		= 0,
	DOCA_DEVINFO_REP_FILTER_NET		= 1 << 1,
	DOCA_DEVINFO_REP_FILTER_EMULATED	= 1 << 2,
};

doca_error_t doca_devinfo_rep_cap_is_filter_net_supported(const struct doca_devinfo *devinfo,
							  uint8_t *supported);
doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter,
					  struct doca_devinfo_rep ***dev_list_rep,
					  uint32_t *nb_devs_rep);
doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **dev_list_rep);
doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep, char *rep_vuid,
				       uint32_t size);
doca_error_t doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *devinfo_rep,
						const char *pci_addr, uint8_t *is_equal);
doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo, struct doca_dev_rep **dev);
doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev);

#ifdef __cplusplus
}
#endif

#endif
