/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_BITFIELD_H
#define SHIM_BITFIELD_H

#include <linux/kernel.h>

#endif
