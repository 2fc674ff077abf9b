/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_BITOPS_H
#define SHIM_BITOPS_H

#define fls64(n)		((n) ? 64 - __builtin_clzll(n) : 0)
#define __ffs64(n)		((unsigned int)__builtin_ctzll(n))

#endif
