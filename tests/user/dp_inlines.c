// SPDX-License-Identifier: GPL-2.0
/*
 * One call of each kind of inline function.  tests/check compiles this file with C
 * and C++ compilers, without a C library, and for other processors.  It is not run.
 */
#include <xverbs/dp.h>

int use_builder(struct xv_qp *qp, struct xv_sge *sge, uint64_t raddr, uint32_t rkey);
int use_builder(struct xv_qp *qp, struct xv_sge *sge, uint64_t raddr, uint32_t rkey)
{
	int err = xv_wr_write(qp, 7, XV_SEND_SIGNALED, sge, raddr, rkey);

	xv_commit_send(qp);
	return err;
}

int use_lists(struct xv_qp *qp, struct xv_send_wr *wr, struct xv_recv_wr *rwr);
int use_lists(struct xv_qp *qp, struct xv_send_wr *wr, struct xv_recv_wr *rwr)
{
	struct xv_send_wr *bad;
	struct xv_recv_wr *rbad;

	return xv_post_send(qp, wr, &bad) + xv_post_recv(qp, rwr, &rbad);
}

int use_poll(struct xv_cq *cq, struct xv_wc *wc);
int use_poll(struct xv_cq *cq, struct xv_wc *wc)
{
	return xv_poll_cq(cq, 16, wc) + xv_req_notify(cq, 0);
}
