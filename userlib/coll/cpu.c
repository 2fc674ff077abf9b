// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * CPU-driven operations: the CPU polls the CQs that the plan waits for, calculates,
 * and posts the sends one by one.  This is what programs without cross-channel queues do.
 * Benchmarks compare it with the adapter.
 */
#include "coll.h"

/* ---- Calculation ---------------------------------------------------------------- */

/* Returns the combination of the first slots. */
static uint8_t *sum_of(const struct xv_coll_op *op, uint32_t slots)
{
	return slots < 2 ? op->slots[op->parity] : op->sums + (slots - 1) * op->bytes;
}

/*
 * Each combination has its own buffer: the adapter may still read an earlier one, and the
 * lists may run in any order.
 */
static uint8_t *calculate(struct xv_coll_op *op, uint32_t slots)
{
	uint32_t *n = &op->combined;
	uint8_t *sum;

	for (; *n < slots; ++*n) {
		sum = sum_of(op, *n + 1);
		memcpy(sum, sum_of(op, *n), op->bytes);
		xvc_combine(&op->calc, sum, op->slots[op->parity] + *n * op->bytes, op->bytes);
	}
	return sum_of(op, slots);
}

/* ---- Steps ---------------------------------------------------------------------- */

/* Counts the entries of the CQ; returns -1 if one has an error. */
static int poll_hidden(struct hidden *h)
{
	struct xv_wc wc;

	while (xv_poll_cq(h->cq, 1, &wc)) {
		if (wc.status)
			return -1;
		h->polled++;
	}
	return 0;
}

/* Stores the result without an RDMA write: this rank has calculated it on the CPU. */
static void store_result(struct xv_coll_op *op, const void *sum)
{
	memcpy(op->out, sum, op->bytes);
	op->result.polled++;
	op->sent.polled++;
}

static int post(struct xv_coll_op *op, const struct list *l, const struct xv_send_wr *planned)
{
	struct xv_send_wr wr = *planned, *bad;
	struct xv_sge sge;

	wr.next = NULL;
	if (wr.send_flags & XV_SEND_WITH_VECTOR_CALC) {
		sge = *wr.sg_list;
		sge.addr = (uintptr_t)calculate(op, wr.op.vector_calc.count);
		wr.sg_list = &sge;
		wr.send_flags &= ~(unsigned int)XV_SEND_WITH_VECTOR_CALC;
	}
	if (l->qp == op->result_qp) {
		store_result(op, (const void *)(uintptr_t)wr.sg_list->addr);
		return 0;
	}
	return xv_post_send(l->qp, &wr, &bad);
}

/* Runs a list until a wait that is not met; 1 at its end, -1 after an error. */
static int run_list(struct xv_coll_op *op, struct list *l)
{
	const struct xv_send_wr *wr;
	struct hidden *h;

	for (; l->next < l->n; l->next++) {
		wr = &l->wr[l->next];
		if (wr->opcode != XV_WR_CQE_WAIT) {
			if (post(op, l, wr))
				return -1;
			continue;
		}
		h = l->waits[l->next];
		if (poll_hidden(h))
			return -1;
		if (h->polled < (uint32_t)wr->wr.cqe_wait.cq_count)
			return 0;
	}
	return 1;
}

/* Runs all lists as far as possible; 1 if all have ended, -1 after an error. */
static int run_lists(struct xv_coll_op *op)
{
	struct plan *p = &op->plan[op->parity];
	int done, all = 1;
	uint32_t i;

	for (i = 0; i < p->lists; i++) {
		done = run_list(op, &p->list[i]);
		if (done < 0)
			return -1;
		all &= done;
	}
	return all;
}

int xvc_cpu_start(struct xv_coll_op *op)
{
	struct plan *p = &op->plan[op->parity];
	struct xv_recv_wr *bad;
	uint32_t i;
	int err = 0;

	for (i = 0; i < p->landings && !err; i++)
		if (p->landing[i].qp != op->end_qp)
			err = xv_post_recv(p->landing[i].qp, &p->landing[i].wr, &bad);
	for (i = 0; i < p->lists; i++)
		p->list[i].next = 0;
	op->combined = 1;
	return err ? err : run_lists(op) < 0 ? -EIO : 0;
}

/* Later entries belong to the next run. */
static void next_run(struct hidden *h)
{
	h->polled -= h->per_run;
}

int xvc_cpu_test(struct xv_coll_op *op)
{
	int done = run_lists(op);
	uint32_t i;

	if (done <= 0)
		return done;
	for (i = 0; i < op->links; i++)
		next_run(&op->link[i].recv);
	next_run(&op->sent);
	next_run(&op->result);
	return 1;
}
