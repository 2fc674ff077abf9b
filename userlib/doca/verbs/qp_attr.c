// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Attributes of the state of a queue pair.
 */
#include "verbs.h"

ATTR_OBJECT(qp_attr)
SET_GET_MAX(qp_attr, next_state, enum doca_verbs_qp_state, DOCA_VERBS_QP_STATE_ERR)
SET_GET_MAX(qp_attr, current_state, enum doca_verbs_qp_state, DOCA_VERBS_QP_STATE_ERR)
SET_GET_MAX(qp_attr, path_mtu, enum doca_mtu_size, DOCA_MTU_SIZE_4K_BYTES)
SET_GET_MAX(qp_attr, rq_psn, uint32_t, 0xffffff)
SET_GET_MAX(qp_attr, sq_psn, uint32_t, 0xffffff)
SET_GET_MAX(qp_attr, dest_qp_num, uint32_t, 0xffffff)
SET_GET(qp_attr, allow_remote_write, int)
SET_GET(qp_attr, allow_remote_read, int)
SET_GET_MAX(qp_attr, atomic_mode, enum doca_verbs_qp_atomic_mode,
	    DOCA_VERBS_QP_ATOMIC_MODE_UP_TO_256BYTES)
SET_GET(qp_attr, pkey_index, uint16_t)
SET_GET_MAX(qp_attr, port_num, uint16_t, UINT8_MAX)
SET_GET_MAX(qp_attr, ack_timeout, uint16_t, 31)
SET_GET_MAX(qp_attr, retry_cnt, uint16_t, 7)
SET_GET_MAX(qp_attr, rnr_retry, uint16_t, 7)
SET_GET_MAX(qp_attr, min_rnr_timer, uint16_t, 31)
SET_GET(qp_attr, max_rd_atomic, uint8_t)
SET_GET(qp_attr, max_dest_rd_atomic, uint8_t)

EXPORT doca_error_t doca_verbs_qp_attr_set_ah_attr(struct doca_verbs_qp_attr *verbs_qp_attr,
						   struct doca_verbs_ah_attr *ah_attr)
{
	if (!verbs_qp_attr || !ah_attr)
		return DOCA_ERROR_INVALID_VALUE;
	verbs_qp_attr->ah_attr = *ah_attr;
	verbs_qp_attr->has_ah_attr = true;
	return DOCA_SUCCESS;
}

EXPORT struct doca_verbs_ah_attr *
doca_verbs_qp_attr_get_ah_attr(const struct doca_verbs_qp_attr *verbs_qp_attr)
{
	struct doca_verbs_qp_attr *attr = (struct doca_verbs_qp_attr *)verbs_qp_attr;

	return attr && attr->has_ah_attr ? &attr->ah_attr : NULL;
}
