// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Contexts: opened from an entry of the list of devices or of libibverbs, or imported.
 */
#include "verbs.h"

/* xv is NULL if it could not be opened; then errno is set. */
static doca_error_t context_new(struct xv_context *xv, bool imported,
				struct doca_verbs_context **context)
{
	struct doca_verbs_context *new;
	int err;

	if (!xv)
		return xvd_error(errno);
	new = calloc(1, sizeof(*new));
	err = new ? xv_query_device(xv, &new->attr) : -ENOMEM;
	if (err) {
		free(new);
		if (imported)
			xvd_release_ctx(xv);
		else
			xv_close(xv);
		return xvd_error(err);
	}
	new->xv = xv;
	new->imported = imported;
	*context = new;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_verbs_context_create(struct doca_devinfo *devinfo, uint32_t flags,
					      struct doca_verbs_context **verbs_context)
{
	if (!devinfo || flags || !verbs_context)
		return DOCA_ERROR_INVALID_VALUE;
	return context_new(xv_open_device(&devinfo->xv), false, verbs_context);
}

EXPORT doca_error_t
doca_verbs_bridge_verbs_context_create(struct ibv_device *ibv_dev, uint32_t flags,
				       struct doca_verbs_context **verbs_context)
{
	if (!ibv_dev || flags || !verbs_context)
		return DOCA_ERROR_INVALID_VALUE;
	return context_new(xv_open(ibv_get_device_name(ibv_dev)), false, verbs_context);
}

EXPORT doca_error_t
doca_verbs_bridge_verbs_context_import(struct ibv_context *ibv_ctx, uint32_t flags,
				       struct doca_verbs_context **verbs_context)
{
	if (!ibv_ctx || flags || !verbs_context)
		return DOCA_ERROR_INVALID_VALUE;
	return context_new(xvd_import_ctx(ibv_ctx), true, verbs_context);
}

EXPORT doca_error_t doca_verbs_context_destroy(struct doca_verbs_context *verbs_context)
{
	if (!verbs_context)
		return DOCA_ERROR_INVALID_VALUE;
	if (in_use(&verbs_context->users))
		return DOCA_ERROR_IN_USE;
	if (verbs_context->imported)
		xvd_release_ctx(verbs_context->xv);
	else
		xv_close(verbs_context->xv);
	free(verbs_context);
	return DOCA_SUCCESS;
}

EXPORT doca_event_handle_t doca_verbs_context_get_handle(struct doca_verbs_context *verbs_context)
{
	return verbs_context ? verbs_context->xv->fd : doca_event_invalid_handle;
}
