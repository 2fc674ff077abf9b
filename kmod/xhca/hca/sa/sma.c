// SPDX-License-Identifier: GPL-2.0
/*
 * Subnet management: what a port says about itself and its node, and the state of the manager.
 *
 * Requests to the manager come from QP 0 of a port.  Those to a port come from the driver, which
 * receives them with its QP 0, by the command MAD_IFC.  Nothing can be set: the manager is a part
 * of the adapter and knows its ports.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include "base/limits.h"
#include "sa/sa.h"

enum {
	PKEYS_PER_BLOCK	= 32,
	STATE_MASTER	= 3,
};

static u16 hca_sma_description(const struct hca_port *port, const struct hca_smp *in, u8 *data)
{
	struct hca_node_record node = hca_sa_node(port);

	memcpy(data, node.description, HCA_SMP_DATA);
	return HCA_MAD_OK;
}

static u16 hca_sma_node(const struct hca_port *port, const struct hca_smp *in, u8 *data)
{
	struct hca_node_info info = hca_sa_node(port).info;

	memcpy(data, &info, sizeof(info));
	return HCA_MAD_OK;
}

/* The modifier is the number of the port; 0 is the port that got the request. */
static u16 hca_sma_port(const struct hca_port *port, const struct hca_smp *in, u8 *data)
{
	u32 number = be32_to_cpu(in->attr_mod);
	struct hca_port_info info;

	if (number && number != port->number) {
		if (!port->hca || number > port->hca->p.num_ports)
			return HCA_MAD_BAD_VALUE;
		port = &port->hca->port[number - 1];
	}
	info = hca_sa_port(port).info;
	memcpy(data, &info, sizeof(info));
	return HCA_MAD_OK;
}

static u16 hca_sma_guids(const struct hca_port *port, const struct hca_smp *in, u8 *data)
{
	__be64 guid = cpu_to_be64(port->guid);

	if (in->attr_mod)
		return HCA_MAD_BAD_VALUE;
	memcpy(data, &guid, sizeof(guid));
	return HCA_MAD_OK;
}

static u16 hca_sma_pkeys(const struct hca_port *port, const struct hca_smp *in, u8 *data)
{
	__be16 pkey = cpu_to_be16(port->pkey);

	if (be32_to_cpu(in->attr_mod) >= HCA_PKEYS / PKEYS_PER_BLOCK)
		return HCA_MAD_BAD_VALUE;
	if (!in->attr_mod)
		memcpy(data, &pkey, sizeof(pkey));
	return HCA_MAD_OK;
}

static u16 hca_sma_manager(const struct hca_port *port, const struct hca_smp *in, u8 *data)
{
	struct hca_sm_info info = {
		.guid = cpu_to_be64(port->guid),
		.state = STATE_MASTER,
	};

	if (port->hca)
		return HCA_MAD_BAD_ATTRIBUTE;
	memcpy(data, &info, sizeof(info));
	return HCA_MAD_OK;
}

static const struct {
	u16 id;
	u16 (*get)(const struct hca_port *port, const struct hca_smp *in, u8 *data);
} sma_attributes[] = {
	{ 0x10, hca_sma_description },
	{ 0x11, hca_sma_node },
	{ 0x14, hca_sma_guids },
	{ 0x15, hca_sma_port },
	{ 0x16, hca_sma_pkeys },
	{ 0x20, hca_sma_manager },
};

static u16 hca_sma_get(const struct hca_port *port, const struct hca_smp *in, u8 *data)
{
	u32 i;

	if (in->base_version != HCA_MAD_BASE_VERSION || in->class_version != HCA_SMP_VERSION)
		return HCA_MAD_BAD_VERSION;
	if (in->method != HCA_METHOD_GET)
		return HCA_MAD_BAD_ATTRIBUTE;
	for (i = 0; i < ARRAY_SIZE(sma_attributes); i++)
		if (sma_attributes[i].id == be16_to_cpu(in->attr_id))
			return sma_attributes[i].get(port, in, data);
	return HCA_MAD_BAD_ATTRIBUTE;
}

bool hca_sma_answer(const struct hca_port *port, const struct hca_smp *in, struct hca_smp *out)
{
	if (in->method != HCA_METHOD_GET && in->method != HCA_METHOD_SET)
		return false;
	*out = *in;
	memset(out->data, 0, sizeof(out->data));
	out->method = HCA_METHOD_GET | HCA_MAD_RESPONSE;
	out->status = cpu_to_be16(hca_sma_get(port, in, out->data));
	return true;
}

/* Counters cannot be cleared; the driver reads them with other commands. */
static void hca_sma_refuse(const struct hca_smp *in, struct hca_smp *out)
{
	*out = *in;
	out->method = HCA_METHOD_GET | HCA_MAD_RESPONSE;
	out->status = cpu_to_be16(HCA_MAD_BAD_ATTRIBUTE);
}

enum hca_synd hca_cmd_mad_ifc(struct hca *hca, const struct hca_cmd *c)
{
	const struct hca_smp *in = MLX5_ADDR_OF(mad_ifc_in, c->in, mad);
	struct hca_smp *out = MLX5_ADDR_OF(mad_ifc_out, c->out, response_mad_packet);
	struct hca_port *port = hca_port_get(hca, MLX5_GET(mad_ifc_in, c->in, port));

	if (!port)
		return HCA_SYND_FUNCTION;
	if (hca->p.roce)
		return HCA_SYND_NOT_IB;
	if (in->mgmt_class != HCA_CLASS_SMP && in->mgmt_class != HCA_CLASS_SMP_DIRECTED)
		hca_sma_refuse(in, out);
	else if (!hca_sma_answer(port, in, out))
		return HCA_SYND_MAD;
	return HCA_OK;
}
