// SPDX-License-Identifier: GPL-2.0
/*
 * Cross-channel requests: WAIT, SEND_ENABLE and RECV_ENABLE.
 *
 * A managed send queue takes its producer index from SEND_ENABLE, not from its doorbell record.
 * A managed receive queue delivers what is posted and enabled.  An index that is not ahead of
 * the one enabled before changes nothing.  A send index beyond the size of the ring fails.
 * How adapters react to such indices is not documented.
 *
 * A request may name only CQs and queues of its own doorbell page, and queues of its own PD;
 * a CQ has no PD.  A page belongs to one process.  Any other number fails with a local QP
 * operation error, whether or not the object exists.
 *
 * Adapters are known to need one page for a waiting queue and its CQ, and programs give one
 * page to a managed queue and its master; it is not known what adapters check.  For an ENABLE
 * the same PD would be protection enough.  But a program that needs two pages might fail on an
 * adapter, so it fails here too.
 *
 * A WAIT that is not met leaves the run list.  It waits at the CQ (wait.c), and has then
 * completed, or for a timer, and is then executed again.
 */
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <asm/byteorder.h>
#include "data/data.h"

/* ---- WAIT for a CQ ----------------------------------------------------------------- */

/*
 * Waits until the CQ has the entry.  Its index has 24 bits; one that is more than half of
 * its range ahead counts as passed.
 */
static int hca_xchan_wait_cq(struct hca_qp *qp, const struct hca_wqe_wait *w)
{
	struct hca_cq *cq = hca_table_get(&qp->hca->cqs, w->cqn);
	u32 missing;

	if (!cq || cq->record.uar != qp->record.uar)
		return MLX5R_SYND_LOCAL_QP_OP;
	missing = (w->index + 1 - cq->pi) & MLX5R_WAIT_INDEX_MASK;
	if (!missing || missing > (MLX5R_WAIT_INDEX_MASK + 1) / 2)
		return 0;
	/* A CQ that has overrun gets no entry any more. */
	if (cq->overrun)
		return MLX5R_SYND_LOCAL_QP_OP;
	hca_wait_begin(qp, w, cq, cq->pi + missing);
	return HCA_AGAIN;
}

bool hca_xchan_waits(struct hca_qp *qp)
{
	struct hca_wqe_wait wait;

	return qp->cd_master && hca_wqe_peek_wait(qp, &wait) &&
	       hca_xchan_wait_cq(qp, &wait) == HCA_AGAIN;
}

static int hca_xchan_wait_fetched(struct hca_qp *qp, const struct hca_wqe *w)
{
	struct hca_wqe_wait wait = {
		.cqn = w->object, .index = w->object_index, .nbb = w->nbb,
		.signalled = hca_wqe_signalled(w),
	};

	return hca_xchan_wait_cq(qp, &wait);
}

/* ---- WAIT for data or time --------------------------------------------------------- */

#define POLL_FIRST_NS	1000u		/* between two reads of the data */
#define POLL_LAST_NS	4000000u
#define POLL_PART	64u		/* or this part of the time that it has waited */
#define POLL_SHARE_NS	32000u		/* of all such queues of an owner */

/* -1, 0 or 1.  Cyclic: by the sign of the difference, in the width of the mask. */
static int hca_xchan_compare(u64 a, u64 b, u64 mask, bool cyclic)
{
	u64 diff = (a - b) & mask;

	a &= mask;
	b &= mask;
	if (!cyclic)
		return a < b ? -1 : a > b;
	if (!diff)
		return 0;
	return diff >> ilog2(mask) & 1 ? -1 : 1;
}

static bool hca_xchan_met(const struct hca_wait_data *d, u64 now)
{
	bool cyclic = d->op >= MLX5R_WAIT_CYCLIC_BIGGER, met;
	int order = hca_xchan_compare(d->value, now, d->mask, cyclic);

	switch (d->op) {
	case MLX5R_WAIT_ALWAYS:
		met = true;
		break;
	case MLX5R_WAIT_EQUAL:
		met = !order;
		break;
	case MLX5R_WAIT_BIGGER:
	case MLX5R_WAIT_CYCLIC_BIGGER:
		met = order > 0;
		break;
	default:
		met = order < 0;
	}
	return met != d->invert;
}

static void hca_xchan_poll_begin(struct hca_qp *qp, u64 now)
{
	if (qp->poll_since)
		return;
	qp->poll_since = now;
	qp->record.uar->owner->npolling++;
}

static void hca_xchan_poll_end(struct hca_qp *qp)
{
	if (!qp->poll_since)
		return;
	qp->poll_since = 0;
	qp->record.uar->owner->npolling--;
}

/*
 * The adapter gets no notice when memory changes, so it reads the data again after a delay.
 * The delay grows with the time that the request has waited, and with the number of such
 * queues of the owner.
 */
static int hca_xchan_poll_later(struct hca_qp *qp)
{
	struct hca_fabric *f = qp->hca->fabric;
	u64 ns;

	f->now = ktime_get_ns();
	hca_xchan_poll_begin(qp, f->now);
	ns = clamp_t(u64, (f->now - qp->poll_since) / POLL_PART, POLL_FIRST_NS, POLL_LAST_NS);
	ns = max_t(u64, ns, (u64)(qp->record.uar->owner->npolling - 1) * POLL_SHARE_NS);
	hca_timer_set(f, &qp->timer, f->now + ns);
	return HCA_AGAIN;
}

static noinline int hca_xchan_wait_data(struct hca_qp *qp, const struct hca_wait_data *d)
{
	struct hca_key_user user = {
		.hca = qp->hca, .pd = qp->pd, .qpn = qp->qpn, .access = MLX5R_MKEY_ACCESS_LR,
	};
	u64 len = sizeof(u64);
	const u64 *at;

	at = hca_key_map(&user, d->lkey, d->addr, &len);
	/* An indirect mkey may lead to an unaligned address or to two pieces. */
	if (!at || len != sizeof(u64) || !IS_ALIGNED((unsigned long)at, sizeof(u64)))
		return MLX5R_SYND_LOCAL_PROT;
	if (!hca_xchan_met(d, be64_to_cpu((__force __be64)READ_ONCE(*at))))
		return d->fail == MLX5R_WAIT_ERROR ? MLX5R_SYND_LOCAL_QP_OP :
						     hca_xchan_poll_later(qp);
	/* Barrier A (dp/barrier.h): the data is read before the memory that it announces. */
	smp_rmb();
	return 0;
}

/*
 * The time is that of the clock of time stamps (clock.c).  For the usual condition the end of
 * the wait is known; with others the clock is read again after a delay.
 */
static noinline int hca_xchan_wait_time(struct hca_qp *qp, const struct hca_wait_data *d)
{
	const struct hca_model *m = qp->hca->p.model;
	struct hca_fabric *f = qp->hca->fabric;
	u64 ticks;

	f->now = ktime_get_ns();
	ticks = hca_model_ticks(m, f->now);
	if (hca_xchan_met(d, ticks))
		return 0;
	if (d->fail == MLX5R_WAIT_ERROR)
		return MLX5R_SYND_LOCAL_QP_OP;
	if (d->op != MLX5R_WAIT_CYCLIC_SMALLER || d->invert || !d->mask || d->mask & (d->mask + 1))
		return hca_xchan_poll_later(qp);
	ticks += ((d->value - ticks) & d->mask) + 1;
	hca_timer_set(f, &qp->timer, hca_model_time(m, ticks));
	return HCA_AGAIN;
}

/* ---- SEND_ENABLE and RECV_ENABLE --------------------------------------------------- */

/* The managed queue that a request names, or NULL.  One in RESET has nothing to enable. */
static struct hca_qp *hca_xchan_target(struct hca_qp *qp, u32 qpn)
{
	struct hca_qp *target = hca_qp_get(qp->hca, qpn);

	return target && target->pd == qp->pd && target->record.uar == qp->record.uar &&
	       target->state != MLX5_QP_STATE_RST ? target : NULL;
}

static int hca_xchan_send_enable(struct hca_qp *qp, u32 qpn, u16 index)
{
	struct hca_qp *target = hca_xchan_target(qp, qpn);
	u16 ahead;

	if (!target || !target->managed_send)
		return MLX5R_SYND_LOCAL_QP_OP;
	ahead = index - target->sq.ci;
	if (ahead > target->sq.entries)
		return ahead > 0x8000 ? 0 : MLX5R_SYND_LOCAL_QP_OP;
	if (ahead <= (u16)(target->sq.pi - target->sq.ci))
		return 0;
	target->sq.pi = index;
	hca_share_add(target);
	qp->hca->fabric->turn.woken = true;
	return 0;
}

static int hca_xchan_recv_enable(struct hca_qp *qp, u32 qpn, u16 index)
{
	struct hca_qp *target = hca_xchan_target(qp, qpn);

	if (!target || !target->managed_recv)
		return MLX5R_SYND_LOCAL_QP_OP;
	if ((s16)(index - target->rq_enabled) > 0)
		target->rq_enabled = index;
	return 0;
}

/* ---- All --------------------------------------------------------------------------- */

int hca_xchan(struct hca_qp *qp, const struct hca_wqe *w)
{
	int ret;

	if (!qp->cd_master)
		return MLX5R_SYND_LOCAL_QP_OP;
	switch (w->opcode) {
	case MLX5R_OP_SEND_ENABLE:
		return hca_xchan_send_enable(qp, w->object, w->object_index);
	case MLX5R_OP_RECV_ENABLE:
		return hca_xchan_recv_enable(qp, w->object, w->object_index);
	}
	switch (w->opmod) {
	case MLX5R_WAIT_CQ:
		return hca_xchan_wait_fetched(qp, w);
	case MLX5R_WAIT_DATA:
		ret = hca_xchan_wait_data(qp, &w->wait);
		break;
	default:
		ret = hca_xchan_wait_time(qp, &w->wait);
	}
	if (ret != HCA_AGAIN)
		hca_xchan_poll_end(qp);
	return ret;
}

void hca_xchan_stop(struct hca_qp *qp)
{
	hca_wait_end(qp);
	qp->wait_over = false;
	hca_xchan_poll_end(qp);
}

#undef POLL_FIRST_NS
#undef POLL_LAST_NS
#undef POLL_PART
#undef POLL_SHARE_NS
