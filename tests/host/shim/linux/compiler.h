/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_COMPILER_H
#define SHIM_COMPILER_H

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define noinline	__attribute__((__noinline__))
#define __section(name)	__attribute__((__section__(name)))
#define __visible	__attribute__((__externally_visible__))
#define READ_ONCE(x)	(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile typeof(x) *)&(x) = (v))

#endif
