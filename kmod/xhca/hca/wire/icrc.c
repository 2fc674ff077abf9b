// SPDX-License-Identifier: GPL-2.0
/*
 * ICRC: a CRC-32 over the packet, in which fields that routers may change count as all ones.
 *
 * Before the packet the CRC has eight bytes of ones: the local header of InfiniBand, of which
 * each bit may change.  Only the headers are copied, because of the ones; the rest is read where
 * it is.
 */
#include <linux/crc32.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "hca.h"
#include "wire/icrc.h"

enum {
	ICRC_SEED	= 0xdebb20e3,	/* the CRC of the eight bytes */
	ICRC_MASKED	= 8,		/* bytes, at most */
	ICRC_HEADERS	= 60,		/* at most, to the end of the BTH */
};

/*
 * Bytes to the end of the BTH, bits of byte 0 that count as ones, and the other bytes that do:
 * traffic class, flow label, hop limit, checksums, and the byte of the BTH with congestion bits
 */
static const struct {
	u8 bytes, first, ones[ICRC_MASKED];
} hca_icrc_headers[] = {
	[HCA_L3_GRH]	= { 52, 0x0f, { 1, 2, 3, 7, 44 } },
	[HCA_L3_IPV6]	= { 60, 0x0f, { 1, 2, 3, 7, 46, 47, 52 } },
	[HCA_L3_IPV4]	= { 40, 0, { 1, 8, 10, 11, 26, 27, 32 } },
};

static u32 hca_icrc_library(u32 crc, const u8 *data, size_t bytes)
{
	return crc32_le(crc, data, bytes);
}

static hca_crc32_fn *hca_icrc_crc32 = hca_icrc_library;

void hca_icrc_use(hca_crc32_fn *crc32)
{
	hca_icrc_crc32 = crc32;
}

u32 hca_icrc(enum hca_l3 l3, const u8 *network, u32 bytes)
{
	const u32 n = hca_icrc_headers[l3].bytes;
	u8 headers[ICRC_HEADERS];
	u32 i, crc;

	memcpy(headers, network, n);
	headers[0] |= hca_icrc_headers[l3].first;
	for (i = 0; i < ICRC_MASKED && hca_icrc_headers[l3].ones[i]; i++)
		headers[hca_icrc_headers[l3].ones[i]] = 0xff;
	crc = crc32_le(ICRC_SEED, headers, n);
	return ~hca_icrc_crc32(crc, network + n, bytes - n);
}
