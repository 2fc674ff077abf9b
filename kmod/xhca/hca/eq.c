// SPDX-License-Identifier: GPL-2.0
/*
 * Event queues.
 *
 * Every EQ counts as armed; interrupts of one pass coalesce into one.  The
 * consumer index comes through a doorbell register that all EQs of a page share:
 * EQs whose handlers run one after the other overwrite each other's.  So what we
 * know is a lower bound.  While it is behind, the interrupt is raised again at
 * growing intervals, and a doorbell of one EQ shows that software has served the
 * others on the same vector too.  An EQ that looks full holds back what comes:
 * CQs on a list, asynchronous events in a short queue.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/mlx5/device.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>
#include "cmd.h"

#define EQE_BYTES	64
#define EQE_OWNER	63
#define MAX_LATE	64		/* asynchronous events kept while full */
#define RETRY_NS	100000		/* first interval, doubled from then on */
#define MAX_RETRY_NS	50000000
#define SERVED		64		/* events that software takes per interrupt at least */
#define DATA_BYTES	28
#define CI_MASK		0xffffff

struct hca_eqe {
	u8 type, subtype;
	u8 data[DATA_BYTES];
};

static bool has_room(const struct hca_eq *eq)
{
	return !hca_halted(eq->hca) && eq->pi - eq->ci < 1u << eq->log_size;
}

static void wake(struct hca_eq *eq)
{
	eq->irq_pending = true;
	eq->hca->irq_pending = true;
	eq->retry_ns = RETRY_NS;
}

static void write_eqe(struct hca_eq *eq, u8 type, u8 subtype, const void *data)
{
	u32 slot = eq->pi & ((1u << eq->log_size) - 1);
	u8 *e = hca_buf_at(&eq->buf, (u64)slot * EQE_BYTES);
	u8 owner = (eq->pi >> eq->log_size) & 1;

	e[1] = type;
	e[3] = subtype;
	memcpy(e + 0x20, data, DATA_BYTES);
	/* The owner bit tells software that the rest is there. */
	smp_store_release(&e[EQE_OWNER], owner);
	eq->pi++;
	wake(eq);
}

static void async_event(struct hca_eq *eq, u8 type, u8 subtype, const void *data)
{
	struct hca_eqe *late;

	if (!eq->nlate && has_room(eq)) {
		write_eqe(eq, type, subtype, data);
		return;
	}
	if (eq->nlate < MAX_LATE) {
		late = &eq->late[eq->nlate++];
		late->type = type;
		late->subtype = subtype;
		memcpy(late->data, data, DATA_BYTES);
	}
	wake(eq);
}

static void write_comp(struct hca_cq *cq)
{
	__be32 data[DATA_BYTES / 4] = { [6] = cpu_to_be32(cq->cqn) };

	write_eqe(cq->eq, MLX5_EVENT_TYPE_COMP, 0, data);
}

void hca_event_comp(struct hca_cq *cq)
{
	struct hca_eq *eq = cq->eq;

	if (!list_empty(&cq->event_entry))
		return;
	if (list_empty(&eq->waiting) && has_room(eq)) {
		write_comp(cq);
		return;
	}
	list_add_tail(&cq->event_entry, &eq->waiting);
	wake(eq);
}

/* Room again: the oldest first */
static void write_held(struct hca_eq *eq)
{
	struct hca_cq *cq;
	u32 n;

	for (n = 0; n < eq->nlate && has_room(eq); n++)
		write_eqe(eq, eq->late[n].type, eq->late[n].subtype, eq->late[n].data);
	eq->nlate -= n;
	memmove(eq->late, eq->late + n, eq->nlate * sizeof(*eq->late));

	while (!list_empty(&eq->waiting) && has_room(eq)) {
		cq = list_first_entry(&eq->waiting, struct hca_cq, event_entry);
		list_del_init(&cq->event_entry);
		write_comp(cq);
	}
}

/* Software has taken @n more events. */
static void advance(struct hca_eq *eq, u32 n)
{
	eq->ci += n;
	if (eq->nlate || !list_empty(&eq->waiting))
		write_held(eq);
	if (eq->ci != eq->pi)
		wake(eq);
}

/* Old and made-up values stay without effect. */
void hca_eq_doorbell(struct hca_eq *eq, u32 ci)
{
	u32 step = (ci - eq->ci) & CI_MASK;
	struct hca_eq *other;

	if (step && step <= eq->pi - eq->ci)
		advance(eq, step);
	list_for_each_entry(other, &eq->hca->eq_list, entry)
		if (other != eq && other->intr == eq->intr && other->uar == eq->uar &&
		    other->ci != other->pi && !other->irq_pending)
			advance(other, min_t(u32, other->pi - other->ci, SERVED));
}

static void raise(struct hca_eq *eq)
{
	struct hca *hca = eq->hca;

	eq->irq_pending = false;
	eq->retry_due = hca->fabric->now + eq->retry_ns;
	eq->retry_ns = min_t(u64, eq->retry_ns * 2, MAX_RETRY_NS);
	hca->ops->raise_irq(hca->ctx, eq->intr);
	/* Handlers may run at once: look before the next one overwrites it. */
	hca_eq_look(eq->uar);
}

void hca_eq_flush(struct hca *hca)
{
	struct hca_eq *eq;
	bool behind = false;

	if (!hca->irq_pending || hca_halted(hca))
		return;
	list_for_each_entry(eq, &hca->eq_list, entry) {
		write_held(eq);
		if (eq->irq_pending ||
		    (eq->ci != eq->pi && hca->fabric->now >= eq->retry_due))
			raise(eq);
		behind |= eq->irq_pending || eq->ci != eq->pi;
	}
	hca->irq_pending = behind;
}

/* ---- Events ----------------------------------------------------------------------- */

void hca_event(struct hca *hca, u8 type, u8 subtype, const void *data)
{
	if (hca->async_eq[type])
		async_event(hca->async_eq[type], type, subtype, data);
}

void hca_event_cmd(struct hca_eq *eq, u32 slots)
{
	__be32 data[DATA_BYTES / 4] = { cpu_to_be32(slots) };

	async_event(eq, MLX5_EVENT_TYPE_CMD, 0, data);
}

static void queue_event(struct hca *hca, u8 type, u8 queue_type, u32 number)
{
	__be32 data[DATA_BYTES / 4] = {
		[5] = cpu_to_be32(queue_type << 24), [6] = cpu_to_be32(number),
	};

	hca_event(hca, type, 0, data);
}

void hca_event_qp(struct hca_qp *qp, u8 type)
{
	queue_event(qp->hca, type, qp->st == HCA_ST_SQ ? MLX5_EVENT_QUEUE_TYPE_SQ :
		    MLX5_EVENT_QUEUE_TYPE_QP, qp->qpn);
}

void hca_event_srq(struct hca_srq *srq, u8 type)
{
	queue_event(srq->hca, type, MLX5_EVENT_QUEUE_TYPE_QP, srq->srqn);
}

void hca_event_cq_error(struct hca_cq *cq, u8 syndrome)
{
	u8 data[DATA_BYTES] = { [1] = cq->cqn >> 16, [2] = cq->cqn >> 8, [3] = cq->cqn,
				[11] = syndrome };

	hca_event(cq->hca, MLX5_EVENT_TYPE_CQ_ERROR, 0, data);
}

/* ---- Commands ---------------------------------------------------------------------- */

static bool subscribed(const u64 *mask, unsigned int type)
{
	return mask[type / 64] >> (type % 64) & 1;
}

static enum hca_synd subscribe(struct hca *hca, struct hca_eq *eq)
{
	unsigned int type;

	for (type = 0; type < ARRAY_SIZE(hca->async_eq); type++)
		if (subscribed(eq->event_mask, type) && hca->async_eq[type])
			return HCA_SYND_EQ_EVENT;
	for (type = 0; type < ARRAY_SIZE(hca->async_eq); type++)
		if (subscribed(eq->event_mask, type))
			hca->async_eq[type] = eq;
	return HCA_OK;
}

static enum hca_synd decode(struct hca *hca, struct hca_eq *eq, const struct hca_cmd *c)
{
	unsigned int i;

	memcpy(eq->eqc, MLX5_ADDR_OF(create_eq_in, c->in, eq_context_entry), sizeof(eq->eqc));
	eq->log_size = MLX5_GET(eqc, eq->eqc, log_eq_size);
	if (eq->log_size > HCA_LOG_MAX_EQ_SZ)
		return HCA_SYND_EQ_SIZE;
	eq->intr = MLX5_GET(eqc, eq->eqc, intr);
	if (eq->intr >= hca->p.num_vectors)
		return HCA_SYND_EQ_VECTOR;
	eq->uar = hca_uar_get(hca, MLX5_GET(eqc, eq->eqc, uar_page));
	if (!eq->uar)
		return HCA_SYND_UAR;
	for (i = 0; i < ARRAY_SIZE(eq->event_mask); i++)
		eq->event_mask[i] = MLX5_GET64(create_eq_in, c->in, event_bitmask[i]);
	eq->late = kcalloc(MAX_LATE, sizeof(*eq->late), GFP_KERNEL);
	if (!eq->late)
		return HCA_SYND_NO_MEMORY;
	return hca_ring_init(hca, c, &eq->buf, MLX5_BYTE_OFF(create_eq_in, pas),
			     MLX5_GET(eqc, eq->eqc, log_page_size),
			     MLX5_GET(eqc, eq->eqc, page_offset), EQE_BYTES << eq->log_size);
}

static void release(struct hca_eq *eq)
{
	hca_buf_free(&eq->buf);
	kfree(eq->late);
	kfree(eq);
}

enum hca_synd hca_cmd_create_eq(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_eq *eq = kzalloc(sizeof(*eq), GFP_KERNEL);
	enum hca_synd synd;

	if (!eq)
		return HCA_SYND_NO_MEMORY;
	eq->hca = hca;
	INIT_LIST_HEAD(&eq->waiting);
	INIT_LIST_HEAD(&eq->cqs);
	synd = decode(hca, eq, c);
	if (!synd)
		synd = hca_number(&hca->eqs, eq, &eq->eqn);
	if (synd) {
		release(eq);
		return synd;
	}
	synd = subscribe(hca, eq);
	if (synd) {
		hca_table_del(&hca->eqs, eq->eqn);
		release(eq);
		return synd;
	}
	eq->uar->neqs++;
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
	eq->uar->neqs--;
	hca_uar_put(eq->uar);
	list_del(&eq->entry);
	hca_table_del(&hca->eqs, eq->eqn);
	release(eq);
}

enum hca_synd hca_cmd_destroy_eq(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_eq *eq = hca_table_get(&hca->eqs, MLX5_GET(destroy_eq_in, c->in, eq_number));

	if (!eq)
		return HCA_SYND_EQ;
	if (!list_empty(&eq->cqs))
		return HCA_SYND_EQ_BUSY;
	hca_eq_free(hca, eq);
	return HCA_OK;
}

enum hca_synd hca_cmd_query_eq(struct hca *hca, const struct hca_cmd *c)
{
	struct hca_eq *eq = hca_table_get(&hca->eqs, MLX5_GET(query_eq_in, c->in, eq_number));
	void *eqc = MLX5_ADDR_OF(query_eq_out, c->out, eq_context_entry);

	if (!eq)
		return HCA_SYND_EQ;
	memcpy(eqc, eq->eqc, sizeof(eq->eqc));
	MLX5_SET(eqc, eqc, consumer_counter, eq->ci);
	MLX5_SET(eqc, eqc, producer_counter, eq->pi);
	MLX5_SET64(query_eq_out, c->out, event_bitmask, eq->event_mask[0]);
	return HCA_OK;
}
