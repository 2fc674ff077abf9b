// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Verbs that need what xverbs does not have: prefetching of pages, flow steering, receive hashing,
 * regions of other processes, and interfaces of a provider.
 */
#include "exp.h"

EXPORT int ibv_exp_prefetch_mr(struct ibv_mr *mr, struct ibv_exp_prefetch_attr *attr)
{
	(void)mr;
	(void)attr;
	return exp_refuse(EOPNOTSUPP, "prefetch: ");
}

EXPORT struct ibv_mr *ibv_exp_reg_shared_mr(struct ibv_exp_reg_shared_mr_in *in)
{
	(void)in;
	return iv_refuse(EOPNOTSUPP, "shared memory region: ");
}

EXPORT struct ibv_exp_flow *ibv_exp_create_flow(struct ibv_qp *qp, struct ibv_exp_flow_attr *flow)
{
	(void)qp;
	(void)flow;
	return iv_refuse(EOPNOTSUPP, "flow: ");
}

EXPORT int ibv_exp_destroy_flow(struct ibv_exp_flow *flow)
{
	(void)flow;
	return exp_refuse(EOPNOTSUPP, "flow: ");
}

EXPORT struct ibv_exp_wq *ibv_exp_create_wq(struct ibv_context *ctx,
					    struct ibv_exp_wq_init_attr *attr)
{
	(void)ctx;
	(void)attr;
	return iv_refuse(EOPNOTSUPP, "work queue: ");
}

EXPORT int ibv_exp_modify_wq(struct ibv_exp_wq *wq, struct ibv_exp_wq_attr *attr)
{
	(void)wq;
	(void)attr;
	return exp_refuse(EOPNOTSUPP, "work queue: ");
}

EXPORT int ibv_exp_destroy_wq(struct ibv_exp_wq *wq)
{
	(void)wq;
	return exp_refuse(EOPNOTSUPP, "work queue: ");
}

EXPORT struct ibv_exp_rwq_ind_table *
ibv_exp_create_rwq_ind_table(struct ibv_context *ctx, struct ibv_exp_rwq_ind_table_init_attr *attr)
{
	(void)ctx;
	(void)attr;
	return iv_refuse(EOPNOTSUPP, "indirection table: ");
}

EXPORT int ibv_exp_destroy_rwq_ind_table(struct ibv_exp_rwq_ind_table *table)
{
	(void)table;
	return exp_refuse(EOPNOTSUPP, "indirection table: ");
}

EXPORT void *ibv_exp_query_intf(struct ibv_context *ctx, struct ibv_exp_query_intf_params *params,
				enum ibv_exp_query_intf_status *status)
{
	(void)ctx;
	(void)params;
	*status = IBV_EXP_INTF_STAT_INTF_NOT_SUPPORTED;
	return iv_refuse(EOPNOTSUPP, "interface: ");
}

EXPORT int ibv_exp_release_intf(struct ibv_context *ctx, void *intf,
				struct ibv_exp_release_intf_params *params)
{
	(void)ctx;
	(void)intf;
	(void)params;
	return exp_refuse(EOPNOTSUPP, "interface: ");
}

EXPORT int ibv_exp_poll_dc_info(struct ibv_context *ctx, struct ibv_exp_dc_info_ent *ents,
				int nent, int port)
{
	(void)ctx;
	(void)ents;
	(void)nent;
	(void)port;
	exp_refuse(EOPNOTSUPP, "DC information: ");
	return -1;
}
