// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory regions.
 */
#include "ibv.h"

#define ACCESS_OF_REGIONS	((unsigned int)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
					IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | \
					IBV_ACCESS_MW_BIND))

/*
 * Optional flags that xverbs does not know are left out, and the hint for large pages.  mlx5_ib
 * ignores ZERO_BASED: addresses begin at iova.
 */
static unsigned int access_of(unsigned int access)
{
	const unsigned int optional = IBV_ACCESS_OPTIONAL_RANGE & ~IBV_ACCESS_RELAXED_ORDERING;

	return access & ~(optional | IBV_ACCESS_HUGETLB | IBV_ACCESS_ZERO_BASED);
}

/* For a flag that it does not know, the kernel says EINVAL. */
static bool is_known(unsigned int access)
{
	const unsigned int known = ACCESS_OF_REGIONS | IBV_ACCESS_ON_DEMAND |
				   IBV_ACCESS_RELAXED_ORDERING;

	return !(access_of(access) & ~known);
}

static void take(struct mr *mr, struct ibv_pd *pd)
{
	const struct xv_mr *xv = mr->xv;

	mr->pub = (struct ibv_mr) {
		.context = pd->context,
		.pd = pd,
		.addr = xv->addr,
		.length = xv->length,
		.handle = xv->handle,
		.lkey = xv->lkey,
		.rkey = xv->rkey,
	};
}

static struct ibv_mr *mr_new(struct ibv_pd *pd, struct xv_mr *xv, unsigned int access)
{
	struct mr *mr;

	if (!xv)
		return iv_null();
	mr = calloc(1, sizeof(*mr));
	if (!mr) {
		xv_dereg_mr(xv);
		return NULL;
	}
	mr->xv = xv;
	mr->zero_based = access & IBV_ACCESS_ZERO_BASED;
	take(mr, pd);
	return &mr->pub;
}

EXPORT struct ibv_mr *iv_mkey_mr(struct ibv_pd *pd, struct xv_mkey *mkey)
{
	struct mr *mr = calloc(1, sizeof(*mr));

	if (!mr)
		return NULL;
	mr->mkey = mkey;
	mr->pub = (struct ibv_mr) {
		.context = pd->context,
		.pd = pd,
		.handle = mkey->handle,
		.lkey = mkey->lkey,
		.rkey = mkey->rkey,
	};
	return &mr->pub;
}

EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
				       uint64_t iova, unsigned int access)
{
	if (!is_known(access))
		return iv_refuse(EINVAL, "register memory: access: ");
	return mr_new(pd, xv_reg_mr_iova(TO(pd, pd)->xv, addr, length, iova, access_of(access)),
		      access);
}

EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length,
				      uint64_t iova, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, iova, (unsigned int)access);
}

EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, (unsigned int)access);
}

EXPORT struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
					uint64_t iova, int fd, int access)
{
	return mr_new(pd, xv_reg_dmabuf_mr(TO(pd, pd)->xv, offset, length, iova, fd,
					   access_of((unsigned int)access)), (unsigned int)access);
}

EXPORT int ibv_rereg_mr(struct ibv_mr *pub, int flags, struct ibv_pd *pd, void *addr,
			size_t length, int access)
{
	struct mr *mr = TO(mr, pub);
	struct ibv_pd *to = flags & IBV_REREG_MR_CHANGE_PD ? pd : pub->pd;
	int err;

	if (flags & ~IBV_REREG_MR_FLAGS_SUPPORTED || !to || mr->mkey ||
	    (flags & IBV_REREG_MR_CHANGE_TRANSLATION && (!length || !addr)) ||
	    (access && !(flags & IBV_REREG_MR_CHANGE_ACCESS))) {
		errno = EINVAL;
		return IBV_REREG_MR_ERR_INPUT;
	}
	if (!is_known((unsigned int)access)) {
		errno = EINVAL;
		return IBV_REREG_MR_ERR_CMD;
	}
	err = xv_rereg_mr(mr->xv, (unsigned int)flags, TO(pd, to)->xv, addr, length,
			  access_of((unsigned int)access));
	if (err) {
		iv_result(err);
		return IBV_REREG_MR_ERR_CMD;
	}
	take(mr, to);
	return 0;
}

EXPORT int ibv_dereg_mr(struct ibv_mr *pub)
{
	struct mr *mr = TO(mr, pub);
	int err = mr->mkey ? xv_destroy_mkey(mr->mkey) : xv_dereg_mr(mr->xv);

	if (!err)
		free(mr);
	return iv_result(err);
}

EXPORT void ibv_unimport_mr(struct ibv_mr *mr)
{
	(void)mr;
}

EXPORT void ibv_unimport_dm(struct ibv_dm *dm)
{
	(void)dm;
}
