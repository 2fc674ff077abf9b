// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Functions of libdoca_common with the names and arguments of DOCA 2.2.
 */
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include "core.h"
#include "jobs.h"

EXPORT const char *doca_get_error_name(doca_error_t error)
{
	return doca_error_get_name(error);
}

EXPORT const char *doca_get_error_string(doca_error_t error)
{
	return doca_error_get_descr(error);
}

EXPORT doca_error_t doca_log_create_standard_backend(void)
{
	return doca_log_backend_create_standard();
}

EXPORT doca_error_t doca_devinfo_list_create(struct doca_devinfo ***dev_list, uint32_t *nb_devs)
{
	return doca_devinfo_create_list(dev_list, nb_devs);
}

EXPORT doca_error_t doca_devinfo_list_destroy(struct doca_devinfo **dev_list)
{
	return doca_devinfo_destroy_list(dev_list);
}

/* ---- Maps -------------------------------------------------------------------------------- */

EXPORT doca_error_t doca_mmap_create(const union doca_data *user_data, struct doca_mmap **mmap)
{
	doca_error_t result = xvj_core_mmap_create(mmap);

	if (result == DOCA_SUCCESS && user_data)
		result = doca_mmap_set_user_data(*mmap, *user_data);
	return result;
}

EXPORT doca_error_t doca_mmap_dev_add(struct doca_mmap *mmap, struct doca_dev *dev)
{
	return doca_mmap_add_dev(mmap, dev);
}

EXPORT doca_error_t doca_mmap_dev_rm(struct doca_mmap *mmap, struct doca_dev *dev)
{
	return doca_mmap_rm_dev(mmap, dev);
}

/* ---- Inventories ------------------------------------------------------------------------- */

EXPORT doca_error_t doca_buf_inventory_create(const union doca_data *user_data,
					      size_t num_elements, uint32_t extensions,
					      struct doca_buf_inventory **buf_inventory)
{
	doca_error_t result;

	if (extensions != DOCA_BUF_EXTENSION_NONE)
		return DOCA_ERROR_NOT_SUPPORTED;
	result = xvj_core_buf_inventory_create(num_elements, buf_inventory);
	if (result == DOCA_SUCCESS && user_data)
		result = doca_buf_inventory_set_user_data(*buf_inventory, *user_data);
	return result;
}

EXPORT doca_error_t doca_buf_inventory_buf_by_args(struct doca_buf_inventory *inventory,
						   struct doca_mmap *mmap, void *addr, size_t len,
						   void *data, size_t data_len,
						   struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_args(inventory, mmap, addr, len, data, data_len, buf);
}

EXPORT doca_error_t doca_buf_inventory_buf_by_addr(struct doca_buf_inventory *inventory,
						   struct doca_mmap *mmap, void *addr, size_t len,
						   struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_addr(inventory, mmap, addr, len, buf);
}

EXPORT doca_error_t doca_buf_inventory_buf_by_data(struct doca_buf_inventory *inventory,
						   struct doca_mmap *mmap, void *data,
						   size_t data_len, struct doca_buf **buf)
{
	return doca_buf_inventory_buf_get_by_data(inventory, mmap, data, data_len, buf);
}

/* ---- Buffers ----------------------------------------------------------------------------- */

EXPORT doca_error_t doca_buf_refcount_add(struct doca_buf *buf, uint16_t *refcount)
{
	return doca_buf_inc_refcount(buf, refcount);
}

EXPORT doca_error_t doca_buf_refcount_rm(struct doca_buf *buf, uint16_t *refcount)
{
	return doca_buf_dec_refcount(buf, refcount);
}

EXPORT doca_error_t doca_buf_refcount_get(const struct doca_buf *buf, uint16_t *refcount)
{
	return doca_buf_get_refcount(buf, refcount);
}

EXPORT doca_error_t doca_buf_list_chain(struct doca_buf *list1, struct doca_buf *list2)
{
	return doca_buf_chain_list(list1, list2);
}

EXPORT doca_error_t doca_buf_list_unchain(struct doca_buf *list1, struct doca_buf *list2)
{
	return doca_buf_unchain_list(list1, list2);
}

EXPORT doca_error_t doca_buf_list_next(struct doca_buf *buf, struct doca_buf **next_buf)
{
	return doca_buf_get_next_in_list(buf, next_buf);
}

EXPORT doca_error_t doca_buf_list_last(struct doca_buf *buf, struct doca_buf **last_buf)
{
	return doca_buf_get_last_in_list(buf, last_buf);
}

EXPORT doca_error_t doca_buf_list_num_elements(const struct doca_buf *buf, uint32_t *num_elements)
{
	return doca_buf_get_list_len(buf, num_elements);
}
