/* SPDX-License-Identifier: GPL-2.0 */
/* The host side of the driver has no part in hca/. */
#ifndef SHIM_MLX5_DRIVER_H
#define SHIM_MLX5_DRIVER_H

#include <linux/kernel.h>

struct completion { int unused; };
struct mlx5_core_hca_cap { u32 cur[1], max[1]; };
struct mlx5_core_dev {
	struct { struct mlx5_core_hca_cap *hca[32]; } caps;
};

static inline bool mlx5_get_roce_state(struct mlx5_core_dev *dev)
{
	return !dev;
}

struct mlx5_core_rsc_common { int unused; };
struct mlx5_core_rsc { int unused; };

#endif
