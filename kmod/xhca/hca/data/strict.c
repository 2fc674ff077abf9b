// SPDX-License-Identifier: GPL-2.0
/*
 * Strict mode, doorbells: one that software forgets is not made good by a look at the record.
 *
 * An adapter executes up to the index in a doorbell, and looks at no record without one.  Here
 * registers are memory, and two doorbells on one register overwrite each other.  So a record is
 * used only if a doorbell was seen on its register since it was read last; and while one queue
 * uses a register, only up to the end of the request that the doorbell names.
 *
 * What this cannot find: a doorbell that is forgotten while another queue rings the same register,
 * or the first one of a queue while another queue of its page rings.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include "data/data.h"

static struct hca_bell *hca_strict_bell(const struct hca_record *r)
{
	return &r->uar->bells[r->bell];
}

void hca_strict(struct hca *hca, bool on)
{
	hca->strict = on;
}

/* It may have overwritten the doorbell of any queue. */
static void hca_strict_ring_unknown(struct hca_uar *uar, struct hca_bell *b)
{
	b->rings++;
	b->shared = true;
	uar->bells[HCA_BELL_ANY].rings++;
}

static void hca_strict_ring_of(struct hca_uar *uar, struct hca_bell *b, struct hca_qp *qp, u64 v)
{
	struct hca_record *r = &qp->record;

	b->rings++;
	uar->bells[HCA_BELL_ANY].rings++;
	if (!b->qpn)
		b->qpn = qp->qpn;
	else if (b->qpn != qp->qpn)
		b->shared = true;
	if (hca_strict_bell(r) != b) {
		r->bell = b - uar->bells;
		r->rings = b->rings - 1;
	}
	qp->announced = (v >> 40) + DIV_ROUND_UP(v & MLX5R_MAX_DS, MLX5R_WQEBB / MLX5R_DS);
}

void hca_strict_ring(struct hca_uar *uar, u32 bell, struct hca_qp *qp, u64 v)
{
	if (qp && qp->record.uar == uar)
		hca_strict_ring_of(uar, &uar->bells[bell], qp, v);
	else
		hca_strict_ring_unknown(uar, &uar->bells[bell]);
}

u16 hca_strict_posted(const struct hca_qp *qp, u16 pi)
{
	const struct hca_bell *b = hca_strict_bell(&qp->record);
	s16 ahead = qp->announced - qp->sq.pi;

	if (b->rings == qp->record.rings)
		return qp->sq.pi;
	if (qp->record.bell == HCA_BELL_ANY || b->shared || ahead >= (s16)(pi - qp->sq.pi))
		return pi;
	return ahead > 0 ? qp->announced : qp->sq.pi;
}

void hca_strict_begin(struct hca_record *r)
{
	r->bell = HCA_BELL_ANY;
	hca_strict_looked(r);
}

void hca_strict_looked(struct hca_record *r)
{
	r->rings = hca_strict_bell(r)->rings;
}

/* Another queue may use the register after it. */
void hca_strict_forget(struct hca_qp *qp)
{
	struct hca_bell *b = hca_strict_bell(&qp->record);

	if (b->qpn == qp->qpn)
		b->qpn = 0;
}
