/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_MM_H
#define SHIM_MM_H

#include <linux/slab.h>

#endif
