// SPDX-License-Identifier: GPL-2.0
/* Atomic operations: what the adapter supports, and what a queue pair needs for them */
#include <linux/log2.h>
#include <linux/mlx5/device.h>
#include <rdma/mlx5_ring.h>

#include "atomic.h"

#define XV_ATOMIC_BASIC	(MLX5_ATOMIC_OPS_CMP_SWAP | MLX5_ATOMIC_OPS_FETCH_ADD)
#define XV_ATOMIC_MASKED (MLX5_ATOMIC_OPS_EXTENDED_CMP_SWAP | \
			  MLX5_ATOMIC_OPS_EXTENDED_FETCH_ADD)
#define XV_ATOMIC_SIZES	(2 * MLX5R_ATOMIC_MAX - MLX5R_ATOMIC_MIN)

/*
 * Arguments of a request: four fields for compare-and-swap, two for fetch-and-add. A
 * request has room for four fields of half the largest operand, or two of the largest.
 */
#define XV_ATOMIC_ARGS_MAX	(2 * MLX5R_ATOMIC_MAX)

static bool xv_atomic_has(const struct mlx5_core_dev *mdev, u32 ops)
{
	return MLX5_CAP_GEN(mdev, atomic) &&
	       (MLX5_CAP_ATOMIC(mdev, atomic_operations) & ops) == ops;
}

/* Operands of masked atomics: the value of a bit is the size in bytes (PRM). */
u32 xv_atomic_sizes(const struct mlx5_core_dev *mdev)
{
	if (!xv_atomic_has(mdev, XV_ATOMIC_BASIC | XV_ATOMIC_MASKED))
		return 0;
	return MLX5_CAP_ATOMIC(mdev, atomic_size_qp) & XV_ATOMIC_SIZES;
}

u8 xv_atomic_mode(const struct mlx5_core_dev *mdev, u32 type)
{
	u32 sizes = xv_atomic_sizes(mdev);

	if (sizes && type == XVERBS_QPT_DCI)
		sizes = MLX5_CAP_ATOMIC(mdev, atomic_size_dc) & XV_ATOMIC_SIZES;
	if (sizes >= sizeof(u64))
		return ilog2(sizes);	/* 3: 8 bytes, 4: 16 bytes... */
	return xv_atomic_has(mdev, XV_ATOMIC_BASIC) ? MLX5_ATOMIC_MODE_IB_COMP : 0;
}

u32 xv_atomic_arg_bytes(u32 operand)
{
	return min_t(u64, 4ull * operand, XV_ATOMIC_ARGS_MAX);
}

u32 xv_atomic_largest(const struct mlx5_core_dev *mdev, u32 room)
{
	u32 sizes = xv_atomic_sizes(mdev), operand;

	for (operand = MLX5R_ATOMIC_MAX; operand >= MLX5R_ATOMIC_MIN; operand /= 2)
		if (sizes & operand && xv_atomic_arg_bytes(operand) <= room)
			return operand;
	return 0;
}

/*
 * Fields of the page that the kernel's header does not describe (PRM): operations that
 * are atomic with respect to CPUs, bit n for operands of 4 << n bytes.
 */
#define XV_PCI_FADD_SWAP	(0x50 / 4)	/* dword: 31:16 fetch-and-add, 15:0 swap */
#define XV_PCI_CSWAP		(0x54 / 4)	/* 31:16 compare-and-swap */

static void xv_atomic_query_pci(const struct mlx5_core_dev *mdev,
				struct xverbs_query_device *out)
{
	const __be32 *page = xv_compat_caps(mdev, MLX5_CAP_ATOMIC);
	u32 fadd_swap = be32_to_cpu(page[XV_PCI_FADD_SWAP]);

	out->out_pci_atomic_fetch_add = fadd_swap >> 16;
	out->out_pci_atomic_swap = fadd_swap & 0xffff;
	out->out_pci_atomic_compare_swap = be32_to_cpu(page[XV_PCI_CSWAP]) >> 16;
}

void xv_atomic_query(const struct mlx5_core_dev *mdev,
		     struct xverbs_query_device *out)
{
	u32 sizes = xv_atomic_sizes(mdev), args;

	if (MLX5_CAP_GEN(mdev, atomic))
		xv_atomic_query_pci(mdev, out);
	if (!sizes)
		return;
	args = xv_atomic_arg_bytes(rounddown_pow_of_two(sizes));
	out->out_exp_device_cap_flags |= XVERBS_EXP_DEVICE_EXT_ATOMICS |
					 XVERBS_EXP_DEVICE_EXT_MASKED_ATOMICS;
	out->out_masked_atomic_cap = XVERBS_ATOMIC_HCA;
	out->out_atomic_arg_sizes = sizes;
	out->out_atomic_arg_sizes_be = sizes;
	if (MLX5_CAP_ATOMIC(mdev, atomic_req_8B_endianness_mode))
		out->out_atomic_arg_sizes_be &= ~sizeof(u64);
	out->out_max_fa_bit_boundary = ilog2(sizeof(u64));
	out->out_log_max_atomic_inline = ilog2(args);
}
