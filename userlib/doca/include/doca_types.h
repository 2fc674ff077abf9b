/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Types that several libraries use.  Compatible with the header of the same name of the DOCA SDK.
 */
#ifndef XVDOCA_TYPES_H
#define XVDOCA_TYPES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Big-endian numbers */
typedef uint64_t doca_be64_t;
typedef uint32_t doca_be32_t;
typedef uint16_t doca_be16_t;

/* What a program stores with an object, and gets back in callbacks */
union doca_data {
	void *ptr;
	uint64_t u64;
};

/* A file descriptor for poll(2) and epoll(7) */
typedef int doca_event_handle_t;
#define doca_event_invalid_handle	((doca_event_handle_t)-1)

/* What a memory map allows */
enum doca_access_flag {
	DOCA_ACCESS_FLAG_LOCAL_READ_ONLY	= 0,
	DOCA_ACCESS_FLAG_LOCAL_READ_WRITE	= 1 << 0,
	DOCA_ACCESS_FLAG_RDMA_READ		= 1 << 1,
	DOCA_ACCESS_FLAG_RDMA_WRITE		= 1 << 2,
	DOCA_ACCESS_FLAG_RDMA_ATOMIC		= 1 << 3,
	DOCA_ACCESS_FLAG_PCI_READ_ONLY		= 1 << 4,
	DOCA_ACCESS_FLAG_PCI_READ_WRITE		= 1 << 5,
	DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING	= 1 << 6,
};

enum doca_pci_func_type {
	DOCA_PCI_FUNC_TYPE_PF,
	DOCA_PCI_FUNC_TYPE_VF,
	DOCA_PCI_FUNC_TYPE_SF,
};

/* The path MTU of a queue pair */
enum doca_mtu_size {
	DOCA_MTU_SIZE_256_BYTES,
	DOCA_MTU_SIZE_512_BYTES,
	DOCA_MTU_SIZE_1K_BYTES,
	DOCA_MTU_SIZE_2K_BYTES,
	DOCA_MTU_SIZE_4K_BYTES,
	DOCA_MTU_SIZE_RAW_ETHERNET,
};

#define DOCA_GID_BYTE_LENGTH	16

#ifdef __cplusplus
}
#endif

#endif
