// SPDX-License-Identifier: GPL-2.0
/*
 * RoCE packets: reads and writes their headers.
 *
 * A frame that was read may contain anything.  Its opcode is looked up before lengths are
 * calculated, and these come from the headers: Ethernet may have padded the frame.  The ICRC is
 * the last check, and only then the fields are read.  It covers the data, so a UDP checksum says
 * nothing more and is not verified.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include "wire/icrc.h"
#include "wire/packet.h"

/* Bytes of headers */
enum {
	HEADER_ETHERNET	= 14,
	HEADER_VLAN	= 4,
	HEADER_IPV4	= 20,
	HEADER_IPV6	= 40,		/* and of a GRH */
	HEADER_UDP	= 8,
	HEADER_BTH	= 12,
	HEADER_CNP	= 16,		/* zeros after the BTH */
	HEADER_PROBE	= 16,		/* after the version */
	HEADER_DC	= 8,		/* the session, after the version */
	HEADER_DC_KEY	= 8,		/* of requests, after the session */
	TRAILER_ICRC	= 4,
};

enum {
	ETHERTYPE_IPV4	= 0x0800,
	ETHERTYPE_VLAN	= 0x8100,
	ETHERTYPE_IPV6	= 0x86dd,
	PROTOCOL_UDP	= 17,
	PROTOCOL_IBA	= 0x1b,		/* after a GRH */
	OPCODE_CNP	= HCA_BTH_CNP | HCA_CNP_OPERATION,
};

/* Bits of headers */
enum {
	IPV4_FIRST	= 0x45,		/* version 4, no options */
	IPV4_DF		= 0x4000,
	IPV4_FRAGMENT	= 0x3fff,	/* more follow, or it is not the first */
	BTH_SOLICITED	= 0x80,		/* byte 1 */
	BTH_MIGRATED	= 0x40,
	BTH_PAD_SHIFT	= 4,
	BTH_PAD		= 3,
	BTH_VERSION	= 0x0f,
	BTH_BECN	= 0x40,		/* byte 4 */
	BTH_ACK_REQUEST	= 0x80,		/* byte 8 */
	PRIVATE_VERSION_SHIFT = 4,	/* of the first byte */
	PRIVATE_LOW	= 0x0f,
	PROBE_ANSWER	= 1,		/* the lower bits */
	EXT_ATOMIC_ADD	= 1,		/* byte 0 */
};

/* ---- Opcodes ----------------------------------------------------------------------------- */

enum {
	OP_REQUEST	= HCA_OP_KNOWN | HCA_OP_REQUEST,
	OP_RESPONSE	= HCA_OP_KNOWN,
	OP_ONLY		= HCA_OP_FIRST | HCA_OP_LAST,
};

/* Of RC; the other transports have some of them. */
static const u16 hca_packet_operations[HCA_BTH_OPERATION + 1] = {
	[HCA_BTH_SEND_FIRST]	= OP_REQUEST | HCA_OP_FIRST | HCA_OP_DATA,
	[HCA_BTH_SEND_MIDDLE]	= OP_REQUEST | HCA_OP_DATA,
	[HCA_BTH_SEND_LAST]	= OP_REQUEST | HCA_OP_LAST | HCA_OP_DATA,
	[HCA_BTH_SEND_LAST_IMM]	= OP_REQUEST | HCA_OP_LAST | HCA_OP_IMM | HCA_OP_DATA,
	[HCA_BTH_SEND_ONLY]	= OP_REQUEST | OP_ONLY | HCA_OP_DATA,
	[HCA_BTH_SEND_ONLY_IMM]	= OP_REQUEST | OP_ONLY | HCA_OP_IMM | HCA_OP_DATA,
	[HCA_BTH_WRITE_FIRST]	= OP_REQUEST | HCA_OP_FIRST | HCA_OP_RETH | HCA_OP_DATA,
	[HCA_BTH_WRITE_MIDDLE]	= OP_REQUEST | HCA_OP_DATA,
	[HCA_BTH_WRITE_LAST]	= OP_REQUEST | HCA_OP_LAST | HCA_OP_DATA,
	[HCA_BTH_WRITE_LAST_IMM] = OP_REQUEST | HCA_OP_LAST | HCA_OP_IMM | HCA_OP_DATA,
	[HCA_BTH_WRITE_ONLY]	= OP_REQUEST | OP_ONLY | HCA_OP_RETH | HCA_OP_DATA,
	[HCA_BTH_WRITE_ONLY_IMM] = OP_REQUEST | OP_ONLY | HCA_OP_RETH | HCA_OP_IMM | HCA_OP_DATA,
	[HCA_BTH_READ_REQUEST]	= OP_REQUEST | OP_ONLY | HCA_OP_RETH,
	[HCA_BTH_READ_FIRST]	= OP_RESPONSE | HCA_OP_FIRST | HCA_OP_AETH | HCA_OP_DATA,
	[HCA_BTH_READ_MIDDLE]	= OP_RESPONSE | HCA_OP_DATA,
	[HCA_BTH_READ_LAST]	= OP_RESPONSE | HCA_OP_LAST | HCA_OP_AETH | HCA_OP_DATA,
	[HCA_BTH_READ_ONLY]	= OP_RESPONSE | OP_ONLY | HCA_OP_AETH | HCA_OP_DATA,
	[HCA_BTH_ACK]		= OP_RESPONSE | OP_ONLY | HCA_OP_AETH,
	[HCA_BTH_ATOMIC_ACK]	= OP_RESPONSE | OP_ONLY | HCA_OP_AETH | HCA_OP_ATOMIC_ACK,
	[HCA_BTH_CMP_SWAP]	= OP_REQUEST | OP_ONLY | HCA_OP_ATOMIC,
	[HCA_BTH_FETCH_ADD]	= OP_REQUEST | OP_ONLY | HCA_OP_ATOMIC,
	[HCA_BTH_SEND_LAST_INVAL] = OP_REQUEST | HCA_OP_LAST | HCA_OP_IETH | HCA_OP_DATA,
	[HCA_BTH_SEND_ONLY_INVAL] = OP_REQUEST | OP_ONLY | HCA_OP_IETH | HCA_OP_DATA,
	[HCA_BTH_EXT_ATOMIC]	= OP_REQUEST | OP_ONLY | HCA_OP_PRIVATE | HCA_OP_EXT_ATOMIC |
				  HCA_OP_DATA,
	[HCA_BTH_EXT_ATOMIC_ACK] = OP_RESPONSE | OP_ONLY | HCA_OP_PRIVATE | HCA_OP_AETH |
				   HCA_OP_DATA,
};

/*
 * Private opcodes: those of DC are 0xc0 and the operation.  The others are the extended atomics of
 * other transports, and their answers.
 */
static const struct {
	u8 opcode, transport, operation;
} hca_packet_private[] = {
	{ 0xda, HCA_BTH_RC, HCA_BTH_EXT_ATOMIC },
	{ 0xdb, HCA_BTH_RC, HCA_BTH_EXT_ATOMIC_ACK },
	{ 0xdc, HCA_BTH_XRC, HCA_BTH_EXT_ATOMIC },
	{ 0xdd, HCA_BTH_XRC, HCA_BTH_EXT_ATOMIC_ACK },
};

enum { OPCODE_PRIVATE = 0xda };		/* the first of the table */

u8 hca_packet_transport(u8 opcode)
{
	const u32 i = opcode - OPCODE_PRIVATE;

	return opcode >= OPCODE_PRIVATE && i < ARRAY_SIZE(hca_packet_private) ?
		hca_packet_private[i].transport : opcode & HCA_BTH_TRANSPORT;
}

u8 hca_packet_operation(u8 opcode)
{
	const u32 i = opcode - OPCODE_PRIVATE;

	return opcode >= OPCODE_PRIVATE && i < ARRAY_SIZE(hca_packet_private) ?
		hca_packet_private[i].operation : opcode & HCA_BTH_OPERATION;
}

u8 hca_packet_opcode(u8 transport, u8 operation)
{
	u32 i;

	for (i = 0; operation >= HCA_BTH_EXT_ATOMIC && i < ARRAY_SIZE(hca_packet_private); i++)
		if (hca_packet_private[i].transport == transport &&
		    hca_packet_private[i].operation == operation)
			return hca_packet_private[i].opcode;
	return transport | operation;
}

u16 hca_packet_flags(u8 opcode)
{
	const u8 operation = hca_packet_operation(opcode);
	const u16 flags = hca_packet_operations[operation];

	/* Only private opcodes have private operations. */
	if (flags & HCA_OP_PRIVATE && (opcode & HCA_BTH_TRANSPORT) != HCA_BTH_DC)
		return 0;
	switch (hca_packet_transport(opcode)) {
	case HCA_BTH_RC:
		return flags;
	case HCA_BTH_DC:
		if (opcode == HCA_OPCODE_PROBE)
			return HCA_OP_KNOWN | HCA_OP_PRIVATE;
		return flags ? flags | HCA_OP_PRIVATE | HCA_OP_DC : 0;
	case HCA_BTH_UC:
		return operation <= HCA_BTH_WRITE_ONLY_IMM ? flags : 0;
	case HCA_BTH_UD:
		return operation == HCA_BTH_SEND_ONLY || operation == HCA_BTH_SEND_ONLY_IMM ?
			flags | HCA_OP_DETH : 0;
	case HCA_BTH_XRC:
		return flags & HCA_OP_REQUEST ? flags | HCA_OP_XRCETH : flags;
	default:
		return opcode == OPCODE_CNP ? HCA_OP_KNOWN : 0;
	}
}

/* ---- Lengths ----------------------------------------------------------------------------- */

/* Bytes from the BTH to the data */
static u32 hca_packet_transport_bytes(u8 opcode)
{
	static const struct {
		u16 flag;
		u8 bytes;
	} extended[] = {
		{ HCA_OP_RETH, 16 }, { HCA_OP_ATOMIC, 28 }, { HCA_OP_AETH, 4 },
		{ HCA_OP_ATOMIC_ACK, 8 }, { HCA_OP_IMM, 4 }, { HCA_OP_IETH, 4 },
		{ HCA_OP_DETH, 8 }, { HCA_OP_XRCETH, 4 }, { HCA_OP_PRIVATE, 4 },
		{ HCA_OP_DC, HEADER_DC }, { HCA_OP_EXT_ATOMIC, 16 },
	};
	const u16 flags = hca_packet_flags(opcode);
	u32 bytes = HEADER_BTH, i;

	for (i = 0; i < ARRAY_SIZE(extended); i++)
		if (flags & extended[i].flag)
			bytes += extended[i].bytes;
	if (flags & HCA_OP_DC && flags & HCA_OP_REQUEST)
		bytes += HEADER_DC_KEY;
	if (opcode == HCA_OPCODE_PROBE)
		bytes += HEADER_PROBE;
	return opcode == OPCODE_CNP ? bytes + HEADER_CNP : bytes;
}

/* Bytes before the BTH */
static u32 hca_packet_network_bytes(const struct hca_flow *flow)
{
	static const u8 bytes[] = {
		[HCA_L3_GRH]	= HEADER_IPV6,
		[HCA_L3_IPV6]	= HEADER_IPV6 + HEADER_UDP,
		[HCA_L3_IPV4]	= HEADER_IPV4 + HEADER_UDP,
	};

	return HEADER_ETHERNET + (flow->tagged ? HEADER_VLAN : 0) + bytes[flow->l3];
}

static u32 hca_packet_pad(const struct hca_packet *p)
{
	return -p->length & BTH_PAD;
}

u32 hca_packet_header_bytes(const struct hca_packet *p)
{
	return hca_packet_network_bytes(&p->flow) + hca_packet_transport_bytes(p->opcode);
}

u32 hca_packet_bytes(const struct hca_packet *p)
{
	return hca_packet_header_bytes(p) + p->length + hca_packet_pad(p) + TRAILER_ICRC;
}

u16 hca_flow_sport(u32 flow_label)
{
	return 0xc000 | ((flow_label & 0x3fff) ^ (flow_label >> 14 & 0x3f));
}

/* ---- Fields ------------------------------------------------------------------------------ */

static u32 hca_packet_get16(const u8 *h)
{
	return h[0] << 8 | h[1];
}

static u32 hca_packet_get24(const u8 *h)
{
	return h[0] << 16 | h[1] << 8 | h[2];
}

static u32 hca_packet_get32(const u8 *h)
{
	return (u32)h[0] << 24 | hca_packet_get24(h + 1);
}

static u64 hca_packet_get64(const u8 *h)
{
	return (u64)hca_packet_get32(h) << 32 | hca_packet_get32(h + 4);
}

static void hca_packet_put16(u8 *h, u32 v)
{
	h[0] = v >> 8;
	h[1] = v;
}

static void hca_packet_put24(u8 *h, u32 v)
{
	h[0] = v >> 16;
	hca_packet_put16(h + 1, v);
}

static void hca_packet_put32(u8 *h, u32 v)
{
	hca_packet_put16(h, v >> 16);
	hca_packet_put16(h + 2, v);
}

static void hca_packet_put64(u8 *h, u64 v)
{
	hca_packet_put32(h, v >> 32);
	hca_packet_put32(h + 4, v);
}

/* Of a header that has its checksum already, the result is 0. */
static u16 hca_packet_ipv4_checksum(const u8 *h)
{
	u32 sum = 0, i;

	for (i = 0; i < HEADER_IPV4; i += 2)
		sum += hca_packet_get16(h + i);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~(sum + (sum >> 16));
}

/* ---- Reading ----------------------------------------------------------------------------- */

/* What is not read yet */
struct hca_packet_rest {
	const u8 *at;
	u32 bytes;
};

static void hca_packet_skip(struct hca_packet_rest *r, u32 bytes)
{
	r->at += bytes;
	r->bytes -= bytes;
}

/* The type of what follows, or 0 */
static u16 hca_packet_read_ethernet(struct hca_flow *flow, struct hca_packet_rest *r)
{
	u16 type;

	if (r->bytes < HEADER_ETHERNET)
		return 0;
	memcpy(flow->dmac, r->at, 6);
	memcpy(flow->smac, r->at + 6, 6);
	type = hca_packet_get16(r->at + 12);
	hca_packet_skip(r, HEADER_ETHERNET);
	if (type != ETHERTYPE_VLAN)
		return type;
	if (r->bytes < HEADER_VLAN)
		return 0;
	flow->tagged = true;
	flow->tci = hca_packet_get16(r->at);
	type = hca_packet_get16(r->at + 2);
	hca_packet_skip(r, HEADER_VLAN);
	return type;
}

static void hca_packet_read_mapped(u8 *gid, const u8 *address)
{
	gid[10] = 0xff;
	gid[11] = 0xff;
	memcpy(gid + 12, address, 4);
}

static enum hca_packet_error hca_packet_read_ipv4(struct hca_flow *flow, struct hca_packet_rest *r)
{
	const u8 *h = r->at;
	u32 total;

	if (r->bytes < HEADER_IPV4)
		return HCA_PACKET_BAD;
	if (h[9] != PROTOCOL_UDP)
		return HCA_PACKET_OTHER;
	total = hca_packet_get16(h + 2);
	if (h[0] != IPV4_FIRST || hca_packet_get16(h + 6) & IPV4_FRAGMENT ||
	    total < HEADER_IPV4 || total > r->bytes || hca_packet_ipv4_checksum(h))
		return HCA_PACKET_BAD;
	flow->l3 = HCA_L3_IPV4;
	flow->tclass = h[1];
	flow->hop_limit = h[8];
	hca_packet_read_mapped(flow->sgid, h + 12);
	hca_packet_read_mapped(flow->dgid, h + 16);
	r->bytes = total;
	hca_packet_skip(r, HEADER_IPV4);
	return HCA_PACKET_OK;
}

/* IPv6 or GRH, which @protocol follows */
static enum hca_packet_error hca_packet_read_ipv6(struct hca_flow *flow, struct hca_packet_rest *r,
						  u8 protocol)
{
	const u8 *h = r->at;
	u32 payload;

	if (r->bytes < HEADER_IPV6)
		return HCA_PACKET_BAD;
	if (h[6] != protocol)
		return protocol == PROTOCOL_UDP ? HCA_PACKET_OTHER : HCA_PACKET_BAD;
	payload = hca_packet_get16(h + 4);
	if (h[0] >> 4 != 6 || payload > r->bytes - HEADER_IPV6)
		return HCA_PACKET_BAD;
	flow->l3 = protocol == PROTOCOL_IBA ? HCA_L3_GRH : HCA_L3_IPV6;
	flow->tclass = hca_packet_get16(h) >> 4;
	flow->flow_label = hca_packet_get24(h + 1) & 0xfffff;
	flow->hop_limit = h[7];
	memcpy(flow->sgid, h + 8, 16);
	memcpy(flow->dgid, h + 24, 16);
	r->bytes = HEADER_IPV6 + payload;
	hca_packet_skip(r, HEADER_IPV6);
	return HCA_PACKET_OK;
}

static enum hca_packet_error hca_packet_read_udp(struct hca_flow *flow, struct hca_packet_rest *r)
{
	if (r->bytes < HEADER_UDP)
		return HCA_PACKET_BAD;
	if (hca_packet_get16(r->at + 2) != HCA_ROCE_UDP_PORT)
		return HCA_PACKET_OTHER;
	if (hca_packet_get16(r->at + 4) != r->bytes)
		return HCA_PACKET_BAD;
	flow->sport = hca_packet_get16(r->at);
	hca_packet_skip(r, HEADER_UDP);
	return HCA_PACKET_OK;
}

/* All headers before the BTH; after them, the rest ends with the ICRC. */
static enum hca_packet_error hca_packet_read_network(struct hca_packet *p,
						     struct hca_packet_rest *r)
{
	u16 type = hca_packet_read_ethernet(&p->flow, r);
	enum hca_packet_error err;

	p->network = r->at;
	switch (type) {
	case ETHERTYPE_IPV4:
		err = hca_packet_read_ipv4(&p->flow, r);
		break;
	case ETHERTYPE_IPV6:
		err = hca_packet_read_ipv6(&p->flow, r, PROTOCOL_UDP);
		break;
	case HCA_ROCE_ETHERTYPE:
		return hca_packet_read_ipv6(&p->flow, r, PROTOCOL_IBA);
	default:
		return HCA_PACKET_OTHER;
	}
	return err ? err : hca_packet_read_udp(&p->flow, r);
}

/* Finds the data, and checks the opcode, the lengths and the ICRC. */
static enum hca_packet_error hca_packet_check(struct hca_packet *p, const struct hca_packet_rest *r)
{
	const u8 *h = r->at, *icrc;
	u32 headers, area, pad;
	u16 flags;

	if (r->bytes < HEADER_BTH)
		return HCA_PACKET_BAD;
	flags = hca_packet_flags(h[0]);
	if (!flags)
		return HCA_PACKET_UNKNOWN;
	headers = hca_packet_transport_bytes(h[0]);
	if (r->bytes % 4 || r->bytes < headers + TRAILER_ICRC || h[1] & BTH_VERSION)
		return HCA_PACKET_BAD;
	area = r->bytes - headers - TRAILER_ICRC;
	pad = h[1] >> BTH_PAD_SHIFT & BTH_PAD;
	if (pad > area || (area && !(flags & HCA_OP_DATA)))
		return HCA_PACKET_BAD;
	p->data = h + headers;
	p->length = area - pad;
	icrc = p->data + area;
	if (hca_icrc(p->flow.l3, p->network, icrc - p->network) !=
	    (icrc[0] | icrc[1] << 8 | icrc[2] << 16 | (u32)icrc[3] << 24))
		return HCA_PACKET_ICRC;
	return HCA_PACKET_OK;
}

static const u8 *hca_packet_read_bth(struct hca_packet *p, const u8 *h)
{
	p->opcode = h[0];
	p->solicited = h[1] & BTH_SOLICITED;
	p->migrated = h[1] & BTH_MIGRATED;
	p->pkey = hca_packet_get16(h + 2);
	p->becn = h[4] & BTH_BECN;
	p->dqpn = hca_packet_get24(h + 5);
	p->ack_request = h[8] & BTH_ACK_REQUEST;
	p->psn = hca_packet_get24(h + 9);
	return h + HEADER_BTH;
}

static const u8 *hca_packet_read_target(struct hca_packet *p, const u8 *h)
{
	p->addr = hca_packet_get64(h);
	p->key = hca_packet_get32(h + 8);
	return h + 12;
}

/*
 * The version, and the headers that only private packets have and that come before the others.
 * Returns what follows, or NULL: the version is another one, or a reserved bit is set.
 */
static const u8 *hca_packet_read_private(struct hca_packet *p, u16 flags, const u8 *h)
{
	const u8 low = h[0] & PRIVATE_LOW;
	const bool request = flags & HCA_OP_DC && flags & HCA_OP_REQUEST;

	if (h[0] >> PRIVATE_VERSION_SHIFT != HCA_PRIVATE_VERSION)
		return NULL;
	p->sqpn = hca_packet_get24(h + 1);
	h += 4;
	if (p->opcode == HCA_OPCODE_PROBE) {
		p->answer = low & PROBE_ANSWER;
		p->token = hca_packet_get64(h);
		p->time = hca_packet_get64(h + 8);
		return low <= PROBE_ANSWER && (p->answer || !p->time) ? h + HEADER_PROBE : NULL;
	}
	if (request ? low < 1 || low > 5 : low || p->sqpn)
		return NULL;
	if (flags & HCA_OP_DC) {
		p->session = hca_packet_get64(h);
		h += HEADER_DC;
	}
	if (request) {
		p->mtu = low;
		p->dc_key = hca_packet_get64(h);
		h += HEADER_DC_KEY;
	}
	return h;
}

/* The arguments are the data: four operands or two. */
static bool hca_packet_read_ext_atomic(struct hca_packet *p, const u8 *h)
{
	p->add = h[0] & EXT_ATOMIC_ADD;
	p->log_operand = h[1];
	return h[0] <= EXT_ATOMIC_ADD && h[1] >= 2 && h[1] <= 8 && !h[2] && !h[3] &&
	       p->length == (p->add ? 2u : 4u) << p->log_operand;
}

static bool hca_packet_read_extended(struct hca_packet *p, u16 flags, const u8 *h)
{
	if (flags & HCA_OP_PRIVATE)
		h = hca_packet_read_private(p, flags, h);
	if (!h)
		return false;
	if (flags & HCA_OP_XRCETH) {
		p->srqn = hca_packet_get24(h + 1);
		h += 4;
	}
	if (flags & HCA_OP_DETH) {
		p->qkey = hca_packet_get32(h);
		p->sqpn = hca_packet_get24(h + 5);
		h += 8;
	}
	if (flags & (HCA_OP_RETH | HCA_OP_ATOMIC | HCA_OP_EXT_ATOMIC))
		h = hca_packet_read_target(p, h);
	if (flags & HCA_OP_EXT_ATOMIC)
		return hca_packet_read_ext_atomic(p, h);
	if (flags & HCA_OP_RETH) {
		p->dma_length = hca_packet_get32(h);
		h += 4;
	}
	if (flags & HCA_OP_ATOMIC) {
		p->swap_add = hca_packet_get64(h);
		p->compare = hca_packet_get64(h + 8);
	}
	if (flags & HCA_OP_AETH) {
		p->syndrome = h[0];
		p->msn = hca_packet_get24(h + 1);
		h += 4;
	}
	if (flags & HCA_OP_ATOMIC_ACK)
		p->original = hca_packet_get64(h);
	if (flags & (HCA_OP_IMM | HCA_OP_IETH))
		p->imm = hca_packet_get32(h);
	return true;
}

enum hca_packet_error hca_packet_read(struct hca_packet *p, const u8 *frame, u32 bytes)
{
	struct hca_packet_rest r = { frame, bytes };
	enum hca_packet_error err;

	memset(p, 0, sizeof(*p));
	err = hca_packet_read_network(p, &r);
	if (!err)
		err = hca_packet_check(p, &r);
	if (err)
		return err;
	if (!hca_packet_read_extended(p, hca_packet_flags(r.at[0]), hca_packet_read_bth(p, r.at)))
		return HCA_PACKET_BAD;
	return HCA_PACKET_OK;
}

/* ---- Writing ----------------------------------------------------------------------------- */

static u8 *hca_packet_write_ethernet(const struct hca_flow *flow, u8 *h)
{
	static const u16 type[] = {
		[HCA_L3_GRH]	= HCA_ROCE_ETHERTYPE,
		[HCA_L3_IPV6]	= ETHERTYPE_IPV6,
		[HCA_L3_IPV4]	= ETHERTYPE_IPV4,
	};

	memcpy(h, flow->dmac, 6);
	memcpy(h + 6, flow->smac, 6);
	h += 12;
	if (flow->tagged) {
		hca_packet_put16(h, ETHERTYPE_VLAN);
		hca_packet_put16(h + 2, flow->tci);
		h += HEADER_VLAN;
	}
	hca_packet_put16(h, type[flow->l3]);
	return h + 2;
}

/* The identification may be 0, because the packet must not be fragmented. */
static u8 *hca_packet_write_ipv4(const struct hca_flow *flow, u8 *h, u32 payload)
{
	h[0] = IPV4_FIRST;
	h[1] = flow->tclass;
	hca_packet_put16(h + 2, HEADER_IPV4 + payload);
	hca_packet_put16(h + 4, 0);
	hca_packet_put16(h + 6, IPV4_DF);
	h[8] = flow->hop_limit;
	h[9] = PROTOCOL_UDP;
	hca_packet_put16(h + 10, 0);
	memcpy(h + 12, flow->sgid + 12, 4);
	memcpy(h + 16, flow->dgid + 12, 4);
	hca_packet_put16(h + 10, hca_packet_ipv4_checksum(h));
	return h + HEADER_IPV4;
}

static u8 *hca_packet_write_ipv6(const struct hca_flow *flow, u8 *h, u32 payload, u8 protocol)
{
	hca_packet_put32(h, 6u << 28 | flow->tclass << 20 | (flow->flow_label & 0xfffff));
	hca_packet_put16(h + 4, payload);
	h[6] = protocol;
	h[7] = flow->hop_limit;
	memcpy(h + 8, flow->sgid, 16);
	memcpy(h + 24, flow->dgid, 16);
	return h + HEADER_IPV6;
}

static u8 *hca_packet_write_udp(const struct hca_flow *flow, u8 *h, u32 bytes)
{
	hca_packet_put16(h, flow->sport);
	hca_packet_put16(h + 2, HCA_ROCE_UDP_PORT);
	hca_packet_put16(h + 4, bytes);
	hca_packet_put16(h + 6, 0);
	return h + HEADER_UDP;
}

/* All headers before the BTH; @bytes: from the BTH to the ICRC */
static u8 *hca_packet_write_network(const struct hca_flow *flow, u8 *h, u32 bytes)
{
	h = hca_packet_write_ethernet(flow, h);
	if (flow->l3 == HCA_L3_GRH)
		return hca_packet_write_ipv6(flow, h, bytes, PROTOCOL_IBA);
	bytes += HEADER_UDP;
	if (flow->l3 == HCA_L3_IPV4)
		h = hca_packet_write_ipv4(flow, h, bytes);
	else
		h = hca_packet_write_ipv6(flow, h, bytes, PROTOCOL_UDP);
	return hca_packet_write_udp(flow, h, bytes);
}

static u8 *hca_packet_write_bth(const struct hca_packet *p, u8 *h)
{
	h[0] = p->opcode;
	h[1] = (p->solicited ? BTH_SOLICITED : 0) | (p->migrated ? BTH_MIGRATED : 0) |
	       hca_packet_pad(p) << BTH_PAD_SHIFT;
	hca_packet_put16(h + 2, p->pkey);
	h[4] = p->becn ? BTH_BECN : 0;
	hca_packet_put24(h + 5, p->dqpn);
	h[8] = p->ack_request ? BTH_ACK_REQUEST : 0;
	hca_packet_put24(h + 9, p->psn);
	return h + HEADER_BTH;
}

static u8 *hca_packet_write_target(const struct hca_packet *p, u8 *h)
{
	hca_packet_put64(h, p->addr);
	hca_packet_put32(h + 8, p->key);
	return h + 12;
}

static u8 *hca_packet_write_private(const struct hca_packet *p, u16 flags, u8 *h)
{
	const bool probe = p->opcode == HCA_OPCODE_PROBE;
	const bool request = flags & HCA_OP_DC && flags & HCA_OP_REQUEST;
	const u8 low = probe ? p->answer : request ? p->mtu : 0;

	h[0] = HCA_PRIVATE_VERSION << PRIVATE_VERSION_SHIFT | low;
	hca_packet_put24(h + 1, probe || request ? p->sqpn : 0);
	h += 4;
	if (probe) {
		hca_packet_put64(h, p->token);
		hca_packet_put64(h + 8, p->time);
		h += HEADER_PROBE;
	}
	if (flags & HCA_OP_DC) {
		hca_packet_put64(h, p->session);
		h += HEADER_DC;
	}
	if (request) {
		hca_packet_put64(h, p->dc_key);
		h += HEADER_DC_KEY;
	}
	return h;
}

static u8 *hca_packet_write_extended(const struct hca_packet *p, u16 flags, u8 *h)
{
	if (flags & HCA_OP_PRIVATE)
		h = hca_packet_write_private(p, flags, h);
	if (flags & HCA_OP_XRCETH) {
		hca_packet_put32(h, p->srqn & 0xffffff);
		h += 4;
	}
	if (flags & HCA_OP_DETH) {
		hca_packet_put32(h, p->qkey);
		hca_packet_put32(h + 4, p->sqpn & 0xffffff);
		h += 8;
	}
	if (flags & (HCA_OP_RETH | HCA_OP_ATOMIC | HCA_OP_EXT_ATOMIC))
		h = hca_packet_write_target(p, h);
	if (flags & HCA_OP_EXT_ATOMIC) {
		hca_packet_put32(h, (p->add ? EXT_ATOMIC_ADD : 0) << 24 | p->log_operand << 16);
		h += 4;
	}
	if (flags & HCA_OP_RETH) {
		hca_packet_put32(h, p->dma_length);
		h += 4;
	}
	if (flags & HCA_OP_ATOMIC) {
		hca_packet_put64(h, p->swap_add);
		hca_packet_put64(h + 8, p->compare);
		h += 16;
	}
	if (flags & HCA_OP_AETH) {
		h[0] = p->syndrome;
		hca_packet_put24(h + 1, p->msn);
		h += 4;
	}
	if (flags & HCA_OP_ATOMIC_ACK) {
		hca_packet_put64(h, p->original);
		h += 8;
	}
	if (flags & (HCA_OP_IMM | HCA_OP_IETH)) {
		hca_packet_put32(h, p->imm);
		h += 4;
	}
	return h;
}

u8 *hca_packet_write(const struct hca_packet *p, u8 *frame)
{
	const u32 bytes = hca_packet_bytes(p) - hca_packet_network_bytes(&p->flow);
	u8 *h = hca_packet_write_network(&p->flow, frame, bytes);

	h = hca_packet_write_extended(p, hca_packet_flags(p->opcode), hca_packet_write_bth(p, h));
	if (p->opcode != OPCODE_CNP)
		return h;
	memset(h, 0, HEADER_CNP);
	return h + HEADER_CNP;
}

void hca_packet_seal(const struct hca_packet *p, u8 *frame)
{
	const u8 *network = frame + HEADER_ETHERNET + (p->flow.tagged ? HEADER_VLAN : 0);
	u8 *icrc = frame + hca_packet_bytes(p) - TRAILER_ICRC;
	u32 v;

	memset(icrc - hca_packet_pad(p), 0, hca_packet_pad(p));
	v = hca_icrc(p->flow.l3, network, icrc - network);
	icrc[0] = v;
	icrc[1] = v >> 8;
	icrc[2] = v >> 16;
	icrc[3] = v >> 24;
}
