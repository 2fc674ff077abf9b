// SPDX-License-Identifier: GPL-2.0
/* Queries of the device, its ports, GID and P_Key tables. */
#include <linux/mlx5/device.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <net/net_namespace.h>
#include <rdma/ib_cache.h>
#include <rdma/mlx5_ring.h>

#include "atomic.h"
#include "fw.h"
#include "mkey.h"
#include "query.h"

int xv_check_port(struct xv_call *call, u32 port)
{
	if (rdma_is_port_valid(call->dev->ib, port))
		return 0;
	return xv_fail(call, -ENOENT, "the device has no port %u", port);
}

static u32 xv_max_inline(void)
{
	return MLX5R_MAX_DS * MLX5R_DS - sizeof(struct mlx5r_ctrl) -
	       sizeof(struct mlx5r_raddr) - sizeof(struct mlx5r_inline);
}

/*
 * The page of the vector calculation (PRM), which newer kernels do not describe:
 * 0x04: vectors 23:16, log2 of the largest chunk in units of 64 bytes 2:0; 0x08:
 * operations of the first output, bit n for the operation with the number n + 1.
 */
#define XV_CAP_TYPE_VECTOR_CALC	0xb
#define XV_VCALC_LIMITS		1	/* dword */
#define XV_VCALC_OPS		2
#define XV_VCALC_CHUNK		64

static int xv_query_vector_calc(struct xv_call *call,
				struct xverbs_query_device *out)
{
	u32 limits;
	void *page;
	__be32 *cap;
	int err;

	if (!MLX5_CAP_GEN(call->dev->mdev, vector_calc))
		return 0;
	page = kvzalloc(MLX5_ST_SZ_BYTES(query_hca_cap_out), XV_GFP);
	if (!page)
		return -ENOMEM;
	err = xv_fw_query_cap(call->dev, call, XV_CAP_TYPE_VECTOR_CALC, page);
	if (!err) {
		cap = MLX5_ADDR_OF(query_hca_cap_out, page, capability);
		limits = be32_to_cpu(cap[XV_VCALC_LIMITS]);
		out->out_vector_calc_max_count = limits >> 16 & 0xff;
		out->out_vector_calc_max_chunk = XV_VCALC_CHUNK << (limits & 7);
		out->out_vector_calc_ops =
			(be32_to_cpu(cap[XV_VCALC_OPS]) & 0x3f) << 1;
	}
	kvfree(page);
	return err;
}

/*
 * No capability bit lists the operations of the calculation: an adapter with
 * cross-channel queues has them all (Manual D.2.1).
 */
static void xv_query_calc(struct xverbs_query_device *out)
{
	u64 bits = XVERBS_CALC_OP_BAND | XVERBS_CALC_OP_BXOR |
		   XVERBS_CALC_OP_BOR;

	out->out_exp_device_cap_flags |= XVERBS_EXP_DEVICE_CROSS_CHANNEL;
	out->out_calc_data_types = XVERBS_CALC_TYPE_INT |
				   XVERBS_CALC_TYPE_UINT |
				   XVERBS_CALC_TYPE_FLOAT;
	out->out_calc_data_sizes = XVERBS_CALC_SIZE_64_BIT;
	out->out_calc_int_ops = XVERBS_CALC_OP_ADD | bits;
	out->out_calc_uint_ops = XVERBS_CALC_OP_ADD | XVERBS_CALC_OP_MAXLOC |
				 bits;
	out->out_calc_fp_ops = XVERBS_CALC_OP_ADD;
}

/*
 * A request that fills an indirect key has 128 bytes before the list, whose length is a
 * multiple of four entries.
 */
static void xv_query_umr(const struct xv_dev *dev,
			 struct xverbs_query_device *out)
{
	u32 bytes = min_t(u32, MLX5_CAP_GEN(dev->mdev, max_wqe_sz_sq),
			  MLX5R_MAX_DS * MLX5R_DS) - 2 * MLX5R_WQEBB;

	out->out_exp_device_cap_flags |= XVERBS_EXP_DEVICE_UMR;
	out->out_max_mkey_klm_list_size = xv_mkey_max_entries(dev);
	out->out_max_send_wqe_inline_klms =
		round_down(bytes / sizeof(struct mlx5r_klm), 4);
	out->out_max_umr_recursion_depth =
		MLX5_CAP_GEN(dev->mdev, max_indirection);
	out->out_max_umr_stride_dimension = 1;
}

/* No capability has the number of DC targets; they are numbered like queue pairs. */
static void xv_query_dc(struct mlx5_core_dev *mdev,
			struct xverbs_query_device *out)
{
	out->out_exp_device_cap_flags |= XVERBS_EXP_DEVICE_DC_TRANSPORT;
	out->out_max_dct = out->out_max_qp;
	out->out_max_dc_req_rd_atom = 1u << MLX5_CAP_GEN(mdev, log_max_ra_req_dc);
	out->out_max_dc_res_rd_atom = 1u << MLX5_CAP_GEN(mdev, log_max_ra_res_dc);
}

/* What ib_core knows of the device */
static void xv_query_ib(const struct ib_device *ib, struct xverbs_query_device *out)
{
	const struct ib_device_attr *attr = &ib->attrs;

	out->out_node_guid = (__force u64)ib->node_guid;
	out->out_sys_image_guid = (__force u64)attr->sys_image_guid;
	out->out_max_mr_size = attr->max_mr_size;
	out->out_page_size_cap = attr->page_size_cap;
	out->out_device_cap_flags = attr->device_cap_flags;
	out->out_fw_version = attr->fw_ver;
	out->out_hca_core_clock_khz = attr->hca_core_clock;
	out->out_max_dm_size = attr->max_dm_size;
	out->out_timestamp_mask = attr->hca_core_clock ? attr->timestamp_mask : 0;
	out->out_vendor_id = attr->vendor_id;
	out->out_vendor_part_id = attr->vendor_part_id;
	out->out_hw_ver = attr->hw_ver;
	out->out_max_qp = attr->max_qp;
	out->out_max_qp_wr = attr->max_qp_wr;
	out->out_max_sge = min(attr->max_send_sge, attr->max_recv_sge);
	out->out_max_sge_rd = attr->max_sge_rd;
	out->out_max_cq = attr->max_cq;
	out->out_max_mr = attr->max_mr;
	out->out_max_pd = attr->max_pd;
	out->out_max_qp_rd_atom = attr->max_qp_rd_atom;
	out->out_max_res_rd_atom = attr->max_res_rd_atom;
	out->out_max_qp_init_rd_atom = attr->max_qp_init_rd_atom;
	out->out_atomic_cap = attr->atomic_cap;
	out->out_max_mw = attr->max_mw;
	out->out_max_raw_ipv6_qp = attr->max_raw_ipv6_qp;
	out->out_max_mcast_grp = attr->max_mcast_grp;
	out->out_max_mcast_qp_attach = attr->max_mcast_qp_attach;
	out->out_max_total_mcast_qp_attach = attr->max_total_mcast_qp_attach;
	out->out_max_ah = attr->max_ah;
	out->out_max_srq = attr->max_srq;
	out->out_max_srq_wr = attr->max_srq_wr;
	out->out_max_srq_sge = attr->max_srq_sge;
	out->out_max_pkeys = attr->max_pkeys;
	out->out_local_ca_ack_delay = attr->local_ca_ack_delay;
	out->out_phys_port_cnt = ib->phys_port_cnt;
	out->out_num_comp_vectors = ib->num_comp_vectors;
}

/* Capabilities of the adapter that ib_core does not know, or limits that differ for xverbs */
static void xv_query_adapter(const struct xv_dev *dev, struct xverbs_query_device *out)
{
	struct mlx5_core_dev *mdev = dev->mdev;

	out->out_max_cqe = (1 << MLX5_CAP_GEN(mdev, log_max_cq_sz)) - 1;
	out->out_max_sq_wqebbs = 1 << MLX5_CAP_GEN(mdev, log_max_qp_sz);
	out->out_max_inline_data = xv_max_inline();
	out->out_cqe_version = MLX5_CAP_GEN(mdev, cqe_version);
	out->out_max_file_objects = xv_max_objects();
	out->out_bf_bytes = MLX5_CAP_GEN(mdev, bf) ?
			    1 << MLX5_CAP_GEN(mdev, log_bf_reg_size) >> 1 : 0;
	out->out_umr_fence = MLX5_CAP_GEN(mdev, umr_fence);
	if (MLX5_CAP_GEN(mdev, sctr_data_cqe))
		out->out_inline_recv_sz = MLX5R_CQE_DATA_MAX;
	if (MLX5_CAP_GEN(mdev, cd))
		xv_query_calc(out);
	if (xv_mkey_max_entries(dev))
		xv_query_umr(dev, out);
	if (MLX5_CAP_GEN(mdev, dct))
		xv_query_dc(mdev, out);
	xv_atomic_query(mdev, out);
}

int xv_device_query(struct xv_call *call)
{
	struct xverbs_query_device *out = &call->arg.query_device;

	xv_query_ib(call->dev->ib, out);
	xv_query_adapter(call->dev, out);
	return xv_query_vector_calc(call, out);
}

/* The network device of a GID, if it is in the network namespace of the caller */
static u32 xv_gid_ifindex(const struct ib_gid_attr *gid)
{
	struct net_device *ndev;
	u32 ifindex = 0;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(gid);
	if (!IS_ERR(ndev) && net_eq(dev_net(ndev), current->nsproxy->net_ns))
		ifindex = ndev->ifindex;
	rcu_read_unlock();
	return ifindex;
}

/* The first GID of a RoCE port belongs to the network device of the port. */
static u32 xv_port_ifindex(struct ib_device *ib, u32 port)
{
	const struct ib_gid_attr *gid;
	u32 ifindex;

	if (!rdma_protocol_roce(ib, port))
		return 0;
	gid = rdma_get_gid_attr(ib, port, 0);
	if (IS_ERR(gid))
		return 0;
	ifindex = xv_gid_ifindex(gid);
	rdma_put_gid_attr(gid);
	return ifindex;
}

int xv_port_query(struct xv_call *call)
{
	struct xverbs_query_port *arg = &call->arg.query_port;
	struct ib_device *ib = call->dev->ib;
	struct ib_port_attr attr;
	int err;

	err = xv_check_port(call, arg->port);
	if (err)
		return err;
	err = ib_query_port(ib, arg->port, &attr);
	if (err)
		return xv_fail(call, xv_fw_errno(err), "port %u: query failed",
			       arg->port);

	arg->out_state = attr.state;
	arg->out_phys_state = attr.phys_state;
	arg->out_max_mtu = attr.max_mtu;
	arg->out_active_mtu = attr.active_mtu;
	arg->out_max_msg_sz = attr.max_msg_sz;
	arg->out_port_cap_flags = attr.port_cap_flags;
	arg->out_port_cap_flags2 = attr.port_cap_flags2;
	arg->out_gid_tbl_len = attr.gid_tbl_len;
	arg->out_pkey_tbl_len = attr.pkey_tbl_len;
	arg->out_lid = attr.lid;
	arg->out_sm_lid = attr.sm_lid;
	arg->out_bad_pkey_cntr = attr.bad_pkey_cntr;
	arg->out_qkey_viol_cntr = attr.qkey_viol_cntr;
	arg->out_lmc = attr.lmc;
	arg->out_sm_sl = attr.sm_sl;
	arg->out_max_vl_num = attr.max_vl_num;
	arg->out_init_type_reply = attr.init_type_reply;
	arg->out_active_width = attr.active_width;
	arg->out_link_layer = rdma_protocol_roce(ib, arg->port) ?
			      XVERBS_LINK_ETHERNET : XVERBS_LINK_INFINIBAND;
	arg->out_subnet_timeout = attr.subnet_timeout;
	arg->out_reserved = 0;
	arg->out_active_speed = attr.active_speed;
	arg->out_subnet_prefix = (__force u64)cpu_to_be64(attr.subnet_prefix);
	arg->out_ifindex = xv_port_ifindex(ib, arg->port);
	return 0;
}

int xv_gid_query(struct xv_call *call)
{
	static const u8 types[] = {
		[IB_GID_TYPE_IB] = XVERBS_GID_IB,
		[IB_GID_TYPE_ROCE] = XVERBS_GID_ROCE_V1,
		[IB_GID_TYPE_ROCE_UDP_ENCAP] = XVERBS_GID_ROCE_V2,
	};
	struct xverbs_query_gid *arg = &call->arg.query_gid;
	const struct ib_gid_attr *gid;
	int err;

	err = xv_check_port(call, arg->port);
	if (err)
		return err;
	gid = rdma_get_gid_attr(call->dev->ib, arg->port, arg->index);
	if (IS_ERR(gid))
		return xv_fail(call, -ENOENT, "port %u: no GID at index %u",
			       arg->port, arg->index);
	memcpy(arg->out_gid, gid->gid.raw, sizeof(arg->out_gid));
	arg->out_type = types[gid->gid_type];
	arg->out_ifindex = xv_gid_ifindex(gid);
	rdma_put_gid_attr(gid);
	return 0;
}

int xv_pkey_query(struct xv_call *call)
{
	struct xverbs_query_pkey *arg = &call->arg.query_pkey;
	u16 pkey;
	int err;

	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	err = xv_check_port(call, arg->port);
	if (err)
		return err;
	if (arg->index >= call->dev->ib->attrs.max_pkeys)
		return xv_fail(call, -ENOENT, "port %u: no P_Key at index %u",
			       arg->port, arg->index);
	err = ib_query_pkey(call->dev->ib, arg->port, arg->index, &pkey);
	if (err)
		return xv_fail(call, xv_fw_errno(err),
			       "port %u: query of P_Key %u failed", arg->port,
			       arg->index);
	arg->out_pkey = pkey;
	return 0;
}
