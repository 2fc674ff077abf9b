// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * xv_devinfo: shows devices, ports, GIDs and features, or the objects that processes
 * hold, as text or JSON.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include "tool.h"

static struct {
	const char *device;
	bool json;
	bool verbose;
	bool resources;
} opt;

static const char usage[] =
	"usage: xv_devinfo [--device NAME] [--verbose] [--resources] [--json]\n"
	"Shows the RDMA devices of /dev/xverbs.\n"
	"  -d, --device NAME  show only this device\n"
	"  -v, --verbose      show all attributes and features\n"
	"  -r, --resources    show only the objects that processes hold; needs root\n"
	"  -j, --json         show everything as JSON\n"
	"  -h, --help         show this help\n";

static const char *link_layer(uint32_t layer)
{
	return layer == XV_LINK_LAYER_ETHERNET ? "Ethernet" :
	       layer == XV_LINK_LAYER_INFINIBAND ? "InfiniBand" : "?";
}

static const char *gid_type(uint32_t type)
{
	static const char *const names[] = { "IB", "RoCE v1", "RoCE v2" };

	return type < ARRAY_SIZE(names) ? names[type] : "?";
}

static const char *guid_text(uint64_t guid)
{
	static char text[24];
	const uint8_t *b = (const uint8_t *)&guid;

	snprintf(text, sizeof(text), "%02x%02x:%02x%02x:%02x%02x:%02x%02x", b[0], b[1], b[2], b[3],
		 b[4], b[5], b[6], b[7]);
	return text;
}

/* Numeric attributes; without --verbose, only the first SHORT_NUMBERS are shown. */
#define NUMBERS(N) \
	N(max_qp) N(max_qp_wr) N(max_sge) N(max_cq) N(max_cqe) N(max_mr) N(max_pd) \
	N(max_sge_rd) N(max_qp_rd_atom) N(max_res_rd_atom) N(max_qp_init_rd_atom) \
	N(atomic_cap) N(masked_atomic_cap) N(max_mw) N(max_mcast_grp) N(max_mcast_qp_attach) \
	N(max_total_mcast_qp_attach) N(max_ah) N(max_srq) N(max_srq_wr) N(max_srq_sge) \
	N(max_pkeys) N(local_ca_ack_delay) N(phys_port_cnt) N(num_comp_vectors) N(odp_caps) \
	N(max_sq_wqebbs) N(max_inline_data) N(cqe_version) N(max_file_objects) N(bf_bytes) \
	N(umr_fence) N(max_dct) N(max_dc_req_rd_atom) N(max_dc_res_rd_atom) \
	N(ext_atom.atomic_arg_sizes) N(ext_atom.atomic_arg_sizes_be) \
	N(ext_atom.log_max_atomic_inline) N(max_dm_size) N(hca_core_clock) N(inline_recv_sz) \
	N(hw_ver)

#define SHORT_NUMBERS 7

static void show_numbers(const struct xv_device_attr *a)
{
	const struct {
		const char *name;
		uint64_t value;
	} list[] = {
#define N(m) { #m, a->m },
		NUMBERS(N)
#undef N
	};
	size_t i, n = opt.json || opt.verbose ? ARRAY_SIZE(list) : SHORT_NUMBERS;

	for (i = 0; i < n; i++) {
		if (opt.json)
			xt_json_num(list[i].name, (double)list[i].value);
		else
			printf("\t%-26s %llu\n", list[i].name, (unsigned long long)list[i].value);
	}
}

static void show_gid(const struct xv_gid_entry *e, bool is_default)
{
	char text[INET6_ADDRSTRLEN], ifname[IF_NAMESIZE] = "";

	inet_ntop(AF_INET6, e->gid.raw, text, sizeof(text));
	if (e->ndev_ifindex && !if_indextoname(e->ndev_ifindex, ifname))
		ifname[0] = 0;
	if (!opt.json) {
		printf("\t\tGID[%u] %-28s %s%s%s%s\n", e->gid_index, text, gid_type(e->gid_type),
		       ifname[0] ? " on " : "", ifname, is_default ? " (default)" : "");
		return;
	}
	xt_json_open('{');
	xt_json_num("index", e->gid_index);
	xt_json_str("gid", "%s", text);
	xt_json_str("type", "%s", gid_type(e->gid_type));
	xt_json_str("netdev", "%s", ifname);
	xt_json_bool("default", is_default);
	xt_json_close('}');
}

static void show_gids(struct xv_context *ctx, uint32_t port, const struct xv_port_attr *a)
{
	int best = xv_default_gid_index(ctx, port);
	struct xv_gid_entry e;
	uint32_t i;

	if (opt.json) {
		xt_json_key("gids");
		xt_json_open('[');
	}
	for (i = 0; i < a->gid_tbl_len; i++)
		if (!xv_query_gid_entry(ctx, port, i, &e))
			show_gid(&e, (int)i == best);
	if (opt.json)
		xt_json_close(']');
}

static void show_port(struct xv_context *ctx, uint32_t port)
{
	struct xv_port_attr a;

	if (xv_query_port(ctx, port, &a))
		xt_die_xv("%s port %u", ctx->name, port);
	if (opt.json) {
		xt_json_open('{');
		xt_json_num("port", port);
		xt_json_str("state", "%s", xv_port_state_str(a.state));
		xt_json_str("link_layer", "%s", link_layer(a.link_layer));
		xt_json_num("active_mtu", 128 << a.active_mtu);
		xt_json_num("max_mtu", 128 << a.max_mtu);
		xt_json_num("max_msg_sz", a.max_msg_sz);
		xt_json_num("lid", a.lid);
		xt_json_num("sm_lid", a.sm_lid);
		xt_json_num("pkey_tbl_len", a.pkey_tbl_len);
		xt_json_num("gid_tbl_len", a.gid_tbl_len);
		xt_json_num("active_width", a.active_width);
		xt_json_num("active_speed", a.active_speed);
	} else {
		printf("\tport %u: %s, %s, MTU %u (max %u)", port, xv_port_state_str(a.state),
		       link_layer(a.link_layer), 128u << a.active_mtu, 128u << a.max_mtu);
		if (a.link_layer == XV_LINK_LAYER_INFINIBAND)
			printf(", LID %u", a.lid);
		putchar('\n');
	}
	show_gids(ctx, port, &a);
	if (opt.json)
		xt_json_close('}');
}

static void show_features(struct xv_context *ctx)
{
	struct xv_feature f[128];
	int n = xv_query_features(ctx, f, ARRAY_SIZE(f)), i;

	if (n < 0)
		xt_die_xv("%s", ctx->name);
	if (n > (int)ARRAY_SIZE(f))
		n = ARRAY_SIZE(f);
	if (opt.json) {
		xt_json_key("features");
		xt_json_open('[');
	}
	for (i = 0; i < n; i++) {
		if (opt.json) {
			xt_json_open('{');
			xt_json_str("name", "%s", f[i].name);
			xt_json_bool("available", f[i].available);
			if (!f[i].available)
				xt_json_str("why_not", "%s", f[i].why_not);
			xt_json_close('}');
		} else if (f[i].available) {
			printf("\tfeature %-18s yes\n", f[i].name);
		} else if (opt.verbose) {
			printf("\tfeature %-18s no: %s\n", f[i].name, f[i].why_not);
		}
	}
	if (opt.json)
		xt_json_close(']');
}

static void show_open_device(struct xv_context *ctx)
{
	struct xv_device_attr a;
	uint32_t port;

	if (xv_query_device(ctx, &a))
		xt_die_xv("%s", ctx->name);
	if (opt.json) {
		xt_json_str("fw_ver", "%s", a.fw_ver);
		xt_json_str("sys_image_guid", "%s", guid_text(a.sys_image_guid));
	} else {
		printf("\t%-26s %s\n", "fw_ver", a.fw_ver);
	}
	show_numbers(&a);
	show_features(ctx);
	if (opt.json) {
		xt_json_key("ports");
		xt_json_open('[');
	}
	for (port = 1; port <= a.phys_port_cnt; port++)
		show_port(ctx, port);
	if (opt.json)
		xt_json_close(']');
}

/* One line of the kernel's: type, number, process, its name, bytes */
static void show_resource(const char *line)
{
	char type[16], name[72];	/* each byte of the name may be octal */
	unsigned long long bytes;
	unsigned int number;
	int pid;

	if (sscanf(line, "%15s %x %d %71s %llu", type, &number, &pid, name, &bytes) != 5)
		xt_die(XT_FAILED, "the kernel says \"%s\"", line);
	if (!opt.json) {
		printf("\t%-11s 0x%06x %8d %-16s %llu\n", type, number, pid, name, bytes);
		return;
	}
	xt_json_open('{');
	xt_json_str("type", "%s", type);
	xt_json_num("number", number);
	xt_json_num("pid", pid);
	xt_json_str("process", "%s", name);
	xt_json_num("bytes", (double)bytes);
	xt_json_close('}');
}

static void show_resources(const struct xv_device *dev)
{
	char file[64], line[256];
	FILE *f;

	snprintf(file, sizeof(file), "/sys/kernel/debug/xverbs/%u/resources", dev->index);
	f = fopen(file, "r");
	if (!f)
		xt_die(XT_FAILED, "%s: %s (for root only; debugfs must be mounted)", file,
		       strerror(errno));
	if (opt.json) {
		xt_json_key("resources");
		xt_json_open('[');
	} else {
		printf("\t%-11s %-8s %8s %-16s %s\n", "type", "number", "pid", "process", "bytes");
	}
	while (fgets(line, sizeof(line), f))
		show_resource(line);
	fclose(f);
	if (opt.json)
		xt_json_close(']');
}

static void show_device(const struct xv_device *dev)
{
	struct xv_context *ctx = NULL;

	if (opt.json) {
		xt_json_open('{');
		xt_json_str("name", "%s", dev->name);
		xt_json_str("node_guid", "%s", guid_text(dev->node_guid));
		xt_json_num("vendor_id", dev->vendor_id);
		xt_json_num("part_id", dev->part_id);
		xt_json_str("node", "%s", dev->dev_name);
		xt_json_bool("available", dev->available);
		if (!dev->available)
			xt_json_str("why_not", "%s", dev->why_not);
	} else {
		printf("%s: %04x:%04x, node GUID %s%s%s%s%s\n", dev->name, dev->vendor_id,
		       dev->part_id, guid_text(dev->node_guid), dev->dev_name[0] ? ", " : "",
		       dev->dev_name, dev->available ? "" : ", not available: ",
		       dev->available ? "" : dev->why_not);
	}
	if (opt.resources) {
		show_resources(dev);
	} else if (dev->available) {
		ctx = xv_open(dev->name);
		if (!ctx)
			xt_die_xv("%s", dev->name);
		show_open_device(ctx);
		xv_close(ctx);
	}
	if (opt.json)
		xt_json_close('}');
}

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "resources", no_argument, NULL, 'r' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "d:vrjh", longs, NULL)) != -1) {
		switch (c) {
		case 'd':
			opt.device = optarg;
			break;
		case 'v':
			opt.verbose = true;
			break;
		case 'r':
			opt.resources = true;
			break;
		case 'j':
			opt.json = true;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(XT_OK);
		default:
			fputs(usage, stderr);
			exit(XT_USAGE);
		}
	}
	if (optind < argc)
		xt_die(XT_USAGE, "unexpected argument \"%s\"", argv[optind]);
}

int main(int argc, char **argv)
{
	struct xv_device **list;
	int n, i, shown = 0;

	parse(argc, argv);
	list = xv_get_device_list(&n);
	if (!list)
		xt_die_xv("cannot list devices");
	if (opt.json)
		xt_json_open('[');
	for (i = 0; i < n; i++) {
		if (opt.device && strcmp(opt.device, list[i]->name))
			continue;
		show_device(list[i]);
		shown++;
	}
	if (opt.json)
		xt_json_close(']');
	if (opt.device && !shown)
		xt_die(XT_FAILED, "there is no device \"%s\"", opt.device);
	if (!shown && !opt.json)
		printf("no RDMA device\n");
	xv_free_device_list(list);
	return XT_OK;
}
