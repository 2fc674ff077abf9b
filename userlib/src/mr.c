// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory regions and memory windows.
 */
#include "internal.h"

XV_EXPORT struct xv_mr *xv_reg_mr_iova(struct xv_pd *pd, void *addr, size_t length, uint64_t iova,
				       unsigned int access)
{
	struct xverbs_mr_reg req = {
		.pd = pd->handle,
		.access = access,
		.addr = (uintptr_t)addr,
		.length = length,
		.iova = iova,
	};
	struct xv_mr *mr = xv_object_create(pd->context, XVERBS_MR_REG, "register MR", &req,
					    sizeof(req), sizeof(*mr), NULL);

	if (!mr)
		return NULL;
	if (access & XV_ACCESS_LOCAL_WRITE)
		xv_is_written(addr, length);
	*mr = (struct xv_mr) {
		.context = pd->context,
		.pd = pd,
		.addr = addr,
		.length = length,
		.handle = req.out_handle,
		.lkey = req.out_lkey,
		.rkey = req.out_rkey,
	};
	xv_object_add(mr, req.out_handle);
	return mr;
}

XV_EXPORT struct xv_mr *xv_reg_mr(struct xv_pd *pd, void *addr, size_t length, unsigned int access)
{
	uint64_t iova = access & XV_ACCESS_ZERO_BASED ? 0 : (uintptr_t)addr;

	return xv_reg_mr_iova(pd, addr, length, iova, access);
}

XV_EXPORT struct xv_mr *xv_reg_dmabuf_mr(struct xv_pd *pd, uint64_t offset, size_t length,
					 uint64_t iova, int fd, unsigned int access)
{
	struct xverbs_mr_dmabuf req = {
		.pd = pd->handle,
		.access = access,
		.offset = offset,
		.length = length,
		.iova = iova,
		.fd = fd,
	};
	struct xv_mr *mr = xv_object_create(pd->context, XVERBS_MR_DMABUF, "register dma-buf", &req,
					    sizeof(req), sizeof(*mr), NULL);

	if (!mr)
		return NULL;
	*mr = (struct xv_mr) {
		.context = pd->context,
		.pd = pd,
		.length = length,
		.handle = req.out_handle,
		.lkey = req.out_lkey,
		.rkey = req.out_rkey,
	};
	xv_object_add(mr, req.out_handle);
	return mr;
}

XV_EXPORT int xv_rereg_mr(struct xv_mr *mr, unsigned int flags, struct xv_pd *pd, void *addr,
			  size_t length, unsigned int access)
{
	struct xverbs_mr_rereg req = { .mr = mr->handle, .change = flags };
	int err;

	if (flags & XV_REREG_MR_CHANGE_PD) {
		err = XV_CHECK_USED(to_ctx(mr->context), "re-register MR", pd);
		if (err)
			return err;
		req.pd = pd->handle;
	}
	if (flags & XV_REREG_MR_CHANGE_ACCESS)
		req.access = access;
	if (flags & XV_REREG_MR_CHANGE_TRANSLATION) {
		req.addr = req.iova = (uintptr_t)addr;
		req.length = length;
	}
	err = xv_ioctl(mr->context, XVERBS_MR_REREG, "re-register MR", &req, sizeof(req));
	if (err)
		return err;
	if (flags & XV_REREG_MR_CHANGE_PD)
		mr->pd = pd;
	if (flags & XV_REREG_MR_CHANGE_TRANSLATION) {
		xv_is_written(addr, length);
		mr->addr = addr;
		mr->length = length;
	}
	mr->lkey = req.out_lkey;
	mr->rkey = req.out_rkey;
	return 0;
}

XV_EXPORT int xv_dereg_mr(struct xv_mr *mr)
{
	return xv_object_destroy(mr, "deregister MR");
}

XV_EXPORT struct xv_mw *xv_alloc_mw(struct xv_pd *pd, enum xv_mw_type type)
{
	struct xverbs_mw_alloc req = { .pd = pd->handle, .type = type };
	struct xv_mw *mw = xv_object_create(pd->context, XVERBS_MW_ALLOC, "allocate MW", &req,
					    sizeof(req), sizeof(*mw), NULL);

	if (!mw)
		return NULL;
	*mw = (struct xv_mw) {
		.context = pd->context,
		.pd = pd,
		.handle = req.out_handle,
		.rkey = req.out_rkey,
		.type = type,
	};
	xv_object_add(mw, req.out_handle);
	return mw;
}

XV_EXPORT int xv_dealloc_mw(struct xv_mw *mw)
{
	return xv_object_destroy(mw, "deallocate MW");
}
