// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completions: from the completion queues to the callbacks of tasks.
 */
#include "rdma.h"

#define BATCH	16		/* completions of a queue in one call */

static doca_error_t error_of(enum xv_wc_status status)
{
	switch (status) {
	case XV_WC_WR_FLUSH_ERR:
		return DOCA_ERROR_CONNECTION_ABORTED;
	case XV_WC_LOC_LEN_ERR:
		return DOCA_ERROR_TOO_BIG;
	case XV_WC_LOC_PROT_ERR:
	case XV_WC_LOC_ACCESS_ERR:
	case XV_WC_REM_ACCESS_ERR:
		return DOCA_ERROR_NOT_PERMITTED;
	case XV_WC_RETRY_EXC_ERR:
	case XV_WC_RNR_RETRY_EXC_ERR:
	case XV_WC_RESP_TIMEOUT_ERR:
		return DOCA_ERROR_TIME_OUT;
	case XV_WC_FATAL_ERR:
		return DOCA_ERROR_DEVICE_FATAL_ERROR;
	default:
		return DOCA_ERROR_IO_FAILED;
	}
}

static inline void succeed(struct xvd_rdma_task *t)
{
	xvd_buf_list_append(t->appended, t->bytes);
	xvd_task_complete(&t->base, DOCA_SUCCESS);
}

/* ---- Sends ------------------------------------------------------------------------------- */

/*
 * A list of the oldest tasks of the queue pair, up to the one of the entry stop or all.  It must
 * be taken before the entries are free, because callbacks post new requests.
 */
static __attribute__((noinline))
struct doca_task *oldest_tasks(const struct xv_qp *qp, const struct xv_sq_entry *stop)
{
	struct doca_task *head = NULL, **tail = &head;
	const struct xv_sq_entry *e;
	uint32_t i;

	for (i = qp->sq.ci; i != qp->sq.pi; i = e->end) {
		e = &qp->sq.entry[i & qp->sq.mask];
		if (e == stop)
			break;
		*tail = (struct doca_task *)(uintptr_t)e->wr_id;
		tail = &(*tail)->next;
	}
	*tail = NULL;
	return head;
}

static __attribute__((noinline))
void complete_list(struct doca_task *task, doca_error_t status)
{
	struct doca_task *next;

	for (; task; task = next) {
		next = task->next;
		if (status == DOCA_SUCCESS)
			succeed(xvd_rdma_task(task));
		else
			xvd_task_complete(task, status);
	}
}

/* True if the completion is not that of the oldest request: others asked for none. */
static inline bool is_behind(const struct xv_qp *qp, const struct mlx5r_cqe *cqe)
{
	return (qp->sq.ci ^ xv_be16(cqe->wqe_counter)) & qp->sq.mask;
}

/* Takes a completion from the queue, and returns its task, or NULL if the queue pair is gone. */
static inline struct xvd_rdma_task *take_send(struct xv_cq *cq, const struct mlx5r_cqe *cqe,
					      struct doca_task **before)
{
	struct xvd_rdma_task *t = (struct xvd_rdma_task *)(uintptr_t)xv_cqe_wr_id(cq, cqe);
	struct xv_qp *qp = cq->last;

	if (xv_likely(t) && xv_unlikely(is_behind(qp, cqe)))
		*before = oldest_tasks(qp, xv_cqe_sq_entry(qp, cqe));
	xv_cq_done(cq, cqe);
	xv_commit_cq(cq);
	return t;
}

static __attribute__((noinline)) void fail_send(struct xv_cq *cq, const struct mlx5r_cqe *cqe)
{
	enum xv_wc_status status = xv_cqe_status(cqe);
	struct doca_task *before = NULL;
	struct xvd_rdma_task *t = take_send(cq, cqe, &before);

	complete_list(before, DOCA_SUCCESS);
	if (!t)
		return;
	xvd_rdma_fail_conn(cq->last->qp_context);
	xvd_task_complete(&t->base, error_of(status));
}

/*
 * A completion is also that of the tasks before it which asked for none.  The entries of both
 * queues are free before callbacks need them.
 */
static inline void complete_send(struct xv_cq *cq, const struct mlx5r_cqe *cqe)
{
	struct doca_task *before = NULL;
	struct xvd_rdma_task *t;

	if (xv_unlikely(xv_cqe_opcode(cqe) != MLX5R_CQE_REQ)) {
		fail_send(cq, cqe);
		return;
	}
	t = take_send(cq, cqe, &before);
	if (xv_unlikely(before))
		complete_list(before, DOCA_SUCCESS);
	if (xv_likely(t))
		succeed(t);
}

/* cqe: the next one */
static inline __attribute__((always_inline))
unsigned int poll_sends(struct doca_rdma *rdma, const struct mlx5r_cqe *cqe)
{
	struct xv_cq *cq = rdma->send_cq;
	unsigned int n = 0;

	for (; cqe && n < BATCH; cqe = xv_cq_next(cq), n++)
		complete_send(cq, cqe);
	return n;
}

/* ---- Receives ---------------------------------------------------------------------------- */

static enum doca_rdma_opcode opcode_of(const struct xv_wc *wc)
{
	if (wc->opcode == XV_WC_RECV_RDMA_WITH_IMM)
		return DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM;
	return wc->wc_flags & XV_WC_WITH_IMM ? DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM :
					       DOCA_RDMA_OPCODE_RECV_SEND;
}

static void complete_receive(const struct xv_wc *wc, struct doca_rdma_connection *conn)
{
	struct xvd_rdma_task *t = (struct xvd_rdma_task *)(uintptr_t)wc->wr_id;

	if (wc->status != XV_WC_SUCCESS) {
		if (conn)
			xvd_rdma_fail_conn(conn);
		xvd_task_complete(&t->base, error_of(wc->status));
		return;
	}
	t->from = conn;
	t->opcode = opcode_of(wc);
	t->received = wc->byte_len;
	t->imm = wc->imm_data;
	t->appended = t->opcode == DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM ? NULL : t->dst;
	t->bytes = wc->byte_len;
	succeed(t);
}

/* One at a time, because a callback may destroy what the next completion is about. */
static __attribute__((noinline)) unsigned int poll_receives(struct doca_rdma *rdma)
{
	struct xv_wc_queues queues;
	unsigned int n;
	struct xv_wc wc;

	for (n = 0; n < BATCH; n++) {
		if (!xv_poll_cq_queues(rdma->recv_cq, 1, &wc, NULL, &queues))
			break;
		complete_receive(&wc, queues.qp ? queues.qp->qp_context : NULL);
	}
	return n;
}

/* ---- The end of queue pairs -------------------------------------------------------------- */

unsigned int xvd_rdma_drain(struct doca_rdma *rdma)
{
	unsigned int most = rdma->send_cq->cqe + rdma->recv_cq->cqe, n = 0, done = 0;

	do {
		n = poll_sends(rdma, xv_cq_next(rdma->send_cq));
		n += poll_receives(rdma);
		done += n;
	} while (n && done < most);
	return done;
}

void xvd_rdma_close_qp(struct doca_rdma_connection *conn)
{
	struct doca_task *left = oldest_tasks(conn->qp, NULL);

	xvd_rdma_flush(&conn->rdma->ctx);
	xv_destroy_qp(conn->qp);
	conn->qp = NULL;
	complete_list(left, DOCA_ERROR_CONNECTION_ABORTED);
}

/* A device does not complete the receives of a shared queue. */
static unsigned int abort_receives(struct doca_rdma *rdma)
{
	const struct xvd_task_type *type = &rdma->types[XVD_RDMA_RECEIVE];
	struct xvd_rdma_task *t = type->pool;
	unsigned int n = 0;
	uint32_t i;

	for (i = 0; t && i < type->num_tasks; i++, t++) {
		if (t->base.state != XVD_TASK_INFLIGHT)
			continue;
		xvd_task_complete(&t->base, DOCA_ERROR_CONNECTION_ABORTED);
		n++;
	}
	return n;
}

/* The context stops: no new task comes, and nothing may change memory after the callbacks. */
static unsigned int finish_tasks(struct doca_rdma *rdma)
{
	unsigned int done = xvd_rdma_drain(rdma);
	uint16_t i;

	for (i = 0; i < rdma->config.max_conns; i++)
		if (rdma->conns[i].qp)
			xvd_rdma_close_qp(&rdma->conns[i]);
	if (rdma->dct)
		xv_destroy_dct(rdma->dct);
	rdma->dct = NULL;
	return done + abort_receives(rdma);
}

static inline bool is_special(const struct doca_rdma *rdma)
{
	return rdma->cm.channel || rdma->ctx.state == DOCA_CTX_STATE_STOPPING;
}

/* What progress() does seldom, out of the way of what it does often */
static __attribute__((noinline)) unsigned int special(struct doca_rdma *rdma)
{
	unsigned int done = 0;

	if (rdma->cm.channel)
		done += xvd_rdma_cm_progress(rdma);
	/* The context stops by itself: nothing else would complete its tasks. */
	if (xvd_rdma_is_lost(&rdma->ctx) && rdma->ctx.state != DOCA_CTX_STATE_STOPPING) {
		doca_ctx_stop(&rdma->ctx);
		done++;
	}
	if (rdma->ctx.state == DOCA_CTX_STATE_STOPPING && rdma->ctx.num_inflight)
		done += finish_tasks(rdma);
	return done;
}

/* Out of line, so that a call without work saves no registers */
static __attribute__((noinline))
unsigned int work(struct doca_rdma *rdma, const struct mlx5r_cqe *cqe)
{
	unsigned int done = poll_sends(rdma, cqe);

	if (xv_cq_next(rdma->recv_cq))
		done += poll_receives(rdma);
	if (xv_unlikely(is_special(rdma)))
		done += special(rdma);
	return done;
}

unsigned int xvd_rdma_progress(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = xvd_rdma_of(ctx);
	const struct mlx5r_cqe *cqe = xv_cq_next(rdma->send_cq);

	if (cqe || xv_cq_next(rdma->recv_cq) || is_special(rdma))
		return work(rdma, cqe);
	return xv_unlikely(xvd_rdma_is_lost(ctx)) ? special(rdma) : 0;
}
