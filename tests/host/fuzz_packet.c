// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzes the reader of RoCE packets with frames that anybody on the network can send.
 *
 * The input is a frame.  It is read as it is, and again with checksums that fit, because few
 * inputs have these.  Of a packet that is accepted, the data must lie in the frame, and a packet
 * that is written with the same fields must be read as the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "wire/icrc.h"
#include "wire/packet.h"

enum { MAX_FRAME = 65536 + HCA_FRAME_HEADERS };

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "fuzz_packet: %s\n", what);
	abort();
}

static u32 get16(const u8 *at)
{
	return at[0] << 8 | at[1];
}

static void check_again(const struct hca_packet *p)
{
	static u8 frame[MAX_FRAME];
	struct hca_packet again;
	u8 *data = hca_packet_write(p, frame);

	check(data == frame + hca_packet_header_bytes(p), "the header has another length");
	memcpy(data, p->data, p->length);
	hca_packet_seal(p, frame);
	check(!hca_packet_read(&again, frame, hca_packet_bytes(p)), "written, but not read");
	check(!memcmp(p, &again, offsetof(struct hca_packet, data)), "fields have changed");
	check(!memcmp(p->data, again.data, p->length), "the data has changed");
}

static void read_frame(const u8 *frame, u32 bytes)
{
	struct hca_packet p;

	if (hca_packet_read(&p, frame, bytes))
		return;
	check(hca_packet_flags(p.opcode), "an unknown opcode");
	check(p.length <= bytes && hca_packet_bytes(&p) <= bytes, "longer than the frame");
	check(p.data == frame + hca_packet_header_bytes(&p), "the data is somewhere else");
	check(p.network == frame + (p.flow.tagged ? 18 : 14), "the network header, too");
	check_again(&p);
}

static void repair_checksum(u8 *ip)
{
	u32 sum = 0, i;

	ip[10] = ip[11] = 0;
	for (i = 0; i < 20; i += 2)
		sum += get16(ip + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~(sum + (sum >> 16));
	ip[10] = sum >> 8;
	ip[11] = sum;
}

/* The bytes of the packet at @ip, or 0 */
static u32 packet_bytes(const u8 *ip, u32 room, enum hca_l3 l3)
{
	u32 bytes;

	if (room < 40)
		return 0;
	bytes = l3 == HCA_L3_IPV4 ? get16(ip + 2) : get16(ip + 4) + 40;
	return bytes <= room ? bytes : 0;
}

/* Repairs the checksum of IPv4, and the ICRC where the packet ends. */
static void repair(u8 *frame, u32 size)
{
	static const u8 least[] = { 56, 64, 44 };
	const u32 at = get16(frame + 12) == 0x8100 ? 18 : 14;
	const u32 type = get16(frame + at - 2);
	const enum hca_l3 l3 = type == 0x0800 ? HCA_L3_IPV4 :
			       type == 0x86dd ? HCA_L3_IPV6 : HCA_L3_GRH;
	const u32 bytes = packet_bytes(frame + at, size - at, l3);
	u32 icrc, i;

	if (bytes < least[l3])
		return;
	if (l3 == HCA_L3_IPV4)
		repair_checksum(frame + at);
	icrc = hca_icrc(l3, frame + at, bytes - 4);
	for (i = 0; i < 4; i++)
		frame[at + bytes - 4 + i] = icrc >> 8 * i;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u8 *copy;

	read_frame(data, size);
	if (size < 18)
		return 0;
	copy = malloc(size);
	memcpy(copy, data, size);
	repair(copy, size);
	read_frame(copy, size);
	free(copy);
	return 0;
}
