/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Congestion control of a function (IBTA A17, DCQCN): parameters and counters.
 */
#ifndef _HCA_CONGESTION_H
#define _HCA_CONGESTION_H

#include <linux/types.h>

/* Parameters, as QUERY_CONG_PARAMS names them; rates are in Mb/s, times in us */
enum hca_rate_param {
	/* Of the reaction point, which sends */
	HCA_RP_CLAMP_TARGET,		/* each cut sets the target, not only the first */
	HCA_RP_CLAMP_TARGET_AFTER_TIME,	/* the same after a step that the time has made */
	HCA_RP_TIME_RESET,		/* between two steps */
	HCA_RP_BYTE_RESET,		/* the same, in bytes that were sent */
	HCA_RP_THRESHOLD,		/* steps before the target rises */
	HCA_RP_MAX_RATE,		/* 0: no limit */
	HCA_RP_AI_RATE,			/* the target rises by this, */
	HCA_RP_HAI_RATE,		/* or by this if there were many steps */
	HCA_RP_MIN_DEC_FAC,		/* % of the rate that stay in a cut */
	HCA_RP_MIN_RATE,
	HCA_RP_FIRST_RATE,		/* set by the first CNP; 0: the rate that was measured */
	HCA_RP_G,			/* of 1024: what stays of the estimate */
	HCA_RP_RTT,			/* between two updates of the estimate */
	HCA_RP_MONITOR_PERIOD,		/* between two cuts */
	HCA_RP_INITIAL_ALPHA,		/* of 1024: the estimate at the first CNP */
	HCA_RP_GD,			/* a cut is the estimate of the rate >> this */
	/* Of the notification point, which receives */
	HCA_NP_MIN_TIME,		/* between two CNPs to a queue pair */
	HCA_NP_DSCP,			/* of CNPs */
	HCA_NP_PRIO_MODE,		/* 1: CNPs have that of the queue pair, 0: the next one */
	HCA_NP_PRIO,
	HCA_RATE_PARAMS
};

/* Of a function */
struct hca_congestion {
	u32 param[HCA_RATE_PARAMS];
	u64 cnps_ignored, cnps_handled;
	u64 marked, cnps_sent;		/* packets that have arrived with a mark */
};

#endif
