// SPDX-License-Identifier: GPL-2.0
/*
 * Attributes of devices, ports, GID and P_Key tables compared with libibverbs;
 * features and their reasons; names of constants.
 */
#include <endian.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <rdma/xverbs.h>
#include "rig.h"

static struct xv_context *ctx;
static struct ibv_context *ib;

static struct ibv_device *ib_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			return list[i];
	bail_out("libibverbs has no device %s", name);
}

/* ---- Devices ----------------------------------------------------------- */

static int bind_to_node(void)
{
	struct xverbs_bind bind = {
		.hdr = { .size = sizeof(bind), .flags = XVERBS_BIND_BY_FD },
		.fd = rig_node(rig_device(0)),
	};
	struct xverbs_query_device query = { .hdr.size = sizeof(query) };
	int fd = open("/dev/xverbs", O_RDWR), err = 0;

	if (ioctl(fd, XVERBS_BIND, &bind) || ioctl(fd, XVERBS_QUERY_DEVICE, &query))
		err = errno;
	else if (query.out_node_guid != ibv_get_device_guid(ib->device) ||
		 strcmp(bind.name, ibv_get_device_name(ib->device)) || bind.index != ctx->index)
		err = EINVAL;
	close(bind.fd);
	close(fd);
	return err;
}

static void test_list(void)
{
	struct xv_device **list, *found = NULL;
	struct xv_context *other;
	int n, i;

	list = xv_get_device_list(&n);
	for (i = 0; list && list[i]; i++)
		if (!strcmp(list[i]->name, rig_device(0)))
			found = list[i];
	ok(i == n && found, "list: %d devices with the device under test", n);
	if (!found)
		return;
	ok(found->available && found->node_guid == ibv_get_device_guid(ib->device) &&
	   found->index == ctx->index && found->ports == 1 && found->part_id && found->vendor_id,
	   "list: GUID, index, ports, PCI numbers");
	ok(found->node_type == (int)ib->device->node_type &&
	   found->transport_type == (int)ib->device->transport_type &&
	   !strcmp(found->ibdev_path, ib->device->ibdev_path) && !access(found->dev_path, F_OK) &&
	   !strncmp(found->dev_name, "xverbs", 6), "list: node %s, %s, %s",
	   xv_node_type_str(found->node_type), found->dev_path, found->ibdev_path);
	ok(!strcmp(xv_get_device_name(found), ibv_get_device_name(ib->device)) &&
	   xv_get_device_guid(found) == ibv_get_device_guid(ib->device), "list: name and GUID");
	other = xv_open_device(found);
	ok(other && other->index == ctx->index && !strcmp(other->name, ctx->name),
	   "xv_open_device() opens an entry of the list");
	if (other)
		xv_close(other);
	ok(!bind_to_node(), "bind by the node selects the same device");
	for (i = 0; i < n; i++) {
		other = xv_open(list[i]->name);
		ok(other && other->index == list[i]->index, "open %s by name: index %u",
		   list[i]->name, list[i]->index);
		if (other)
			xv_close(other);
	}
	xv_free_device_list(list);
	ok(!xv_open("nosuch") && errno == ENOENT && strstr(xv_last_error(), "nosuch"),
	   "open an unknown device: %s", xv_last_error());
}

/* Members with the same meaning as in libibverbs */
static void test_device(void)
{
	struct ibv_device_attr_ex ex = { 0 };
	struct ibv_device_attr *want = &ex.orig_attr, plain;
	struct xv_device_attr got;

	if (ibv_query_device_ex(ib, NULL, &ex) || ibv_query_device(ib, &plain) ||
	    xv_query_device(ctx, &got))
		bail_out("query device");
	/* With DEVX, ibv_query_device_ex() of rdma-core 46 derives it from pci_atomic_caps. */
	want->atomic_cap = plain.atomic_cap;
#define SAME(_member)								\
	ok((uint64_t)got._member == (uint64_t)want->_member, "device: " #_member " %llu, %llu",	\
	   (unsigned long long)got._member, (unsigned long long)want->_member)
	ok(!strcmp(got.fw_ver, want->fw_ver), "device: fw_ver %s, %s", got.fw_ver, want->fw_ver);
	SAME(node_guid);
	SAME(sys_image_guid);
	SAME(max_mr_size);
	SAME(page_size_cap);
	SAME(vendor_id);
	SAME(vendor_part_id);
	SAME(hw_ver);
	SAME(max_qp);
	SAME(max_qp_wr);
	SAME(max_sge);
	SAME(max_sge_rd);
	SAME(max_cq);
	SAME(max_cqe);
	SAME(max_mr);
	SAME(max_pd);
	SAME(max_qp_rd_atom);
	SAME(max_res_rd_atom);
	SAME(max_qp_init_rd_atom);
	SAME(atomic_cap);
	SAME(max_mw);
	SAME(max_raw_ipv6_qp);
	SAME(max_mcast_grp);
	SAME(max_mcast_qp_attach);
	SAME(max_total_mcast_qp_attach);
	SAME(max_ah);
	SAME(max_srq);
	SAME(max_srq_wr);
	SAME(max_srq_sge);
	SAME(max_pkeys);
	SAME(local_ca_ack_delay);
	SAME(phys_port_cnt);
#undef SAME
	ok((uint32_t)got.device_cap_flags == want->device_cap_flags,
	   "device: device_cap_flags 0x%x, 0x%x",
	   (uint32_t)got.device_cap_flags, want->device_cap_flags);
	ok(got.timestamp_mask == (ex.hca_core_clock ? ex.completion_timestamp_mask : 0),
	   "device: timestamp_mask %#llx", (unsigned long long)got.timestamp_mask);
	ok(got.hca_core_clock == ex.hca_core_clock, "device: hca_core_clock %llu, %llu",
	   (unsigned long long)got.hca_core_clock, (unsigned long long)ex.hca_core_clock);
	ok(got.max_dm_size == ex.max_dm_size, "device: max_dm_size");
	ok(!got.odp_caps, "device: on-demand paging is not offered");
	ok(got.num_comp_vectors == (uint32_t)ib->num_comp_vectors, "device: num_comp_vectors");
	ok(got.max_sq_wqebbs &&
	   got.max_inline_data && got.max_file_objects,
	   "device: attributes that libibverbs does not have");
}

/* ---- Ports ------------------------------------------------------------- */

static void test_port(void)
{
	struct ibv_port_attr want;
	struct xv_port_attr got;

	if (ibv_query_port(ib, 1, &want) || xv_query_port(ctx, 1, &got))
		bail_out("query port");
#define SAME(_member)								\
	ok(got._member == (uint32_t)want._member, "port: " #_member " %u, %u", got._member,	\
	   (unsigned int)want._member)
	SAME(state);
	SAME(phys_state);
	SAME(max_mtu);
	SAME(active_mtu);
	SAME(max_msg_sz);
	SAME(port_cap_flags2);
	SAME(gid_tbl_len);
	SAME(pkey_tbl_len);
	SAME(lid);
	SAME(sm_lid);
	SAME(bad_pkey_cntr);
	SAME(qkey_viol_cntr);
	SAME(lmc);
	SAME(sm_sl);
	SAME(max_vl_num);
	SAME(init_type_reply);
	SAME(active_width);
	SAME(active_speed);
	SAME(link_layer);
	SAME(subnet_timeout);
#undef SAME
	/* libibverbs sets one more bit: IP_BASED_GIDS */
	ok((got.port_cap_flags & ~want.port_cap_flags) == 0, "port: port_cap_flags 0x%x, 0x%x",
	   got.port_cap_flags, want.port_cap_flags);
	ok((got.link_layer == XV_LINK_LAYER_ETHERNET) == !!got.ifindex, "port: ifindex %u",
	   got.ifindex);
	ok(xv_query_port(ctx, 9, &got) == -ENOENT, "query of port 9: %s", xv_last_error());
}

/* libibverbs numbers the GID types in the same way. */
static void test_gids(void)
{
	int same = 0, set = 0, i, def = xv_default_gid_index(ctx, 1);
	struct ibv_port_attr attr;

	if (ibv_query_port(ib, 1, &attr))
		bail_out("ibv_query_port");
	for (i = 0; i < attr.gid_tbl_len; i++) {
		struct ibv_gid_entry want = { 0 };
		struct xv_gid_entry got = { 0 };
		int there = !ibv_query_gid_ex(ib, 1, (uint32_t)i, &want, 0);
		int err = xv_query_gid_entry(ctx, 1, (uint32_t)i, &got);

		set += there;
		same += there ? !err && !memcmp(&got.gid, &want.gid, 16) &&
				got.gid_index == (uint32_t)i && got.port_num == 1 &&
				got.gid_type == want.gid_type &&
				got.ndev_ifindex == want.ndev_ifindex : err == -ENOENT;
	}
	ok(set && same == attr.gid_tbl_len, "GIDs: %d of %d entries are set, all equal",
	   set, attr.gid_tbl_len);
	ok(def >= 0 && def < attr.gid_tbl_len, "GIDs: %d is the default", def);
	ok(xv_query_gid(ctx, 1, 60000, &(union xv_gid) { { 0 } }) == -ENOENT,
	   "query of GID 60000: %s",
	   xv_last_error());
}

static void test_pkeys(void)
{
	struct ibv_port_attr attr;
	uint16_t got = 0;
	__be16 want = 0;
	int i;

	if (ibv_query_port(ib, 1, &attr))
		bail_out("ibv_query_port");
	for (i = 0; i < attr.pkey_tbl_len; i++)
		if (xv_query_pkey(ctx, 1, (uint32_t)i, &got) || ibv_query_pkey(ib, 1, i, &want) ||
		    got != want)
			break;
	ok(i && i == attr.pkey_tbl_len, "P_Keys: %d entries, all equal", i);
	ok(xv_query_pkey(ctx, 1, 60000, &got) == -ENOENT,
	   "query of P_Key 60000: %s", xv_last_error());
}

static void test_features(void)
{
	struct xv_feature list[64];
	int n = xv_query_features(ctx, list, 64), i, j, bad = 0;

	for (i = 0; i < n && i < 64; i++) {
		bad += !list[i].name[0] || list[i].available == !!list[i].why_not[0];
		for (j = 0; j < i; j++)
			bad += !strcmp(list[i].name, list[j].name);
	}
	ok(n > 20 && n < 64 && !bad, "%d features, each available or with a reason", n);
	ok(xv_query_features(ctx, list, 1) == n,
	   "a query for one feature returns the number of all");
}

static const struct xv_feature *feature(const struct xv_feature *list, int n, const char *name)
{
	int i;

	for (i = 0; i < n; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	bail_out("there is no feature %s", name);
}

static void test_optional_features(void)
{
	struct xv_device_attr attr;
	struct xv_feature list[64];
	int n = xv_query_features(ctx, list, 64);

	if (xv_query_device(ctx, &attr))
		bail_out("%s", xv_last_error());
	ok(feature(list, n, "cqe-data")->available == !!attr.inline_recv_sz,
	   "data in the completion: feature and attribute agree");
	ok(feature(list, n, "cqe-timestamps")->available == !!attr.timestamp_mask,
	   "time stamps: feature and attribute agree");
	ok(feature(list, n, "relaxed-ordering")->id == XVERBS_FEATURE_RELAXED_ORDERING,
	   "relaxed ordering is a feature");
	ok(!feature(list, n, "cq-compression")->available &&
	   strstr(feature(list, n, "cq-compression")->why_not, "full format"),
	   "CQ compression: %s", feature(list, n, "cq-compression")->why_not);
	ok(feature(list, n, "ece")->id == XVERBS_FEATURE_ECE, "ECE is a feature");
}

static void test_feature_numbers(void)
{
	struct xv_feature list[64];
	int n = xv_query_features(ctx, list, 64), i, bad = 0;

	for (i = 0; i < n; i++)
		bad += xv_has_feature(ctx, list[i].id) != (int)list[i].available;
	ok(n > 0 && !bad, "%d features by number as in the list", n);
	ok(xv_has_feature(ctx, XVERBS_FEATURE_RC) == 1 && !xv_has_feature(ctx, 999999),
	   "RC is a feature, an unknown number is none");
}

/* No adapter gives these to processes of xverbs. */
static void test_missing_features(void)
{
	static const char *const names[] = {
		"on-demand-paging", "device-memory", "gpu-data-path", "dpa-data-path",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		const struct xv_feature *f = rig_feature(ctx, names[i]);

		ok(!f->available && strlen(f->why_not) > 10, "no %s: %s", names[i], f->why_not);
	}
}

/* ---- Rates ------------------------------------------------------------- */

static void test_rates(void)
{
	int i, bad = 0;

	for (i = 0; i < 64; i++)
		bad += xv_rate_to_mult((enum xv_rate)i) != ibv_rate_to_mult((enum ibv_rate)i) ||
		       xv_rate_to_mbps((enum xv_rate)i) != ibv_rate_to_mbps((enum ibv_rate)i);
	ok(!bad, "rates: 64 codes as in libibverbs");
	for (i = -1; i < 600; i++)
		bad += (int)xv_mult_to_rate(i) != (int)mult_to_ibv_rate(i);
	for (i = 0; i < 1300000; i++)
		bad += (int)xv_mbps_to_rate(i) != (int)mbps_to_ibv_rate(i);
	ok(!bad, "rates: reverse conversion as in libibverbs");
}

/* ---- Names ------------------------------------------------------------- */

#define NAMES(_function, _first, _last)						\
	do {									\
		int _i, _j, _bad = 0;						\
										\
		for (_i = _first; _i <= (int)(_last); _i++) {			\
			_bad += !strcmp(_function(_i), "unknown");		\
			for (_j = _first; _j < _i; _j++)			\
				_bad += !strcmp(_function(_i), _function(_j));	\
		}								\
		ok(!_bad && !strcmp(_function(999), "unknown"),			\
		   #_function ": all names differ");				\
	} while (0)

static void test_names(void)
{
	static const int errors[] = {
		ENOTTY, E2BIG, EOPNOTSUPP, EINVAL, ENOENT, EBADF, EEXIST, EBUSY, ENXIO, ENODEV,
		EPERM, ENOMEM, ENOSPC, EREMOTEIO, EFAULT,
	};
	size_t i, j, bad = 0;

	NAMES(xv_wc_status_str, XV_WC_SUCCESS, XV_WC_GENERAL_ERR);
	NAMES(xv_wc_opcode_str, XV_WC_SEND, XV_WC_LOCAL_INV);
	NAMES(xv_wc_opcode_str, XV_WC_RECV, XV_WC_RECV_RDMA_WITH_IMM);
	NAMES(xv_event_type_str, XV_EVENT_CQ_ERR, XV_EVENT_WQ_FATAL);
	NAMES(xv_qp_state_str, XV_QPS_RESET, XV_QPS_ERR);
	NAMES(xv_qp_type_str, XV_QPT_RC, XV_QPT_UD);
	NAMES(xv_qp_type_str, XV_QPT_XRC_SEND, XV_QPT_XRC_RECV);
	NAMES(xv_node_type_str, XV_NODE_CA, XV_NODE_UNSPECIFIED);
	NAMES(xv_port_state_str, XV_PORT_NOP, XV_PORT_ACTIVE_DEFER);
	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		bad += !*xv_strerror(errors[i]) ||
		       strcmp(xv_strerror(errors[i]), xv_strerror(-errors[i]));
		for (j = 0; j < i; j++)
			bad += !strcmp(xv_strerror(errors[i]), xv_strerror(errors[j]));
	}
	ok(!bad, "xv_strerror: a text for each error, positive or negative");
	ok(strchr(xv_version(), '.') != NULL, "xv_version: %s", xv_version());
}

int main(int argc, char **argv)
{
	rig_devices(argc, argv);
	ctx = xv_open(rig_device(0));
	ib = ibv_open_device(ib_device(rig_device(0)));
	if (!ctx || !ib)
		bail_out("%s", xv_last_error());
	test_list();
	test_device();
	test_port();
	test_gids();
	test_pkeys();
	test_features();
	test_optional_features();
	test_feature_numbers();
	test_missing_features();
	test_rates();
	test_names();
	ibv_close_device(ib);
	xv_close(ctx);
	return tap_done();
}
