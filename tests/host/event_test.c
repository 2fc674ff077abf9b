// SPDX-License-Identifier: GPL-2.0
/*
 * Full event queues, CQ resize, SRQ limits, notification requests, functions without DMA.
 */
#include <stdlib.h>
#include <string.h>
#include "cmd/cmd.h"
#include "session.h"
#include "tap.h"

#define EQ_LOG		6		/* of the session's EQs */
#define EQ_SIZE		(1u << EQ_LOG)

static struct session s;

/* State of the software that reads an EQ */
struct eq_reader {
	struct hca_eq *eq;
	u32 ci;
	u32 seen[64];			/* number of events, by CQN or SRQN modulo 64 */
};

static u32 read_events(struct eq_reader *r, u32 max)
{
	u32 n = 0;

	while (n < max) {
		u8 *e = hca_buf_at(&r->eq->buf, (r->ci & (EQ_SIZE - 1)) * 64ull);

		if ((e[63] & 1) != (r->ci >> EQ_LOG & 1))
			break;
		r->seen[be32_to_cpu(*(__be32 *)(e + 0x38)) % 64]++;
		r->ci++;
		n++;
	}
	return n;
}

/* Writes the consumer index to the doorbell register of the EQ. */
static void tell_index(struct eq_reader *r)
{
	__be32 *reg = r->eq->uar->regs + MLX5R_UAR_EQ_ARM;

	*reg = cpu_to_be32(r->eq->eqn << 24 | (r->ci & 0xffffff));
}

static struct eq_reader reader(u32 func)
{
	return (struct eq_reader) { .eq = hca_table_get(&s.hca[func]->eqs, s.eqn[func]) };
}

/* More CQs have an event than the EQ has entries: no event is lost. */
static void test_full(void)
{
	enum { N = EQ_SIZE + 36 };
	static struct session_qp q[N];
	struct eq_reader r;
	u32 i, n;

	for (i = 0; i < N; i++)
		session_qp(&s, 1, MLX5_QP_ST_UD, 2, 2, &q[i]);
	r = reader(1);
	for (i = 0; i < N; i++)
		hca_event_comp(hca_table_get(&s.hca[1]->cqs, q[i].cqn));
	for (i = 0; i < N; i++)
		hca_event_comp(hca_table_get(&s.hca[1]->cqs, q[i].cqn));
	hca_fabric_poll(&s.fabric);
	ok(s.irqs[1] > 0, "interrupts are raised");
	n = read_events(&r, 1000);
	tap_is(n, EQ_SIZE, "the EQ is full");
	do {
		tell_index(&r);
		session_settle(&s);
	} while (read_events(&r, 1000));
	for (i = 0, n = 0; i < N; i++)
		n += r.seen[q[i].cqn % 64] > 0;
	tap_is(n, N, "every CQ has had its event");
	tap_is(r.eq->ci, r.eq->pi, "the adapter has the consumer index");
	for (i = 0; i < N; i++) {
		session_qp_destroy(&q[i]);
		session_cq_destroy(&q[i]);
	}
}

/* There are more asynchronous events than the EQ has entries: no event is lost. */
static void test_full_async(void)
{
	enum { N = 2 * EQ_SIZE + 36 };
	static struct session_qp q[N];
	struct eq_reader r = reader(1);
	u32 i, n;

	for (i = 0; i < N; i++)
		session_qp(&s, 1, MLX5_QP_ST_UD, 2, 2, &q[i]);
	r.ci = r.eq->pi;
	s.hca[1]->async_eq[MLX5_EVENT_TYPE_WQ_CATAS_ERROR] = r.eq;
	s.hca[1]->async_eq[MLX5_EVENT_TYPE_SRQ_LAST_WQE] = r.eq;
	s.hca[1]->async_eq[MLX5_EVENT_TYPE_PORT_CHANGE] = r.eq;
	for (i = 0; i < N; i++) {
		struct hca_qp *qp = hca_table_get(&s.hca[1]->qps, q[i].qp.qp_num);

		hca_event_qp(qp, MLX5_EVENT_TYPE_WQ_CATAS_ERROR);
		hca_event_qp(qp, MLX5_EVENT_TYPE_SRQ_LAST_WQE);
		hca_event_qp(qp, MLX5_EVENT_TYPE_SRQ_LAST_WQE);
	}
	hca_port_set(&s.hca[1]->port[0], false);
	hca_port_set(&s.hca[1]->port[0], true);
	session_qp_destroy(&q[N - 1]);
	for (n = 0; (i = read_events(&r, 1000)); n += i) {
		tell_index(&r);
		session_settle(&s);
	}
	/*
	 * The two SRQ_LAST_WQE events of a QP become one, unless the first was written before
	 * the second occurred.
	 */
	ok(n >= 2 * (N - 1) + 1 && n <= 2 * (N - 1) + 1 + EQ_SIZE / 2,
	   "two events of each QP that still exists, and one of the port");
	for (i = 0, n = 0; i < N - 1; i++)
		n += r.seen[q[i].qp.qp_num % 64] >= 2;
	tap_is(n, N - 1, "no event is lost");
	tap_is(((u8 *)hca_buf_at(&r.eq->buf, ((r.ci - 1) & (EQ_SIZE - 1)) * 64ull))[3],
	       MLX5_PORT_CHANGE_SUBTYPE_ACTIVE, "the last event has the last state of the port");
	s.hca[1]->async_eq[MLX5_EVENT_TYPE_WQ_CATAS_ERROR] = NULL;
	s.hca[1]->async_eq[MLX5_EVENT_TYPE_SRQ_LAST_WQE] = NULL;
	s.hca[1]->async_eq[MLX5_EVENT_TYPE_PORT_CHANGE] = NULL;
	for (i = 0; i < N; i++) {
		if (i < N - 1)
			session_qp_destroy(&q[i]);
		session_cq_destroy(&q[i]);
	}
}

/* The interrupt is raised again until software writes the consumer index. */
static void test_retry(void)
{
	struct session_qp q;
	struct eq_reader r;
	u32 before;
	u64 start;

	session_qp(&s, 0, MLX5_QP_ST_UD, 2, 2, &q);
	r = reader(0);
	hca_event_comp(hca_table_get(&s.hca[0]->cqs, q.cqn));
	hca_fabric_poll(&s.fabric);
	before = s.irqs[0];
	read_events(&r, 1);
	for (start = s.fabric.now; s.fabric.now < start + 2000000;)
		hca_fabric_poll(&s.fabric);
	ok(s.irqs[0] > before, "the interrupt is raised again");
	tell_index(&r);
	session_settle(&s);
	before = s.irqs[0];
	for (start = s.fabric.now; s.fabric.now < start + 2000000;)
		hca_fabric_poll(&s.fabric);
	tap_is(s.irqs[0], before, "no interrupt after the index is written");
	hca_eq_doorbell(r.eq, r.ci + 17, true);
	tap_is(r.eq->ci, r.eq->pi, "an invalid index has no effect");
	session_qp_destroy(&q);
	session_cq_destroy(&q);
}

/*
 * The handlers of three EQs of a vector run in sequence.  The adapter sees a doorbell of the
 * first one while the second has not read anything; and it sees no doorbell of the second,
 * because that of the third overwrites it.
 */
static u32 run_handlers(struct eq_reader *first, struct eq_reader *second, struct eq_reader *third)
{
	u32 n;

	read_events(first, 128);
	tell_index(first);
	session_settle(&s);
	n = read_events(second, 128);
	tell_index(second);
	read_events(third, 128);
	tell_index(third);
	session_settle(&s);
	return n;
}

static struct eq_reader another_eq(void)
{
	return (struct eq_reader) { .eq = hca_table_get(&s.hca[0]->eqs, session_eq(&s, 0)) };
}

/* The doorbell of the first EQ comes while the second one is full: no event is lost. */
static void test_chain_of_handlers(void)
{
	enum { N = EQ_SIZE + 36 };
	struct eq_reader first = reader(0), second, third;
	static struct session_qp q[N];
	u32 i, n, runs;

	for (i = 0; i < N; i++)
		session_qp(&s, 0, MLX5_QP_ST_UD, 2, 2, &q[i]);
	first.ci = first.eq->pi;
	second = another_eq();
	third = another_eq();
	s.hca[0]->async_eq[MLX5_EVENT_TYPE_WQ_CATAS_ERROR] = second.eq;
	for (i = 0; i < N; i++)
		hca_event_qp(hca_table_get(&s.hca[0]->qps, q[i].qp.qp_num),
			     MLX5_EVENT_TYPE_WQ_CATAS_ERROR);
	for (n = 0, runs = 0; runs < 100 && n < N; runs++)
		n += run_handlers(&first, &second, &third);
	tap_is(n, N, "a full EQ, and a doorbell of another one of its vector: no event is lost");
	for (n = 0, i = 0; i < 100 * EQ_SIZE; i++) {
		hca_event_qp(hca_table_get(&s.hca[0]->qps, q[i % N].qp.qp_num),
			     MLX5_EVENT_TYPE_WQ_CATAS_ERROR);
		n += run_handlers(&first, &second, &third);
	}
	tap_is(n, 100 * EQ_SIZE, "all doorbells of an EQ are overwritten: its events still come");
	s.hca[0]->async_eq[MLX5_EVENT_TYPE_WQ_CATAS_ERROR] = NULL;
	for (i = 0; i < N; i++) {
		session_qp_destroy(&q[i]);
		session_cq_destroy(&q[i]);
	}
	hca_eq_free(s.hca[0], second.eq);
	hca_eq_free(s.hca[0], third.eq);
}

/* ---- CQ ------------------------------------------------------------------------------ */

static u32 modify_cq(u32 cqn, u32 op_mod, u32 select, u32 log_size, u64 page)
{
	u32 in[(MLX5_ST_SZ_BYTES(modify_cq_in) + 8) / 4] __aligned(8) = {}, out[4] = {};
	void *cqc = MLX5_ADDR_OF(modify_cq_in, in, cq_context);

	MLX5_SET(modify_cq_in, in, opcode, MLX5_CMD_OP_MODIFY_CQ);
	MLX5_SET(modify_cq_in, in, op_mod, op_mod);
	MLX5_SET(modify_cq_in, in, cqn, cqn);
	*(__be32 *)MLX5_ADDR_OF(modify_cq_in, in, modify_field_select_resize_field_select) =
		cpu_to_be32(select);
	MLX5_SET(cqc, cqc, log_cq_size, log_size);
	MLX5_SET(cqc, cqc, cq_period, 7);
	MLX5_SET(cqc, cqc, cq_max_count, 9);
	*(__be64 *)MLX5_ADDR_OF(modify_cq_in, in, pas) = cpu_to_be64(page);
	session_cmd(&s, 0, in, sizeof(in), out, sizeof(out));
	return be32_to_cpu(((__be32 *)out)[1]);
}

static u8 op_own(u64 ring, u32 i)
{
	return ((u8 *)session_ptr(&s, ring))[i * 64 + 63];
}

static void post_cqes(struct hca_cq *cq, u32 n)
{
	while (n--) {
		struct mlx5r_cqe cqe = { .op_own = MLX5R_CQE_RESP_SEND << 4 };

		hca_cqe_post(cq, &cqe, NULL);
	}
}

static void test_resize(void)
{
	u64 big = session_alloc(&s, HCA_PAGE_SIZE);
	u8 *old;
	struct session_qp q;
	struct hca_cq *cq;

	session_qp(&s, 0, MLX5_QP_ST_UD, 2, 2, &q);	/* 16 CQEs */
	cq = hca_table_get(&s.hca[0]->cqs, q.cqn);
	tap_is(modify_cq(q.cqn, 0, 3, 0, 0), HCA_OK, "a change of the moderation");
	ok(cq->period_us == 7 && cq->max_count == 9, "the new moderation is used");
	tap_is(modify_cq(q.cqn, 0, 8, 0, 0), HCA_SYND_CQ_FIELD, "an unknown field");
	tap_is(modify_cq(q.cqn, 2, 7, 5, big), HCA_SYND_OPMOD, "an unknown op_mod");
	tap_is(modify_cq(q.cqn, 1, 7, 23, big), HCA_SYND_CQ_SIZE, "a size above the limit");
	tap_is(modify_cq(q.cqn, 1, 7, 5, 0x3000), HCA_SYND_PAGE_LIST, "a page outside memory");

	post_cqes(cq, 3);
	old = hca_buf_at(&cq->buf, 0);
	tap_is(modify_cq(q.cqn, 1, 7, 1, big), HCA_SYND_CQ_FULL, "three CQEs do not fit into two");
	tap_is(modify_cq(q.cqn, 1, 7, 6, big), HCA_OK, "resize from 16 to 64");
	tap_is(old[3 * 64 + 63] >> 4, MLX5R_CQE_RESIZE, "the old ring ends with a RESIZE CQE");
	post_cqes(cq, 1);
	tap_is(op_own(big, 4), MLX5R_CQE_RESP_SEND << 4, "the next CQE is in the new ring");
	cq->dbr[MLX5R_DBR_CQ_CI] = cpu_to_be32(5);
	post_cqes(cq, 60);
	tap_is(op_own(big, 0), MLX5R_CQE_RESP_SEND << 4 | 1,
	       "the owner bit changes after 64 entries");
	session_qp_destroy(&q);
	session_cq_destroy(&q);
}

/* ---- SRQ ---------------------------------------------------------------------------------- */

static u32 create_rmp(u64 ring, u64 record, u32 log_stride, u32 type, bool basic, u32 *number)
{
	u32 in[(MLX5_ST_SZ_BYTES(create_rmp_in) + 8) / 4] __aligned(8) = {}, out[4] = {};
	void *rmpc = MLX5_ADDR_OF(create_rmp_in, in, ctx);
	void *wq = MLX5_ADDR_OF(rmpc, rmpc, wq);

	MLX5_SET(create_rmp_in, in, opcode, MLX5_CMD_OP_CREATE_RMP);
	MLX5_SET(rmpc, rmpc, state, 1);
	MLX5_SET(rmpc, rmpc, basic_cyclic_rcv_wqe, basic);
	MLX5_SET(wq, wq, wq_type, type);
	MLX5_SET(wq, wq, pd, s.pd[0]);
	MLX5_SET64(wq, wq, dbr_addr, record);
	MLX5_SET(wq, wq, log_wq_stride, log_stride);
	MLX5_SET(wq, wq, log_wq_sz, 4);
	*(__be64 *)MLX5_ADDR_OF(wq, wq, pas) = cpu_to_be64(ring);
	session_cmd(&s, 0, in, sizeof(in), out, sizeof(out));
	*number = be32_to_cpu(((__be32 *)out)[2]) & 0xffffff;
	return be32_to_cpu(((__be32 *)out)[1]);
}

static u32 arm_rmp(u32 number, u32 limit)
{
	u32 in[MLX5_ST_SZ_DW(modify_rmp_in)] = {}, out[4] = {};

	MLX5_SET(modify_rmp_in, in, opcode, MLX5_CMD_OP_MODIFY_RMP);
	MLX5_SET(modify_rmp_in, in, rmp_state, 1);
	MLX5_SET(modify_rmp_in, in, rmpn, number);
	MLX5_SET(modify_rmp_in, in, bitmask.lwm, 1);
	MLX5_SET(modify_rmp_in, in, ctx.state, 1);
	MLX5_SET(modify_rmp_in, in, ctx.wq.lwm, limit);
	session_cmd(&s, 0, in, sizeof(in), out, sizeof(out));
	return be32_to_cpu(((__be32 *)out)[1]);
}

static u32 fail_rmp(u32 number)
{
	u32 in[MLX5_ST_SZ_DW(modify_rmp_in)] = {}, out[4] = {};

	MLX5_SET(modify_rmp_in, in, opcode, MLX5_CMD_OP_MODIFY_RMP);
	MLX5_SET(modify_rmp_in, in, rmp_state, 1);
	MLX5_SET(modify_rmp_in, in, rmpn, number);
	MLX5_SET(modify_rmp_in, in, ctx.state, 3);
	session_cmd(&s, 0, in, sizeof(in), out, sizeof(out));
	return be32_to_cpu(((__be32 *)out)[1]);
}

/* Connects two QPs; the receiver, on function 0, uses @srq. */
static void connect_srq(struct hca_srq *srq, struct session_qp *from, struct session_qp *to)
{
	struct hca_qp *qp;

	session_qp(&s, 1, MLX5_QP_ST_RC, 2, 2, from);
	session_qp(&s, 0, MLX5_QP_ST_RC, 2, 2, to);
	session_connect(from, to);
	qp = hca_table_get(&s.hca[0]->qps, to->qp.qp_num);
	qp->srq = srq;
	srq->users++;
	hca_depend(&srq->dependents, &qp->on_srq);
}

static void disconnect(struct session_qp *from, struct session_qp *to)
{
	session_qp_destroy(from);
	session_qp_destroy(to);
	session_cq_destroy(from);
	session_cq_destroy(to);
}

/* Sends an empty message and returns its status. */
static u32 send_empty(struct session_qp *from)
{
	struct xv_wc wc = { .status = ~0 };

	xv_wr_send_inline(&from->qp, 1, XV_SEND_SIGNALED, "", 0);
	xv_commit_send(&from->qp);
	session_settle(&s);
	xv_poll_cq(&from->cq, 1, &wc);
	return wc.status;
}

static bool in_error(const struct session_qp *q)
{
	struct hca_qp *qp = hca_table_get(&s.hca[q->func]->qps, q->qp.qp_num);

	return qp->state == MLX5_QP_STATE_ERR;
}

/* If a CQ overruns, all QPs that use it fail, idle ones too. */
static void test_cq_error(struct eq_reader *r)
{
	struct session_qp q[100];
	struct hca_cq *cq;
	u32 i, passes = 0, failed = 0;

	for (i = 0; i < ARRAY_SIZE(q); i++) {
		struct hca_qp *qp;

		session_qp(&s, 0, MLX5_QP_ST_RC, 2, 2, &q[i]);
		qp = hca_table_get(&s.hca[0]->qps, q[i].qp.qp_num);
		if (i)
			hca_depend(&cq->dependents, i & 1 ? &qp->on_scq : &qp->on_rcq);
		else
			cq = qp->scq;
		if (i < ARRAY_SIZE(q) - 1)
			session_connect(&q[i], &q[i]);
	}
	s.hca[0]->async_eq[MLX5_EVENT_TYPE_WQ_CATAS_ERROR] = r->eq;
	for (i = 0; i <= 16; i++)
		hca_cqe_post(cq, &(struct mlx5r_cqe) { .op_own = MLX5R_CQE_REQ << 4 }, NULL);
	r->ci = r->eq->pi;
	for (; !list_empty(&s.fabric.fail.dependents) && passes < 1000; passes++) {
		r->ci = r->eq->pi;
		tell_index(r);
		hca_fabric_poll(&s.fabric);
	}
	session_settle(&s);
	for (i = 0; i < ARRAY_SIZE(q); i++)
		failed += in_error(&q[i]);
	tap_is(failed, ARRAY_SIZE(q) - 1, "a CQ overruns: its QPs fail, except the one in RESET");
	ok(passes > 4, "this takes several passes");
	s.hca[0]->async_eq[MLX5_EVENT_TYPE_WQ_CATAS_ERROR] = NULL;
	for (i = 0; i < ARRAY_SIZE(q); i++)
		session_qp_destroy(&q[i]);
	for (i = 0; i < ARRAY_SIZE(q); i++)
		session_cq_destroy(&q[i]);
}

/* Reads the next event; true if it is of @type and has @number. */
static bool next_event(struct eq_reader *r, u8 type, u32 number)
{
	const u8 *e = hca_buf_at(&r->eq->buf, (r->ci & (EQ_SIZE - 1)) * 64ull);

	return read_events(r, 1) && e[1] == type &&
	       be32_to_cpu(*(const __be32 *)(e + 0x38)) == number;
}

/* A counter above the size of the ring: the SRQ and its QPs fail. */
static void test_srq_error(struct hca_srq *srq, struct eq_reader *r)
{
	struct session_qp a, b, c, d;

	connect_srq(srq, &a, &b);
	connect_srq(srq, &c, &d);
	r->ci = r->eq->pi;
	s.hca[0]->async_eq[MLX5_EVENT_TYPE_SRQ_CATAS_ERROR] = r->eq;
	s.hca[0]->async_eq[MLX5_EVENT_TYPE_WQ_CATAS_ERROR] = r->eq;
	tap_is(send_empty(&a), XV_WC_SUCCESS, "a message takes a posted request");
	srq->dbr[0] = cpu_to_be32(1 + 17);
	tap_is(send_empty(&a), XV_WC_REM_OP_ERR, "the counter says 17 requests in a ring of 16");
	ok(next_event(r, MLX5_EVENT_TYPE_SRQ_CATAS_ERROR, srq->srqn), "an event for the SRQ");
	ok(next_event(r, MLX5_EVENT_TYPE_WQ_CATAS_ERROR, b.qp.qp_num) && in_error(&b),
	   "an event for the receiver, which is in ERR");
	ok(next_event(r, MLX5_EVENT_TYPE_WQ_CATAS_ERROR, d.qp.qp_num) && in_error(&d),
	   "an event for an idle QP of the SRQ, which is in ERR");
	srq->dbr[0] = cpu_to_be32(1 + 16);
	ok(srq->error, "the SRQ stays in error");
	session_qp_modify(&d, MLX5_CMD_OP_2RST_QP, NULL);
	session_qp_modify(&c, MLX5_CMD_OP_2RST_QP, NULL);
	session_connect(&c, &d);
	tap_is(send_empty(&c), XV_WC_REM_OP_ERR, "a message to another QP of the SRQ fails");
	ok(next_event(r, MLX5_EVENT_TYPE_WQ_CATAS_ERROR, d.qp.qp_num) && in_error(&d),
	   "an event for this QP, which is in ERR");
	tap_is(read_events(r, 1000), 0, "no other event");
	s.hca[0]->async_eq[MLX5_EVENT_TYPE_SRQ_CATAS_ERROR] = NULL;
	s.hca[0]->async_eq[MLX5_EVENT_TYPE_WQ_CATAS_ERROR] = NULL;
	disconnect(&a, &b);
	disconnect(&c, &d);
}

/* Software takes an RMP to the error state: its QPs fail, idle ones too. */
static void test_rmp_error(struct eq_reader *r)
{
	u64 ring = session_alloc(&s, HCA_PAGE_SIZE), record = session_alloc(&s, HCA_PAGE_SIZE);
	struct session_qp a, b;
	u32 number;

	create_rmp(ring, record, 6, 0, false, &number);
	connect_srq(hca_table_get(&s.hca[0]->srqs, number), &a, &b);
	r->ci = r->eq->pi;
	s.hca[0]->async_eq[MLX5_EVENT_TYPE_WQ_CATAS_ERROR] = r->eq;
	tap_is(fail_rmp(number), HCA_OK, "an RMP to the error state");
	session_settle(&s);
	ok(next_event(r, MLX5_EVENT_TYPE_WQ_CATAS_ERROR, b.qp.qp_num) && in_error(&b),
	   "an event for its idle QP, which is in ERR");
	tap_is(read_events(r, 1000), 0, "no other event");
	tap_is(fail_rmp(number), HCA_SYND_SRQ_STATE, "it cannot fail twice");
	s.hca[0]->async_eq[MLX5_EVENT_TYPE_WQ_CATAS_ERROR] = NULL;
	disconnect(&a, &b);
}

/* A ring whose requests have links (UCX): their order is that of the ring. */
static void test_rmp_links(void)
{
	u64 ring = session_alloc(&s, HCA_PAGE_SIZE), record = session_alloc(&s, HCA_PAGE_SIZE);
	struct session_mr mr = session_mr(&s, 0, HCA_PAGE_SIZE, MLX5R_MKEY_ACCESS_LW);
	struct session_qp a, b;
	u32 number, i;

	tap_is(create_rmp(ring, record, 5, 1, false, &number), HCA_OK, "a ring with links");
	for (i = 0; i < 3; i++) {
		struct mlx5r_srq_next *next = session_ptr(&s, ring + i * 32);
		struct mlx5r_data *d = session_ptr(&s, ring + i * 32 + sizeof(*next));

		next->next_wqe_index = cpu_to_be16(9);
		d->byte_count = cpu_to_be32(8);
		d->lkey = cpu_to_be32(mr.key);
		d->addr = cpu_to_be64(mr.addr + i * 8);
	}
	*(__be32 *)session_ptr(&s, record) = cpu_to_be32(3);
	connect_srq(hca_table_get(&s.hca[0]->srqs, number), &a, &b);
	for (i = 0; i < 3; i++) {
		xv_wr_send_inline(&a.qp, i, 0, "message1message2message3" + i * 8, 8);
		xv_commit_send(&a.qp);
	}
	session_settle(&s);
	ok(!memcmp(mr.ptr, "message1message2message3", 24), "messages in the order of the ring");
	disconnect(&a, &b);
}

static void test_srq(void)
{
	u64 ring = session_alloc(&s, HCA_PAGE_SIZE), record = session_alloc(&s, HCA_PAGE_SIZE);
	struct eq_reader r = reader(0);
	struct hca_srq *srq;
	u32 number, n;

	tap_is(create_rmp(ring, record, 4, 0, false, &number), HCA_SYND_SRQ_SIZE, "stride 16");
	tap_is(create_rmp(ring, record, 10, 0, false, &number), HCA_SYND_SRQ_SIZE, "stride 1024");
	tap_is(create_rmp(ring, record, 6, 2, false, &number), HCA_SYND_SRQ_FORMAT, "WQ type 2");
	tap_is(create_rmp(ring, record, 6, 0, true, &number), HCA_SYND_SRQ_FORMAT,
	       "a linked list without links");
	tap_is(create_rmp(ring, record + 4, 6, 0, false, &number), HCA_SYND_DOORBELL,
	       "unaligned record");
	tap_is(create_rmp(ring, record, 6, 0, false, &number), HCA_OK, "valid values");
	srq = hca_table_get(&s.hca[0]->srqs, number);
	*(__be32 *)session_ptr(&s, record) = cpu_to_be32(10);
	s.hca[0]->async_eq[MLX5_EVENT_TYPE_SRQ_RQ_LIMIT] = r.eq;
	r.ci = r.eq->pi;
	tap_is(arm_rmp(number, 17), HCA_SYND_SRQ_LIMIT, "a limit above the size");
	tap_is(arm_rmp(number, 10), HCA_OK, "a limit of 10 with 10 posted");
	n = read_events(&r, 1000);
	ok(!n && srq->lwm == 10, "no event");
	tap_is(arm_rmp(number, 11), HCA_OK, "a limit of 11 with 10 posted");
	n = read_events(&r, 1000);
	ok(n == 1 && !srq->lwm && r.seen[number % 64], "an event at once");
	s.hca[0]->async_eq[MLX5_EVENT_TYPE_SRQ_RQ_LIMIT] = NULL;
	test_srq_error(srq, &r);
	test_rmp_error(&r);
	test_rmp_links();
	test_cq_error(&r);
}

/* Runs the adapter; returns the number of new events. */
static u32 events(struct session_qp *q, struct eq_reader *r)
{
	u32 n;

	session_settle(&s);
	n = read_events(r, 1000);
	tell_index(r);
	session_settle(&s);
	q->cq.arm_sn += n;
	return n;
}

static u32 arm(struct session_qp *q, struct eq_reader *r, int solicited)
{
	xv_req_notify(&q->cq, solicited);
	return events(q, r);
}

static u32 post(struct session_qp *q, struct eq_reader *r, u8 flags)
{
	struct mlx5r_cqe cqe = { .op_own = MLX5R_CQE_RESP_SEND << 4 | flags };

	hca_cqe_post(hca_table_get(&s.hca[0]->cqs, q->cqn), &cqe, NULL);
	return events(q, r);
}

/* A value in a doorbell record requests an event only after a doorbell. */
static void test_record(void)
{
	struct eq_reader r = reader(0);
	struct session_qp other, q;
	__be32 *word;

	session_qp(&s, 0, MLX5_QP_ST_UD, 4, 2, &other);
	r.ci = r.eq->pi;
	tap_is(arm(&other, &r, 0), 0, "another CQ of the same page is armed");
	session_qp(&s, 0, MLX5_QP_ST_UD, 4, 2, &q);
	word = (__be32 *)&q.cq.dbrec[MLX5R_DBR_CQ_ARM];
	r.ci = r.eq->pi;
	*word = 0;
	tap_is(post(&q, &r, 0), 0, "the record is cleared after creation: no event");
	*word = cpu_to_be32(3u << 28);
	tap_is(post(&q, &r, 0), 0, "the record has another value: no event");
	tap_is(arm(&q, &r, 0), 1, "the CQ is armed: an event");
	session_qp_destroy(&q);
	session_cq_destroy(&q);
	session_qp(&s, 0, MLX5_QP_ST_UD, 4, 2, &q);
	word = (__be32 *)&q.cq.dbrec[MLX5R_DBR_CQ_ARM];
	*word = 0;
	tap_is(arm(&other, &r, 0) + post(&q, &r, 0) + post(&q, &r, 0), 1,
	       "the record is cleared before another CQ is armed: one event");
	tap_is(arm(&q, &r, 0), 1, "the CQ is armed after this event: an event");
	tap_is(post(&q, &r, 0), 0, "no event for the next CQE");
	*word = 0;
	hca_cq_stop(hca_table_get(&s.hca[0]->cqs, q.cqn));
	hca_cq_start(hca_table_get(&s.hca[0]->cqs, q.cqn));
	tap_is(be32_to_cpu(*word), 0, "creation of a CQ does not write its record");
	tap_is(post(&q, &r, 0), 0, "the record is 0 at creation: no event without a doorbell");
	tap_is(arm(&other, &r, 0) + post(&q, &r, 0) + post(&q, &r, 0), 1,
	       "the record is 0 at creation, another CQ is armed: one event");
	*word = 0;
	hca_cq_stop(hca_table_get(&s.hca[0]->cqs, q.cqn));
	hca_cq_start(hca_table_get(&s.hca[0]->cqs, q.cqn));
	*word = cpu_to_be32(2u << 28);
	tap_is(arm(&other, &r, 0) + post(&q, &r, 0) + post(&q, &r, 0), 0,
	       "the driver writes the word of a CQ that is never armed after creation: no event");
	session_qp_destroy(&q);
	session_cq_destroy(&q);
	session_qp_destroy(&other);
	session_cq_destroy(&other);
}

/* Software polls @skip CQEs without a request for an event, then it requests one. */
static u32 events_after(u32 skip)
{
	struct eq_reader r = reader(0);
	struct session_qp q;
	struct hca_cq *cq;
	u32 n;

	session_qp(&s, 0, MLX5_QP_ST_UD, 4, 2, &q);
	cq = hca_table_get(&s.hca[0]->cqs, q.cqn);
	r.ci = r.eq->pi;
	cq->pi += skip;
	cq->ci += skip;
	cq->solicited_pi = cq->pi;
	q.cq.ci += skip;
	n = arm(&q, &r, 0);
	n += post(&q, &r, 0);
	session_qp_destroy(&q);
	session_cq_destroy(&q);
	return n;
}

static void test_many_polled(void)
{
	tap_is(events_after(1u << 30), 1, "an event after 2^30 CQEs without one");
	tap_is(events_after(1u << 31), 1, "an event after 2^31 CQEs without one");
	tap_is(events_after(3u << 30), 1, "an event after 3 * 2^30 CQEs without one");
}

/* Each request for an event causes one event; no CQE stays without an event. */
static void test_arm(void)
{
	struct eq_reader r = reader(0);
	struct session_qp q;

	session_qp(&s, 0, MLX5_QP_ST_UD, 4, 2, &q);
	r.ci = r.eq->pi;
	tap_is(post(&q, &r, 0), 0, "not armed: no event");
	tap_is(arm(&q, &r, 0), 1, "armed after a CQE: an event at once");
	tap_is(post(&q, &r, 0), 0, "no event for the next CQE");
	tap_is(arm(&q, &r, 0), 1, "armed after this CQE: an event");
	tap_is(arm(&q, &r, 0), 0, "armed again before the poll: no second event for the same CQEs");
	tap_is(post(&q, &r, 0), 1, "an event for the next CQE");
	q.cq.ci = 3;
	tap_is(arm(&q, &r, 1), 0, "armed for solicited CQEs: no event for old CQEs");
	tap_is(post(&q, &r, 0), 0, "an unsolicited CQE: no event");
	tap_is(post(&q, &r, MLX5R_CQE_SOLICITED), 1, "a solicited CQE: an event");
	tap_is(post(&q, &r, MLX5R_CQE_SOLICITED), 0, "a solicited CQE when not armed: no event");
	tap_is(post(&q, &r, 0), 0, "an unsolicited CQE when not armed: no event");
	tap_is(arm(&q, &r, 1), 1, "armed for solicited CQEs after such a CQE: an event at once");
	tap_is(arm(&q, &r, 1), 0, "armed again: no second event");
	q.cq.ci = 6;
	tap_is(arm(&q, &r, 0), 0, "armed for all CQEs: no event for old CQEs");
	tap_is(arm(&q, &r, 1), 0, "then for solicited CQEs: no event");
	tap_is(post(&q, &r, 0), 1, "an unsolicited CQE: an event, as the first request wanted");
	q.cq.ci = 7;
	tap_is(arm(&q, &r, 1) + arm(&q, &r, 0), 0, "armed for solicited CQEs, then for all");
	tap_is(post(&q, &r, 0), 1, "an unsolicited CQE: an event, as the second request wanted");
	q.cq.ci = 8;
	tap_is(arm(&q, &r, 1) + post(&q, &r, 0), 0, "the next request is for solicited CQEs only");
	session_qp_destroy(&q);
	session_cq_destroy(&q);
}

/* Moderation: the event waits for a number of CQEs, or for a time. */
static void test_moderation(void)
{
	struct eq_reader r = reader(0);
	struct session_qp q;
	struct hca_cq *cq;
	u64 start;
	u32 i, n;

	session_qp(&s, 0, MLX5_QP_ST_UD, 4, 2, &q);
	r.ci = r.eq->pi;
	cq = hca_table_get(&s.hca[0]->cqs, q.cqn);
	cq->max_count = 4;
	cq->period_us = 500000;
	for (n = arm(&q, &r, 0), i = 0; i < 3; i++)
		n += post(&q, &r, 0);
	tap_is(n, 0, "moderation by 4 CQEs: no event for three");
	tap_is(post(&q, &r, 0), 1, "an event for the fourth");
	tap_is(hca_fabric_deadline(&s.fabric), U64_MAX, "no timer is set");

	q.cq.ci = cq->pi;
	start = s.fabric.now;
	n = arm(&q, &r, 0) + post(&q, &r, 0);
	tap_is(n, 0, "no event for one CQE");
	while (hca_fabric_deadline(&s.fabric) != U64_MAX)
		hca_fabric_poll(&s.fabric);
	tap_is(events(&q, &r), 1, "an event when the timer has expired");
	ok(s.fabric.now - start >= 500000000, "the timer had the right time");
	session_qp_destroy(&q);
	session_cq_destroy(&q);
}

/* Runs the adapter; returns the number of completions. */
static u32 wc_count(struct session_qp *q)
{
	struct xv_wc wc[4];
	int n;

	session_settle(&s);
	n = xv_poll_cq(&q->cq, 4, wc);
	return n < 0 ? ~0u : n;
}

/* Copies the CQ of @q and an EQ. */
static void snapshot(struct session_qp *q, struct hca_eq *eq, u8 *copy)
{
	struct hca_cq *cq = hca_table_get(&s.hca[q->func]->cqs, q->cqn);

	memcpy(copy, hca_buf_at(&cq->buf, 0), 1024);
	memcpy(copy + 1024, hca_buf_at(&eq->buf, 0), EQ_SIZE * 64);
}

/* Without DMA a function writes no memory and raises no interrupt; with DMA it continues. */
static void test_no_dma(void)
{
	static u8 before[1024 + EQ_SIZE * 64], after[sizeof(before)];
	struct hca_eq *eq = reader(1).eq;
	struct session_qp a, b;
	struct hca_qp *qp;
	struct xv_wc wc;
	u32 irqs;

	session_qp(&s, 0, MLX5_QP_ST_RC, 2, 2, &a);
	session_qp(&s, 1, MLX5_QP_ST_RC, 2, 2, &b);
	session_connect(&a, &b);
	session_settle(&s);
	hca_dma_enable(s.hca[1], false);
	snapshot(&b, eq, before);
	irqs = s.irqs[1];
	hca_event_comp(hca_table_get(&s.hca[1]->cqs, b.cqn));
	hca_port_set(&s.hca[1]->port[0], false);
	hca_port_set(&s.hca[1]->port[0], true);
	xv_wr_write_inline(&b.qp, 1, XV_SEND_SIGNALED, "", 0, 0, 0);
	xv_commit_send(&b.qp);
	tap_is(wc_count(&b), 0, "no DMA: a posted request waits");
	qp = hca_table_get(&s.hca[1]->qps, b.qp.qp_num);
	hca_qp_enter(qp, MLX5_QP_STATE_RTS);
	tap_is(wc_count(&b), 0, "no DMA: a queue that was running stops");
	xv_wr_write_inline(&a.qp, 1, XV_SEND_SIGNALED, "", 0, 0, 0);
	xv_commit_send(&a.qp);
	while (!xv_poll_cq(&a.cq, 1, &wc))
		hca_fabric_poll(&s.fabric);
	tap_is(wc.status, XV_WC_RETRY_EXC_ERR, "no DMA: a peer gets no answer");
	snapshot(&b, eq, after);
	ok(!memcmp(before, after, sizeof(before)), "no DMA: no memory is written");
	tap_is(s.irqs[1], irqs, "no DMA: no interrupt is raised");

	hca_dma_enable(s.hca[1], true);
	tap_is(wc_count(&b), 1, "with DMA the request runs");
	ok(s.irqs[1] > irqs, "with DMA the interrupt is raised");
	disconnect(&a, &b);
}

/* A queue pair fails while its function has no DMA, as many do after an error of their SRQ. */
static void test_failure_without_dma(void)
{
	static u8 before[1024 + EQ_SIZE * 64], after[sizeof(before)];
	struct session_mr mr = session_mr(&s, 1, 4096, ALL_ACCESS);
	struct xv_sge sge = session_sge(&mr, 0, 64);
	struct hca_eq *eq = reader(1).eq;
	struct session_qp a, b;
	u32 i, n = 0;

	session_qp(&s, 0, MLX5_QP_ST_RC, 2, 2, &a);
	session_qp(&s, 1, MLX5_QP_ST_RC, 2, 2, &b);
	session_connect(&a, &b);
	xv_wr_recv(&b.qp, 1, &sge);
	xv_commit_recv(&b.qp);
	session_settle(&s);
	hca_dma_enable(s.hca[1], false);
	snapshot(&b, eq, before);
	xv_wr_write_inline(&b.qp, 2, XV_SEND_SIGNALED, "", 0, 0, 0);
	xv_commit_send(&b.qp);
	hca_fail_fatal(hca_table_get(&s.hca[1]->qps, b.qp.qp_num));
	for (i = 0; i < 1000; i++)
		hca_fabric_poll(&s.fabric);
	snapshot(&b, eq, after);
	ok(!memcmp(before, after, sizeof(before)), "failure without DMA: no memory is written");
	hca_dma_enable(s.hca[1], true);
	/* The receive queue is read again after a delay. */
	for (i = 0; i < 1000 && n < 2; i++)
		n += wc_count(&b);
	tap_is(n, 2, "with DMA both requests are flushed");
	disconnect(&a, &b);
}

int main(void)
{
	session_init(&s);
	test_no_dma();
	test_failure_without_dma();
	test_retry();
	test_full();
	test_full_async();
	test_chain_of_handlers();
	test_resize();
	test_srq();
	test_record();
	test_many_polled();
	test_arm();
	test_moderation();
	session_free(&s);
	return tap_done();
}
