// SPDX-License-Identifier: GPL-2.0
/*
 * Properties of devices, compared with what sysfs and libxverbs say.
 */
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include <doca_dev.h>
#include <xverbs/xverbs.h>
#include "tap.h"

/* Port 1 has a network interface; on InfiniBand only if the driver of IPoIB is loaded. */
static bool has_iface(const struct xv_device *xv)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/device/net", xv->ibdev_path);
	return !access(path, F_OK);
}

static void names(const struct doca_devinfo *info, const struct xv_device *xv)
{
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE], iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
	char path[512];

	tap_is(doca_devinfo_get_ibdev_name(info, name, sizeof(name)), DOCA_SUCCESS, "%s: the name",
	       xv->name);
	ok(!strcmp(name, xv->name), "it is %s", name);
	tap_is(doca_devinfo_get_ibdev_name(info, name, 3), DOCA_ERROR_INVALID_VALUE,
	       "a buffer that is too small");
	tap_is(doca_devinfo_get_iface_name(info, iface, sizeof(iface)),
	       has_iface(xv) ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, "the name of the interface");
	if (!has_iface(xv))
		return;
	snprintf(path, sizeof(path), "/sys/class/net/%s", iface);
	ok(!access(path, F_OK), "%s exists", iface);
}

static void pci(const struct doca_devinfo *info, const struct xv_device *xv)
{
	char addr[DOCA_DEVINFO_PCI_ADDR_SIZE] = "", link[PATH_MAX], path[PATH_MAX], *want;
	enum doca_pci_func_type type;
	uint32_t index;
	uint8_t equal = 2;
	bool fits;

	snprintf(link, sizeof(link), "%s/device", xv->ibdev_path);
	if (!realpath(link, path))
		bail_out("%s", link);
	want = strrchr(path, '/') + 1;
	fits = strlen(want) < sizeof(addr);
	tap_is(doca_devinfo_get_pci_addr_str(info, addr), fits ? DOCA_SUCCESS : DOCA_ERROR_TOO_BIG,
	       "the PCI function");
	ok(!fits || !strcmp(addr, want), "it is %s", want);
	tap_is(doca_devinfo_is_equal_pci_addr(info, want, &equal), DOCA_SUCCESS, "compare it");
	tap_is(equal, 1, "it is equal");
	tap_is(doca_devinfo_is_equal_pci_addr(info, "ffff:ff:1f.7", &equal), DOCA_SUCCESS,
	       "compare another");
	tap_is(equal, 0, "it differs");
	tap_is(doca_devinfo_is_equal_pci_addr(info, "nonsense", &equal), DOCA_ERROR_INVALID_VALUE,
	       "no PCI function");
	tap_is(doca_devinfo_is_equal_pci_addr(info, "0000:03:00.0x", &equal),
	       DOCA_ERROR_INVALID_VALUE, "something behind it");
	tap_is(doca_devinfo_get_pci_func_type(info, &type), DOCA_SUCCESS, "its type");
	ok(type == DOCA_PCI_FUNC_TYPE_PF || type == DOCA_PCI_FUNC_TYPE_VF, "PF or VF");
	tap_is(doca_devinfo_get_sf_index(info, &index), DOCA_ERROR_NOT_SUPPORTED, "no subfunction");
}

static void addresses(const struct doca_devinfo *info, const struct xv_device *xv,
		      const struct xv_port_attr *port)
{
	bool ib = port->link_layer == XV_LINK_LAYER_INFINIBAND;
	uint8_t mac[DOCA_DEVINFO_MAC_ADDR_SIZE] = { 0 }, ip[DOCA_DEVINFO_IPV4_ADDR_SIZE];
	uint8_t none[DOCA_DEVINFO_MAC_ADDR_SIZE] = { 0 };
	double rate = 0;
	uint16_t lid;

	tap_is(doca_devinfo_get_mac_addr(info, mac, 5), DOCA_ERROR_INVALID_VALUE,
	       "5 bytes are too few");
	tap_is(doca_devinfo_get_mac_addr(info, mac, sizeof(mac)),
	       !has_iface(xv) ? DOCA_ERROR_NOT_FOUND : ib ? DOCA_ERROR_NOT_SUPPORTED : DOCA_SUCCESS,
	       "the MAC address");
	ok(ib || memcmp(mac, none, sizeof(mac)), "it is set");
	tap_is(doca_devinfo_get_ipv4_addr(info, ip, 3), DOCA_ERROR_INVALID_VALUE,
	       "3 bytes are too few");
	if (!ib)
		tap_is(doca_devinfo_get_ipv4_addr(info, ip, sizeof(ip)), DOCA_SUCCESS,
		       "the IPv4 address");
	tap_is(doca_devinfo_get_lid(info, &lid), ib ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED,
	       "the LID");
	ok(!ib || lid == port->lid, "it is that of the port");
	tap_is(doca_devinfo_get_active_rate(info, &rate), DOCA_SUCCESS, "the rate");
	ok(rate >= 1e9, "it is %g bit/s", rate);
}

static void representors(const struct doca_devinfo *info)
{
	uint8_t supported = 1;

	tap_is(doca_devinfo_rep_cap_is_filter_net_supported(info, &supported), DOCA_SUCCESS,
	       "representors");
	tap_is(supported, 0, "there are none");
}

int main(void)
{
	struct doca_devinfo **list;
	struct xv_port_attr port;
	struct xv_device **xv;
	struct xv_context *ctx;
	uint32_t n, i;

	tap_is(doca_devinfo_get_ibdev_name(NULL, NULL, 0), DOCA_ERROR_INVALID_VALUE, "no device");
	if (doca_devinfo_create_list(&list, &n) != DOCA_SUCCESS || !n)
		tap_skip_all("no device");
	xv = xv_get_device_list(NULL);
	for (i = 0; i < n; i++) {
		ctx = xv_open_device(xv[i]);
		if (!ctx || xv_query_port(ctx, 1, &port))
			bail_out("%s", xv_last_error());
		names(list[i], xv[i]);
		pci(list[i], xv[i]);
		addresses(list[i], xv[i], &port);
		representors(list[i]);
		xv_close(ctx);
	}
	xv_free_device_list(xv);
	doca_devinfo_destroy_list(list);
	return tap_done();
}
