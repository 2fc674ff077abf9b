/* SPDX-License-Identifier: GPL-2.0 */
/* The CRC of Ethernet, eight bytes at a time: each has a table of its own. */
#ifndef SHIM_CRC32_H
#define SHIM_CRC32_H

#include <string.h>
#include <linux/types.h>

static u32 shim_crc32_table[8][256];

/* Table t has the CRC of a byte with t bytes of zeros after it. */
__attribute__((constructor))
static void shim_crc32_init(void)
{
	u32 i, t, bit, crc;

	for (i = 0; i < 256; i++) {
		for (crc = i, bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
		shim_crc32_table[0][i] = crc;
	}
	for (t = 1; t < 8; t++)
		for (i = 0; i < 256; i++) {
			crc = shim_crc32_table[t - 1][i];
			shim_crc32_table[t][i] = crc >> 8 ^ shim_crc32_table[0][crc & 0xff];
		}
}

static inline u32 crc32_le(u32 crc, const u8 *p, size_t n)
{
	u32 t;
	u64 w;

	for (; n >= 8; p += 8, n -= 8) {
		memcpy(&w, p, 8);
		w ^= crc;
		for (crc = 0, t = 8; t--; w >>= 8)
			crc ^= shim_crc32_table[t][w & 0xff];
	}
	while (n--)
		crc = crc >> 8 ^ shim_crc32_table[0][(crc ^ *p++) & 0xff];
	return crc;
}

#endif
