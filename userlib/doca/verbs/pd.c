// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Protection domains, and those of libibverbs.
 */
#include "verbs.h"

EXPORT doca_error_t doca_verbs_pd_create(struct doca_verbs_context *verbs_context,
					 struct doca_verbs_pd **verbs_pd)
{
	struct doca_verbs_pd *pd;

	if (!verbs_context || !verbs_pd)
		return DOCA_ERROR_INVALID_VALUE;
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return DOCA_ERROR_NO_MEMORY;
	pd->xv = xv_alloc_pd(verbs_context->xv);
	if (!pd->xv) {
		free(pd);
		return xvd_error(errno);
	}
	pd->ctx = verbs_context;
	count(&pd->ctx->users, 1);
	*verbs_pd = pd;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_verbs_bridge_verbs_pd_import(struct ibv_pd *pd,
						      struct doca_verbs_pd **verbs_pd)
{
	struct doca_verbs_pd *new;

	if (!pd || !verbs_pd)
		return DOCA_ERROR_INVALID_VALUE;
	new = calloc(1, sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	new->xv = xvd_import_pd(pd);
	if (!new->xv) {
		free(new);
		return xvd_error(errno);
	}
	new->ibv.pd = pd;
	new->ibv.imported = true;
	*verbs_pd = new;
	return DOCA_SUCCESS;
}

/* What libibverbs made in the domain uses it, so the adapter's part goes first: it can refuse. */
EXPORT doca_error_t doca_verbs_pd_destroy(struct doca_verbs_pd *verbs_pd)
{
	int err;

	if (!verbs_pd)
		return DOCA_ERROR_INVALID_VALUE;
	if (in_use(&verbs_pd->users))
		return DOCA_ERROR_IN_USE;
	err = verbs_pd->ctx ? xv_dealloc_pd(verbs_pd->xv) : xvd_release_pd(verbs_pd->xv);
	if (err)
		return xvd_error(err);
	xvd_ibv_free(&verbs_pd->ibv);
	if (verbs_pd->ctx)
		count(&verbs_pd->ctx->users, -1);
	free(verbs_pd);
	return DOCA_SUCCESS;
}

EXPORT struct ibv_pd *doca_verbs_bridge_verbs_pd_get_ibv_pd(const struct doca_verbs_pd *verbs_pd)
{
	struct doca_verbs_pd *pd = (struct doca_verbs_pd *)verbs_pd;

	return pd ? xvd_ibv_get(&pd->ibv, pd->xv) : NULL;
}

static void device_closed(void *owner)
{
	struct doca_verbs_pd *pd = owner;

	count(&pd->users, -1);
}

EXPORT doca_error_t doca_verbs_pd_as_doca_dev(struct doca_verbs_pd *verbs_pd, struct doca_dev **dev)
{
	doca_error_t result;

	if (!verbs_pd || !dev)
		return DOCA_ERROR_INVALID_VALUE;
	result = xvd_dev_borrow(verbs_pd->xv->context, verbs_pd->xv, &verbs_pd->ibv, device_closed,
				verbs_pd, dev);
	if (result == DOCA_SUCCESS)
		count(&verbs_pd->users, 1);
	return result;
}
