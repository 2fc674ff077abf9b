/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What one process exports for another: a header with a checksum, and then fields, all
 * little-endian.  Programs carry blobs through files and sockets, so they may be damaged or short.
 */
#ifndef XVDOCA_PRIVATE_BLOB_H
#define XVDOCA_PRIVATE_BLOB_H

#include <stddef.h>
#include <stdint.h>
#include <doca_error.h>

#define XVD_BLOB_MMAP		0x4d445658	/* "XVDM" */
#define XVD_BLOB_SYNC_EVENT	0x53445658	/* "XVDS" */
#define XVD_BLOB_VERSION	1

struct xvd_blob {
	uint32_t magic;
	uint32_t version;
	uint32_t size;			/* with this header */
	uint32_t checksum;		/* CRC-32 of all other bytes */
};

/* Fills the header; size: of the whole blob. */
void xvd_blob_seal(struct xvd_blob *blob, uint32_t magic, uint32_t size);

/*
 * Copies size bytes from data, which need not be aligned, and checks them.  More bytes in data, len
 * in all, do not matter.  DOCA_ERROR_INVALID_VALUE: it is no blob of this kind, or damaged.
 * DOCA_ERROR_UNSUPPORTED_VERSION
 */
doca_error_t xvd_blob_open(struct xvd_blob *blob, uint32_t magic, uint32_t size, const void *data,
			   size_t len);

#endif
