/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The limits that caps.c announces, the same for each model.
 */
#ifndef _HCA_LIMITS_H
#define _HCA_LIMITS_H

#include <linux/types.h>

#define HCA_LOG_MAX_QP		17
#define HCA_LOG_MAX_QP_SZ	15
#define HCA_LOG_MAX_CQ		17
#define HCA_LOG_MAX_CQ_SZ	22
#define HCA_LOG_MAX_EQ		7
#define HCA_LOG_MAX_EQ_SZ	20
#define HCA_LOG_MAX_SRQ		16
#define HCA_LOG_MAX_SRQ_SZ	15
#define HCA_LOG_MAX_MKEY	20
#define HCA_LOG_MAX_PD		16
#define HCA_LOG_MAX_XRCD	16
#define HCA_LOG_MAX_TD		10
#define HCA_LOG_MAX_UCTX	15
#define HCA_LOG_MAX_UMEM	17
#define HCA_MAX_COUNTERS	255
#define HCA_LOG_MAX_MSG		30
#define HCA_LOG_MAX_RD_ATOMIC	4
#define HCA_LOG_MAX_MCG		10
#define HCA_MAX_QP_MCG		240
#define HCA_MAX_SEND_WQE	1024	/* bytes; mlx5_ib's own queues have such */
#define HCA_MAX_RECV_WQE	512
#define HCA_PKEYS		128
#define HCA_VPORT_GIDS		8
#define HCA_NULL_MKEY_INDEX	8	/* made at reset; lower ones have meanings in lists (PRM) */

#endif
