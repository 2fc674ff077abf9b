// SPDX-License-Identifier: GPL-2.0
/*
 * The table of firmware commands: one row for each opcode, in ascending order.
 *
 * The sizes do not include variable lists; handlers check those.
 */
#include <linux/kernel.h>
#include <linux/mlx5/device.h>
#include "sa/sa.h"
#include "cmd/cmd.h"

#define OFF	HCA_STAGE(HCA_OFF)
#define ON	(HCA_STAGE(HCA_ENABLED) | HCA_STAGE(HCA_RUNNING))
#define RUN	HCA_STAGE(HCA_RUNNING)
#define ANY	HCA_ANY_STAGE

/* @in, @out: layouts of linux/mlx5/mlx5_ifc.h */
#define OP_FOR(users, opcode, stages, mods, handler, in, out)			\
	{ opcode, stages, MLX5_ST_SZ_BYTES(in), MLX5_ST_SZ_BYTES(out), mods, users,	\
	  handler, #opcode }
/*
 * Commands of the driver only; of the driver, which may create an object for all; of processes
 * too.  Handlers look up each number by a function of devx.c.
 */
#define OP(...)		OP_FOR(0, __VA_ARGS__)
#define ALL_OP(...)	OP_FOR(HCA_FOR_ALL, __VA_ARGS__)
#define USER_OP(...)	OP_FOR(HCA_FOR_USER, __VA_ARGS__)

static const struct hca_opcode opcodes[] = {
	USER_OP(MLX5_CMD_OP_QUERY_HCA_CAP, ON, true, hca_cmd_query_hca_cap,
		query_hca_cap_in, query_hca_cap_out),
	USER_OP(MLX5_CMD_OP_QUERY_ADAPTER, ON, false, hca_cmd_query_adapter,
		query_adapter_in, query_adapter_out),
	OP(MLX5_CMD_OP_INIT_HCA, HCA_STAGE(HCA_ENABLED), false, hca_cmd_init_hca,
	   query_issi_in, init_hca_out),
	OP(MLX5_CMD_OP_TEARDOWN_HCA, RUN, false, hca_cmd_teardown_hca,
	   teardown_hca_in, teardown_hca_out),
	OP(MLX5_CMD_OP_ENABLE_HCA, OFF, false, hca_cmd_enable_hca, enable_hca_in, enable_hca_out),
	OP(MLX5_CMD_OP_DISABLE_HCA, ON, false, hca_cmd_disable_hca,
	   disable_hca_in, disable_hca_out),
	OP(MLX5_CMD_OP_QUERY_PAGES, ON, true, hca_cmd_query_pages, query_pages_in, query_pages_out),
	OP(MLX5_CMD_OP_MANAGE_PAGES, ON, true, hca_cmd_manage_pages,
	   manage_pages_in, manage_pages_out),
	OP(MLX5_CMD_OP_SET_HCA_CAP, HCA_STAGE(HCA_ENABLED), true, hca_cmd_set_hca_cap,
	   set_hca_cap_in, set_hca_cap_out),
	USER_OP(MLX5_CMD_OP_QUERY_ISSI, ON, false, hca_cmd_query_issi,
		query_issi_in, query_issi_out),
	OP(MLX5_CMD_OP_SET_ISSI, ON, false, hca_cmd_set_issi, set_issi_in, set_issi_out),
	USER_OP(MLX5_CMD_OP_CREATE_MKEY, RUN, false, hca_cmd_create_mkey,
		create_mkey_in, create_mkey_out),
	USER_OP(MLX5_CMD_OP_QUERY_MKEY, RUN, false, hca_cmd_query_mkey,
		query_mkey_in, query_mkey_out),
	USER_OP(MLX5_CMD_OP_DESTROY_MKEY, RUN, false, hca_cmd_destroy_mkey,
		destroy_mkey_in, destroy_mkey_out),
	OP(MLX5_CMD_OP_QUERY_SPECIAL_CONTEXTS, RUN, false, hca_cmd_query_special_contexts,
	   query_special_contexts_in, query_special_contexts_out),
	ALL_OP(MLX5_CMD_OP_CREATE_EQ, RUN, false, hca_cmd_create_eq, create_eq_in, create_eq_out),
	OP(MLX5_CMD_OP_DESTROY_EQ, RUN, false, hca_cmd_destroy_eq, destroy_eq_in, destroy_eq_out),
	OP(MLX5_CMD_OP_QUERY_EQ, RUN, false, hca_cmd_query_eq, query_eq_in, query_eq_out),
	USER_OP(MLX5_CMD_OP_CREATE_CQ, RUN, false, hca_cmd_create_cq, create_cq_in, create_cq_out),
	USER_OP(MLX5_CMD_OP_DESTROY_CQ, RUN, false, hca_cmd_destroy_cq,
		destroy_cq_in, destroy_cq_out),
	USER_OP(MLX5_CMD_OP_QUERY_CQ, RUN, false, hca_cmd_query_cq, query_cq_in, query_cq_out),
	USER_OP(MLX5_CMD_OP_MODIFY_CQ, RUN, true, hca_cmd_modify_cq, modify_cq_in, modify_cq_out),
	USER_OP(MLX5_CMD_OP_CREATE_QP, RUN, false, hca_cmd_create_qp, create_qp_in, create_qp_out),
	USER_OP(MLX5_CMD_OP_DESTROY_QP, RUN, false, hca_cmd_destroy_qp,
		destroy_qp_in, destroy_qp_out),
	USER_OP(MLX5_CMD_OP_RST2INIT_QP, RUN, false, hca_cmd_modify_qp,
		rst2init_qp_in, rst2init_qp_out),
	USER_OP(MLX5_CMD_OP_INIT2RTR_QP, RUN, false, hca_cmd_modify_qp,
		init2rtr_qp_in, init2rtr_qp_out),
	USER_OP(MLX5_CMD_OP_RTR2RTS_QP, RUN, false, hca_cmd_modify_qp,
		rtr2rts_qp_in, rtr2rts_qp_out),
	USER_OP(MLX5_CMD_OP_RTS2RTS_QP, RUN, false, hca_cmd_modify_qp,
		rts2rts_qp_in, rts2rts_qp_out),
	USER_OP(MLX5_CMD_OP_SQERR2RTS_QP, RUN, false, hca_cmd_modify_qp,
		sqerr2rts_qp_in, sqerr2rts_qp_out),
	USER_OP(MLX5_CMD_OP_2ERR_QP, RUN, false, hca_cmd_modify_qp, qp_2err_in, qp_2err_out),
	USER_OP(HCA_CMD_OP_RTS2SQD_QP, RUN, false, hca_cmd_modify_qp, qp_2err_in, qp_2err_out),
	USER_OP(MLX5_CMD_OP_2RST_QP, RUN, false, hca_cmd_modify_qp, qp_2rst_in, qp_2rst_out),
	/* In newer headers query_qp_out has an extension, which software need not have. */
	USER_OP(MLX5_CMD_OP_QUERY_QP, RUN, false, hca_cmd_query_qp,
		query_qp_in, rst2init_qp_in),
	USER_OP(MLX5_CMD_OP_SQD_RTS_QP, RUN, false, hca_cmd_modify_qp,
		sqd2rts_qp_in, sqd2rts_qp_out),
	OP(MLX5_CMD_OP_MAD_IFC, RUN, true, hca_cmd_mad_ifc, mad_ifc_in, mad_ifc_out),
	USER_OP(MLX5_CMD_OP_INIT2INIT_QP, RUN, false, hca_cmd_modify_qp,
		init2init_qp_in, init2init_qp_out),
	USER_OP(HCA_CMD_OP_SQD2SQD_QP, RUN, false, hca_cmd_modify_qp,
		sqd2rts_qp_in, sqd2rts_qp_out),
	OP(MLX5_CMD_OP_CREATE_SRQ, RUN, false, hca_cmd_create_srq, create_srq_in, create_srq_out),
	OP(MLX5_CMD_OP_DESTROY_SRQ, RUN, false, hca_cmd_destroy_srq,
	   destroy_srq_in, destroy_srq_out),
	OP(MLX5_CMD_OP_QUERY_SRQ, RUN, false, hca_cmd_query_srq, query_srq_in, query_srq_out),
	OP(MLX5_CMD_OP_ARM_RQ, RUN, true, hca_cmd_arm_srq, arm_rq_in, arm_rq_out),
	OP(MLX5_CMD_OP_CREATE_XRC_SRQ, RUN, false, hca_cmd_create_xrc_srq,
	   create_xrc_srq_in, create_xrc_srq_out),
	OP(MLX5_CMD_OP_DESTROY_XRC_SRQ, RUN, false, hca_cmd_destroy_srq,
	   destroy_xrc_srq_in, destroy_xrc_srq_out),
	OP(MLX5_CMD_OP_QUERY_XRC_SRQ, RUN, false, hca_cmd_query_xrc_srq,
	   query_xrc_srq_in, query_xrc_srq_out),
	OP(MLX5_CMD_OP_ARM_XRC_SRQ, RUN, true, hca_cmd_arm_srq, arm_xrc_srq_in, arm_xrc_srq_out),
	USER_OP(MLX5_CMD_OP_CREATE_DCT, RUN, false, hca_cmd_create_dct,
		create_dct_in, create_dct_out),
	USER_OP(MLX5_CMD_OP_DESTROY_DCT, RUN, false, hca_cmd_destroy_dct,
		destroy_dct_in, destroy_dct_out),
	USER_OP(MLX5_CMD_OP_DRAIN_DCT, RUN, false, hca_cmd_drain_dct, drain_dct_in, drain_dct_out),
	USER_OP(MLX5_CMD_OP_QUERY_DCT, RUN, false, hca_cmd_query_dct, query_dct_in, query_dct_out),
	USER_OP(MLX5_CMD_OP_ARM_DCT_FOR_KEY_VIOLATION, RUN, false, hca_cmd_arm_dct,
		arm_dct_in, arm_dct_out),
	USER_OP(MLX5_CMD_OP_QUERY_VPORT_STATE, RUN, true, hca_cmd_query_vport_state,
		query_vport_state_in, query_vport_state_out),
	USER_OP(MLX5_CMD_OP_QUERY_NIC_VPORT_CONTEXT, RUN, false, hca_cmd_query_nic_vport,
		query_nic_vport_context_in, query_nic_vport_context_out),
	OP(MLX5_CMD_OP_MODIFY_NIC_VPORT_CONTEXT, RUN, false, hca_cmd_modify_nic_vport,
	   modify_nic_vport_context_in, modify_nic_vport_context_out),
	USER_OP(MLX5_CMD_OP_QUERY_ROCE_ADDRESS, RUN, false, hca_cmd_query_roce_address,
		query_roce_address_in, query_roce_address_out),
	OP(MLX5_CMD_OP_SET_ROCE_ADDRESS, RUN, false, hca_cmd_set_roce_address,
	   set_roce_address_in, set_roce_address_out),
	USER_OP(MLX5_CMD_OP_QUERY_HCA_VPORT_CONTEXT, RUN, false, hca_cmd_query_hca_vport,
		query_hca_vport_context_in, query_hca_vport_context_out),
	OP(MLX5_CMD_OP_MODIFY_HCA_VPORT_CONTEXT, RUN, false, hca_cmd_modify_hca_vport,
	   modify_hca_vport_context_in, modify_hca_vport_context_out),
	OP(MLX5_CMD_OP_QUERY_HCA_VPORT_GID, RUN, false, hca_cmd_query_vport_gid,
	   query_hca_vport_gid_in, query_hca_vport_gid_out),
	OP(MLX5_CMD_OP_QUERY_HCA_VPORT_PKEY, RUN, false, hca_cmd_query_vport_pkey,
	   query_hca_vport_pkey_in, query_hca_vport_pkey_out),
	USER_OP(MLX5_CMD_OP_QUERY_VPORT_COUNTER, RUN, false, hca_cmd_query_vport_counter,
		query_vport_counter_in, query_vport_counter_out),
	OP_FOR(HCA_FOR_USER | HCA_FOR_ALL, MLX5_CMD_OP_ALLOC_Q_COUNTER, RUN, false,
	       hca_cmd_alloc_q_counter, alloc_q_counter_in, alloc_q_counter_out),
	USER_OP(MLX5_CMD_OP_DEALLOC_Q_COUNTER, RUN, false, hca_cmd_dealloc_q_counter,
		dealloc_q_counter_in, dealloc_q_counter_out),
	USER_OP(MLX5_CMD_OP_QUERY_Q_COUNTER, RUN, false, hca_cmd_query_q_counter,
		query_q_counter_in, query_q_counter_out),
	USER_OP(MLX5_CMD_OP_ALLOC_PD, RUN, false, hca_cmd_alloc_pd, alloc_pd_in, alloc_pd_out),
	USER_OP(MLX5_CMD_OP_DEALLOC_PD, RUN, false, hca_cmd_dealloc_pd,
		dealloc_pd_in, dealloc_pd_out),
	USER_OP(MLX5_CMD_OP_ALLOC_UAR, RUN, false, hca_cmd_alloc_uar, alloc_uar_in, alloc_uar_out),
	USER_OP(MLX5_CMD_OP_DEALLOC_UAR, RUN, false, hca_cmd_dealloc_uar,
		dealloc_uar_in, dealloc_uar_out),
	OP(MLX5_CMD_OP_ACCESS_REG, ON, true, hca_cmd_access_reg,
	   access_register_in, access_register_out),
	USER_OP(MLX5_CMD_OP_ATTACH_TO_MCG, RUN, false, hca_cmd_attach_mcg,
		attach_to_mcg_in, attach_to_mcg_out),
	USER_OP(MLX5_CMD_OP_DETACH_FROM_MCG, RUN, false, hca_cmd_detach_mcg,
		detach_from_mcg_in, detach_from_mcg_out),
	USER_OP(MLX5_CMD_OP_NOP, ON, false, hca_cmd_nop, query_issi_in, enable_hca_out),
	USER_OP(MLX5_CMD_OP_ALLOC_XRCD, RUN, false, hca_cmd_alloc_xrcd,
		alloc_xrcd_in, alloc_xrcd_out),
	USER_OP(MLX5_CMD_OP_DEALLOC_XRCD, RUN, false, hca_cmd_dealloc_xrcd,
		dealloc_xrcd_in, dealloc_xrcd_out),
	USER_OP(MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN, RUN, false, hca_cmd_alloc_td,
		alloc_transport_domain_in, alloc_transport_domain_out),
	USER_OP(MLX5_CMD_OP_DEALLOC_TRANSPORT_DOMAIN, RUN, false, hca_cmd_dealloc_td,
		dealloc_transport_domain_in, dealloc_transport_domain_out),
	OP(MLX5_CMD_OP_QUERY_CONG_PARAMS, RUN, false, hca_cmd_query_cong_params,
	   query_cong_params_in, query_cong_params_out),
	OP(MLX5_CMD_OP_MODIFY_CONG_PARAMS, RUN, false, hca_cmd_modify_cong_params,
	   modify_cong_params_in, modify_cong_params_out),
	OP(MLX5_CMD_OP_QUERY_CONG_STATISTICS, RUN, true, hca_cmd_query_cong_statistics,
	   query_cong_statistics_in, query_cong_statistics_out),
	/* Zero: there is no bond.  UCX asks each adapter. */
	USER_OP(MLX5_CMD_OP_QUERY_LAG, RUN, false, hca_cmd_nop, query_lag_in, query_lag_out),
	OP(MLX5_CMD_OP_CREATE_SQ, RUN, false, hca_cmd_create_sq, create_sq_in, create_sq_out),
	OP(MLX5_CMD_OP_MODIFY_SQ, RUN, false, hca_cmd_modify_sq, modify_sq_in, modify_sq_out),
	OP(MLX5_CMD_OP_DESTROY_SQ, RUN, false, hca_cmd_destroy_sq, destroy_sq_in, destroy_sq_out),
	USER_OP(MLX5_CMD_OP_CREATE_RMP, RUN, false, hca_cmd_create_rmp,
		create_rmp_in, create_rmp_out),
	USER_OP(MLX5_CMD_OP_MODIFY_RMP, RUN, false, hca_cmd_modify_rmp,
		modify_rmp_in, modify_rmp_out),
	USER_OP(MLX5_CMD_OP_DESTROY_RMP, RUN, false, hca_cmd_destroy_srq,
		destroy_rmp_in, destroy_rmp_out),
	USER_OP(MLX5_CMD_OP_QUERY_RMP, RUN, false, hca_cmd_query_rmp, query_rmp_in, query_rmp_out),
	OP(MLX5_CMD_OP_CREATE_UCTX, RUN, false, hca_cmd_create_uctx,
	   create_uctx_in, create_uctx_out),
	OP(MLX5_CMD_OP_DESTROY_UCTX, RUN, false, hca_cmd_destroy_uctx,
	   destroy_uctx_in, destroy_uctx_out),
	USER_OP(MLX5_CMD_OP_CREATE_UMEM, RUN, false, hca_cmd_create_umem,
		create_umem_in, create_umem_out),
	USER_OP(MLX5_CMD_OP_DESTROY_UMEM, RUN, false, hca_cmd_destroy_umem,
		destroy_umem_in, destroy_umem_out),
};

#undef OFF
#undef ON
#undef RUN
#undef ANY

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
#define X(name, number, status, text) \
	[(number) - HCA_SYND_FIRST] = { status, text },
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

#undef OP_FOR
#undef OP
#undef ALL_OP
#undef USER_OP
