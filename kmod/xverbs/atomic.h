/* SPDX-License-Identifier: GPL-2.0 */
/* Masked atomics */
#ifndef XV_ATOMIC_H
#define XV_ATOMIC_H

#include "xv.h"

u32 xv_atomic_sizes(const struct mlx5_core_dev *mdev);
/* atomic_mode of a context for the largest operand that the adapter supports */
u8 xv_atomic_mode(const struct mlx5_core_dev *mdev, u32 type);
/* Bytes that the arguments take in a request whose operand has @operand bytes */
u32 xv_atomic_arg_bytes(u32 operand);
/* The largest operand whose arguments fit into @room bytes, or 0 */
u32 xv_atomic_largest(const struct mlx5_core_dev *mdev, u32 room);
void xv_atomic_query(const struct mlx5_core_dev *mdev,
		     struct xverbs_query_device *out);

#endif
