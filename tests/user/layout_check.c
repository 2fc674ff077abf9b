// SPDX-License-Identifier: GPL-2.0
/*
 * Compares ring formats and constants with infiniband/mlx5dv.h and infiniband/verbs.h
 * at compile time.  The program itself does nothing.
 */
#include <stddef.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <xverbs/xverbs.h>
#include "tap.h"

#define SAME(a, b)	_Static_assert((int64_t)(a) == (int64_t)(b), #a " differs from " #b)
#define VERBS(name)	SAME(XV_##name, IBV_##name)
#define SAME_SIZE(a, b)	SAME(sizeof(struct a), sizeof(struct b))
#define SAME_AT(a, fa, b, fb)	SAME(offsetof(struct a, fa), offsetof(struct b, fb))

SAME_SIZE(mlx5r_ctrl, mlx5_wqe_ctrl_seg);
SAME_AT(mlx5r_ctrl, opmod_idx_opcode, mlx5_wqe_ctrl_seg, opmod_idx_opcode);
SAME_AT(mlx5r_ctrl, qpn_ds, mlx5_wqe_ctrl_seg, qpn_ds);
SAME_AT(mlx5r_ctrl, signature, mlx5_wqe_ctrl_seg, signature);
SAME_AT(mlx5r_ctrl, dci_stream, mlx5_wqe_ctrl_seg, dci_stream_channel_id);
SAME_AT(mlx5r_ctrl, fm_ce_se, mlx5_wqe_ctrl_seg, fm_ce_se);
SAME_AT(mlx5r_ctrl, imm, mlx5_wqe_ctrl_seg, imm);
SAME_SIZE(mlx5r_raddr, mlx5_wqe_raddr_seg);
SAME_AT(mlx5r_raddr, addr, mlx5_wqe_raddr_seg, raddr);
SAME_AT(mlx5r_raddr, rkey, mlx5_wqe_raddr_seg, rkey);
SAME_SIZE(mlx5r_atomic, mlx5_wqe_atomic_seg);
SAME_AT(mlx5r_atomic, swap_add, mlx5_wqe_atomic_seg, swap_add);
SAME_AT(mlx5r_atomic, compare, mlx5_wqe_atomic_seg, compare);
SAME_SIZE(mlx5r_data, mlx5_wqe_data_seg);
SAME_AT(mlx5r_data, byte_count, mlx5_wqe_data_seg, byte_count);
SAME_AT(mlx5r_data, lkey, mlx5_wqe_data_seg, lkey);
SAME_AT(mlx5r_data, addr, mlx5_wqe_data_seg, addr);
SAME_SIZE(mlx5r_inline, mlx5_wqe_inl_data_seg);
SAME_SIZE(mlx5r_av, mlx5_wqe_av);
SAME_AT(mlx5r_av, dqp_dct, mlx5_wqe_av, dqp_dct);
SAME_AT(mlx5r_av, rate_sl, mlx5_wqe_av, stat_rate_sl);
SAME_AT(mlx5r_av, rlid, mlx5_wqe_av, rlid);
SAME_AT(mlx5r_av, rmac, mlx5_wqe_av, rmac);
SAME_AT(mlx5r_av, tclass, mlx5_wqe_av, tclass);
SAME_AT(mlx5r_av, hop_limit, mlx5_wqe_av, hop_limit);
SAME_AT(mlx5r_av, grh_gid_fl, mlx5_wqe_av, grh_gid_fl);
SAME_AT(mlx5r_av, rgid, mlx5_wqe_av, rgid);
SAME_SIZE(mlx5r_umr_ctrl, mlx5_wqe_umr_ctrl_seg);
SAME_AT(mlx5r_umr_ctrl, mkey_mask, mlx5_wqe_umr_ctrl_seg, mkey_mask);
SAME_SIZE(mlx5r_mkey, mlx5_wqe_mkey_context_seg);
SAME_AT(mlx5r_mkey, qpn_mkey, mlx5_wqe_mkey_context_seg, qpn_mkey);
SAME_AT(mlx5r_mkey, flags_pd, mlx5_wqe_mkey_context_seg, flags_pd);
SAME_AT(mlx5r_mkey, start_addr, mlx5_wqe_mkey_context_seg, start_addr);
SAME_AT(mlx5r_mkey, len, mlx5_wqe_mkey_context_seg, len);
SAME_AT(mlx5r_mkey, bsf_octowords, mlx5_wqe_mkey_context_seg, bsf_octword_size);
SAME_AT(mlx5r_mkey, xlt_octowords, mlx5_wqe_mkey_context_seg, translations_octword_size);
SAME_AT(mlx5r_mkey, log_page_size, mlx5_wqe_mkey_context_seg, log_page_size);
SAME_SIZE(mlx5r_srq_next, mlx5_wqe_srq_next_seg);
SAME_AT(mlx5r_srq_next, next_wqe_index, mlx5_wqe_srq_next_seg, next_wqe_index);
SAME_SIZE(mlx5r_cqe, mlx5_cqe64);
SAME_AT(mlx5r_cqe, wqe_id, mlx5_cqe64, wqe_id);
SAME_AT(mlx5r_cqe, ml_path, mlx5_cqe64, ml_path);
SAME_AT(mlx5r_cqe, slid, mlx5_cqe64, slid);
SAME_AT(mlx5r_cqe, flags_rqpn, mlx5_cqe64, flags_rqpn);
SAME_AT(mlx5r_cqe, srqn_uidx, mlx5_cqe64, srqn_uidx);
SAME_AT(mlx5r_cqe, imm_inval_pkey, mlx5_cqe64, imm_inval_pkey);
SAME_AT(mlx5r_cqe, byte_cnt, mlx5_cqe64, byte_cnt);
SAME_AT(mlx5r_cqe, timestamp, mlx5_cqe64, timestamp);
SAME_AT(mlx5r_cqe, sop_drop_qpn, mlx5_cqe64, sop_drop_qpn);
SAME_AT(mlx5r_cqe, wqe_counter, mlx5_cqe64, wqe_counter);
SAME_AT(mlx5r_cqe, op_own, mlx5_cqe64, op_own);
SAME_SIZE(mlx5r_err_cqe, mlx5_err_cqe);
SAME_AT(mlx5r_err_cqe, vendor_err_synd, mlx5_err_cqe, vendor_err_synd);
SAME_AT(mlx5r_err_cqe, syndrome, mlx5_err_cqe, syndrome);
SAME_AT(mlx5r_err_cqe, wqe_counter, mlx5_err_cqe, wqe_counter);

SAME(MLX5R_OP_NOP, MLX5_OPCODE_NOP);
SAME(MLX5R_OP_SEND_INVAL, MLX5_OPCODE_SEND_INVAL);
SAME(MLX5R_OP_RDMA_WRITE, MLX5_OPCODE_RDMA_WRITE);
SAME(MLX5R_OP_RDMA_WRITE_IMM, MLX5_OPCODE_RDMA_WRITE_IMM);
SAME(MLX5R_OP_SEND, MLX5_OPCODE_SEND);
SAME(MLX5R_OP_SEND_IMM, MLX5_OPCODE_SEND_IMM);
SAME(MLX5R_OP_RDMA_READ, MLX5_OPCODE_RDMA_READ);
SAME(MLX5R_OP_ATOMIC_CS, MLX5_OPCODE_ATOMIC_CS);
SAME(MLX5R_OP_ATOMIC_FA, MLX5_OPCODE_ATOMIC_FA);
SAME(MLX5R_OP_ATOMIC_MASKED_CS, MLX5_OPCODE_ATOMIC_MASKED_CS);
SAME(MLX5R_OP_ATOMIC_MASKED_FA, MLX5_OPCODE_ATOMIC_MASKED_FA);
SAME(MLX5R_OP_LOCAL_INVAL, MLX5_OPCODE_LOCAL_INVAL);
SAME(MLX5R_OP_UMR, MLX5_OPCODE_UMR);
SAME(MLX5R_CE_ALWAYS, MLX5_WQE_CTRL_CQ_UPDATE);
SAME(MLX5R_SOLICITED, MLX5_WQE_CTRL_SOLICITED);
SAME(MLX5R_FM_SMALL_FENCE, MLX5_WQE_CTRL_FENCE);
SAME(MLX5R_FM_SMALL, MLX5_WQE_CTRL_INITIATOR_SMALL_FENCE);
SAME(MLX5R_INLINE, MLX5_INLINE_SEG);
SAME(MLX5R_LKEY_END, MLX5_INVALID_LKEY);
SAME(MLX5R_AV_EXT, MLX5_EXTENDED_UD_AV);
SAME(MLX5R_CQE_REQ, MLX5_CQE_REQ);
SAME(MLX5R_CQE_RESP_WR_IMM, MLX5_CQE_RESP_WR_IMM);
SAME(MLX5R_CQE_RESP_SEND, MLX5_CQE_RESP_SEND);
SAME(MLX5R_CQE_RESP_SEND_IMM, MLX5_CQE_RESP_SEND_IMM);
SAME(MLX5R_CQE_RESP_SEND_INV, MLX5_CQE_RESP_SEND_INV);
SAME(MLX5R_CQE_REQ_ERR, MLX5_CQE_REQ_ERR);
SAME(MLX5R_CQE_RESP_ERR, MLX5_CQE_RESP_ERR);
SAME(MLX5R_CQE_INVALID, MLX5_CQE_INVALID);
SAME(MLX5R_CQE_OWNER, MLX5_CQE_OWNER_MASK);
SAME(MLX5R_SYND_LOCAL_LENGTH, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
SAME(MLX5R_SYND_LOCAL_PROT, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
SAME(MLX5R_SYND_WR_FLUSH, MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
SAME(MLX5R_SYND_REMOTE_INVAL_REQ, MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR);
SAME(MLX5R_SYND_REMOTE_ACCESS, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR);
SAME(MLX5R_SYND_RETRY_EXC, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR);
SAME(MLX5R_SYND_RNR_EXC, MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR);
SAME(MLX5R_SYND_REMOTE_ABORTED, MLX5_CQE_SYNDROME_REMOTE_ABORTED_ERR);
SAME(MLX5R_DBR_RCV, MLX5_RCV_DBR);
SAME(MLX5R_DBR_SND, MLX5_SND_DBR);

VERBS(WR_RDMA_WRITE);
VERBS(WR_RDMA_WRITE_WITH_IMM);
VERBS(WR_SEND);
VERBS(WR_SEND_WITH_IMM);
VERBS(WR_RDMA_READ);
VERBS(WR_ATOMIC_CMP_AND_SWP);
VERBS(WR_ATOMIC_FETCH_AND_ADD);
VERBS(WR_LOCAL_INV);
VERBS(WR_BIND_MW);
VERBS(WR_SEND_WITH_INV);
VERBS(SEND_FENCE);
VERBS(SEND_SIGNALED);
VERBS(SEND_SOLICITED);
VERBS(SEND_INLINE);
VERBS(WC_SUCCESS);
VERBS(WC_LOC_LEN_ERR);
VERBS(WC_LOC_PROT_ERR);
VERBS(WC_WR_FLUSH_ERR);
VERBS(WC_REM_ACCESS_ERR);
VERBS(WC_RNR_RETRY_EXC_ERR);
VERBS(WC_REM_ABORT_ERR);
VERBS(WC_GENERAL_ERR);
VERBS(WC_FETCH_ADD);
VERBS(WC_BIND_MW);
VERBS(WC_LOCAL_INV);
VERBS(WC_RECV);
VERBS(WC_RECV_RDMA_WITH_IMM);
VERBS(WC_DRIVER2);
VERBS(WC_GRH);
VERBS(WC_WITH_IMM);
VERBS(WC_WITH_INV);
VERBS(QPT_RC);
VERBS(QPT_UC);
VERBS(QPT_UD);
VERBS(QPT_XRC_SEND);
VERBS(QPT_XRC_RECV);
VERBS(QPS_RESET);
VERBS(QPS_RTS);
VERBS(QPS_SQE);
VERBS(QPS_ERR);
VERBS(DEVICE_RESIZE_MAX_WR);
VERBS(DEVICE_BAD_PKEY_CNTR);
VERBS(DEVICE_BAD_QKEY_CNTR);
VERBS(DEVICE_RAW_MULTI);
VERBS(DEVICE_AUTO_PATH_MIG);
VERBS(DEVICE_CHANGE_PHY_PORT);
VERBS(DEVICE_UD_AV_PORT_ENFORCE);
VERBS(DEVICE_CURR_QP_STATE_MOD);
VERBS(DEVICE_SHUTDOWN_PORT);
VERBS(DEVICE_INIT_TYPE);
VERBS(DEVICE_PORT_ACTIVE_EVENT);
VERBS(DEVICE_SYS_IMAGE_GUID);
VERBS(DEVICE_RC_RNR_NAK_GEN);
VERBS(DEVICE_SRQ_RESIZE);
VERBS(DEVICE_N_NOTIFY_CQ);
VERBS(DEVICE_MEM_WINDOW);
VERBS(DEVICE_UD_IP_CSUM);
VERBS(DEVICE_XRC);
VERBS(DEVICE_MEM_MGT_EXTENSIONS);
VERBS(DEVICE_MEM_WINDOW_TYPE_2A);
VERBS(DEVICE_MEM_WINDOW_TYPE_2B);
VERBS(DEVICE_RC_IP_CSUM);
VERBS(DEVICE_RAW_IP_CSUM);
VERBS(DEVICE_MANAGED_FLOW_STEERING);
VERBS(RATE_MAX);
VERBS(RATE_2_5_GBPS);
VERBS(RATE_5_GBPS);
VERBS(RATE_10_GBPS);
VERBS(RATE_20_GBPS);
VERBS(RATE_30_GBPS);
VERBS(RATE_40_GBPS);
VERBS(RATE_60_GBPS);
VERBS(RATE_80_GBPS);
VERBS(RATE_120_GBPS);
VERBS(RATE_14_GBPS);
VERBS(RATE_56_GBPS);
VERBS(RATE_112_GBPS);
VERBS(RATE_168_GBPS);
VERBS(RATE_25_GBPS);
VERBS(RATE_100_GBPS);
VERBS(RATE_200_GBPS);
VERBS(RATE_300_GBPS);
VERBS(RATE_28_GBPS);
VERBS(RATE_50_GBPS);
VERBS(RATE_400_GBPS);
VERBS(RATE_600_GBPS);
VERBS(RATE_800_GBPS);
VERBS(RATE_1200_GBPS);
VERBS(NODE_UNKNOWN);
VERBS(NODE_CA);
VERBS(NODE_SWITCH);
VERBS(NODE_ROUTER);
VERBS(NODE_RNIC);
VERBS(NODE_USNIC);
VERBS(NODE_USNIC_UDP);
VERBS(NODE_UNSPECIFIED);
VERBS(TRANSPORT_UNKNOWN);
VERBS(TRANSPORT_IB);
VERBS(TRANSPORT_IWARP);
VERBS(TRANSPORT_USNIC);
VERBS(TRANSPORT_USNIC_UDP);
VERBS(TRANSPORT_UNSPECIFIED);
VERBS(SRQ_MAX_WR);
VERBS(SRQ_LIMIT);

int main(void)
{
	ok(1, "ring formats and constants equal those of mlx5dv.h and verbs.h");
	return tap_done();
}
