/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Types that several libraries use, and permissions with their names of DOCA 2.2.
 */
#ifndef XVDOCA_JOBS_TYPES_H
#define XVDOCA_JOBS_TYPES_H

#include_next <doca_types.h>

/* What a memory map or an RDMA instance allows */
enum doca_access_flags {
	DOCA_ACCESS_LOCAL_READ_ONLY	= 0,
	DOCA_ACCESS_LOCAL_READ_WRITE	= 1 << 0,
	DOCA_ACCESS_RDMA_READ		= 1 << 1,
	DOCA_ACCESS_RDMA_WRITE		= 1 << 2,
	DOCA_ACCESS_RDMA_ATOMIC		= 1 << 3,
	DOCA_ACCESS_DPU_READ_ONLY	= 1 << 4,
	DOCA_ACCESS_DPU_READ_WRITE	= 1 << 5,
};

#endif
