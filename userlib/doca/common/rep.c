// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Representors.  A program that offers them as an option links with these functions; no adapter
 * of xverbs has any.
 */
#include "internal.h"

EXPORT doca_error_t doca_devinfo_rep_cap_is_filter_net_supported(const struct doca_devinfo *devinfo,
								 uint8_t *supported)
{
	if (!devinfo || !supported)
		return DOCA_ERROR_INVALID_VALUE;
	*supported = 0;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_devinfo_rep_create_list(struct doca_dev *dev, int filter,
						 struct doca_devinfo_rep ***dev_list_rep,
						 uint32_t *nb_devs_rep)
{
	(void)filter;
	return !dev || !dev_list_rep || !nb_devs_rep ? DOCA_ERROR_INVALID_VALUE :
						       DOCA_ERROR_NOT_SUPPORTED;
}

EXPORT doca_error_t doca_devinfo_rep_destroy_list(struct doca_devinfo_rep **dev_list_rep)
{
	(void)dev_list_rep;
	return DOCA_ERROR_INVALID_VALUE;
}

EXPORT doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep,
					      char *rep_vuid, uint32_t size)
{
	(void)devinfo_rep;
	(void)rep_vuid;
	(void)size;
	return DOCA_ERROR_INVALID_VALUE;
}

EXPORT doca_error_t doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *devinfo_rep,
						       const char *pci_addr, uint8_t *is_equal)
{
	(void)devinfo_rep;
	(void)pci_addr;
	(void)is_equal;
	return DOCA_ERROR_INVALID_VALUE;
}

EXPORT doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo, struct doca_dev_rep **dev)
{
	(void)devinfo;
	(void)dev;
	return DOCA_ERROR_INVALID_VALUE;
}

EXPORT doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev)
{
	(void)dev;
	return DOCA_ERROR_INVALID_VALUE;
}
