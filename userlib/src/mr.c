// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Protection domains and memory regions.
 */
#include "internal.h"

XV_EXPORT struct xv_pd *xv_alloc_pd(struct xv_context *ctx)
{
	struct xverbs_pd_alloc req = { 0 };
	struct xv_pd *pd = calloc(1, sizeof(*pd));
	int err;

	if (!pd)
		return xv_fail_null(ENOMEM, "allocate PD: out of memory");
	err = xv_ioctl(ctx->fd, XVERBS_PD_ALLOC, "allocate PD", &req, sizeof(req));
	if (err) {
		free(pd);
		errno = -err;
		return NULL;
	}
	pd->context = ctx;
	pd->handle = req.out_handle;
	pd->pdn = req.out_pdn;
	return pd;
}

XV_EXPORT int xv_dealloc_pd(struct xv_pd *pd)
{
	int err = xv_destroy_handle(to_ctx(pd->context), pd->handle, "deallocate PD", NULL);

	if (!err)
		free(pd);
	return err;
}

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
	struct xv_mr *mr = calloc(1, sizeof(*mr));
	int err;

	if (!mr)
		return xv_fail_null(ENOMEM, "register MR: out of memory");
	err = xv_ioctl(pd->context->fd, XVERBS_MR_REG, "register MR", &req, sizeof(req));
	if (err) {
		free(mr);
		errno = -err;
		return NULL;
	}
	mr->context = pd->context;
	mr->pd = pd;
	mr->addr = addr;
	mr->length = length;
	mr->handle = req.out_handle;
	mr->lkey = req.out_lkey;
	mr->rkey = req.out_rkey;
	return mr;
}

XV_EXPORT struct xv_mr *xv_reg_mr(struct xv_pd *pd, void *addr, size_t length, unsigned int access)
{
	uint64_t iova = access & XV_ACCESS_ZERO_BASED ? 0 : (uintptr_t)addr;

	return xv_reg_mr_iova(pd, addr, length, iova, access);
}

XV_EXPORT int xv_dereg_mr(struct xv_mr *mr)
{
	int err = xv_destroy_handle(to_ctx(mr->context), mr->handle, "deregister MR", NULL);

	if (!err)
		free(mr);
	return err;
}
