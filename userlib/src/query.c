// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Attributes of the device, its ports and its tables.
 */
#include <stdio.h>
#include "internal.h"

XV_EXPORT int xv_query_device_sz(struct xv_context *ctx, struct xv_device_attr *attr, size_t size)
{
	struct xverbs_query_device r = { 0 };
	struct xv_device_attr a = { 0 };
	int err = xv_ioctl(ctx->fd, XVERBS_QUERY_DEVICE, "query device", &r, sizeof(r));

	if (err)
		return err;
	snprintf(a.fw_ver, sizeof(a.fw_ver), "%u.%u.%04u", (uint32_t)(r.out_fw_version >> 32),
		 (uint32_t)(r.out_fw_version >> 16 & 0xffff),
		 (uint32_t)(r.out_fw_version & 0xffff));
#define TAKE(member)	(a.member = r.out_##member)
	TAKE(node_guid);
	TAKE(sys_image_guid);
	TAKE(max_mr_size);
	TAKE(page_size_cap);
	TAKE(device_cap_flags);
	TAKE(max_dm_size);
	TAKE(vendor_id);
	TAKE(vendor_part_id);
	TAKE(hw_ver);
	TAKE(max_qp);
	TAKE(max_qp_wr);
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
	TAKE(masked_atomic_cap);
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
	TAKE(num_comp_vectors);
	TAKE(odp_caps);
	TAKE(max_sq_wqebbs);
	TAKE(max_inline_data);
	TAKE(cqe_version);
	TAKE(max_file_objects);
	TAKE(bf_bytes);
	TAKE(umr_fence);
	TAKE(exp_device_cap_flags);
	TAKE(max_dct);
	TAKE(max_dc_req_rd_atom);
	TAKE(max_dc_res_rd_atom);
	TAKE(timestamp_mask);
	TAKE(inline_recv_sz);
	a.hca_core_clock = r.out_hca_core_clock_khz;
	a.calc_cap = (struct xv_calc_cap) {
		.data_types = r.out_calc_data_types,
		.data_sizes = r.out_calc_data_sizes,
		.int_ops = r.out_calc_int_ops,
		.uint_ops = r.out_calc_uint_ops,
		.fp_ops = r.out_calc_fp_ops,
	};
	a.vector_calc_cap = (struct xv_vector_calc_cap) {
		.ops = r.out_vector_calc_ops,
		.max_count = r.out_vector_calc_max_count,
		.max_chunk = r.out_vector_calc_max_chunk,
	};
	a.umr_caps = (struct xv_umr_caps) {
		.max_mkey_klm_list_size = r.out_max_mkey_klm_list_size,
		.max_send_wqe_inline_klms = r.out_max_send_wqe_inline_klms,
		.max_umr_recursion_depth = r.out_max_umr_recursion_depth,
		.max_umr_stride_dimension = r.out_max_umr_stride_dimension,
	};
	a.ext_atom = (struct xv_ext_atomics_params) {
		.atomic_arg_sizes = r.out_atomic_arg_sizes,
		.atomic_arg_sizes_be = r.out_atomic_arg_sizes_be,
		.max_fa_bit_boundary = r.out_max_fa_bit_boundary,
		.log_max_atomic_inline = r.out_log_max_atomic_inline,
	};
	a.pci_atomic_caps = (struct xv_pci_atomic_caps) {
		.fetch_add = r.out_pci_atomic_fetch_add,
		.swap = r.out_pci_atomic_swap,
		.compare_swap = r.out_pci_atomic_compare_swap,
	};
	xv_attr_out(attr, size, &a, sizeof(a));
	return 0;
}

XV_EXPORT int xv_query_port_sz(struct xv_context *ctx, uint32_t port, struct xv_port_attr *attr,
			       size_t size)
{
	struct xverbs_query_port r = { .port = port };
	struct xv_port_attr a = { 0 };
	int err = xv_ioctl(ctx->fd, XVERBS_QUERY_PORT, "query port", &r, sizeof(r));

	if (err)
		return err;
	TAKE(state);
	TAKE(phys_state);
	TAKE(max_mtu);
	TAKE(active_mtu);
	TAKE(max_msg_sz);
	TAKE(port_cap_flags);
	TAKE(port_cap_flags2);
	TAKE(gid_tbl_len);
	TAKE(pkey_tbl_len);
	TAKE(lid);
	TAKE(sm_lid);
	TAKE(bad_pkey_cntr);
	TAKE(qkey_viol_cntr);
	TAKE(lmc);
	TAKE(sm_sl);
	TAKE(max_vl_num);
	TAKE(init_type_reply);
	TAKE(active_width);
	TAKE(active_speed);
	TAKE(link_layer);
	TAKE(subnet_timeout);
	TAKE(ifindex);
	TAKE(subnet_prefix);
#undef TAKE
	xv_attr_out(attr, size, &a, sizeof(a));
	return 0;
}

XV_EXPORT int xv_query_gid_entry_sz(struct xv_context *ctx, uint32_t port, uint32_t index,
				    struct xv_gid_entry *entry, size_t size)
{
	struct xverbs_query_gid r = { .port = port, .index = index };
	struct xv_gid_entry e = { .port_num = port, .gid_index = index };
	int err = xv_ioctl(ctx->fd, XVERBS_QUERY_GID, "query GID", &r, sizeof(r));

	if (err)
		return err;
	memcpy(e.gid.raw, r.out_gid, sizeof(e.gid.raw));
	e.gid_type = r.out_type;
	e.ndev_ifindex = r.out_ifindex;
	xv_attr_out(entry, size, &e, sizeof(e));
	return 0;
}

XV_EXPORT int xv_query_gid(struct xv_context *ctx, uint32_t port, uint32_t index,
			   union xv_gid *gid)
{
	struct xv_gid_entry e;
	int err = xv_query_gid_entry(ctx, port, index, &e);

	if (!err)
		*gid = e.gid;
	return err;
}

XV_EXPORT int xv_query_pkey(struct xv_context *ctx, uint32_t port, uint32_t index, uint16_t *pkey)
{
	struct xverbs_query_pkey r = { .port = port, .index = index };
	int err = xv_ioctl(ctx->fd, XVERBS_QUERY_PKEY, "query P_Key", &r, sizeof(r));

	if (!err)
		*pkey = xv_be16(r.out_pkey);
	return err;
}

/* The GID with the highest rank is the default. */
static int gid_rank(const struct xv_gid_entry *e)
{
	static const uint8_t v4_mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (e->gid_type != XV_GID_TYPE_ROCE_V2)
		return 1;
	return memcmp(e->gid.raw, v4_mapped, sizeof(v4_mapped)) ? 2 : 3;
}

XV_EXPORT int xv_default_gid_index(struct xv_context *ctx, uint32_t port)
{
	struct xv_port_attr attr;
	struct xv_gid_entry e;
	int best = -1, rank = 0, err;
	uint32_t i;

	err = xv_query_port(ctx, port, &attr);
	if (err)
		return err;
	for (i = 0; i < attr.gid_tbl_len; i++) {
		if (xv_query_gid_entry(ctx, port, i, &e) || gid_rank(&e) <= rank)
			continue;
		rank = gid_rank(&e);
		best = (int)i;
	}
	if (best < 0)
		return xv_set_error(ENOENT, "port %u of %s has no GID: is its network device up?",
				    port, ctx->name);
	return best;
}

XV_EXPORT int xv_query_features_sz(struct xv_context *ctx, struct xv_feature *list, int n,
				   size_t size)
{
	struct xverbs_query_features r = {
		.features = (uintptr_t)list,
		.count = n > 0 ? (uint32_t)n : 0,
		.entry_size = (uint32_t)size,
	};
	int err = xv_ioctl(ctx->fd, XVERBS_QUERY_FEATURES, "query features", &r, sizeof(r));

	_Static_assert(sizeof(struct xv_feature) <= sizeof(struct xverbs_feature),
		       "the kernel writes the entries to the list of the caller");
	return err ? err : (int)r.out_count;
}
