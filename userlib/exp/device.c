// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Attributes of a device and its clock.
 */
#include "exp.h"

/* Flags that have the same value in both headers */
#define SAME_FLAGS	((uint64_t)IBV_EXP_DEVICE_RESIZE_MAX_WR | IBV_EXP_DEVICE_BAD_PKEY_CNTR | \
			 IBV_EXP_DEVICE_BAD_QKEY_CNTR | IBV_EXP_DEVICE_RAW_MULTI | \
			 IBV_EXP_DEVICE_AUTO_PATH_MIG | IBV_EXP_DEVICE_CHANGE_PHY_PORT | \
			 IBV_EXP_DEVICE_UD_AV_PORT_ENFORCE | IBV_EXP_DEVICE_CURR_QP_STATE_MOD | \
			 IBV_EXP_DEVICE_SHUTDOWN_PORT | IBV_EXP_DEVICE_INIT_TYPE | \
			 IBV_EXP_DEVICE_PORT_ACTIVE_EVENT | IBV_EXP_DEVICE_SYS_IMAGE_GUID | \
			 IBV_EXP_DEVICE_RC_RNR_NAK_GEN | IBV_EXP_DEVICE_SRQ_RESIZE | \
			 IBV_EXP_DEVICE_N_NOTIFY_CQ | IBV_EXP_DEVICE_XRC)

static uint64_t cap_flags(const struct xv_device_attr *x)
{
	static const struct {
		uint64_t xv, exp;
	} moved[] = {
		{ XV_DEVICE_MEM_WINDOW, IBV_EXP_DEVICE_MEM_WINDOW },
		{ XV_DEVICE_MEM_MGT_EXTENSIONS, IBV_EXP_DEVICE_MEM_MGT_EXTENSIONS },
		{ XV_DEVICE_MEM_WINDOW_TYPE_2A, IBV_EXP_DEVICE_MW_TYPE_2A },
		{ XV_DEVICE_MEM_WINDOW_TYPE_2B, IBV_EXP_DEVICE_MW_TYPE_2B },
	};
	uint64_t flags = (x->device_cap_flags & SAME_FLAGS) | x->exp_device_cap_flags;
	size_t i;

	for (i = 0; i < sizeof(moved) / sizeof(moved[0]); i++)
		if (x->device_cap_flags & moved[i].xv)
			flags |= moved[i].exp;
	return flags;
}

static void plain_attr(struct ibv_exp_device_attr *to, const struct xv_device_attr *from)
{
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
	TAKE(max_sge);
	TAKE(max_sge_rd);
	TAKE(max_cq);
	TAKE(max_cqe);
	TAKE(max_mr);
	TAKE(max_pd);
	TAKE(max_qp_rd_atom);
	TAKE(max_res_rd_atom);
	TAKE(max_qp_init_rd_atom);
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
	to->exp_atomic_cap = (enum ibv_exp_atomic_cap)from->atomic_cap;
}

/*
 * ext_atom has the operands whose results have the byte order of exp_atomic_cap, which is that of
 * the host.
 */
static void atomics(struct ibv_exp_device_attr *to, const struct xv_ext_atomics_params *from)
{
	to->ext_atom.atomic_arg_sizes = from->atomic_arg_sizes & ~from->atomic_arg_sizes_be;
	to->ext_atom.max_fa_bit_boundary = from->max_fa_bit_boundary;
	to->ext_atom.log_max_atomic_inline = from->log_max_atomic_inline;
	to->masked_atomic.masked_log_atomic_arg_sizes = from->atomic_arg_sizes;
	to->masked_atomic.masked_log_atomic_arg_sizes_network_endianness =
		from->atomic_arg_sizes_be;
	to->masked_atomic.max_fa_bit_boundary = from->max_fa_bit_boundary;
	to->masked_atomic.log_max_atomic_inline = from->log_max_atomic_inline;
}

/* As libmlx5: all types have the operations of INT, and MAXLOC works although it is not listed. */
static void calc_cap(struct ibv_exp_device_calc_cap *to, const struct xv_calc_cap *from)
{
	*to = (struct ibv_exp_device_calc_cap) {
		.data_types = from->data_types,
		.data_sizes = from->data_sizes,
		.int_ops = from->int_ops,
		.uint_ops = from->int_ops,
		.fp_ops = from->int_ops,
	};
}

static void extended_attr(struct ibv_exp_device_attr *to, const struct xv_device_attr *from)
{
	calc_cap(&to->calc_cap, &from->calc_cap);
	to->timestamp_mask = from->timestamp_mask;
	to->hca_core_clock = from->hca_core_clock;
	to->exp_device_cap_flags = cap_flags(from);
	to->max_dc_req_rd_atom = (int)from->max_dc_req_rd_atom;
	to->max_dc_res_rd_atom = (int)from->max_dc_res_rd_atom;
	to->inline_recv_sz = (int)from->inline_recv_sz;
	atomics(to, &from->ext_atom);
	to->umr_caps = (struct ibv_exp_umr_caps) {
		.max_klm_list_size = from->umr_caps.max_mkey_klm_list_size,
		.max_send_wqe_inline_klms = from->umr_caps.max_send_wqe_inline_klms,
		.max_umr_recursion_depth = from->umr_caps.max_umr_recursion_depth,
		.max_umr_stride_dimension = from->umr_caps.max_umr_stride_dimension,
	};
	to->max_dct = (int)from->max_dct;
	to->max_ctx_res_domain = INT32_MAX;	/* they need nothing of the device */
}

/* The members that the device has.  The others stay 0. */
static uint32_t valid(const struct xv_device_attr *x)
{
	uint32_t mask = IBV_EXP_DEVICE_ATTR_WITH_HCA_CORE_CLOCK |
			IBV_EXP_DEVICE_ATTR_EXP_CAP_FLAGS | IBV_EXP_DEVICE_ATTR_INLINE_RECV_SZ |
			IBV_EXP_DEVICE_ATTR_MAX_CTX_RES_DOMAIN;

	if (x->timestamp_mask)
		mask |= IBV_EXP_DEVICE_ATTR_WITH_TIMESTAMP_MASK;
	if (x->exp_device_cap_flags & XV_EXP_DEVICE_CROSS_CHANNEL)
		mask |= IBV_EXP_DEVICE_ATTR_CALC_CAP;
	if (x->exp_device_cap_flags & XV_EXP_DEVICE_DC_TRANSPORT)
		mask |= IBV_EXP_DEVICE_DC_RD_REQ | IBV_EXP_DEVICE_DC_RD_RES |
			IBV_EXP_DEVICE_ATTR_MAX_DCT;
	if (x->exp_device_cap_flags & XV_EXP_DEVICE_UMR)
		mask |= IBV_EXP_DEVICE_ATTR_UMR;
	if (x->ext_atom.atomic_arg_sizes)
		mask |= IBV_EXP_DEVICE_ATTR_EXT_ATOMIC_ARGS | IBV_EXP_DEVICE_ATTR_MASKED_ATOMICS;
	return mask;
}

EXPORT int ibv_exp_query_device(struct ibv_context *ctx, struct ibv_exp_device_attr *attr)
{
	const uint32_t defined = IBV_EXP_DEVICE_ATTR_RESERVED - 1;
	uint32_t wanted = attr->comp_mask;
	struct xv_context *xv = xv_bridge_get_ctx(ctx);
	struct xv_device_attr x;
	int err = xv ? exp_check_mask("query device: comp_mask: ", wanted, defined, defined) :
		       EINVAL;

	if (!err)
		err = iv_result(xv_query_device(xv, &x));
	if (err)
		return err;
	/* A program with the header of before has no room for the last member, and never asks. */
	memset(attr, 0, wanted & IBV_EXP_DEVICE_ATTR_OOO_CAPS ? sizeof(*attr) :
		offsetof(struct ibv_exp_device_attr, ooo_caps));
	plain_attr(attr, &x);
	extended_attr(attr, &x);
	attr->comp_mask = wanted & valid(&x);
	return 0;
}

/* Cycles of the clock in nanoseconds */
static int clock_ns(struct xv_context *xv, uint64_t cycles, uint64_t *ns)
{
	struct xv_device_attr attr;
	int err = xv_query_device(xv, &attr);
	uint64_t khz;

	if (err)
		return err;
	khz = attr.hca_core_clock;
	if (!khz)
		return -EOPNOTSUPP;
	*ns = cycles / khz * 1000000 + cycles % khz * 1000000 / khz;
	return 0;
}

EXPORT int ibv_exp_query_values(struct ibv_context *ctx, int q_values,
				struct ibv_exp_values *values)
{
	const uint32_t defined = IBV_EXP_VALUES_RESERVED - 1;
	uint32_t wanted = (uint32_t)q_values & defined;
	int err = exp_check_mask("query values: ", values->comp_mask, defined, defined);
	struct xv_context *xv = xv_bridge_get_ctx(ctx);
	uint64_t cycles;

	if (!xv)
		return iv_error(-EINVAL);
	if (err)
		return err;
	values->comp_mask = 0;
	err = xv_read_clock(xv, &cycles);
	if (!err && wanted & IBV_EXP_VALUES_HW_CLOCK_NS)
		err = clock_ns(xv, cycles, &values->hwclock_ns);
	if (err)
		return iv_result(err);
	if (wanted & IBV_EXP_VALUES_HW_CLOCK)
		values->hwclock = cycles;
	values->comp_mask = wanted;
	return 0;
}
