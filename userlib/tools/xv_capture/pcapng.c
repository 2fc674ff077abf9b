// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A block has its type, its length, its contents in multiples of 4 bytes, and the length again.
 * Contents may end with options.  Numbers are in the order of this host, which the first block
 * shows.
 */
#include <string.h>
#include "pcapng.h"

enum {
	SECTION_HEADER		= 0x0a0d0d0a,
	INTERFACE_DESCRIPTION	= 1,
	INTERFACE_STATISTICS	= 5,
	ENHANCED_PACKET		= 6,

	BYTE_ORDER_MAGIC	= 0x1a2b3c4d,
	LINKTYPE_ETHERNET	= 1,
	NANOSECONDS		= 9,	/* 10^-9 */

	OPTION_END		= 0,
	SHB_USERAPPL		= 4,
	IF_NAME			= 2,
	IF_TSRESOL		= 9,
	EPB_FLAGS		= 2,
	ISB_IFRECV		= 4,
	ISB_OSDROP		= 7,

	FRAMING			= 12,	/* type, length, length */
};

static const char zeros[4];

static uint32_t padded(uint32_t bytes)
{
	return (bytes + 3) & ~3u;
}

static bool put(FILE *out, const void *at, size_t bytes)
{
	return fwrite(at, 1, bytes, out) == bytes;
}

static bool put32(FILE *out, uint32_t value)
{
	return put(out, &value, sizeof(value));
}

static bool put16(FILE *out, uint16_t value)
{
	return put(out, &value, sizeof(value));
}

static bool put_padded(FILE *out, const void *at, uint32_t bytes)
{
	return put(out, at, bytes) && put(out, zeros, padded(bytes) - bytes);
}

static bool put_option(FILE *out, uint16_t code, const void *value, uint16_t bytes)
{
	return put16(out, code) && put16(out, bytes) && put_padded(out, value, bytes);
}

static uint32_t option_bytes(uint32_t bytes)
{
	return 4 + padded(bytes);
}

static bool begin_block(FILE *out, uint32_t type, uint32_t contents)
{
	return put32(out, type) && put32(out, FRAMING + contents);
}

/* The options end, too. */
static bool end_block(FILE *out, uint32_t contents)
{
	return put_option(out, OPTION_END, NULL, 0) && put32(out, FRAMING + contents);
}

static bool put_time(FILE *out, uint64_t ns)
{
	return put32(out, ns >> 32) && put32(out, (uint32_t)ns);
}

static bool put_section(FILE *out, const char *program)
{
	const uint64_t unknown_length = UINT64_MAX;
	uint32_t contents = 16 + option_bytes(strlen(program)) + option_bytes(0);

	return begin_block(out, SECTION_HEADER, contents) && put32(out, BYTE_ORDER_MAGIC) &&
	       put16(out, 1) && put16(out, 0) && put(out, &unknown_length, 8) &&
	       put_option(out, SHB_USERAPPL, program, strlen(program)) && end_block(out, contents);
}

bool pcapng_begin(FILE *out, const char *program, const char *interface, uint32_t snaplen)
{
	const uint8_t resolution = NANOSECONDS;
	uint32_t contents = 8 + option_bytes(strlen(interface)) + option_bytes(1) + option_bytes(0);

	return put_section(out, program) && begin_block(out, INTERFACE_DESCRIPTION, contents) &&
	       put16(out, LINKTYPE_ETHERNET) && put16(out, 0) && put32(out, snaplen) &&
	       put_option(out, IF_NAME, interface, strlen(interface)) &&
	       put_option(out, IF_TSRESOL, &resolution, 1) && end_block(out, contents);
}

bool pcapng_frame(FILE *out, uint64_t ns, enum pcapng_direction direction, const void *frame,
		  uint32_t kept, uint32_t length)
{
	const uint32_t flags = direction;
	uint32_t contents = 20 + padded(kept) + option_bytes(4) + option_bytes(0);

	return begin_block(out, ENHANCED_PACKET, contents) && put32(out, 0) && put_time(out, ns) &&
	       put32(out, kept) && put32(out, length) && put_padded(out, frame, kept) &&
	       put_option(out, EPB_FLAGS, &flags, 4) && end_block(out, contents);
}

bool pcapng_statistics(FILE *out, uint64_t ns, uint64_t received, uint64_t dropped)
{
	uint32_t contents = 12 + 2 * option_bytes(8) + option_bytes(0);

	return begin_block(out, INTERFACE_STATISTICS, contents) && put32(out, 0) &&
	       put_time(out, ns) && put_option(out, ISB_IFRECV, &received, 8) &&
	       put_option(out, ISB_OSDROP, &dropped, 8) && end_block(out, contents);
}
