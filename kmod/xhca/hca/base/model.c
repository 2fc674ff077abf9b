// SPDX-License-Identifier: GPL-2.0
/*
 * Generations of adapters: what differs between them.  All else is the same for each model
 * (limits.h, cmd/caps.c).  kmod/README.md, "Models", has the source of each value.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include "base/model.h"

#define ATOMICS_TO_32	0x3c
#define ATOMICS_TO_256	0x1fc

static const struct hca_model models[] = {
	{
		.name = "cx5", .device_id = 0x1017, .fw_major = 16, .fw_minor = 35, .fw_sub = 2000,
		.clock_khz = 156250, .atomic_sizes = ATOMICS_TO_32, .infiniband = true,
	}, {
		.name = "cx6dx", .device_id = 0x101d, .fw_major = 22, .fw_minor = 31,
		.fw_sub = 1014, .clock_khz = 1000000, .atomic_sizes = ATOMICS_TO_32,
	}, {
		.name = "cx7", .device_id = 0x1021, .fw_major = 28, .fw_minor = 39, .fw_sub = 1002,
		.clock_khz = 1000000, .atomic_sizes = ATOMICS_TO_32, .infiniband = true,
		.wait_on_data = true, .wait_on_time = true,
	}, {
		/* No generation: the newest one, with all that xhca can execute */
		.name = "all", .device_id = 0x1021, .fw_major = 28, .fw_minor = 39, .fw_sub = 1002,
		.clock_khz = 1000000, .atomic_sizes = ATOMICS_TO_256, .infiniband = true,
		.wait_on_data = true, .wait_on_time = true,
	},
};

const struct hca_model *hca_model_find(const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(models); i++)
		if (!strcmp(models[i].name, name))
			return &models[i];
	return NULL;
}

#undef ATOMICS_TO_32
#undef ATOMICS_TO_256
