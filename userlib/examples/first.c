// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* RDMA write between two queue pairs of one device. */
#include <err.h>
#include <stdio.h>
#include <sys/random.h>
#include <xverbs/xverbs.h>

static uint32_t psn;	/* first packet number, 24 bits: others must not guess it */

static struct xv_qp *make_qp(struct xv_pd *pd, struct xv_cq *cq)
{
	struct xv_qp_init_attr attr = {
		.qp_type = XV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 16, .max_send_sge = 1 },
	};

	return xv_create_qp(pd, &attr);
}

/* Connects a queue pair with queue pair number to: transitions INIT, RTR, RTS. */
static int connect_qp(struct xv_context *ctx, struct xv_qp *qp, uint32_t to)
{
	int gid = xv_default_gid_index(ctx, 1);
	struct xv_qp_attr a = {
		.qp_state = XV_QPS_INIT, .port_num = 1, .path_mtu = XV_MTU_1024,
		.qp_access_flags = XV_ACCESS_REMOTE_WRITE, .dest_qp_num = to,
		.rq_psn = psn, .sq_psn = psn,
		.ah_attr = { .port_num = 1, .is_global = 1,
			     .grh = { .sgid_index = (uint8_t)gid, .hop_limit = 1 } },
		.timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
	};
	struct xv_port_attr port;

	if (gid < 0 || xv_query_port(ctx, 1, &port) ||
	    xv_query_gid(ctx, 1, (uint32_t)gid, &a.ah_attr.grh.dgid))
		return -1;
	a.ah_attr.dlid = (uint16_t)port.lid;
	if (xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_PKEY_INDEX | XV_QP_PORT | XV_QP_ACCESS_FLAGS))
		return -1;
	a.qp_state = XV_QPS_RTR;
	if (xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_AV | XV_QP_PATH_MTU | XV_QP_DEST_QPN |
			 XV_QP_RQ_PSN | XV_QP_MAX_DEST_RD_ATOMIC | XV_QP_MIN_RNR_TIMER))
		return -1;
	a.qp_state = XV_QPS_RTS;
	return xv_modify_qp(qp, &a, XV_QP_STATE | XV_QP_TIMEOUT | XV_QP_RETRY_CNT |
			    XV_QP_RNR_RETRY | XV_QP_SQ_PSN | XV_QP_MAX_QP_RD_ATOMIC);
}

int main(int argc, char **argv)
{
	static char buf[64] = "hello, RDMA";	/* source and destination of the write */
	struct xv_cq_init_attr cq_attr = { .cqe = 16 };
	struct xv_context *ctx = xv_open(argc > 1 ? argv[1] : NULL);
	struct xv_pd *pd = ctx ? xv_alloc_pd(ctx) : NULL;
	struct xv_mr *mr = pd ? xv_reg_mr(pd, buf, sizeof(buf), XV_ACCESS_LOCAL_WRITE |
					  XV_ACCESS_REMOTE_WRITE) : NULL;
	struct xv_cq *cq = mr ? xv_create_cq(ctx, &cq_attr) : NULL;
	struct xv_qp *a = cq ? make_qp(pd, cq) : NULL, *b = a ? make_qp(pd, cq) : NULL;
	struct xv_sge sge;
	struct xv_wc wc;

	if (getrandom(&psn, 3, 0) != 3)
		err(1, "getrandom");
	if (!b || connect_qp(ctx, a, b->qp_num) || connect_qp(ctx, b, a->qp_num))
		errx(1, "%s", xv_last_error());

	/* No system call from here ... */
	sge = (struct xv_sge) { (uintptr_t)buf, 32, mr->lkey };
	xv_wr_write(a, 1, XV_SEND_SIGNALED, &sge, (uintptr_t)buf + 32, mr->rkey);
	xv_commit_send(a);
	while (!xv_poll_cq(cq, 1, &wc))
		;
	/* ... to here. */
	printf("%s: \"%s\" (%s)\n", ctx->name, buf + 32, xv_wc_status_str(wc.status));
	xv_close(ctx);	/* also destroys all objects of the context */
	return wc.status;
}
