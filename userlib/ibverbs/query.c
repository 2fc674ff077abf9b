// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queries of devices, ports, GIDs and P_Keys.
 */
#include "ibv.h"

static void device_attr(struct ibv_device_attr *to, const struct xv_device_attr *from)
{
	memset(to, 0, sizeof(*to));
#define TAKE(member)	(to->member = (__typeof__(to->member))from->member)
	memcpy(to->fw_ver, from->fw_ver, sizeof(to->fw_ver));
	TAKE(node_guid);
	TAKE(sys_image_guid);
	TAKE(max_mr_size);
	TAKE(page_size_cap);
	TAKE(vendor_id);
	TAKE(vendor_part_id);
	TAKE(hw_ver);
	TAKE(max_qp);
	TAKE(max_qp_wr);
	TAKE(device_cap_flags);
	TAKE(max_sge);
	TAKE(max_sge_rd);
	TAKE(max_cq);
	TAKE(max_cqe);
	TAKE(max_mr);
	TAKE(max_pd);
	TAKE(max_qp_rd_atom);
	TAKE(max_res_rd_atom);
	TAKE(max_qp_init_rd_atom);
	TAKE(atomic_cap);
	TAKE(max_mw);
	TAKE(max_raw_ipv6_qp);
	TAKE(max_mcast_grp);
	TAKE(max_mcast_qp_attach);
	TAKE(max_total_mcast_qp_attach);
	TAKE(max_ah);
	TAKE(max_srq);
	TAKE(max_srq_wr);
	TAKE(max_srq_sge);
	TAKE(max_pkeys);
	TAKE(local_ca_ack_delay);
	TAKE(phys_port_cnt);
#undef TAKE
}

int iv_query_device_ex(struct ibv_context *ctx, const struct ibv_query_device_ex_input *input,
		       struct ibv_device_attr_ex *attr, size_t size)
{
	struct ibv_device_attr_ex a = { .comp_mask = 0 };
	struct xv_device_attr x;
	int err;

	if ((input && input->comp_mask) || size < sizeof(attr->orig_attr))
		return iv_fail(EINVAL);
	err = xv_query_device(xv_of(ctx), &x);
	if (err)
		return iv_result(err);
	device_attr(&a.orig_attr, &x);
	a.completion_timestamp_mask = x.timestamp_mask;
	a.hca_core_clock = x.hca_core_clock;
	a.device_cap_flags_ex = x.device_cap_flags;
	a.pci_atomic_caps.fetch_add = (uint16_t)x.pci_atomic_caps.fetch_add;
	a.pci_atomic_caps.swap = (uint16_t)x.pci_atomic_caps.swap;
	a.pci_atomic_caps.compare_swap = (uint16_t)x.pci_atomic_caps.compare_swap;
	a.cq_mod_caps.max_cq_count = UINT16_MAX;
	a.cq_mod_caps.max_cq_period = 0xfff;
	a.phys_port_cnt_ex = x.phys_port_cnt;
	memset(attr, 0, size);
	memcpy(attr, &a, size < sizeof(a) ? size : sizeof(a));
	return 0;
}

int iv_query_device(struct ibv_context *ctx, struct ibv_device_attr *attr)
{
	struct xv_device_attr x;
	int err = xv_query_device(xv_of(ctx), &x);

	if (!err)
		device_attr(attr, &x);
	return iv_result(err);
}

EXPORT int ibv_query_device(struct ibv_context *ctx, struct ibv_device_attr *attr)
{
	return iv_query_device(ctx, attr);
}

/* The nanoseconds are the number of clock cycles, as libmlx5 has it. */
int iv_query_rt_values(struct ibv_context *ctx, struct ibv_values_ex *values)
{
	uint64_t cycles;
	int err;

	if (values->comp_mask & ~(uint32_t)IBV_VALUES_MASK_RAW_CLOCK)
		return iv_fail(EINVAL);
	if (values->comp_mask) {
		err = xv_read_clock(xv_of(ctx), &cycles);
		if (err)
			return iv_result(err);
		values->raw_clock.tv_sec = 0;
		values->raw_clock.tv_nsec = (long)cycles;
	}
	return 0;
}

/* A port that the device does not have */
static int port_error(int err)
{
	return err == -ENOENT ? iv_fail(EINVAL) : iv_result(err);
}

int iv_query_port(struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *attr, size_t size)
{
	struct ibv_port_attr a = { .flags = 0 };
	struct xv_port_attr x;
	int err = xv_query_port(xv_of(ctx), port, &x);

	if (err)
		return port_error(err);
#define TAKE(member)	(a.member = (__typeof__(a.member))x.member)
	TAKE(state);
	TAKE(max_mtu);
	TAKE(active_mtu);
	TAKE(gid_tbl_len);
	TAKE(port_cap_flags);
	TAKE(max_msg_sz);
	TAKE(bad_pkey_cntr);
	TAKE(qkey_viol_cntr);
	TAKE(pkey_tbl_len);
	TAKE(lid);
	TAKE(sm_lid);
	TAKE(lmc);
	TAKE(max_vl_num);
	TAKE(sm_sl);
	TAKE(subnet_timeout);
	TAKE(init_type_reply);
	TAKE(active_width);
	TAKE(active_speed);
	TAKE(phys_state);
	TAKE(link_layer);
	TAKE(port_cap_flags2);
#undef TAKE
	if (x.link_layer == XV_LINK_LAYER_ETHERNET) {
		a.flags = IBV_QPF_GRH_REQUIRED;
		a.port_cap_flags |= IBV_PORT_IP_BASED_GIDS;
	}
	memset(attr, 0, size);
	memcpy(attr, &a, size < sizeof(a) ? size : sizeof(a));
	return 0;
}

/* The structure of this function ends before port_cap_flags2. */
EXPORT int ibv_query_port(struct ibv_context *ctx, uint8_t port,
			  struct _compat_ibv_port_attr *attr)
{
	return iv_query_port(ctx, port, (struct ibv_port_attr *)attr,
			     offsetof(struct ibv_port_attr, port_cap_flags2));
}

/* After ENOENT: -ENOENT if the entry is empty, -EINVAL if the table has no such entry. */
static int empty_or_invalid(struct ibv_context *ctx, uint32_t port, uint32_t index)
{
	struct xv_port_attr attr;

	return !xv_query_port(xv_of(ctx), port, &attr) && index < attr.gid_tbl_len ? -ENOENT :
										    -EINVAL;
}

/* An empty entry has a GID of zeros. */
EXPORT int ibv_query_gid(struct ibv_context *ctx, uint8_t port, int index, union ibv_gid *gid)
{
	int err = xv_query_gid(xv_of(ctx), port, (uint32_t)index, (union xv_gid *)gid);

	if (err == -ENOENT)
		err = empty_or_invalid(ctx, port, (uint32_t)index);
	if (err == -ENOENT) {
		memset(gid, 0, sizeof(*gid));
		return 0;
	}
	return err ? iv_result(err), -1 : 0;
}

static int gid_entry(struct ibv_context *ctx, uint32_t port, uint32_t index,
		     struct ibv_gid_entry *entry, size_t size)
{
	struct xv_gid_entry x;
	int err = xv_query_gid_entry(xv_of(ctx), port, index, &x);

	if (err == -ENOENT)
		err = empty_or_invalid(ctx, port, index);
	if (err == -ENOENT)
		return iv_fail(ENODATA);
	if (err)
		return iv_result(err);
	memset(entry, 0, size);
	memcpy(entry, &x, size < sizeof(x) ? size : sizeof(x));
	return 0;
}

EXPORT int _ibv_query_gid_ex(struct ibv_context *ctx, uint32_t port, uint32_t index,
			     struct ibv_gid_entry *entry, uint32_t flags, size_t size)
{
	return flags ? iv_fail(EINVAL) : gid_entry(ctx, port, index, entry, size);
}

EXPORT ssize_t _ibv_query_gid_table(struct ibv_context *ctx, struct ibv_gid_entry *entries,
				    size_t max, uint32_t flags, size_t size)
{
	struct xv_device_attr dev;
	struct xv_port_attr attr;
	struct ibv_gid_entry e;
	uint32_t port, i;
	ssize_t n = 0;

	if (flags)
		return -iv_fail(EINVAL);
	if (xv_query_device(xv_of(ctx), &dev))
		return -EIO;
	for (port = 1; port <= dev.phys_port_cnt; port++) {
		if (xv_query_port(xv_of(ctx), port, &attr))
			return -EIO;
		for (i = 0; i < attr.gid_tbl_len; i++) {
			if (gid_entry(ctx, port, i, &e, sizeof(e)))
				continue;
			if ((size_t)n == max)
				return -EINVAL;
			memset((char *)entries + (size_t)n * size, 0, size);
			memcpy((char *)entries + (size_t)n * size, &e,
			       size < sizeof(e) ? size : sizeof(e));
			n++;
		}
	}
	return n;
}

/* Type 0: IB or RoCE v1; 1: RoCE v2.  For programs of rdma-core only. */
int ibv_query_gid_type(struct ibv_context *ctx, uint8_t port, unsigned int index,
		       unsigned int *type);
EXPORT int ibv_query_gid_type(struct ibv_context *ctx, uint8_t port, unsigned int index,
			      unsigned int *type)
{
	struct xv_gid_entry x;
	int err = xv_query_gid_entry(xv_of(ctx), port, index, &x);

	if (err == -ENOENT)
		err = empty_or_invalid(ctx, port, index);
	if (err && err != -ENOENT)
		return iv_result(err), -1;
	*type = !err && x.gid_type == XV_GID_TYPE_ROCE_V2;
	return 0;
}

EXPORT int ibv_query_pkey(struct ibv_context *ctx, uint8_t port, int index, __be16 *pkey)
{
	struct xv_port_attr attr;
	int err = xv_query_port(xv_of(ctx), port, &attr);

	/* libibverbs reads a file in sysfs, and there is none beyond the table. */
	if (!err && (uint32_t)index >= attr.pkey_tbl_len)
		err = -ENOENT;
	if (!err)
		err = xv_query_pkey(xv_of(ctx), port, (uint32_t)index, pkey);
	return err ? iv_result(err), -1 : 0;
}

EXPORT int ibv_get_pkey_index(struct ibv_context *ctx, uint8_t port, __be16 pkey)
{
	struct xv_port_attr attr;
	uint16_t entry;
	int i, err = xv_query_port(xv_of(ctx), port, &attr);

	if (err)
		return iv_result(err), -1;
	for (i = 0; i < (int)attr.pkey_tbl_len; i++)
		if (!xv_query_pkey(xv_of(ctx), port, (uint32_t)i, &entry) && entry == pkey)
			return i;
	errno = ENOENT;
	return -1;
}
