/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_KERNEL_H
#define SHIM_KERNEL_H

#include <linux/types.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/printk.h>
#include <linux/ktime.h>
#include <asm/barrier.h>

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define DIV_ROUND_UP_ULL(n, d)	DIV_ROUND_UP((u64)(n), (u64)(d))
#define ALIGN(x, a)		(((x) + ((typeof(x))(a) - 1)) & ~((typeof(x))(a) - 1))
#define rounddown(x, n)		((x) - (x) % (n))
#define IS_ALIGNED(x, a)	(!((x) & ((typeof(x))(a) - 1)))
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
#define fallthrough		__attribute__((fallthrough))
#define upper_32_bits(n)	((u32)((u64)(n) >> 32))
#define lower_32_bits(n)	((u32)(n))
#define static_assert		_Static_assert
#define BUILD_BUG_ON(c)		_Static_assert(!(c), #c)

#endif
