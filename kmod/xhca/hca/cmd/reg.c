// SPDX-License-Identifier: GPL-2.0
/*
 * Port and device registers of ACCESS_REG: a table with one row for each register.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <asm/byteorder.h>
#include "cmd/cmd.h"

enum {
	REG_ROCE_ACCL = 0x402c,
	REG_PMTU = 0x5003,
	REG_PTYS = 0x5004,
	REG_PPCNT = 0x5008,
	REG_PVLC = 0x500f,
	REG_PCAM = 0x507f,
	REG_NODE_DESC = 0x6001,
	REG_HOST_ENDIANNESS = 0x7004,
	REG_MCQS = 0x9060,
	REG_MCQI = 0x9061,
	REG_MCAM = 0x907f,
};

enum { ACCESS_WRITE = 0, ACCESS_READ = 1 };

/* ROCE_ACCL: a bit of the first dword selects the bit at the same place of the second dword. */
enum {
	ACCL_BYTES		= 0x80,
	ACCL_ADP_RETRANS	= 1 << 0,
	ACCL_NO_LEAST_TIMEOUT	= 1 << 4,	/* min_ack_timeout_limit_disabled */
};

enum {
	PTYS_IB_4X		= 1 << 2,
	PTYS_IB_EDR		= 1 << 5,
	ETH_100GBASE_CR4	= 1 << 20,
	MAX_ETH_MTU		= 9978,
	MAX_IB_MTU		= 4096,
	MAX_LANES		= 1,	/* code of one virtual lane */
};

/* Registers of ports name the port at the same place. */
static struct hca_port *hca_reg_port_of(struct hca *hca, const void *in)
{
	return hca_port_get(hca, MLX5_GET(pmtu_reg, in, local_port));
}

static enum hca_synd hca_reg_read_pmtu(struct hca *hca, const void *in, void *out)
{
	u32 max = hca->p.roce ? MAX_ETH_MTU : MAX_IB_MTU;

	if (!hca_reg_port_of(hca, in))
		return HCA_SYND_FUNCTION;
	MLX5_SET(pmtu_reg, out, local_port, MLX5_GET(pmtu_reg, in, local_port));
	MLX5_SET(pmtu_reg, out, max_mtu, max);
	MLX5_SET(pmtu_reg, out, admin_mtu, max);
	MLX5_SET(pmtu_reg, out, oper_mtu, max);
	return HCA_OK;
}

static enum hca_synd hca_reg_read_ptys(struct hca *hca, const void *in, void *out)
{
	if (!hca_reg_port_of(hca, in))
		return HCA_SYND_FUNCTION;
	MLX5_SET(ptys_reg, out, local_port, MLX5_GET(ptys_reg, in, local_port));
	MLX5_SET(ptys_reg, out, proto_mask, MLX5_GET(ptys_reg, in, proto_mask));
	if (hca->p.roce) {
		MLX5_SET(ptys_reg, out, eth_proto_capability, ETH_100GBASE_CR4);
		MLX5_SET(ptys_reg, out, eth_proto_admin, ETH_100GBASE_CR4);
		MLX5_SET(ptys_reg, out, eth_proto_oper, ETH_100GBASE_CR4);
	} else {
		MLX5_SET(ptys_reg, out, ib_link_width_capability, PTYS_IB_4X);
		MLX5_SET(ptys_reg, out, ib_proto_capability, PTYS_IB_EDR);
		MLX5_SET(ptys_reg, out, ib_link_width_admin, PTYS_IB_4X);
		MLX5_SET(ptys_reg, out, ib_proto_admin, PTYS_IB_EDR);
		MLX5_SET(ptys_reg, out, ib_link_width_oper, PTYS_IB_4X);
		MLX5_SET(ptys_reg, out, ib_proto_oper, PTYS_IB_EDR);
	}
	return HCA_OK;
}

static enum hca_synd hca_reg_read_pvlc(struct hca *hca, const void *in, void *out)
{
	if (!hca_reg_port_of(hca, in))
		return HCA_SYND_FUNCTION;
	MLX5_SET(pvlc_reg, out, local_port, MLX5_GET(pvlc_reg, in, local_port));
	MLX5_SET(pvlc_reg, out, vl_hw_cap, MAX_LANES);
	MLX5_SET(pvlc_reg, out, vl_admin, MAX_LANES);
	MLX5_SET(pvlc_reg, out, vl_operational, MAX_LANES);
	return HCA_OK;
}

/* Which port features there are: only the counter of packets with a wrong ICRC. */
static enum hca_synd hca_reg_read_pcam(struct hca *hca, const void *in, void *out)
{
	u32 features = MLX5_GET(pcam_reg, in, feature_group);

	MLX5_SET(pcam_reg, out, feature_group, features);
	MLX5_SET(pcam_reg, out, access_reg_group, MLX5_GET(pcam_reg, in, access_reg_group));
	if (features == MLX5_PCAM_FEATURE_ENHANCED_FEATURES)
		MLX5_SET(pcam_reg, out,
			 feature_cap_mask.enhanced_features.rx_icrc_encapsulated_counter,
			 hca->p.roce);
	return HCA_OK;
}

static void hca_reg_put_icrc_errors(void *set, u64 n)
{
	MLX5_SET(eth_extended_cntrs_grp_data_layout, set, rx_icrc_encapsulated_high, n >> 32);
	MLX5_SET(eth_extended_cntrs_grp_data_layout, set, rx_icrc_encapsulated_low, (u32)n);
}

/* The other error counters of a port are zero: it damages and loses no packet. */
static enum hca_synd hca_reg_read_ppcnt(struct hca *hca, const void *in, void *out)
{
	enum { IEEE_802_3 = 0x0, EXTENDED = 0x5, IB_PORT = 0x20 };
	struct hca_port *port = hca_reg_port_of(hca, in);
	void *set = MLX5_ADDR_OF(ppcnt_reg, out, counter_set);
	u32 group = MLX5_GET(ppcnt_reg, in, grp);
	__be64 *counter = set;

	if (!port)
		return HCA_SYND_FUNCTION;
	MLX5_SET(ppcnt_reg, out, local_port, MLX5_GET(ppcnt_reg, in, local_port));
	MLX5_SET(ppcnt_reg, out, grp, group);
	switch (group) {
	case IB_PORT:
		return HCA_OK;
	case EXTENDED:
		hca_reg_put_icrc_errors(set, port->count.icrc_errors);
		return HCA_OK;
	case IEEE_802_3:
		/* In pairs of high and low dwords: frames out, in; octets; multicast */
		counter[0] = cpu_to_be64(port->count.xmit_packets);
		counter[1] = cpu_to_be64(port->count.rcv_packets);
		counter[4] = cpu_to_be64(port->count.xmit_bytes);
		counter[5] = cpu_to_be64(port->count.rcv_bytes);
		counter[6] = cpu_to_be64(port->count.mcast_xmit_packets);
		counter[8] = cpu_to_be64(port->count.mcast_rcv_packets);
		return HCA_OK;
	default:
		return HCA_SYND_REGISTER_VALUE;
	}
}

static enum hca_synd hca_reg_read_node_desc(struct hca *hca, const void *in, void *out)
{
	memcpy(out, hca->node_desc, sizeof(hca->node_desc));
	return HCA_OK;
}

static enum hca_synd hca_reg_write_node_desc(struct hca *hca, const void *in)
{
	memcpy(hca->node_desc, in, sizeof(hca->node_desc));
	return HCA_OK;
}

/* 0: the byte order of the host */
static enum hca_synd hca_reg_write_host_endianness(struct hca *hca, const void *in)
{
	return *(const u8 *)in ? HCA_SYND_REGISTER_VALUE : HCA_OK;
}

/* Short timeouts ("adaptive retransmission") belong to the mode with a least timeout. */
static enum hca_synd hca_reg_read_roce_accl(struct hca *hca, const void *in, void *out)
{
	u32 set = hca->no_least_timeout ? ACCL_NO_LEAST_TIMEOUT : ACCL_ADP_RETRANS;
	__be32 *dwords = out;

	if (!hca->p.roce)
		return HCA_SYND_NOT_ROCE;
	dwords[0] = cpu_to_be32(ACCL_NO_LEAST_TIMEOUT);
	dwords[1] = cpu_to_be32(set);
	return HCA_OK;
}

static enum hca_synd hca_reg_write_roce_accl(struct hca *hca, const void *in)
{
	u32 select = hca_dword(in, 0), set = hca_dword(in, 32);

	if (!hca->p.roce)
		return HCA_SYND_NOT_ROCE;
	if (select & ~(u32)ACCL_NO_LEAST_TIMEOUT)
		return HCA_SYND_REGISTER_VALUE;
	if (select)
		hca->no_least_timeout = set & ACCL_NO_LEAST_TIMEOUT;
	return HCA_OK;
}

/* Which management registers there are: only those that tell the version of the firmware. */
static enum hca_synd hca_reg_read_mcam(struct hca *hca, const void *in, void *out)
{
	u32 group = MLX5_GET(mcam_reg, in, access_reg_group);

	MLX5_SET(mcam_reg, out, access_reg_group, group);
	if (group != MLX5_MCAM_REGS_FIRST_128)
		return HCA_OK;
	MLX5_SET(mcam_reg, out, mng_access_reg_cap_mask.access_regs.mcqi, 1);
	MLX5_SET(mcam_reg, out, mng_access_reg_cap_mask.access_regs.mcqs, 1);
	return HCA_OK;
}

/* There is one component, the firmware; no update waits for a reset. */
static enum hca_synd hca_reg_read_mcqs(struct hca *hca, const void *in, void *out)
{
	enum { BOOT_IMG = 1 };

	if (MLX5_GET(mcqs_reg, in, component_index))
		return HCA_SYND_REGISTER_VALUE;
	MLX5_SET(mcqs_reg, out, last_index_flag, 1);
	MLX5_SET(mcqs_reg, out, identifier, BOOT_IMG);
	return HCA_OK;
}

static enum hca_synd hca_reg_read_mcqi(struct hca *hca, const void *in, void *out)
{
	enum { VERSION = 1 };
	void *data = MLX5_ADDR_OF(mcqi_reg, out, data);
	const struct hca_model *m = hca->p.model;

	if (MLX5_GET(mcqi_reg, in, component_index) || MLX5_GET(mcqi_reg, in, offset) ||
	    MLX5_GET(mcqi_reg, in, info_type) != VERSION)
		return HCA_SYND_REGISTER_VALUE;
	MLX5_SET(mcqi_reg, out, info_type, VERSION);
	MLX5_SET(mcqi_reg, out, info_size, MLX5_ST_SZ_BYTES(mcqi_version));
	MLX5_SET(mcqi_reg, out, data_size, MLX5_ST_SZ_BYTES(mcqi_version));
	MLX5_SET(mcqi_version, data, version,
		 m->fw_major << 24 | m->fw_minor << 16 | m->fw_sub);
	return HCA_OK;
}

static const struct reg {
	u16 id;
	u16 in, out;			/* bytes */
	enum hca_synd (*read)(struct hca *hca, const void *in, void *out);
	enum hca_synd (*write)(struct hca *hca, const void *in);
} regs[] = {
#define READ_ONLY(id, layout, read) \
	{ id, MLX5_ST_SZ_BYTES(layout), MLX5_ST_SZ_BYTES(layout), read, NULL }
	READ_ONLY(REG_PMTU, pmtu_reg, hca_reg_read_pmtu),
	READ_ONLY(REG_PTYS, ptys_reg, hca_reg_read_ptys),
	READ_ONLY(REG_PPCNT, ppcnt_reg, hca_reg_read_ppcnt),
	READ_ONLY(REG_PVLC, pvlc_reg, hca_reg_read_pvlc),
	READ_ONLY(REG_PCAM, pcam_reg, hca_reg_read_pcam),
	READ_ONLY(REG_MCAM, mcam_reg, hca_reg_read_mcam),
	READ_ONLY(REG_MCQS, mcqs_reg, hca_reg_read_mcqs),
#undef READ_ONLY
	{ REG_MCQI, MLX5_ST_SZ_BYTES(mcqi_reg),
	  MLX5_ST_SZ_BYTES(mcqi_reg) + MLX5_ST_SZ_BYTES(mcqi_version), hca_reg_read_mcqi, NULL },
	{ REG_ROCE_ACCL, ACCL_BYTES, ACCL_BYTES, hca_reg_read_roce_accl, hca_reg_write_roce_accl },
	{ REG_NODE_DESC, 64, 64, hca_reg_read_node_desc, hca_reg_write_node_desc },
	{ REG_HOST_ENDIANNESS, 16, 16, NULL, hca_reg_write_host_endianness },
};

static const struct reg *hca_reg_find(u16 id)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(regs); i++)
		if (regs[i].id == id)
			return &regs[i];
	return NULL;
}

enum hca_synd hca_cmd_access_reg(struct hca *hca, const struct hca_cmd *c)
{
	const struct reg *reg = hca_reg_find(MLX5_GET(access_register_in, c->in, register_id));
	const void *in = MLX5_ADDR_OF(access_register_in, c->in, register_data);
	void *out = MLX5_ADDR_OF(access_register_out, c->out, register_data);

	if (c->op_mod > ACCESS_READ)
		return HCA_SYND_OPMOD;
	if (!reg || (c->op_mod == ACCESS_READ ? !reg->read : !reg->write))
		return HCA_SYND_REGISTER;
	if (c->inlen < MLX5_ST_SZ_BYTES(access_register_in) + reg->in)
		return HCA_SYND_INLEN;
	if (c->op_mod == ACCESS_WRITE)
		return reg->write(hca, in);
	if (c->outlen < MLX5_ST_SZ_BYTES(access_register_out) + reg->out)
		return HCA_SYND_OUTLEN;
	return reg->read(hca, in, out);
}
