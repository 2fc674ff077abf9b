/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses of peers: checking, resolving, and their hardware forms */
#ifndef XV_AH_H
#define XV_AH_H

#include "xv.h"

/**
 * struct xv_path - a checked and resolved address
 * @port: own port
 * @rdma: as ib_core knows it, with destination MAC address on RoCE
 * @sgid: the own GID, held, if @rdma has a GRH; else NULL
 * @gid_type: of the own GID
 * @stat_rate: the adapter's code of the static rate
 */
struct xv_path {
	u32 port;
	struct rdma_ah_attr rdma;
	const struct ib_gid_attr *sgid;
	enum ib_gid_type gid_type;
	u8 stat_rate;
};

int xv_path_resolve(struct xv_call *call, struct ib_pd *pd, const char *what,
		    const struct xverbs_ah_attr *attr, u32 port,
		    struct xv_path *path);
void xv_sgid_put(const struct ib_gid_attr **sgid);
void xv_path_fill_ads(const struct xv_path *path, u32 qpn, u32 dest_qpn,
		      void *ads);

#endif
