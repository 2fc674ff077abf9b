// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sync events of other processes: export, and creation from an export.
 */
#include <endian.h>
#include <stdlib.h>
#include "sync_event.h"

EXPORT doca_error_t doca_sync_event_export_to_remote_net(struct doca_sync_event *event,
							 const uint8_t **data, size_t *sz)
{
	struct xvd_se_blob *blob;

	if (!event || !data || !sz)
		return DOCA_ERROR_INVALID_VALUE;
	if (!event->started)
		return DOCA_ERROR_BAD_STATE;
	if (!event->mr)
		return DOCA_ERROR_NOT_PERMITTED;
	blob = &event->blob;
	*blob = (struct xvd_se_blob) {
		.addr = htole64((uintptr_t)event->value),
		.rkey = htole32(event->mr->rkey),
	};
	xvd_blob_seal(&blob->header, XVD_BLOB_SYNC_EVENT, sizeof(*blob));
	*data = (const uint8_t *)blob;
	*sz = sizeof(*blob);
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_sync_event_remote_net_create_from_export(
	struct doca_dev *dev, const uint8_t *data, size_t sz,
	struct doca_sync_event_remote_net **se)
{
	struct doca_sync_event_remote_net *new;
	struct xvd_se_blob blob;
	doca_error_t result;

	if (!dev || !data || !se)
		return DOCA_ERROR_INVALID_VALUE;
	result = xvd_blob_open(&blob.header, XVD_BLOB_SYNC_EVENT, sizeof(blob), data, sz);
	if (result != DOCA_SUCCESS)
		return result;
	if (!blob.addr || le64toh(blob.addr) % sizeof(uint64_t) || blob.reserved)
		return DOCA_ERROR_INVALID_VALUE;
	new = malloc(sizeof(*new));
	if (!new)
		return DOCA_ERROR_NO_MEMORY;
	new->dev = dev;
	new->addr = le64toh(blob.addr);
	new->rkey = le32toh(blob.rkey);
	xvd_dev_get(dev);
	*se = new;
	return DOCA_SUCCESS;
}

EXPORT doca_error_t doca_sync_event_remote_net_destroy(struct doca_sync_event_remote_net *se)
{
	if (!se)
		return DOCA_ERROR_INVALID_VALUE;
	xvd_dev_put(se->dev);
	free(se);
	return DOCA_SUCCESS;
}

/* Events through a PCI function need a DPU whose firmware reaches the memory of its host. */
EXPORT doca_error_t doca_sync_event_export_to_remote_pci(struct doca_sync_event *event,
							 struct doca_dev *dev,
							 const uint8_t **data, size_t *sz)
{
	if (!event || !dev || !data || !sz)
		return DOCA_ERROR_INVALID_VALUE;
	return DOCA_ERROR_NOT_SUPPORTED;
}

EXPORT doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev, const uint8_t *data,
						       size_t sz, struct doca_sync_event **event)
{
	(void)sz;
	if (!dev || !data || !event)
		return DOCA_ERROR_INVALID_VALUE;
	return DOCA_ERROR_NOT_SUPPORTED;
}

#define CAP(name, answer)							\
EXPORT doca_error_t doca_sync_event_cap_is_##name##_supported(			\
	const struct doca_devinfo *devinfo)					\
{										\
	return devinfo ? (answer) : DOCA_ERROR_INVALID_VALUE;			\
}

CAP(export_to_remote_net, DOCA_SUCCESS)
CAP(export_to_remote_pci, DOCA_ERROR_NOT_SUPPORTED)
CAP(create_from_export, DOCA_ERROR_NOT_SUPPORTED)
