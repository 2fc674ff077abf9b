/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_PREFETCH_H
#define SHIM_PREFETCH_H

#define prefetch(x)	__builtin_prefetch(x)

#endif
