// SPDX-License-Identifier: GPL-2.0
/*
 * Cross-channel communication (appendix D): managed queues, wait, enable, calculations, and lists
 * of tasks over several queue pairs.
 */
#include <endian.h>
#include "rig.h"

#define STATIONS	5
#define OPERAND		16u	/* bytes of an operand */
#define LAST		IBV_EXP_SEND_WAIT_EN_LAST
#define SIGNALED	IBV_EXP_SEND_SIGNALED

static struct ibv_exp_device_attr dev;
static struct pair master;		/* its first queue pair waits and enables */

static struct pair pair_with(uint32_t flags)
{
	struct ibv_exp_qp_init_attr attr = {
		.comp_mask = IBV_EXP_QP_INIT_ATTR_CREATE_FLAGS, .exp_create_flags = flags,
	};
	struct ibv_exp_qp_init_attr plain = { .comp_mask = 0 };
	struct pair p = { .cq = { make_cq(0, IBV_EXP_CQ_CREATE_CROSS_CHANNEL), make_cq(1, 0) } };

	p.qp[0] = make_qp(0, p.cq[0], attr);
	p.qp[1] = make_qp(1, p.cq[1], plain);
	connect(0, p.qp[0], 1, p.qp[1]);
	return p;
}

/* ---- Requests ---------------------------------------------------------------------------- */

static struct ibv_exp_send_wr wait_for(struct ibv_cq *cq, int count, uint64_t flags)
{
	return (struct ibv_exp_send_wr) {
		.wr_id = 10, .exp_opcode = IBV_EXP_WR_CQE_WAIT, .exp_send_flags = flags,
		.task.cqe_wait = { cq, count },
	};
}

static struct ibv_exp_send_wr enable(enum ibv_exp_wr_opcode opcode, struct ibv_qp *qp, int count,
				     uint64_t flags)
{
	return (struct ibv_exp_send_wr) {
		.wr_id = 20, .exp_opcode = opcode, .exp_send_flags = flags,
		.task.wqe_enable = { qp, count },
	};
}

static struct ibv_exp_send_wr write_to_peer(struct ibv_sge *sge, size_t offset)
{
	return (struct ibv_exp_send_wr) {
		.wr_id = 30 + offset, .exp_opcode = IBV_EXP_WR_RDMA_WRITE, .sg_list = sge,
		.num_sge = 1, .exp_send_flags = SIGNALED,
		.wr.rdma = { at(1, offset), side[1].mr->rkey },
	};
}

/* ---- Attributes -------------------------------------------------------------------------- */

static void test_attributes(void)
{
	const struct ibv_exp_device_calc_cap *c = &dev.calc_cap;
	uint64_t ops = 1u << IBV_EXP_CALC_OP_ADD | 1u << IBV_EXP_CALC_OP_BAND |
		       1u << IBV_EXP_CALC_OP_BXOR | 1u << IBV_EXP_CALC_OP_BOR;

	ok(dev.comp_mask & IBV_EXP_DEVICE_ATTR_CALC_CAP &&
	   c->data_types == (1u << IBV_EXP_CALC_DATA_TYPE_INT | 1u << IBV_EXP_CALC_DATA_TYPE_UINT |
			     1u << IBV_EXP_CALC_DATA_TYPE_FLOAT) &&
	   c->data_sizes == 1u << IBV_EXP_CALC_DATA_SIZE_64_BIT, "data types and sizes");
	ok(c->int_ops == ops && c->uint_ops == ops && c->fp_ops == ops, "operations");
}

/* More completions than the queue has entries, which nobody polls */
static void test_ignore_overrun(void)
{
	struct ibv_exp_cq_attr a = {
		.comp_mask = IBV_EXP_CQ_ATTR_CQ_CAP_FLAGS,
		.cq_cap_flags = IBV_EXP_CQ_IGNORE_OVERRUN,
	};
	struct pair p = pair_with(IBV_EXP_QP_CREATE_CROSS_CHANNEL |
				  IBV_EXP_QP_CREATE_IGNORE_SQ_OVERFLOW);
	struct ibv_sge sge = piece(0, 0, 64);
	struct ibv_exp_send_wr wr = write_to_peer(&sge, 0), wait;
	int i, bad = 0;

	ok(!ibv_exp_modify_cq(p.cq[0], &a, IBV_EXP_CQ_CAP_FLAGS), "a CQ that ignores overruns");
	for (i = 0; i < 2 * 256; i++) {
		bad += !!post(p.qp[0], &wr);
		wait = wait_for(p.cq[0], 1, LAST | SIGNALED);
		bad += run(&master, &wait) != IBV_WC_SUCCESS;
	}
	ok(!bad, "512 completions that only the adapter waits for");
	break_pair(&p);
}

/* More receives than the queue has entries, whose completions nobody polls */
static void test_ignore_rq_overflow(void)
{
	struct ibv_exp_cq_attr a = {
		.comp_mask = IBV_EXP_CQ_ATTR_CQ_CAP_FLAGS,
		.cq_cap_flags = IBV_EXP_CQ_IGNORE_OVERRUN,
	};
	struct pair p = pair_with(IBV_EXP_QP_CREATE_CROSS_CHANNEL |
				  IBV_EXP_QP_CREATE_IGNORE_RQ_OVERFLOW);
	struct pair full = pair_with(IBV_EXP_QP_CREATE_CROSS_CHANNEL);
	struct ibv_sge sge = piece(1, 0, 64);
	struct ibv_exp_send_wr send = {
		.exp_opcode = IBV_EXP_WR_SEND, .sg_list = &sge, .num_sge = 1,
		.exp_send_flags = SIGNALED,
	}, wait;
	struct ibv_recv_wr recv = { .wr_id = 1 }, *bad_recv;
	int i, bad = 0;

	need(!ibv_exp_modify_cq(p.cq[0], &a, IBV_EXP_CQ_CAP_FLAGS), "ibv_exp_modify_cq");
	for (i = 0; i < 32; i++)
		receive(full.qp[0], 0, 4096, 64);
	ok(ibv_post_recv(full.qp[0], &recv, &bad_recv) == ENOMEM, "a full receive queue: ENOMEM");
	for (i = 0; i < 4 * 32; i++) {
		fill(side[1].mem, 64, (uint32_t)i);
		receive(p.qp[0], 0, 4096, 64);
		bad += post(p.qp[1], &send) || status(p.cq[1]) != IBV_WC_SUCCESS ||
		       memcmp(side[0].mem + 4096, side[1].mem, 64);
		wait = wait_for(p.cq[0], 1, LAST | SIGNALED);
		bad += run(&master, &wait) != IBV_WC_SUCCESS;
	}
	ok(!bad, "128 receives in a queue of 32 that ignores overflows");
	break_pair(&p);
	break_pair(&full);
}

/* ---- Managed queues ---------------------------------------------------------------------- */

static void test_managed_send(void)
{
	struct pair p = pair_with(IBV_EXP_QP_CREATE_CROSS_CHANNEL | IBV_EXP_QP_CREATE_MANAGED_SEND);
	struct ibv_sge sge[3];
	struct ibv_exp_send_wr wr[3], en;
	int i, good = 1;

	fill(side[0].mem, 3 * 64, 1);
	memset(side[1].mem, 0, 3 * 64);
	for (i = 0; i < 3; i++) {
		sge[i] = piece(0, (size_t)i * 64, 64);
		wr[i] = write_to_peer(&sge[i], (size_t)i * 64);
		wr[i].next = i < 2 ? &wr[i + 1] : NULL;
	}
	ok(!post(p.qp[0], wr) && quiet(p.cq[0]) && !side[1].mem[0],
	   "a managed queue does not run by itself");
	en = enable(IBV_EXP_WR_SEND_ENABLE, p.qp[0], 2, SIGNALED | LAST);
	ok(run(&master, &en) == IBV_WC_SUCCESS && status(p.cq[0]) == IBV_WC_SUCCESS &&
	   status(p.cq[0]) == IBV_WC_SUCCESS && quiet(p.cq[0]), "enable 2: two requests run");
	en = enable(IBV_EXP_WR_SEND_ENABLE, p.qp[0], 0, SIGNALED | LAST);
	good = run(&master, &en) == IBV_WC_SUCCESS && status(p.cq[0]) == IBV_WC_SUCCESS;
	ok(good && !memcmp(side[0].mem, side[1].mem, 3 * 64), "enable 0: all have run");
	en = enable(IBV_EXP_WR_SEND_ENABLE, p.qp[0], 1, LAST);
	ok(post(master.qp[0], &en) == EINVAL, "nothing is left to enable");
	break_pair(&p);
}

/* Sends n messages to the queue of side 0, which receives them in slots of 64 bytes. */
static void post_messages(struct pair *p, struct ibv_exp_send_wr *send, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		receive(p->qp[0], 0, 4096 + (size_t)i * 64, 64);
		need(!post(p->qp[1], send), "post");
	}
}

static void test_managed_recv(void)
{
	struct pair p = pair_with(IBV_EXP_QP_CREATE_CROSS_CHANNEL | IBV_EXP_QP_CREATE_MANAGED_RECV);
	struct ibv_sge sge = piece(1, 0, 64);
	struct ibv_exp_send_wr send = {
		.wr_id = 3, .exp_opcode = IBV_EXP_WR_SEND, .sg_list = &sge, .num_sge = 1,
		.exp_send_flags = SIGNALED,
	}, en;
	struct ibv_exp_wc wc;
	int i, good;

	fill(side[1].mem, 64, 2);
	receive(p.qp[0], 0, 4096, 64);
	ok(!post(p.qp[1], &send) && quiet(p.cq[0]), "a managed receive queue receives nothing");
	en = enable(IBV_EXP_WR_RECV_ENABLE, p.qp[0], 1, SIGNALED | LAST);
	ok(run(&master, &en) == IBV_WC_SUCCESS && complete(p.cq[0], &wc) &&
	   wc.exp_opcode == IBV_EXP_WC_RECV && wc.wr_id == 4096 &&
	   !memcmp(side[0].mem + 4096, side[1].mem, 64), "until a receive is enabled");
	ok(status(p.cq[1]) == IBV_WC_SUCCESS, "the sender completes");
	post_messages(&p, &send, 3);
	ok(quiet(p.cq[0]), "three more wait");
	en = enable(IBV_EXP_WR_RECV_ENABLE, p.qp[0], 0, SIGNALED | LAST);
	memset(side[0].mem + 4096, 0, 3 * 64);
	for (i = 0, good = run(&master, &en) == IBV_WC_SUCCESS; i < 3; i++)
		good &= status(p.cq[0]) == IBV_WC_SUCCESS && status(p.cq[1]) == IBV_WC_SUCCESS &&
			!memcmp(side[0].mem + 4096 + (size_t)i * 64, side[1].mem, 64);
	ok(good && quiet(p.cq[0]), "enable 0: all of them");
	en.task.wqe_enable.wqe_count = 1;
	ok(post(master.qp[0], &en) == EINVAL, "nothing is left to enable");
	break_pair(&p);
}

/* Requests count from the same point up to one with LAST; the greatest count is the next one. */
static void test_maximum(void)
{
	static const struct {
		int count;
		uint64_t flags;
		int runs;
	} enables[] = { { 2, 0, 2 }, { 2, 0, 0 }, { 1, LAST, 0 }, { 1, 0, 1 }, { 2, LAST, 1 },
			{ 1, LAST, 1 } };
	struct pair p = pair_with(IBV_EXP_QP_CREATE_CROSS_CHANNEL | IBV_EXP_QP_CREATE_MANAGED_SEND |
				  IBV_EXP_QP_CREATE_MANAGED_RECV);
	struct ibv_sge to_peer = piece(0, 0, 64), from_peer = piece(1, 0, 64);
	struct ibv_exp_send_wr wr = write_to_peer(&to_peer, 0), en;
	struct ibv_exp_send_wr send = {
		.exp_opcode = IBV_EXP_WR_SEND, .sg_list = &from_peer, .num_sge = 1,
	};
	int bad[2] = { 0, 0 }, k, i;
	size_t e;

	for (i = 0; i < 5; i++)
		need(!post(p.qp[0], &wr), "post");
	post_messages(&p, &send, 5);
	for (e = 0; e < sizeof(enables) / sizeof(*enables); e++) {
		for (k = 0; k < 2; k++) {
			en = enable(k ? IBV_EXP_WR_RECV_ENABLE : IBV_EXP_WR_SEND_ENABLE, p.qp[0],
				    enables[e].count, enables[e].flags | SIGNALED);
			bad[k] += run(&master, &en) != IBV_WC_SUCCESS;
			for (i = 0; i < enables[e].runs; i++)
				bad[k] += status(p.cq[0]) != IBV_WC_SUCCESS;
			bad[k] += !quiet(p.cq[0]);
		}
	}
	tap_is(bad[0], 0, "enabling sends with and without LAST: the maximum rule");
	tap_is(bad[1], 0, "enabling receives: the same");
	break_pair(&p);
}

static void test_wait(void)
{
	struct pair p = pair_with(IBV_EXP_QP_CREATE_CROSS_CHANNEL);
	struct ibv_sge sge = piece(0, 0, 64);
	struct ibv_exp_send_wr wr = write_to_peer(&sge, 128), wait = wait_for(p.cq[0], 2, LAST);
	struct ibv_exp_send_wr behind = write_to_peer(&sge, 256);

	wait.next = &behind;
	fill(side[0].mem, 64, 3);
	memset(side[1].mem, 0, 512);
	ok(!post(master.qp[0], &wait) && quiet(master.cq[0]),
	   "a request behind a wait does not run");
	need(!post(p.qp[0], &wr), "post");
	ok(quiet(master.cq[0]) && !side[1].mem[256], "one completion is too few");
	need(!post(p.qp[0], &wr), "post");
	ok(status(master.cq[0]) == IBV_WC_SUCCESS && !memcmp(side[1].mem + 256, side[0].mem, 64),
	   "after two it runs");
	break_pair(&p);
}

/* ---- Calculations ------------------------------------------------------------------------ */

static uint64_t *number(int s, size_t offset)
{
	return (uint64_t *)(void *)(side[s].mem + offset);
}

static uint64_t calculate(enum ibv_exp_calc_op op, enum ibv_exp_calc_data_type type,
			  const uint64_t *v, int n)
{
	struct ibv_sge sge[4];
	struct ibv_exp_send_wr wr = write_to_peer(sge, 0);
	int i;

	for (i = 0; i < n; i++) {
		sge[i] = piece(0, (size_t)i * OPERAND, OPERAND);
		*number(0, (size_t)i * OPERAND) = htobe64(v[i]);
	}
	wr.num_sge = n;
	wr.exp_send_flags |= IBV_EXP_SEND_WITH_CALC;
	wr.op.calc.calc_op = op;
	wr.op.calc.data_type = type;
	wr.op.calc.data_size = IBV_EXP_CALC_DATA_SIZE_64_BIT;
	*number(1, 0) = 0;
	if (run(&master, &wr) != IBV_WC_SUCCESS)
		return ~0ull;
	return be64toh(*number(1, 0));
}

static void test_calc(void)
{
	const uint64_t v[4] = { 0x1111222233334444ull, 0xff00ff00ff00ff00ull, 7, 0xabcdefull };
	const double d[2] = { 1.25, -3.5 };
	uint64_t bits[2], sum;
	double result;
	size_t i;

	tap_is(calculate(IBV_EXP_CALC_OP_ADD, IBV_EXP_CALC_DATA_TYPE_UINT, v, 4),
	       v[0] + v[1] + v[2] + v[3], "ADD of four numbers");
	tap_is(calculate(IBV_EXP_CALC_OP_ADD, IBV_EXP_CALC_DATA_TYPE_INT, v, 2), v[0] + v[1],
	       "ADD of signed numbers");
	tap_is(calculate(IBV_EXP_CALC_OP_BAND, IBV_EXP_CALC_DATA_TYPE_UINT, v, 2), v[0] & v[1],
	       "BAND");
	tap_is(calculate(IBV_EXP_CALC_OP_BXOR, IBV_EXP_CALC_DATA_TYPE_UINT, v, 3),
	       v[0] ^ v[1] ^ v[2], "BXOR");
	tap_is(calculate(IBV_EXP_CALC_OP_BOR, IBV_EXP_CALC_DATA_TYPE_UINT, v, 4),
	       v[0] | v[1] | v[2] | v[3], "BOR");
	for (i = 0; i < 4; i++)
		*number(0, i * OPERAND + 8) = htobe64(100 + i);
	tap_is(calculate(IBV_EXP_CALC_OP_MAXLOC, IBV_EXP_CALC_DATA_TYPE_UINT, v, 4), v[1],
	       "MAXLOC: the greatest value");
	tap_is(be64toh(*number(1, 8)), 101, "MAXLOC: its location");
	memcpy(bits, d, sizeof(bits));
	sum = calculate(IBV_EXP_CALC_OP_ADD, IBV_EXP_CALC_DATA_TYPE_FLOAT, bits, 2);
	memcpy(&result, &sum, sizeof(result));
	ok(result == d[0] + d[1], "ADD of floating-point numbers");
}

/* The result of a calculation, sent to a receive of the peer */
static void test_send_calc(void)
{
	struct ibv_sge sge[2] = { piece(0, 0, OPERAND), piece(0, OPERAND, OPERAND) };
	struct ibv_exp_send_wr wr = {
		.wr_id = 40, .exp_opcode = IBV_EXP_WR_SEND, .sg_list = sge, .num_sge = 2,
		.exp_send_flags = SIGNALED | IBV_EXP_SEND_WITH_CALC,
		.op.calc = { IBV_EXP_CALC_OP_ADD, IBV_EXP_CALC_DATA_TYPE_UINT,
			     IBV_EXP_CALC_DATA_SIZE_64_BIT },
	};
	struct ibv_exp_wc wc = { .wr_id = 0 };

	*number(0, 0) = htobe64(0xfffffffffffffff0ull);
	*number(0, OPERAND) = htobe64(0x25);
	*number(1, 8192) = 0;
	receive(master.qp[1], 1, 8192, OPERAND);
	ok(run(&master, &wr) == IBV_WC_SUCCESS && complete(master.cq[1], &wc) &&
	   wc.wr_id == 8192 && wc.byte_len == OPERAND && be64toh(*number(1, 8192)) == 0x15,
	   "SEND with calculation: the sum wraps");
}

static void test_refused_calc(void)
{
	struct ibv_sge sge = piece(0, 0, 8);
	struct ibv_exp_send_wr wr = write_to_peer(&sge, 0);

	wr.exp_send_flags |= IBV_EXP_SEND_WITH_CALC;
	wr.op.calc.data_type = IBV_EXP_CALC_DATA_TYPE_UINT;
	ok(post(master.qp[0], &wr) == EINVAL, "an operand that is too short");
	sge.length = OPERAND;
	wr.op.calc.calc_op = IBV_EXP_CALC_OP_NUMBER;
	ok(post(master.qp[0], &wr) == EINVAL, "an operation that does not exist");
	wr.op.calc.calc_op = IBV_EXP_CALC_OP_MAXLOC;
	wr.op.calc.data_type = IBV_EXP_CALC_DATA_TYPE_FLOAT;
	ok(post(master.qp[0], &wr) == EINVAL, "MAXLOC of floating-point numbers");
	wr.op.calc.calc_op = IBV_EXP_CALC_OP_BAND;
	wr.op.calc.data_type = IBV_EXP_CALC_DATA_TYPE_UINT;
	ok(post(master.qp[1], &wr) == EINVAL, "a queue pair without cross-channel");
}

/* ---- A chain over several queue pairs -------------------------------------------------------- */

/*
 * Station i writes the sum of its own number and of the number before it to the memory of side 1,
 * and reads it back for station i + 1.  The master enables the two requests of a station when those
 * of the station before it have completed.
 */
struct station {
	struct pair link;
	struct ibv_sge sge[2], back;
	struct ibv_exp_send_wr write, read, enable, wait;
	struct ibv_exp_task task;
};

static struct station station[STATIONS];

#define OWN(i)		((size_t)(i) * OPERAND)
#define IN(i)		(4096 + (size_t)(i) * OPERAND)

static void prepare_station(int i)
{
	struct station *s = &station[i];

	s->sge[0] = piece(0, OWN(i), OPERAND);
	s->sge[1] = piece(0, IN(i), OPERAND);
	s->back = piece(0, IN(i + 1), OPERAND);
	s->write = write_to_peer(s->sge, OWN(i));
	s->write.num_sge = 2;
	s->write.exp_send_flags = IBV_EXP_SEND_WITH_CALC;
	s->write.op.calc.data_type = IBV_EXP_CALC_DATA_TYPE_UINT;
	s->write.next = &s->read;
	s->read = write_to_peer(&s->back, OWN(i));
	s->read.exp_opcode = IBV_EXP_WR_RDMA_READ;
	s->enable = enable(IBV_EXP_WR_SEND_ENABLE, s->link.qp[0], 2, LAST);
	s->enable.next = &s->wait;
	s->wait = wait_for(s->link.cq[0], 1, LAST | (i == STATIONS - 1 ? SIGNALED : 0));
	s->wait.next = i < STATIONS - 1 ? &station[i + 1].enable : NULL;
	s->task = (struct ibv_exp_task) {
		.task_type = IBV_EXP_TASK_SEND,
		.item = { .qp = s->link.qp[0], { .send_wr = &s->write } },
		.next = i < STATIONS - 1 ? &station[i + 1].task : NULL,
	};
}

static uint64_t prepare_chain(struct ibv_exp_task *last, uint64_t seed)
{
	uint64_t sum = 0;
	int i;

	memset(side[0].mem + IN(0), 0, (STATIONS + 1) * OPERAND);
	for (i = 0; i < STATIONS; i++) {
		*number(0, OWN(i)) = htobe64(seed * (uint64_t)(i + 1));
		sum += seed * (uint64_t)(i + 1);
		prepare_station(i);
	}
	*last = (struct ibv_exp_task) {
		.task_type = IBV_EXP_TASK_SEND,
		.item = { .qp = master.qp[0], { .send_wr = &station[0].enable } },
	};
	station[STATIONS - 1].task.next = last;
	return sum;
}

static void make_stations(void)
{
	struct ibv_exp_cq_attr a = {
		.comp_mask = IBV_EXP_CQ_ATTR_CQ_CAP_FLAGS,
		.cq_cap_flags = IBV_EXP_CQ_IGNORE_OVERRUN,
	};
	int i;

	for (i = 0; i < STATIONS; i++) {
		station[i].link = pair_with(IBV_EXP_QP_CREATE_CROSS_CHANNEL |
					    IBV_EXP_QP_CREATE_MANAGED_SEND |
					    IBV_EXP_QP_CREATE_IGNORE_SQ_OVERFLOW);
		need(!ibv_exp_modify_cq(station[i].link.cq[0], &a, IBV_EXP_CQ_CAP_FLAGS),
		     "ibv_exp_modify_cq");
	}
}

static void test_chain(void)
{
	struct ibv_exp_task last, *bad = NULL;
	struct ibv_exp_wc wc;
	uint64_t sum, round;
	int good = 0;

	for (round = 1; round <= 100; round++) {
		sum = prepare_chain(&last, round * 1000003);
		good += !ibv_exp_post_task(side[0].ctx, &station[0].task, &bad) &&
			complete(master.cq[0], &wc) && wc.status == IBV_WC_SUCCESS &&
			be64toh(*number(0, IN(STATIONS))) == sum;
	}
	tap_is(good, 100, "100 chains over %d queue pairs: the sum is right", STATIONS + 1);
}

/* The requests before the wrong one are posted, and wait in their managed queues. */
static void test_wrong_task(void)
{
	struct ibv_exp_task last, *bad = NULL;
	uint64_t sum = prepare_chain(&last, 5);
	struct ibv_exp_wc wc;

	station[STATIONS - 1].write.exp_opcode = IBV_EXP_WR_NOP;
	ok(ibv_exp_post_task(side[0].ctx, &station[0].task, &bad) == EINVAL &&
	   bad == &station[STATIONS - 1].task, "the task that failed");
	ok(quiet(master.cq[0]) && !*number(0, IN(STATIONS)), "nothing has run");
	prepare_station(STATIONS - 1);
	station[STATIONS - 1].task.next = &last;
	ok(!ibv_exp_post_task(side[0].ctx, &station[STATIONS - 1].task, &bad) &&
	   complete(master.cq[0], &wc) && be64toh(*number(0, IN(STATIONS))) == sum,
	   "the rest of the list without the mistake");
}

static void test_recv_task(void)
{
	struct ibv_sge from = piece(0, 0, 100), to = piece(0, 8192, 100);
	struct pair p = pair_with(IBV_EXP_QP_CREATE_CROSS_CHANNEL);
	struct ibv_exp_send_wr send = {
		.exp_opcode = IBV_EXP_WR_SEND, .sg_list = &from, .num_sge = 1,
		.exp_send_flags = SIGNALED,
	}, peer_send = send;
	struct ibv_recv_wr recv = { .wr_id = 6, .sg_list = &to, .num_sge = 1 };
	struct ibv_exp_task tasks[2] = {
		{ .task_type = IBV_EXP_TASK_RECV, .item = { p.qp[0], { .recv_wr = &recv } },
		  .next = &tasks[1] },
		{ .task_type = IBV_EXP_TASK_SEND, .item = { p.qp[0], { .send_wr = &send } } },
	}, *bad;
	struct ibv_exp_wc wc[2] = { { .wr_id = 0 } };

	fill(side[1].mem, 100, 8);
	receive(p.qp[1], 1, 4096, 100);
	from.addr = at(0, 0);
	ok(!ibv_exp_post_task(side[0].ctx, tasks, &bad), "a list with a receive");
	ok(complete(p.cq[0], &wc[0]) && wc[0].exp_opcode == IBV_EXP_WC_SEND, "its send completes");
	from = piece(1, 0, 100);
	need(!post(p.qp[1], &peer_send), "post");
	ok(complete(p.cq[0], &wc[1]) && wc[1].wr_id == 6 &&
	   !memcmp(side[0].mem + 8192, side[1].mem, 100), "its receive completes");
	tasks[0].task_type = (enum ibv_exp_task_type)5;
	ok(ibv_exp_post_task(side[0].ctx, tasks, &bad) == EINVAL && bad == tasks,
	   "an unknown type of a task");
	break_pair(&p);
}

/* More requests than the queue has room for */
static void test_long_list(void)
{
	static struct ibv_exp_send_wr many[2049];
	struct ibv_exp_task task = { .item = { master.qp[0], { .send_wr = many } } }, *bad = NULL;
	int i, good = 0;

	for (i = 0; i < 2049; i++)
		many[i] = wait_for(master.cq[1], 0, i < 2048 ? 0 : SIGNALED);
	for (i = 0; i < 2048; i++)
		many[i].next = &many[i + 1];
	ok(ibv_exp_post_task(side[0].ctx, &task, &bad) == ENOMEM && bad == &task,
	   "a list that is longer than the queue");
	good += post(master.qp[0], &many[2048]) == ENOMEM;
	ok(!ibv_exp_post_task(side[0].ctx, NULL, &bad), "an empty list");
	ok(good, "the queue is full");
	restart(&master);
}

/* ---- Errors ------------------------------------------------------------------------------- */

static void test_refusals(void)
{
	struct pair plain = make_pair((struct ibv_exp_qp_init_attr) { .comp_mask = 0 });
	struct pair managed = pair_with(IBV_EXP_QP_CREATE_MANAGED_SEND |
					IBV_EXP_QP_CREATE_MANAGED_RECV);
	struct ibv_exp_send_wr wr = wait_for(master.cq[0], -1, LAST);

	ok(post(master.qp[0], &wr) == EINVAL, "wait for -1 completions");
	wr = enable(IBV_EXP_WR_SEND_ENABLE, managed.qp[0], -1, LAST);
	ok(post(master.qp[0], &wr) == EINVAL, "enable -1 sends");
	wr = enable(IBV_EXP_WR_RECV_ENABLE, managed.qp[0], -1, LAST);
	ok(post(master.qp[0], &wr) == EINVAL, "enable -1 receives");
	wr = wait_for(NULL, 1, LAST);
	ok(post(master.qp[0], &wr) == EINVAL, "wait for no CQ");
	wr = wait_for(master.cq[0], 1, LAST);
	ok(post(plain.qp[0], &wr) == EINVAL, "a queue pair without cross-channel");
	wr = enable(IBV_EXP_WR_SEND_ENABLE, plain.qp[0], 1, LAST);
	ok(post(master.qp[0], &wr) == EINVAL, "enable a queue that is not managed");
	wr = enable(IBV_EXP_WR_RECV_ENABLE, plain.qp[0], 1, LAST);
	ok(post(master.qp[0], &wr) == EINVAL, "enable a receive queue that is not managed");
	ok(quiet(managed.cq[0]) && quiet(master.cq[0]), "nothing has run");
	break_pair(&managed);
	break_pair(&plain);
}

int main(int argc, char **argv)
{
	int i;

	open_sides(argc, argv);
	dev = attributes(side[0].ctx);
	if (!(dev.exp_device_cap_flags & IBV_EXP_DEVICE_CROSS_CHANNEL))
		tap_skip_all("the device has no cross-channel");
	master = pair_with(IBV_EXP_QP_CREATE_CROSS_CHANNEL);
	test_attributes();
	test_managed_send();
	test_managed_recv();
	test_maximum();
	test_wait();
	test_calc();
	test_send_calc();
	test_refused_calc();
	test_refusals();
	test_recv_task();
	test_long_list();
	make_stations();
	test_chain();
	test_wrong_task();
	for (i = 0; i < STATIONS; i++)
		break_pair(&station[i].link);
	test_ignore_overrun();
	test_ignore_rq_overflow();
	break_pair(&master);
	close_sides();
	return tap_done();
}
