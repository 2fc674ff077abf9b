// SPDX-License-Identifier: GPL-2.0
/*
 * Paths: address vectors in the QP context, decoded.
 */
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include "data/wire.h"

void hca_path_decode(struct hca_path *path, const void *ads, bool roce)
{
	u8 number = MLX5_GET(ads, ads, vhca_port_num);

	path->port = number ? number - 1 : 0;
	memcpy(path->rgid, MLX5_ADDR_OF(ads, ads, rgid_rip), sizeof(path->rgid));
	memcpy(path->rmac, MLX5_ADDR_OF(ads, ads, rmac_47_32), sizeof(path->rmac));
	path->rlid = MLX5_GET(ads, ads, rlid);
	path->sgid_index = MLX5_GET(ads, ads, src_addr_index);
	path->grh = roce || MLX5_GET(ads, ads, grh);
	path->sl = roce ? MLX5_GET(ads, ads, eth_prio) : MLX5_GET(ads, ads, sl);
	path->tclass = MLX5_GET(ads, ads, tclass);
	path->dscp = MLX5_GET(ads, ads, dscp);
	path->hop_limit = MLX5_GET(ads, ads, hop_limit);
	path->udp_sport = MLX5_GET(ads, ads, udp_sport);
	path->flow_label = MLX5_GET(ads, ads, flow_label);
	path->pkey_index = MLX5_GET(ads, ads, pkey_index);
}

void hca_path_take(struct hca_qp *qp)
{
	const void *ads = MLX5_ADDR_OF(qpc, qp->qpc, primary_address_path);

	hca_path_decode(&qp->path, ads, qp->hca->p.roce);
	qp->port = &qp->hca->port[qp->path.port];
	qp->ack_timeout = MLX5_GET(ads, ads, ack_timeout);
	qp->remote = NULL;
	if (qp->wire)
		qp->wire->flow_epoch = 0;
}
