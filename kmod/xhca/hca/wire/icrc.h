/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ICRC: the checksum of a RoCE packet that routers do not change.
 */
#ifndef _HCA_ICRC_H
#define _HCA_ICRC_H

#include <linux/types.h>
#include "wire/packet.h"

/*
 * Of the @bytes from the network header to the last byte of padding, which include a BTH.  The
 * packet has its least significant byte first.
 */
u32 hca_icrc(enum hca_l3 l3, const u8 *network, u32 bytes);

#endif
