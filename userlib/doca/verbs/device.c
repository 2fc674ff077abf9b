// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Properties of a device.
 */
#include "verbs.h"

struct doca_verbs_device_attr {
	struct xv_device_attr xv;
};

EXPORT doca_error_t doca_verbs_query_device(struct doca_verbs_context *verbs_context,
					    struct doca_verbs_device_attr **verbs_device_attr)
{
	struct doca_verbs_device_attr *attr;
	int err;

	if (!verbs_context || !verbs_device_attr)
		return DOCA_ERROR_INVALID_VALUE;
	attr = calloc(1, sizeof(*attr));
	if (!attr)
		return DOCA_ERROR_NO_MEMORY;
	err = xv_query_device(verbs_context->xv, &attr->xv);
	if (err) {
		free(attr);
		return xvd_error(err);
	}
	*verbs_device_attr = attr;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_verbs_device_attr_free(struct doca_verbs_device_attr *verbs_device_attr)
{
	if (!verbs_device_attr)
		return DOCA_ERROR_INVALID_VALUE;
	free(verbs_device_attr);
	return DOCA_SUCCESS;
}

/* A value that is too great for the type is the greatest one. */
#define MAX_OF(name, type, limit)						\
EXPORT type doca_verbs_device_attr_get_##name(const struct doca_verbs_device_attr *attr)	\
{										\
	return !attr ? 0 : attr->xv.name < (limit) ? (type)attr->xv.name : (limit);	\
}

MAX_OF(max_qp, uint32_t, UINT32_MAX)
MAX_OF(max_qp_wr, uint32_t, UINT32_MAX)
MAX_OF(max_sge, uint32_t, UINT32_MAX)
MAX_OF(max_cq, uint32_t, UINT32_MAX)
MAX_OF(max_cqe, uint32_t, UINT32_MAX)
MAX_OF(max_mr, uint32_t, UINT32_MAX)
MAX_OF(max_pd, uint32_t, UINT32_MAX)
MAX_OF(max_ah, uint32_t, UINT32_MAX)
MAX_OF(max_srq, uint32_t, UINT32_MAX)
MAX_OF(max_srq_wr, uint32_t, UINT32_MAX)
MAX_OF(max_srq_sge, uint32_t, UINT32_MAX)
MAX_OF(max_pkeys, uint16_t, UINT16_MAX)
MAX_OF(max_qp_rd_atom, uint8_t, UINT8_MAX)
MAX_OF(max_qp_init_rd_atom, uint8_t, UINT8_MAX)

EXPORT doca_error_t doca_verbs_device_attr_get_is_qp_type_supported(
	const struct doca_verbs_device_attr *verbs_device_attr, uint32_t qp_type)
{
	if (!verbs_device_attr)
		return DOCA_ERROR_INVALID_VALUE;
	return qp_type <= DOCA_VERBS_QP_TYPE_UC ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

EXPORT doca_error_t doca_verbs_device_attr_get_is_cqe_inline_supported(
	const struct doca_verbs_device_attr *verbs_device_attr)
{
	if (!verbs_device_attr)
		return DOCA_ERROR_INVALID_VALUE;
	return verbs_device_attr->xv.inline_recv_sz ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

EXPORT doca_error_t doca_verbs_device_attr_get_is_send_dbr_mode_supported(
	const struct doca_verbs_device_attr *verbs_device_attr,
	enum doca_verbs_qp_send_dbr_mode send_dbr_mode)
{
	if (!verbs_device_attr)
		return DOCA_ERROR_INVALID_VALUE;
	return send_dbr_mode == DOCA_VERBS_QP_SEND_DBR_MODE_DBR_VALID ? DOCA_SUCCESS :
									DOCA_ERROR_NOT_SUPPORTED;
}

EXPORT uint8_t doca_verbs_device_attr_get_send_dbr_mode_no_dbr_ext(
	const struct doca_verbs_device_attr *verbs_device_attr)
{
	(void)verbs_device_attr;
	return 0;
}
