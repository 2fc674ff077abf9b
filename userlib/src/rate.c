// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Conversion of static rates: enum xv_rate, multiples of 2.5 Gb/s, Mb/s.
 */
#include "internal.h"

/* mult is -1 where libibverbs has no multiple. */
static const struct {
	enum xv_rate rate;
	int mult;
	int mbps;
} rates[] = {
	{ XV_RATE_2_5_GBPS, 1, 2500 },
	{ XV_RATE_5_GBPS, 2, 5000 },
	{ XV_RATE_10_GBPS, 4, 10000 },
	{ XV_RATE_20_GBPS, 8, 20000 },
	{ XV_RATE_30_GBPS, 12, 30000 },
	{ XV_RATE_40_GBPS, 16, 40000 },
	{ XV_RATE_60_GBPS, 24, 60000 },
	{ XV_RATE_80_GBPS, 32, 80000 },
	{ XV_RATE_120_GBPS, 48, 120000 },
	{ XV_RATE_14_GBPS, -1, 14062 },
	{ XV_RATE_56_GBPS, -1, 56250 },
	{ XV_RATE_112_GBPS, -1, 112500 },
	{ XV_RATE_168_GBPS, -1, 168750 },
	{ XV_RATE_25_GBPS, -1, 25781 },
	{ XV_RATE_100_GBPS, -1, 103125 },
	{ XV_RATE_200_GBPS, -1, 206250 },
	{ XV_RATE_300_GBPS, -1, 309375 },
	{ XV_RATE_28_GBPS, 11, 28125 },
	{ XV_RATE_50_GBPS, 20, 53125 },
	{ XV_RATE_400_GBPS, 160, 425000 },
	{ XV_RATE_600_GBPS, 240, 637500 },
	{ XV_RATE_800_GBPS, 320, 850000 },
	{ XV_RATE_1200_GBPS, 480, 1275000 },
};

XV_EXPORT int xv_rate_to_mult(enum xv_rate rate)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rates); i++)
		if (rates[i].rate == rate)
			return rates[i].mult;
	return -1;
}

XV_EXPORT enum xv_rate xv_mult_to_rate(int mult)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rates); i++)
		if (mult > 0 && rates[i].mult == mult)
			return rates[i].rate;
	return XV_RATE_MAX;
}

XV_EXPORT int xv_rate_to_mbps(enum xv_rate rate)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rates); i++)
		if (rates[i].rate == rate)
			return rates[i].mbps;
	return -1;
}

XV_EXPORT enum xv_rate xv_mbps_to_rate(int mbps)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rates); i++)
		if (rates[i].mbps == mbps)
			return rates[i].rate;
	return XV_RATE_MAX;
}
