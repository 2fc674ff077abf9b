// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Properties of devices, from sysfs and from the addresses of the network interface.  Those of a
 * port are those of port 1.
 */
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "internal.h"

/* Reads the first line of a file below the directory of the device. */
static doca_error_t read_line(const struct doca_devinfo *info, const char *name, char *line,
			      int size)
{
	char path[PATH_MAX];
	FILE *f;
	int ok;

	snprintf(path, sizeof(path), "%s/%s", info->xv.ibdev_path, name);
	f = fopen(path, "re");
	if (!f)
		return DOCA_ERROR_NOT_FOUND;
	ok = fgets(line, size, f) != NULL;
	fclose(f);
	if (!ok)
		return DOCA_ERROR_NOT_FOUND;
	line[strcspn(line, "\n")] = '\0';
	return *line ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND;
}

static bool exists(const struct doca_devinfo *info, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", info->xv.ibdev_path, name);
	return !access(path, F_OK);
}

/* ---- Names ------------------------------------------------------------------------------ */

static doca_error_t copy_name(const char *name, char *to, uint32_t size)
{
	if (strlen(name) >= size)
		return DOCA_ERROR_INVALID_VALUE;
	strcpy(to, name);
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo,
						char *ibdev_name, uint32_t size)
{
	if (!devinfo || !ibdev_name)
		return DOCA_ERROR_INVALID_VALUE;
	return copy_name(devinfo->xv.name, ibdev_name, size);
}

/* On InfiniBand, the table of GIDs names no interface; then it is the first one of the function. */
static doca_error_t find_iface(const struct doca_devinfo *info, char *name, uint32_t size)
{
	char path[PATH_MAX], first[NAME_MAX + 1] = "";
	const struct dirent *entry;
	DIR *dir;

	if (read_line(info, "ports/1/gid_attrs/ndevs/0", first, sizeof(first)) == DOCA_SUCCESS)
		return copy_name(first, name, size);
	snprintf(path, sizeof(path), "%s/device/net", info->xv.ibdev_path);
	dir = opendir(path);
	if (!dir)
		return DOCA_ERROR_NOT_FOUND;
	while (!*first && (entry = readdir(dir)))
		if (*entry->d_name != '.')
			strcpy(first, entry->d_name);
	closedir(dir);
	return *first ? copy_name(first, name, size) : DOCA_ERROR_NOT_FOUND;
}

EXPORT doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo,
						char *iface_name, uint32_t size)
{
	if (!devinfo || !iface_name)
		return DOCA_ERROR_INVALID_VALUE;
	return find_iface(devinfo, iface_name, size);
}

/* ---- PCI function ----------------------------------------------------------------------- */

struct pci_addr {
	unsigned int domain, bus, device, function;
};

/* Without a domain, it is 0. */
static bool parse_pci(const char *text, struct pci_addr *a)
{
	int end = 0;

	if (sscanf(text, "%8x:%2x:%2x.%1x%n", &a->domain, &a->bus, &a->device, &a->function,
		   &end) == 4)
		return !text[end];
	a->domain = 0;
	return sscanf(text, "%2x:%2x.%1x%n", &a->bus, &a->device, &a->function, &end) == 3 &&
	       !text[end];
}

/* A subfunction is below its PCI function. */
static doca_error_t find_pci(const struct doca_devinfo *info, struct pci_addr *a)
{
	char link[PATH_MAX], path[PATH_MAX], *end;

	snprintf(link, sizeof(link), "%s/device", info->xv.ibdev_path);
	if (!realpath(link, path))
		return DOCA_ERROR_NOT_FOUND;
	while ((end = strrchr(path, '/'))) {
		if (strchr(end, '.') && parse_pci(end + 1, a))
			return DOCA_SUCCESS;
		*end = '\0';
	}
	return DOCA_ERROR_NOT_FOUND;
}

EXPORT doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo,
						  char *pci_addr_str)
{
	struct pci_addr a;
	doca_error_t result;

	if (!devinfo || !pci_addr_str)
		return DOCA_ERROR_INVALID_VALUE;
	result = find_pci(devinfo, &a);
	if (result != DOCA_SUCCESS)
		return result;
	/* Domains of virtual buses are longer. */
	if (a.domain > 0xffff)
		return DOCA_ERROR_TOO_BIG;
	snprintf(pci_addr_str, DOCA_DEVINFO_PCI_ADDR_SIZE, "%04x:%02x:%02x.%x",
		 a.domain & 0xffff, a.bus & 0xff, a.device & 0x1f, a.function & 0x7);
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo,
						   const char *pci_addr, uint8_t *is_equal)
{
	struct pci_addr own, other;
	doca_error_t result;

	if (!devinfo || !pci_addr || !is_equal || !parse_pci(pci_addr, &other))
		return DOCA_ERROR_INVALID_VALUE;
	result = find_pci(devinfo, &own);
	if (result == DOCA_SUCCESS)
		*is_equal = !memcmp(&own, &other, sizeof(own));
	return result;
}

EXPORT doca_error_t doca_devinfo_get_pci_func_type(const struct doca_devinfo *devinfo,
						   enum doca_pci_func_type *pci_func_type)
{
	if (!devinfo || !pci_func_type)
		return DOCA_ERROR_INVALID_VALUE;
	*pci_func_type = exists(devinfo, "device/sfnum") ? DOCA_PCI_FUNC_TYPE_SF :
			 exists(devinfo, "device/physfn") ? DOCA_PCI_FUNC_TYPE_VF :
							    DOCA_PCI_FUNC_TYPE_PF;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_devinfo_get_sf_index(const struct doca_devinfo *devinfo,
					      uint32_t *sf_index)
{
	char line[16];

	if (!devinfo || !sf_index)
		return DOCA_ERROR_INVALID_VALUE;
	if (read_line(devinfo, "device/sfnum", line, sizeof(line)) != DOCA_SUCCESS)
		return DOCA_ERROR_NOT_SUPPORTED;
	*sf_index = (uint32_t)strtoul(line, NULL, 10);
	return DOCA_SUCCESS;
}

/* ---- Addresses -------------------------------------------------------------------------- */

EXPORT doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo,
					      uint8_t *mac_addr, uint32_t size)
{
	char iface[DOCA_DEVINFO_IFACE_NAME_SIZE], name[PATH_MAX], line[64];
	unsigned int byte[DOCA_DEVINFO_MAC_ADDR_SIZE];
	doca_error_t result;
	int i, end = -1;

	if (!devinfo || !mac_addr || size < DOCA_DEVINFO_MAC_ADDR_SIZE)
		return DOCA_ERROR_INVALID_VALUE;
	result = find_iface(devinfo, iface, sizeof(iface));
	if (result != DOCA_SUCCESS)
		return result;
	snprintf(name, sizeof(name), "device/net/%s/address", iface);
	result = read_line(devinfo, name, line, sizeof(line));
	if (result != DOCA_SUCCESS)
		return result;
	/* Addresses of IPoIB are longer. */
	if (sscanf(line, "%2x:%2x:%2x:%2x:%2x:%2x%n", &byte[0], &byte[1], &byte[2], &byte[3],
		   &byte[4], &byte[5], &end) != 6 || line[end])
		return DOCA_ERROR_NOT_SUPPORTED;
	for (i = 0; i < DOCA_DEVINFO_MAC_ADDR_SIZE; i++)
		mac_addr[i] = (uint8_t)byte[i];
	return DOCA_SUCCESS;
}

static const void *bytes_of(const struct sockaddr *addr)
{
	if (addr->sa_family == AF_INET)
		return &((const struct sockaddr_in *)(const void *)addr)->sin_addr;
	return &((const struct sockaddr_in6 *)(const void *)addr)->sin6_addr;
}

/* The first address of the interface; the caller has compared the sizes. */
static doca_error_t find_addr(const struct doca_devinfo *info, int family, uint8_t *to, size_t size)
{
	char iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	doca_error_t result = find_iface(info, iface, sizeof(iface));
	struct ifaddrs *list, *i;

	if (result != DOCA_SUCCESS)
		return result;
	if (getifaddrs(&list))
		return xvd_error(errno);
	for (i = list; i; i = i->ifa_next)
		if (i->ifa_addr && i->ifa_addr->sa_family == family && !strcmp(i->ifa_name, iface))
			break;
	if (i)
		memcpy(to, bytes_of(i->ifa_addr), size);
	freeifaddrs(list);
	return i ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND;
}

EXPORT doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *devinfo,
					       uint8_t *ipv4_addr, uint32_t size)
{
	if (!devinfo || !ipv4_addr || size < DOCA_DEVINFO_IPV4_ADDR_SIZE)
		return DOCA_ERROR_INVALID_VALUE;
	return find_addr(devinfo, AF_INET, ipv4_addr, DOCA_DEVINFO_IPV4_ADDR_SIZE);
}

EXPORT doca_error_t doca_devinfo_get_ipv6_addr(const struct doca_devinfo *devinfo,
					       uint8_t *ipv6_addr, uint32_t size)
{
	if (!devinfo || !ipv6_addr || size < DOCA_DEVINFO_IPV6_ADDR_SIZE)
		return DOCA_ERROR_INVALID_VALUE;
	return find_addr(devinfo, AF_INET6, ipv6_addr, DOCA_DEVINFO_IPV6_ADDR_SIZE);
}

/* ---- Port ------------------------------------------------------------------------------- */

EXPORT doca_error_t doca_devinfo_get_lid(const struct doca_devinfo *devinfo, uint16_t *lid)
{
	char line[64];
	doca_error_t result;

	if (!devinfo || !lid)
		return DOCA_ERROR_INVALID_VALUE;
	result = read_line(devinfo, "ports/1/link_layer", line, sizeof(line));
	if (result != DOCA_SUCCESS)
		return result;
	if (strcmp(line, "InfiniBand"))
		return DOCA_ERROR_NOT_SUPPORTED;
	result = read_line(devinfo, "ports/1/lid", line, sizeof(line));
	if (result == DOCA_SUCCESS)
		*lid = (uint16_t)strtoul(line, NULL, 16);
	return result;
}

/* The line begins with the rate in Gb/s. */
EXPORT doca_error_t doca_devinfo_get_active_rate(const struct doca_devinfo *devinfo,
						 double *active_rate)
{
	char line[64];
	doca_error_t result;

	if (!devinfo || !active_rate)
		return DOCA_ERROR_INVALID_VALUE;
	result = read_line(devinfo, "ports/1/rate", line, sizeof(line));
	if (result == DOCA_SUCCESS)
		*active_rate = strtod(line, NULL) * 1e9;
	return result;
}
