// SPDX-License-Identifier: GPL-2.0
/*
 * Event queues.
 *
 * Every EQ is treated as armed.  The events of one pass raise one interrupt.  Software
 * writes the consumer index into a doorbell register that all EQs of a page share, and
 * handlers that run in sequence overwrite it.  So the known index is a lower bound, and only
 * entries below it are written again.
 *
 * The handlers of a vector run in sequence, and each ends with a doorbell that arms its EQ.
 * So a doorbell of one EQ shows that the others have been served or will be, and need no
 * further interrupt.  It does not show that they have been served already: the handler of
 * another EQ may run after it.  But between two doorbells of one EQ, the handlers of all
 * others have run.  So at the third doorbell of an EQ, software has taken what was in the
 * others at the first one, and their known indices advance (hca_eq_prove()).
 *
 * While software has not served an EQ, or its known index is far behind, the interrupt is
 * raised again at growing intervals.
 *
 * If an EQ seems full, new events wait: CQs with a completion event on one list, objects
 * with asynchronous events on another.  Each object stores its events as bits, so no event
 * is lost and no memory is needed.  The same event twice becomes one.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>
#include "base/alloc.h"
#include "base/devx.h"
#include "base/limits.h"
#include "data/data.h"

enum {
	EQE_BYTES	= 64,
	EQE_OWNER	= 63,
	RETRY_NS	= 100000,	/* first interval; each next one is twice as long */
	MAX_RETRY_NS	= 50000000,
	SERVED		= 64,		/* a handler takes as many events, if there are */
	DATA_BYTES	= 28,
	CI_MASK		= 0xffffff,
};

/* Sources of events: queue types of the PRM, and others */
enum {
	HCA_EVENTS_QP = MLX5_EVENT_QUEUE_TYPE_QP,
	HCA_EVENTS_SQ = MLX5_EVENT_QUEUE_TYPE_SQ,
	HCA_EVENTS_DCT = MLX5_EVENT_QUEUE_TYPE_DCT,
	HCA_EVENTS_CQ = 16, HCA_EVENTS_PORT, HCA_EVENTS_CMD,
};

static bool hca_eq_has_room(const struct hca_eq *eq)
{
	return !hca_halted(eq->hca) && eq->pi - eq->ci < 1u << eq->log_size;
}

static void hca_eq_wake(struct hca_eq *eq)
{
	eq->irq_pending = true;
	eq->hca->irq_pending = true;
	eq->retry_ns = RETRY_NS;
}

static void hca_eq_write_eqe(struct hca_eq *eq, u8 type, u8 subtype, const void *data)
{
	u32 slot = eq->pi & ((1u << eq->log_size) - 1);
	u8 *e = hca_buf_at(&eq->buf, (u64)slot * EQE_BYTES);
	u8 owner = (eq->pi >> eq->log_size) & 1;

	e[1] = type;
	e[3] = subtype;
	memcpy(e + 0x20, data, DATA_BYTES);
	/* Software must see the owner bit after the rest. */
	smp_store_release(&e[EQE_OWNER], owner);
	eq->pi++;
	hca_eq_wake(eq);
}

/* Type of the event that bit @bit of @e means */
static u8 hca_eq_event_type(const struct hca_events *e, unsigned int bit)
{
	switch (e->source) {
	case HCA_EVENTS_CMD:
		return MLX5_EVENT_TYPE_CMD;
	case HCA_EVENTS_PORT:
		return MLX5_EVENT_TYPE_PORT_CHANGE;
	default:
		return bit;
	}
}

/* Writes the event of @bit; one event reports all command slots. */
static void hca_eq_write_async(struct hca_eq *eq, struct hca_events *e, unsigned int bit)
{
	u8 type = hca_eq_event_type(e, bit), subtype = 0;
	__be32 data[DATA_BYTES / 4] = {};
	u64 reported = 1ull << bit;

	switch (e->source) {
	case HCA_EVENTS_CMD:
		reported = e->pending;
		data[0] = cpu_to_be32(reported);
		break;
	case HCA_EVENTS_PORT:
		subtype = bit;
		data[2] = cpu_to_be32(e->number << 28);
		break;
	case HCA_EVENTS_CQ:
		data[0] = cpu_to_be32(e->number);
		data[2] = cpu_to_be32(e->syndrome);
		break;
	default:
		data[5] = cpu_to_be32((u32)e->source << 24);
		data[6] = cpu_to_be32(e->number);
	}
	e->pending &= ~reported;
	hca_eq_write_eqe(eq, type, subtype, data);
}

/* Writes the pending events of @e; returns the EQ that has no room, or NULL. */
static struct hca_eq *hca_eq_write_pending(struct hca *hca, struct hca_events *e)
{
	unsigned int bit;
	struct hca_eq *eq;

	while (e->pending) {
		bit = __ffs64(e->pending);
		eq = hca->async_eq[hca_eq_event_type(e, bit)];
		if (!eq)
			e->pending &= ~(1ull << bit);
		else if (hca_eq_has_room(eq))
			hca_eq_write_async(eq, e, bit);
		else
			return eq;
	}
	return NULL;
}

/* Adds events to @e and writes them, or puts @e on the list of the EQ. */
static void hca_eq_async_event(struct hca *hca, struct hca_events *e, u64 bits)
{
	struct hca_eq *eq = hca->async_eq[hca_eq_event_type(e, __ffs64(bits))];
	bool waits = e->pending;

	if (!eq)
		return;
	e->pending |= bits;
	if (waits)
		return;
	if (list_empty(&eq->late))
		eq = hca_eq_write_pending(hca, e);
	if (!eq)
		return;
	list_add_tail(&e->entry, &eq->late);
	hca_eq_wake(eq);
}

void hca_event_forget(struct hca_events *e)
{
	if (e->pending)
		list_del(&e->entry);
	e->pending = 0;
}

static void hca_eq_write_late(struct hca_eq *eq)
{
	struct hca_events *e;
	struct hca_eq *full;

	while (!list_empty(&eq->late)) {
		e = list_first_entry(&eq->late, struct hca_events, entry);
		full = hca_eq_write_pending(eq->hca, e);
		if (full == eq)
			return;
		list_del(&e->entry);
		if (full)
			list_add_tail(&e->entry, &full->late);
	}
}

static void hca_eq_write_comp(struct hca_cq *cq)
{
	__be32 data[DATA_BYTES / 4] = { [6] = cpu_to_be32(cq->cqn) };

	hca_eq_write_eqe(cq->eq, MLX5_EVENT_TYPE_COMP, 0, data);
}

void hca_event_comp(struct hca_cq *cq)
{
	struct hca_eq *eq = cq->eq;

	if (!list_empty(&cq->event_entry))
		return;
	if (list_empty(&eq->waiting) && hca_eq_has_room(eq)) {
		hca_eq_write_comp(cq);
		return;
	}
	list_add_tail(&cq->event_entry, &eq->waiting);
	hca_eq_wake(eq);
}

/* Writes events that wait, oldest first. */
static void hca_eq_write_held(struct hca_eq *eq)
{
	struct hca_cq *cq;

	hca_eq_write_late(eq);
	while (!list_empty(&eq->waiting) && hca_eq_has_room(eq)) {
		cq = list_first_entry(&eq->waiting, struct hca_cq, event_entry);
		list_del_init(&cq->event_entry);
		hca_eq_write_comp(cq);
	}
}

/* Software has taken all events before @ci. */
static void hca_eq_advance(struct hca_eq *eq, u32 ci)
{
	eq->ci = ci;
	if ((s32)(eq->served - ci) < 0)
		eq->served = ci;
	hca_eq_write_held(eq);
}

/* The handler of @eq takes some of its events in this run of the handlers. */
static void hca_eq_serve(struct hca_eq *eq)
{
	if (eq->irq_pending || eq->served == eq->pi)
		return;
	eq->served += min_t(u32, eq->pi - eq->served, SERVED);
	if (eq->served != eq->pi)
		hca_eq_wake(eq);
}

/*
 * @since: the doorbell before the last two of another EQ of the vector.  If the mark of @eq is
 * older, software has taken the events before the mark.
 */
static void hca_eq_prove(struct hca_eq *eq, u64 since)
{
	u32 taken = eq->mark - eq->ci;

	if (eq->mark_doorbell >= since)
		return;
	if ((s32)taken > 0)
		hca_eq_advance(eq, eq->ci + min_t(u32, taken, SERVED));
	eq->mark = eq->pi;
	eq->mark_doorbell = eq->hca->eq_doorbells;
}

/* The handler of @eq has ended: what does this show about the other EQs of the vector? */
static void hca_eq_handler_ended(struct hca_eq *eq)
{
	u64 since = eq->doorbell[0];
	struct hca_eq *other;

	eq->doorbell[0] = eq->doorbell[1];
	eq->doorbell[1] = ++eq->hca->eq_doorbells;
	list_for_each_entry(other, &eq->hca->eq_list, entry) {
		if (other == eq || other->intr != eq->intr || other->uar != eq->uar)
			continue;
		hca_eq_serve(other);
		hca_eq_prove(other, since);
	}
}

/* A stale or invalid index has no effect. */
void hca_eq_doorbell(struct hca_eq *eq, u32 ci, bool arm)
{
	u32 step = (ci - eq->ci) & CI_MASK;

	if (step && step <= eq->pi - eq->ci) {
		eq->served = eq->ci + step;
		hca_eq_advance(eq, eq->served);
		if (eq->served != eq->pi)
			hca_eq_wake(eq);
	}
	if (arm)
		hca_eq_handler_ended(eq);
}

/* Half of the entries may still be unread: a doorbell is needed before the EQ seems full. */
static bool hca_eq_needs_doorbell(const struct hca_eq *eq)
{
	return eq->served != eq->pi || 2 * (eq->pi - eq->ci) > 1u << eq->log_size;
}

bool hca_eq_behind(const struct hca_eq *eq)
{
	return eq->irq_pending || hca_eq_needs_doorbell(eq);
}

bool hca_eq_raise(struct hca_eq *eq)
{
	struct hca *hca = eq->hca;

	hca_eq_write_held(eq);
	if (!eq->irq_pending && (!hca_eq_needs_doorbell(eq) || hca->fabric->now < eq->retry_due))
		return false;
	eq->irq_pending = false;
	eq->retry_due = hca->fabric->now + eq->retry_ns;
	eq->retry_ns = min_t(u64, eq->retry_ns * 2, MAX_RETRY_NS);
	hca->ops->raise_irq(hca->ctx, eq->intr);
	return true;
}

/* ---- Events ----------------------------------------------------------------------- */

void hca_event_port(struct hca_port *port, u8 subtype)
{
	const u64 state = 1ull << MLX5_PORT_CHANGE_SUBTYPE_DOWN |
			  1ull << MLX5_PORT_CHANGE_SUBTYPE_ACTIVE;
	struct hca_events *e = &port->events;
	u64 bit = 1ull << subtype;

	e->source = HCA_EVENTS_PORT;
	e->number = port->number;
	/* A new state of the port replaces an older one. */
	if ((e->pending & state) && (bit & state))
		e->pending = (e->pending & ~state) | bit;
	else
		hca_eq_async_event(port->hca, e, bit);
}

void hca_event_cmd(struct hca *hca, u32 slots)
{
	hca->cmd_events.source = HCA_EVENTS_CMD;
	hca_eq_async_event(hca, &hca->cmd_events, slots);
}

static u8 hca_event_source(const struct hca_qp *qp)
{
	switch (qp->st) {
	case HCA_ST_SQ:
		return HCA_EVENTS_SQ;
	case MLX5_QP_ST_DCT:
		return HCA_EVENTS_DCT;
	default:
		return HCA_EVENTS_QP;
	}
}

void hca_event_qp(struct hca_qp *qp, u8 type)
{
	if (qp->session_of)
		qp = qp->session_of;
	qp->events.source = hca_event_source(qp);
	qp->events.number = qp->qpn;
	hca_eq_async_event(qp->hca, &qp->events, 1ull << type);
}

void hca_event_srq(struct hca_srq *srq, u8 type)
{
	srq->events.source = HCA_EVENTS_QP;
	srq->events.number = srq->srqn;
	hca_eq_async_event(srq->hca, &srq->events, 1ull << type);
}

void hca_event_cq_error(struct hca_cq *cq, u8 syndrome)
{
	cq->events.source = HCA_EVENTS_CQ;
	cq->events.number = cq->cqn;
	cq->events.syndrome = syndrome;
	hca_eq_async_event(cq->hca, &cq->events, 1ull << MLX5_EVENT_TYPE_CQ_ERROR);
}

/* ---- Commands ---------------------------------------------------------------------- */

static bool hca_eq_subscribed(const u64 *mask, unsigned int type)
{
	return mask[type / 64] >> (type % 64) & 1;
}

static enum hca_synd hca_eq_subscribe(struct hca *hca, struct hca_eq *eq)
{
	unsigned int type;

	for (type = 0; type < ARRAY_SIZE(hca->async_eq); type++)
		if (hca_eq_subscribed(eq->event_mask, type) && hca->async_eq[type])
			return HCA_SYND_EQ_EVENT;
	for (type = 0; type < ARRAY_SIZE(hca->async_eq); type++)
		if (hca_eq_subscribed(eq->event_mask, type))
			hca->async_eq[type] = eq;
	return HCA_OK;
}

static enum hca_synd hca_eq_decode(struct hca *hca, struct hca_eq *eq, const struct hca_cmd *c)
{
	struct hca_ring ring;
	unsigned int i;

	memcpy(eq->eqc, MLX5_ADDR_OF(create_eq_in, c->in, eq_context_entry), sizeof(eq->eqc));
	eq->log_size = MLX5_GET(eqc, eq->eqc, log_eq_size);
	if (eq->log_size > HCA_LOG_MAX_EQ_SZ)
		return HCA_SYND_EQ_SIZE;
	eq->intr = MLX5_GET(eqc, eq->eqc, intr);
	if (eq->intr >= hca->p.num_vectors)
		return HCA_SYND_EQ_VECTOR;
	eq->uar = hca_uar_get(hca, c, MLX5_GET(eqc, eq->eqc, uar_page));
	if (!eq->uar)
		return HCA_SYND_UAR;
	for (i = 0; i < ARRAY_SIZE(eq->event_mask); i++)
		eq->event_mask[i] = MLX5_GET64(create_eq_in, c->in, event_bitmask[i]);
	ring = (struct hca_ring) {
		.pas = MLX5_BYTE_OFF(create_eq_in, pas),
		.log_page = MLX5_GET(eqc, eq->eqc, log_page_size),
		.page_offset = MLX5_GET(eqc, eq->eqc, page_offset),
		.entry = EQE_BYTES,
		.size = EQE_BYTES << eq->log_size,
		.written = true,
	};
	return hca_ring_init(hca, c, &eq->buf, &ring);
}

static void hca_eq_release(struct hca_eq *eq)
{
	hca_buf_free(&eq->buf);
	kfree(eq);
}

enum hca_synd hca_cmd_create_eq(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_eq *eq = kzalloc(sizeof(*eq), HCA_GFP);
	enum hca_synd synd;

	if (!eq)
		return HCA_SYND_NO_MEMORY;
	eq->hca = hca;
	INIT_LIST_HEAD(&eq->waiting);
	INIT_LIST_HEAD(&eq->late);
	INIT_LIST_HEAD(&eq->cqs);
	synd = hca_eq_decode(hca, eq, c);
	if (!synd)
		synd = hca_devx_add(hca, c, &hca->eqs, eq, &eq->eqn);
	if (synd) {
		hca_eq_release(eq);
		return synd;
	}
	synd = hca_eq_subscribe(hca, eq);
	if (synd) {
		hca_devx_del(hca, &hca->eqs, eq->eqn);
		hca_eq_release(eq);
		return synd;
	}
	eq->uar->neqs++;
	hca_uar_used(eq->uar);
	list_add_tail(&eq->entry, &hca->eq_list);
	MLX5_SET(create_eq_out, c->out, eq_number, eq->eqn);
	return HCA_OK;
}

void hca_eq_free(struct hca *hca, void *obj)
{
	struct hca_eq *eq = obj;
	unsigned int type;

	for (type = 0; type < ARRAY_SIZE(hca->async_eq); type++)
		if (hca->async_eq[type] == eq)
			hca->async_eq[type] = NULL;
	while (!list_empty(&eq->late))
		hca_event_forget(list_first_entry(&eq->late, struct hca_events, entry));
	eq->uar->neqs--;
	hca_uar_used(eq->uar);
	hca_uar_put(eq->uar);
	list_del(&eq->entry);
	hca_devx_del(hca, &hca->eqs, eq->eqn);
	hca_eq_release(eq);
}

enum hca_synd hca_cmd_destroy_eq(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_eq *eq = hca_devx_own(c, &hca->eqs, MLX5_GET(destroy_eq_in, c->in, eq_number));

	if (!eq)
		return HCA_SYND_EQ;
	if (!list_empty(&eq->cqs))
		return HCA_SYND_EQ_BUSY;
	hca_eq_free(hca, eq);
	return HCA_OK;
}

enum hca_synd hca_cmd_query_eq(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_eq *eq = hca_devx_own(c, &hca->eqs, MLX5_GET(query_eq_in, c->in, eq_number));
	void *eqc = MLX5_ADDR_OF(query_eq_out, c->out, eq_context_entry);

	if (!eq)
		return HCA_SYND_EQ;
	memcpy(eqc, eq->eqc, sizeof(eq->eqc));
	MLX5_SET(eqc, eqc, consumer_counter, eq->ci);
	MLX5_SET(eqc, eqc, producer_counter, eq->pi);
	MLX5_SET64(query_eq_out, c->out, event_bitmask, eq->event_mask[0]);
	return HCA_OK;
}
