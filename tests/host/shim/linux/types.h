/* SPDX-License-Identifier: GPL-2.0 */
/* Kernel types and small macros, for hca/ in user space */
#ifndef SHIM_TYPES_H
#define SHIM_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef long long s64;
typedef u8 __u8;
typedef u16 __u16;
typedef u32 __u32;
typedef u64 __u64;
typedef s32 __s32;
typedef u16 __be16, __le16;
typedef u32 __be32, __le32;
typedef u64 __be64, __le64;
typedef unsigned int gfp_t;
typedef u64 dma_addr_t;
typedef u64 phys_addr_t;

#define __force
#define __iomem
#define __user
#define __rcu
#ifndef __packed
#define __packed	__attribute__((packed))
#endif
#ifndef __aligned
#define __aligned(n)	__attribute__((aligned(n)))
#endif
#define __always_unused	__attribute__((unused))
#define __maybe_unused	__attribute__((unused))
#define __printf(a, b)	__attribute__((format(printf, a, b)))

#define struct_group(name, ...) \
	union { struct { __VA_ARGS__ }; struct { __VA_ARGS__ } name; }

#define DECLARE_FLEX_ARRAY(type, name) \
	struct { struct { } name##_empty; type name[]; }

#define BITS_PER_LONG	64
#define BIT(n)		(1ul << (n))
#define BIT_ULL(n)	(1ull << (n))
#define U64_MAX		(~0ull)
#define U16_MAX		((u16)~0u)
#define U32_MAX		(~0u)

#endif
