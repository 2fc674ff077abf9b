// SPDX-License-Identifier: GPL-2.0
/*
 * RoCE packets: the fields of known packets, packets from fields, and what is refused.
 */
#include <string.h>
#include <linux/kernel.h>
#include "random.h"
#include "tap.h"
#include "wire/icrc.h"
#include "wire/packet.h"

enum {
	ETH		= 14,
	VLAN		= 4,
	MAX_FRAME	= HCA_FRAME_HEADERS + 4096 + 8,
	GRH_BTH		= 40,		/* offsets of the BTH from the network header */
	IPV6_BTH	= 48,
	IPV4_BTH	= 28,
};

#define MAPPED(a, b, c, d)	{ [10] = 0xff, 0xff, a, b, c, d }
#define LOCAL(n)		{ 0xfe, 0x80, [11] = 0xff, 0xfe, [15] = n }
#define GLOBAL(n)		{ 0x20, 0x01, 0x0d, 0xb8, [15] = n }

/* Packets from 192.0.2.10 to 192.0.2.20, and back; other addresses end with a and b. */
#define V4(class) {								\
	.l3 = HCA_L3_IPV4, .tclass = class, .hop_limit = 64, .sport = 0xc123,	\
	.sgid = MAPPED(192, 0, 2, 10), .dgid = MAPPED(192, 0, 2, 20),		\
}
#define V4_BACK(class) {							\
	.l3 = HCA_L3_IPV4, .tclass = class, .hop_limit = 64, .sport = 0xc123,	\
	.sgid = MAPPED(192, 0, 2, 20), .dgid = MAPPED(192, 0, 2, 10),		\
}
#define V6 {									\
	.l3 = HCA_L3_IPV6, .tclass = 0x6a, .flow_label = 0x12345,		\
	.hop_limit = 64, .sport = 0xc123, .sgid = GLOBAL(10), .dgid = GLOBAL(11),	\
}
#define V1 {									\
	.l3 = HCA_L3_GRH, .tclass = 0x6a, .flow_label = 0x12345,		\
	.hop_limit = 64, .sgid = LOCAL(10), .dgid = LOCAL(11),			\
}

/*
 * The first ones were calculated by hand from the specification; "foreign" ones are from others
 * and have fields that xhca does not write.
 */
static const struct vector {
	const char *name;
	bool foreign;
	const char *bytes;		/* from the network header, in hexadecimal */
	const char *data;
	struct hca_packet p;
} vectors[] = {
	{
		"W1, SEND", false,
		"456a0034000040004011b630c000020ac0000214 c12312b700200000"
		"0470ffff0000012380456789 68656c6c6f000000 2ae6d711", "68656c6c6f",
		{ .flow = V4(0x6a), .opcode = 0x04, .migrated = true, .ack_request = true,
		  .pkey = 0xffff, .dqpn = 0x123, .psn = 0x456789, .length = 5 },
	}, {
		"W2, WRITE, IPv6", false,
		"66a123450038114020010db800000000000000000000000a"
		"20010db800000000000000000000000b c12312b700380000"
		"0a40ffff000001238045678a 00007f001234500000abcd0100000010"
		"000102030405060708090a0b0c0d0e0f 9122acca", "000102030405060708090a0b0c0d0e0f",
		{ .flow = V6, .opcode = 0x0a, .migrated = true, .ack_request = true,
		  .pkey = 0xffff, .dqpn = 0x123, .psn = 0x45678a, .addr = 0x7f0012345000,
		  .key = 0x00abcd01, .dma_length = 16, .length = 16 },
	}, {
		"W3, ACK", false,
		"45680030000040004011b636c0000214c000020a c12312b7001c0000"
		"1140ffff0000032100456789 1f000007 d448ca92", "",
		{ .flow = V4_BACK(0x68), .opcode = 0x11, .migrated = true, .pkey = 0xffff,
		  .dqpn = 0x321, .psn = 0x456789, .syndrome = HCA_AETH_UNLIMITED, .msn = 7 },
	}, {
		"W4, RNR NAK", false,
		"45680030000040004011b636c0000214c000020a c12312b7001c0000"
		"1140ffff000003210045678a 2c000007 4b65f437", "",
		{ .flow = V4_BACK(0x68), .opcode = 0x11, .migrated = true, .pkey = 0xffff,
		  .dqpn = 0x321, .psn = 0x45678a, .syndrome = HCA_AETH_RNR | 12, .msn = 7 },
	}, {
		"W5, NAK of the sequence", false,
		"45680030000040004011b636c0000214c000020a c12312b7001c0000"
		"1140ffff000003210045678a 60000007 ce8236e6", "",
		{ .flow = V4_BACK(0x68), .opcode = 0x11, .migrated = true, .pkey = 0xffff,
		  .dqpn = 0x321, .psn = 0x45678a, .syndrome = HCA_AETH_NAK | HCA_NAK_SEQUENCE,
		  .msn = 7 },
	}, {
		"W6, CNP", false,
		"45c0003c000040004011b5d2c0000214c000020a c12312b700280000"
		"8100ffff4000032100000000 00000000000000000000000000000000 56f8a2a9", "",
		{ .flow = V4_BACK(0xc0), .opcode = 0x81, .becn = true, .pkey = 0xffff,
		  .dqpn = 0x321 },
	}, {
		"W7, SEND, RoCEv1", false,
		"66a1234500181b40fe80000000000000000000fffe00000a"
		"fe80000000000000000000fffe00000b"
		"0470ffff0000012380456789 68656c6c6f000000 f0573640", "68656c6c6f",
		{ .flow = V1, .opcode = 0x04, .migrated = true, .ack_request = true,
		  .pkey = 0xffff, .dqpn = 0x123, .psn = 0x456789, .length = 5 },
	}, {
		"W8, FETCH & ADD", false,
		"456a0048000040004011b61cc000020ac0000214 c12312b700340000"
		"1440ffff000001238045678b"
		"00007f001234500800abcd0100000000000000050000000000000000 abb58b0a", "",
		{ .flow = V4(0x6a), .opcode = 0x14, .migrated = true, .ack_request = true,
		  .pkey = 0xffff, .dqpn = 0x123, .psn = 0x45678b, .addr = 0x7f0012345008,
		  .key = 0x00abcd01, .swap_add = 5 },
	}, {
		"W9, READ request", false,
		"456a003c000040004011b628c000020ac0000214 c12312b700280000"
		"0c40ffff000001238045678c 00007f001234500000abcd0100001001 11bd97d5", "",
		{ .flow = V4(0x6a), .opcode = 0x0c, .migrated = true, .ack_request = true,
		  .pkey = 0xffff, .dqpn = 0x123, .psn = 0x45678c, .addr = 0x7f0012345000,
		  .key = 0x00abcd01, .dma_length = 4097 },
	}, {
		"P1, probe", false,
		"456a0040000040004011b624c000020ac0000214 c12312b7002c0000"
		"df40ffff0000012300000000 10000321 0102030405060708 0000000000000000 fc82294e", "",
		{ .flow = V4(0x6a), .opcode = 0xdf, .migrated = true, .pkey = 0xffff,
		  .dqpn = 0x123, .sqpn = 0x321, .token = 0x0102030405060708 },
	}, {
		"P2, answer to a probe", false,
		"456a0040000040004011b624c000020ac0000214 c12312b7002c0000"
		"df40ffff0000032100000000 11000321 0102030405060708 1112131415161718 024d9397", "",
		{ .flow = V4(0x6a), .opcode = 0xdf, .migrated = true, .pkey = 0xffff,
		  .dqpn = 0x321, .sqpn = 0x321, .answer = true, .token = 0x0102030405060708,
		  .time = 0x1112131415161718 },
	}, {
		"P3, WRITE with immediate of DC", false,
		"456a0058000040004011b60cc000020ac0000214 c12312b700440000"
		"cb40ffff0000012380456789 13000321 0102030405060708 1122334455667788"
		"00007f001234500000abcd0100000004 01020304 61626364 db244d3c", "61626364",
		{ .flow = V4(0x6a), .opcode = 0xcb, .migrated = true, .ack_request = true,
		  .pkey = 0xffff, .dqpn = 0x123, .psn = 0x456789, .sqpn = 0x321, .mtu = 3,
		  .session = 0x0102030405060708, .dc_key = 0x1122334455667788,
		  .addr = 0x7f0012345000, .key = 0x00abcd01, .dma_length = 4, .imm = 0x01020304,
		  .length = 4 },
	}, {
		"P4, ACK of DC", false,
		"456a003c000040004011b628c000020ac0000214 c12312b700280000"
		"d140ffff0000032100456789 10000000 0102030405060708 1f000007 20d821b0", "",
		{ .flow = V4(0x6a), .opcode = 0xd1, .migrated = true, .pkey = 0xffff,
		  .dqpn = 0x321, .psn = 0x456789, .session = 0x0102030405060708,
		  .syndrome = HCA_AETH_UNLIMITED, .msn = 7 },
	}, {
		"P5, masked CMP & SWAP of 4 bytes, XRC", false,
		"456a0054000040004011b610c000020ac0000214 c12312b700400000"
		"dc40ffff0000012380456789 10000000 00000456 00007f001234500000abcd01 00020000"
		"000102030405060708090a0b0c0d0e0f a0276339", "000102030405060708090a0b0c0d0e0f",
		{ .flow = V4(0x6a), .opcode = 0xdc, .migrated = true, .ack_request = true,
		  .pkey = 0xffff, .dqpn = 0x123, .psn = 0x456789, .srqn = 0x456,
		  .addr = 0x7f0012345000, .key = 0x00abcd01, .log_operand = 2, .length = 16 },
	}, {
		"P6, masked FETCH & ADD of 8 bytes", false,
		"456a0050000040004011b614c000020ac0000214 c12312b7003c0000"
		"da40ffff0000012380456789 10000000 00007f001234500000abcd01 01030000"
		"000102030405060708090a0b0c0d0e0f 848efde4", "000102030405060708090a0b0c0d0e0f",
		{ .flow = V4(0x6a), .opcode = 0xda, .migrated = true, .ack_request = true,
		  .pkey = 0xffff, .dqpn = 0x123, .psn = 0x456789, .addr = 0x7f0012345000,
		  .key = 0x00abcd01, .add = true, .log_operand = 3, .length = 16 },
	}, {
		"P7, its answer", false,
		"456a003c000040004011b628c000020ac0000214 c12312b700280000"
		"db40ffff0000032100456789 10000000 1f000007 0001020304050607 acefc9ac",
		"0001020304050607",
		{ .flow = V4(0x6a), .opcode = 0xdb, .migrated = true, .pkey = 0xffff,
		  .dqpn = 0x321, .psn = 0x456789, .syndrome = HCA_AETH_UNLIMITED, .msn = 7,
		  .length = 8 },
	}, {
		/* From the tests of scapy */
		"UC SEND", true,
		"45010040047840004011b4d5c0a80007c0a80007 c00012b7002caca2"
		"2460ffff000000d300cf1710"
		"4630818be28935d90e9a95505401be885e500000 78f353f3",
		"4630818be28935d90e9a95505401be885e50",
		{ .flow = { .l3 = HCA_L3_IPV4, .tclass = 1, .hop_limit = 64, .sport = 0xc000,
			    .sgid = MAPPED(192, 168, 0, 7), .dgid = MAPPED(192, 168, 0, 7) },
		  .opcode = 0x24, .migrated = true, .pkey = 0xffff, .dqpn = 0xd3,
		  .psn = 0xcf1710, .length = 18 },
	}, {
		"CNP of a ConnectX-4 Lx", true,
		"45c2003c718c4000401191610a0011010a001201 000012b700280000"
		"8100ffff4000011800000000 00000000000000000000000000000000 82fd002a", "",
		{ .flow = { .l3 = HCA_L3_IPV4, .tclass = 0xc2, .hop_limit = 64,
			    .sgid = MAPPED(10, 0, 17, 1), .dgid = MAPPED(10, 0, 18, 1) },
		  .opcode = 0x81, .becn = true, .pkey = 0xffff, .dqpn = 0x118 },
	}, {
		/* By an FPGA: fragments are allowed, and UDP has a checksum. */
		"WRITE with a UDP checksum", true,
		"4500004c000100004011f54cc0a80201c0a80202 01f412b70038ffa6"
		"0a00ffff0000000200000000 00000000000012300000000000000010"
		"000102030405060708090a0b0c0d0e0f ca47470e", "000102030405060708090a0b0c0d0e0f",
		{ .flow = { .l3 = HCA_L3_IPV4, .hop_limit = 64, .sport = 500,
			    .sgid = MAPPED(192, 168, 2, 1), .dgid = MAPPED(192, 168, 2, 2) },
		  .opcode = 0x0a, .pkey = 0xffff, .dqpn = 2, .addr = 0x1230, .dma_length = 16,
		  .length = 16 },
	},
};

enum { W1, W2, W3, W4, W5, W6, W7, W8, W9, P1, P2, P3, P4, P5, P6, P7 };

/* ---- Frames ------------------------------------------------------------------------- */

struct frame {
	u8 at[MAX_FRAME + 64];
	u32 bytes;
};

static u8 *network(struct frame *f)
{
	return f->at + ETH;
}

static u32 from_hex(u8 *to, const char *hex)
{
	u32 n = 0;

	for (; *hex; hex += *hex == ' ' ? 1 : 2)
		if (*hex != ' ')
			sscanf(hex, "%2hhx", &to[n++]);
	return n;
}

static void put16(u8 *at, u32 v)
{
	at[0] = v >> 8;
	at[1] = v;
}

static struct hca_packet fields(const struct vector *v)
{
	struct hca_packet p = v->p;

	memcpy(p.flow.dmac, "\x02\0\0\0\0\x0b", 6);
	memcpy(p.flow.smac, "\x02\0\0\0\0\x0a", 6);
	return p;
}

static void load(struct frame *f, const struct vector *v)
{
	static const u16 type[] = { HCA_ROCE_ETHERTYPE, 0x86dd, 0x0800 };

	memcpy(f->at, "\x02\0\0\0\0\x0b\x02\0\0\0\0\x0a", 12);
	put16(f->at + 12, type[v->p.flow.l3]);
	f->bytes = ETH + from_hex(network(f), v->bytes);
}

/* The sanitizer finds accesses behind the frame. */
static enum hca_packet_error read_bytes(struct hca_packet *p, const u8 *frame, u32 bytes)
{
	static u8 *copy;

	free(copy);
	copy = malloc(bytes);
	memcpy(copy, frame, bytes);
	return hca_packet_read(p, copy, bytes);
}

static enum hca_packet_error read_frame(struct hca_packet *p, const struct frame *f)
{
	return read_bytes(p, f->at, f->bytes);
}

static bool same(const struct hca_packet *a, const struct hca_packet *b)
{
	return !memcmp(a, b, offsetof(struct hca_packet, data));
}

static void repair_checksum(u8 *ip)
{
	u32 sum = 0, i;

	put16(ip + 10, 0);
	for (i = 0; i < 20; i += 2)
		sum += ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	put16(ip + 10, ~(sum + (sum >> 16)));
}

/* The last four bytes of the frame become the ICRC. */
static void repair_icrc(struct frame *f, enum hca_l3 l3)
{
	u32 icrc = hca_icrc(l3, network(f), f->bytes - ETH - 4), i;

	for (i = 0; i < 4; i++)
		f->at[f->bytes - 4 + i] = icrc >> 8 * i;
}

/* ---- Known packets ------------------------------------------------------------------ */

static void test_vector(const struct vector *v)
{
	struct hca_packet p, want = fields(v);
	struct frame f, built;
	u8 data[64];

	load(&f, v);
	from_hex(data, v->data);
	tap_is(read_frame(&p, &f), HCA_PACKET_OK, "%s: it is read", v->name);
	ok(same(&p, &want), "it has the fields");
	ok(p.length == strlen(v->data) / 2 && !memcmp(p.data, data, p.length), "and the data");
	ok(!memcmp(p.network, network(&f), 20), "and the network header");
	tap_is(hca_packet_bytes(&want), f.bytes, "its length is calculated");
	if (v->foreign)
		return;
	memset(&built, 0xa5, sizeof(built));
	memcpy(hca_packet_write(&want, built.at), data, want.length);
	hca_packet_seal(&want, built.at);
	ok(!memcmp(built.at, f.at, f.bytes), "it is built of the fields");
	tap_is(built.at[f.bytes], 0xa5, "nothing is written after it");
}

/* Returns how many frames that are cut are accepted. */
static u32 cut_accepted(const struct frame *f)
{
	struct hca_packet p;
	u32 n, accepted = 0;

	for (n = 0; n < f->bytes; n++)
		accepted += !read_bytes(&p, f->at, n);
	return accepted;
}

static void test_length(const struct vector *v)
{
	struct hca_packet p, want = fields(v);
	struct frame f;
	u32 padding;

	load(&f, v);
	tap_is(cut_accepted(&f), 0, "%s: it is refused if bytes are missing", v->name);
	for (padding = 0; padding < 48; padding++)
		f.at[f.bytes + padding] = padding;
	f.bytes += padding;
	ok(!read_frame(&p, &f) && same(&p, &want), "bytes after it change nothing");
}

static void tag(struct frame *f, u32 type, u32 tci)
{
	memmove(f->at + 16, f->at + 12, f->bytes - 12);
	put16(f->at + 12, type);
	put16(f->at + 14, tci);
	f->bytes += VLAN;
}

static void test_vlan(const struct vector *v)
{
	struct hca_packet p, want = fields(v);
	struct frame f, built;

	load(&f, v);
	tag(&f, 0x8100, 0xe005);
	want.flow.tagged = true;
	want.flow.tci = 0xe005;
	ok(!read_frame(&p, &f) && same(&p, &want), "%s, with a VLAN tag: it is read", v->name);
	from_hex(hca_packet_write(&want, built.at), v->data);
	hca_packet_seal(&want, built.at);
	ok(!memcmp(built.at, f.at, f.bytes), "it is built");
	tap_is(cut_accepted(&f), 0, "it is refused if bytes are missing");
	tag(&f, 0x8100, 1);
	tap_is(read_frame(&p, &f), HCA_PACKET_OTHER, "with two tags it is no RoCE");
	load(&f, v);
	tag(&f, 0x88a8, 1);
	tap_is(read_frame(&p, &f), HCA_PACKET_OTHER, "nor with a tag of a provider");
}

/* ---- Damaged packets ---------------------------------------------------------------- */

/* Bits that the ICRC does not cover, by byte from the network header */
static const u8 masked[][64] = {
	[HCA_L3_GRH] = { [0] = 0x0f, [1 ... 3] = 0xff, [7] = 0xff, [GRH_BTH + 4] = 0xff },
	[HCA_L3_IPV6] = { [0] = 0x0f, [1 ... 3] = 0xff, [7] = 0xff, [46 ... 47] = 0xff,
			  [IPV6_BTH + 4] = 0xff },
	[HCA_L3_IPV4] = { [1] = 0xff, [8] = 0xff, [10 ... 11] = 0xff, [26 ... 27] = 0xff,
			  [IPV4_BTH + 4] = 0xff },
};

static void test_bits(const struct vector *v)
{
	u32 byte, bit, wrong = 0, changed = 0;
	struct hca_packet p;
	struct frame f;

	load(&f, v);
	for (byte = 0; byte < f.bytes - ETH; byte++)
		for (bit = 1; bit < 0x100; bit <<= 1) {
			load(&f, v);
			network(&f)[byte] ^= bit;
			if (v->p.flow.l3 == HCA_L3_IPV4)
				repair_checksum(network(&f));
			if (byte < 64 && masked[v->p.flow.l3][byte] & bit)
				wrong += read_frame(&p, &f) != HCA_PACKET_OK;
			else
				changed += read_frame(&p, &f) == HCA_PACKET_OK;
		}
	tap_is(wrong, 0, "%s: routers may change some bits", v->name);
	tap_is(changed, 0, "each other bit that changes is noticed");
}

/* Bytes of W1 that only the ICRC protects */
static void test_covered(void)
{
	static const struct {
		u8 at;
		const char *what;
	} bytes[] = {
		{ 4, "identification" }, { 12, "source address" }, { 19, "destination address" },
		{ 20, "source port" }, { IPV4_BTH + 2, "P_Key" }, { IPV4_BTH + 7, "queue pair" },
		{ IPV4_BTH + 8, "reserved byte" }, { IPV4_BTH + 11, "PSN" },
		{ IPV4_BTH + 12, "data" }, { IPV4_BTH + 19, "padding" }, { IPV4_BTH + 20, "ICRC" },
	};
	struct hca_packet p;
	struct frame f;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bytes); i++) {
		load(&f, &vectors[W1]);
		network(&f)[bytes[i].at] ^= 1;
		repair_checksum(network(&f));
		tap_is(read_frame(&p, &f), HCA_PACKET_ICRC, "damaged: %s", bytes[i].what);
	}
}

/* ---- Refused packets ---------------------------------------------------------------- */

enum {
	TYPE	= -2,			/* offset of the Ethernet type */
	BAD	= HCA_PACKET_BAD,
	OTHER	= HCA_PACKET_OTHER,
	UNKNOWN	= HCA_PACKET_UNKNOWN,
};

/* The checksums fit again after the change, so nothing else is wrong. */
static void test_changed(void)
{
	static const struct {
		u8 vector;
		s8 at;
		u16 value;
		u8 want;
		const char *what;
	} cases[] = {
		{ W1, TYPE, 0x0806, OTHER, "ARP" },
		{ W1, TYPE, 0x86dd, OTHER, "IPv4 as IPv6, without UDP" },
		{ W2, TYPE, 0x0800, OTHER, "IPv6 as IPv4, without UDP" },
		{ W1, 0, 0x446a, BAD, "IPv4 header of 16 bytes" },
		{ W1, 0, 0x466a, BAD, "IPv4 options" },
		{ W1, 0, 0x4f6a, BAD, "40 bytes of IPv4 options" },
		{ W1, 0, 0x656a, BAD, "version 6 of IPv4" },
		{ W1, 2, 0, BAD, "no IPv4 length" },
		{ W1, 2, 19, BAD, "IPv4 length without the header" },
		{ W1, 2, 20, BAD, "IPv4 length of the header only" },
		{ W1, 2, 27, BAD, "half a UDP header" },
		{ W1, 2, 0x30, BAD, "IPv4 length before the end of UDP" },
		{ W1, 2, 0x38, BAD, "IPv4 length behind the frame" },
		{ W1, 2, 0xffff, BAD, "largest IPv4 length" },
		{ W1, 6, 0x6000, BAD, "first fragment" },
		{ W1, 6, 0x2000, BAD, "first fragment without DF" },
		{ W1, 6, 0x0001, BAD, "last fragment" },
		{ W1, 6, 0x1000, BAD, "a fragment far behind" },
		{ W1, 8, 0x4006, OTHER, "TCP" },
		{ W1, 22, 4790, OTHER, "another UDP port" },
		{ W1, 24, 0, BAD, "no UDP length" },
		{ W1, 24, 0x1c, BAD, "UDP length too small" },
		{ W1, 24, 0x24, BAD, "UDP length too large" },
		{ W2, TYPE, HCA_ROCE_ETHERTYPE, BAD, "UDP after a GRH" },
		{ W2, 0, 0x46a1, BAD, "version 4 of IPv6" },
		{ W2, 4, 0, BAD, "no IPv6 length" },
		{ W2, 4, 7, BAD, "IPv6 length of half a UDP header" },
		{ W2, 4, 0x34, BAD, "IPv6 length before the end of UDP" },
		{ W2, 4, 0x3c, BAD, "IPv6 length behind the frame" },
		{ W2, 6, 0x0040, OTHER, "hop-by-hop options" },
		{ W2, 6, 0x2b40, OTHER, "IPv6 routing" },
		{ W2, 6, 0x2c40, OTHER, "IPv6 fragment" },
		{ W2, 6, 0x3c40, OTHER, "IPv6 destination options" },
		{ W7, 0, 0x46a1, BAD, "version 4 of GRH" },
		{ W7, 4, 0, BAD, "no length in the GRH" },
		{ W7, 4, 0x10, BAD, "GRH length without the data" },
		{ W7, 4, 0x16, BAD, "GRH length that is no number of words" },
		{ W7, 4, 0x1c, BAD, "GRH length behind the frame" },
		{ W7, 6, 0x1140, BAD, "UDP in RoCEv1" },
		{ W7, TYPE, 0x86dd, OTHER, "a GRH as IPv6" },
		{ W1, IPV4_BTH, 0x0471, BAD, "another version of the BTH" },
		{ W1, IPV4_BTH, 0x0478, BAD, "the highest version bit" },
		{ W1, IPV4_BTH, 0x1560, UNKNOWN, "an unknown opcode" },
		{ W3, IPV4_BTH, 0x1150, BAD, "padding of an ACK" },
		{ W6, IPV4_BTH, 0x8130, BAD, "padding of a CNP" },
		{ W1, IPV4_BTH, 0x1170, BAD, "data in an ACK" },
		{ W1, IPV4_BTH, 0x6470, BAD, "padding of a datagram without data" },
		{ W3, IPV4_BTH, 0x6440, BAD, "half a DETH" },
		{ W3, IPV4_BTH, 0x8100, BAD, "part of the zeros of a CNP" },
		{ P1, IPV4_BTH + 12, 0x2000, BAD, "version 2 of a probe" },
		{ P1, IPV4_BTH + 12, 0x0000, BAD, "version 0 of a probe" },
		{ P1, IPV4_BTH + 12, 0x1200, BAD, "a reserved bit of a probe" },
		{ P1, IPV4_BTH + 30, 0x0001, BAD, "a probe with a time" },
		{ P3, IPV4_BTH + 12, 0x2300, BAD, "version 2 of a DC request" },
		{ P3, IPV4_BTH + 12, 0x1000, BAD, "a DC request without an MTU" },
		{ P3, IPV4_BTH + 12, 0x1600, BAD, "the MTU of a DC request" },
		{ P3, IPV4_BTH + 12, 0x1f00, BAD, "the highest MTU of a DC request" },
		{ P4, IPV4_BTH + 12, 0x2000, BAD, "version 2 of a DC response" },
		{ P4, IPV4_BTH + 12, 0x1100, BAD, "a reserved bit of a DC response" },
		{ P4, IPV4_BTH + 14, 0x0001, BAD, "a reserved byte of a DC response" },
		{ P5, IPV4_BTH + 12, 0x3000, BAD, "version 3 of an extended atomic" },
		{ P5, IPV4_BTH + 12, 0x1001, BAD, "a reserved bit of an extended atomic" },
		{ P5, IPV4_BTH + 32, 0x0202, BAD, "another extended atomic" },
		{ P5, IPV4_BTH + 32, 0x0001, BAD, "an operand of 2 bytes" },
		{ P5, IPV4_BTH + 32, 0x0003, BAD, "an operand of 8 bytes, with arguments for 4" },
		{ P5, IPV4_BTH + 32, 0x0102, BAD, "arguments of another extended atomic" },
		{ P5, IPV4_BTH + 32, 0x0009, BAD, "an operand of 512 bytes" },
		{ P5, IPV4_BTH + 32, 0x00ff, BAD, "the largest operand" },
		{ P5, IPV4_BTH + 34, 0x0001, BAD, "reserved bytes of an extended atomic" },
		{ P6, IPV4_BTH + 0, 0xda50, BAD, "arguments that are padded" },
		{ P7, IPV4_BTH + 12, 0x1001, BAD, "a reserved bit of its answer" },
		{ P7, IPV4_BTH + 12, 0x0000, BAD, "version 0 of its answer" },
	};
	const struct vector *v;
	struct hca_packet p;
	struct frame f;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		v = &vectors[cases[i].vector];
		load(&f, v);
		put16(network(&f) + cases[i].at, cases[i].value);
		if (v->p.flow.l3 == HCA_L3_IPV4)
			repair_checksum(network(&f));
		repair_icrc(&f, v->p.flow.l3);
		tap_is(read_frame(&p, &f), cases[i].want, "refused: %s", cases[i].what);
	}
}

/* The frame and all lengths in it end after @bytes of the datagram, but after the IP header. */
static enum hca_packet_error read_shortened(const struct vector *v, u32 bytes)
{
	const u32 ip = v->p.flow.l3 == HCA_L3_IPV4 ? 20 : 40;
	struct hca_packet p;
	struct frame f;

	load(&f, v);
	if (v->p.flow.l3 == HCA_L3_IPV4)
		put16(network(&f) + 2, bytes);
	else
		put16(network(&f) + 4, bytes - ip);
	if (v->p.flow.l3 != HCA_L3_GRH)
		put16(network(&f) + ip + 4, bytes - ip);
	if (v->p.flow.l3 == HCA_L3_IPV4)
		repair_checksum(network(&f));
	f.bytes = ETH + max(bytes, ip);
	return read_frame(&p, &f);
}

static void test_shortened(const struct vector *v)
{
	u32 n, accepted = 0;
	struct frame f;

	load(&f, v);
	for (n = 0; n < f.bytes - ETH; n++)
		accepted += read_shortened(v, n) == HCA_PACKET_OK;
	tap_is(accepted, 0, "%s: it is refused if it is shorter", v->name);
	tap_is(read_shortened(v, n), HCA_PACKET_OK, "not with its own length");
}

static void test_checksum(void)
{
	struct hca_packet p;
	struct frame f;

	load(&f, &vectors[W1]);
	network(&f)[10] ^= 1;
	tap_is(read_frame(&p, &f), HCA_PACKET_BAD, "refused: wrong IPv4 checksum");
	load(&f, &vectors[W1]);
	put16(network(&f) + 26, 0x1234);
	tap_is(read_frame(&p, &f), HCA_PACKET_OK, "any UDP checksum is accepted");
}

/* ---- Opcodes ------------------------------------------------------------------------ */

/* Bytes of extended headers, by operation; -1: unknown */
static const s8 extended[] = {
	0, 0, 0, 4, 0, 4, 16, 0, 0, 4, 16, 20, 16, 4, 0, 4, 4, 4, 12, 28, 28, -1, 4, 4,
	[24 ... 31] = -1,
};

/* Of the private encoding: the first byte, without its version, of requests of DC */
static u8 first_byte(u8 opcode)
{
	const u8 op = opcode & HCA_BTH_OPERATION;

	return opcode >= 0xc0 && opcode <= 0xd8 && !(op >= 13 && op <= 18);
}

static bool is_ext_atomic(u8 opcode)
{
	return opcode == 0xd8 || opcode == 0xda || opcode == 0xdc;
}

static bool has_source(u8 opcode)
{
	return first_byte(opcode) || opcode == HCA_OPCODE_PROBE;
}

static int extended_private(u8 opcode)
{
	static const s8 others[] = { 36, 16, 20, 8, 24, 8, -1, 20 };
	const u8 op = opcode & HCA_BTH_OPERATION;

	if (op >= 24)
		return others[op - 24];
	return extended[op] < 0 ? -1 : extended[op] + (first_byte(opcode) ? 20 : 12);
}

static int extended_bytes(u8 opcode)
{
	u8 op = opcode & HCA_BTH_OPERATION;

	switch (opcode >> 5) {
	case 0:
		return extended[op];
	case 1:
		return op < 12 ? extended[op] : -1;
	case 3:
		return op == 4 || op == 5 ? extended[op] + 8 : -1;
	case 5:
		return extended[op] < 0 || (op >= 13 && op <= 18) ? extended[op] : extended[op] + 4;
	case 6:
		return extended_private(opcode);
	default:
		return opcode == 0x81 ? 16 : -1;
	}
}

/* A GRH, a BTH with @opcode, @bytes after it, and the ICRC */
static void raw_packet(struct frame *f, u8 opcode, u8 flags, u32 bytes)
{
	u8 *bth;

	load(f, &vectors[W7]);
	bth = network(f) + GRH_BTH;
	memset(bth + 12, 0, bytes);
	bth[0] = opcode;
	bth[1] = flags;
	bth[12] = 0x10 | first_byte(opcode);
	if (is_ext_atomic(opcode))
		bth[12 + extended_bytes(opcode) - 3] = 2;
	put16(network(f) + 4, 12 + bytes + 4);
	f->bytes = ETH + GRH_BTH + 12 + bytes + 4;
	repair_icrc(f, HCA_L3_GRH);
}

static enum hca_packet_error read_raw(u8 opcode, u8 flags, u32 bytes)
{
	struct hca_packet p;
	struct frame f;

	raw_packet(&f, opcode, flags, bytes);
	return read_frame(&p, &f);
}

static bool has_data(u8 opcode)
{
	u8 op = opcode & HCA_BTH_OPERATION;

	return opcode != 0x81 && opcode != 0xdf && (op < 12 || (op > 12 && op < 17) || op > 20);
}

static void test_unknown(u8 opcode)
{
	u32 n, wrong = 0;

	for (n = 0; n < 64; n += 4)
		wrong += read_raw(opcode, 0, n) != HCA_PACKET_UNKNOWN;
	ok(!hca_packet_flags(opcode) && !wrong, "opcode %#x is unknown", opcode);
}

static void test_known(u8 opcode, u32 headers)
{
	const struct hca_packet p = { .opcode = opcode };
	u32 n, wrong = 0;

	for (n = 0; n < headers; n++)
		wrong += read_raw(opcode, 0, n) != HCA_PACKET_BAD;
	ok(!wrong, "opcode %#x: refused if a part of the headers is missing", opcode);
	tap_is(hca_packet_header_bytes(&p), ETH + GRH_BTH + 12 + headers, "length of the headers");
	if (is_ext_atomic(opcode)) {
		tap_is(read_raw(opcode, 0, headers + 16), HCA_PACKET_OK, "accepted with arguments");
		for (n = 0, wrong = 0; n < 64; n += 4)
			wrong += n != 16 && read_raw(opcode, 0, headers + n) != HCA_PACKET_BAD;
		tap_is(wrong, 0, "but not with others");
		return;
	}
	tap_is(read_raw(opcode, 0, headers), HCA_PACKET_OK, "accepted without data");
	tap_is(read_raw(opcode, 0x10, headers), HCA_PACKET_BAD, "refused with padding of no data");
	tap_is(read_raw(opcode, 0, headers + 4), has_data(opcode) ? HCA_PACKET_OK : HCA_PACKET_BAD,
	       "it may have data or not");
	tap_is(read_raw(opcode, 0x30, headers + 4),
	       has_data(opcode) ? HCA_PACKET_OK : HCA_PACKET_BAD, "also one byte");
}

/* First and last packets, and requests, of RC */
static void test_flags(void)
{
	static const u32 first = 0x9f3c71, last = 0xdf9f3c, request = 0xd81fff;
	u32 op, wrong = 0;
	u16 flags;

	for (op = 0; op < 24; op++) {
		flags = hca_packet_flags(op);
		wrong += !!(flags & HCA_OP_FIRST) != (first >> op & 1);
		wrong += !!(flags & HCA_OP_LAST) != (last >> op & 1);
		wrong += !!(flags & HCA_OP_REQUEST) != (request >> op & 1);
	}
	tap_is(wrong, 0, "the place of an operation in its message");
}

static void test_opcodes(void)
{
	u32 opcode, known = 0;

	for (opcode = 0; opcode < 256; opcode++)
		if (extended_bytes(opcode) < 0) {
			test_unknown(opcode);
		} else {
			test_known(opcode, extended_bytes(opcode));
			known++;
		}
	tap_is(known, 23 + 12 + 2 + 23 + 1 + 25 + 4 + 1, "number of known opcodes");
}

/* ---- Both ways ---------------------------------------------------------------------- */

static void random_bytes(void *to, u32 n)
{
	u8 *at = to;

	while (n--)
		*at++ = random64() >> 24;
}

static void random_flow(struct hca_flow *flow, enum hca_l3 l3, bool tagged)
{
	static const u8 mapped[12] = { [10] = 0xff, 0xff };

	random_bytes(flow->dmac, 12);
	random_bytes(flow->sgid, 32);
	flow->l3 = l3;
	flow->tagged = tagged;
	if (tagged)
		flow->tci = random64();
	flow->tclass = random64();
	flow->hop_limit = random64();
	if (l3 != HCA_L3_GRH)
		flow->sport = random64();
	if (l3 != HCA_L3_IPV4) {
		flow->flow_label = random64() & 0xfffff;
		return;
	}
	memcpy(flow->sgid, mapped, sizeof(mapped));
	memcpy(flow->dgid, mapped, sizeof(mapped));
}

/* Only fields that the opcode has */
static void random_fields(struct hca_packet *p)
{
	const u16 flags = hca_packet_flags(p->opcode);
	const u64 bits = random64();

	p->solicited = bits & 1;
	p->migrated = bits & 2;
	p->ack_request = bits & 4;
	p->becn = bits & 8;
	p->pkey = bits >> 8;
	p->dqpn = bits >> 24 & 0xffffff;
	p->psn = random64() & 0xffffff;
	p->srqn = flags & HCA_OP_XRCETH ? random64() & 0xffffff : 0;
	p->qkey = flags & HCA_OP_DETH ? random64() : 0;
	p->sqpn = flags & HCA_OP_DETH || has_source(p->opcode) ? random64() & 0xffffff : 0;
	p->mtu = first_byte(p->opcode) ? 1 + bits % 5 : 0;
	p->session = flags & HCA_OP_DC ? random64() : 0;
	p->dc_key = first_byte(p->opcode) ? random64() : 0;
	p->answer = p->opcode == HCA_OPCODE_PROBE && bits & 16;
	p->token = p->opcode == HCA_OPCODE_PROBE ? random64() : 0;
	p->time = p->answer ? random64() : 0;
	p->add = is_ext_atomic(p->opcode) && bits & 32;
	p->log_operand = is_ext_atomic(p->opcode) ? 2 + bits % 7 : 0;
	if (is_ext_atomic(p->opcode))
		p->length = (p->add ? 2 : 4) << p->log_operand;
	p->addr = flags & (HCA_OP_RETH | HCA_OP_ATOMIC | HCA_OP_EXT_ATOMIC) ? random64() : 0;
	p->key = flags & (HCA_OP_RETH | HCA_OP_ATOMIC | HCA_OP_EXT_ATOMIC) ? random64() : 0;
	p->dma_length = flags & HCA_OP_RETH ? random64() : 0;
	p->swap_add = flags & HCA_OP_ATOMIC ? random64() : 0;
	p->compare = flags & HCA_OP_ATOMIC ? random64() : 0;
	p->syndrome = flags & HCA_OP_AETH ? random64() : 0;
	p->msn = flags & HCA_OP_AETH ? random64() & 0xffffff : 0;
	p->original = flags & HCA_OP_ATOMIC_ACK ? random64() : 0;
	p->imm = flags & (HCA_OP_IMM | HCA_OP_IETH) ? random64() : 0;
}

static bool survives(u8 opcode, enum hca_l3 l3, bool tagged, u32 length)
{
	struct hca_packet p, back;
	struct frame f;
	u8 *data;
	u32 i;

	memset(&p, 0, sizeof(p));
	memset(&f, 0xa5, sizeof(f));
	random_flow(&p.flow, l3, tagged);
	p.opcode = opcode;
	p.length = length;
	random_fields(&p);
	length = p.length;
	data = hca_packet_write(&p, f.at);
	if (data != f.at + hca_packet_header_bytes(&p) || data > f.at + HCA_FRAME_HEADERS)
		return false;
	random_bytes(data, length);
	hca_packet_seal(&p, f.at);
	f.bytes = hca_packet_bytes(&p);
	for (i = length; i & 3; i++)
		if (data[i])
			return false;
	return f.at[f.bytes] == 0xa5 && !read_frame(&back, &f) && same(&back, &p) &&
	       !memcmp(back.data, data, length);
}

static void test_both_ways(u8 opcode)
{
	static const u32 lengths[] = { 0, 1, 2, 3, 4, 5, 255, 256, 1023, 1024, 4096 };
	u32 i, n = has_data(opcode) ? ARRAY_SIZE(lengths) : 1, l3, bad = 0;

	for (l3 = HCA_L3_GRH; l3 <= HCA_L3_IPV4; l3++)
		for (i = 0; i < n; i++)
			bad += !survives(opcode, l3, false, lengths[i]) +
			       !survives(opcode, l3, true, lengths[i]);
	tap_is(bad, 0, "opcode %#x: what is written is read", opcode);
}

static void test_sport(void)
{
	tap_is(hca_flow_sport(0), 0xc000, "the source port of flow label 0");
	tap_is(hca_flow_sport(0x12345), 0xe341, "of another one");
	tap_is(hca_flow_sport(0xfffff), 0xffc0, "of the highest one");
}

int main(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(vectors); i++) {
		test_vector(&vectors[i]);
		test_length(&vectors[i]);
		test_bits(&vectors[i]);
	}
	test_vlan(&vectors[W1]);
	test_vlan(&vectors[W2]);
	test_vlan(&vectors[W7]);
	test_covered();
	test_changed();
	test_checksum();
	for (i = 0; i < ARRAY_SIZE(vectors); i++)
		test_shortened(&vectors[i]);
	test_opcodes();
	test_flags();
	for (i = 0; i < 256; i++)
		if (hca_packet_flags(i))
			test_both_ways(i);
	test_sport();
	return tap_done();
}
