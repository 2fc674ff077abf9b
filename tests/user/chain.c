// SPDX-License-Identifier: GPL-2.0
/*
 * Cross-channel requests between two functions: managed queues, enable, wait for
 * completions, data and time, task lists, and long chains that run while the process
 * sleeps.
 *
 * usage: chain [run]: runs chains until it is killed
 */
/* The program stops if it reuses an entry too early. */
#define XV_DP_DEBUG
#include "chain.h"

static const struct rig_opts opts = { .size = 1 << 20, .depth = 16 };

enum { LAST = XV_SEND_WAIT_EN_LAST, SIGNALED = XV_SEND_SIGNALED };

#define COUNT(p)	((volatile uint64_t *)(p))

/* ---- Creation ---------------------------------------------------------- */

static void refused(uint32_t type, uint32_t flags, uint32_t sends, uint32_t recvs, int err,
		    const char *text)
{
	struct xv_qp_init_attr attr = {
		.qp_type = (enum xv_qp_type)type, .send_cq = r.cq[0],
		.recv_cq = type == XV_QPT_XRC_SEND ? NULL : r.cq[0], .flags = flags,
		.cap = { .max_send_wr = sends, .max_send_sge = 1, .max_recv_wr = recvs,
			 .max_recv_sge = 1 },
	};

	errno = 0;
	ok(!xv_create_qp(r.side[0].pd, &attr) && errno == err && strstr(xv_last_error(), text),
	   "QP: %s", xv_last_error());
}

static const uint32_t qp_flags[] = { XV_QP_CROSS_CHANNEL, XV_QP_MANAGED_SEND, XV_QP_MANAGED_RECV };

/* On a device without the feature, every flag is refused. */
static void test_without(void)
{
	struct xv_cq_init_attr attr = { .cqe = 1, .flags = XV_CQ_CROSS_CHANNEL };
	struct xv_device_attr device;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(qp_flags); i++)
		refused(XV_QPT_RC, qp_flags[i], 1, 1, EOPNOTSUPP, "cross-channel");
	ok(!xv_create_cq(r.side[0].ctx, &attr) && errno == EOPNOTSUPP, "CQ: %s", xv_last_error());
	ok(!xv_query_device(r.side[0].ctx, &device) &&
	   !(device.exp_device_cap_flags & XV_EXP_DEVICE_CROSS_CHANNEL) &&
	   !device.calc_cap.data_types && !device.vector_calc_cap.ops, "the attributes say so");
}

static void test_attributes(void)
{
	struct xv_device_attr d;

	ok(!xv_query_device(r.side[0].ctx, &d) &&
	   d.exp_device_cap_flags & XV_EXP_DEVICE_CROSS_CHANNEL, "exp_device_cap_flags");
	ok(d.calc_cap.data_types == 7 && d.calc_cap.data_sizes == 1 &&
	   d.calc_cap.int_ops == 0x1d && d.calc_cap.uint_ops == 0x1f && d.calc_cap.fp_ops == 1,
	   "calc_cap");
	ok(!d.vector_calc_cap.ops == !has_feature("vector-calc"), "vector_calc_cap");
}

static void create_with(const struct chain_type *t, uint32_t flag)
{
	struct xv_qp_init_attr init;
	struct xv_qp_attr attr;
	struct xv_qp *qp;

	if (t->type == XV_QPT_XRC_SEND && flag == XV_QP_MANAGED_RECV) {
		refused(t->type, flag, 1, 0, EINVAL, "receive queue");
		return;
	}
	qp = make_qp_of(t->type, 0, NULL, r.cq[0], 4, flag);
	ok(!xv_query_qp(qp, &attr, 0, &init) && init.flags == flag && !xv_destroy_qp(qp),
	   "%s with flag 0x%x", t->name, flag);
}

static void test_create(void)
{
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(qp_flags); i++) {
		for (j = 0; j < ARRAY_SIZE(chain_types); j++)
			create_with(&chain_types[j], qp_flags[i]);
		refused(XV_QPT_UD, qp_flags[i], 1, 1, EINVAL, "type");
	}
	refused(XV_QPT_RC, XV_QP_CROSS_CHANNEL, 0, 1, EINVAL, "send queue");
	refused(XV_QPT_RC, XV_QP_MANAGED_SEND, 0, 1, EINVAL, "send queue");
	refused(XV_QPT_RC, XV_QP_MANAGED_RECV, 1, 0, EINVAL, "receive queue");
}

/* ---- Managed queues ---------------------------------------------------- */

/* Posts a write of two WQEBBs; with inline data it has two for each type. */
static void put_inline(struct xv_qp *qp, uint64_t wr_id, size_t at, uint32_t n)
{
	struct xv_sge sge = rig_sge(&r, 0, at, n);
	struct xv_send_wr wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1, .opcode = XV_WR_RDMA_WRITE,
		.send_flags = SIGNALED | XV_SEND_INLINE,
		.wr.rdma = { rig_addr(&r, 1, at), r.mr[1]->rkey },
		.qp_type.xrc.remote_srqn = peer_srqn(),
	}, *bad;

	if (xv_post_send(qp, &wr, &bad))
		diag("not posted");
}

static void test_managed_send(const struct chain_type *t)
{
	struct link m = link_of(t->type, 16, XV_QP_CROSS_CHANNEL | XV_QP_MANAGED_SEND, 0);
	struct link c = link_of(t->type, 16, XV_QP_CROSS_CHANNEL, 0);
	int i, good = 1;

	ok(xv_resize_cq(c.cq, 64) == -EOPNOTSUPP, "%s: resize a CQ that is waited for: %s",
	   t->name, xv_last_error());
	rig_fill(r.buf[0], 5 * 64, 1);
	memset(r.buf[1], 0, 5 * 64);
	for (i = 0; i < 4; i++)
		put(m.qp, i, SIGNALED, i * 64, i * 64, 64);
	put_inline(m.qp, 4, 256, 48);
	ok(quiet(m.cq) && !r.buf[1][0] && m.qp->sq.pi == 6,
	   "%s: a managed queue does not run by itself", t->name);
	xv_wr_send_enable(c.qp, 10, SIGNALED | LAST, m.qp, 2);
	xv_commit_send(c.qp);
	ok(rig_expect(c.cq, 10, XV_WC_SUCCESS) && rig_expect(m.cq, 0, XV_WC_SUCCESS) &&
	   rig_expect(m.cq, 1, XV_WC_SUCCESS) && quiet(m.cq) &&
	   rig_check(r.buf[1], 128, 1) && !r.buf[1][128], "enable 2: two requests run");
	xv_wr_send_enable(c.qp, 11, LAST, m.qp, 3);
	xv_commit_send(c.qp);
	for (i = 2; i < 5; i++)
		good &= rig_expect(m.cq, i, XV_WC_SUCCESS);
	ok(good && rig_check(r.buf[1], 256 + 48, 1), "enable 3: all have run");
	xv_retire_send(c.qp, c.qp->sq.pi);
	for (i = 0; i < 100 && good; i++) {
		good = !put(m.qp, i, SIGNALED, 0, 0, 64) &&
		       !xv_wr_send_enable(c.qp, 12, LAST | (i % 8 ? 0 : SIGNALED), m.qp, 0);
		xv_commit_send(m.qp);
		xv_commit_send(c.qp);
		good = good && rig_expect(m.cq, i, XV_WC_SUCCESS) &&
		       (i % 8 || rig_expect(c.cq, 12, XV_WC_SUCCESS));
	}
	ok(good, "100 times one request, several rounds of the rings");
	link_down(&m);
	link_down(&c);
}

static void test_managed_recv(void)
{
	struct link m = link_up(16, XV_QP_MANAGED_RECV, 0);
	struct link c = link_up(16, XV_QP_CROSS_CHANNEL, 0);
	struct xv_sge from = rig_sge(&r, 1, 0, 64), to = rig_sge(&r, 0, 4096, 64);
	int i, good = 1;

	for (i = 0; i < 3; i++) {
		xv_wr_recv(m.qp, i, &to);
		xv_wr_send(m.peer, i, SIGNALED, &from);
	}
	rig_fill(r.buf[1], 64, 2);
	xv_commit_recv(m.qp);
	xv_commit_send(m.peer);
	ok(quiet(m.cq) && quiet(m.peer_cq), "a managed receive queue receives nothing");
	xv_wr_recv_enable(c.qp, 10, SIGNALED | LAST, m.qp, 1);
	xv_commit_send(c.qp);
	ok(rig_expect(c.cq, 10, XV_WC_SUCCESS) && rig_expect(m.cq, 0, XV_WC_SUCCESS) &&
	   rig_expect(m.peer_cq, 0, XV_WC_SUCCESS) && quiet(m.cq), "enable 1: one message");
	xv_wr_recv_enable(c.qp, 11, LAST, m.qp, 0);
	xv_commit_send(c.qp);
	for (i = 1; i < 3; i++)
		good &= rig_expect(m.cq, i, XV_WC_SUCCESS) &&
			rig_expect(m.peer_cq, i, XV_WC_SUCCESS);
	ok(good && rig_check(r.buf[0] + 4096, 64, 2), "enable all: the others");
	link_down(&m);
	link_down(&c);
}

/* On UC a message without a receive is lost, and its sender completes. */
static void test_managed_recv_uc(void)
{
	struct link m = link_of(XV_QPT_UC, 16, XV_QP_MANAGED_RECV, 0);
	struct link c = link_of(XV_QPT_UC, 16, XV_QP_CROSS_CHANNEL, 0);
	struct xv_sge from = rig_sge(&r, 1, 0, 64), to = rig_sge(&r, 0, 4096, 64);

	rig_fill(r.buf[1], 64, 6);
	memset(r.buf[0] + 4096, 0, 64);
	xv_wr_recv(m.qp, 1, &to);
	xv_commit_recv(m.qp);
	xv_wr_send(m.peer, 2, SIGNALED, &from);
	xv_commit_send(m.peer);
	ok(rig_expect(m.peer_cq, 2, XV_WC_SUCCESS) && quiet(m.cq) && !r.buf[0][4096],
	   "UC: a managed receive queue receives nothing");
	xv_wr_recv_enable(c.qp, 3, SIGNALED | LAST, m.qp, 1);
	xv_commit_send(c.qp);
	ok(rig_expect(c.cq, 3, XV_WC_SUCCESS) && quiet(m.cq), "enable 1: the lost one stays lost");
	xv_wr_send(m.peer, 4, SIGNALED, &from);
	xv_commit_send(m.peer);
	ok(rig_expect(m.peer_cq, 4, XV_WC_SUCCESS) && rig_expect(m.cq, 1, XV_WC_SUCCESS) &&
	   rig_check(r.buf[0] + 4096, 64, 6), "the next message arrives");
	link_down(&m);
	link_down(&c);
}

/* ---- Waiting ----------------------------------------------------------- */

static void test_wait(const struct chain_type *t)
{
	struct link a = link_of(t->type, 16, 0, 0);
	struct link w = link_of(t->type, 16, XV_QP_CROSS_CHANNEL, 0);
	struct xv_wc wc;

	rig_fill(r.buf[0], 128, 3);
	memset(r.buf[1], 0, 128);
	xv_wr_cqe_wait(w.qp, 1, SIGNALED | LAST, a.cq, 2);
	put(w.qp, 2, SIGNALED, 0, 0, 64);
	xv_commit_send(w.qp);
	put(a.qp, 3, SIGNALED, 64, 64, 64);
	xv_commit_send(a.qp);
	ok(rig_expect(a.cq, 3, XV_WC_SUCCESS) && quiet(w.cq) && !r.buf[1][0],
	   "%s: a wait for 2 does not end after 1", t->name);
	put(a.qp, 4, SIGNALED, 64, 64, 64);
	xv_commit_send(a.qp);
	ok(rig_poll(w.cq, 1, &wc) == 1 && wc.wr_id == 1 && !wc.status &&
	   wc.opcode == XV_WC_DRIVER1, "it ends after 2, with opcode DRIVER1");
	ok(rig_expect(w.cq, 2, XV_WC_SUCCESS) && rig_check(r.buf[1], 128, 3) &&
	   rig_expect(a.cq, 4, XV_WC_SUCCESS), "the request behind it runs");

	/* Two entries exist: the next one has index 2. */
	xv_wr_wait_cq_pi(w.qp, 5, SIGNALED, a.cq, 1);
	xv_wr_wait_cq_pi(w.qp, 6, SIGNALED, a.cq, a.cq->ci + 1);
	xv_commit_send(w.qp);
	ok(rig_expect(w.cq, 5, XV_WC_SUCCESS) && quiet(w.cq),
	   "index 1 has passed, index 3 has not");
	put(a.qp, 7, SIGNALED, 64, 64, 64);
	put(a.qp, 8, 0, 64, 64, 64);
	put(a.qp, 9, SIGNALED, 64, 64, 64);
	xv_commit_send(a.qp);
	ok(rig_expect(w.cq, 6, XV_WC_SUCCESS), "two completions later it has");
	xv_wr_cqe_wait(w.qp, 10, SIGNALED | LAST, a.cq, 2);
	xv_commit_send(w.qp);
	ok(rig_expect(w.cq, 10, XV_WC_SUCCESS), "a count goes on from the last one");
	link_down(&a);
	link_down(&w);
}

/* Value, condition, memory: does the wait end? */
static const struct {
	uint64_t value;
	uint32_t condition;
	uint64_t memory, mask;
	bool met;
} conditions[] = {
	{ 1, XV_WAIT_ALWAYS, 2, ~0ull, true },
	{ 1, XV_WAIT_ALWAYS | XV_WAIT_INVERT, 2, ~0ull, false },
	{ 5, XV_WAIT_EQUAL, 5, ~0ull, true },
	{ 5, XV_WAIT_EQUAL, 6, ~0ull, false },
	{ 0x105, XV_WAIT_EQUAL, 0x205, 0xff, true },
	{ 5, XV_WAIT_EQUAL | XV_WAIT_INVERT, 6, ~0ull, true },
	{ 6, XV_WAIT_BIGGER, 5, ~0ull, true },
	{ 5, XV_WAIT_BIGGER, 5, ~0ull, false },
	{ 1ull << 63, XV_WAIT_BIGGER, 5, ~0ull, true },
	{ 5, XV_WAIT_SMALLER, 6, ~0ull, true },
	{ 6, XV_WAIT_SMALLER, 5, ~0ull, false },
	{ 2, XV_WAIT_CYCLIC_BIGGER, ~0ull, ~0ull, true },
	{ ~0ull, XV_WAIT_CYCLIC_BIGGER, 2, ~0ull, false },
	{ 0xfffe, XV_WAIT_CYCLIC_SMALLER, 0x10001, 0xffff, true },
	{ 1, XV_WAIT_CYCLIC_SMALLER, 0xfffe, 0xffff, false },
};

static void test_conditions(void)
{
	struct link w = link_up(16, XV_QP_CROSS_CHANNEL, 0);
	struct xv_wait_data d = { rig_addr(&r, 0, 0), r.mr[0]->lkey, 0, 0, 0 };
	unsigned int bad = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(conditions); i++) {
		d.value = conditions[i].value;
		d.mask = conditions[i].mask;
		d.condition = conditions[i].condition | XV_WAIT_OR_FAIL;
		*COUNT(r.buf[0]) = xv_be64(conditions[i].memory);
		xv_wr_wait_data(w.qp, i, SIGNALED, &d);
		xv_commit_send(w.qp);
		if (!rig_expect(w.cq, i, conditions[i].met ? XV_WC_SUCCESS : XV_WC_LOC_QP_OP_ERR)) {
			diag("condition %zu", i);
			bad++;
		}
		if (!conditions[i].met) {
			link_down(&w);
			w = link_up(16, XV_QP_CROSS_CHANNEL, 0);
		}
	}
	ok(!bad, "%zu conditions on data", i);
	link_down(&w);
}

static void test_wait_data(void)
{
	struct link w = link_up(16, XV_QP_CROSS_CHANNEL, 0);
	struct xv_wait_data d = { rig_addr(&r, 0, 512), r.mr[0]->lkey, XV_WAIT_EQUAL, 77, ~0ull };
	struct xv_sge sge = rig_sge(&r, 1, 512, 8);

	*COUNT(r.buf[0] + 512) = 0;
	rig_fill(r.buf[0], 64, 4);
	xv_wr_wait_data(w.qp, 1, SIGNALED, &d);
	put(w.qp, 2, SIGNALED, 0, 0, 64);
	xv_commit_send(w.qp);
	ok(quiet(w.cq), "a wait for data waits");
	*COUNT(r.buf[0] + 512) = xv_be64(77);
	ok(rig_expect(w.cq, 1, XV_WC_SUCCESS) && rig_expect(w.cq, 2, XV_WC_SUCCESS) &&
	   rig_check(r.buf[1], 64, 4), "until the processor writes it");
	d.value = 78;
	xv_wr_wait_data(w.qp, 3, SIGNALED, &d);
	xv_commit_send(w.qp);
	*COUNT(r.buf[1] + 512) = xv_be64(78);
	ok(quiet(w.cq), "the next one waits");
	xv_wr_write(w.peer, 4, SIGNALED, &sge, rig_addr(&r, 0, 512), r.mr[0]->rkey);
	xv_commit_send(w.peer);
	ok(rig_expect(w.peer_cq, 4, XV_WC_SUCCESS) && rig_expect(w.cq, 3, XV_WC_SUCCESS),
	   "until the peer writes it");
	link_down(&w);
}

/* The time stamp of the next completion */
static uint64_t stamp(struct xv_cq *cq)
{
	const struct mlx5r_cqe *cqe;
	double until = xt_now() + 10;
	uint64_t time;

	do {
		cqe = xv_cq_next(cq);
	} while (!cqe && xt_now() < until);
	if (!cqe)
		return 0;
	time = xv_cqe_timestamp(cqe);
	xv_cq_done(cq, cqe);
	xv_commit_cq(cq);
	return time;
}

static void test_wait_time(void)
{
	struct link w = link_up(16, XV_QP_CROSS_CHANNEL, 0);
	struct xv_device_attr device;
	uint64_t now, later, end;

	xv_query_device(r.side[0].ctx, &device);
	put(w.qp, 1, SIGNALED, 0, 0, 64);
	xv_commit_send(w.qp);
	now = stamp(w.cq);
	later = now + device.hca_core_clock * 50;	/* kHz: 50 ms */
	xv_wr_wait_time(w.qp, 2, 0, now);
	xv_wr_wait_time(w.qp, 3, 0, later);
	put(w.qp, 4, SIGNALED, 0, 0, 64);
	xv_commit_send(w.qp);
	end = stamp(w.cq);
	ok(end >= later && end < later + device.hca_core_clock * 500,
	   "wait for a time: %.3f ms late", (double)(int64_t)(end - later) /
	   (double)device.hca_core_clock);
	link_down(&w);
}

/* ---- Long chains ------------------------------------------------------- */

enum {
	QUEUES = 4,
	STEPS = 10000,
	OF_QUEUE = STEPS / QUEUES,
	CELL = sizeof(uint64_t),
	RING = 8192,			/* two requests for each step */
};

/* Requests of one queue, and the task that posts them */
struct part {
	struct xv_send_wr wr[2 * OF_QUEUE];
	struct xv_sge sge[OF_QUEUE];
	struct xv_task task;
};

static struct part part[QUEUES];
static struct xv_send_wr end_wr;
static struct xv_task end_task;

/*
 * Step i copies a cell: even steps write cell i / 2 to the peer, odd steps read it back to
 * the next cell.  Each waits for the step before it, which is in another queue.
 */
static void build_step(struct link *l, uint32_t i, bool first)
{
	struct part *p = &part[i % QUEUES];
	uint32_t n = i / QUEUES, cell = i / 2;
	struct xv_send_wr *wait = &p->wr[2 * n], *copy = wait + 1;
	bool reads = i & 1;

	p->sge[n] = rig_sge(&r, 0, (size_t)(cell + reads) * CELL, CELL);
	*wait = (struct xv_send_wr) {
		.wr_id = i, .next = copy, .opcode = XV_WR_CQE_WAIT, .send_flags = LAST,
		.wr.cqe_wait = { l[(i + QUEUES - 1) % QUEUES].cq, 1 },
	};
	*copy = (struct xv_send_wr) {
		.wr_id = i, .next = n + 1 < OF_QUEUE ? copy + 1 : NULL,
		.opcode = reads ? XV_WR_RDMA_READ : XV_WR_RDMA_WRITE, .send_flags = SIGNALED,
		.sg_list = &p->sge[n], .num_sge = 1,
		.wr.rdma = { rig_addr(&r, 1, (size_t)cell * CELL), r.mr[1]->rkey },
	};
	if (!n)
		p->task.item.send_wr = i || !first ? wait : copy;
}

/* The first step of all has nothing to wait for. */
static void build_chain(struct link *l, struct link *end, bool first)
{
	uint32_t i;

	for (i = 0; i < STEPS; i++)
		build_step(l, i, first);
	for (i = 0; i < QUEUES; i++) {
		part[i].task.task_type = XV_TASK_SEND;
		part[i].task.item.qp = l[i].qp;
		part[i].task.next = i + 1 < QUEUES ? &part[i + 1].task : &end_task;
	}
	end_wr = (struct xv_send_wr) {
		.wr_id = STEPS, .opcode = XV_WR_WAIT_CQ_PI, .send_flags = SIGNALED,
		.wr.wait_cq_pi = { l[QUEUES - 1].cq,
			l[QUEUES - 1].cq->wait_base + OF_QUEUE - first },
	};
	end_task = (struct xv_task) { .task_type = XV_TASK_SEND,
				      .item = { end->qp, { &end_wr } } };
}

static struct xv_comp_channel *channel;

/*
 * Posts the chain and sleeps until its last completion.  Returns 0, the error of a call, or
 * -EBADMSG if a completion or the data is wrong.
 */
static int run_chain(struct link *l, struct link *end, uint64_t seed, bool first)
{
	struct xv_task *bad;
	struct xv_cq *cq;
	void *context;
	int i, err;

	memset(r.buf[0], 0, (STEPS / 2 + 1) * CELL);
	memset(r.buf[1], 0, (STEPS / 2 + 1) * CELL);
	*COUNT(r.buf[0]) = seed;
	build_chain(l, end, first);
	xv_req_notify(end->cq, 0);
	err = xv_post_task(r.side[0].ctx, &part[0].task, &bad);
	if (err) {
		diag("%s", xv_last_error());
		return err;
	}
	err = xv_get_cq_event(channel, &cq, &context);
	if (err)
		return err;
	if (cq != end->cq || !rig_expect(end->cq, STEPS, XV_WC_SUCCESS))
		return -EBADMSG;
	xv_ack_cq_events(cq, 1);
	for (i = 0; i < QUEUES; i++)
		xv_retire_send(l[i].qp, l[i].qp->sq.pi);
	for (i = 0; i <= STEPS / 2; i++) {
		if (COUNT(r.buf[0])[i] != seed) {
			diag("cell %d", i);
			return -EBADMSG;
		}
	}
	return 0;
}

static struct link end_link(void)
{
	struct xv_cq_init_attr attr = { .cqe = 16 };
	struct link end = link_up(16, XV_QP_CROSS_CHANNEL, 0);

	if (xv_destroy_qp(end.qp) || xv_destroy_cq(end.cq))
		bail_out("%s", xv_last_error());
	channel = xv_create_comp_channel(r.side[0].ctx);
	attr.channel = channel;
	end.cq = xv_create_cq(r.side[0].ctx, &attr);
	if (!channel || !end.cq)
		bail_out("%s", xv_last_error());
	end.qp = make_qp(0, NULL, end.cq, 16, XV_QP_CROSS_CHANNEL);
	if (xt_connect_pair(end.qp, &r.side[0], make_qp(1, NULL, end.peer_cq, 16, 0), &r.side[1],
			    NULL))
		bail_out("%s", xv_last_error());
	return end;
}

static void test_chain(void)
{
	struct link l[QUEUES], end = end_link();
	double start;
	int i;

	for (i = 0; i < QUEUES; i++)
		l[i] = link_up(RING, XV_QP_CROSS_CHANNEL, XV_CQ_IGNORE_OVERRUN);
	start = xt_now();
	ok(!run_chain(l, &end, 0x1234567890abcdef, true),
	   "%d dependent steps over %d queues, posted once, the process asleep", STEPS, QUEUES);
	diag("%.1f us for a step", (xt_now() - start) * 1e6 / STEPS);
	ok(!run_chain(l, &end, 0xfedcba0987654321, false), "the same again in the same entries");
	ok(!run_chain(l, &end, 99, false), "and once more");
	for (i = 0; i < QUEUES; i++)
		link_down(&l[i]);
}

/*
 * Queues that are master and managed at once: each step enables the next queue's step when
 * its own copy has completed.
 */
enum { HOPS = 32 };

static void hop(struct link *l, uint32_t i, uint32_t last)
{
	struct link *own = &l[i % QUEUES];
	bool reads = i & 1;
	uint32_t cell = i / 2;
	struct xv_sge sge = rig_sge(&r, 0, (size_t)(cell + reads) * CELL, CELL);

	if (reads)
		xv_wr_read(own->qp, i, SIGNALED, &sge, rig_addr(&r, 1, cell * CELL),
			   r.mr[1]->rkey);
	else
		xv_wr_write(own->qp, i, SIGNALED, &sge, rig_addr(&r, 1, cell * CELL),
			    r.mr[1]->rkey);
	xv_wr_cqe_wait(own->qp, i, LAST, own->cq, 1);
	/* Three WQEBBs for each step */
	if (i < last)
		xv_wr_send_enable_index(own->qp, i, 0, l[(i + 1) % QUEUES].qp->qp_num,
					(i + 1) / QUEUES * 3 + 3);
	else
		xv_wr_wait_cq_pi(own->qp, i, 0, own->cq, 0);
}

static void test_master_and_managed(void)
{
	struct link l[QUEUES], c = link_up(16, XV_QP_CROSS_CHANNEL, 0);
	uint32_t i;
	int good;

	for (i = 0; i < QUEUES; i++)
		l[i] = link_up(64, XV_QP_CROSS_CHANNEL | XV_QP_MANAGED_SEND, 0);
	memset(r.buf[0], 0, (HOPS / 2 + 1) * CELL);
	*COUNT(r.buf[0]) = 4711;
	for (i = 0; i < HOPS; i++)
		hop(l, i, HOPS - 1);
	xv_wr_send_enable_index(c.qp, 1, 0, l[0].qp->qp_num, 3);
	xv_commit_send(c.qp);
	good = rig_poll(l[(HOPS - 1) % QUEUES].cq, HOPS / QUEUES, (struct xv_wc[HOPS]) { 0 }) ==
	       HOPS / QUEUES;
	ok(good && COUNT(r.buf[0])[HOPS / 2] == 4711,
	   "four queues, master and managed at once, start each other in turn");
	for (i = 0; i < QUEUES; i++)
		link_down(&l[i]);
	link_down(&c);
}

/* ---- Task lists -------------------------------------------------------- */

static void test_tasks(void)
{
	struct link m = link_up(16, XV_QP_CROSS_CHANNEL | XV_QP_MANAGED_SEND, 0);
	struct link c = link_up(16, XV_QP_CROSS_CHANNEL, 0);
	struct xv_sge sge = rig_sge(&r, 0, 0, 64), into = rig_sge(&r, 1, 0, 64);
	struct xv_send_wr send = { .wr_id = 1, .opcode = XV_WR_SEND, .sg_list = &sge, .num_sge = 1,
				   .send_flags = SIGNALED };
	struct xv_send_wr enable = { .wr_id = 2, .opcode = XV_WR_SEND_ENABLE, .send_flags = LAST,
				     .wr.wqe_enable = { m.qp, 1 } };
	struct xv_task last = { .task_type = XV_TASK_SEND, .item = { c.qp, { &enable } } };
	struct xv_task first = { .task_type = XV_TASK_SEND, .item = { m.qp, { &send } },
				 .next = &last };
	struct xv_task *bad = NULL;

	rig_fill(r.buf[0], 64, 5);
	xv_wr_recv(m.peer, 3, &into);
	xv_commit_recv(m.peer);
	enable.wr.wqe_enable.wqe_count = 2;
	ok(xv_post_task(r.side[0].ctx, &first, &bad) == -EINVAL && bad == &last &&
	   bad->bad_send_wr == &enable && quiet(m.cq), "task list: %s", xv_last_error());
	enable.wr.wqe_enable.wqe_count = 1;
	ok(!xv_post_task(r.side[0].ctx, &first, &bad) && rig_expect(m.cq, 1, XV_WC_SUCCESS) &&
	   rig_expect(m.peer_cq, 3, XV_WC_SUCCESS) && rig_check(r.buf[1], 64, 5),
	   "the same list without the error runs");
	first.item.qp = m.peer;
	ok(xv_post_task(r.side[0].ctx, &first, &bad) == -EINVAL && bad == &first,
	   "a queue pair of another context: EINVAL");
	link_down(&m);
	link_down(&c);
}

/* ---- Chains without end ------------------------------------------------ */

static void run_forever(void)
{
	struct link l[QUEUES], end = end_link();
	struct xv_async_event event;
	unsigned int runs = 0;
	int i, err;

	for (i = 0; i < QUEUES; i++)
		l[i] = link_up(RING, XV_QP_CROSS_CHANNEL, XV_CQ_IGNORE_OVERRUN);
	while (!(err = run_chain(l, &end, runs + 1, !runs)))
		if (!runs++) {
			puts("running");
			fflush(stdout);
		}
	ok(runs && err == -ENODEV, "%u runs, then %s", runs, strerror(-err));
	ok(err == -ENODEV && !xv_get_async_event(r.side[0].ctx, &event) &&
	   event.event_type == XV_EVENT_DEVICE_FATAL, "the device was removed");
	exit(tap_done());
}

int main(int argc, char **argv)
{
	bool run = argc > 1 && !strcmp(argv[1], "run");
	size_t i;

	rig_devices(argc - run, argv + run);
	rig_open(&r, &opts);
	if (run)
		run_forever();
	if (!has_feature("cross-channel")) {
		test_without();
		return tap_done();
	}
	test_attributes();
	test_create();
	for (i = 0; i < ARRAY_SIZE(chain_types); i++) {
		test_managed_send(&chain_types[i]);
		test_wait(&chain_types[i]);
	}
	test_managed_recv();
	test_managed_recv_uc();
	if (has_feature("wait-on-data")) {
		test_conditions();
		test_wait_data();
	} else {
		tap_skip("wait for data", "a ConnectX-7 has it");
	}
	if (has_feature("wait-on-time"))
		test_wait_time();
	else
		tap_skip("wait for a time", "a ConnectX-7 has it");
	test_tasks();
	test_master_and_managed();
	test_chain();
	return tap_done();
}
