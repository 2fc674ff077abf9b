// SPDX-License-Identifier: GPL-2.0
/*
 * Commands of congestion control: its parameters and counters.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <asm/byteorder.h>
#include "cmd/cmd.h"

enum { REACTION_POINT = 1, NOTIFICATION_POINT = 2, RATE_LIMIT = 100000 };	/* Mb/s */

/* One row for each parameter: its place and its range */
static const struct {
	u8 protocol;
	u8 select;			/* bit of field_select */
	u16 offset;			/* of the layout, in bits */
	u8 bits;
	u32 least, most;
} params[HCA_RATE_PARAMS] = {
#define RP(field, select, least, most)						\
	{ REACTION_POINT, select, __mlx5_bit_off(cong_control_r_roce_ecn_rp, field),	\
	  __mlx5_bit_sz(cong_control_r_roce_ecn_rp, field), least, most }
#define NP(field, select, least, most)						\
	{ NOTIFICATION_POINT, select, __mlx5_bit_off(cong_control_r_roce_ecn_np, field),	\
	  __mlx5_bit_sz(cong_control_r_roce_ecn_np, field), least, most }
	[HCA_RP_CLAMP_TARGET]	= RP(clamp_tgt_rate, 1, 0, 1),
	[HCA_RP_CLAMP_TARGET_AFTER_TIME] = RP(clamp_tgt_rate_after_time_inc, 2, 0, 1),
	[HCA_RP_TIME_RESET]	= RP(rpg_time_reset, 3, 1, 0x1ffff),
	[HCA_RP_BYTE_RESET]	= RP(rpg_byte_reset, 4, 1, 0x7fffffff),
	[HCA_RP_THRESHOLD]	= RP(rpg_threshold, 5, 1, 31),
	[HCA_RP_MAX_RATE]	= RP(rpg_max_rate, 6, 0, RATE_LIMIT),
	[HCA_RP_AI_RATE]	= RP(rpg_ai_rate, 7, 1, RATE_LIMIT),
	[HCA_RP_HAI_RATE]	= RP(rpg_hai_rate, 8, 1, RATE_LIMIT),
	[HCA_RP_MIN_DEC_FAC]	= RP(rpg_min_dec_fac, 9, 0, 100),
	[HCA_RP_MIN_RATE]	= RP(rpg_min_rate, 10, 1, RATE_LIMIT),
	[HCA_RP_FIRST_RATE]	= RP(rate_to_set_on_first_cnp, 11, 0, RATE_LIMIT),
	[HCA_RP_G]		= RP(dce_tcp_g, 12, 0, 1023),
	[HCA_RP_RTT]		= RP(dce_tcp_rtt, 13, 1, 0x1ffff),
	[HCA_RP_MONITOR_PERIOD]	= RP(rate_reduce_monitor_period, 14, 1, 0x1ffff),
	[HCA_RP_INITIAL_ALPHA]	= RP(initial_alpha_value, 15, 0, 1023),
	[HCA_RP_GD]		= RP(rpg_gd, 16, 0, 15),
	[HCA_NP_MIN_TIME]	= NP(min_time_between_cnps, 2, 0, 0x1ffff),
	[HCA_NP_DSCP]		= NP(cnp_dscp, 3, 0, 63),
	[HCA_NP_PRIO_MODE]	= NP(cnp_prio_mode, 4, 0, 1),
	[HCA_NP_PRIO]		= NP(cnp_802p_prio, 4, 0, 7),
#undef RP
#undef NP
};

static u32 hca_cong_shift(unsigned int i)
{
	return 32 - params[i].offset % 32 - params[i].bits;
}

static u32 hca_cong_get(const void *layout, unsigned int i)
{
	u32 dw = be32_to_cpu(((const __be32 *)layout)[params[i].offset / 32]);

	return dw >> hca_cong_shift(i) & (u32)((1ull << params[i].bits) - 1);
}

static void hca_cong_put(void *layout, unsigned int i, u32 value)
{
	((__be32 *)layout)[params[i].offset / 32] |= cpu_to_be32(value << hca_cong_shift(i));
}

static bool hca_cong_is_protocol(u32 protocol)
{
	return protocol == REACTION_POINT || protocol == NOTIFICATION_POINT;
}

enum hca_synd hca_cmd_query_cong_params(struct hca *hca, const struct hca_cmd *c)
{
	void *out = MLX5_ADDR_OF(query_cong_params_out, c->out, congestion_parameters);
	u32 protocol = MLX5_GET(query_cong_params_in, c->in, cong_protocol);
	unsigned int i;

	if (!hca_cong_is_protocol(protocol))
		return HCA_SYND_CONG_PROTOCOL;
	for (i = 0; i < ARRAY_SIZE(params); i++)
		if (params[i].protocol == protocol)
			hca_cong_put(out, i, hca->congestion.param[i]);
	return HCA_OK;
}

/* Changes all parameters that are selected, or none. */
enum hca_synd hca_cmd_modify_cong_params(struct hca *hca, const struct hca_cmd *c)
{
	const void *in = MLX5_ADDR_OF(modify_cong_params_in, c->in, congestion_parameters);
	u32 select = MLX5_GET(modify_cong_params_in, c->in,
			      field_select.field_select_r_roce_rp.field_select_r_roce_rp);
	u32 protocol = MLX5_GET(modify_cong_params_in, c->in, cong_protocol), value;
	u32 new[HCA_RATE_PARAMS];
	unsigned int i;

	if (!hca_cong_is_protocol(protocol))
		return HCA_SYND_CONG_PROTOCOL;
	memcpy(new, hca->congestion.param, sizeof(new));
	for (i = 0; i < ARRAY_SIZE(params); i++) {
		if (params[i].protocol != protocol || !(select & 1u << params[i].select))
			continue;
		value = hca_cong_get(in, i);
		if (value < params[i].least || value > params[i].most)
			return HCA_SYND_CONG_VALUE;
		new[i] = value;
	}
	memcpy(hca->congestion.param, new, sizeof(new));
	return HCA_OK;
}

enum hca_synd hca_cmd_query_cong_statistics(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_congestion *n = &hca->congestion;

#define COUNT(name, value) do {								\
	MLX5_SET(query_cong_statistics_out, c->out, name##_high, (value) >> 32);	\
	MLX5_SET(query_cong_statistics_out, c->out, name##_low, (u32)(value));		\
} while (0)
	COUNT(rp_cnp_ignored, n->cnps_ignored);
	COUNT(rp_cnp_handled, n->cnps_handled);
	COUNT(np_ecn_marked_roce_packets, n->marked);
	COUNT(np_cnp_sent, n->cnps_sent);
#undef COUNT
	if (MLX5_GET(query_cong_statistics_in, c->in, clear))
		n->cnps_ignored = n->cnps_handled = n->marked = n->cnps_sent = 0;
	return HCA_OK;
}
