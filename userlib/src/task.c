// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Lists of requests for several queues that are posted as one.
 *
 * The requests are written to the rings first.  The adapter does not look at them before
 * the doorbells are rung, so an error only restores the indices of the queues.
 */
#define XV_DP_REFUSE(err, ...)	(xv_dp_refused(err, __VA_ARGS__), -(err))
#include "internal.h"

/* What a list has changed: the first use of a queue stores its indices. */
struct change {
	struct qp *qps;
	struct qp **last;		/* keeps the order of first use */
	struct cq *cqs;
};

static void use_qp(struct change *c, struct qp *qp)
{
	if (qp->task.used)
		return;
	qp->task = (struct qp_task) { .used = true };
	*c->last = qp;
	c->last = &qp->task.next;
}

static void use_sq(struct change *c, struct qp *qp)
{
	struct xv_sq *sq = &qp->pub.sq;

	use_qp(c, qp);
	if (qp->task.sends)
		return;
	xv_lock(&sq->lock);
	qp->task.sends = true;
	qp->task.sq_pi = sq->pi;
	qp->task.last_ctrl = sq->last_ctrl;
	qp->task.fm_ce_se = sq->fm_ce_se;
}

static void use_rq(struct change *c, struct qp *qp)
{
	use_qp(c, qp);
	if (qp->task.recvs)
		return;
	xv_lock(&qp->pub.rq.lock);
	qp->task.recvs = true;
	qp->task.rq_pi = qp->pub.rq.pi;
}

/* The queue is named by a request that enables others. */
static void use_managed(struct change *c, struct qp *qp)
{
	use_qp(c, qp);
	if (qp->task.named)
		return;
	qp->task.named = true;
	qp->task.en = qp->pub.sq.en;
	qp->task.rq_en_base = qp->pub.rq.en_base;
	qp->task.rq_en_max = qp->pub.rq.en_max;
}

static void use_cq(struct change *c, struct cq *cq)
{
	if (cq->task.used)
		return;
	cq->task = (struct cq_task) {
		.used = true,
		.next = c->cqs,
		.wait_base = cq->pub.wait_base,
		.wait_max = cq->pub.wait_max,
	};
	c->cqs = cq;
}

static void restore(struct qp *qp)
{
	const struct qp_task *t = &qp->task;
	struct xv_sq *sq = &qp->pub.sq;
	struct xv_rq *rq = &qp->pub.rq;

	if (t->sends) {
		sq->pi = t->sq_pi;
		sq->last_ctrl = t->last_ctrl;
		sq->fm_ce_se = t->fm_ce_se;
	}
	if (t->recvs)
		rq->pi = t->rq_pi;
	if (t->named) {
		sq->en = t->en;
		rq->en_base = t->rq_en_base;
		rq->en_max = t->rq_en_max;
	}
}

static void undo(struct change *c)
{
	struct qp *qp;
	struct cq *cq;

	for (qp = c->qps; qp; qp = qp->task.next)
		restore(qp);
	for (cq = c->cqs; cq; cq = cq->task.next) {
		cq->pub.wait_base = cq->task.wait_base;
		cq->pub.wait_max = cq->task.wait_max;
	}
}

/* Receives first, because sends of the list may need them.  Managed queues do not ring. */
static void commit(struct change *c)
{
	struct qp *qp;

	for (qp = c->qps; qp; qp = qp->task.next)
		if (qp->task.recvs && qp->pub.rq.pi != qp->task.rq_pi)
			xv_commit_recv(&qp->pub);
	for (qp = c->qps; qp; qp = qp->task.next)
		if (qp->task.sends && qp->pub.sq.pi != qp->task.sq_pi)
			xv_commit_send_relaxed(&qp->pub);
	xv_doorbell_flush();		/* C */
}

static void release(struct change *c)
{
	struct qp *qp;
	struct cq *cq;

	for (qp = c->qps; qp; qp = qp->task.next) {
		if (qp->task.sends)
			xv_unlock(&qp->pub.sq.lock);
		if (qp->task.recvs)
			xv_unlock(&qp->pub.rq.lock);
		qp->task.used = false;
	}
	for (cq = c->cqs; cq; cq = cq->task.next)
		cq->task.used = false;
}

/* Stores what the request will change outside its own queue. */
static int use_named(struct change *c, const struct context *ctx, const struct xv_send_wr *wr)
{
	struct qp *qp;
	struct cq *cq;

	switch (wr->opcode) {
	case XV_WR_SEND_ENABLE:
	case XV_WR_RECV_ENABLE:
		qp = to_qp(wr->wr.wqe_enable.qp);
		if (qp->ctx != ctx)
			return xv_set_error(EINVAL, "the other queue pair is of another context");
		use_managed(c, qp);
		return 0;
	case XV_WR_CQE_WAIT:
		cq = to_cq(wr->wr.cqe_wait.cq);
		if (cq->ctx != ctx)
			return xv_set_error(EINVAL, "the CQ is of another context");
		use_cq(c, cq);
		return 0;
	default:
		return 0;
	}
}

/* Builds the sends of one task; *done is their number before the one that failed. */
static int build_sends(struct change *c, struct xv_task *task, size_t size, unsigned int *done)
{
	struct qp *qp = to_qp(task->item.qp);
	struct xv_send_wr *wr, own;
	int err = 0;

	use_sq(c, qp);
	for (wr = task->item.send_wr; wr && !err; wr = wr->next) {
		task->bad_send_wr = wr;
		if (size == sizeof(own))
			own = *wr;
		else
			err = xv_attr_in(&own, sizeof(own), wr, size, "request");
		if (!err)
			err = use_named(c, qp->ctx, &own);
		if (!err)
			err = xv_wr_general(&qp->pub, &own);
		if (!err)
			++*done;
	}
	return err;
}

static int build_recvs(struct change *c, struct xv_task *task, unsigned int *done)
{
	struct qp *qp = to_qp(task->item.qp);
	struct xv_recv_wr *wr;
	int err = 0;

	use_rq(c, qp);
	for (wr = task->item.recv_wr; wr && !err; wr = wr->next) {
		task->bad_recv_wr = wr;
		err = xv_wr_recv_sg(&qp->pub, wr->wr_id, wr->sg_list, wr->num_sge);
		if (!err)
			++*done;
	}
	return err;
}

static int build(struct change *c, const struct context *ctx, struct xv_task *task, size_t size,
		 unsigned int *done)
{
	*done = 0;
	if (task->comp_mask)
		return xv_set_error(EINVAL, "comp_mask is not zero");
	if (to_qp(task->item.qp)->ctx != ctx)
		return xv_set_error(EINVAL, "the queue pair is of another context");
	switch (task->task_type) {
	case XV_TASK_SEND:
		return build_sends(c, task, size, done);
	case XV_TASK_RECV:
		return build_recvs(c, task, done);
	default:
		return xv_set_error(EINVAL, "there is no task type %d", (int)task->task_type);
	}
}

/* The text of the thread has the reason. */
static int refused(int err, unsigned int task, unsigned int request)
{
	struct error_state reason;

	xv_error_save(&reason);
	return xv_set_error(err, "post task: task %u, request %u: %.*s", task, request,
			    XV_ERROR_MAX / 2, reason.text);
}

XV_EXPORT int xv_post_task_sz(struct xv_context *pub, struct xv_task *list,
			      struct xv_task **bad_task, size_t wr_size)
{
	struct context *ctx = to_ctx(pub);
	unsigned int n = 0, done = 0;
	struct change c = { 0 };
	struct xv_task *task;
	int err = 0;

	c.last = &c.qps;
	xv_lock(&ctx->task_lock);
	for (task = list; task; task = task->next, n++) {
		task->bad_send_wr = NULL;
		err = build(&c, ctx, task, wr_size, &done);
		if (err)
			break;
		task->bad_send_wr = NULL;
	}
	if (err)
		undo(&c);
	else
		commit(&c);
	release(&c);
	xv_unlock(&ctx->task_lock);
	if (!err)
		return 0;
	*bad_task = task;
	return refused(err, n, done);
}
