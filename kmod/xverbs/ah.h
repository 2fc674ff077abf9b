/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses of peers: check, resolve, and convert to the formats of the adapter */
#ifndef XV_AH_H
#define XV_AH_H

#include "xv.h"

/**
 * struct xv_path - an address whose members are checked
 * @port: local port
 * @rdma: attributes for ib_core; once resolved, on RoCE with the destination MAC address
 *	and the hop limit of the route
 * @sgid: referenced source GID if @rdma has a GRH, else NULL
 * @gid_type: type of the source GID
 * @stat_rate: code of the static rate for the adapter
 */
struct xv_path {
	u32 port;
	struct rdma_ah_attr rdma;
	const struct ib_gid_attr *sgid;
	enum ib_gid_type gid_type;
	u8 stat_rate;
};

int xv_path_take(struct xv_call *call, const char *what,
		 const struct xverbs_ah_attr *attr, u32 port,
		 struct xv_path *path);
int xv_path_resolve(struct xv_call *call, struct ib_pd *pd, const char *what,
		    const struct xverbs_ah_attr *attr, u32 port,
		    struct xv_path *path);
void xv_sgid_put(const struct ib_gid_attr **sgid);
void xv_path_fill_ads(const struct xv_path *path, u32 qpn, u32 dest_qpn,
		      void *ads);

/* Handler of the ioctl */
int xv_ah_resolve(struct xv_call *call);

#endif
