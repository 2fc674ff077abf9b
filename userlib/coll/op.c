// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Operations: creation, start, completion.
 */
#include <sched.h>
#include "coll.h"

/* ---- Creation ------------------------------------------------------------------- */

static uint32_t width(enum xv_vector_type type)
{
	return type <= XV_VECTOR_FLOAT32 ? 4 : 8;
}

/* The chunk size does not change the result.  One chunk holds the vector if possible. */
static uint32_t chunk_of(const struct xv_coll *c, size_t bytes)
{
	uint32_t chunk = 64;

	while (chunk < bytes && chunk < c->calc_cap.max_chunk)
		chunk *= 2;
	return chunk;
}

static int register_out(struct xv_coll_op *op)
{
	if (!op->bytes)
		return 0;
	op->out_mr = xv_reg_mr(op->coll->attr.pd, op->out, op->bytes, XV_ACCESS_LOCAL_WRITE);
	return op->out_mr ? 0 : xvc_error(errno, "%s", xv_last_error());
}

static int alloc_slots(struct xv_coll_op *op)
{
	size_t one = (op->links + 1) * op->bytes, size = 3 * one;
	void *mem;

	if (op->kind != ALLREDUCE)
		return 0;
	size = (size + 4095) / 4096 * 4096;
	if (posix_memalign(&mem, 4096, size))
		return xvc_error(ENOMEM, "operation: out of memory");
	memset(mem, 0, size);
	op->slots[0] = mem;
	op->slots[1] = op->slots[0] + one;
	op->sums = op->slots[1] + one;
	op->slots_mr = xv_reg_mr(op->coll->attr.pd, mem, size, XV_ACCESS_LOCAL_WRITE);
	return op->slots_mr ? 0 : xvc_error(errno, "%s", xv_last_error());
}

static void release(struct xv_coll_op *op)
{
	xvc_links_destroy(op);
	if (op->slots_mr)
		xv_dereg_mr(op->slots_mr);
	if (op->out_mr)
		xv_dereg_mr(op->out_mr);
	free(op->slots[0]);
	op->coll->ops--;
	free(op);
}

/* Vectors of the longest calculation of the adapter */
static uint32_t most_vectors(const struct xv_coll_op *op)
{
	if (op->kind != ALLREDUCE || xvc_cpu_driven(op->coll))
		return 0;
	return op->links + (op->parent == NO_PARENT && !op->round_ends);
}

static int prepare(struct xv_coll_op *op)
{
	int err;

	xvc_plan_links(op);
	if (most_vectors(op) > op->coll->calc_cap.max_count)
		return xvc_error(EOPNOTSUPP, "allreduce: the adapter combines %u vectors, not %u",
				 op->coll->calc_cap.max_count, most_vectors(op));
	err = xvc_links_create(op);
	if (!err)
		err = register_out(op);
	if (!err)
		err = alloc_slots(op);
	if (!err)
		xvc_plan_build(op);
	return err;
}

static struct xv_coll_op *new_op(struct xv_coll *coll, const struct wanted *w)
{
	struct xv_coll_op *op = calloc(1, sizeof(*op));

	if (!op)
		return NULL;
	coll->ops++;
	op->coll = coll;
	op->kind = w->kind;
	op->in = w->in;
	op->out = w->out;
	op->bytes = w->bytes;
	op->root = w->root;
	op->calc = w->calc;
	return op;
}

/* err: an error of the arguments */
static struct xv_coll_op *build(struct xv_coll *coll, const struct wanted *w, int err)
{
	struct xv_coll_op *op = err ? NULL : new_op(coll, w);

	if (op)
		err = prepare(op);
	else if (!err)
		err = xvc_error(ENOMEM, "operation: out of memory");
	err = xvc_links_connect(coll, op, err);
	if (!err)
		return op;
	if (op)
		release(op);
	errno = -err;
	return NULL;
}

EXPORT struct xv_coll_op *xv_coll_barrier(struct xv_coll *coll)
{
	return build(coll, &(struct wanted) { .kind = BARRIER }, 0);
}

EXPORT struct xv_coll_op *xv_coll_bcast(struct xv_coll *coll, void *buf, size_t length,
					uint32_t root)
{
	struct wanted w = { .kind = BCAST, .out = buf, .bytes = length, .root = root };
	int err = 0;

	if (root >= coll->attr.ranks)
		err = xvc_error(EINVAL, "broadcast: root %u of %u ranks", root, coll->attr.ranks);
	else if (length > coll->port.max_msg_sz)
		err = xvc_error(EINVAL, "broadcast: %zu bytes, a message has at most %u", length,
				coll->port.max_msg_sz);
	return build(coll, &w, err);
}

static int check_reduce(const struct xv_coll *c, uint32_t count, enum xv_vector_type type,
			enum xv_vector_op op)
{
	if (!count || (uint64_t)count * 8 > c->port.max_msg_sz)
		return xvc_error(EINVAL, "allreduce: %u elements", count);
	if ((uint32_t)type > XV_VECTOR_FLOAT64 || (uint32_t)type == 3)
		return xvc_error(EINVAL, "allreduce: unknown type %u", type);
	if ((uint32_t)op - 1 >= XV_VECTOR_MIN)
		return xvc_error(EINVAL, "allreduce: unknown operation %u", op);
	if (!xvc_cpu_driven(c) && !(c->calc_cap.ops & 1u << op))
		return xvc_error(EOPNOTSUPP, "allreduce: the adapter lacks the operation %u", op);
	return 0;
}

EXPORT struct xv_coll_op *xv_coll_allreduce(struct xv_coll *coll, const void *in, void *out,
					    uint32_t count, enum xv_vector_type type,
					    enum xv_vector_op op)
{
	struct wanted w = {
		.kind = ALLREDUCE, .in = in, .out = out, .bytes = (size_t)count * width(type),
		.calc = { .op = op, .type = type, .little_endian = 1 },
	};

	w.calc.chunk = chunk_of(coll, w.bytes);
	return build(coll, &w, check_reduce(coll, count, type, op));
}

EXPORT int xv_coll_free(struct xv_coll_op *op)
{
	if (op->running)
		return xvc_error(EBUSY, "operation: a run is in progress");
	release(op);
	return 0;
}

/* ---- Running -------------------------------------------------------------------- */

/* Without its queues, nothing of the run goes on, and the peers find that it has failed. */
static int broken(struct xv_coll_op *op, int err, const char *why)
{
	op->running = false;
	op->broken = true;
	xvc_links_destroy(op);
	return xvc_error(err, "operation: %s", why);
}

EXPORT int xv_coll_start(struct xv_coll_op *op)
{
	int err;

	if (op->running || op->broken)
		return xvc_error(EBUSY, "operation: it %s", op->broken ? "has failed" : "runs");
	if (op->kind == ALLREDUCE)
		memcpy(op->slots[op->parity], op->in, op->bytes);
	op->running = true;
	if (op->coll->attr.ranks == 1)
		return 0;
	if (xvc_cpu_driven(op->coll))
		err = xvc_cpu_start(op);
	else
		err = xvc_post(op);
	return err ? broken(op, err, "a request cannot be posted") : 0;
}

/* Reads the entries of this run; the last requests of the plan have waited for them. */
static bool entries_good(const struct hidden *h)
{
	uint32_t i;

	for (i = 0; i < h->waited; i++)
		if (xv_cqe_status(xv_cq_at(h->cq, h->base + i)))
			return false;
	return true;
}

static bool end_hidden(struct hidden *h)
{
	bool good = entries_good(h);

	h->base += h->per_run;
	return good;
}

/*
 * A WAIT counts entries with an error too, so a run ends even if a peer has failed.  The
 * program does not poll these CQs, so the library retires the requests itself.
 */
static bool clean_up(struct xv_coll_op *op)
{
	bool good = end_hidden(&op->sent) & end_hidden(&op->result);
	struct link *l;
	uint32_t i;

	for (i = 0; i < op->links; i++) {
		l = &op->link[i];
		good &= end_hidden(&l->recv);
		xv_retire_send(l->qp, l->qp->sq.pi);
		xv_retire_recv(l->qp, l->qp->rq.pi - l->ahead);
	}
	/* In a direct operation, the send of the result may not have completed yet. */
	xv_retire_send(op->result_qp, op->result_qp->sq.pi - (op->direct && !op->round_ends));
	xv_retire_recv(op->end_qp, op->end_qp->rq.pi);
	return good;
}

/* A direct operation leaves the last sum to the CPU if the last round ends it. */
static bool calculates_result(const struct xv_coll_op *op)
{
	return op->kind == ALLREDUCE && op->round_ends;
}

EXPORT int xv_coll_result_by_cpu(const struct xv_coll_op *op)
{
	return op->kind == ALLREDUCE && op->links && (xvc_cpu_driven(op->coll) || op->round_ends);
}

/* Calculates in aligned memory, because the memory of the program can have any alignment. */
static void calculate_result(struct xv_coll_op *op)
{
	const uint8_t *slot = op->slots[op->parity];
	uint32_t i;

	memcpy(op->sums, slot, op->bytes);
	for (i = 1; i <= op->links; i++)
		xvc_combine(&op->calc, op->sums, slot + i * op->bytes, op->bytes);
	memcpy(op->out, op->sums, op->bytes);
}

static int finish(struct xv_coll_op *op, bool good)
{
	if (!good)
		return broken(op, EIO, "a message has failed");
	if (calculates_result(op))
		calculate_result(op);
	op->running = false;
	op->parity = !op->parity;
	return 1;
}

/* One rank alone has nothing to exchange. */
static int test_alone(struct xv_coll_op *op)
{
	if (op->kind == ALLREDUCE)
		memcpy(op->out, op->slots[op->parity], op->bytes);
	return finish(op, true);
}

EXPORT int xv_coll_test(struct xv_coll_op *op)
{
	struct xv_wc wc;
	int done = 0;

	if (!op->running)
		return xvc_error(EINVAL, "operation: no run is in progress");
	if (op->coll->attr.ranks == 1)
		return test_alone(op);
	if (xvc_cpu_driven(op->coll))
		done = xvc_cpu_test(op);
	else if (xv_poll_cq(op->end_cq, 1, &wc))
		done = !wc.status && clean_up(op) ? 1 : -1;
	if (done)
		return finish(op, done > 0);
	return xvc_watch_lost(op) ? broken(op, EIO, "a rank has ended") : 0;
}

/*
 * Poll once more after the request for an event: the completion may have come before.  A signal
 * handler does not end the wait, because the run goes on.
 */
static int sleep_once(struct xv_coll_op *op)
{
	struct xv_cq *cq;
	void *context;
	int done, err;

	xv_req_notify(op->end_cq, 0);
	done = xv_coll_test(op);
	if (done)
		return done;
	err = xv_get_cq_event(op->channel, &cq, &context);
	if (err == -EINTR)
		return 0;
	if (err)
		return xvc_error(err, "%s", xv_last_error());
	xv_ack_cq_events(cq, 1);
	return 0;
}

/* There may be more ranks than processors. */
static int poll_once(struct xv_coll_op *op)
{
	sched_yield();
	return xv_coll_test(op);
}

EXPORT int xv_coll_wait(struct xv_coll_op *op)
{
	int done = xv_coll_test(op);

	while (!done)
		done = xvc_cpu_driven(op->coll) ? poll_once(op) : sleep_once(op);
	return done;
}
