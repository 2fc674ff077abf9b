// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * DC initiators, targets and addresses.
 */
#include "tool.h"

struct xv_dct *xt_dct_create(const struct xt_side *s, struct xv_cq *cq, struct xv_srq *srq,
			     uint64_t key, uint32_t access)
{
	struct xv_dct_init_attr attr = {
		.pd = s->pd, .cq = cq, .srq = srq, .dc_key = key,
		.access_flags = access,
		.mtu = (enum xv_mtu)s->attr.active_mtu,
		.port = (uint8_t)s->port,
		.gid_index = (uint8_t)s->gid_index,
		.hop_limit = 64,
		.min_rnr_timer = 1,
		.sl = s->net.sl,
		.tclass = s->net.tclass,
		.pkey_index = s->net.pkey_index,
	};

	return xv_create_dct(s->ctx, &attr);
}

struct xv_ah *xt_ah_create(const struct xt_side *s, const struct xt_peer *peer)
{
	struct xv_ah_attr attr = {
		.dlid = (uint16_t)peer->lid,
		.sl = s->net.sl,
		.is_global = 1,
		.port_num = (uint8_t)s->port,
		.grh = { .dgid = peer->gid, .sgid_index = (uint8_t)s->gid_index, .hop_limit = 64,
			 .traffic_class = s->net.tclass },
	};

	return xv_create_ah(s->pd, &attr);
}

int xt_dci_start(struct xv_qp *dci, const struct xt_side *s, const struct xt_rc_opts *opts)
{
	static const struct xt_rc_opts none;
	const struct xt_rc_opts *o = opts ? opts : &none;
	struct xv_qp_attr a = {
		.qp_state = XV_QPS_INIT,
		.port_num = (uint8_t)s->port,
		.pkey_index = s->net.pkey_index,
		.path_mtu = (enum xv_mtu)s->attr.active_mtu,
		.timeout = o->timeout ? o->timeout : 14,
		.retry_cnt = o->retry_cnt ? o->retry_cnt : 7,
		.rnr_retry = o->no_rnr_retry ? 0 : o->rnr_retry ? o->rnr_retry : 7,
		.max_rd_atomic = 16,
	};
	int err = xv_modify_qp(dci, &a, XV_QP_STATE | XV_QP_PKEY_INDEX | XV_QP_PORT);

	a.qp_state = XV_QPS_RTR;
	if (!err)
		err = xv_modify_qp(dci, &a, XV_QP_STATE | XV_QP_PATH_MTU);
	a.qp_state = XV_QPS_RTS;
	if (!err)
		err = xv_modify_qp(dci, &a, XV_QP_STATE | XV_QP_TIMEOUT | XV_QP_RETRY_CNT |
				   XV_QP_RNR_RETRY | XV_QP_MAX_QP_RD_ATOMIC);
	return err;
}
