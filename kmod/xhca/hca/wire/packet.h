/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RoCE packets: their headers, as fields.
 *
 * A frame begins with the Ethernet header and ends with the ICRC.  RoCEv2 (IBTA annex A17) has an
 * IPv4 or IPv6 header and a UDP header before the transport headers, RoCEv1 (annex A16) has a GRH.
 *
 * What no standard encodes has opcodes that are left to the manufacturer, and a version.  The
 * document "The private encoding" in kmod/README.md has its headers byte by byte.
 */
#ifndef _HCA_PACKET_H
#define _HCA_PACKET_H

#include <linux/types.h>

#define HCA_ROCE_UDP_PORT	4791
#define HCA_ROCE_ETHERTYPE	0x8915
#define HCA_FRAME_HEADERS	128	/* bytes: no frame has more before its data */

#define HCA_MULTICAST_QPN	0xffffff
#define HCA_ECN_BITS		0x03	/* of a traffic class */
#define HCA_ECN_CAPABLE		0x02	/* ECT(0) */
#define HCA_ECN_MARKED		0x03

/* The network header of a packet; the values are those of completions. */
enum hca_l3 { HCA_L3_GRH, HCA_L3_IPV6, HCA_L3_IPV4 };

/* Transports: the upper bits of an opcode */
enum {
	HCA_BTH_RC	= 0x00,
	HCA_BTH_UC	= 0x20,
	HCA_BTH_UD	= 0x60,
	HCA_BTH_CNP	= 0x80,
	HCA_BTH_XRC	= 0xa0,
	HCA_BTH_DC	= 0xc0,		/* and other opcodes of the private encoding */
	HCA_BTH_TRANSPORT = 0xe0,
};

#define HCA_VLAN_ID		0xfff	/* of a VLAN tag; the priority is above */

/* Operations: the lower bits */
enum {
	HCA_BTH_SEND_FIRST,
	HCA_BTH_SEND_MIDDLE,
	HCA_BTH_SEND_LAST,
	HCA_BTH_SEND_LAST_IMM,
	HCA_BTH_SEND_ONLY,
	HCA_BTH_SEND_ONLY_IMM,
	HCA_BTH_WRITE_FIRST,
	HCA_BTH_WRITE_MIDDLE,
	HCA_BTH_WRITE_LAST,
	HCA_BTH_WRITE_LAST_IMM,
	HCA_BTH_WRITE_ONLY,
	HCA_BTH_WRITE_ONLY_IMM,
	HCA_BTH_READ_REQUEST,
	HCA_BTH_READ_FIRST,
	HCA_BTH_READ_MIDDLE,
	HCA_BTH_READ_LAST,
	HCA_BTH_READ_ONLY,
	HCA_BTH_ACK,
	HCA_BTH_ATOMIC_ACK,
	HCA_BTH_CMP_SWAP,
	HCA_BTH_FETCH_ADD,
	HCA_BTH_SEND_LAST_INVAL = 0x16,
	HCA_BTH_SEND_ONLY_INVAL,
	HCA_BTH_EXT_ATOMIC,		/* of the private encoding */
	HCA_BTH_EXT_ATOMIC_ACK,
	HCA_BTH_OPERATION = 0x1f,
	HCA_CNP_OPERATION = 0x01,	/* the only one of HCA_BTH_CNP */
};

/* The private encoding */
enum {
	HCA_PRIVATE_VERSION	= 1,
	HCA_OPCODE_PROBE	= 0xdf,
	HCA_EXT_ATOMIC_MAX	= 256,	/* bytes of an operand */
};

/* AETH syndromes: kind and value */
enum {
	HCA_AETH_ACK		= 0x00,
	HCA_AETH_RNR		= 0x20,		/* with the code of a timer */
	HCA_AETH_NAK		= 0x60,		/* with one of these: */
	HCA_NAK_SEQUENCE	= 0,
	HCA_NAK_INVALID		= 1,
	HCA_NAK_ACCESS		= 2,
	HCA_NAK_OPERATION	= 3,
	HCA_AETH_KIND		= 0xe0,
	HCA_AETH_VALUE		= 0x1f,
	HCA_AETH_UNLIMITED	= 0x1f,		/* credits of an ACK */
};

/* What an opcode is */
enum {
	HCA_OP_KNOWN	= 0x0001,
	HCA_OP_REQUEST	= 0x0002,	/* else a response */
	HCA_OP_FIRST	= 0x0004,	/* of a message; an Only packet is both first and last */
	HCA_OP_LAST	= 0x0008,
	/* Extended headers */
	HCA_OP_RETH	= 0x0010,
	HCA_OP_ATOMIC	= 0x0020,
	HCA_OP_AETH	= 0x0040,
	HCA_OP_ATOMIC_ACK = 0x0080,
	HCA_OP_IMM	= 0x0100,
	HCA_OP_IETH	= 0x0200,
	HCA_OP_DETH	= 0x0400,
	HCA_OP_XRCETH	= 0x0800,
	HCA_OP_DATA	= 0x1000,	/* it may carry data */
	HCA_OP_PRIVATE	= 0x2000,	/* the header of the version comes first */
	HCA_OP_DC	= 0x4000,
	HCA_OP_EXT_ATOMIC = 0x8000,
};

/* HCA_OP_* of an opcode; 0: it is unknown */
u16 hca_packet_flags(u8 opcode);
/* HCA_BTH_*: transport and operation of an opcode, and the opcode that has them */
u8 hca_packet_transport(u8 opcode);
u8 hca_packet_operation(u8 opcode);
u8 hca_packet_opcode(u8 transport, u8 operation);

/* The headers that all packets of a queue pair to its peer have in common */
struct hca_flow {
	u8 dmac[6], smac[6];
	bool tagged;			/* it has a VLAN tag */
	u16 tci;			/* its value */
	u8 l3;				/* enum hca_l3 */
	u8 tclass, hop_limit;
	u16 sport;			/* UDP */
	u32 flow_label;
	u8 sgid[16], dgid[16];		/* IPv4 addresses are mapped: ::ffff:a.b.c.d */
};

/* Numbers are in host order; fields of headers that the opcode does not have are not used. */
struct hca_packet {
	struct hca_flow flow;
	bool local;			/* a function of the own fabric has sent it */
	u8 opcode;
	bool solicited, migrated, ack_request, becn;
	u16 pkey;
	u32 dqpn, psn;
	u32 srqn;			/* XRCETH */
	u32 qkey, sqpn;			/* DETH; sqpn: also requests of DC, and a probe */
	u8 mtu;				/* request of DC: of the session, IB_MTU_* */
	u64 session, dc_key;		/* DC; dc_key: of a request */
	bool answer;			/* probe, with the next two: */
	u64 token, time;
	bool add;			/* extended atomic: FETCH & ADD, else CMP & SWAP */
	u8 log_operand;			/* bytes of its operand */
	u64 addr;			/* RETH, AtomicETH */
	u32 key;
	u32 dma_length;			/* RETH */
	u64 swap_add, compare;		/* AtomicETH */
	u8 syndrome;			/* AETH */
	u32 msn;
	u64 original;			/* AtomicAckETH */
	u32 imm;			/* ImmDt; IETH: the key */
	u32 length;			/* of the data, without padding */
	const u8 *data;			/* in a frame that was read */
	const u8 *network;		/* the IP header or GRH there */
};

/* Why a frame is dropped */
enum hca_packet_error {
	HCA_PACKET_OK,
	HCA_PACKET_OTHER,		/* not RoCE */
	HCA_PACKET_BAD,			/* lengths or fields that do not fit */
	HCA_PACKET_UNKNOWN,		/* an opcode that is not known */
	HCA_PACKET_ICRC,		/* damaged */
};

/* Reads and checks all of a frame, which may have padding after the packet. */
enum hca_packet_error hca_packet_read(struct hca_packet *p, const u8 *frame, u32 bytes);

/* Bytes before the data, by opcode and flow */
u32 hca_packet_header_bytes(const struct hca_packet *p);
/* Bytes of the frame, with padding of the data and ICRC */
u32 hca_packet_bytes(const struct hca_packet *p);
/* Writes the headers.  The data goes to the address that is returned. */
u8 *hca_packet_write(const struct hca_packet *p, u8 *frame);
/* After the data was written: pads it and adds the ICRC. */
void hca_packet_seal(const struct hca_packet *p, u8 *frame);

/* The source port that belongs to a flow label (IBTA A17; rdma_flow_label_to_udp_sport()) */
u16 hca_flow_sport(u32 flow_label);

#endif
