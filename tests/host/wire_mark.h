/* SPDX-License-Identifier: GPL-2.0 */
/* What a switch does to a frame when its queue is long: it sets both ECN bits. */
#ifndef WIRE_MARK_H
#define WIRE_MARK_H

#include <linux/types.h>

/* An untagged IPv4 frame; false if it is none or is not capable of ECN. */
static inline bool wire_mark(u8 *frame)
{
	u8 *ip = frame + 14;
	u16 checksum = ip[10] << 8 | ip[11], word = ip[0] << 8 | ip[1];
	u32 sum;

	if (frame[12] != 0x08 || frame[13] || !(ip[1] & 3))
		return false;
	/* RFC 1624, for the word with the changed byte; the ICRC does not cover it */
	sum = (checksum ^ 0xffff) + (word ^ 0xffff);
	ip[1] |= 3;
	sum += ip[0] << 8 | ip[1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	ip[10] = sum >> 8;
	ip[11] = sum;
	return true;
}

#endif
