/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Maps and inventories of libdoca_common, for names.c.
 *
 * Two functions of libdoca_common have the names of functions of this library, with other
 * arguments.  They get other names here, which .symver binds to libdoca_common; see tasks.h.
 */
#ifndef XVDOCA_JOBS_CORE_H
#define XVDOCA_JOBS_CORE_H

#define doca_mmap_create		xvj_core_mmap_create
#define doca_buf_inventory_create	xvj_core_buf_inventory_create
#include "../include/doca_mmap.h"
#include "../include/doca_buf_inventory.h"
#undef doca_mmap_create
#undef doca_buf_inventory_create

__asm__(".symver xvj_core_mmap_create, doca_mmap_create@XVDOCA_0.1");
__asm__(".symver xvj_core_buf_inventory_create, doca_buf_inventory_create@XVDOCA_0.1");

#endif
