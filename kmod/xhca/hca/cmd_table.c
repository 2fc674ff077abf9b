// SPDX-License-Identifier: GPL-2.0
/*
 * The firmware commands: what each needs, and who executes it.
 *
 * One row per opcode, in ascending order.  Sizes are those up to the first
 * variable list; a handler checks the list itself.
 */
#include <linux/kernel.h>
#include <linux/mlx5/device.h>
#include "cmd.h"

#define MLX5_CMD_OP_RTS2SQD_QP	HCA_CMD_OP_RTS2SQD_QP
#define MLX5_CMD_OP_SQD2SQD_QP	HCA_CMD_OP_SQD2SQD_QP

#define OFF	HCA_STAGE(HCA_OFF)
#define ON	(HCA_STAGE(HCA_ENABLED) | HCA_STAGE(HCA_RUNNING))
#define RUN	HCA_STAGE(HCA_RUNNING)
#define ANY	HCA_ANY_STAGE

#define OP(op, stage, mods, handler, in, out)					\
	{ MLX5_CMD_OP_##op, stage, sizeof(struct mlx5_ifc_##in##_bits) / 8,	\
	  sizeof(struct mlx5_ifc_##out##_bits) / 8, mods, hca_cmd_##handler, #op }

static const struct hca_opcode opcodes[] = {
	OP(QUERY_HCA_CAP, ON, true, query_hca_cap, query_hca_cap_in, query_hca_cap_out),
	OP(QUERY_ADAPTER, ON, false, query_adapter, query_adapter_in, query_adapter_out),
	OP(INIT_HCA, HCA_STAGE(HCA_ENABLED), false, init_hca, query_issi_in,
	   init_hca_out),
	OP(TEARDOWN_HCA, RUN, false, teardown_hca, teardown_hca_in,
	   teardown_hca_out),
	OP(ENABLE_HCA, OFF, false, enable_hca, enable_hca_in, enable_hca_out),
	OP(DISABLE_HCA, ON, false, disable_hca, disable_hca_in, disable_hca_out),
	OP(QUERY_PAGES, ON, true, query_pages, query_pages_in, query_pages_out),
	OP(MANAGE_PAGES, ON, true, manage_pages, manage_pages_in, manage_pages_out),
	OP(SET_HCA_CAP, HCA_STAGE(HCA_ENABLED), true, set_hca_cap, set_hca_cap_in,
	   set_hca_cap_out),
	OP(QUERY_ISSI, ON, false, query_issi, query_issi_in, query_issi_out),
	OP(SET_ISSI, ON, false, set_issi, set_issi_in, set_issi_out),
	OP(CREATE_MKEY, RUN, false, create_mkey, create_mkey_in, create_mkey_out),
	OP(QUERY_MKEY, RUN, false, query_mkey, query_mkey_in, query_mkey_out),
	OP(DESTROY_MKEY, RUN, false, destroy_mkey, destroy_mkey_in, destroy_mkey_out),
	OP(QUERY_SPECIAL_CONTEXTS, RUN, false, query_special_contexts,
	   query_special_contexts_in, query_special_contexts_out),
	OP(CREATE_EQ, RUN, false, create_eq, create_eq_in, create_eq_out),
	OP(DESTROY_EQ, RUN, false, destroy_eq, destroy_eq_in, destroy_eq_out),
	OP(QUERY_EQ, RUN, false, query_eq, query_eq_in, query_eq_out),
	OP(CREATE_CQ, RUN, false, create_cq, create_cq_in, create_cq_out),
	OP(DESTROY_CQ, RUN, false, destroy_cq, destroy_cq_in, destroy_cq_out),
	OP(QUERY_CQ, RUN, false, query_cq, query_cq_in, query_cq_out),
	OP(MODIFY_CQ, RUN, true, modify_cq, modify_cq_in, modify_cq_out),
	OP(CREATE_QP, RUN, false, create_qp, create_qp_in, create_qp_out),
	OP(DESTROY_QP, RUN, false, destroy_qp, destroy_qp_in, destroy_qp_out),
	OP(RST2INIT_QP, RUN, false, modify_qp, rst2init_qp_in, rst2init_qp_out),
	OP(INIT2RTR_QP, RUN, false, modify_qp, init2rtr_qp_in, init2rtr_qp_out),
	OP(RTR2RTS_QP, RUN, false, modify_qp, rtr2rts_qp_in, rtr2rts_qp_out),
	OP(RTS2RTS_QP, RUN, false, modify_qp, rts2rts_qp_in, rts2rts_qp_out),
	OP(SQERR2RTS_QP, RUN, false, modify_qp, sqerr2rts_qp_in, sqerr2rts_qp_out),
	OP(2ERR_QP, RUN, false, modify_qp, qp_2err_in, qp_2err_out),
	OP(RTS2SQD_QP, RUN, false, modify_qp, qp_2err_in, qp_2err_out),
	OP(2RST_QP, RUN, false, modify_qp, qp_2rst_in, qp_2rst_out),
	OP(QUERY_QP, RUN, false, query_qp, query_qp_in, query_qp_out),
	OP(SQD_RTS_QP, RUN, false, modify_qp, sqd2rts_qp_in, sqd2rts_qp_out),
	OP(INIT2INIT_QP, RUN, false, modify_qp, init2init_qp_in, init2init_qp_out),
	OP(SQD2SQD_QP, RUN, false, modify_qp, sqd2rts_qp_in, sqd2rts_qp_out),
	OP(CREATE_SRQ, RUN, false, create_srq, create_srq_in, create_srq_out),
	OP(DESTROY_SRQ, RUN, false, destroy_srq, destroy_srq_in, destroy_srq_out),
	OP(QUERY_SRQ, RUN, false, query_srq, query_srq_in, query_srq_out),
	OP(ARM_RQ, RUN, true, arm_srq, arm_rq_in, arm_rq_out),
	OP(CREATE_XRC_SRQ, RUN, false, create_xrc_srq, create_xrc_srq_in, create_xrc_srq_out),
	OP(DESTROY_XRC_SRQ, RUN, false, destroy_srq, destroy_xrc_srq_in, destroy_xrc_srq_out),
	OP(QUERY_XRC_SRQ, RUN, false, query_xrc_srq, query_xrc_srq_in, query_xrc_srq_out),
	OP(ARM_XRC_SRQ, RUN, true, arm_srq, arm_xrc_srq_in, arm_xrc_srq_out),
	OP(QUERY_VPORT_STATE, RUN, true, query_vport_state, query_vport_state_in,
	   query_vport_state_out),
	OP(QUERY_NIC_VPORT_CONTEXT, RUN, false, query_nic_vport, query_nic_vport_context_in,
	   query_nic_vport_context_out),
	OP(MODIFY_NIC_VPORT_CONTEXT, RUN, false, modify_nic_vport,
	   modify_nic_vport_context_in, modify_nic_vport_context_out),
	OP(QUERY_ROCE_ADDRESS, RUN, false, query_roce_address, query_roce_address_in,
	   query_roce_address_out),
	OP(SET_ROCE_ADDRESS, RUN, false, set_roce_address, set_roce_address_in,
	   set_roce_address_out),
	OP(QUERY_HCA_VPORT_CONTEXT, RUN, false, query_hca_vport, query_hca_vport_context_in,
	   query_hca_vport_context_out),
	OP(MODIFY_HCA_VPORT_CONTEXT, RUN, false, modify_hca_vport,
	   modify_hca_vport_context_in, modify_hca_vport_context_out),
	OP(QUERY_HCA_VPORT_GID, RUN, false, query_vport_gid, query_hca_vport_gid_in,
	   query_hca_vport_gid_out),
	OP(QUERY_HCA_VPORT_PKEY, RUN, false, query_vport_pkey, query_hca_vport_pkey_in,
	   query_hca_vport_pkey_out),
	OP(QUERY_VPORT_COUNTER, RUN, false, query_vport_counter, query_vport_counter_in,
	   query_vport_counter_out),
	OP(ALLOC_Q_COUNTER, RUN, false, alloc_q_counter, alloc_q_counter_in,
	   alloc_q_counter_out),
	OP(DEALLOC_Q_COUNTER, RUN, false, dealloc_q_counter, dealloc_q_counter_in,
	   dealloc_q_counter_out),
	OP(QUERY_Q_COUNTER, RUN, false, query_q_counter, query_q_counter_in,
	   query_q_counter_out),
	OP(ALLOC_PD, RUN, false, alloc_pd, alloc_pd_in, alloc_pd_out),
	OP(DEALLOC_PD, RUN, false, dealloc_pd, dealloc_pd_in, dealloc_pd_out),
	OP(ALLOC_UAR, RUN, false, alloc_uar, alloc_uar_in, alloc_uar_out),
	OP(DEALLOC_UAR, RUN, false, dealloc_uar, dealloc_uar_in, dealloc_uar_out),
	OP(ACCESS_REG, ON, true, access_reg, access_register_in, access_register_out),
	OP(ATTACH_TO_MCG, RUN, false, attach_mcg, attach_to_mcg_in, attach_to_mcg_out),
	OP(DETACH_FROM_MCG, RUN, false, detach_mcg, detach_from_mcg_in, detach_from_mcg_out),
	OP(NOP, ON, false, nop, query_issi_in, enable_hca_out),
	OP(ALLOC_XRCD, RUN, false, alloc_xrcd, alloc_xrcd_in, alloc_xrcd_out),
	OP(DEALLOC_XRCD, RUN, false, dealloc_xrcd, dealloc_xrcd_in, dealloc_xrcd_out),
	OP(ALLOC_TRANSPORT_DOMAIN, RUN, false, alloc_td, alloc_transport_domain_in,
	   alloc_transport_domain_out),
	OP(DEALLOC_TRANSPORT_DOMAIN, RUN, false, dealloc_td, dealloc_transport_domain_in,
	   dealloc_transport_domain_out),
	OP(CREATE_SQ, RUN, false, create_sq, create_sq_in, create_sq_out),
	OP(MODIFY_SQ, RUN, false, modify_sq, modify_sq_in, modify_sq_out),
	OP(DESTROY_SQ, RUN, false, destroy_sq, destroy_sq_in, destroy_sq_out),
	OP(CREATE_RMP, RUN, false, create_rmp, create_rmp_in, create_rmp_out),
	OP(MODIFY_RMP, RUN, false, modify_rmp, modify_rmp_in, modify_rmp_out),
	OP(DESTROY_RMP, RUN, false, destroy_srq, destroy_rmp_in, destroy_rmp_out),
	OP(QUERY_RMP, RUN, false, query_rmp, query_rmp_in, query_rmp_out),
};

const struct hca_opcode *hca_opcode_at(unsigned int i)
{
	return i < ARRAY_SIZE(opcodes) ? &opcodes[i] : NULL;
}

const struct hca_opcode *hca_opcode_find(u16 opcode)
{
	unsigned int lo = 0, hi = ARRAY_SIZE(opcodes);

	while (lo < hi) {
		unsigned int mid = (lo + hi) / 2;

		if (opcodes[mid].opcode == opcode)
			return &opcodes[mid];
		if (opcodes[mid].opcode < opcode)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

static const struct {
	u8 status;
	const char *text;
} synds[] = {
#define X(number, name, status, text)	\
	[(number) - HCA_SYND_FIRST] = { MLX5_CMD_STAT_##status, text },
	HCA_SYNDROMES(X)
#undef X
};

u8 hca_synd_status(enum hca_synd synd)
{
	return synd ? synds[synd - HCA_SYND_FIRST].status : MLX5_CMD_STAT_OK;
}

const char *hca_synd_text(enum hca_synd synd)
{
	return synd ? synds[synd - HCA_SYND_FIRST].text : "ok";
}
