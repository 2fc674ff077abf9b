// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What the other files rely on: structures and values that both libraries have in common.
 */
#include "ibv.h"

#define SAME(name, member)							\
	_Static_assert(offsetof(struct ibv_##name, member) ==			\
		       offsetof(struct xv_##name, member) &&			\
		       sizeof(((struct ibv_##name *)0)->member) ==		\
		       sizeof(((struct xv_##name *)0)->member),			\
		       #name "." #member)
#define SAME_SIZE(name)								\
	_Static_assert(sizeof(struct ibv_##name) == sizeof(struct xv_##name), #name)
#define EQUAL(name)	_Static_assert((int)IBV_##name == (int)XV_##name, #name)

/* The object of libibverbs is at the head of ours. */
#define FIRST(type)	_Static_assert(offsetof(struct type, pub) == 0, #type)
FIRST(pd);
FIRST(td);
FIRST(mr);
FIRST(mw);
FIRST(ah);
FIRST(xrcd);
FIRST(channel);
FIRST(cq);
FIRST(srq);
FIRST(qp);
_Static_assert(offsetof(struct ibv_qp_ex, qp_base) == 0, "qp");

SAME_SIZE(sge);
SAME(sge, addr);
SAME(sge, length);
SAME(sge, lkey);

SAME_SIZE(recv_wr);
SAME(recv_wr, wr_id);
SAME(recv_wr, next);
SAME(recv_wr, sg_list);
SAME(recv_wr, num_sge);

_Static_assert(sizeof(struct ibv_send_wr) <= sizeof(struct xv_send_wr), "send_wr");
SAME(send_wr, wr_id);
SAME(send_wr, next);
SAME(send_wr, sg_list);
SAME(send_wr, num_sge);
SAME(send_wr, opcode);
SAME(send_wr, send_flags);
SAME(send_wr, imm_data);
SAME(send_wr, invalidate_rkey);
SAME(send_wr, wr.rdma.remote_addr);
SAME(send_wr, wr.rdma.rkey);
SAME(send_wr, wr.atomic.compare_add);
SAME(send_wr, wr.atomic.swap);
SAME(send_wr, wr.atomic.rkey);
SAME(send_wr, wr.ud.ah);
SAME(send_wr, wr.ud.remote_qpn);
SAME(send_wr, wr.ud.remote_qkey);
SAME(send_wr, qp_type.xrc.remote_srqn);
SAME(send_wr, bind_mw.mw);
SAME(send_wr, bind_mw.rkey);
SAME(send_wr, bind_mw.bind_info);

SAME_SIZE(wc);
SAME(wc, wr_id);
SAME(wc, status);
SAME(wc, opcode);
SAME(wc, vendor_err);
SAME(wc, byte_len);
SAME(wc, imm_data);
SAME(wc, qp_num);
SAME(wc, src_qp);
SAME(wc, wc_flags);
SAME(wc, pkey_index);
SAME(wc, slid);
SAME(wc, sl);
SAME(wc, dlid_path_bits);

SAME_SIZE(gid_entry);
SAME(gid_entry, gid);
SAME(gid_entry, gid_index);
SAME(gid_entry, port_num);
SAME(gid_entry, gid_type);
SAME(gid_entry, ndev_ifindex);

SAME_SIZE(grh);
SAME(grh, version_tclass_flow);
SAME(grh, sgid);
SAME(grh, dgid);

SAME_SIZE(ah_attr);
SAME(ah_attr, grh.dgid);
SAME(ah_attr, grh.flow_label);
SAME(ah_attr, grh.sgid_index);
SAME(ah_attr, grh.hop_limit);
SAME(ah_attr, grh.traffic_class);
SAME(ah_attr, dlid);
SAME(ah_attr, sl);
SAME(ah_attr, src_path_bits);
SAME(ah_attr, static_rate);
SAME(ah_attr, is_global);
SAME(ah_attr, port_num);

SAME(qp_attr, qp_state);
SAME(qp_attr, cur_qp_state);
SAME(qp_attr, path_mtu);
SAME(qp_attr, path_mig_state);
SAME(qp_attr, qkey);
SAME(qp_attr, rq_psn);
SAME(qp_attr, sq_psn);
SAME(qp_attr, dest_qp_num);
SAME(qp_attr, qp_access_flags);
SAME(qp_attr, cap.max_send_wr);
SAME(qp_attr, cap.max_inline_data);
SAME(qp_attr, ah_attr);
SAME(qp_attr, alt_ah_attr);
SAME(qp_attr, pkey_index);
SAME(qp_attr, alt_pkey_index);
SAME(qp_attr, en_sqd_async_notify);
SAME(qp_attr, sq_draining);
SAME(qp_attr, max_rd_atomic);
SAME(qp_attr, max_dest_rd_atomic);
SAME(qp_attr, min_rnr_timer);
SAME(qp_attr, port_num);
SAME(qp_attr, timeout);
SAME(qp_attr, retry_cnt);
SAME(qp_attr, rnr_retry);
SAME(qp_attr, alt_port_num);
SAME(qp_attr, alt_timeout);

EQUAL(NODE_CA);
EQUAL(NODE_UNSPECIFIED);
EQUAL(TRANSPORT_IB);
EQUAL(TRANSPORT_UNSPECIFIED);
EQUAL(ATOMIC_NONE);
EQUAL(ATOMIC_GLOB);
EQUAL(MTU_256);
EQUAL(MTU_4096);
EQUAL(PORT_NOP);
EQUAL(PORT_ACTIVE_DEFER);
EQUAL(LINK_LAYER_INFINIBAND);
EQUAL(LINK_LAYER_ETHERNET);
EQUAL(GID_TYPE_IB);
EQUAL(GID_TYPE_ROCE_V1);
EQUAL(GID_TYPE_ROCE_V2);
EQUAL(ACCESS_LOCAL_WRITE);
EQUAL(ACCESS_REMOTE_WRITE);
EQUAL(ACCESS_REMOTE_READ);
EQUAL(ACCESS_REMOTE_ATOMIC);
EQUAL(ACCESS_MW_BIND);
EQUAL(ACCESS_ZERO_BASED);
EQUAL(ACCESS_ON_DEMAND);
EQUAL(ACCESS_RELAXED_ORDERING);
EQUAL(REREG_MR_CHANGE_TRANSLATION);
EQUAL(REREG_MR_CHANGE_PD);
EQUAL(REREG_MR_CHANGE_ACCESS);
EQUAL(MW_TYPE_1);
EQUAL(MW_TYPE_2);
EQUAL(SRQ_MAX_WR);
EQUAL(SRQ_LIMIT);
EQUAL(QPT_RC);
EQUAL(QPT_UC);
EQUAL(QPT_UD);
EQUAL(QPT_XRC_SEND);
EQUAL(QPT_XRC_RECV);
EQUAL(QPS_RESET);
EQUAL(QPS_ERR);
EQUAL(MIG_MIGRATED);
EQUAL(MIG_ARMED);
EQUAL(QP_STATE);
EQUAL(QP_AV);
EQUAL(QP_DEST_QPN);
EQUAL(WR_RDMA_WRITE);
EQUAL(WR_RDMA_WRITE_WITH_IMM);
EQUAL(WR_SEND);
EQUAL(WR_SEND_WITH_IMM);
EQUAL(WR_RDMA_READ);
EQUAL(WR_ATOMIC_CMP_AND_SWP);
EQUAL(WR_ATOMIC_FETCH_AND_ADD);
EQUAL(WR_LOCAL_INV);
EQUAL(WR_BIND_MW);
EQUAL(WR_SEND_WITH_INV);
EQUAL(SEND_FENCE);
EQUAL(SEND_SIGNALED);
EQUAL(SEND_SOLICITED);
EQUAL(SEND_INLINE);
EQUAL(WC_SUCCESS);
EQUAL(WC_GENERAL_ERR);
EQUAL(WC_SEND);
EQUAL(WC_RDMA_WRITE);
EQUAL(WC_RDMA_READ);
EQUAL(WC_COMP_SWAP);
EQUAL(WC_FETCH_ADD);
EQUAL(WC_BIND_MW);
EQUAL(WC_LOCAL_INV);
EQUAL(WC_RECV);
EQUAL(WC_RECV_RDMA_WITH_IMM);
EQUAL(WC_GRH);
EQUAL(WC_WITH_IMM);
EQUAL(WC_WITH_INV);
EQUAL(EVENT_CQ_ERR);
EQUAL(EVENT_GID_CHANGE);
EQUAL(EVENT_WQ_FATAL);
