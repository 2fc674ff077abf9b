// SPDX-License-Identifier: GPL-2.0
/*
 * Doorbell records: the lists of a doorbell page, and the record of a send queue.  sweep.c
 * decides which records are read when.
 */
#include <linux/compiler.h>
#include <linux/list.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>
#include "data/data.h"

enum {
	ACTIVE_MAX	= 16,	/* active records of a page */
	ACTIVE_STAYS	= 64,	/* reads without a change until an active record may be replaced */
};

/* Does the record of a managed queue say that more is posted than was enabled? */
static bool hca_record_is_ahead(const struct hca_qp *qp, u16 pi)
{
	u16 posted = pi - qp->sq.ci;

	return posted <= qp->sq.entries && posted > (u16)(qp->sq.pi - qp->sq.ci);
}

static u16 hca_record_index(const struct hca_qp *qp)
{
	return be32_to_cpu(READ_ONCE(qp->dbr[MLX5R_DBR_SND]));
}

/* @pi: what the record says, or strict mode */
static bool hca_record_take(struct hca_qp *qp, u16 pi)
{
	if (pi == qp->sq.pi || (qp->managed_send && !hca_record_is_ahead(qp, pi)))
		return false;
	/* Barrier A (dp/barrier.h): the record is read before the requests that it announces. */
	smp_rmb();
	if ((u16)(pi - qp->sq.ci) > qp->sq.entries) {
		qp->sq.pi = qp->sq.ci;
		if (qp->state == MLX5_QP_STATE_ERR)
			return false;
		hca_fail_fatal(qp);
		return true;
	}
	qp->sq.pi = pi;
	hca_share_add(qp);
	return true;
}

bool hca_qp_read_record(struct hca_qp *qp)
{
	return qp->has_record && hca_record_take(qp, hca_record_index(qp));
}

/* What is posted may run: the record says so, and in strict mode a doorbell. */
static u16 hca_record_posted(const struct hca_qp *qp)
{
	u16 pi = hca_record_index(qp);

	return qp->hca->strict ? hca_strict_posted(qp, pi) : pi;
}

bool hca_qp_look(struct hca_qp *qp)
{
	u16 pi;

	if (!qp->has_record)
		return false;
	pi = hca_record_posted(qp);
	if (qp->hca->strict)
		hca_strict_looked(&qp->record);
	return hca_record_take(qp, pi);
}

bool hca_qp_is_posted(const struct hca_qp *qp)
{
	return qp->has_record && hca_record_posted(qp) != qp->sq.pi;
}

/* ---- Membership ---------------------------------------------------------------- */

void hca_record_init(struct hca_record *r, enum hca_record_kind kind)
{
	r->kind = kind;
	INIT_LIST_HEAD(&r->entry);
	INIT_LIST_HEAD(&r->active_entry);
}

void hca_record_add(struct hca_record *r, struct hca_uar *uar)
{
	r->uar = uar;
	hca_strict_begin(r);
	hca_round_add(&uar->records[r->kind].all, &r->entry);
	hca_uar_used(uar);
}

void hca_record_del(struct hca_record *r)
{
	if (!r->uar)
		return;
	hca_record_inactive(r);
	if (r->kind == HCA_RECORD_QP)
		hca_strict_forget(container_of(r, struct hca_qp, record));
	hca_round_del(&r->uar->records[r->kind].all, &r->entry);
	hca_uar_used(r->uar);
	hca_uar_put(r->uar);
	r->uar = NULL;
}

/* If the page has too many, it replaces a record that has not changed recently. */
void hca_record_activate(struct hca_record *r)
{
	struct hca_uar *uar = r->uar;
	struct hca_record *last;

	if (uar->active.n == ACTIVE_MAX) {
		last = list_entry(hca_round_last(&uar->active), struct hca_record, active_entry);
		if (last->misses < ACTIVE_STAYS)
			return;
		hca_record_inactive(last);
	}
	if (!uar->active.n)
		hca_round_add(&uar->hca->fabric->sweep.active, &uar->active_uar_entry);
	hca_round_add_first(&uar->active, &r->active_entry);
}

void hca_record_inactive(struct hca_record *r)
{
	if (list_empty(&r->active_entry))
		return;
	hca_round_del(&r->uar->active, &r->active_entry);
	if (!r->uar->active.n)
		hca_round_del(&r->uar->hca->fabric->sweep.active, &r->uar->active_uar_entry);
}
