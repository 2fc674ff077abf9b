/* SPDX-License-Identifier: GPL-2.0 */
/* Little-endian hosts only, like the module */
#ifndef SHIM_BYTEORDER_H
#define SHIM_BYTEORDER_H

#include <linux/types.h>

#define cpu_to_be16(x)	((u16)__builtin_bswap16(x))
#define cpu_to_be32(x)	((u32)__builtin_bswap32(x))
#define cpu_to_be64(x)	((u64)__builtin_bswap64(x))
#define be16_to_cpu(x)	cpu_to_be16(x)
#define be32_to_cpu(x)	cpu_to_be32(x)
#define be64_to_cpu(x)	cpu_to_be64(x)
#define cpu_to_le32(x)	((u32)(x))
#define cpu_to_le64(x)	((u64)(x))
#define le32_to_cpu(x)	((u32)(x))
#define le64_to_cpu(x)	((u64)(x))

static inline u16 be16_to_cpup(const __be16 *p)
{
	return be16_to_cpu(*p);
}

static inline u32 be32_to_cpup(const __be32 *p)
{
	return be32_to_cpu(*p);
}

static inline u64 be64_to_cpup(const __be64 *p)
{
	return be64_to_cpu(*p);
}

static inline void be32_add_cpu(__be32 *p, u32 v)
{
	*p = cpu_to_be32(be32_to_cpu(*p) + v);
}

#endif
