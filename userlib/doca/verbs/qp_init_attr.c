// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Attributes of creation of a queue pair.
 */
#include "verbs.h"

ATTR_OBJECT(qp_init_attr)
SET_GET_OBJECT(qp_init_attr, pd, struct doca_verbs_pd *)
SET_GET_OBJECT(qp_init_attr, send_cq, struct doca_verbs_cq *)
SET_GET_OBJECT(qp_init_attr, receive_cq, struct doca_verbs_cq *)
SET_GET_OBJECT(qp_init_attr, srq, struct doca_verbs_srq *)
SET_GET(qp_init_attr, qp_context, void *)
SET_GET_MAX(qp_init_attr, qp_type, uint32_t, DOCA_VERBS_QP_TYPE_UC)
SET_GET(qp_init_attr, sq_sig_all, int)
SET_GET(qp_init_attr, sq_wr, uint32_t)
SET_GET(qp_init_attr, rq_wr, uint32_t)
SET_GET(qp_init_attr, send_max_sges, uint32_t)
SET_GET(qp_init_attr, receive_max_sges, uint32_t)
SET_GET(qp_init_attr, max_inline_data, uint32_t)
SET_GET(qp_init_attr, user_index, uint32_t)
SET_GET(qp_init_attr, core_direct_master, uint8_t)
SET_GET(qp_init_attr, cqe_inline, uint8_t)
SET_GET_MAX(qp_init_attr, send_dbr_mode, enum doca_verbs_qp_send_dbr_mode,
	    DOCA_VERBS_QP_SEND_DBR_MODE_NO_DBR_EXT)
SET_GET(qp_init_attr, emulate_no_dbr_ext, bool)
SET_GET_MAX(qp_init_attr, ordering_semantic, enum doca_verbs_qp_ordering_semantic,
	    DOCA_VERBS_QP_ORDERING_SEMANTIC_OOO_ALL)
SET_GET(qp_init_attr, external_datapath_en, uint8_t)
SET_GET_PLACE(qp_init_attr, external_umem)
SET_GET_PLACE(qp_init_attr, external_dbr_umem)
SET_OBJECT(qp_init_attr, external_uar, struct doca_uar *)

EXPORT doca_error_t
doca_verbs_qp_init_attr_get_external_uar(const struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
					 struct doca_uar **external_uar)
{
	if (!verbs_qp_init_attr || !external_uar)
		return DOCA_ERROR_INVALID_VALUE;
	*external_uar = verbs_qp_init_attr->external_uar;
	return DOCA_SUCCESS;
}
