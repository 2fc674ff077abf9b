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

int use_chain(struct xv_qp *qp, struct xv_qp *managed, struct xv_cq *cq, struct xv_sge *sge);
int use_chain(struct xv_qp *qp, struct xv_qp *managed, struct xv_cq *cq, struct xv_sge *sge)
{
	struct xv_calc add = { XV_CALC_OP_ADD, XV_CALC_DATA_TYPE_UINT,
			       XV_CALC_DATA_SIZE_64_BIT };
	struct xv_vector_calc max = { XV_VECTOR_MAX, XV_VECTOR_INT32, 64, 2, 0 };
	int err = xv_wr_cqe_wait(qp, 1, XV_SEND_WAIT_EN_LAST, cq, 1) +
		  xv_wr_wait_time(qp, 2, 0, 1) + xv_wr_send_enable(qp, 3, 0, managed, 0) +
		  xv_wr_send_calc(qp, 4, 0, &add, sge, 2) +
		  xv_wr_send_vector_calc(qp, 5, 0, &max, sge);

	xv_commit_send(qp);
	xv_retire_send(managed, managed->sq.pi);
	return err;
}

int use_umr(struct xv_qp *qp, const struct xv_umr *umr);
int use_umr(struct xv_qp *qp, const struct xv_umr *umr)
{
	return xv_wr_umr_fill(qp, 1, 0, umr) + xv_wr_umr_invalidate(qp, 2, 0, umr->mkey);
}

int use_dc(struct xv_qp *qp, struct xv_sge *sge, const struct xv_dc *to, uint64_t raddr);
int use_dc(struct xv_qp *qp, struct xv_sge *sge, const struct xv_dc *to, uint64_t raddr)
{
	int err = xv_wr_send_dc(qp, 1, 0, sge, to) + xv_wr_write_dc(qp, 2, 0, sge, raddr, 3, to) +
		  xv_wr_atomic_fa_dc(qp, 3, 0, sge, raddr, 3, 1, to) +
		  xv_wr_write_inline_dc(qp, 4, XV_SEND_SIGNALED, sge, 8, raddr, 3, to);

	xv_commit_send(qp);
	return err;
}

int use_atomics(struct xv_qp *qp, struct xv_sge *sge, uint32_t log);
int use_atomics(struct xv_qp *qp, struct xv_sge *sge, uint32_t log)
{
	struct xv_cmp_swap cs = { ~0ull, 1, 2, ~0ull };
	struct xv_fetch_add fa = { 1, 1ull << 31 };

	return xv_wr_masked_atomic_cs(qp, 1, 0, sge, 0, 0, 3, &cs) +
	       xv_wr_masked_atomic_fa(qp, 2, 0, sge, 0, 0, log, &fa);
}

int use_poll(struct xv_cq *cq, struct xv_wc *wc);
int use_poll(struct xv_cq *cq, struct xv_wc *wc)
{
	struct xv_wc_queues queues[16];
	uint64_t times[16];

	return xv_poll_cq(cq, 16, wc) + xv_poll_cq_ts(cq, 16, wc, times) +
	       xv_poll_cq_queues(cq, 16, wc, times, queues) + xv_req_notify(cq, 0);
}
