/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_BITS_H
#define SHIM_BITS_H

#define BIT(n)	(1ul << (n))

#endif
