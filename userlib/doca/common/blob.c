// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Exports: the header and its checksum.  See blob.h.
 */
#include <string.h>
#include "blob.h"
#include "internal.h"

/* CRC-32 as in Ethernet, for which a table would be larger than all blobs */
static uint32_t crc(const void *data, size_t len)
{
	const uint8_t *p = data;
	uint32_t sum = ~0u;
	int bit;

	while (len--) {
		sum ^= *p++;
		for (bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
	}
	return ~sum;
}

EXPORT void xvd_blob_seal(struct xvd_blob *blob, uint32_t magic, uint32_t size)
{
	blob->magic = magic;
	blob->version = XVD_BLOB_VERSION;
	blob->size = size;
	blob->checksum = 0;
	blob->checksum = crc(blob, size);
}

EXPORT doca_error_t xvd_blob_open(struct xvd_blob *blob, uint32_t magic, uint32_t size,
				  const void *data, size_t len)
{
	uint32_t checksum;

	if (len < sizeof(*blob))
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(blob, data, sizeof(*blob));
	if (blob->magic != magic)
		return DOCA_ERROR_INVALID_VALUE;
	if (blob->version != XVD_BLOB_VERSION)
		return DOCA_ERROR_UNSUPPORTED_VERSION;
	if (blob->size != size || len < size)
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(blob, data, size);
	checksum = blob->checksum;
	blob->checksum = 0;
	return crc(blob, size) == checksum ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}
