// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Addresses.
 */
#include "verbs.h"

EXPORT doca_error_t doca_verbs_ah_attr_create(struct doca_verbs_context *verbs_context,
					      struct doca_verbs_ah_attr **verbs_ah_attr)
{
	struct doca_verbs_ah_attr *attr;

	if (!verbs_context || !verbs_ah_attr)
		return DOCA_ERROR_INVALID_VALUE;
	attr = calloc(1, sizeof(*attr));
	if (!attr)
		return DOCA_ERROR_NO_MEMORY;
	*verbs_ah_attr = attr;
	return DOCA_SUCCESS;
}

ATTR_DESTROY(ah_attr)

SET_MAX(ah_attr, addr_type, enum doca_verbs_addr_type, DOCA_VERBS_ADDR_TYPE_IB_NO_GRH)
SET(ah_attr, gid, struct doca_verbs_gid)
SET_MAX(ah_attr, dlid, uint32_t, 0xffff)
SET_MAX(ah_attr, sl, uint8_t, 15)
SET(ah_attr, sgid_index, uint8_t)
SET(ah_attr, static_rate, uint8_t)
SET(ah_attr, hop_limit, uint8_t)
SET(ah_attr, traffic_class, uint8_t)

GET_AS(ah, ah_attr, addr_type, enum doca_verbs_addr_type)
GET_AS(ah, ah_attr, dlid, uint32_t)
GET_AS(ah, ah_attr, sl, uint8_t)
GET_AS(ah, ah_attr, sgid_index, uint8_t)
GET_AS(ah, ah_attr, static_rate, uint8_t)
GET_AS(ah, ah_attr, hop_limit, uint8_t)
GET_AS(ah, ah_attr, traffic_class, uint8_t)

EXPORT struct doca_verbs_gid doca_verbs_ah_get_gid(const struct doca_verbs_ah_attr *verbs_ah_attr)
{
	const struct doca_verbs_gid none = { { 0 } };

	return verbs_ah_attr ? verbs_ah_attr->gid : none;
}
