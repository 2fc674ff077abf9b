// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Functions that the open header of gpunetio names otherwise than the SDK.
 */
#include <doca_rdma_bridge.h>
#include "verbs.h"

EXPORT doca_error_t doca_verbs_dev_open(struct ibv_pd *verbs_pd, struct doca_dev **dev)
{
	return doca_rdma_bridge_open_dev_from_pd(verbs_pd, dev);
}

EXPORT doca_error_t doca_verbs_dev_close(struct doca_dev *dev)
{
	return doca_dev_close(dev);
}

EXPORT doca_error_t doca_verbs_umem_create(struct doca_dev *dev, struct doca_gpu *gpu,
					   void *address, size_t size, uint32_t access_flags,
					   int dmabuf_id, size_t dmabuf_offset,
					   struct doca_umem **umem)
{
	(void)gpu;
	if (dmabuf_id == (int)DOCA_VERBS_DMABUF_INVALID_FD)
		return doca_umem_create(dev, address, size, access_flags, umem);
	if (!dev || !size || !umem)
		return DOCA_ERROR_INVALID_VALUE;
	return xvd_umem_create_dmabuf(dev, address, size, dmabuf_id, dmabuf_offset, umem);
}

EXPORT doca_error_t doca_verbs_umem_destroy(struct doca_umem *umem)
{
	return doca_umem_destroy(umem);
}

EXPORT doca_error_t doca_verbs_umem_get_id(const struct doca_umem *umem, uint32_t *umem_id)
{
	return doca_umem_get_id(umem, umem_id);
}

EXPORT doca_error_t doca_verbs_umem_get_size(const struct doca_umem *umem, size_t *umem_size)
{
	return doca_umem_get_size(umem, umem_size);
}

EXPORT doca_error_t doca_verbs_umem_get_address(const struct doca_umem *umem, void **umem_address)
{
	return doca_umem_get_address(umem, umem_address);
}

EXPORT doca_error_t doca_verbs_uar_create(struct doca_dev *dev,
					  enum doca_uar_allocation_type allocation_type,
					  struct doca_uar **uar)
{
	return doca_uar_create(dev, allocation_type, uar);
}

EXPORT doca_error_t doca_verbs_uar_destroy(struct doca_uar *uar)
{
	return doca_uar_destroy(uar);
}

EXPORT doca_error_t doca_verbs_uar_id_get(const struct doca_uar *uar, uint32_t *id)
{
	return doca_uar_id_get(uar, id);
}

EXPORT doca_error_t doca_verbs_uar_reg_addr_get(const struct doca_uar *uar, void **reg_addr)
{
	return doca_uar_reg_addr_get(uar, reg_addr);
}

EXPORT doca_error_t doca_verbs_uar_dbr_less_addr_get(const struct doca_uar *uar,
						     void **dbr_less_addr)
{
	return doca_uar_dbr_less_addr_get(uar, dbr_less_addr);
}

EXPORT doca_error_t
doca_verbs_qp_init_attr_set_external_umem_dbr(struct doca_verbs_qp_init_attr *verbs_qp_init_attr,
					      struct doca_umem *external_dbr_umem,
					      uint64_t external_dbr_umem_offset)
{
	return doca_verbs_qp_init_attr_set_external_dbr_umem(verbs_qp_init_attr, external_dbr_umem,
							     external_dbr_umem_offset);
}
