// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses of peers.  This file checks the attributes of the user, ib_core resolves
 * the route and, on RoCE, the destination MAC address, and this file writes the
 * result in the formats of the adapter.
 */
#include <linux/etherdevice.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include <rdma/ib_cache.h>
#include <rdma/mlx5_ring.h>

#include "ah.h"
#include "pd.h"
#include "query.h"

#define XV_AV_ECN	2	/* ECN-capable transport: bits of the traffic class */

static int xv_ah_check(struct xv_call *call, const char *what,
		       const struct xverbs_ah_attr *attr, u32 port)
{
	struct ib_device *ib = call->dev->ib;

	if (attr->reserved[0] || attr->reserved[1])
		return xv_fail(call, -EINVAL, "%s: reserved is not zero", what);
	if (attr->port_num && attr->port_num != port)
		return xv_fail(call, -EINVAL,
			       "%s: port_num %u differs from the QP's port %u",
			       what, attr->port_num, port);
	if (attr->sl > 15)
		return xv_fail(call, -EINVAL, "%s: sl %u is above 15", what,
			       attr->sl);
	if (attr->is_global > 1)
		return xv_fail(call, -EINVAL, "%s: is_global %u is above 1", what,
			       attr->is_global);
	if (attr->static_rate && ib_rate_to_mbps(attr->static_rate) <= 0)
		return xv_fail(call, -EINVAL, "%s: static_rate %u is unknown",
			       what, attr->static_rate);
	if (!attr->is_global) {
		if (rdma_protocol_roce(ib, port))
			return xv_fail(call, -EINVAL,
				       "%s: is_global must be set on RoCE",
				       what);
		return 0;
	}
	if (attr->flow_label > IB_GRH_FLOWLABEL_MASK)
		return xv_fail(call, -EINVAL, "%s: flow_label 0x%x has more than 20 bits", what,
			       attr->flow_label);
	return 0;
}

/* Code of a static rate for the adapter (as in mlx5_ib); 0: no code */
static u8 xv_rate_code(enum ib_rate rate)
{
	static const u8 codes[] = {
		[IB_RATE_56_GBPS] = 1,
		[IB_RATE_25_GBPS] = 2,
		[IB_RATE_100_GBPS] = 3,
		[IB_RATE_200_GBPS] = 4,
		[IB_RATE_50_GBPS] = 5,
		[IB_RATE_400_GBPS] = 6,
		[IB_RATE_2_5_GBPS] = 7,
		[IB_RATE_10_GBPS] = 8,
		[IB_RATE_30_GBPS] = 9,
		[IB_RATE_5_GBPS] = 10,
		[IB_RATE_20_GBPS] = 11,
		[IB_RATE_40_GBPS] = 12,
		[IB_RATE_60_GBPS] = 13,
		[IB_RATE_80_GBPS] = 14,
		[IB_RATE_120_GBPS] = 15,
	};

	return rate < ARRAY_SIZE(codes) ? codes[rate] : 0;
}

/*
 * Returns the code of the highest supported rate that is not above the requested
 * one; 0 (no limit) if all supported rates are above it.
 */
static u8 xv_stat_rate(struct mlx5_core_dev *mdev, u8 asked)
{
	u16 supported = MLX5_CAP_GEN(mdev, stat_rate_support);
	int limit = ib_rate_to_mbps(asked), best = 0, mbps;
	u8 rate, code, found = 0;

	for (rate = IB_RATE_2_5_GBPS; rate <= IB_RATE_600_GBPS; rate++) {
		code = xv_rate_code(rate);
		mbps = ib_rate_to_mbps(rate);
		if (code && supported & BIT(code) && mbps <= limit &&
		    mbps > best) {
			best = mbps;
			found = code;
		}
	}
	return found;
}

static void xv_ah_to_rdma(struct ib_device *ib,
			  const struct xverbs_ah_attr *attr, u32 port,
			  struct rdma_ah_attr *rdma)
{
	memset(rdma, 0, sizeof(*rdma));
	rdma->type = rdma_ah_find_type(ib, port);
	rdma_ah_set_port_num(rdma, port);
	rdma_ah_set_sl(rdma, attr->sl);
	rdma_ah_set_path_bits(rdma, attr->src_path_bits);
	rdma_ah_set_static_rate(rdma, attr->static_rate);
	rdma_ah_set_dlid(rdma, attr->dlid);
	if (attr->is_global) {
		rdma_ah_set_grh(rdma, NULL, attr->flow_label, attr->sgid_index,
				attr->hop_limit, attr->traffic_class);
		memcpy(rdma->grh.dgid.raw, attr->dgid, sizeof(attr->dgid));
	}
}

void xv_sgid_put(const struct ib_gid_attr **sgid)
{
	if (*sgid)
		rdma_put_gid_attr(*sgid);
	*sgid = NULL;
}

/* While the GID is referenced, ib_core does not reuse its table entry. */
static int xv_path_hold_sgid(struct xv_call *call, const char *what,
			     struct xv_path *path)
{
	const struct ib_gid_attr *gid;
	u8 index = rdma_ah_read_grh(&path->rdma)->sgid_index;

	gid = rdma_get_gid_attr(call->dev->ib, path->port, index);
	if (IS_ERR(gid))
		return xv_fail(call, -ENOENT, "%s: no GID at sgid_index %u",
			       what, index);
	path->sgid = gid;
	path->gid_type = gid->gid_type;
	return 0;
}

/*
 * ib_core stores MAC address and hop limit in the attributes when it creates an
 * address handle.  The handle itself is not needed.
 */
static int xv_path_find_route(struct xv_call *call, struct ib_pd *pd,
			      const char *what, struct xv_path *path)
{
	struct ib_ah *ah;

	ah = rdma_create_user_ah(pd, &path->rdma, NULL);
	if (ah == ERR_PTR(-ENOBUFS))	/* out of memory in the network stack */
		return -ENOMEM;
	if (IS_ERR(ah))
		return xv_fail(call, PTR_ERR(ah), "%s: no route to %pI6c from sgid_index %u",
			       what, rdma_ah_read_grh(&path->rdma)->dgid.raw,
			       rdma_ah_read_grh(&path->rdma)->sgid_index);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	return 0;
}

/* Checks the address; on success the caller owns the reference path->sgid. */
int xv_path_take(struct xv_call *call, const char *what,
		 const struct xverbs_ah_attr *attr, u32 port,
		 struct xv_path *path)
{
	int err;

	err = xv_check_port(call, port);
	if (!err)
		err = xv_ah_check(call, what, attr, port);
	if (err)
		return err;
	path->port = port;
	path->sgid = NULL;
	path->gid_type = IB_GID_TYPE_IB;
	path->stat_rate = xv_stat_rate(call->dev->mdev, attr->static_rate);
	xv_ah_to_rdma(call->dev->ib, attr, port, &path->rdma);
	return attr->is_global ? xv_path_hold_sgid(call, what, path) : 0;
}

/* As xv_path_take(), and finds the route to the address. */
int xv_path_resolve(struct xv_call *call, struct ib_pd *pd, const char *what,
		    const struct xverbs_ah_attr *attr, u32 port,
		    struct xv_path *path)
{
	int err = xv_path_take(call, what, attr, port, path);

	if (err)
		return err;
	err = xv_path_find_route(call, pd, what, path);
	if (err)
		xv_sgid_put(&path->sgid);
	return err;
}

static u16 xv_path_udp_sport(const struct xv_path *path, u32 qpn, u32 dest_qpn)
{
	u32 flow_label = rdma_ah_read_grh(&path->rdma)->flow_label;

	if (!flow_label)
		flow_label = rdma_calc_flow_label(qpn, dest_qpn);
	return rdma_flow_label_to_udp_sport(flow_label);
}

/* Writes the address path of a QP context (PRM: ads). */
void xv_path_fill_ads(const struct xv_path *path, u32 qpn, u32 dest_qpn,
		      void *ads)
{
	const struct rdma_ah_attr *rdma = &path->rdma;
	const struct ib_global_route *grh = rdma_ah_read_grh(rdma);
	bool global = rdma_ah_get_ah_flags(rdma) & IB_AH_GRH;

	MLX5_SET(ads, ads, vhca_port_num, path->port);
	MLX5_SET(ads, ads, stat_rate, path->stat_rate);
	if (rdma->type == RDMA_AH_ATTR_TYPE_ROCE) {
		ether_addr_copy(MLX5_ADDR_OF(ads, ads, rmac_47_32),
				rdma->roce.dmac);
		MLX5_SET(ads, ads, eth_prio, rdma_ah_get_sl(rdma) & 7);
		if (path->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP) {
			MLX5_SET(ads, ads, udp_sport,
				 xv_path_udp_sport(path, qpn, dest_qpn));
			MLX5_SET(ads, ads, dscp, grh->traffic_class >> 2);
		}
	} else {
		MLX5_SET(ads, ads, rlid, rdma_ah_get_dlid(rdma));
		MLX5_SET(ads, ads, mlid, rdma_ah_get_path_bits(rdma) & 0x7f);
		MLX5_SET(ads, ads, sl, rdma_ah_get_sl(rdma));
		MLX5_SET(ads, ads, grh, global);
	}
	if (!global)
		return;
	MLX5_SET(ads, ads, src_addr_index, grh->sgid_index);
	MLX5_SET(ads, ads, hop_limit, grh->hop_limit);
	MLX5_SET(ads, ads, tclass, grh->traffic_class);
	MLX5_SET(ads, ads, flow_label, grh->flow_label);
	memcpy(MLX5_ADDR_OF(ads, ads, rgid_rip), grh->dgid.raw,
	       sizeof(grh->dgid.raw));
}

static void xv_path_fill_av(const struct xv_path *path,
			    struct mlx5_core_dev *mdev, struct mlx5r_av *av)
{
	const struct rdma_ah_attr *rdma = &path->rdma;
	const struct ib_global_route *grh = rdma_ah_read_grh(rdma);

	memset(av, 0, sizeof(*av));
	av->dqp_dct = cpu_to_be32(MLX5R_AV_EXT);
	av->rate_sl = path->stat_rate << 4;
	if (rdma_ah_get_ah_flags(rdma) & IB_AH_GRH) {
		av->grh_gid_fl = cpu_to_be32(MLX5R_AV_GRH | grh->flow_label |
					     (u32)grh->sgid_index << 20);
		av->hop_limit = grh->hop_limit;
		av->tclass = grh->traffic_class;
		memcpy(av->rgid, grh->dgid.raw, sizeof(av->rgid));
	}
	if (rdma->type != RDMA_AH_ATTR_TYPE_ROCE) {
		av->rlid = cpu_to_be16(rdma_ah_get_dlid(rdma));
		av->fl_mlid = rdma_ah_get_path_bits(rdma) & 0x7f;
		av->rate_sl |= rdma_ah_get_sl(rdma);
		return;
	}
	ether_addr_copy(av->rmac, rdma->roce.dmac);
	av->rate_sl |= (rdma_ah_get_sl(rdma) & 7) << 1;
	if (path->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return;
	av->tclass |= XV_AV_ECN;
	av->rlid = cpu_to_be16(grh->flow_label ?
			       rdma_flow_label_to_udp_sport(grh->flow_label) :
			       MLX5_CAP_ROCE(mdev, r_roce_min_src_udp_port));
}

int xv_ah_resolve(struct xv_call *call)
{
	struct xverbs_ah_resolve *arg = &call->arg.ah_resolve;
	struct xv_path path;
	struct xv_obj *pd;
	int err;

	BUILD_BUG_ON(sizeof(struct mlx5r_av) != sizeof(arg->out_av));
	if (arg->reserved)
		return xv_fail(call, -EINVAL, "reserved is not zero");
	pd = xv_obj_get(call, XV_OBJ_PD, arg->pd);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	err = xv_path_resolve(call, to_pd_obj(pd)->ib, "AH",
			      &call->attrs.ah_attr,
			      call->attrs.ah_attr.port_num, &path);
	if (!err) {
		xv_path_fill_av(&path, call->dev->mdev, (void *)arg->out_av);
		xv_sgid_put(&path.sgid);
	}
	xv_obj_put(pd);
	return err;
}
