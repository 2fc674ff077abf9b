/* SPDX-License-Identifier: GPL-2.0 */
/* The few names of the verbs that the mlx5 headers mention */
#ifndef SHIM_IB_VERBS_H
#define SHIM_IB_VERBS_H

#include <asm/byteorder.h>

#define PAGE_SIZE	4096

struct ib_grh {
	u8 bytes[40];
};

struct ib_ah {
	int unused;
};

enum ib_mtu {
	IB_MTU_256 = 1,
	IB_MTU_512,
	IB_MTU_1024,
	IB_MTU_2048,
	IB_MTU_4096,
};

#endif
