/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of transports, datagrams and memory windows share. */
#ifndef TRANSPORTS_H
#define TRANSPORTS_H

#include "rig.h"

static struct rig r;

enum { SRC = 4096, DST = 65536, GRH = 40 };

static inline void open_rig(int argc, char **argv)
{
	struct rig_opts opts = { .size = 1 << 20, .rc = { .timeout = 10, .retry_cnt = 2 },
		.access = XV_ACCESS_LOCAL_WRITE | XV_ACCESS_REMOTE_WRITE | XV_ACCESS_REMOTE_READ |
			  XV_ACCESS_REMOTE_ATOMIC | XV_ACCESS_MW_BIND };

	rig_devices(argc, argv);
	rig_open(&r, &opts);
}

static inline struct xv_qp *make_qp(int side, enum xv_qp_type type, struct xv_srq *srq,
				    struct xv_xrcd *xrcd)
{
	bool xrc = type == XV_QPT_XRC_RECV || type == XV_QPT_XRC_SEND;
	struct xv_qp_init_attr attr = {
		.qp_type = type,
		.send_cq = type == XV_QPT_XRC_RECV ? NULL : r.cq[side],
		.recv_cq = xrc ? NULL : r.cq[side],
		.srq = srq,
		.xrcd = xrcd,
		.cap = {
			.max_send_wr = type == XV_QPT_XRC_RECV ? 0 : 64,
			.max_send_sge = type == XV_QPT_XRC_RECV ? 0 : 2,
			.max_recv_wr = srq || xrc ? 0 : 64,
			.max_recv_sge = srq || xrc ? 0 : 2,
		},
	};
	struct xv_qp *qp = xv_create_qp(r.side[side].pd, &attr);

	if (!qp)
		diag("%s", xv_last_error());
	return qp;
}

static inline void message(int from, int to, uint32_t n, uint32_t seed)
{
	rig_fill(r.buf[from] + SRC, n, seed);
	memset(r.buf[to] + DST, 0, n + GRH);
}

/* After a failed send the QP is in SQE; the send queue can be restarted. */
static inline void test_restart(struct xv_qp *qp, const char *type)
{
	struct xv_qp_attr a = { .qp_state = XV_QPS_RTS, .cur_qp_state = XV_QPS_SQE }, now;

	ok(!xv_query_qp(qp, &now, 0, NULL) && now.qp_state == XV_QPS_SQE,
	   "%s: the QP is in SQE", type);
	ok(xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_CUR_STATE | XV_QP_SQ_PSN) == -EINVAL &&
	   strstr(xv_last_error(), "sq_psn"), "%s: %s", type, xv_last_error());
	ok(!xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_CUR_STATE) &&
	   !xv_query_qp(qp, &now, 0, NULL) && now.qp_state == XV_QPS_RTS,
	   "%s: from SQE to RTS", type);
}

#endif
