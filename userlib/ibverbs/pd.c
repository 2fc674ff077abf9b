// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Protection domains, thread domains and parent domains.  Queues of a parent domain with a
 * thread domain have no locks.
 */
#include "ibv.h"

struct ibv_pd *iv_pd_new(struct ibv_context *ctx, struct xv_pd *xv)
{
	struct pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return NULL;
	pd->xv = xv;
	pd->pub.context = ctx;
	pd->pub.handle = xv->handle;
	return &pd->pub;
}

EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *ctx)
{
	struct xv_pd *xv = xv_alloc_pd(xv_of(ctx));
	struct ibv_pd *pd;

	if (!xv)
		return iv_null();
	pd = iv_pd_new(ctx, xv);
	if (!pd)
		xv_dealloc_pd(xv);
	return pd;
}

void iv_count_user(unsigned int *users, int by)
{
	__atomic_fetch_add(users, (unsigned int)by, __ATOMIC_RELAXED);
}

static bool in_use(const unsigned int *users)
{
	return __atomic_load_n(users, __ATOMIC_RELAXED);
}

EXPORT int ibv_dealloc_pd(struct ibv_pd *pub)
{
	struct pd *pd = TO(pd, pub);
	int err;

	if (in_use(&pd->users))
		return iv_fail(EBUSY);
	if (pd->base) {
		iv_count_user(&pd->base->users, -1);
		if (pd->td)
			iv_count_user(&pd->td->users, -1);
	} else {
		err = pd->borrowed ? 0 : xv_dealloc_pd(pd->xv);
		if (err)
			return iv_result(err);
	}
	free(pd);
	return 0;
}

struct ibv_td *iv_alloc_td(struct ibv_context *ctx, struct ibv_td_init_attr *attr)
{
	struct td *td;

	if (attr->comp_mask)
		return iv_refuse(EINVAL, "thread domain: comp_mask: ");
	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;
	td->pub.context = ctx;
	return &td->pub;
}

int iv_dealloc_td(struct ibv_td *pub)
{
	struct td *td = TO(td, pub);

	if (in_use(&td->users))
		return iv_fail(EBUSY);
	free(td);
	return 0;
}

struct ibv_pd *iv_alloc_parent_domain(struct ibv_context *ctx,
				      struct ibv_parent_domain_init_attr *attr)
{
	const uint32_t known = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			       IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
	struct pd *base = TO(pd, attr->pd), *pd;

	if (!base || base->base || xv_of(base->pub.context) != xv_of(ctx))
		return iv_refuse(EINVAL, "parent domain: pd: ");
	if (attr->comp_mask & ~known)
		return iv_refuse(EINVAL, "parent domain: comp_mask: ");
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	pd->pub.context = ctx;
	pd->pub.handle = base->pub.handle;
	pd->xv = base->xv;
	pd->base = base;
	pd->td = TO(td, attr->td);
	/* As in libmlx5, one function without the other is not used. */
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS && attr->alloc && attr->free) {
		pd->alloc = attr->alloc;
		pd->free = attr->free;
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
		pd->pd_context = attr->pd_context;
	iv_count_user(&base->users, 1);
	if (pd->td)
		iv_count_user(&pd->td->users, 1);
	return &pd->pub;
}

EXPORT void ibv_unimport_pd(struct ibv_pd *pd)
{
	(void)pd;
}
