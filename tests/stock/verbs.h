/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs of libibverbs have in common: devices, ports, connected queue pairs.
 */
#ifndef TESTS_STOCK_VERBS_H
#define TESTS_STOCK_VERBS_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include "tap.h"

#define UNUSED	__attribute__((unused))
#define ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
		 IBV_ACCESS_REMOTE_ATOMIC)

/* Port 1 of a device */
struct place {
	union ibv_gid gid;
	uint16_t lid;
};

static UNUSED void need(int good, const char *what)
{
	if (!good)
		bail_out("%s: %s", what, strerror(errno));
}

static UNUSED double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static UNUSED struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **d;
	struct ibv_context *ctx;

	need(list != NULL, "ibv_get_device_list");
	for (d = list; *d && strcmp(ibv_get_device_name(*d), name); d++)
		;
	need(*d != NULL, name);
	ctx = ibv_open_device(*d);
	need(ctx != NULL, "ibv_open_device");
	ibv_free_device_list(list);
	return ctx;
}

static UNUSED struct place place_of(struct ibv_context *ctx, int gid_index)
{
	struct ibv_port_attr port;
	struct place p;

	need(!ibv_query_port(ctx, 1, &port) && !ibv_query_gid(ctx, 1, gid_index, &p.gid), "port");
	p.lid = port.lid;
	return p;
}

/* A path to this place; RoCE ports have no LID. */
static UNUSED struct ibv_ah_attr path_to(const struct place *to, int gid_index)
{
	return (struct ibv_ah_attr) {
		.is_global = !to->lid,
		.grh = { .dgid = to->gid, .sgid_index = (uint8_t)gid_index, .hop_limit = 3 },
		.dlid = to->lid,
		.port_num = 1,
	};
}

static UNUSED void rc_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1,
				 .qp_access_flags = ACCESS };

	need(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				    IBV_QP_ACCESS_FLAGS), "to INIT");
}

static UNUSED void ud_up(struct ibv_qp *qp, uint32_t qkey)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = qkey };

	need(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				    IBV_QP_QKEY), "to INIT");
	a.qp_state = IBV_QPS_RTR;
	need(!ibv_modify_qp(qp, &a, IBV_QP_STATE), "to RTR");
	a.qp_state = IBV_QPS_RTS;
	need(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN), "to RTS");
}

static UNUSED void rc_connect(struct ibv_qp *qp, uint32_t peer, struct ibv_ah_attr path)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer,
		.max_dest_rd_atomic = 4, .min_rnr_timer = 12, .ah_attr = path,
	};

	need(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
				    IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MIN_RNR_TIMER |
				    IBV_QP_MAX_DEST_RD_ATOMIC), "to RTR");
	a = (struct ibv_qp_attr) { .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7,
				   .rnr_retry = 7, .max_rd_atomic = 4 };
	need(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
				    IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				    IBV_QP_MAX_QP_RD_ATOMIC), "to RTS");
}

#endif
