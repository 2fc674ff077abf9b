// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The requests of each operation, which are the same in every run.
 *
 * Recursive doubling (a power of two of ranks): in round k a rank exchanges what it has
 * with the rank whose number differs in bit k.  The queue of round k waits for the
 * messages of all rounds before, and sends the combination of all slots so far.
 *
 * Tree (any number of ranks, and broadcast): a rank waits for its children, sends their
 * combination to its parent, waits for the answer and sends it to its children.  In a
 * broadcast the messages to the parent are empty: they say that the child is ready.
 *
 * Every send makes an entry in a hidden CQ.  The end waits for all of them, so a run that
 * has completed leaves no request behind.
 *
 * A run ends with one completion.  In a tree, and if the CPU drives the operation, it comes from
 * a queue that only waits.  Otherwise recursive doubling is direct: it has no such queue.
 *	- Barrier, and allreduce if the CPU calculates the result: the queue of the last round
 *	  waits for the last message, and this request makes the completion.
 *	- Other allreduces: the adapter sends the result to its own rank, and the receive of this
 *	  message makes the completion.  Nothing waits for the completion of the send, because
 *	  the queue completes it before it executes the send of the next run.  If it fails, its
 *	  error is the completion.
 *
 * In a direct operation, a queue waits for two entries of the CQ of the round before: one of
 * its send and one of its receive.  A message of the peer's next run may be there before the
 * entry of the send, but the peer sends it only after it has received that send.
 *
 * A peer can be one run ahead, but not two, because its next run needs a message of this
 * rank.  A peer that is ahead may send before this rank has posted the receives of that
 * run.  So these receives are posted one run ahead, and two sets of slots are used in turn.
 */
#include "coll.h"

#define CPU_BYTES	1024		/* longest vector of which the CPU calculates the result */

/* ---- Links ---------------------------------------------------------------------- */

static bool doubling(const struct xv_coll_op *op)
{
	uint32_t n = op->coll->attr.ranks;

	return op->kind != BCAST && !(n & (n - 1));
}

static void add_link(struct xv_coll_op *op, uint32_t peer, bool ahead)
{
	op->link[op->links] = (struct link) {
		.peer = peer, .slot = ahead ? op->links + 1 : 0, .ahead = ahead,
	};
	op->links++;
}

/* Numbers in the tree are relative to the root: the parent of v is v without its lowest bit. */
static uint32_t from_root(const struct xv_coll_op *op, uint32_t v)
{
	return (uint32_t)(((uint64_t)v + op->root) % op->coll->attr.ranks);
}

static void tree_links(struct xv_coll_op *op)
{
	uint32_t n = op->coll->attr.ranks, bit;
	uint32_t v = (uint32_t)(((uint64_t)op->coll->attr.rank + n - op->root) % n);

	for (bit = 1; !(v & bit) && v + bit < n && bit; bit <<= 1)
		add_link(op, from_root(op, v + bit), true);
	if (!v)
		return;
	op->parent = op->links;
	add_link(op, from_root(op, v & (v - 1)), false);
}

/*
 * For a short vector, the CPU calculates the result in less time than the adapter needs to send
 * it.  The adapter calculates the results of floating-point numbers, because those of the CPU
 * can differ (reduce.c).
 */
static bool cpu_calculates_result(const struct xv_coll_op *op)
{
	bool real = op->calc.type == XV_VECTOR_FLOAT32 || op->calc.type == XV_VECTOR_FLOAT64;

	return op->kind == ALLREDUCE && op->bytes <= CPU_BYTES && !real;
}

void xvc_plan_links(struct xv_coll_op *op)
{
	uint32_t bit;

	op->parent = NO_PARENT;
	op->direct = doubling(op) && !xvc_cpu_driven(op->coll);
	op->round_ends = op->direct && (op->kind == BARRIER || cpu_calculates_result(op));
	if (!doubling(op)) {
		tree_links(op);
		return;
	}
	for (bit = 1; bit < op->coll->attr.ranks; bit <<= 1)
		add_link(op, op->coll->attr.rank ^ bit, true);
}

/* ---- Requests ------------------------------------------------------------------- */

static struct list *new_list(struct plan *p, struct xv_qp *qp)
{
	struct list *l = &p->list[p->lists++];

	l->qp = qp;
	return l;
}

static void wait_for(struct list *l, struct hidden *h, uint32_t count)
{
	h->per_run = h->waited = count;
	l->waits[l->n] = h;
	l->wr[l->n++] = (struct xv_send_wr) {
		.opcode = XV_WR_CQE_WAIT, .wr.cqe_wait = { h->cq, (int32_t)count },
	};
}

static void wait_links(struct list *l, struct xv_coll_op *op, uint32_t links)
{
	uint32_t i;

	for (i = 0; i < links; i++)
		if (i != op->parent)
			wait_for(l, &op->link[i].recv, 1);
}

/*
 * Waits for the rounds before this one.  In a direct operation, a queue has one CQ for its send
 * and its receive, and its send has waited for the rounds before: so both are waited for at once.
 */
static void wait_rounds(struct list *l, struct xv_coll_op *op, uint32_t rounds)
{
	if (!op->direct)
		wait_links(l, op, rounds);
	else if (rounds)
		wait_for(l, &op->link[rounds - 1].recv, 2);
}

static struct xv_send_wr *new_send(struct list *l, const struct xv_sge *sge)
{
	struct xv_send_wr *wr = &l->wr[l->n++];

	l->sge = *sge;
	*wr = (struct xv_send_wr) {
		.opcode = XV_WR_SEND, .send_flags = XV_SEND_SIGNALED,
		.sg_list = &l->sge, .num_sge = sge->length ? 1 : 0,
	};
	return wr;
}

/* Sends the combination of the first slots; an empty message if there is no data. */
static void send_slots(struct list *l, const struct xv_coll_op *op, uint32_t parity,
		       uint32_t slots)
{
	struct xv_sge sge = { (uintptr_t)op->slots[parity], (uint32_t)op->bytes,
			      op->slots_mr ? op->slots_mr->lkey : 0 };
	struct xv_send_wr *wr;

	if (op->kind != ALLREDUCE)
		sge.length = 0;
	wr = new_send(l, &sge);
	if (op->kind != ALLREDUCE || slots < 2)
		return;
	wr->send_flags |= XV_SEND_WITH_VECTOR_CALC;
	wr->op.vector_calc = op->calc;
	wr->op.vector_calc.count = (uint16_t)slots;
}

/* The whole result, or the data of a broadcast */
static struct xv_sge out_sge(const struct xv_coll_op *op)
{
	return (struct xv_sge) { (uintptr_t)op->out, (uint32_t)op->bytes,
				 op->out_mr ? op->out_mr->lkey : 0 };
}

static void receive(struct plan *p, struct xv_qp *qp, const struct xv_sge *sge)
{
	struct landing *r = &p->landing[p->landings++];

	r->qp = qp;
	r->sge = *sge;
	r->wr = (struct xv_recv_wr) { .sg_list = &r->sge, .num_sge = sge->length ? 1 : 0 };
}

/* A receive that is ahead is for the slots of the next run. */
static void receive_links(struct plan *p, const struct xv_coll_op *op)
{
	struct xv_sge sge;
	uint32_t i;

	for (i = 0; i < op->links; i++) {
		sge = out_sge(op);
		if (op->link[i].ahead) {
			sge = (struct xv_sge) {
				(uintptr_t)op->slots[!p->parity] + op->link[i].slot * op->bytes,
				op->kind == ALLREDUCE ? (uint32_t)op->bytes : 0,
				op->slots_mr ? op->slots_mr->lkey : 0,
			};
		}
		receive(p, op->link[i].qp, &sge);
	}
}

/* ---- Plans ---------------------------------------------------------------------- */

/* Combines all slots into the result. */
static void make_result(struct plan *p, struct xv_coll_op *op, uint32_t links)
{
	struct list *l = new_list(p, op->result_qp);
	struct xv_sge sge = out_sge(op);

	wait_rounds(l, op, links);
	send_slots(l, op, p->parity, links + 1);
	if (op->direct)
		l->wr[l->n - 1].send_flags &= ~(unsigned int)XV_SEND_SIGNALED;
	receive(p, op->end_qp, &sge);
}

/* Waits for the completions of all sends and makes the completion of the operation. */
static void make_end(struct xv_coll_op *op, struct list *l, uint32_t sends)
{
	wait_for(l, &op->sent, sends);
	l->wr[l->n - 1].send_flags = XV_SEND_SIGNALED;
}

/*
 * @l is the list of the last round, which waits for the messages of all other rounds.  This adds
 * a wait for the message of the last round, which makes the completion of the run.  The queue
 * executes it after its send, so the send has completed when the run completes.
 */
static void end_round(struct xv_coll_op *op, struct list *l)
{
	l->wr[l->n - 1].send_flags &= ~(unsigned int)XV_SEND_SIGNALED;
	wait_for(l, &op->link[op->links - 1].recv, 1);
	l->wr[l->n - 1].send_flags = XV_SEND_SIGNALED;
}

static void plan_doubling(struct plan *p, struct xv_coll_op *op)
{
	struct list *l = NULL;
	uint32_t k;

	for (k = 0; k < op->links; k++) {
		l = new_list(p, op->link[k].qp);
		wait_rounds(l, op, k);
		send_slots(l, op, p->parity, k + 1);
	}
	if (op->round_ends)
		end_round(op, l);
	else if (op->kind == ALLREDUCE)
		make_result(p, op, op->links);
	if (op->direct)
		return;
	l = new_list(p, op->end_qp);
	if (op->kind == ALLREDUCE)
		wait_for(l, &op->result, 1);
	else
		wait_links(l, op, op->links);
	make_end(op, l, op->links + (op->kind == ALLREDUCE));
}

/* Adds the wait for the message of the parent, or at the root for the combination. */
static void wait_answer(struct list *l, struct xv_coll_op *op, uint32_t child)
{
	if (op->parent != NO_PARENT)
		wait_for(l, &op->link[op->parent].recv, 1);
	else if (op->kind == ALLREDUCE)
		wait_for(l, &op->result, 1);
	else if (op->kind == BARRIER)
		wait_links(l, op, op->links);
	if (op->kind == BCAST && child != NO_PARENT)
		wait_for(l, &op->link[child].recv, 1);
}

static void plan_tree(struct plan *p, struct xv_coll_op *op)
{
	uint32_t children = op->parent == NO_PARENT ? op->links : op->parent, i;
	bool has_result = op->parent == NO_PARENT && op->kind == ALLREDUCE;
	struct xv_sge sge = out_sge(op);
	struct list *l;

	if (op->parent != NO_PARENT) {
		l = new_list(p, op->link[op->parent].qp);
		if (op->kind != BCAST)
			wait_links(l, op, children);
		send_slots(l, op, p->parity, children + 1);
	}
	if (has_result)
		make_result(p, op, children);
	for (i = 0; i < children; i++) {
		l = new_list(p, op->link[i].qp);
		wait_answer(l, op, i);
		new_send(l, &sge);
	}
	l = new_list(p, op->end_qp);
	wait_answer(l, op, NO_PARENT);
	make_end(op, l, op->links + has_result);
}

void xvc_plan_build(struct xv_coll_op *op)
{
	struct plan *p;
	uint32_t i;

	/* One rank alone has nothing to exchange. */
	for (i = 0; i < 2 && op->links; i++) {
		p = &op->plan[i];
		p->parity = i;
		receive_links(p, op);
		if (doubling(op))
			plan_doubling(p, op);
		else
			plan_tree(p, op);
		xvc_images_build(p);
	}
}

/* The receives of the first run that are posted one run ahead */
int xvc_plan_post_ahead(struct xv_coll_op *op)
{
	struct plan *p = &op->plan[1];
	struct xv_recv_wr *bad;
	uint32_t i;
	int err = 0;

	for (i = 0; i < op->links && !err; i++)
		if (op->link[i].ahead)
			err = xv_post_recv(op->link[i].qp, &p->landing[i].wr, &bad);
	return err ? xvc_error(err, "operation: a receive cannot be posted") : 0;
}
