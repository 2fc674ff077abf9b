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
	int err = xv_ioctl(ctx, XVERBS_QUERY_DEVICE, "query device", &r, sizeof(r));

	if (err)
		return err;
	snprintf(a.fw_ver, sizeof(a.fw_ver), "%u.%u.%04u", (uint32_t)(r.out_fw_version >> 32),
		 (uint32_t)(r.out_fw_version >> 16 & 0xffff),
		 (uint32_t)(r.out_fw_version & 0xffff));
	a.node_guid = r.out_node_guid;
	a.sys_image_guid = r.out_sys_image_guid;
	a.max_mr_size = r.out_max_mr_size;
	a.page_size_cap = r.out_page_size_cap;
	a.device_cap_flags = r.out_device_cap_flags;
	a.max_dm_size = r.out_max_dm_size;
	a.vendor_id = r.out_vendor_id;
	a.vendor_part_id = r.out_vendor_part_id;
	a.hw_ver = r.out_hw_ver;
	a.max_qp = r.out_max_qp;
	a.max_qp_wr = r.out_max_qp_wr;
	a.max_sge = r.out_max_sge;
	a.max_sge_rd = r.out_max_sge_rd;
	a.max_cq = r.out_max_cq;
	a.max_cqe = r.out_max_cqe;
	a.max_mr = r.out_max_mr;
	a.max_pd = r.out_max_pd;
	a.max_qp_rd_atom = r.out_max_qp_rd_atom;
	a.max_res_rd_atom = r.out_max_res_rd_atom;
	a.max_qp_init_rd_atom = r.out_max_qp_init_rd_atom;
	a.atomic_cap = r.out_atomic_cap;
	a.masked_atomic_cap = r.out_masked_atomic_cap;
	a.max_mw = r.out_max_mw;
	a.max_raw_ipv6_qp = r.out_max_raw_ipv6_qp;
	a.max_mcast_grp = r.out_max_mcast_grp;
	a.max_mcast_qp_attach = r.out_max_mcast_qp_attach;
	a.max_total_mcast_qp_attach = r.out_max_total_mcast_qp_attach;
	a.max_ah = r.out_max_ah;
	a.max_srq = r.out_max_srq;
	a.max_srq_wr = r.out_max_srq_wr;
	a.max_srq_sge = r.out_max_srq_sge;
	a.max_pkeys = r.out_max_pkeys;
	a.local_ca_ack_delay = r.out_local_ca_ack_delay;
	a.phys_port_cnt = r.out_phys_port_cnt;
	a.num_comp_vectors = r.out_num_comp_vectors;
	a.odp_caps = r.out_odp_caps;
	a.max_sq_wqebbs = r.out_max_sq_wqebbs;
	a.max_inline_data = r.out_max_inline_data;
	a.cqe_version = r.out_cqe_version;
	a.max_file_objects = r.out_max_file_objects;
	a.bf_bytes = r.out_bf_bytes;
	a.umr_fence = r.out_umr_fence;
	a.exp_device_cap_flags = r.out_exp_device_cap_flags;
	a.max_dct = r.out_max_dct;
	a.max_dc_req_rd_atom = r.out_max_dc_req_rd_atom;
	a.max_dc_res_rd_atom = r.out_max_dc_res_rd_atom;
	a.timestamp_mask = r.out_timestamp_mask;
	a.inline_recv_sz = r.out_inline_recv_sz;
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
	int err = xv_ioctl(ctx, XVERBS_QUERY_PORT, "query port", &r, sizeof(r));

	if (err)
		return err;
	a.state = r.out_state;
	a.phys_state = r.out_phys_state;
	a.max_mtu = r.out_max_mtu;
	a.active_mtu = r.out_active_mtu;
	a.max_msg_sz = r.out_max_msg_sz;
	a.port_cap_flags = r.out_port_cap_flags;
	a.port_cap_flags2 = r.out_port_cap_flags2;
	a.gid_tbl_len = r.out_gid_tbl_len;
	a.pkey_tbl_len = r.out_pkey_tbl_len;
	a.lid = r.out_lid;
	a.sm_lid = r.out_sm_lid;
	a.bad_pkey_cntr = r.out_bad_pkey_cntr;
	a.qkey_viol_cntr = r.out_qkey_viol_cntr;
	a.lmc = r.out_lmc;
	a.sm_sl = r.out_sm_sl;
	a.max_vl_num = r.out_max_vl_num;
	a.init_type_reply = r.out_init_type_reply;
	a.active_width = r.out_active_width;
	a.active_speed = r.out_active_speed;
	a.link_layer = r.out_link_layer;
	a.subnet_timeout = r.out_subnet_timeout;
	a.ifindex = r.out_ifindex;
	a.subnet_prefix = r.out_subnet_prefix;
	xv_attr_out(attr, size, &a, sizeof(a));
	return 0;
}

XV_EXPORT int xv_query_gid_entry_sz(struct xv_context *ctx, uint32_t port, uint32_t index,
				    struct xv_gid_entry *entry, size_t size)
{
	struct xverbs_query_gid r = { .port = port, .index = index };
	struct xv_gid_entry e = { .port_num = port, .gid_index = index };
	int err = xv_ioctl(ctx, XVERBS_QUERY_GID, "query GID", &r, sizeof(r));

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
	int err = xv_ioctl(ctx, XVERBS_QUERY_PKEY, "query P_Key", &r, sizeof(r));

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
	struct error_state before;
	struct xv_port_attr attr;
	struct xv_gid_entry e;
	int best = -1, rank = 0, err;
	uint32_t i;

	xv_error_save(&before);
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
	xv_error_restore(&before);
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
	int err = xv_ioctl(ctx, XVERBS_QUERY_FEATURES, "query features", &r, sizeof(r));

	xv_is_written(list, r.count * size);
	_Static_assert(sizeof(struct xv_feature) <= sizeof(struct xverbs_feature),
		       "the kernel writes the entries to the list of the caller");
	return err ? err : (int)r.out_count;
}

XV_EXPORT int xv_has_feature(struct xv_context *ctx, uint32_t id)
{
	int n = xv_query_features(ctx, NULL, 0), err, i, found = 0;
	struct xv_feature *list;

	if (n < 0)
		return n;
	list = calloc((size_t)n, sizeof(*list));
	if (!list)
		return xv_set_error(ENOMEM, "query features: out of memory");
	err = xv_query_features(ctx, list, n);
	for (i = 0; i < n && err >= 0; i++)
		if (list[i].id == id)
			found = !!list[i].available;
	free(list);
	return err < 0 ? err : found;
}
