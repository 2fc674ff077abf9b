// SPDX-License-Identifier: GPL-2.0
/*
 * Failures: the queue pairs that must go to SQER or ERR.
 *
 * The code that finds an error queues the QP here and does not change its state.  The
 * scheduler takes the queued QPs to their new state (qp_enter.c) before it runs another
 * send queue.
 *
 * If a CQ or SRQ fails, all QPs that use it fail too, each with an event of its own.  These
 * can be thousands, so each pass queues only some of them.  A QP in RESET stays in RESET.
 */
#include <linux/list.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include "data/data.h"

enum { PASS_QPS = 8 };

static void hca_fail_queue(struct hca_qp *qp, u8 state)
{
	qp->fail_to = state;
	if (list_empty(&qp->fail_entry))
		list_add_tail(&qp->fail_entry, &qp->hca->fabric->fail.qps);
}

void hca_fail_init(struct hca_qp *qp)
{
	INIT_LIST_HEAD(&qp->fail_entry);
}

void hca_fail_qp(struct hca_qp *qp)
{
	hca_fail_queue(qp, MLX5_QP_STATE_ERR);
}

void hca_fail_sq(struct hca_qp *qp)
{
	if (!qp->fail_to)
		hca_fail_queue(qp, MLX5_QP_STATE_SQER);
}

void hca_fail_fatal(struct hca_qp *qp)
{
	if (qp->session_of)
		qp = qp->session_of;
	if (qp->state == MLX5_QP_STATE_ERR || qp->fail_to == MLX5_QP_STATE_ERR)
		return;
	hca_event_qp(qp, MLX5_EVENT_TYPE_WQ_CATAS_ERROR);
	hca_fail_qp(qp);
}

void hca_fail_forget(struct hca_qp *qp)
{
	qp->fail_to = 0;
	list_del_init(&qp->fail_entry);
}

/* ---- QPs that depend on a CQ or SRQ ------------------------------------------------ */

void hca_dependents_init(struct hca_dependents *all)
{
	INIT_LIST_HEAD(&all->qps);
	INIT_LIST_HEAD(&all->failed);
	INIT_LIST_HEAD(&all->entry);
}

void hca_dependents_free(struct hca_dependents *all)
{
	list_del(&all->entry);
}

void hca_depend(struct hca_dependents *all, struct hca_dependent *d)
{
	list_move_tail(&d->entry, &all->qps);
}

void hca_depend_end(struct hca_dependent *d)
{
	list_del_init(&d->entry);
}

void hca_dependents_fail(struct hca_fabric *f, struct hca_dependents *all)
{
	if (list_empty(&all->entry))
		list_add_tail(&all->entry, &f->fail.dependents);
}

unsigned int hca_dependents_run(struct hca_fabric *f)
{
	struct hca_dependents *all;
	struct hca_dependent *d;
	unsigned int n = 0;

	while (!list_empty(&f->fail.dependents) && n < PASS_QPS) {
		all = list_first_entry(&f->fail.dependents, struct hca_dependents, entry);
		if (list_empty(&all->qps)) {
			list_splice_init(&all->failed, &all->qps);
			list_del_init(&all->entry);
			continue;
		}
		d = list_first_entry(&all->qps, struct hca_dependent, entry);
		list_move_tail(&d->entry, &all->failed);
		if (d->qp->state != MLX5_QP_STATE_RST)
			hca_fail_fatal(d->qp);
		n++;
	}
	return n;
}
