// SPDX-License-Identifier: GPL-2.0
/*
 * Performance management: the adapter answers requests to QP 1 of a port for its counters, as
 * firmware does.  The driver does not see them.
 *
 * Ports damage and lose no packet, so the error counters are zero.  Counters cannot be set.
 * Formats: InfiniBand Architecture Specification, chapter 16.1 (rdma/ib_pma.h of the kernel).
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include "sa/sa.h"

enum {
	DATA	= 64,	/* offset in the MAD */
	WORD	= 4,	/* bytes that the data counters count as one */
};

static u16 hca_pma_class(const struct hca_port *port, u8 *data)
{
	struct hca_class_port_info info = {
		.base_version = HCA_MAD_BASE_VERSION,
		.class_version = HCA_PMA_VERSION,
		.cap_mask = cpu_to_be16(HCA_PMA_CAP_EXTENDED),
	};

	memcpy(data, &info, sizeof(info));
	return HCA_MAD_OK;
}

static __be32 hca_pma_limit(u64 value)
{
	return cpu_to_be32(min_t(u64, value, U32_MAX));
}

/* Counters of 32 bits stay at their greatest value. */
static u16 hca_pma_counters(const struct hca_port *port, u8 *data)
{
	const struct hca_port_counters *n = &port->count;
	struct hca_pma_counters c = {
		.port = port->number,
		.xmit_data = hca_pma_limit(n->xmit_bytes / WORD),
		.rcv_data = hca_pma_limit(n->rcv_bytes / WORD),
		.xmit_packets = hca_pma_limit(n->xmit_packets),
		.rcv_packets = hca_pma_limit(n->rcv_packets),
	};

	memcpy(data, &c, sizeof(c));
	return HCA_MAD_OK;
}

static u16 hca_pma_extended(const struct hca_port *port, u8 *data)
{
	const struct hca_port_counters *n = &port->count;
	struct hca_pma_extended c = {
		.port = port->number,
		.xmit_data = cpu_to_be64(n->xmit_bytes / WORD),
		.rcv_data = cpu_to_be64(n->rcv_bytes / WORD),
		.xmit_packets = cpu_to_be64(n->xmit_packets),
		.rcv_packets = cpu_to_be64(n->rcv_packets),
		.ucast_xmit = cpu_to_be64(n->xmit_packets - n->mcast_xmit_packets),
		.ucast_rcv = cpu_to_be64(n->rcv_packets - n->mcast_rcv_packets),
		.mcast_xmit = cpu_to_be64(n->mcast_xmit_packets),
		.mcast_rcv = cpu_to_be64(n->mcast_rcv_packets),
	};

	memcpy(data, &c, sizeof(c));
	return HCA_MAD_OK;
}

/* Counters name a port: this one, or all (0xff). */
static const struct {
	u16 id;
	bool names_port;
	u16 (*get)(const struct hca_port *port, u8 *data);
} pma_attributes[] = {
	{ 0x01, false, hca_pma_class },
	{ 0x12, true, hca_pma_counters },
	{ 0x1d, true, hca_pma_extended },
};

static u16 hca_pma_get(const struct hca_port *port, const struct hca_mad *in, u8 *data)
{
	u8 number = data[1];
	u32 i;

	memset(data, 0, sizeof(*in) - DATA);
	if (in->base_version != HCA_MAD_BASE_VERSION || in->class_version != HCA_PMA_VERSION)
		return HCA_MAD_BAD_VERSION;
	if (in->method != HCA_METHOD_GET)
		return HCA_MAD_BAD_ATTRIBUTE;
	for (i = 0; i < ARRAY_SIZE(pma_attributes); i++) {
		if (pma_attributes[i].id != be16_to_cpu(in->attr_id))
			continue;
		if (pma_attributes[i].names_port && number != port->number && number != 0xff)
			return HCA_MAD_BAD_VALUE;
		return pma_attributes[i].get(port, data);
	}
	return HCA_MAD_BAD_ATTRIBUTE;
}

bool hca_pma_answer(const struct hca_port *port, const struct hca_mad *in, struct hca_mad *out)
{
	if (in->method != HCA_METHOD_GET && in->method != HCA_METHOD_SET)
		return false;
	*out = *in;
	out->method = HCA_METHOD_GET | HCA_MAD_RESPONSE;
	out->status = cpu_to_be16(hca_pma_get(port, in, (u8 *)out + DATA));
	return true;
}
